"""The page of a coverage run: how often the stated bound of a price covers the truth."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sciprec.drawing.picture import Picture
from sciprec.drawing.svg import drawn, legend, line_style, to_svg
from sciprec.drawing.templating import page_style, template
from sciprec.foundation.errors import InputError
from sciprec.report.stored.batch import write_text
from sciprec.results.output.folders import PAGE, require_own_page

RESULTS = "coverage.json"
KEYS = ("rows", "settings", "command", "made_by")
QUIET = "#808080"


def write_coverage(folder: Path, content: Mapping[str, Any]) -> Path:
    """Store the results of a coverage run as JSON, and write its page beside them.

    Args:
        folder: exists and can be written.
        content: plain data: `rows` (case, backend, n_seeds, covered, required, share, width,
            passed, ...), `settings`, `command` and `made_by`.

    Returns:
        The page.
    """
    store_coverage(folder, content)
    return write_coverage_page(folder)


def store_coverage(folder: Path, content: Mapping[str, Any]) -> Path:
    """Store the results of a coverage run, finished or not, as JSON.

    Args:
        folder, content: as for write_coverage.

    Returns:
        The file.
    """
    return write_text(folder / RESULTS, json.dumps(content, indent=1) + "\n", lasting=True)


def holds_coverage(folder: Path) -> bool:
    """Whether a folder holds the results of a coverage run."""
    return (folder / RESULTS).is_file()


def read_coverage(folder: Path) -> dict[str, Any]:
    """The content of a stored coverage run.

    Raises:
        InputError: the folder holds none, or it cannot be used.
    """
    path = folder / RESULTS
    if not path.is_file():
        raise InputError(
            f"'{folder}' holds no coverage run: there is no {RESULTS} in it; give the folder that "
            "`sciprec dev coverage --out` wrote"
        )
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if not content["rows"]:
            raise ValueError("no row")
        [content[key] for key in KEYS]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"'{path}' cannot be used ({type(error).__name__}: {error}); run `sciprec dev "
            "coverage` again"
        ) from None
    return content


def write_coverage_page(folder: Path) -> Path:
    """Write the page of a stored coverage run.

    Raises:
        InputError: the folder holds none, or it cannot be used.
    """
    content = read_coverage(folder)
    require_own_page(folder)
    return write_text(folder / PAGE, render(content))


def render(content: Mapping[str, Any]) -> str:
    """The page as text; the same content gives the same bytes."""
    rows = content["rows"]
    passed = sum(row["passed"] for row in rows)
    return template("coverage.html").render(
        style=page_style(),
        title=f"The bound holds in {passed} of {len(rows)} rows",
        rows=rows,
        settings=content["settings"],
        pictures=[_share_picture(rows), _width_picture(rows)],
        command=content["command"],
        made_by=content["made_by"],
    )


def _grid(rows: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[str]]:
    """Cases and arithmetics, in order."""
    return tuple(list(dict.fromkeys(row[key] for row in rows)) for key in ("case", "backend"))


def _marks(axes: Any, rows: Sequence[Mapping[str, Any]], key: str, factor: float) -> None:
    """One mark per row: a number against the case, beside each other by arithmetic."""
    cases, backends = _grid(rows)
    for place, backend in enumerate(backends):
        part = [row for row in rows if row["backend"] == backend]
        x = [cases.index(row["case"]) + 0.6 * ((place + 0.5) / len(backends) - 0.5) for row in part]
        axes.plot(x, [factor * row[key] for row in part], linestyle="none", label=backend,
                  **line_style(place))  # fmt: skip
    axes.set_xticks(np.arange(len(cases)), cases, rotation=20)
    axes.set_xlim(-0.5, len(cases) - 0.5)


def _share_picture(rows: Sequence[Mapping[str, Any]]) -> Picture:
    """The share of covered prices, with the stated one and the least that passes."""
    stated = 100 * rows[0]["confidence"]
    least = 100 * rows[0]["required"] / rows[0]["n_seeds"]
    with drawn("share", 3.4) as figure:
        axes = figure.add_subplot()
        _marks(axes, rows, "share", 100.0)
        axes.axhline(stated, color=QUIET, linewidth=1)
        axes.axhline(least, color=QUIET, linewidth=1, linestyle="--")
        axes.set(ylabel="% of the seeds", title="Prices whose bound covers the truth")
        legend(figure)
        svg = to_svg(figure, "Share of prices whose bound covers the truth, by case")
    return Picture(
        svg,
        f"Solid: the stated {stated:g} %. Dashed: less three binomial standard errors, the least "
        "that passes.",
    )


def _width_picture(rows: Sequence[Mapping[str, Any]]) -> Picture:
    """Mean bound over the width needed."""
    with drawn("width", 3.4) as figure:
        axes = figure.add_subplot()
        finite = [row for row in rows if np.isfinite(row["width"])]
        _marks(axes, finite or rows, "width", 1.0)
        axes.axhline(rows[0]["widest"], color=QUIET, linewidth=1, linestyle="--")
        axes.set_ylim(0, None)
        axes.set(ylabel="ratio", title="Mean bound over the width needed")
        legend(figure)
        svg = to_svg(figure, "Mean bound over the width needed, by case")
    return Picture(
        svg,
        "The width needed is the quantile of |price - truth| at the stated probability: a bound "
        "of ratio one could not be tighter. Dashed: the largest that passes.",
    )
