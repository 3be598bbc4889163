"""Fixed-point operations as LLVM instructions, on binary64 variables that hold k u exactly.

Every place has a row of memory with its unit: C = u (1.5 2^52 + 2^(bits-1)) and the two ends of the
range. Adding C to a number rounds it to a multiple of u, since u is the spacing of binary64 there;
subtracting C gives it back. A product is fma(x, y, C), rounded once from all of its bits: the same
as forming it in a 64-bit integer and shifting with rounding. In range, the bits of the shifted
number above the format's are those of 1.5 2^52 u, so that one comparison of bit patterns tells
whether anything left the range.

Three variants of a program (see `variant`) share these rows:

    plain    sums of two operands are exact in binary64 (see `units.Units.variant`)
    wide     sums carry the sign of their binary64 error
    careful  like wide; ends of the range are enforced, and every saturation is counted in its row

The first two only mark that something left the range; their results are then thrown away.

Source: Dekker (1971) for the constant that rounds; Boldo & Melquiond (2008) for round to odd.
"""

from __future__ import annotations

from llvmlite import ir
from numba.core import cgutils

from sciprec.precision.formats.backend import Arithmetic
from sciprec.precision.rounding.around import RowVariant
from sciprec.precision.rounding.native import Native
from sciprec.precision.rounding.sticky import Sticky, left_of_quotient, odd, two_sum
from sciprec.precision.rounding.words import BIT, F64, I64, V64, ZERO, apart, call, invariant

ROW_BYTES = 64
SHIFT, UNIT, LOW, HIGH, SATURATED, INVALID, LARGEST = range(7)
"""Words of a row: C, u and the ends of the range (binary64); counts of results beyond the range
and of NaN (integers); the largest size that was met (binary64)."""
MARKS = "sciprec.marks"


def word_at(b: ir.IRBuilder, row, index: int, kind: ir.Type):
    """The address of a word of a row."""
    address = b.add(row, ir.Constant(I64, 8 * index)) if index else row
    return b.inttoptr(address, kind.as_pointer())


def constant_at(b: ir.IRBuilder, row, index: int):
    """A number of a row that no kernel changes."""
    return invariant(b, word_at(b, row, index, F64))


def marks_slot(b: ir.IRBuilder):
    """The variable of the function being compiled that gathers its marks; it may be an argument."""
    for argument in b.function.args:
        if argument.name == MARKS:
            return argument
    for instruction in b.function.entry_basic_block.instructions:
        if instruction.name == MARKS:
            return instruction
    return cgutils.alloca_once(b, I64, name=MARKS)


def add_marks(b: ir.IRBuilder, marks) -> None:
    """Note that something left its range where `marks` is not zero."""
    slot = marks_slot(b)
    b.store(b.or_(b.load(slot), marks), slot)


def is_integer(value) -> bool:
    """Whether a number has just come from an integer, and so may have any of 53 bits."""
    return getattr(value, "opname", "") in ("sitofp", "uitofp")


def place_of(row):
    """Tell the rows of a function apart as it is compiled: by the variable with the address of
    its first row, and the distance from there; None where it cannot be told.
    """
    if getattr(row, "opname", "") != "add" or not isinstance(row.operands[1], ir.Constant):
        return None
    first, distance = row.operands
    if getattr(first, "opname", "") == "load":
        first = first.operands[0]
    return id(first), distance.constant


def made_at(value, row) -> bool:
    """Whether a number is known to be the result of an operation with this row."""
    return place_of(row) is not None and getattr(value, "place", None) == place_of(row)


class Fixed(Native):
    """Fixed point; operations take the address of their row as `row`."""

    placed = in_units = True

    def __init__(self, arithmetic: Arithmetic, variant: RowVariant):
        super().__init__(arithmetic, F64, F64, None)
        self.variant = variant

    # ---- operations -----------------------------------------------------------------------------

    def round(self, b, r, row):
        """Any binary64 number, rounded once."""
        return self._placed(b, row, r)

    def add(self, b, x, y, row):
        if self.variant.exact_sums and not (is_integer(x) or is_integer(y)):
            return self._placed(b, row, b.fadd(x, y))
        return self.add_with_integer(b, x, y, row)

    def add_with_integer(self, b, x, y, row):
        """x + y, where one may have any of 53 bits."""
        return self._pair(b, row, *two_sum(b, x, y))

    def sub(self, b, x, y, row):
        return self.add(b, x, b.fneg(y), row)

    def sub_with_integer(self, b, x, y, row):
        """x - y, where x may have any of 53 bits."""
        return self.add_with_integer(b, x, b.fneg(y), row)

    def negated(self, b, x, row):
        return self._placed(b, row, b.fneg(x))

    def magnitude(self, b, x, row):
        return self._placed(b, row, call(b, "fabs", x))

    def mul(self, b, x, y, row):
        if self.variant.enforces:
            high = b.fmul(x, y)
            error = call(b, "fma", x, y, b.fneg(high))
            return self._pair(b, row, high, error)
        shifted = call(b, "fma", x, y, constant_at(b, row, SHIFT))
        return self._marked(b, row, shifted, lambda r: call(b, "fma", x, y, b.fneg(r)))

    def div(self, b, x, y, row):
        r = b.fdiv(x, y)
        return self._placed(b, row, odd(b, r, left_of_quotient(b, r, x, y)), saturates=True)

    def sqrt(self, b, x, row):
        r = call(b, "sqrt", x)
        error = call(b, "fma", b.fneg(r), r, x)
        return self._placed(b, row, odd(b, r, error), saturates=True)

    def fma(self, b, x, y, z, row):
        """x y + z, the product with all of its bits."""
        return self._pair(b, row, *Sticky.fused(b, x, y, z, False))

    def accumulate(self, b, total, term, row):
        """Both aligned to this place with rounding, then added as integers."""
        if all(made_at(v, row) for v in (total, term)):
            return self.accumulate_aligned(b, total, term, row)
        return self._aligned_sum(b, total, term, row)

    def accumulate_aligned(self, b, total, term, row):
        """Add terms that were made at this place: they are multiples of its unit, and so is their
        sum, exactly.
        """
        if self.variant.enforces:
            return self._aligned_sum(b, total, term, row)
        total = b.fadd(total, term)
        self._mark(b, row, b.fadd(total, constant_at(b, row, SHIFT)))
        total.place = place_of(row)
        return total

    def _aligned_sum(self, b, total, term, row):
        shift = constant_at(b, row, SHIFT)
        aligned = [b.fsub(b.fadd(v, shift), shift) for v in (total, term)]
        return self._placed(b, row, b.fadd(*aligned))

    def from_binary32(self, b, x, row):
        return self._placed(b, row, b.fpext(x, F64))

    def from_binary64(self, b, x, row):
        return self._placed(b, row, x, saturates=True)

    def from_integer(self, b, i, signed: bool, row=None):
        """An integer operand as it is, up to 2^53; the operation on it rounds."""
        return (b.sitofp if signed else b.uitofp)(i, F64)

    def noted(self, b, r, row):
        """A number that is taken as it is."""
        return r

    # ---- rounding -------------------------------------------------------------------------------

    def _pair(self, b, row, r, error):
        """r + error rounded to the row's unit."""
        if not self.variant.enforces or self.format.saturate:
            return self._placed(b, row, odd(b, r, error))
        name = f"sciprec.wrapped.{self.arithmetic.rounding}.{self.format.bits}"
        return apart(b, name, F64, self._wrapped, r, error, row)

    def _placed(self, b, row, r, saturates=False):
        """A binary64 number (its last bit may be sticky) rounded to the row's unit."""
        if self.variant.enforces:
            if saturates or self.format.saturate:
                return self._careful(b, row, r)
            return self._pair(b, row, r, ZERO)
        shifted = b.fadd(r, constant_at(b, row, SHIFT))
        return self._marked(b, row, shifted, lambda rounded: b.fsub(r, rounded))

    def _marked(self, b, row, shifted, error):
        """The rounded number of a shifted one; error(rounded) has the sign of what was lost."""
        shift = constant_at(b, row, SHIFT)
        rounded = b.fsub(shifted, shift)
        step = self._step(b, row, rounded, error)
        if step is not None:
            rounded, shifted = b.fadd(rounded, step), b.fadd(shifted, step)
        self._mark(b, row, shifted)
        rounded.place = place_of(row)
        return rounded

    def _mark(self, b, row, shifted):
        """Note it where a shifted number is beyond the range."""
        above = ir.Constant(I64, -(1 << self.format.bits))
        pattern = b.and_(V64.to_word(b, constant_at(b, row, SHIFT)), above)
        add_marks(b, b.and_(b.xor(V64.to_word(b, shifted), pattern), above))

    def _step(self, b, row, rounded, error):
        """The step of a directed rounding from the number rounded to nearest; None to nearest."""
        rounding = self.arithmetic.rounding
        if rounding == "rn":
            return None
        unit, residual = constant_at(b, row, UNIT), error(rounded)
        below = b.fcmp_ordered("<", residual, ZERO)
        above = b.fcmp_ordered(">", residual, ZERO)
        if rounding == "rz":
            down = b.and_(below, b.fcmp_ordered(">", rounded, ZERO))
            up = b.and_(above, b.fcmp_ordered("<", rounded, ZERO))
        else:
            no = ir.Constant(BIT, 0)
            down, up = (below, no) if rounding == "rd" else (no, above)
        return b.select(down, b.fneg(unit), b.select(up, unit, ZERO))

    def _careful(self, b, row, r):
        """Rounded, with the ends enforced and everything unusual counted."""
        name = f"sciprec.careful.{self.arithmetic.rounding}"
        return apart(b, name, F64, self._limited, r, row)

    def _limited(self, b, r, row):
        """The body of `_careful`."""
        low, high, unit = (constant_at(b, row, i) for i in (LOW, HIGH, UNIT))
        one_above, one_below = b.fadd(high, unit), b.fsub(low, unit)
        bounded = b.select(b.fcmp_ordered("<", r, one_above), r, one_above)
        bounded = b.select(b.fcmp_ordered(">", bounded, one_below), bounded, one_below)
        rounded = self._to_unit(b, row, bounded)
        too_high = b.fcmp_ordered(">", rounded, high)
        limited = b.select(too_high, high, rounded)
        limited = b.select(b.fcmp_ordered("<", rounded, low), low, limited)
        return self._counted(b, row, r, limited, b.fcmp_ordered("!=", limited, rounded))

    def _wrapped(self, b, r, error, row):
        """r + error, rounded; the upper bits are dropped. Infinity becomes an end of the range."""
        span = b.fmul(constant_at(b, row, UNIT), V64.constant(2.0**self.format.bits))
        remainder = odd(b, *two_sum(b, b.frem(r, span), error))
        low = constant_at(b, row, LOW)
        high = b.fneg(low)
        rounded = self._to_unit(b, row, remainder)
        too_low = b.fcmp_ordered("<", rounded, low)
        too_high = b.fcmp_ordered(">=", rounded, high)
        wrapped = b.select(too_low, b.fadd(rounded, span), rounded)
        wrapped = b.select(too_high, b.fsub(rounded, span), wrapped)
        size, infinity = call(b, "fabs", r), V64.constant(float("inf"))
        end = b.select(b.fcmp_ordered(">", r, low), constant_at(b, row, HIGH), low)
        wrapped = b.select(b.fcmp_ordered("==", size, infinity), end, wrapped)
        far = b.fcmp_ordered(">=", size, span)
        beyond = b.or_(far, b.or_(too_low, too_high))
        return self._counted(b, row, r, wrapped, beyond)

    def _to_unit(self, b, row, r):
        """A number within or just outside the range, rounded."""
        shift = constant_at(b, row, SHIFT)
        rounded = b.fsub(b.fadd(r, shift), shift)
        step = self._step(b, row, rounded, lambda near: b.fsub(r, near))
        return rounded if step is None else b.fadd(rounded, step)

    def _counted(self, b, row, r, result, beyond):
        """The result (zero for NaN); counts results beyond the range and NaN, and keeps the largest
        finite size beyond the range.
        """
        unit = ir.Constant(I64, 1)
        nan = b.fcmp_unordered("uno", r, r)
        result = b.select(nan, ZERO, result)
        beyond = b.and_(beyond, b.not_(nan))
        with cgutils.if_unlikely(b, b.or_(beyond, nan)):
            for condition, word in ((beyond, SATURATED), (nan, INVALID)):
                with cgutils.if_unlikely(b, condition):
                    b.atomic_rmw("add", word_at(b, row, word, I64), unit, "monotonic")
            finite = b.fcmp_ordered("<", call(b, "fabs", r), V64.constant(float("inf")))
            with cgutils.if_unlikely(b, b.and_(beyond, finite)):
                size = V64.to_word(b, call(b, "fabs", r))
                b.atomic_rmw("umax", word_at(b, row, LARGEST, I64), size, "monotonic")
        return result
