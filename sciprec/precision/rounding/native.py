"""The processor's own arithmetic: the base of every technique of rounding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from sciprec.precision.formats.backend import Arithmetic
from sciprec.precision.rounding.words import F32, F64, I64, View, call, jammed, opaque


class Native:
    """The processor's own arithmetic in the evaluation type; the base of the other techniques.

    Subclasses override `finish` (rounds a result of the evaluation type) and, where one rounding
    of a rounded result would be wrong, the operation itself.

    Attributes:
        placed: whether every result depends on its place (signs and integers included), given to
            the operations as the address `row`.
        observes: whether it looks at numbers that are taken or stored as they are.
        in_units: whether numbers are multiples of units, or will be.
        takes: whether operands are brought into its format by `taken(builder, x)` first.
        wide: whether operands may be numbers of other formats that are none of this one.
        own: whether operands are brought into binary64, exactly, before they are taken.
        one_row: whether all that an operation does is in one row.
        counts: whether, and how, `count` notes how often operations are executed; "" for not.
        ask: in code that arithmetics share, gives the result of an operation by its name.
    """

    placed = observes = in_units = takes = False
    wide = one_row = own = False
    counts = ""
    ask: Any = None

    def __init__(
        self, arithmetic: Arithmetic, carrier: ir.Type, evaluation: ir.Type, mode: str | None
    ):
        self.arithmetic, self.format, self.rule = arithmetic, arithmetic.format, arithmetic.rule
        self.carrier, self.evaluation, self.mode = carrier, evaluation, mode
        self.view = View(evaluation)

    def finish(self, b, r):
        """A result of the evaluation type rounded to the format, still of that type."""
        return r

    def widen(self, b, x):
        """A number of the carrier in the evaluation type, exactly."""
        return b.fpext(x, self.evaluation) if x.type != self.evaluation else x

    def narrow(self, b, x):
        """A number of the format in the carrier, exactly."""
        return b.fptrunc(x, self.carrier) if x.type != self.carrier else x

    def round(self, b, r, **key):
        """A result of the evaluation type, rounded to the format, in the carrier."""
        return self.narrow(b, self.finish(b, r, **key))

    def add(self, b, x, y, **key):
        """x + y, rounded once; so are the operations below."""
        return self.round(b, b.fadd(self.widen(b, x), self.widen(b, y)), **key)

    def sub(self, b, x, y, **key):
        """x - y: the sum with the other sign."""
        return self.add(b, x, self.negated(b, y), **key)

    def negated(self, b, x, row=None):
        """-x. LLVM moves a sign that it sees into products and quotients, which is right only where
        the rounding is symmetric: upward and downward it is changed by a hidden mask.
        """
        if not self.mode or self.rule.symmetric:
            return b.fneg(x)
        view = View(x.type)
        sign = opaque(b, f"sciprec.sign{view.width}", view.word(view.sign))
        return view.to_float(b, b.xor(view.to_word(b, x), sign))

    def magnitude(self, b, x, row=None):
        """|x|, under the same condition."""
        if not self.mode or self.rule.symmetric:
            return call(b, "fabs", x)
        view = View(x.type)
        mask = opaque(b, f"sciprec.rest{view.width}", view.word(view.sign - 1))
        return view.to_float(b, b.and_(view.to_word(b, x), mask))

    def mul(self, b, x, y, **key):
        """x y."""
        return self.round(b, b.fmul(self.widen(b, x), self.widen(b, y)), **key)

    def times(self, b, x, factor: float):
        """x times a power of two that is in the format."""
        constant = ir.Constant(self.carrier, factor)
        if self.mode:
            constant = opaque(b, f"sciprec.{self.carrier}.{factor.hex()}", constant)
        return self.mul(b, constant, x)

    def div(self, b, x, y, **key):
        """x / y."""
        return self.round(b, b.fdiv(self.widen(b, x), self.widen(b, y)), **key)

    def sqrt(self, b, x, **key):
        """The square root of x."""
        return self.round(b, call(b, "sqrt", self.widen(b, x)), **key)

    def fma(self, b, x, y, z, **key):
        """x y + z."""
        return self.round(b, call(b, "fma", *(self.widen(b, v) for v in (x, y, z))), **key)

    def from_binary32(self, b, x, **key):
        """Any binary32 number, rounded once."""
        if self.evaluation == F32:
            return self.round(b, self.hidden(b, x), **key)
        return self.from_binary64(b, b.fpext(x, F64), **key)

    def from_binary64(self, b, x, **key):
        """Any binary64 number, rounded once."""
        x = self.hidden(b, x)
        return self.round(b, x if self.evaluation == F64 else b.fptrunc(x, F32), **key)

    def sum_of_binary64(self, b, x, y, **key):
        """x + y of binary64 numbers, one of them in the format."""
        return self.from_binary64(b, b.fadd(self.hidden(b, x), y), **key)

    def hidden(self, b, x):
        """A number that the compiler cannot round itself, to nearest, where it is a constant, such
        as `np.finfo(a.dtype).eps`.
        """
        if not self.mode:
            return x
        view = View(x.type)
        zero = opaque(b, f"sciprec.zero{view.width}", view.word(0))
        return view.to_float(b, b.or_(view.to_word(b, x), zero))

    def from_integer(self, b, i, signed: bool, **key):
        """Any 64-bit integer, rounded once: by the processor, or jammed to 53 bits first (sticky
        last bit).
        """
        if type(self) is Native or self.mode:
            convert = b.sitofp if signed else b.uitofp
            if self.mode:
                i = b.add(i, opaque(b, "sciprec.zero", ir.Constant(I64, 0)))
            return self.round(b, convert(i, self.evaluation), **key)
        return self.from_binary64(b, jammed(b, i, signed), **key)

    def _overflow(self, b, r, rounded, sign_word, beyond=None):
        """Apply the overflow rule where `beyond`: r is the unrounded result; its infinities stay
        infinite, NaN where the format has none.
        """
        fmt, view, (above, below) = self.format, self.view, self.rule.overflows
        size, largest = call(b, "fabs", r), view.constant(fmt.max_finite)
        outward = view.constant(float("nan" if fmt.overflow == "nan" else "inf"))
        if beyond is None:
            beyond = b.fcmp_ordered(">", call(b, "fabs", rounded), largest)
        if fmt.overflow == "saturate" or not (above or below):
            limit = largest
        elif above and below:
            limit = outward
        else:
            negative = b.icmp_unsigned("!=", sign_word, view.word(0))
            ends = (outward, largest) if below else (largest, outward)
            limit = b.select(negative, *ends)
        if limit is not outward:
            infinite = b.fcmp_ordered("==", size, view.constant(float("inf")))
            limit = b.select(infinite, outward, limit)
        return b.select(beyond, view.with_sign(b, limit, sign_word), rounded)

    def _flush(self, b, r, sign_word):
        """Results below the smallest normal number become zeros of the same sign."""
        tiny = b.fcmp_ordered("<", call(b, "fabs", r), self.view.constant(self.format.min_normal))
        return b.select(tiny, self.view.to_float(b, sign_word), r)


def by_method(method: str, *names: str, **others: str) -> Callable:
    """A decorator of a technique of rounding: these operations, where it has none of its own, are
    calls of one method, with the operation's name, or with that of another one.
    """

    def operation(label: str, name: str) -> Callable:
        def called(self: Any, b: ir.IRBuilder, *operands: Any, **how: Any) -> Any:
            return getattr(self, method)(b, name, *operands, **how)

        called.__name__, called.__doc__ = label, f"`Native.{name}`."
        return called

    def decorated(technique: type) -> type:
        for label, name in {**dict(zip(names, names, strict=True)), **others}.items():
            if label not in vars(technique):
                setattr(technique, label, operation(label, name))
        return technique

    return decorated
