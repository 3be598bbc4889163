"""Comparisons out of the JSON that `sciprec compare --json` printed, to be judged again."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from sciprec.foundation.errors import InputError, why_no_file
from sciprec.results.comparison.pointwise.change import Change
from sciprec.results.comparison.pointwise.number_format import NumberFormat
from sciprec.results.comparison.rows import METRICS_VERSION, Comparison, ComparisonRow, judged
from sciprec.results.comparison.tolerances import Limit, Tolerances


def judge_again(
    path: str | Path, *, rtol: Limit = (), atol: Limit = (), max_ulp: Limit = ()
) -> Comparison:
    """Judge stored metrics under other tolerances, without the files that were compared.

    Args:
        path: a JSON file with the plain data of a Comparison.
        rtol, atol, max_ulp: as for `compare`.

    Returns:
        A Comparison without statistics and growth. Metrics that were not finite are NaN, and beyond
        every tolerance.

    Raises:
        InputError: the file cannot be read or holds something else, or a tolerance is none.
    """
    content = _read(Path(path))
    rows = tuple(_row(stored) for stored in content["variables"])
    tolerances = Tolerances.read(rtol=rtol, atol=atol, max_ulp=max_ulp)
    stored = Comparison(
        rows, steps=content["steps"], main=content.get("main", ""),
        notes=tuple(map(str, content.get("notes", ()))),
        missing=tuple(map(str, content.get("missing", ()))),
    )  # fmt: skip
    return judged(stored, tolerances)


def _read(path: Path) -> dict[str, Any]:
    """The content of the file; the keys that are used are checked."""
    if why := why_no_file(path):
        raise InputError(
            f"metrics file '{path}' {why}; give a file with what `sciprec compare --json` printed"
        )
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        version = content["metrics_version"]
        if version == METRICS_VERSION and all(_row(stored) for stored in content["variables"]):
            return content
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(
            f"'{path}' holds no stored metrics; give a file with what `sciprec compare --json` "
            "printed"
        ) from None
    raise InputError(
        f"'{path}' holds metrics of version {version}, and this sciprec reads {METRICS_VERSION}; "
        "compare the files again"
    )


def _row(stored: dict[str, Any]) -> ComparisonRow:
    """One stored variable."""
    counts = ("points", "nonfinite_golden", "nonfinite_actual", "changed_nonfinite")
    errors = {k: math.nan if v is None else float(v) for k, v in stored["errors"].items()}
    return ComparisonRow(
        stored["variable"], stored["units"], int(stored["points"]), errors,
        *(int(stored[name]) for name in counts[1:]), stored.get("verdict") or stored["severity"],
        number_format=NumberFormat(**stored["number_format"]), change=_change(stored),
    )  # fmt: skip


def _change(stored: dict[str, Any]) -> Change | None:
    """The change of a stored variable, which files of earlier versions do not have."""
    numbers = stored.get("change")
    if numbers is None:
        return None
    return Change(**{k: math.nan if v is None else float(v) for k, v in numbers.items()})
