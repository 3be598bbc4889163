"""A map of errors over variables and time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sciprec.drawing.picture import Picture
from sciprec.drawing.svg import drawn, to_svg
from sciprec.results.comparison.wording import short

_COLUMNS = 160
_LEAST = 1e-17
"""Errors below are shown as if they were so large."""


def error_map(
    names: Sequence[str], along: np.ndarray, errors: np.ndarray, label: str, name: str, beside: str
) -> Picture | None:
    """Relative errors as colours: a row for each variable, time from left to right.

    Args:
        names: of the variables.
        along: (n,), times or steps.
        errors: (variables, n); NaN where they are not known.
        label: of the axis of times.
        name: of the figure, unique on the page.
        beside: what else the caption says.

    Returns:
        The figure; None where no error is known.
    """
    if not np.isfinite(errors).any():
        return None
    shown = np.log10(np.clip(_widest(errors), _LEAST, None))
    with drawn(name, 0.9 + 0.32 * len(names)) as figure:
        axes = figure.add_subplot()
        ends = float(along[0]), float(along[-1])
        half = 0.5 * (ends[1] - ends[0]) / max(len(along) - 1, 1) or 0.5
        extent = (ends[0] - half, ends[1] + half, len(names) - 0.5, -0.5)
        finite = shown[np.isfinite(shown)]
        low, high = float(finite.min()), float(finite.max())
        shown = np.where(np.isinf(shown), high, shown)
        image = axes.imshow(
            shown, aspect="auto", extent=extent, cmap="cividis", vmin=low - 1e-9, vmax=high + 1e-9
        )
        axes.grid(False)
        axes.set(xlabel=label, yticks=range(len(names)))
        axes.set_yticklabels([short(variable) for variable in names])
        figure.colorbar(image, ax=axes, label="log10 of error", shrink=0.95)
        svg = to_svg(figure, f"Relative l2 error of {', '.join(names)} over {label}")
    return Picture(
        svg,
        f"Relative l2 error against fp64 of each watched variable. {beside} Nothing is drawn where "
        "it is not known; no error at all counts as 1e-17, and values that are finite in one run "
        "only have the colour of the largest.",
    )


def _widest(errors: np.ndarray) -> np.ndarray:
    """At most _COLUMNS columns, each the largest error of its steps."""
    step = -(-errors.shape[1] // _COLUMNS)
    padded = np.pad(errors, ((0, 0), (0, -errors.shape[1] % step)), constant_values=np.nan)
    blocks = padded.reshape(errors.shape[0], -1, step)
    largest = np.where(np.isnan(blocks), -1.0, blocks).max(axis=2)
    return np.where(largest < 0.0, np.nan, largest)
