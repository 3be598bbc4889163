"""Rewriting of calls: which function is an operation, a reduction, another kernel, or refused."""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba.core.extending import _Intrinsic

from sciprec.precision.library import construction
from sciprec.precision.library.sequences import MODES
from sciprec.precision.library.table import LIBRARY, MADE_OF_NUMBERS
from sciprec.precision.operations import reduce
from sciprec.precision.operations.operation import operation_called
from sciprec.precision.operations.vectorized import code_digest
from sciprec.precision.rewriting import casts, classes, complex_calls, symbols, vectorized
from sciprec.precision.rewriting.advice import instead_of, instead_of_method
from sciprec.precision.rewriting.norms import norm_called
from sciprec.precision.rewriting.own_names import own_name
from sciprec.precision.rewriting.syntax import Rewriting, is_known, name, nodes, plain_function

_FLOATS = (float, np.float64, np.float32)
"""Types that mean numbers of the backend's."""


_NOT_KERNELS = ("numpy", "math", "cmath", "numba")
"""Packages whose functions stand for something else in compiled code than their source."""


def call(rewriter: Rewriting, node):
    """Rewrite a call: of a type, of a method, of a local function, or of something known
    beforehand.
    """
    function = rewriter.value_of(node.func)
    if is_known(function):
        return known_call(rewriter, node, function)
    if casts.is_type(rewriter, node.func):
        return casts.cast(rewriter, node)
    if isinstance(node.func, ast.Attribute):
        rewriter.check_module(node.func)
        return method(rewriter, node)
    if isinstance(node.func, ast.Name) and node.func.id in rewriter.local:
        return local_call(rewriter, node)
    return rewriter.refuse(
        node, f"the unknown function '{ast.unparse(node.func)}'", "define it first"
    )


def known_call(rewriter: Rewriting, node, function):
    """Rewrite a call of a known function: as an operation, a reduction, a new array, a plain
    call, or a call of another kernel; anything else is refused.
    """
    if isinstance(function, (numba.types.Number, numba.types.Boolean)):  # as a cast
        function = casts.numpy_type(function)
    if (function is np.round or function is np.around) and len([*node.args, *node.keywords]) == 1:
        function = np.rint
    rewrite = _rewrite_of(function)
    if any(isinstance(a, ast.Starred) for a in node.args) and rewrite not in _WITH_STARS:
        text = f"{ast.unparse(node.func)} with a starred argument"
        rewriter.refuse(node, text, "give the operands one by one")
    return rewrite(rewriter, node, function)


def _rewrite_of(function) -> Callable:
    """The function that rewrites calls of a function."""
    if operation_called(function) is not None:
        return operation_call
    try:
        return REWRITES[function]
    except (KeyError, TypeError):  # another function, or what has no hash
        return next((rewrite for is_one, rewrite in KINDS if is_one(function)), kernel)


def viewing(rewriter: Rewriting, node, function) -> ast.Call:
    """A call of a function that shows an array in another shape."""
    if function is np.swapaxes and len(node.args) == 3:
        if None not in map(rewriter.literal_integer, node.args[1:]):
            return ast.Call(name("sp_swapped"), [rewriter.visit(a) for a in node.args], [])
    return plain(rewriter, node, function)


def moving(rewriter: Rewriting, node, function) -> ast.Call:
    """A call of a function that compares or moves numbers."""
    rewriter.program.note_call(function, rewriter, node)
    return plain(rewriter, node, function, [rewriter.seen(a) for a in node.args])


def in_heap(rewriter: Rewriting, node, function) -> ast.Call:
    """A call of a function that moves numbers inside a list."""
    moved = ast.Call(name(rewriter.imported(node.func, function)), [], [])
    moved.args = [rewriter.seen(a) for a in node.args]
    return moved if rewriter.program.backend.mixed else rewriter.op("enter", node, moved)


def renamed(rewriter: Rewriting, node, function) -> ast.Call:
    """A call of a function that has another name in generated modules."""
    called = _dotted(symbols.RENAMED[function])
    result = ast.Call(called, [rewriter.visit(a) for a in node.args], [])
    return rewriter.op("enter", node, result) if function in symbols.PLACES else result


def norm(rewriter: Rewriting, node, function) -> ast.Call:
    """np.linalg.norm: the kernel of its order."""
    called, arguments = norm_called(rewriter, node)
    positional = ast.copy_location(ast.Call(node.func, node.args, []), node)
    return call_kernel(rewriter, called, positional, [rewriter.visit(a) for a in arguments])


def counted(rewriter: Rewriting, node, function) -> ast.Call:
    """np.bincount: Numba's own without weights."""
    weighted = len(node.args) > 1 or any(k.arg == "weights" for k in node.keywords)
    return (library_call if weighted else plain)(rewriter, node, function)


def dtype(rewriter: Rewriting, node, function) -> ast.expr:
    """np.dtype, of a type that is known."""
    kind = casts.numpy_type(rewriter.value_of(node))
    return casts.dtype(rewriter, kind) if kind is not None else refused(rewriter, node, function)


def threads(rewriter: Rewriting, node, function) -> ast.Call:
    """numba.get_num_threads, as it is."""
    return ast.Call(name(rewriter.imported(node.func, function)), [], [])


def refused(rewriter: Rewriting, node, function):
    """A call of what cannot be lifted."""
    text = ast.unparse(node.func)
    rewriter.refuse(node, text, instead_of(text, function))


def kernel(rewriter: Rewriting, node, function) -> ast.Call:
    """A call of a kernel of the user's own, or of the engine's."""
    callee = plain_function(function)
    if (callee.__module__ or "").split(".")[0] in _NOT_KERNELS:
        refused(rewriter, node, function)
    return call_kernel(rewriter, callee, node, [rewriter.visit(a) for a in node.args])


def plain(rewriter: Rewriting, node, function, arguments: list | None = None) -> ast.Call:
    """A call of a function that does no arithmetic, under its usual name."""
    arguments = [rewriter.visit(a) for a in node.args] if arguments is None else arguments
    module = {"math": "math.", "builtins": ""}.get(function.__module__ or "numpy", "np.")
    if function.__name__ in ("as_strided", "sliding_window_view"):
        module = "np.lib.stride_tricks."
    called = _dotted(module + function.__name__)
    kind = casts.numpy_type(function)
    if kind is not None and function not in (int, bool):
        called = casts.dtype(rewriter, kind)
    keywords = [ast.keyword(k.arg, rewriter.visit(k.value)) for k in node.keywords]
    return ast.Call(called, arguments, keywords)


def _dotted(text: str) -> ast.expr:
    owner, _, attribute = text.rpartition(".")
    return ast.Attribute(_dotted(owner), attribute, ast.Load()) if owner else name(attribute)


def native_call(rewriter: Rewriting, node, function: _Intrinsic) -> ast.Call:
    """A call of an intrinsic of somebody else's, on integers alone."""
    if node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
        rewriter.refuse(node, "an intrinsic with keywords or a star", "give its operands in order")
    called = name(rewriter.imported(node.func, function))
    operation = name(rewriter.program.operation(f"on_integers({len(node.args)})"))
    return ast.Call(operation, [called, *map(rewriter.visit, node.args)], [])


def operation_call(rewriter: Rewriting, node, function):
    """A call of an operation of the table, with as many operands as its row has."""
    row, text = operation_called(function), ast.unparse(node.func)
    if node.keywords:
        rewriter.refuse(node, f"{text} with keywords", "give the operands in order")
    operands, operation = [rewriter.visit(a) for a in node.args], row.name
    if operation in ("min", "max") and len(operands) > 2:
        result = operands[0]
        for operand in operands[1:]:
            result = rewriter.op(operation, node, result, operand)
        return result
    if operation in ("min", "max") and len(operands) == 1:
        reduction = reduce.largest if operation == "max" else reduce.smallest
        return call_kernel(rewriter, reduction, node, operands)
    if operation == "pow" and len(operands) == 2:
        exponent = rewriter.literal_integer(node.args[1])
        if exponent is not None and abs(exponent) <= 64 and text == "pow":
            return rewriter.op(f"power({exponent})", node, operands[0])
    if function is math.pow:
        operands = [rewriter.op("cast", node, operand) for operand in operands]
    if len(operands) != row.arity:
        rewriter.refuse(
            node,
            f"{text} with {len(operands)} operands",
            f"it takes {row.arity}; assign the result",
        )
    return rewriter.op(operation, node, *operands)


def creation(rewriter: Rewriting, node, function):
    """A call that makes an array: what it is filled with is rounded to the storage format."""
    position = symbols.CREATING[function]
    kind = node.args[position] if len(node.args) > position else None
    kind = next((k.value for k in node.keywords if k.arg == "dtype"), kind)
    arguments = [rewriter.visit(a) for a in node.args]
    keywords = {k.arg: rewriter.visit(k.value) for k in node.keywords}
    if function is np.full_like or function is np.full and kind is not None:
        if not _is_whole(rewriter, kind):
            return _filled(rewriter, node, function, arguments, keywords)
    if function is np.full and len(arguments) <= position and "dtype" not in keywords:
        if len(arguments) > 1:
            arguments[1] = rewriter.op("filling", node, arguments[1])
        else:
            keywords["fill_value"] = rewriter.op("filling", node, keywords["fill_value"])
    function = ast.Attribute(name("np"), function.__name__, ast.Load())
    return ast.Call(function, arguments, [ast.keyword(k, v) for k, v in keywords.items()])


def _is_whole(rewriter: Rewriting, kind: ast.expr | None) -> bool:
    """Whether a dtype is one of integers, or of truth values."""
    value = None if kind is None else rewriter.value_of(kind)
    return value in (int, bool) or isinstance(value, type) and issubclass(value, np.integer)


def _filled(rewriter: Rewriting, node, function, arguments: list, keywords: dict) -> ast.Call:
    """np.full with a dtype, np.full_like: an array is made, and the value stored in it, as in any
    other store.
    """
    names = ("shape" if function is np.full else "arr", "fill_value", "dtype")
    by_name = {**dict(zip(names, arguments, strict=False)), **keywords}
    by_name.setdefault("arr", by_name.pop("a", None))
    first, value = by_name.get(names[0]), by_name.get("fill_value")
    if first is None or value is None:
        rewriter.refuse(node, f"{ast.unparse(node.func)} without a value", "give its fill_value")
    maker = "zeros" if function is np.full else "zeros_like"
    kind = [by_name["dtype"]] if "dtype" in by_name else []
    array = ast.Call(ast.Attribute(name("np"), maker, ast.Load()), [first, *kind], [])
    bare = ast.copy_location(ast.Call(node.func, node.args, []), node)
    return call_kernel(rewriter, construction.filled, bare, [array, value])


def method(rewriter: Rewriting, node):
    """A method of a local value: reductions and data movement; everything else is refused."""
    attribute = node.func.attr
    if any(isinstance(a, ast.Starred) for a in node.args):
        rewriter.refuse(node, f".{attribute} with a starred argument", "give them one by one")
    if attribute in symbols.METHODS:
        reduction = symbols.REDUCTIONS[symbols.METHODS[attribute]]
        return reduction_call(
            rewriter, node, reduction, f".{attribute}", [node.func.value], node.args
        )
    owner = rewriter.visit(node.func.value)
    arguments = [rewriter.visit(a) for a in node.args]
    if attribute in complex_calls.METHODS and not rewriter.program.rows and not node.args:
        return rewriter.op("conj", node, owner)
    if attribute == "fill":
        arguments = [rewriter.op("leave", node, owner, *arguments)]
    elif attribute == "astype":
        kind = rewriter.value_of(node.args[0])
        if kind in _FLOATS:
            return rewriter.op("cast", node, owner)
        if kind in complex_calls.TYPES:
            complex_calls.refuse_in_fixed_point(rewriter, node, ast.unparse(node.args[0]))
            return rewriter.op("to_complex", node, owner)
        if not is_known(kind) and casts.is_type(rewriter, node.args[0]):
            return rewriter.op("cast_to", node, *arguments, owner)
        owner = rewriter.op("viewed", node, owner)
    elif attribute in symbols.DECIDING_METHODS:
        rewriter.program.note_call(getattr(np, attribute), rewriter, node)
        owner = rewriter.op("viewed", node, owner)
    elif attribute not in symbols.QUIET_METHODS and classes.methods_named(rewriter, attribute):
        return method_of_class(rewriter, node, owner, arguments)
    elif attribute not in symbols.QUIET_METHODS:
        rewriter.refuse(node, f"the method .{attribute}()", instead_of_method(attribute))
    called = ast.Call(ast.Attribute(owner, attribute, ast.Load()), arguments, [])
    called.keywords = [ast.keyword(k.arg, rewriter.visit(k.value)) for k in node.keywords]
    as_stored = attribute in ("pop", "get") and rewriter.program.backend.mixed  # as they were put
    entering = attribute in ("item", "pop", "get") and not as_stored
    return rewriter.op("enter", node, called) if entering else called


def method_of_class(rewriter: Rewriting, node, owner: ast.expr, arguments: list[ast.expr]):
    """A call of a method of a jitclass, which is lifted as a kernel of the object."""
    attribute = node.func.attr
    methods = classes.methods_named(rewriter, attribute)
    if len(methods) > 1:
        rewriter.refuse(
            node, f"the method .{attribute}(), which several classes here have,",
            "call a function of the object instead",
        )  # fmt: skip
    digest = code_digest(methods[0].__code__)
    checked = name(rewriter.program.operation(f"of_method({attribute!r}, {digest!r})"))
    instance = ast.Call(checked, [owner], [])
    return call_kernel(rewriter, methods[0], node, [instance, *arguments])


def library_call(rewriter: Rewriting, node, called) -> ast.Call:
    """A call of one of NumPy's functions by the engine's kernel, with arguments that it has; None
    only where that is what the kernel takes when nothing is given.
    """
    function, text = LIBRARY[called], ast.unparse(node.func)
    signature = inspect.signature(function)
    dtype = [k for k in node.keywords if k.arg == "dtype"]
    if dtype and function in MADE_OF_NUMBERS:
        kind = rewriter.value_of(dtype[0].value)
        if kind in (int, bool) or isinstance(kind, type) and issubclass(kind, np.integer):
            return plain(rewriter, node, called)
        keywords = [k for k in node.keywords if k is not dtype[0]]
        without = ast.copy_location(ast.Call(node.func, node.args, keywords), node)
        if kind in _FLOATS:
            node = without
        elif not is_known(kind) and casts.is_type(rewriter, dtype[0].value):
            result = library_call(rewriter, without, called)
            return rewriter.op("cast_to", node, rewriter.visit(dtype[0].value), result)
    if any(isinstance(a, ast.Starred) for a in node.args):
        return call_kernel(rewriter, function, node, [rewriter.visit(a) for a in node.args])
    try:
        bound = signature.bind(*node.args, **{k.arg: k.value for k in node.keywords}).arguments
    except TypeError:
        bound = None
    if bound is None or any(
        isinstance(a, ast.Constant) and a.value is None and signature.parameters[p].default
        for p, a in bound.items()
    ):
        takes = ", ".join(signature.parameters)
        rewriter.refuse(node, f"{text} with these arguments", f"it takes ({takes}), each a value")
    if "mode" in bound:
        mode = getattr(bound["mode"], "value", None)
        if mode not in MODES:
            rewriter.refuse(node, f"{text} in this mode", f"the modes are {', '.join(MODES)}")
        bound["mode"] = ast.Constant(MODES[mode])
        node = ast.copy_location(ast.Call(node.func, list(bound.values()), []), node)
    return call_kernel(rewriter, function, node, [rewriter.visit(a) for a in node.args])


def is_instance(rewriter: Rewriting, node, function) -> ast.expr:
    """isinstance(x, float): of the carrier's type too, which Numba takes for another. Of arrays it
    has none: they are known by an attribute that nothing else has.
    """
    if len(node.args) != 2:
        return plain(rewriter, node, function)
    kinds = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else [node.args[1]]
    accepted: list[ast.expr] = []
    of_arrays = False
    for kind in kinds:
        value = rewriter.value_of(kind)
        if value is np.ndarray:
            of_arrays = True
        elif value in _FLOATS:
            accepted += [name("float"), ast.Attribute(name("np"), "float32", ast.Load())]
        elif value in (int, bool, str, tuple, list, complex):
            accepted.append(name(value.__name__))
        elif isinstance(value, type) and issubclass(value, np.integer):
            accepted.append(ast.Attribute(name("np"), value.__name__, ast.Load()))
        else:
            text = f"isinstance(…, {ast.unparse(kind)})"
            rewriter.refuse(
                node, text, "ask for int, float, bool, str, tuple, np.ndarray or a NumPy integer"
            )
    operand = rewriter.visit(node.args[0])
    tests: list[ast.expr] = []
    if accepted:
        tests.append(ast.Call(name("isinstance"), [operand, ast.Tuple(accepted, ast.Load())], []))
    if of_arrays:
        tests.append(ast.Call(name("hasattr"), [operand, ast.Constant("strides")], []))
    return tests[0] if len(tests) == 1 else ast.BoolOp(ast.Or(), tests)


def arange(rewriter: Rewriting, node, function) -> ast.Call:
    """np.arange: Numba's of integers, the engine's kernel of floats or where the dtype is one."""
    text = ast.unparse(node.func)
    dtype = next((k.value for k in node.keywords if k.arg == "dtype"), None)
    args = node.args[:3]
    if len(node.args) == 4 and dtype is None:
        dtype = node.args[3]
        node = ast.copy_location(ast.Call(node.func, args, [ast.keyword("dtype", dtype)]), node)
    if len(node.keywords) > (dtype is not None) or not 1 <= len(node.args) <= 3:
        rewriter.refuse(node, f"{text} with these arguments", "it takes (start, stop, step, dtype)")
    ends = [rewriter.visit(a) for a in args]
    if dtype is not None and rewriter.value_of(dtype) not in _FLOATS:
        return plain(rewriter, node, function, ends)
    start = ends[0] if len(ends) > 1 else ast.Constant(0)
    stop = ends[min(len(ends), 2) - 1]
    step = ends[2] if len(ends) > 2 else ast.Constant(1)
    if dtype is not None:
        start = rewriter.op("cast", node, start)
    return chosen(rewriter, "arange", construction.arange, node, [start, stop, step])


def reduction(rewriter: Rewriting, node, function) -> ast.Call:
    """A call of a reduction by its name."""
    text, kernel = ast.unparse(node.func), symbols.REDUCTIONS[function]
    return reduction_call(rewriter, node, kernel, text, node.args[:1], node.args[1:])


def reduction_call(
    rewriter: Rewriting, node, function, text: str, arrays: list[ast.expr], more: list[ast.expr]
) -> ast.Call:
    """np.sum(a), a.sum(axis=0), np.dot(a, b): the engine's kernel, as far as Numba has its options.

    Args:
        function: the kernel.
        text: the function's name as it is written.
        arrays: what is reduced.
        more: further arguments by position.
    """
    if function in (reduce.dot, reduce.vdot):
        if node.keywords or len(more) != 1:
            rewriter.refuse(node, f"{text} with these arguments", "it takes (a, b)")
        return reduced(rewriter, function, node, [rewriter.visit(a) for a in [*arrays, *more]])
    options = {"axis": more[0]} if more else {}
    options |= {k.arg: k.value for k in node.keywords}
    along = symbols.ALONG.get(function)
    axis = options.pop("axis", ast.Constant(None))
    dtype = options.pop("dtype", None)
    if dtype is not None and rewriter.value_of(dtype) not in _FLOATS:
        options["dtype"] = dtype
    number, none = rewriter.literal_integer(axis), isinstance(axis, ast.Constant)
    none = none and axis.value is None
    if options or len(more) > 1 or not none and (number is None or along is None):
        advice = "np.sum and np.cumsum take an axis, a literal integer; write the loop over rows"
        rewriter.refuse(node, f"{text} with axis or other options", advice)
    arguments = [rewriter.visit(a) for a in arrays]
    if none:
        return reduced(rewriter, function, node, arguments)
    return chosen(rewriter, f"{along.__name__}({number})", along, node, arguments)


def reduced(rewriter: Rewriting, function, node, arguments: list[ast.expr]) -> ast.Call:
    """A reduction by the engine's kernel; sums and products of integers stay Numba's."""
    if function in (reduce.total, reduce.running_product, reduce.running_sum):
        return chosen(rewriter, function.__name__, function, node, arguments)
    return call_kernel(rewriter, function, node, arguments)


def chosen(rewriter: Rewriting, operation: str, function, node, arguments: list[ast.expr]):
    """An operation that calls the engine's kernel, or Numba's own function where all numbers are
    integers.
    """
    called = rewriter.program.callee(function)
    rewriter.program.note_call(function, rewriter, node)
    if rewriter.program.rows:
        key = rewriter.key_of_call(called, node)
        operation = name(rewriter.program.operation(operation))
        return ast.Call(operation, [*key.args, name(called), *arguments], [])
    return rewriter.op(operation, node, name(called), *arguments)


def call_kernel(rewriter: Rewriting, function, node, arguments: list[ast.expr]) -> ast.Call:
    """A call of another kernel, which is lifted too."""
    called = rewriter.program.callee(function)
    rewriter.program.note_call(function, rewriter, node)
    return _called(rewriter, name(called), called, node, arguments)


def local_call(rewriter: Rewriting, node) -> ast.Call:
    """A call of a function that came as an argument, or is defined inside the kernel."""
    inner = f"{rewriter.frame_name}.{node.func.id}"
    defined = {n.name for n in nodes(rewriter.tree) if isinstance(n, ast.FunctionDef)}
    if rewriter.program.rows and node.func.id not in defined - {rewriter.tree.name}:
        rewriter.refuse(
            node,
            f"the call of '{node.func.id}', the name of a function only inside this kernel, in "
            f"{rewriter.program.holder}",
            "define the function outside and call it by its own name",
        )
    arguments = [rewriter.visit(a) for a in node.args]
    plain = len(arguments) == 1 and not node.keywords and not isinstance(arguments[0], ast.Starred)
    if plain and not rewriter.program.keyed and node.func.id not in defined:
        return rewriter.op("cast_to", node, node.func, *arguments)  # a type, or a function
    return _called(rewriter, node.func, inner, node, arguments)


def _called(rewriter: Rewriting, function: ast.expr, called: str, node, arguments: list[ast.expr]):
    prefix = [rewriter.key_of_call(called, node)] if rewriter.program.keyed else []
    by_keyword = getattr(node, "keywords", [])
    keywords = [ast.keyword(own_name(k.arg), rewriter.visit(k.value)) for k in by_keyword]
    return rewriter.opened(ast.Call(function, [*prefix, *arguments], keywords))


REWRITES: dict[Any, Callable] = {
    **dict.fromkeys(symbols.NATIVE, plain), **dict.fromkeys(symbols.VIEWING, viewing),
    **dict.fromkeys(symbols.MOVING, moving), **dict.fromkeys(symbols.HEAPS, in_heap),
    **dict.fromkeys(symbols.RENAMED, renamed), **dict.fromkeys(symbols.CREATING, creation),
    **dict.fromkeys(LIBRARY, library_call), **dict.fromkeys(symbols.REDUCTIONS, reduction),
    **dict.fromkeys(complex_calls.TYPES, complex_calls.constructed),
    **dict.fromkeys(complex_calls.CALLED, complex_calls.called),
    isinstance: is_instance, np.arange: arange, np.bincount: counted, np.dtype: dtype,
    np.linalg.norm: norm, numba.get_num_threads: threads,
    vectorized.element_type: vectorized.type_of_elements,
}  # fmt: skip
"""Function, besides the operations -> what rewrites its calls, given the rewriter, the node and the
function.
"""

KINDS: tuple[tuple[Callable, Callable], ...] = (
    (vectorized.is_ufunc, vectorized.called),
    (lambda f: isinstance(f, type) and issubclass(f, BaseException), lambda _, node, f: node),
    (classes.is_named_tuple, classes.named_tuple),
    (classes.is_typed_list, classes.typed_list),
    (lambda f: isinstance(f, _Intrinsic), native_call),
    (lambda f: plain_function(f) is None, refused),
)
"""Test for a function or class -> the rewriter of its calls, for those that `REWRITES` lacks."""

_WITH_STARS = {
    plain, is_instance, library_call, counted, norm, kernel, classes.named_tuple,
    vectorized.called, vectorized.type_of_elements, complex_calls.constructed, complex_calls.called,
}  # fmt: skip
"""Rewriters that take `*x` among the arguments, or refuse it in words of their own."""
