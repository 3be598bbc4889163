"""The figures of prices with bounds: intervals, smile, error budget, rounding error."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.ticker import MaxNLocator

from sciprec.drawing.picture import Picture
from sciprec.drawing.svg import drawn, label_style, legend, to_svg
from sciprec.report.sections.fixed_point import idle_roles_of
from sciprec.report.stored.batch import StoredRun
from sciprec.results.comparison.wording import short

MOST_MATURITIES = 3
MOST_ROWS = 50
MOST_TOLERANCES = 4.0  # up to which axes are linear and bars whole
PARTS = ("statistical", "discretisation", "rounding")
PART_COLOURS = ("#0072B2", "#E69F00", "#D55E00")
LEVELS = ("base", "steps", "rounding")
QUIET = "#808080"


def bounded_pictures(runs: Sequence[StoredRun], order: Sequence[str], prefix: str) -> list[Picture]:
    """The figures of a scenario whose prices have bounds.

    Args:
        runs: its runs that have a file, the truth among them.
        order: all labels of the batch; a label keeps its colour on the whole page.
        prefix: unique on the page, for identifiers.
    """
    pictures, told_apart = [], _distinguishable(runs[0].dataset)
    if told_apart.any():
        pictures.append(_interval_picture(runs, order, f"{prefix}-intervals"))
    if np.isfinite(runs[0].dataset["analytic_implied_volatility"]).any():
        pictures.append(_smile_picture(runs, order, f"{prefix}-smile"))
    if told_apart.any():
        pictures.append(_budget_picture(runs, f"{prefix}-budget"))
        pictures.append(_rounding_picture(runs, order, f"{prefix}-rounding"))
    pictures.append(_cost_picture(runs, f"{prefix}-cost"))
    return pictures


def level_rows(runs: Sequence[StoredRun]) -> list[dict[str, Any]]:
    """The levels' tables of all runs of a scenario; empty where its prices have no bounds."""
    rows = []
    for run in runs:
        if run.dataset is not None:
            for level in json.loads(run.dataset.attrs.get("levels", "[]")):
                rows.append({"label": run.label, **level})
    return rows


def volatility_rows(runs: Sequence[StoredRun]) -> dict[str, Any] | None:
    """The implied volatilities of all runs of a scenario with the intervals that follow from the
    bounds, the first MOST_ROWS of them; None where its prices have none.
    """
    rows = []
    for run in runs:
        if run.dataset is None or "analytic_implied_volatility" not in run.dataset:
            continue
        data, (low, high) = run.dataset, _volatility_interval(run.dataset)
        middle, exact = data["implied_volatility"], data["analytic_implied_volatility"]
        for i, j in np.argwhere(np.isfinite(middle.values)):
            cells = (float(x.values[i, j]) for x in (middle, low, high, exact))
            place = {"maturity": float(data["maturity"][i]), "strike": float(data["strike"][j])}
            rows.append({"label": run.label, **place, "cells": list(cells)})
    return {"rows": rows[:MOST_ROWS], "left_out": len(rows[MOST_ROWS:])} if rows else None


def _volatility_interval(dataset: xr.Dataset) -> tuple[xr.DataArray, xr.DataArray]:
    """The implied volatilities between which that of the true price is where the bound holds; NaN
    where an end is open. Files of earlier versions have half of the width.
    """
    if "implied_volatility_low" in dataset:
        return dataset["implied_volatility_low"], dataset["implied_volatility_high"]
    middle, half = dataset["implied_volatility"], dataset["implied_volatility_bound"]
    return middle - half, middle + half


def notes(runs: Sequence[StoredRun]) -> list[dict[str, str]]:
    """Notes of runs: a fall-back, a missed tolerance, a role without operations."""
    return [
        {"label": run.label, "said": note}
        for run in runs
        if run.dataset is not None
        for note in [
            *json.loads(run.dataset.attrs.get("notes", "[]")),
            *filter(None, [idle_roles_of(run)]),
        ]
    ]


def maturity_rows(dataset: xr.Dataset) -> list[int]:
    """Rows to draw: all maturities, or the first, a middle and the last."""
    return _some(dataset.sizes["maturity"])


def _some(count: int) -> list[int]:
    """At most MOST_MATURITIES of a number of places: the first, a middle and the last."""
    return sorted({round(x) for x in np.linspace(0, count - 1, min(count, MOST_MATURITIES))})


def _distinguishable(dataset: xr.Dataset) -> xr.DataArray:
    """Mark options whose price exceeds its bound: shares of the others' prices mean nothing."""
    return np.abs(dataset["price"]) > dataset["bound"]


def _left_out(dataset: xr.Dataset) -> str:
    """The sentence of a caption about options that are not drawn."""
    if (count := int((~_distinguishable(dataset)).sum())) == 0:
        return ""
    return f" {count} of {dataset['price'].size} options, worth less than their bounds, not shown."


def _panels(figure: Any, dataset: xr.Dataset) -> list[tuple[Any, int]]:
    """One panel for each drawn maturity, with its row."""
    rows = maturity_rows(dataset)
    panels = figure.subplots(1, len(rows), sharey=True, squeeze=False)[0]
    for axes, row in zip(panels, rows, strict=True):
        axes.set(xlabel="strike", title=f"maturity {float(dataset['maturity'][row]):g} y")
    return list(zip(panels, rows, strict=True))


def _beside(strikes: np.ndarray, place: int, count: int) -> np.ndarray:
    """Strikes moved a little, so that the marks of several runs do not hide each other."""
    width = 0.5 * (np.min(np.diff(strikes)) if len(strikes) > 1 else 0.1 * strikes[0])
    return strikes + width * ((place + 0.5) / count - 0.5)


def _interval_picture(runs: Sequence[StoredRun], order: Sequence[str], name: str) -> Picture:
    """(price - truth) / truth with the bound as an interval, against the strike."""
    first = runs[0].dataset
    analytic = bool(np.isfinite(first["analytic_price"]).all())
    truth = first["analytic_price"] if analytic else _truth(runs).dataset["price"]
    told_apart = _distinguishable(first)
    truth = truth.where(told_apart)
    accepted = float((first["tolerance"] / np.abs(truth)).max()) * 100
    reach = 0.0
    with drawn(name, 3.6) as figure:
        panels = _panels(figure, first)
        for axes, row in panels:
            exact = truth[row].values
            band = 100 * first["tolerance"][row].values / np.abs(exact)
            axes.fill_between(first["strike"], -band, band, color=QUIET, alpha=0.16, linewidth=0)
            axes.axhline(0.0, color=QUIET, linewidth=1)
            for place, run in enumerate(runs):
                data = run.dataset.isel(maturity=row)
                error, half = 100 * (data["price"] - exact) / exact, 100 * data["bound"] / exact
                finite = np.isfinite(error.values) & np.isfinite(half.values)
                reach = max(reach, float(np.max((abs(error) + half).values[finite], initial=0.0)))
                axes.errorbar(
                    _beside(data["strike"].values, place, len(runs))[finite],
                    error.values[finite], half.values[finite], label=short(run.label),
                    **label_style(run.label, order) | {"linestyle": "none", "elinewidth": 1.2},
                )  # fmt: skip
        wild = reach > MOST_TOLERANCES * accepted
        if wild:
            panels[0][0].set_yscale("symlog", linthresh=2 * accepted, linscale=2)
        panels[0][0].set_ylabel("(price - truth) / truth in %")
        legend(figure)
        svg = to_svg(figure, "Prices with their bounds against the truth, by strike")
    origin = "semi-analytic price" if analytic else "price in fp64"
    return Picture(
        svg,
        f"Each price less the {origin}, with its stated bound: sampling, steps and rounding. The "
        f"band is the tolerance asked for; each bound is meant to reach zero in "
        f"{100 * first.attrs['confidence']:g} % of all cases."
        + (" The axis is linear up to twice the tolerance only, then logarithmic." if wild else "")
        + _left_out(first),
    )


def _smile_picture(runs: Sequence[StoredRun], order: Sequence[str], name: str) -> Picture:
    """Implied volatility against the strike, with the truth."""
    first = runs[0].dataset
    with drawn(name, 3.3) as figure:
        panels = _panels(figure, first)
        for axes, row in panels:
            axes.plot(first["strike"], 100 * first["analytic_implied_volatility"][row],
                      color=QUIET, linewidth=4, alpha=0.4, label="truth")  # fmt: skip
            for place, run in enumerate(runs):  # the first marks are larger: they coincide
                data = run.dataset.isel(maturity=row)
                middle, ends = data["implied_volatility"], _volatility_interval(data)
                reach = np.abs(np.stack([end.values - middle.values for end in ends]))
                size = 3 + 8 * (len(runs) - 1 - place) / len(runs)
                axes.errorbar(
                    data["strike"].values, 100 * middle.values,
                    100 * np.where(np.isnan(reach), 0.0, reach), label=short(run.label),
                    markersize=size,
                    **label_style(run.label, order) | {"linestyle": "none", "elinewidth": 1.2},
                )  # fmt: skip
        panels[0][0].set_ylabel("implied volatility in %")
        legend(figure)
        svg = to_svg(figure, "Implied volatility by strike, with the truth")
    return Picture(
        svg,
        "The smile: volatilities at which Black's formula gives the prices, their bounds as "
        "intervals, and the semi-analytic truth. A price outside of Black's range has none; an "
        "interval without one end is drawn on the other side alone.",
    )


def _budget_picture(runs: Sequence[StoredRun], name: str) -> Picture:
    """The bound's parts over the price, stacked, at the strike where the bound is widest."""
    first = runs[0].dataset
    told_apart = _distinguishable(first)
    rows = [row for row in range(first.sizes["maturity"]) if told_apart[row].any()]
    rows = [rows[place] for place in _some(len(rows))]
    with drawn(name, 1.0 + 0.26 * len(runs)) as figure:
        panels = figure.subplots(1, len(rows), sharey=True, sharex=True, squeeze=False)[0]
        largest = 0.0
        for axes, row in zip(panels, rows, strict=True):
            offsets = np.zeros(len(runs))
            worth = np.flatnonzero(told_apart[row].values)
            at = [_widest(run.dataset.isel(maturity=row, strike=worth)) for run in runs]
            places = np.arange(len(runs))
            for part, colour in zip(PARTS, PART_COLOURS, strict=True):
                share = np.array([100 * float(data[part]) / _size(data) for data in at])
                share = np.where(np.isfinite(share), share, 0.0)
                axes.barh(places, share, left=offsets, color=colour, label=part, height=0.7)
                offsets += share
            accepted = [100 * float(d["tolerance"]) / _size(d) for d in at]
            axes.vlines(accepted, places - 0.5, places + 0.5, linestyles="--", linewidth=1,
                        color=QUIET)  # fmt: skip
            axes.set(xlabel="% of the price", title=f"maturity {float(first['maturity'][row]):g} y")
            axes.xaxis.set_major_locator(MaxNLocator(4, prune="upper"))
            largest = max(largest, offsets.max())
        most = MOST_TOLERANCES * accepted[0]
        cut = largest > most
        panels[0].set_xlim(0, most if cut else None)
        panels[0].set_yticks(np.arange(len(runs)), [short(run.label) for run in runs])
        panels[0].invert_yaxis()
        legend(figure)
        svg = to_svg(figure, "Parts of the bound over the price, by arithmetic")
    return Picture(
        svg,
        "What the bound is made of, at the strike where it is widest for its tolerance (dashed)."
        + (f" Bars beyond {MOST_TOLERANCES:g} times the tolerance are cut." if cut else "")
        + _left_out(first),
    )


def _rounding_picture(runs: Sequence[StoredRun], order: Sequence[str], name: str) -> Picture:
    """|mean rounding error| and the remaining error, over the price, by arithmetic, logarithmic."""
    compared = [run for run in runs if not run.is_truth]
    limits = [
        limit["at_most"]
        for limit in runs[0].description["tolerance"]
        if limit["variable"] == "relative_rounding"
    ]
    with drawn(name, 1.1 + 0.3 * len(compared)) as figure:
        axes = figure.add_subplot()
        for place, run in enumerate(compared):
            data, look = run.dataset, label_style(run.label, order)
            worth = data["price"].where(_distinguishable(data))
            measured = 100 * np.abs(data["rounding_error"] / worth).values.ravel()
            remaining = 100 * data["relative_rounding"].values.ravel()
            for side, values, face in ((-0.16, measured, look["color"]), (0.16, remaining, "none")):
                positive = values[np.isfinite(values) & (values > 0)]
                axes.plot(positive, np.full(positive.size, place + side),
                          **look | {"linestyle": "none", "markerfacecolor": face})  # fmt: skip
        for limit in limits:
            axes.axvline(100 * limit, linestyle="--", linewidth=1, color=QUIET)
        axes.set_xscale("log")
        axes.set_yticks(np.arange(len(compared)), [short(run.label) for run in compared])
        axes.set_ylim(len(compared) - 0.5, -0.5)
        axes.set(xlabel="% of the price", title="Rounding error by arithmetic")
        svg = to_svg(figure, "Rounding error over the price, by arithmetic")
    return Picture(
        svg,
        "Filled: size of the mean rounding error of the cheap paths, measured on the same random "
        "numbers as in fp64, one mark for each option. Hollow: what rounding adds to the bound of "
        "the price, its mean removed with +correction. With +carry and +correction paths carry the "
        "rounding errors of their additions along, without they forget them. An "
        "arithmetic without marks was not used: its notes say why."
        + (" Dashed: the tolerance." if limits else ""),
    )


def _cost_picture(runs: Sequence[StoredRun], name: str) -> Picture:
    """Measured seconds of each level's paths, stacked, by arithmetic."""
    places = np.arange(len(runs))
    offsets = np.zeros(len(runs))
    with drawn(name, 1.0 + 0.26 * len(runs)) as figure:
        axes = figure.add_subplot()
        for level, colour in zip(LEVELS, PART_COLOURS, strict=True):
            seconds = np.array([
                sum(row["seconds"] for row in level_rows([run]) if row["level"] == level)
                for run in runs
            ])  # fmt: skip
            axes.barh(places, seconds, left=offsets, color=colour, label=level, height=0.7)
            offsets += seconds
        axes.set_yticks(places, [short(run.label) for run in runs])
        axes.invert_yaxis()
        axes.set(xlabel="seconds", title="Measured processor time of the paths, by level")
        legend(figure)
        svg = to_svg(figure, "Processor seconds of each level, by arithmetic")
    return Picture(
        svg,
        'What the correction costs is the level "rounding": its paths run in fp64 and in the '
        "cheap arithmetic. Times are of the processor, without compilation and waiting, and "
        "contain the emulation of arithmetics that this processor does not have.",
        "How long the paths took here, by level",
    )


def _truth(runs: Sequence[StoredRun]) -> StoredRun:
    """The run in fp64."""
    return next(run for run in runs if run.is_truth)


def _widest(data: xr.Dataset) -> xr.Dataset:
    """The option of one maturity whose bound is largest for its tolerance."""
    ratio = (data["bound"] / data["tolerance"]).values
    return data.isel(strike=int(np.argmax(np.where(np.isfinite(ratio), ratio, np.inf))))


def _size(data: xr.Dataset) -> float:
    """The size of one price; infinite where it is zero in this arithmetic alone."""
    return abs(float(data["price"])) or np.inf
