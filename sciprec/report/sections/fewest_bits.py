"""The section of the search for the fewest bits: its curve, and every format that was tried."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from sciprec.drawing.picture import Picture
from sciprec.drawing.svg import COLOURS, drawable, drawn, legend, to_svg
from sciprec.report.stored.batch import StoredRun

QUIET = "#808080"


def fewest_bits_section(runs: Sequence[StoredRun], prefix: str) -> dict[str, Any] | None:
    """The search of a study as stored with it; None where there was none.

    Args:
        runs: of the scenario.
        prefix: unique on the page, for identifiers.
    """
    descriptions = (run.description for run in runs if run.dataset is not None)
    described = next(descriptions, {})
    result = described.get(described.get("kind", ""), {}).get("search")
    if not isinstance(result, dict):
        return None
    return {
        "sentence": result["sentence"],
        "note": result["note"],
        "backend": result["backend"],
        "ranges": result["ranges"],
        "picture": _curve(result, f"{prefix}-bits"),
        "rows": [_row(trial, result) for trial in result["tried"]],
        "exponents": [_row(trial, result) for trial in result["exponents_tried"]],
        "members": len(result["tried"][0]["ratios"]),
    }


def _row(trial: dict[str, Any], result: dict[str, Any]) -> dict[str, Any]:
    """A format of the table."""
    worst = _worst(trial)
    return {
        "bits": trial["bits"],
        "exponents": trial["exponents"],
        "worst": worst,
        "member": trial["ratios"].index(None if math.isinf(worst) else worst),
        "meets": worst <= 1.0,
        "chosen": trial["bits"] == result["bits"],
    }


def _worst(trial: dict[str, Any]) -> float:
    return max(math.inf if ratio is None else ratio for ratio in trial["ratios"])


def _curve(result: dict[str, Any], name: str) -> Picture:
    """Error over tolerance against significant bits, a line for each member."""
    bits = [trial["bits"] for trial in result["tried"]]
    members = list(zip(*(trial["ratios"] for trial in result["tried"]), strict=True))
    with drawn(name, 3.2) as figure:
        axes = figure.add_subplot()
        axes.set_yscale("log")
        for ratios in members if len(members) > 1 else ():
            axes.plot(bits, drawable(ratios), color=QUIET, linewidth=1, alpha=0.6)
        worst = drawable([None if math.isinf(w) else w for w in map(_worst, result["tried"])])
        many = "error of the worst member" if len(members) > 1 else "error"
        axes.plot(bits, worst, color=COLOURS[0], marker="o", linewidth=1.6, label=many)
        axes.axhline(1.0, linestyle="--", linewidth=1, color=QUIET, label="tolerance")
        axes.axvline(result["bits"], linestyle=":", linewidth=1.2, color=COLOURS[1],
                     label=f"{result['bits']} bits")  # fmt: skip
        axes.set(xlabel="significant bits", ylabel="error over tolerance")
        axes.set_title("Error against bits")
        legend(figure)
        svg = to_svg(figure, "Error over tolerance against the bits of the significand")
    return Picture(
        svg,
        "Every operation in one format of so many significant bits, rounded to nearest, with "
        "exponents beyond need; a point is missing where values are not finite, or where the "
        "result has the same bits as in fp64.",
    )
