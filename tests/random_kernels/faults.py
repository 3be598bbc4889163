"""Faults planted into the engine of a worker's process, by which the net's power is proved.

Each replaces one mechanism by a wrong one that is right nearly everywhere. They reach a process
with its trials (see `worker`); the package itself knows nothing of them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import replace

from llvmlite import ir
from numba import njit
from numba.extending import intrinsic

from sciprec.precision.compiled import quicker
from sciprec.precision.operations import complex_numbers, fusing, operation
from sciprec.precision.operations import intrinsics as operations
from sciprec.precision.operations.complex_algorithms import COMPLEX_OPERATIONS, ComplexParts
from sciprec.precision.operations.evaluation import Evaluation
from sciprec.precision.rewriting import parallel
from sciprec.precision.rewriting.rewrite import Rewriter
from sciprec.precision.rounding import leading_bits, mode, sticky, technique
from sciprec.precision.rounding.fixed_rounding import LOW, UNIT, Fixed, constant_at
from sciprec.precision.rounding.instructions import Bits, Grid, Half
from sciprec.precision.rounding.native import Native
from sciprec.precision.rounding.words import V32, call
from tests.random_kernels.backends import MIXED, resolved

FAULTS: dict[str, tuple[Callable[[], None], Callable]] = {}
"""Name -> (what plants it, whether a trial could meet it)."""


def fault(met_by: Callable):
    """Register a fault; `met_by` tells the trials that it may change."""

    def register(function):
        FAULTS[function.__name__] = (function, met_by)
        return function

    return register


WITHOUT_SHORT_WAYS = "without short ways"
"""No fault: Numba is of a version that the short ways through its compiler are not made for."""


def plant(name: str) -> None:
    """Plant a fault in this process."""
    if name == WITHOUT_SHORT_WAYS:
        quicker.MADE_FOR = dict.fromkeys(quicker.MADE_FOR, ((0, 0), (0, 0)))
        assert not quicker.replacements()
    else:
        FAULTS[name][0]()


def _named(*names: str) -> Callable:
    return lambda trial: trial.backend in names


def _written(text: str, other: Callable = lambda trial: True) -> Callable:
    return lambda trial: text in trial.case.source and other(trial)


def _not_fixed(trial) -> bool:
    return not resolved(trial.backend).fixed


@fault(_named("fp16"))
def overflow_tie() -> None:
    """The tie between fp16's largest number and the next is not beyond the range."""
    right, beyond = Half.finish, Grid._beyond

    def not_the_tie(self, b, r):
        tie = b.fcmp_ordered("==", call(b, "fabs", r), self.view.constant(65520.0))
        return b.and_(beyond(self, b, r), b.not_(tie))

    Grid._beyond = not_the_tie

    def finish(self, b, r):
        tie = b.fcmp_ordered("==", call(b, "fabs", r), V32.constant(65520.0))
        below = V32.with_sign(b, V32.constant(65504.0), V32.sign_word(b, r))
        return b.select(tie, below, right(self, b, r))

    Half.finish = finish


@fault(lambda trial: trial.backend in ("mlu370", "mlu370-noguard") and trial.path == "auto")
def subnormals_kept() -> None:
    """The processor does not flush where mlu370 counts on it."""
    right = operations.put_caller_in_mode
    flush = mode.control_word("rn", True) & ~mode.control_word("rn", False)
    operations.put_caller_in_mode = lambda *given: right(*given[:-1], given[-1] & ~flush)


@fault(lambda trial: re.search(r"for (\w+, )?v\w* in", trial.case.source) and _not_fixed(trial))
def loop_variable() -> None:
    """The elements that a loop runs over are not rounded."""
    right = Rewriter.op

    def op(self, operation, node, *operands, **more):
        looped = isinstance(node, ast.For) and operation == "enter" and not self.program.rows
        return operands[0] if looped else right(self, operation, node, *operands, **more)

    Rewriter.op = op


@fault(_not_fixed)
def literal_escapes() -> None:
    """Literals keep all the bits of the carrier."""
    Rewriter.literal = lambda self, value: self.program.number(float(value))


@fault(_written("] -= "))
def swapped_operands() -> None:
    """y[i] -= x stores x - y[i]."""
    right = Rewriter.op

    def op(self, operation, node, *operands, **more):
        if isinstance(node, ast.AugAssign) and operation == "sub":
            operands = operands[::-1]
        return right(self, operation, node, *operands, **more)

    Rewriter.op = op


@fault(_written("fma(", _not_fixed))
def fma_rounded_twice() -> None:
    """x y + z is rounded after the product, too."""

    def fma(self, b, x, y, z, **key):
        return self.add(b, self.mul(b, x, y, **key), z, **key)

    for kind in (Native, *_all_below(Native)):
        if "fma" in vars(kind) and kind.__name__ != "Fixed":
            kind.fma = fma


def _all_below(kind: type) -> list[type]:
    return [c for below in kind.__subclasses__() for c in (below, *_all_below(below))]


@fault(_written("prange(", lambda trial: re.search(r"\b(s1|d1) ", trial.case.source)))
def chunks_start_from_one() -> None:
    """Each chunk of a parallel sum starts from one."""
    parallel._START = {**parallel._START, "add": parallel._START["mul"]}


@fault(
    lambda trial: trial.path == "auto"
    and (trial.backend.startswith("mlu370") or trial.backend == "float:p=14,round=rz")
    and re.search(r"\* c\[0\] \+ c\[1\]", trial.case.source)
)
def vector_unfit_instruction() -> None:
    """Elements are made canonical by an instruction that LLVM cannot translate for vectors."""

    def from_binary32(self, b, x):
        return self.narrow(b, self.finish(b, call(b, "canonicalize", x)))

    Bits.from_binary32 = from_binary32


@fault(lambda trial: " max(" in trial.case.source or "min(" in trial.case.source)
def minimum_of_nan() -> None:
    """min and max pass NaN on as NumPy's do, not as Python's."""

    @njit
    def smaller(x, y):
        return x if x != x or x < y else y

    @njit
    def larger(x, y):
        return x if x != x or x > y else y

    for name, native in (("min", smaller), ("max", larger)):
        operation.OPERATIONS[name] = replace(operation.OPERATIONS[name], exact=native)


@fault(_not_fixed)
def integers_escape() -> None:
    """An integer operand keeps all the bits of the evaluation type."""

    def from_integer(self, b, i, signed: bool, **key):
        return self.narrow(b, (b.sitofp if signed else b.uitofp)(i, self.evaluation))

    Native.from_integer = from_integer


@fault(lambda trial: technique.processor_word(resolved(trial.backend), trial.path))
def folded_constants() -> None:
    """The compiler sees constants, and computes with them to nearest."""

    def constant(self, text: str):
        @intrinsic
        def number(typingctx):
            def codegen(context, b, signature, args):
                return ir.Constant(self.kind, float.fromhex(text))

            return self.carrier(), codegen

        return number

    operations.Operations.constant = constant


@fault(_named("float:p=21,round=ro", "float:p=40,round=rz", "float:p=30"))
def sticky_bit() -> None:
    """The loss of a sum is forgotten where rounding needs it."""
    sticky.two_sum = lambda b, x, y: (b.fadd(x, y), ir.Constant(x.type, 0.0))


@fault(_named("float:p=16", "float:p=13,emin=-30,emax=31"))
def cut_off_bits() -> None:
    """What a sum in the toward-zero mode cut off is forgotten: it is rounded as a tie."""
    leading_bits._lost = lambda b, r, x, y: V32.word(0)


@fault(_named("mlu370-noguard"))
def guard_bits() -> None:
    """Additions of mlu370-noguard are not aligned first."""
    technique.aligned_pair = lambda b, x, y, significand_bits: (x, y)


@fault(lambda trial: trial.case.is_elementary and _not_fixed(trial))
def elementary_unrounded() -> None:
    """Elementary functions keep the bits of the carrier."""
    right = Evaluation.by_evaluate

    def elementary(self, context, b, row, values, role, key):
        return right(self, context, b, row, values, _Unrounded(role), key)

    Evaluation.by_evaluate = elementary


class _Unrounded:
    """A role that narrows to the carrier and no more."""

    def __init__(self, role):
        self.role = role

    def __getattr__(self, name):
        return getattr(self.role, name)

    def from_binary64(self, b, x, **key):
        return self.role.narrow(b, x)


@fault(lambda trial: resolved(trial.backend).random)
def draws_repeat() -> None:
    """Every iteration of a loop draws the same random bits."""
    right = Rewriter.descended

    def descended(self, key, counter):
        return right(self, key, ast.Constant(0)) if isinstance(counter, ast.Name) else right(
            self, key, counter)  # fmt: skip

    Rewriter.descended = descended


@fault(lambda trial: resolved(trial.backend).compute.fixed)
def ends_of_the_range() -> None:
    """In fixed point the lowest integer is one too high."""
    right = Fixed._limited

    def limited(self, b, r, row):
        result = right(self, b, r, row)
        low, unit = constant_at(b, row, LOW), constant_at(b, row, UNIT)
        return b.select(b.fcmp_ordered("==", result, low), b.fadd(low, unit), result)

    Fixed._limited = limited


@fault(lambda trial: trial.backend in MIXED)
def exact_in_mixed_roles() -> None:
    """A number that is exact within one format is not rounded where roles differ in format."""
    Evaluation.rounding_what_is_exact = lambda self, emit, role: emit


@fault(lambda trial: trial.case.is_complex)
def product_turned():
    """The imaginary part of a product is formed with the sign of a conjugate."""
    right = COMPLEX_OPERATIONS["mul"]

    def formula(s, z, w):
        return ComplexParts(right.formula(s, z, w).real, z.real * w.imag - z.imag * w.real)

    COMPLEX_OPERATIONS["mul"] = replace(right, formula=formula)


@fault(lambda trial: trial.case.is_complex)
def imaginary_parts_unrounded():
    """Only the real parts of complex numbers are rounded when they are loaded."""

    def half(ops, context, b, kind, value, key, function):
        real, imag = complex_numbers.unpacked(context, b, kind, value)
        real = function(kind.underlying_float, real, complex_numbers.step_key(b, key, 1 << 10))
        imag = context.cast(b, imag, kind.underlying_float, ops.carrier)
        return complex_numbers.packed(context, b, complex_numbers.carrier_of(ops), real, imag)

    complex_numbers.each_part = half


@fault(lambda trial: re.search(r"g\d+ = (\w+) \* [^\n]*\n    \1[ \[]", trial.case.source))
def changes_overlooked():
    """Expressions of whole arrays are loops of one, whatever is written between their parts."""
    fusing._Fusing._is_quiet = lambda self, instruction: True
