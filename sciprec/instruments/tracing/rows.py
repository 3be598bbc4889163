"""Rows of a traced program's table: what they tell operations, and what these note in them.

Every row begins with the address of a header that all rows share: where the run is. Words are of
64 bits; see `Header` and the names of words below.
"""

from __future__ import annotations

import hashlib

from llvmlite import ir

from sciprec.precision.rounding.fixed_rounding import word_at
from sciprec.precision.rounding.words import F64, I64, V64, ZERO, apart, call, invariant

CLOCK, STOP, STEP, HEALED_STEP, MASKS, MASK, LOOP, DONE, LENGTH = range(9)
HEADER_WORDS = 9
"""Words of the header: operations so far; where loops stop noting their index; passes of outermost
loops so far; the one in which values are healed; the address of a table of masks, one for each
pass; that of the present one; the row of the loop whose passes are counted for whoever waits, or 0,
how many of them have begun, and how many there are."""

HEADER, FACTOR = 0, 1
WORDS = 8
"""Words of a row of parts before its mask: the header's address; 1.0 where its rounding counts, if
the mask is that of a pass, or where it is left out, if some operations are to be wide."""

TREATMENT, RUNS, FIRST, LOST, ROUNDED = 1, 2, 3, 5, 6
NO_NUMBER, INFINITE, SATURATED, VANISHED, OTHERWISE = 7, 10, 13, 16, 19
INDEX, ALIKE, MOVED, UNSURE = 22, 23, 24, 25
EXAMINED_WORDS = 26
"""Words of a row of a twin: how its results are treated, how often it ran, the clock when it first
did, the largest factor by which a relative error grew, how often it rounded; of every event how
often, and clock and step of the first one; a loop's present index; of which first events exact
values make another, a bit for each in the order of `EVENTS`, and from bit `ENDLESS` on of which the
exact value is not finite itself; by how much of itself a number that enters is moved, a
binary64 number; and how many decisions exact values leave open, since they are not known so well.
Word 4 is left to parallel loops."""
ENDLESS = 8
EVENTS = {
    "NaN": NO_NUMBER,
    "infinity": INFINITE,
    "saturation": SATURATED,
    "underflow to zero": VANISHED,
    "branch": OTHERWISE,
}
HEALED, HEALED_IN_ONE_STEP, HELD = 1, 2, 3


def load(b, address, index: int, kind=I64):
    """A word of a row or of the header."""
    return b.load(word_at(b, address, index, kind))


def store(b, value, address, index: int) -> None:
    """Write such a word."""
    b.store(value, word_at(b, address, index, value.type))


def header_of(b, row):
    """The header's address: the same in every row, whatever kernels write."""
    return invariant(b, word_at(b, row, HEADER, I64))


def named(stem: str, *facts) -> str:
    """The name of a routine that depends on facts."""
    return f"sciprec.{stem}.{hashlib.blake2b(repr(facts).encode(), digest_size=8).hexdigest()}"


def relative_error(b, tested, high, low):
    """|tested - exact| / |exact|; infinite beside an exact zero, NaN where there is no number."""
    return apart(b, "sciprec.relative", F64, _relative_error, tested, high, low)


def _relative_error(b, tested, high, low):
    error = b.fsub(b.fsub(tested, high), low)
    size = call(b, "fabs", high)
    least = V64.constant(2.0**-1070)
    size = b.select(b.fcmp_ordered("<", size, least), least, size)
    return b.fdiv(call(b, "fabs", error), size)


def is_finite(b, x):
    """Whether a number is finite."""
    return b.fcmp_ordered("==", b.fsub(x, x), ZERO)


def ticked(b, row):
    """The clock, one further; the row has run once more."""
    one, header = ir.Constant(I64, 1), header_of(b, row)
    clock, runs = b.add(load(b, header, CLOCK), one), load(b, row, RUNS)
    store(b, clock, header, CLOCK)
    new = b.icmp_unsigned("==", runs, ir.Constant(I64, 0))
    store(b, b.select(new, clock, load(b, row, FIRST)), row, FIRST)
    store(b, b.add(runs, one), row, RUNS)
    return clock


def random_share(b, row):
    """A number of a random sign, of a size between 1/2 and 1, so that two of them do not cancel:
    drawn by the clock, bits of its hash (Steele, Lea and Flood 2014).
    """
    word = load(b, header_of(b, row), CLOCK)
    for factor, shift in ((0xBF58476D1CE4E5B9, 27), (0x94D049BB133111EB, 31)):
        word = b.mul(b.xor(word, b.lshr(word, ir.Constant(I64, shift))), ir.Constant(I64, factor))
    bits = b.and_(word, ir.Constant(I64, (1 << 63 | (1 << 52) - 1) - (1 << 64)))
    return b.bitcast(b.or_(bits, ir.Constant(I64, 0x3FE << 52)), F64)


def happened(b, row, event: int, condition, clock, alike=None, endless=None) -> None:
    """Note an event where a condition holds: how often, and when it first did.

    Args:
        alike: whether exact values make such an event, too.
        endless: whether the exact value is not finite itself.
    """
    count, step = load(b, row, event), load(b, header_of(b, row), STEP)
    new = b.and_(condition, b.icmp_unsigned("==", count, ir.Constant(I64, 0)))
    store(b, b.add(count, b.zext(condition, I64)), row, event)
    for place, value in ((event + 1, clock), (event + 2, step)):
        store(b, b.select(new, value, load(b, row, place)), row, place)
    for fact, first in ((alike, 0), (endless, ENDLESS)):
        if fact is not None:
            bit = ir.Constant(I64, 1 << first + list(EVENTS.values()).index(event))
            flags = load(b, row, ALIKE)
            store(b, b.select(b.and_(new, fact), b.or_(flags, bit), flags), row, ALIKE)


def decided(b, otherwise, row, unsure=None) -> None:
    """Note a decision of the tested run, whether exact values would have made another, and whether
    they leave it open.
    """
    unsure = ir.Constant(ir.IntType(1), 0) if unsure is None else unsure
    apart(b, "sciprec.decided", I64, _decided, otherwise, unsure, row)


def _decided(b, otherwise, unsure, row):
    clock = ticked(b, row)
    happened(b, row, OTHERWISE, otherwise, clock)
    store(b, b.add(load(b, row, UNSURE), b.zext(unsure, I64)), row, UNSURE)
    return clock


def counted_pass(b, row, index, outermost: bool) -> None:
    """Note that a loop begins a pass, with its index."""
    emit = _outermost_pass if outermost else _inner_pass
    apart(b, f"sciprec.{emit.__name__}", I64, emit, row, index)


def _inner_pass(b, row, index):
    header = header_of(b, row)
    before = b.icmp_signed("<", load(b, header, CLOCK), load(b, header, STOP))
    store(b, b.select(before, index, load(b, row, INDEX)), row, INDEX)
    runs = b.add(load(b, row, RUNS), ir.Constant(I64, 1))
    store(b, runs, row, RUNS)
    return runs


def _outermost_pass(b, row, index):
    next_step(b, row)
    return _inner_pass(b, row, index)


def next_step(b, row):
    """The step that now begins: a pass of an outermost loop, or what follows such a loop."""
    header = header_of(b, row)
    step = b.add(load(b, header, STEP), ir.Constant(I64, 1))
    store(b, step, header, STEP)
    return header, step


def loop_begins(b, row, length):
    """Have the passes of a loop counted, unless those of a loop around it are; 1 if so."""
    return apart(b, "sciprec.loop_begins", I64, _loop_begins, row, length)


def _loop_begins(b, row, length):
    header, none = header_of(b, row), ir.Constant(I64, 0)
    now = load(b, header, LOOP)
    free = b.or_(b.icmp_unsigned("==", now, none), b.icmp_unsigned("==", now, row))
    with b.if_then(free):
        for word, value in ((DONE, none), (LENGTH, length), (LOOP, row)):
            _show(b, value, header, word)
    return b.zext(free, I64)


def pass_begins(b, row, counted) -> None:
    """Count a pass of a loop whose passes are counted."""
    with _if_counted(b, counted):
        header = header_of(b, row)
        _show(b, b.add(load(b, header, DONE), ir.Constant(I64, 1)), header, DONE)


def loop_ends(b, row, counted) -> None:
    """Count passes no more, of a loop whose passes are counted."""
    with _if_counted(b, counted):
        _show(b, ir.Constant(I64, 0), header_of(b, row), LOOP)


def _if_counted(b, counted):
    return b.if_then(b.icmp_unsigned("!=", counted, ir.Constant(I64, 0)))


def _show(b, value, header, index: int) -> None:
    """Write a word that another thread reads meanwhile."""
    b.store_atomic(value, word_at(b, header, index, I64), "monotonic", 8)
