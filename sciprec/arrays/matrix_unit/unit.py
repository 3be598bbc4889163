"""Matrix units: in which formats and with which sums one multiplies a table by fields.

matrix:table=int8,field=fp16,scale=channel,accumulate=fp32
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from sciprec.foundation.arguments import Range, refused, shown, word
from sciprec.foundation.errors import InputError, meant
from sciprec.precision.formats.float_format import ALIASES, FORMATS, Format

WORD = "matrix"
PREFIX = f"{WORD}:"
EXAMPLE = "matrix:table=int8,field=fp16,scale=channel,accumulate=fp32"

INTEGER_BITS = {"int8": 8, "int4": 4}
"""Formats in which numbers are integers times a scale -> bits, sign included."""
FLOATS = ("fp16", "bf16", "e4m3fn", "e5m2", "tf32")
"""Formats whose products binary32 holds exactly, but for its own smallest and largest numbers."""
UNIT_FORMATS = (*FLOATS, *INTEGER_BITS)
ACCUMULATORS = ("fp32", "fp16", "int32")
SCALES = ("none", "tensor", "channel", "group")
ROWS = 8
"""Rows of a table come in so many: a byte holds the places of two numbers in four of them."""
GROUPS = (ROWS, 16, 32, 64, 128)
SPARSITIES = ("none", "2:4")
MOST_SLICES = 8
_SMALLEST, _LARGEST = 2.0**-149, (2.0 - 2.0**-23) * 2.0**127  # of binary32
_CLIP = Range("a share of the largest number, above 0 and up to 1", above=0.0, most=1.0)
_PRUNE = Range("a share of the largest number, from 0 to 0.99", least=0.0, most=0.99)
_LONG_RANGE = -14
"""emin from which down a format has exponents enough below one: numbers up to 1 fit it best."""


@dataclass(frozen=True)
class MatrixUnit:
    """The storage of a table, the numbers it is multiplied by, and the way products are summed.

    Args:
        table, field: formats of `UNIT_FORMATS`.
        scale: which numbers have a scale in common: "none" (floats alone), those of a "tensor", a
            "channel" or a "group" of a channel; or the scale of all numbers of an integer table.
            None: "channel", and "none" where both formats are floats with many exponents.
        group: numbers of a group, where the scale is a group's; None: 8 there.
        accumulate: format of sums; None: "int32" for integers, else "fp32".
        slices: integers that a number is written in, one after another.
        sparsity: "2:4", at most two numbers in four are not zero, or "none".
        clip: numbers of a channel are at most this share of its largest.
        prune: numbers below this share of their channel's largest are zero.

    Raises:
        InputError: something unknown, or what does not go together.
    """

    table: str
    field: str
    scale: str | float | None = None
    group: int | None = None
    accumulate: str | None = None
    slices: int = 1
    sparsity: str = "none"
    clip: float = 1.0
    prune: float = 0.0

    def __post_init__(self) -> None:
        for role in ("table", "field"):
            word(f"format of a matrix unit's {role}", getattr(self, role), UNIT_FORMATS)
        integers = self.integers
        if self.accumulate is None:
            object.__setattr__(self, "accumulate", "int32" if integers else "fp32")
        if self.scale is None:
            wide = all(_of(name).emin <= _LONG_RANGE for name in self.floats)
            floats = len(self.floats) == 2 and wide
            object.__setattr__(self, "scale", "none" if floats else "channel")
        word("accumulator of a matrix unit", self.accumulate, ACCUMULATORS)
        word("sparsity of a matrix unit", self.sparsity, SPARSITIES)
        if self.accumulate == "int32" and not integers:
            raise InputError(
                f"a matrix unit has the accumulator 'int32' beside '{self.floats[0]}', whose "
                "products are no integers; accepted there: fp32, fp16"
            )
        self._require_scale()
        self._require_slices()
        _CLIP.number("clip of a matrix unit", self.clip)
        _PRUNE.number("prune of a matrix unit", self.prune)

    def _require_scale(self) -> None:
        if isinstance(self.scale, str):
            word("scale of a matrix unit", self.scale, SCALES)
        elif not (isinstance(self.scale, float) and _SMALLEST <= self.scale <= _LARGEST):
            accepted = f"{', '.join(SCALES)}, or a number above 0 that binary32 has room for"
            raise refused("scale of a matrix unit", self.scale, accepted)
        elif self.table not in INTEGER_BITS:
            raise InputError(
                f"a matrix unit has the scale {self.scale:g} of its own beside a table in "
                f"'{self.table}'; a number is accepted for integers: {', '.join(INTEGER_BITS)}"
            )
        if self.scale == "none" and len(self.floats) < 2:
            raise InputError(
                "a matrix unit has no scale beside integers, which are whole numbers without one; "
                "accepted: tensor, channel, group, or a number for the table"
            )
        if self.scale == "group" and self.group is None:
            object.__setattr__(self, "group", ROWS)
        if self.group is not None and self.group not in GROUPS:
            accepted = f"{', '.join(map(str, GROUPS))}"
            raise refused("group of a matrix unit", self.group, accepted)
        if self.group is not None and self.scale != "group":
            raise InputError(
                f"a matrix unit has groups of {self.group} beside the scale {shown(self.scale)}, "
                "where they do nothing; give scale=group, or leave 'group' out"
            )

    def _require_slices(self) -> None:
        is_integer = isinstance(self.slices, int) and not isinstance(self.slices, bool)
        if not is_integer or not 1 <= self.slices <= MOST_SLICES:
            raise refused(
                "slices of a matrix unit", self.slices, f"a whole number from 1 to {MOST_SLICES}"
            )
        if self.slices == 1:
            return
        if not self.integers or self.table != self.field:
            raise InputError(
                f"a matrix unit has {self.slices} slices of a table in '{self.table}' and a field "
                f"in '{self.field}'; accepted for slices: both in one of {', '.join(INTEGER_BITS)}"
            )
        if self.scale not in ("tensor", "channel"):
            raise InputError(
                f"a matrix unit has {self.slices} slices and the scale {shown(self.scale)}; "
                "accepted beside slices: channel, tensor"
            )

    @property
    def integers(self) -> bool:
        """Whether table and field are integers, so that products and sums are."""
        return not self.floats

    @property
    def floats(self) -> tuple[str, ...]:
        """The formats of table and field that are floats."""
        return tuple(name for name in (self.table, self.field) if name not in INTEGER_BITS)

    @property
    def scaled(self) -> bool:
        """Whether numbers have scales."""
        return self.scale != "none"

    @property
    def sparse(self) -> bool:
        """Whether the table is stored two numbers in four."""
        return self.sparsity == "2:4"

    @property
    def step(self) -> int:
        """The number of rows and columns to whose multiples tables are filled up."""
        return self.group or ROWS

    @property
    def slice_bits(self) -> int:
        """Bits by which a slice is finer than the one before: all of an integer but its sign."""
        return INTEGER_BITS[self.table] - 1

    @property
    def products(self) -> int:
        """The number of products of matrices that one product takes: pairs i + j <= n + 1 of
        slices.
        """
        return self.slices * (self.slices + 1) // 2

    @property
    def text(self) -> str:
        """The text of the unit, without the usual values."""
        usual = dict(vars(MatrixUnit(self.table, self.field)))
        usual["group"] = ROWS if self.scale == "group" else None
        parts = [f"{f.name}={_written(getattr(self, f.name))}" for f in fields(self)
               if f.name in ("table", "field") or getattr(self, f.name) != usual[f.name]]
        return PREFIX + ",".join(parts)

    def largest(self, role: str) -> float:
        """The largest magnitude that a number of the table or the field has, before its scale."""
        name = getattr(self, role)
        if name in INTEGER_BITS:
            span = 2.0 ** (INTEGER_BITS[name] - 1)
            return span if self.slices > 1 else span - 1
        return self.top(name) if self.scaled else _of(name).max_finite

    @staticmethod
    def top(name: str) -> float:
        """The power of two up to which a float format is scaled: 1, or where it has few exponents
        below one its highest.
        """
        fmt = _of(name)
        return 1.0 if fmt.emin <= _LONG_RANGE else 2.0**fmt.emax

    def require_sums(self, inner: int) -> None:
        """Make sure that sums of a number of products fit the accumulator.

        Raises:
            InputError: products of integers whose sums it does not hold exactly, with the bound; or
                scaled numbers whose sums it does not reach.
        """
        most = inner * self.largest("table") * self.largest("field")
        exact = {"int32": 2.0**31 - 1, "fp32": 2.0**24, "fp16": 2.0**11}[str(self.accumulate)]
        if self.integers and most > exact and (self.slices > 1 or self.accumulate == "int32"):
            limit = "2^31 - 1" if self.accumulate == "int32" else f"2^{math.log2(exact):g}"
            raise InputError(
                f"'{self.text}' sums {inner} products of integers up to "
                f"{self.largest('table'):g} x {self.largest('field'):g}, which takes "
                f"{math.ceil(math.log2(most))} bits beside the sign; '{self.accumulate}' holds "
                f"sums exactly up to {limit}: {self._instead(most)}"
            )
        reach = {"int32": exact, "fp32": 2.0**127, "fp16": 65504.0}[str(self.accumulate)]
        if self.scaled and most > reach:
            raise InputError(
                f"'{self.text}' may reach {most:g} in sums of {inner} products; "
                f"'{self.accumulate}' ends at {reach:g}: {self._instead(most)}"
            )

    def _instead(self, most: float) -> str:
        """Return advice for an accumulator that is too narrow."""
        enough = [
            name for name, limit in (("fp32", 2.0**24), ("int32", 2.0**31 - 1))
            if most <= limit and (self.integers or name == "fp32")
        ]  # fmt: skip
        if not self.integers:
            return "take accumulate=fp32"
        return f"take accumulate={' or '.join(enough)}" if enough else "sum fewer products at once"


def resolve_matrix_unit(unit: str | MatrixUnit | Mapping[str, Any]) -> MatrixUnit:
    """The unit of a spec string such as "matrix:table=int8,field=fp16", or of its keys.

    Raises:
        InputError: it is written otherwise, with what is accepted.
    """
    if isinstance(unit, MatrixUnit):
        return unit
    key_names = [f.name for f in fields(MatrixUnit)]
    if isinstance(unit, Mapping):
        for key in unit:
            if key not in key_names:
                raise InputError(_bad(shown(dict(unit)), f"{key!r} is no key", str(key)))
        keys = dict(unit)
    else:
        keys = {}
        for part in filter(None, unit.removeprefix(WORD).removeprefix(":").split(",")):
            key, equals, value = (piece.strip() for piece in part.partition("="))
            if not equals or key not in key_names:
                fault = f"{part.strip()!r} is not key=value with a known key"
                raise InputError(_bad(repr(unit), fault, key))
            if key in keys:
                raise InputError(_bad(repr(unit), f"{key!r} is given twice"))
            keys[key] = _value(unit, key, value)
    missing = [repr(key) for key in ("table", "field") if key not in keys]
    if missing:
        fault = f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
        raise InputError(_bad(repr(unit), fault))
    return MatrixUnit(**keys)


def is_matrix_unit(value: object) -> bool:
    """Whether something says a matrix unit: one, or the text of one."""
    is_spec = isinstance(value, str) and value.partition(":")[0] == WORD
    return isinstance(value, MatrixUnit) or is_spec


def _value(spec: str, key: str, text: str) -> Any:
    """Return the value of a key of a spec string."""
    kinds: dict[str, type] = {"group": int, "slices": int, "clip": float, "prune": float}
    if key == "scale" and text not in SCALES:
        try:
            return float(text)
        except ValueError:
            return word("scale of a matrix unit", text, SCALES)
    if key not in kinds:
        return text
    try:
        return kinds[key](text)
    except ValueError:
        kind = "a whole number" if kinds[key] is int else "a number"
        raise InputError(_bad(repr(spec), f"{key}={text!r} is not {kind}")) from None


def _of(name: str) -> Format:
    return FORMATS[ALIASES.get(name, name)]


def _written(value: Any) -> str:
    return repr(value) if isinstance(value, float) else str(value)


def _bad(text: str, fault: str, key: str = "") -> str:
    keys = [f.name for f in fields(MatrixUnit)]
    return (
        f"malformed matrix unit {text}: {fault}{meant(key, keys)}; accepted keys: "
        f"{', '.join(keys)}, as in '{EXAMPLE}'"
    )
