"""Rewriting of what only complex numbers have: literals, parts, casts, `cmath`."""

from __future__ import annotations

import ast
import builtins
import cmath

import numpy as np

from sciprec.precision.operations.complex_algorithms import COMPLEX_OPERATIONS
from sciprec.precision.operations.operation import OPERATIONS
from sciprec.precision.rewriting.syntax import Rewriting

_ADVICE = "keep real and imaginary parts in separate variables or arrays"
TYPES = (builtins.complex, np.complex128, np.complex64)
METHODS = {"conj", "conjugate"}
PARTS = {"real", "imag"}
_OF_CMATH = {getattr(cmath, name): name for name in COMPLEX_OPERATIONS if hasattr(cmath, name)}
CALLED = {
    **_OF_CMATH, cmath.phase: "angle", np.angle: "angle", np.conj: "conj", np.real: "real",
    np.imag: "imag",
}  # fmt: skip
"""Function -> operation, which functions of `cmath` ask of their operands as complex numbers."""
_AS_IT_IS = {np.conj, np.real}
"""Functions that give a real number as it is."""


def literal(rewriter: Rewriting, node, value: complex) -> ast.expr:
    """A complex constant, its parts rounded to the compute format."""
    refuse_in_fixed_point(rewriter, node, f"the complex number {value}")
    return rewriter.op("paired", node, *map(rewriter.literal, (value.real, value.imag)))


def called(rewriter: Rewriting, node, function) -> ast.expr:
    """A call of a function that is about complex numbers."""
    operation, count = CALLED[function], len(node.args)
    if rewriter.program.rows and function in _AS_IT_IS and count == 1:
        return rewriter.visit(node.args[0])
    text, operands = _operands(rewriter, node)
    if function in _OF_CMATH and not OPERATIONS[operation].promotes:
        in_pairs = (rewriter.op("as_complex", node, x) for x in operands)
        if function is cmath.log and count == 2:
            return rewriter.op("div", node, *[rewriter.op("log", node, z) for z in in_pairs])
        operands = in_pairs
    arity = OPERATIONS[operation].arity
    if count != arity:
        rewriter.refuse(node, f"{text} with {count} operands", f"it takes {arity}")
    return rewriter.op(operation, node, *operands)


def constructed(rewriter: Rewriting, node, function) -> ast.expr:
    """complex(), complex(z), complex(x, y), np.complex128(z)."""
    text, operands = _operands(rewriter, node)
    if not operands:
        return literal(rewriter, node, 0j)
    if len(operands) == 1:
        return rewriter.op("to_complex", node, *operands)
    if len(operands) == 2 and function is builtins.complex:
        return rewriter.op("of_parts", node, *operands)
    rewriter.refuse(node, f"{text} with {len(operands)} operands", "write complex(x, y)")
    return None


def _operands(rewriter: Rewriting, node) -> tuple[str, list[ast.expr]]:
    """The text of the function that is called, and its operands in order."""
    text = ast.unparse(node.func)
    refuse_in_fixed_point(rewriter, node, text)
    if node.keywords:
        rewriter.refuse(node, f"{text} with keywords", "give the operands in order")
    return text, [rewriter.visit(a) for a in node.args]


def refuse_in_fixed_point(rewriter: Rewriting, node, construct: str) -> None:
    """Refuse a complex number in an arithmetic with rows of a table."""
    if rewriter.program.rows:
        holder = rewriter.program.holder
        alone = f"{holder} or a profile" if holder == "fixed point" else holder
        rewriter.refuse(node, f"{construct}, complex in {alone},", _ADVICE)
