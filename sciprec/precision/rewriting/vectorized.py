"""Functions made by `@vectorize` and `@guvectorize` as kernels over arrays.

The loop that Numba would make around the function is written as source, and rewritten as every
kernel is.
"""

from __future__ import annotations

import ast
import functools
from types import FunctionType

import numpy as np
from numba.core import types
from numba.np.ufunc.dufunc import DUFunc
from numba.np.ufunc.gufunc import GUFunc

from sciprec.precision.rewriting.sources import carry_sources
from sciprec.precision.rewriting.syntax import Rewriting, name

_OVER_ARRAYS = '''
def {name}({inputs}):
    shape = np.broadcast_shapes({shapes})
    {spread}
    out = np.empty(shape, element_type(function, {inputs}))
    for index in np.ndindex(shape):
        out[index] = function({elements})
    return out
'''
_OVER_LOOPS = '''
def {name}({operands}):
    for i in range({last}.shape[0]):
        function({parts})
'''


def element_type(function, *operands):
    """The type of a function's result for elements of these arrays; in a kernel's source alone."""


def is_ufunc(value) -> bool:
    """Whether Numba's `@vectorize` or `@guvectorize` has made it."""
    return isinstance(value, (DUFunc, GUFunc))


def function_of(ufunc: DUFunc | GUFunc) -> FunctionType:
    """The plain Python function that was decorated."""
    dispatcher = ufunc.gufunc_builder if isinstance(ufunc, GUFunc) else ufunc._dispatcher
    return dispatcher.py_func


def layout_of(gufunc: GUFunc) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """The names of the core dimensions of every input and of every output."""
    return gufunc.gufunc_builder.sin, gufunc.gufunc_builder.sout


def over_arrays(function: FunctionType) -> FunctionType:
    """A kernel of arrays and numbers that are broadcast, around a function of numbers; it gives a
    new array.
    """
    inputs = [f"x{i}" for i in range(function.__code__.co_argcount)]
    return _written(function, _OVER_ARRAYS.format(
        name=function.__name__,
        inputs=", ".join(inputs),
        shapes=", ".join(f"np.shape({x})" for x in inputs),
        spread="\n    ".join(f"{x}_ = np.broadcast_to({x}, shape)" for x in inputs),
        elements=", ".join(f"{x}_[index]" for x in inputs),
    ))  # fmt: skip


def over_loops(gufunc: GUFunc) -> FunctionType:
    """A kernel of arrays that have one dimension before their core dimensions, inputs first, then
    outputs, which it writes.
    """
    function = function_of(gufunc)
    inputs, outputs = layout_of(gufunc)
    takes_arrays = [_takes_arrays(gufunc, i) for i in range(len(inputs))] + [True] * len(outputs)
    operands = [f"x{i}" for i in range(len(takes_arrays))]
    parts = [
        f"{x}[i : i + 1]" if array and not core else f"{x}[i]"
        for x, core, array in zip(operands, [*inputs, *outputs], takes_arrays, strict=True)
    ]
    return _written(function, _OVER_LOOPS.format(
        name=function.__name__, operands=", ".join(operands), last=operands[-1],
        parts=", ".join(parts),
    ))  # fmt: skip


def _takes_arrays(gufunc: GUFunc, number: int) -> bool:
    """Whether signatures give an input without core dimensions as an array of one element."""
    declared = [signature.args[number] for signature in gufunc.gufunc_builder._sigs]
    return bool(declared) and all(isinstance(kind, types.Array) for kind in declared)


@functools.lru_cache(512)
def _written(function: FunctionType, text: str) -> FunctionType:
    """A kernel of this source, around a function."""
    text = text.strip() + "\n"
    file = f"the loop around {function.__name__} of {function.__code__.co_filename}"
    namespace: dict = {"np": np, "function": function, "element_type": element_type}
    exec(compile(text, file, "exec"), namespace)
    kernel = namespace[function.__name__]
    kernel.__module__, kernel.__doc__ = function.__module__, function.__doc__
    carry_sources({kernel.__code__: text})
    return kernel


def called(rewriter: Rewriting, node: ast.Call, ufunc: DUFunc | GUFunc) -> ast.expr:
    """A call of such a function in a kernel: of numbers its function's, of arrays the loop's."""
    program, text = rewriter.program, ast.unparse(node.func)
    if node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
        rewriter.refuse(node, f"{text} with keywords or a star", "give its operands one by one")
    takes = ufunc.nin if isinstance(ufunc, DUFunc) else len(sum(layout_of(ufunc), []))
    if len(node.args) != takes:
        rewriter.refuse(
            node, f"{text} with {len(node.args)} operands", f"give all {takes}, outputs too"
        )
    operands = [rewriter.visit(a) for a in node.args]
    if isinstance(ufunc, GUFunc):
        callee = program.callee(function_of(ufunc))
        core = [len(dimensions) for dimensions in sum(layout_of(ufunc), [])]
        first = len(layout_of(ufunc)[0])
        for i, count in enumerate(core):
            ndim = max(count, 1) if i >= first or _takes_arrays(ufunc, i) else count
            checked = name(program.operation(f"of_dimensions({ndim})"))
            operands[i] = ast.Call(checked, [operands[i]], [])
        prefix = [rewriter.key_of_call(callee, node)] if program.keyed else []
        return rewriter.opened(ast.Call(name(callee), [*prefix, *operands], []))
    return broadcast(rewriter, node, function_of(ufunc), operands)


def broadcast(rewriter: Rewriting, node, function: FunctionType, operands: list[ast.expr]):
    """A call of a function of numbers, or of its loop where operands are arrays."""
    program = rewriter.program
    called = [program.callee(f) for f in (function, over_arrays(function))]
    prefix = [rewriter.key_of_call(f, node) for f in called] if program.keyed else []
    chosen = name(program.operation(f"chosen({len(operands)})"))
    return rewriter.opened(ast.Call(chosen, [*map(name, called), *prefix, *operands], []))


def type_of_elements(rewriter: Rewriting, node: ast.Call, _) -> ast.expr:
    """Rewrite a call of `element_type`."""
    function, *operands = (rewriter.visit(a) for a in node.args)
    prefix = [name(rewriter.key)] if rewriter.program.keyed else []
    operation = name(rewriter.program.operation(f"result_type({len(operands)})"))
    return ast.Call(operation, [function, *prefix, *operands], [])
