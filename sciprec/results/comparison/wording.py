"""Numbers in words, the same on the page and on the command line."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from sciprec.precision.formats.float_format import ALIASES


def number(value: float | None) -> str:
    """Two significant digits, for tables; a dash where there is no number."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if value == 0:
        return "0"
    if math.isinf(value):
        return "infinite"
    if 0.01 <= abs(value) < 10_000:
        return f"{float(f'{value:.2g}'):g}"
    return f"{value:.1e}"


LONGEST_LABEL = 48
_USUAL = re.compile(r",(subnormals=keep|overflow=infinity|round=rn)(?![\w.])")
_EXPONENTS = re.compile(r",emin=(-?\d+),emax=(\d+)")
_ASSIGNED = re.compile(r"assignment:([^@+]+)@([0-9a-f]+)")
_POLICY = re.compile(r"policy:(\w+),narrow=(.+?),wide=")
_ALIAS = {name: min((a for a in ALIASES if ALIASES[a] == name), key=len)
          for name in ALIASES.values()}  # fmt: skip
_STANDARD = re.compile(rf"(?<![\w.])({'|'.join(_ALIAS)})(?![\w.])")


def short(label: str) -> str:
    """The short name of an arithmetic: a spec string without what is so anyway, as "float:p=8" of
    "float:p=8,emin=-126,emax=127,subnormals=keep,overflow=infinity,round=rn"; "fp16,round=sr" of
    "binary16,round=sr"; an assignment's name, "by_line" of "assignment:by_line@5a1803b6e172";
    and "O1 fp16/fp32" of "policy:O1,narrow=fp16,wide=fp32". The middle of a name that is still
    long is left out.
    """
    label = _POLICY.sub(r"\1 \2/", _ASSIGNED.sub(r"\1", label))
    label = _STANDARD.sub(lambda name: _ALIAS[name[0]], label)
    if "float:" in label:
        label = _EXPONENTS.sub(_unusual, _USUAL.sub("", label))
    if len(label) <= LONGEST_LABEL:
        return label
    half = LONGEST_LABEL // 2
    return f"{label[: half - 1]}…{label[-half:]}"


def short_names(labels: Iterable[str]) -> dict[str, str]:
    """Short names that stay apart, by label: those of two assignments of one name begin with it and
    with four digits of their digest.
    """
    labels, digests = list(labels), defaultdict(set)
    for name, digest in _ASSIGNED.findall(" ".join(labels)):
        digests[name].add(digest)

    def told_apart(match: re.Match) -> str:
        name, digest = match.groups()
        return name if len(digests[name]) == 1 else f"{name}@{digest[:4]}"

    return {label: short(_ASSIGNED.sub(told_apart, label)) for label in labels}


def _unusual(exponents: re.Match) -> str:
    """The exponents of a spec string as far as they are not the usual ones."""
    emin, emax = map(int, exponents.groups())
    if emin != 1 - emax:
        return exponents[0]
    return "" if emax == 127 else f",emax={emax}"


def digits(value: float | None) -> str:
    """Write a number of decimal digits."""
    return "–" if value is None or math.isnan(value) else f"{value:.1f}"


def duration(value: float | None) -> str:
    """Seconds for people."""
    if value is None or math.isnan(value):
        return "–"
    return f"{value:.3g} s" if value < 100 else f"{value:.0f} s"


def factor(ratio: float) -> str:
    """A factor for people: two significant digits, no exponent below a million."""
    if ratio >= 1e6:
        return f"{ratio:.0e}".replace("e+0", "e").replace("e+", "e")
    return f"{float(f'{ratio:.2g}'):,.10g}"


def times(ratio: float, side: str) -> str:
    """A ratio to one side in words: "5 times below", "just above".

    Args:
        ratio: at least 1.
        side: "below" or "above".
    """
    return f"just {side}" if factor(ratio) == "1" else f"{factor(ratio)} times {side}"


def gain_in_words(ratio: float | None) -> str:
    """A gain for the table: "310 ×", or a dash."""
    if ratio is None:
        return "–"
    return "∞" if math.isinf(ratio) else f"{factor(ratio)} ×"


def moment(time: float, attributes: Mapping[str, Any]) -> str:
    """A time in words: "day 5", "time 0.5 s".

    Args:
        time: as stored.
        attributes: of the coordinate; its units are days where they say so.
    """
    units = str(attributes.get("units", ""))
    if units.startswith("day"):
        return f"day {time:g}"
    return f"time {time:g}" + ("" if units in ("", "1") else f" {units.partition(' since ')[0]}")


def time_unit(attributes: Mapping[str, Any]) -> str:
    """One unit of a time in words: "day", "s", "unit of time".

    Args:
        attributes: of the coordinate.
    """
    units = str(attributes.get("units", "")).partition(" since ")[0]
    if units.startswith("day"):
        return "day"
    return "unit of time" if units in ("", "1") else units


def axis_label(name: str, attributes: Mapping[str, Any]) -> str:
    """The label of an axis: "days", "time in s", "x"."""
    units = str(attributes.get("units", ""))
    if name == "time" and units.startswith("day"):
        return "days"
    return name if units in ("", "1") else f"{name} in {units.partition(' since ')[0]}"


def place(where: dict[str, Any]) -> str:
    """A place in words: "time 2, lat -45.5"."""
    return ", ".join(
        f"{name} {value:.6g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in where["at"].items()
    )


def behind(units: str) -> str:
    """Units behind a number."""
    return "" if units in ("", "1") else f" {units}"
