"""Rewriting of calls: which function is an operation, a reduction, another kernel, or refused."""

from __future__ import annotations

import ast
import inspect
import math
from typing import TYPE_CHECKING

import numba
import numpy as np
from numba.core.extending import _Intrinsic

from sciprec.precision.library import construction
from sciprec.precision.library.sequences import MODES
from sciprec.precision.library.table import LIBRARY, MADE_OF_NUMBERS
from sciprec.precision.operations import reduce
from sciprec.precision.operations.operation import Operation, operation_called
from sciprec.precision.operations.vectorized import code_digest
from sciprec.precision.rewriting import casts, classes, complex_calls, symbols, vectorized
from sciprec.precision.rewriting.advice import instead_of, instead_of_method
from sciprec.precision.rewriting.norms import norm_called
from sciprec.precision.rewriting.own_names import own_name
from sciprec.precision.rewriting.syntax import is_known, name, nodes, plain_function, static_value

if TYPE_CHECKING:
    from sciprec.precision.rewriting.rewrite import Rewriter

_FLOATS = (float, np.float64, np.float32)
"""Types that mean numbers of the backend's."""


_NOT_KERNELS = ("numpy", "math", "cmath", "numba")
"""Packages whose functions stand for something else in compiled code than their source."""


def call(rewriter: Rewriter, node):
    """What a call becomes: of a type, of a method, of a local function, or of something known
    beforehand.
    """
    if casts.is_type(rewriter, node.func) and not _is_static(rewriter, node.func):
        return casts.cast(rewriter, node)
    if isinstance(node.func, ast.Attribute):
        function = static_value(node.func, rewriter.namespace, rewriter.local)
        if not is_known(function):
            rewriter.check_module(node.func)
            return method(rewriter, node)
    elif isinstance(node.func, ast.Name) and node.func.id in rewriter.local:
        return local_call(rewriter, node)
    else:
        function = static_value(node.func, rewriter.namespace, rewriter.local)
    if not is_known(function):
        rewriter.refuse(node, f"the unknown function '{ast.unparse(node.func)}'", "define it first")
    return known_call(rewriter, node, function)


def known_call(rewriter: Rewriter, node, function):
    """What a call of a known function becomes: an operation, a reduction, a new array, a plain
    call, or a call of another kernel; anything else is refused.
    """
    text, given = ast.unparse(node.func), [*node.args, *node.keywords]
    if isinstance(function, (numba.types.Number, numba.types.Boolean)):  # as a cast
        function = casts.numpy_type(function)
    if (function is np.round or function is np.around) and len(given) == 1:
        function = np.rint
    if vectorized.is_ufunc(function):
        return vectorized.called(rewriter, node, function)
    if function is vectorized.element_type:
        return vectorized.type_of_elements(rewriter, node)
    of_complex = complex_calls.call(rewriter, node, function)
    if of_complex is not None:
        return of_complex
    operation = operation_called(function)
    is_starred = any(isinstance(a, ast.Starred) for a in node.args)
    if is_starred and not _takes_a_star(function):
        rewriter.refuse(node, f"{text} with a starred argument", "give the operands one by one")
    if operation is not None:
        return operation_call(rewriter, node, operation, text)
    reduction = _lookup(symbols.REDUCTIONS, function)
    if reduction is not None:
        return reduction_call(rewriter, node, reduction, text, node.args[:1], node.args[1:])
    if function is np.linalg.norm:
        called, arguments = norm_called(rewriter, node, text)
        return called_with(rewriter, called, node, [rewriter.visit(a) for a in arguments])
    if function is numba.pndindex:  # one after the other
        indices = ast.Attribute(name("np"), "ndindex", ast.Load())
        return ast.Call(indices, [rewriter.visit(a) for a in node.args], [])
    weighted = len(node.args) > 1 or any(k.arg == "weights" for k in node.keywords)
    if function is np.bincount and not weighted:  # counts
        return plain_call(rewriter, node, text, [rewriter.visit(a) for a in node.args])
    written = _lookup(LIBRARY, function)
    if written is not None:
        return library_call(rewriter, node, written, text)
    if _lookup(symbols.CREATING, function) is not None:
        return creation(rewriter, node, function)
    if function is isinstance and len(node.args) == 2:
        return is_instance(rewriter, node)
    if function is np.dtype:
        kind = casts.numpy_type(static_value(node, rewriter.namespace, rewriter.local))
        if kind is not None:
            return casts.dtype(rewriter, kind)
    if function is np.swapaxes and len(node.args) == 3:
        if None not in map(rewriter.literal_integer, node.args[1:]):
            return ast.Call(name("sp_swapped"), [rewriter.visit(a) for a in node.args], [])
    if _member(symbols.COMPILED, function):
        compiled = name(f"sp_{function.__name__}")
        return ast.Call(compiled, [rewriter.visit(a) for a in node.args], [])
    place = _lookup(symbols.PLACES, function)
    if place is not None:
        made = ast.Call(name(place), [rewriter.visit(a) for a in node.args], [])
        return rewriter.op("enter", node, made)
    if _member(symbols.NATIVE, function) or _member(symbols.VIEWING, function):
        return plain_call(rewriter, node, text, [rewriter.visit(a) for a in node.args])
    if _member(symbols.MOVING, function):
        rewriter.program.note_call(function, rewriter, node)
        return plain_call(rewriter, node, text, [rewriter.seen(a) for a in node.args])
    if function is np.arange:
        return arange(rewriter, node, text)
    if isinstance(function, type) and issubclass(function, BaseException):
        return node
    made = classes.made(rewriter, node, function)
    if made is not None:
        return made
    if _member(symbols.HEAPS, function):
        moved = ast.Call(name(rewriter.imported(node.func, function)), [], [])
        moved.args = [rewriter.seen(a) for a in node.args]
        return moved if rewriter.program.backend.mixed else rewriter.op("enter", node, moved)
    if isinstance(function, _Intrinsic):
        return native_call(rewriter, node, function)
    if function is numba.get_num_threads:
        return ast.Call(name(rewriter.imported(node.func, function)), [], [])
    callee = plain_function(function)
    outside = (getattr(callee, "__module__", "") or "").split(".")[0] in _NOT_KERNELS
    if callee is None or outside:
        rewriter.refuse(node, text, instead_of(text, function))
    return call_kernel(rewriter, callee, node, [rewriter.visit(a) for a in node.args])


def _is_static(rewriter: Rewriter, node) -> bool:
    return is_known(static_value(node, rewriter.namespace, rewriter.local))


def _takes_a_star(function) -> bool:
    """Whether what a call becomes may have `*x` among its arguments."""
    if _member(symbols.NATIVE, function):
        return True
    if _lookup(LIBRARY, function) is not None:
        return True
    engine = [symbols.REDUCTIONS, symbols.CREATING]
    known = any(_lookup(table, function) is not None for table in engine)
    return not known and (plain_function(function) is not None or classes.is_made(function))


def plain_call(rewriter: Rewriter, node, text: str, arguments: list[ast.expr]) -> ast.Call:
    """A call of a function that does no arithmetic, under its usual name."""
    owner = static_value(node.func, rewriter.namespace, rewriter.local)
    module = {"numpy": "np", "math": "math", "builtins": ""}.get(
        getattr(owner, "__module__", "numpy") or "numpy", "np"
    )
    identifier = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
    identifier = getattr(owner, "__name__", identifier)
    function = ast.Attribute(name(module), identifier, ast.Load()) if module else name(identifier)
    if identifier in ("as_strided", "sliding_window_view"):
        tricks = ast.Attribute(ast.Attribute(name("np"), "lib", ast.Load()), "stride_tricks")
        function = ast.Attribute(tricks, identifier, ast.Load())
    kind = casts.numpy_type(owner)
    if kind is not None and owner not in (int, bool):
        function = casts.dtype(rewriter, kind)
    keywords = [ast.keyword(k.arg, rewriter.visit(k.value)) for k in node.keywords]
    return ast.Call(function, arguments, keywords)


def native_call(rewriter: Rewriter, node, function: _Intrinsic) -> ast.Call:
    """A call of an intrinsic of somebody else's, on integers alone."""
    if node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
        rewriter.refuse(node, "an intrinsic with keywords or a star", "give its operands in order")
    called = name(rewriter.imported(node.func, function))
    made = name(rewriter.program.operation(f"on_integers({len(node.args)})"))
    return ast.Call(made, [called, *map(rewriter.visit, node.args)], [])


def operation_call(rewriter: Rewriter, node, row: Operation, text: str):
    """A call of an operation of the table, with as many operands as its row has."""
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
    if static_value(node.func, rewriter.namespace, rewriter.local) is math.pow:
        operands = [rewriter.op("cast", node, operand) for operand in operands]
    if len(operands) != row.arity:
        rewriter.refuse(
            node,
            f"{text} with {len(operands)} operands",
            f"it takes {row.arity}; assign the result",
        )
    return rewriter.op(operation, node, *operands)


def creation(rewriter: Rewriter, node, function):
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


def _is_whole(rewriter: Rewriter, kind: ast.expr | None) -> bool:
    """Whether a dtype is one of integers, or of truth values."""
    known = None if kind is None else static_value(kind, rewriter.namespace, rewriter.local)
    return known in (int, bool) or isinstance(known, type) and issubclass(known, np.integer)


def _filled(rewriter: Rewriter, node, function, arguments: list, keywords: dict) -> ast.Call:
    """np.full with a dtype, np.full_like: an array is made, and the value stored in it, as in any
    other store.
    """
    names = ("shape" if function is np.full else "arr", "fill_value", "dtype")
    given = {**dict(zip(names, arguments, strict=False)), **keywords}
    given.setdefault("arr", given.pop("a", None))
    first, value = given.get(names[0]), given.get("fill_value")
    if first is None or value is None:
        rewriter.refuse(node, f"{ast.unparse(node.func)} without a value", "give its fill_value")
    maker = "zeros" if function is np.full else "zeros_like"
    kind = [given["dtype"]] if "dtype" in given else []
    made = ast.Call(ast.Attribute(name("np"), maker, ast.Load()), [first, *kind], [])
    bare = ast.copy_location(ast.Call(node.func, node.args, []), node)
    return call_kernel(rewriter, construction.filled, bare, [made, value])


def method(rewriter: Rewriter, node):
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
        kind = static_value(node.args[0], rewriter.namespace, rewriter.local)
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
    own = attribute in ("pop", "get") and rewriter.program.backend.mixed  # as they were put in
    entering = attribute in ("item", "pop", "get") and not own
    return rewriter.op("enter", node, called) if entering else called


def method_of_class(rewriter: Rewriter, node, owner: ast.expr, arguments: list[ast.expr]):
    """A call of a method of a jitclass, which is lifted as a kernel of the object."""
    attribute = node.func.attr
    known = classes.methods_named(rewriter, attribute)
    if len(known) > 1:
        rewriter.refuse(
            node, f"the method .{attribute}(), which several classes here have,",
            "call a function of the object instead",
        )  # fmt: skip
    digest = code_digest(known[0].__code__)
    checked = name(rewriter.program.operation(f"of_method({attribute!r}, {digest!r})"))
    own = ast.Call(checked, [owner], [])
    return call_kernel(rewriter, known[0], node, [own, *arguments])


def library_call(rewriter: Rewriter, node, function, text: str) -> ast.Call:
    """A call of one of NumPy's functions by the engine's kernel, with arguments that it has; None
    only where that is what the kernel takes when nothing is given.
    """
    signature = inspect.signature(function)
    dtype = [k for k in node.keywords if k.arg == "dtype"]
    if dtype and function in MADE_OF_NUMBERS:
        kind = static_value(dtype[0].value, rewriter.namespace, rewriter.local)
        if kind in (int, bool) or isinstance(kind, type) and issubclass(kind, np.integer):
            return plain_call(rewriter, node, text, [rewriter.visit(a) for a in node.args])
        left = [k for k in node.keywords if k is not dtype[0]]
        without = ast.copy_location(ast.Call(node.func, node.args, left), node)
        if kind in _FLOATS:
            node = without
        elif not is_known(kind) and casts.is_type(rewriter, dtype[0].value):
            made = library_call(rewriter, without, function, text)
            return rewriter.op("cast_to", node, rewriter.visit(dtype[0].value), made)
    if any(isinstance(a, ast.Starred) for a in node.args):
        return call_kernel(rewriter, function, node, [rewriter.visit(a) for a in node.args])
    try:
        given = signature.bind(*node.args, **{k.arg: k.value for k in node.keywords}).arguments
    except TypeError:
        given = None
    if given is None or any(
        isinstance(a, ast.Constant) and a.value is None and signature.parameters[p].default
        for p, a in given.items()
    ):
        takes = ", ".join(signature.parameters)
        rewriter.refuse(node, f"{text} with these arguments", f"it takes ({takes}), each a value")
    if "mode" in given:
        mode = getattr(given["mode"], "value", None)
        if mode not in MODES:
            rewriter.refuse(node, f"{text} in this mode", f"the modes are {', '.join(MODES)}")
        given["mode"] = ast.Constant(MODES[mode])
        node = ast.copy_location(ast.Call(node.func, list(given.values()), []), node)
    return call_kernel(rewriter, function, node, [rewriter.visit(a) for a in node.args])


def is_instance(rewriter: Rewriter, node) -> ast.expr:
    """isinstance(x, float): of the carrier's type too, which Numba takes for another. Of arrays it
    has none: they are known by an attribute that nothing else has.
    """
    kinds = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else [node.args[1]]
    asked: list[ast.expr] = []
    of_arrays = False
    for kind in kinds:
        value = static_value(kind, rewriter.namespace, rewriter.local)
        if value is np.ndarray:
            of_arrays = True
        elif value in _FLOATS:
            asked += [name("float"), ast.Attribute(name("np"), "float32", ast.Load())]
        elif value in (int, bool, str, tuple, list, complex):
            asked.append(name(value.__name__))
        elif isinstance(value, type) and issubclass(value, np.integer):
            asked.append(ast.Attribute(name("np"), value.__name__, ast.Load()))
        else:
            text = f"isinstance(…, {ast.unparse(kind)})"
            rewriter.refuse(
                node, text, "ask for int, float, bool, str, tuple, np.ndarray or a NumPy integer"
            )
    given = rewriter.visit(node.args[0])
    tests: list[ast.expr] = []
    if asked:
        tests.append(ast.Call(name("isinstance"), [given, ast.Tuple(asked, ast.Load())], []))
    if of_arrays:
        tests.append(ast.Call(name("hasattr"), [given, ast.Constant("strides")], []))
    return tests[0] if len(tests) == 1 else ast.BoolOp(ast.Or(), tests)


def arange(rewriter: Rewriter, node, text: str) -> ast.Call:
    """np.arange: Numba's of integers, the engine's kernel of floats or where the dtype is one."""
    dtype = next((k.value for k in node.keywords if k.arg == "dtype"), None)
    given = node.args[:3]
    if len(node.args) == 4 and dtype is None:
        dtype = node.args[3]
        node = ast.copy_location(ast.Call(node.func, given, [ast.keyword("dtype", dtype)]), node)
    if len(node.keywords) > (dtype is not None) or not 1 <= len(node.args) <= 3:
        rewriter.refuse(node, f"{text} with these arguments", "it takes (start, stop, step, dtype)")
    ends = [rewriter.visit(a) for a in given]
    if dtype is not None and static_value(
        dtype, rewriter.namespace, rewriter.local
    ) not in _FLOATS:
        return plain_call(rewriter, node, text, ends)
    start = ends[0] if len(ends) > 1 else ast.Constant(0)
    stop = ends[min(len(ends), 2) - 1]
    step = ends[2] if len(ends) > 2 else ast.Constant(1)
    if dtype is not None:
        start = rewriter.op("cast", node, start)
    return chosen(rewriter, "arange", construction.arange, node, [start, stop, step])


def reduction_call(
    rewriter: Rewriter, node, function, text: str, arrays: list[ast.expr], more: list[ast.expr]
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
    if dtype is not None and static_value(
        dtype, rewriter.namespace, rewriter.local
    ) not in _FLOATS:
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


def called_with(rewriter: Rewriter, function, node, arguments: list[ast.expr]) -> ast.Call:
    """A call of a kernel with these arguments in order, whatever the names in the source were."""
    positional = ast.copy_location(ast.Call(node.func, node.args, []), node)
    return call_kernel(rewriter, function, positional, arguments)


def reduced(rewriter: Rewriter, function, node, arguments: list[ast.expr]) -> ast.Call:
    """A reduction by the engine's kernel; sums and products of integers stay Numba's."""
    if function in (reduce.total, reduce.running_product, reduce.running_sum):
        return chosen(rewriter, function.__name__, function, node, arguments)
    return call_kernel(rewriter, function, node, arguments)


def chosen(rewriter: Rewriter, operation: str, function, node, arguments: list[ast.expr]):
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


def call_kernel(rewriter: Rewriter, function, node, arguments: list[ast.expr]) -> ast.Call:
    """A call of another kernel, which is lifted too."""
    called = rewriter.program.callee(function)
    rewriter.program.note_call(function, rewriter, node)
    return _called(rewriter, name(called), called, node, arguments)


def local_call(rewriter: Rewriter, node) -> ast.Call:
    """A call of a function that came as an argument, or is defined inside the kernel."""
    inner = f"{rewriter.frame_name}.{node.func.id}"
    defined = {n.name for n in nodes(rewriter.tree) if isinstance(n, ast.FunctionDef)}
    if rewriter.program.rows and node.func.id not in defined - {rewriter.tree.name}:
        rewriter.refuse(
            node,
            f"the call of '{node.func.id}', the name of a function only inside this kernel, in "
            f"{rewriter.program.with_rows}",
            "define the function outside and call it by its own name",
        )
    arguments = [rewriter.visit(a) for a in node.args]
    plain = len(arguments) == 1 and not node.keywords and not isinstance(arguments[0], ast.Starred)
    if plain and not rewriter.program.keyed and node.func.id not in defined:
        return rewriter.op("cast_to", node, node.func, *arguments)  # a type, or a function
    return _called(rewriter, node.func, inner, node, arguments)


def _called(rewriter: Rewriter, function: ast.expr, called: str, node, arguments: list[ast.expr]):
    prefix = [rewriter.key_of_call(called, node)] if rewriter.program.keyed else []
    given = getattr(node, "keywords", [])
    keywords = [ast.keyword(own_name(k.arg), rewriter.visit(k.value)) for k in given]
    return rewriter.opened(ast.Call(function, [*prefix, *arguments], keywords))


def _lookup(table: dict, function):
    try:
        return table.get(function)
    except TypeError:
        return None


def _member(table: set, function) -> bool:
    try:
        return function in table
    except TypeError:
        return False
