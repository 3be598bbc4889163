"""Rewriting of what only complex numbers have: literals, parts, casts, `cmath`."""

from __future__ import annotations

import ast
import builtins
import cmath
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sciprec.precision.rewriting.rewrite import Rewriter

_ADVICE = "keep real and imaginary parts in separate variables or arrays"
TYPES = (builtins.complex, np.complex128, np.complex64)
CALLED = {
    np.conj: "conj", np.angle: "angle", cmath.phase: "angle", cmath.polar: "polar",
    cmath.rect: "rect", np.real: "real", np.imag: "imag",
}  # fmt: skip
"""Function -> operation of the same operands."""
METHODS = {"conj", "conjugate"}
PARTS = {"real", "imag"}
_AS_IT_IS = {np.conj, np.real}
"""Functions that give a real number as it is."""
_ARITY = {"rect": 2}
_OF_CMATH = {
    getattr(cmath, name): name
    for name in ("exp", "log", "log10", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh")
}
"""Function of `cmath` -> the operation, of its operand as a complex number."""


def literal(rewriter: Rewriter, node, value: complex) -> ast.expr:
    """A complex constant, its parts rounded to the compute format."""
    refuse_in_fixed_point(rewriter, node, f"the complex number {value}")
    return rewriter.op("paired", node, *map(rewriter.literal, (value.real, value.imag)))


def call(rewriter: Rewriter, node, function) -> ast.expr | None:
    """What a call of a known function becomes, where that is about complex numbers; else None."""
    hashable = getattr(function, "__hash__", None) is not None
    if not hashable:
        return None
    made = function in TYPES
    operation = CALLED.get(function) or _OF_CMATH.get(function)
    if not made and operation is None:
        return None
    text, count = ast.unparse(node.func), len(node.args)
    if rewriter.program.rows and function in _AS_IT_IS and count == 1:
        return rewriter.visit(node.args[0])
    refuse_in_fixed_point(rewriter, node, text)
    if node.keywords:
        rewriter.refuse(node, f"{text} with keywords", "give the operands in order")
    operands = [rewriter.visit(a) for a in node.args]
    if made:
        return _made(rewriter, node, function, operands)
    if function is cmath.log and count == 2:
        parts = [
            rewriter.op("log", node, rewriter.op("as_complex", node, x)) for x in operands
        ]
        return rewriter.op("div", node, *parts)
    arity = _ARITY.get(operation, 1)
    if count != arity:
        rewriter.refuse(node, f"{text} with {count} operands", f"it takes {arity}")
    if function in _OF_CMATH:
        operands = [rewriter.op("as_complex", node, operands[0])]
    return rewriter.op(operation, node, *operands)


def _made(rewriter: Rewriter, node, function, operands: list[ast.expr]) -> ast.expr:
    """complex(), complex(z), complex(x, y), np.complex128(z)."""
    if not operands:
        return literal(rewriter, node, 0j)
    if len(operands) == 1:
        return _complex(rewriter, node, operands[0])
    if len(operands) == 2 and function is builtins.complex:
        return rewriter.op("of_parts", node, *operands)
    text = ast.unparse(node.func)
    rewriter.refuse(node, f"{text} with {len(operands)} operands", "write complex(x, y)")
    return None


def _complex(rewriter: Rewriter, node, operand: ast.expr) -> ast.expr:
    return rewriter.op("to_complex", node, operand)


def refuse_in_fixed_point(rewriter: Rewriter, node, construct: str) -> None:
    """Refuse a complex number in an arithmetic with rows of a table."""
    if rewriter.program.rows:
        rewriter.refuse(node, f"{construct}, complex in fixed point or a profile,", _ADVICE)
