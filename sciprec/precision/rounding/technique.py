"""The technique of rounding for an arithmetic, and the processor mode that it needs."""

from __future__ import annotations

from functools import lru_cache

from llvmlite import ir

from sciprec.foundation.errors import InputError
from sciprec.precision.formats.backend import Arithmetic, Backend
from sciprec.precision.formats.float_format import Format
from sciprec.precision.formats.rounding_rules import ROUNDINGS
from sciprec.precision.rounding import mode
from sciprec.precision.rounding.instructions import Bits, BitsNearest, Grid, Half, ShortGrid, Single
from sciprec.precision.rounding.leading_bits import LeadingBits
from sciprec.precision.rounding.native import Native
from sciprec.precision.rounding.sticky import Sticky, Wide
from sciprec.precision.rounding.stochastic import (
    Noisy,
    Stochastic,
    StochasticBits,
    ToBinary64,
    WideStochastic,
)
from sciprec.precision.rounding.words import F32, F64, I32


def aligned_pair(b, x, y, significand_bits: int):
    """Both operands truncated toward zero to multiples of 2^(E - p + 1), E the larger one's
    exponent.
    """
    drop = 24 - significand_bits
    words = [b.bitcast(v, I32) for v in (x, y)]
    exponents = [b.and_(b.lshr(w, ir.Constant(I32, 23)), ir.Constant(I32, 0xFF)) for w in words]
    out = []
    for word, exponent, other in zip(words, exponents, reversed(exponents), strict=True):
        gap = b.sub(other, exponent)
        gap = b.select(b.icmp_signed(">", gap, ir.Constant(I32, 0)), gap, ir.Constant(I32, 0))
        near = b.icmp_signed("<", gap, ir.Constant(I32, significand_bits))
        shift = b.select(near, b.add(gap, ir.Constant(I32, drop)), ir.Constant(I32, 31))
        mask = b.shl(ir.Constant(I32, -1), shift)
        out.append(b.bitcast(b.and_(word, mask), F32))
    return out


def _with_alignment(technique: type) -> type:
    """Return the technique with operands of additions aligned first (no guard bits)."""

    class Aligned(technique):
        def add(self, b, x, y, **key):
            x, y = aligned_pair(b, x, y, self.format.significand_bits)
            return super().add(b, x, y, **key)

    return Aligned


def processor_word(backend: Backend, path: str = "auto") -> int:
    """The MXCSR value under which the backend's kernels run; 0 for the normal mode."""
    if backend.fixed:
        return 0
    rounding = {role.rounding for role in backend.roles}
    settable = mode.available() and mode.has_feature("fma")
    if path == "software" or not settable or len(rounding) != 1:
        return 0
    direction = rounding.pop()
    if _from_leading_bits(backend):
        return mode.control_word("rz", False)
    rule = ROUNDINGS[direction]
    narrow = all(r.format.significand_bits <= 24 or r.format.is_binary64 for r in backend.roles)
    limited = any(rule.overflows) and any(r.format.overflow != "infinity" for r in backend.roles)
    if not rule.mode or not narrow or limited:
        return 0
    return mode.control_word(
        direction, all(_flushes_as_binary32(r) for r in backend.roles) and direction == "rz"
    )


def _from_leading_bits(backend: Backend) -> bool:
    """Whether every operation is rounded to nearest in the toward-zero mode: where binary64 would
    have to evaluate it otherwise, in a backend of one arithmetic.
    """
    alike = len(set(backend.roles)) == 1 and backend.noise is None
    arithmetic = backend.compute
    return alike and LeadingBits.serves(arithmetic) and _nearest(arithmetic, F32) == (Grid, F64)


def _flushes_as_binary32(arithmetic: Arithmetic) -> bool:
    fmt = arithmetic.format
    return not fmt.subnormals and fmt.emin == -126 and arithmetic.fits_binary32


@lru_cache(maxsize=256)
def rounder(
    arithmetic: Arithmetic, carrier: ir.Type, word: int, others: tuple[Format, ...] = ()
) -> Native:
    """The technique for an arithmetic in a carrier, in the normal mode (word = 0) or under a
    control word; `others` are formats of operands besides its own.

    Raises:
        InputError: none serves.
    """
    wide = not all(arithmetic.format.holds(other) for other in others)
    if word and arithmetic.rule.mode == 0:
        technique, evaluation = LeadingBits, F32
    elif word:
        technique, evaluation = _directed(arithmetic, carrier, word)
    elif wide:
        _require_range(arithmetic, others)
        technique, evaluation = WideStochastic if arithmetic.rule.random else Wide, F64
        if arithmetic.rule.noisy:
            technique = Noisy
    else:
        technique, evaluation = _nearest(arithmetic, carrier)
    bounded = issubclass(technique, Sticky) and technique not in (ToBinary64, Noisy)
    if bounded and arithmetic.format.emin < -450:
        raise InputError(
            f"'{arithmetic.format.name}' in rounding {arithmetic.rounding} needs the processor's "
            "rounding mode, which is not used here; exponents with emin - p + 1 >= -450 and "
            "emax <= 450 do without it"
        )
    if arithmetic.aligned:
        if carrier == F64:
            raise InputError(
                f"'{arithmetic.format.name}' without guard bits stands beside a format that needs "
                "float64 variables; accepted beside it: formats that binary32 holds"
            )
        technique = _with_alignment(technique)
    result = technique(arithmetic, carrier, evaluation, arithmetic.rounding if word else None)
    result.wide = wide
    return result


def _require_range(arithmetic: Arithmetic, formats: tuple[Format, ...]) -> None:
    """Make sure that results of the others' numbers which leave binary64 are rounded right."""
    outward = arithmetic.rule.usual and arithmetic.format.overflow != "saturate"
    for other in formats:
        if not outward and (other.emax > 450 or other.emin < -450):
            raise InputError(
                f"'{arithmetic.format.name}' in rounding {arithmetic.rounding} stands beside "
                f"'{other.name}', whose products leave binary64; accepted beside it: formats with "
                "exponents from -450 to 450, or rounding to nearest or at random without saturation"
            )


def _directed(arithmetic, carrier, word) -> tuple[type, ir.Type]:
    fmt, p = arithmetic.format, arithmetic.format.significand_bits
    flush_by_processor = bool(word & 0x8000)
    plain = fmt.overflow == "infinity" or (
        fmt.overflow == "saturate" and arithmetic.rounding == "rz"
    )
    if carrier == F32 and (fmt.emin, fmt.emax) == (-126, 127) and plain:
        if fmt.subnormals or flush_by_processor:
            return Bits, F32
    if fmt.is_binary64 or (fmt.emin, fmt.emax, fmt.subnormals) == (-1022, 1023, True):
        return Bits, F64
    roomy = fmt.emax <= 125 - (24 - p) and (arithmetic.rounding == "rz" or fmt.subnormals)
    if carrier == F32 and roomy and p < 24:  # the constant that is added takes a bit
        return Grid, F32
    return Grid, F64


def _nearest(arithmetic, carrier) -> tuple[type, ir.Type]:
    fmt, p = arithmetic.format, arithmetic.format.significand_bits
    if arithmetic.rule.noisy:
        return Noisy, F64
    if arithmetic.rule.random and fmt.is_binary64:
        return ToBinary64, F64
    if arithmetic.rule.random:
        on_bits = carrier == F32 and StochasticBits.serves(arithmetic)
        return (StochasticBits if on_bits else Stochastic), F64
    if arithmetic.rule.mode != 0 or arithmetic.aligned or p > 25 and not fmt.is_binary64:
        return Sticky, F64
    if arithmetic.native is not None:
        wide = arithmetic.native.itemsize == 4 and carrier == F64
        return (Single if wide else Native), carrier
    if carrier == F64 or p > 11:
        return Grid, F64
    if (p, fmt.emin, fmt.emax, fmt.subnormals, fmt.overflow) == (11, -14, 15, True, "infinity"):
        return (Half if mode.has_feature("f16c") else Grid), F32
    if (fmt.emin, fmt.emax, fmt.subnormals, fmt.overflow) == (-126, 127, True, "infinity"):
        return (BitsNearest, F32) if mode.has_feature("fma") else (Grid, F64)
    never_infinite = 2 * fmt.emax + 2 <= 127 and fmt.emax - fmt.emin + p <= 126
    representable = fmt.emax <= 125 - (24 - p) and fmt.emin - p >= -126
    if representable and (fmt.overflow == "infinity" or never_infinite):
        return (ShortGrid if ShortGrid.serves(fmt) else Grid), F32
    return Grid, F64
