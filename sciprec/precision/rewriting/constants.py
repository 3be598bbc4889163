"""Constants of a kernel: what a known value becomes in the generated module."""

from __future__ import annotations

import ast
import enum
from types import BuiltinFunctionType

import numpy as np

from sciprec.precision.formats.literal import round_literal
from sciprec.precision.rewriting import complex_calls
from sciprec.precision.rewriting.casts import dtype, numpy_type
from sciprec.precision.rewriting.syntax import Rewriting, is_known, name, parse, plain_function

_FUNCTIONS = BuiltinFunctionType, np.ufunc, type(np.sum)
_AROUND = "call it by its own name, or define a function with def that calls it, and name that"


def constant(rewriter: Rewriting, node, value, text: str) -> ast.expr:
    """A module constant, closure variable, function or type as an expression of the generated
    module.
    """
    if not is_known(value):
        rewriter.refuse(
            node, f"the unknown name '{text}'", "define it before lifting, or pass it in"
        )
    embedded = embed(rewriter, value)
    if embedded is None:
        rewriter.refuse(
            node,
            f"'{text}', a {type(value).__name__},",
            _AROUND if isinstance(value, _FUNCTIONS) else
            "constants may be numbers, strings, types, functions, tuples and arrays: keep what the "
            "kernel reads of it in one of these, or pass that as an argument",
        )
    return embedded


def embed(rewriter: Rewriting, value) -> ast.expr | None:
    """The expression for a constant's value, or None where there is none."""
    if isinstance(value, (bool, type(None))):
        return ast.Constant(value)
    if isinstance(value, enum.Enum) and not isinstance(value, int):
        owner = rewriter.program.imported(type(value), *type(value).__members__)
        return owner and ast.Attribute(name(owner), value.name, ast.Load())
    if isinstance(value, (int, str)):
        return ast.Constant(int(value) if isinstance(value, int) else str(value))
    if isinstance(value, (float, np.floating)):
        return rewriter.literal(float(value))
    if isinstance(value, (complex, np.complexfloating)):
        return complex_calls.literal(rewriter, rewriter.tree, complex(value))
    if isinstance(value, (np.integer, np.bool_)):
        return ast.Constant(value.item())
    if isinstance(value, tuple):
        items = [embed(rewriter, v) for v in value]
        return None if None in items else ast.Tuple(items, ast.Load())
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiubc":
        _check_kind(rewriter, value)
        program = rewriter.program
        read = program.numbers.read.format(program.array(value))
        return held(rewriter, parse(read, mode="eval").body)
    kind = numpy_type(value)
    if kind is not None:
        return dtype(rewriter, kind)
    function = plain_function(value)
    if function is not None:
        return name(rewriter.program.callee(function))
    return None


def _check_kind(rewriter: Rewriting, value: np.ndarray) -> None:
    if value.dtype.kind == "c":
        complex_calls.refuse_in_fixed_point(rewriter, rewriter.tree, f"an array of {value.dtype}")


def held(rewriter: Rewriting, value: ast.expr) -> ast.expr:
    """A constant from the module, out of the compiler's sight under a processor mode."""
    if not rewriter.program.hides:
        return value
    return ast.Call(name(rewriter.program.operation("held")), [value], [])


def default(rewriter: Rewriting, value) -> ast.expr:
    """A parameter's default value, in Python, when the generated module is imported."""
    if isinstance(value, (float, np.floating)):
        rewriter.program.rounds_ahead = True
        rounded = round_literal(float(value), rewriter.program.backend.storage)
        text = ast.Constant(rounded.hex())
        number = ast.Call(ast.Attribute(name("float"), "fromhex", ast.Load()), [text], [])
        return ast.Call(name("sp_carrier"), [number], [])
    if isinstance(value, (complex, np.complexfloating)):
        complex_calls.refuse_in_fixed_point(rewriter, rewriter.tree, f"the default value {value}")
        backend = rewriter.program.backend
        rounded = (round_literal(float(x), backend.storage) for x in (value.real, value.imag))
        parts = ", ".join(f"float.fromhex({x.hex()!r})" for x in rounded)
        return parse(f"sp_complex(complex({parts}))", mode="eval").body
    if isinstance(value, tuple):
        return ast.Tuple([default(rewriter, v) for v in value], ast.Load())
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiubc":
        _check_kind(rewriter, value)
        return name(rewriter.program.array(value))
    function = plain_function(value)
    if function is not None:
        return name(rewriter.program.callee_before(function))
    return constant(rewriter, rewriter.tree, value, "a default value")
