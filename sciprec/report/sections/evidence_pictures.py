"""Figures and sentences of the measurements beside the pointwise errors, by scale, too: by total
wavenumber, and by bands of zonal wavenumbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sciprec.drawing.picture import Picture
from sciprec.drawing.svg import drawable, drawn, label_style, legend, to_svg
from sciprec.report.stored.batch import StoredRun
from sciprec.results.comparison.evidence.consistency import TOO_FEW
from sciprec.results.comparison.wording import short

TITLES = {
    "variability": "Internal variability",
    "consistency": "Ensemble consistency",
    "distributions": "Distributions",
    "spectrum": "Kinetic energy spectrum",
    "scales": "Error by scale",
    "prices": "Prices",
    "arbitrage": "Static arbitrage",
    "budget": "Error budget",
}
NO_ENSEMBLE = (
    "whether runs are statistically indistinguishable from fp64: the scenario has no [ensemble] "
    "with members"
)
PART_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7")
QUIET = "#808080"
MOST_LINEAR = 3.0
"""Ratios up to which, and down to whose inverse, an axis is linear."""


def evidence_rows(runs: Sequence[StoredRun]) -> list[dict[str, Any]]:
    """The evidence of each run, as plain data: label, said (title, sentence), not_measured."""
    rows = []
    for run in runs:
        if run.evidence is None:
            continue
        sentences, alone = [], run.evidence["perturbation"] is None
        for name, title in TITLES.items():
            part = run.evidence.get(name) or {}
            sentence = part.get("sentence") or _answer(part)
            if sentence and not (alone and part.get("answer") == TOO_FEW):
                sentences.append((title, sentence))
        missing = [*([NO_ENSEMBLE] if alone else []), *run.evidence["not_measured"]]
        rows.append({"label": run.label, "said": sentences, "missing": missing})
    return rows


def _answer(part: dict[str, Any]) -> str:
    """A test's answer with its reason: "statistically indistinguishable from fp64: yes (...)"."""
    if "answer" not in part:
        return ""
    note = f"; {part['note']}" if part.get("note") else ""
    return f"indistinguishable from fp64: {part['answer']} ({part['reason']}){note}"


def evidence_pictures(runs: Sequence[StoredRun], order: Sequence[str], name: str) -> list[Picture]:
    """The figures of a scenario: error beside internal variability, spectra, error budget.

    Args:
        runs: of one scenario.
        order: all labels of the batch.
        name: unique on the page; begins the figures' identifiers.
    """
    measured = [run for run in runs if run.evidence is not None]
    unbounded = [run for run in measured if "bound" not in run.dataset]  # bounds have parts
    pictures = (
        _variability_picture(_with(measured, "variability"), order, f"{name}-variability"),
        _spectrum_picture(_with(measured, "spectrum"), order, f"{name}-spectrum"),
        scales_picture(_with(measured, "scales"), order, f"{name}-scales"),
        _budget_picture(_with(unbounded, "budget"), f"{name}-parts"),
    )
    return [picture for picture in pictures if picture is not None]


def _with(runs: Sequence[StoredRun], part: str) -> list[tuple[StoredRun, dict[str, Any]]]:
    """Runs that have this part of the evidence."""
    return [(run, run.evidence[part]) for run in runs if run.evidence.get(part)]


def _variability_picture(parts, order: Sequence[str], name: str) -> Picture | None:
    """RMS error over time, above it what uncertain initial states do."""
    if not parts:
        return None
    first = parts[0][1]
    spread, ulp = drawable(first["spread"]), drawable(first["ulp"])
    ulp_drawn = bool(np.isfinite(ulp).any())
    with drawn(name, 3.5) as figure:
        axes = figure.add_subplot()
        axes.set_yscale("log")
        for run, part in parts:
            axes.plot(part["days"], drawable(part["error"]), label=short(run.label),
                      **label_style(run.label, order))  # fmt: skip
        if np.isfinite(spread).any():
            axes.fill_between(first["days"], spread / np.sqrt(2.0), spread * np.sqrt(2.0),
                              color=QUIET, alpha=0.25, linewidth=0,
                              label="internal variability")  # fmt: skip
        if ulp_drawn:
            axes.plot(first["days"], ulp, color=QUIET, linestyle="--", label="one ulp of fp64")
        units = "" if first["units"] == "1" else f" in {first['units']}"
        axes.set(xlabel="days", ylabel=f"RMS difference{units}")
        axes.set_title(f"Error of {first['variable']} beside internal variability")
        legend(figure)
        svg = to_svg(figure, f"Error of {first['variable']} beside internal variability")
    return Picture(
        svg,
        f"How far {first['variable']} is from the fp64 run of the same initial state. The band is "
        f"the RMS difference of {first['members']} fp64 members with perturbed initial states from "
        "the unperturbed one, times and over √2. An error that reaches the band is as large as an "
        "uncertainty that the flow has anyway."
        + (" Dashed: fp64 members perturbed by one unit in the last place." if ulp_drawn else ""),
    )


def _spectrum_picture(parts, order: Sequence[str], name: str) -> Picture | None:
    """Kinetic energy by total wavenumber: the truth's, and ratios to it."""
    if not parts:
        return None
    longest = max((part for _, part in parts), key=lambda part: len(part["wavenumber"]))
    with drawn(name, 3.2) as figure:
        energies, ratios = figure.subplots(1, 2)
        energies.loglog(longest["wavenumber"], drawable(longest["golden"]), color=QUIET,
                        linewidth=4, alpha=0.5, label="fp64")  # fmt: skip
        low, high = np.array(longest["accepted"], float).T
        ratios.fill_between(longest["wavenumber"], low, high, color=QUIET, alpha=0.18, linewidth=0)
        for run, part in parts:  # each ends where it and fp64 hold nothing more
            waves, look = part["wavenumber"], label_style(run.label, order) | {"marker": ""}
            energies.loglog(waves, drawable(part["actual"]), label=short(run.label), **look)
            ratios.semilogx(waves, drawable(part["ratio"]), **look)
        bottom, top = ratios.get_ylim()
        if top > MOST_LINEAR or bottom < 1.0 / MOST_LINEAR:
            ratios.set_yscale("log")
        energies.set(xlabel="total wavenumber", title="kinetic energy in m2 s-2")
        ratios.set(xlabel="total wavenumber", title="over that of fp64")
        legend(figure)
        svg = to_svg(figure, "Kinetic energy spectra, and their ratios to that of fp64")
    return Picture(
        svg,
        "Kinetic energy by total wavenumber, mean over the second half of the stored times. Band: "
        "ratios that are no departure. Rounding noise shows first at the smallest scales.",
        "" if any(part["departs_at"] is not None for _, part in parts)
        else "Spectra: none departs from that of fp64",
    )


def _budget_picture(parts, name: str) -> Picture | None:
    """The parts of the error of each arithmetic, side by side on a logarithmic axis."""
    parts = [(run, part) for run, part in parts if len(part["parts"]) > 1]
    if not parts:
        return None
    names = list(dict.fromkeys(n for _, part in parts for n in part["parts"]))
    shared, places = _measures([part["measure"] for _, part in parts])
    rows = [", ".join((short(run.label), *at)) for (run, _), at in zip(parts, places, strict=True)]
    with drawn(name, 1.1 + 0.3 * len(parts)) as figure:
        axes = figure.add_subplot()
        for colour, part_name in zip(PART_COLOURS, names, strict=False):
            sizes = drawable([part["parts"].get(part_name) for _, part in parts])
            axes.plot(sizes, np.arange(len(parts)), "o", color=colour, label=part_name)
        axes.set_xscale("log")
        axes.set_yticks(np.arange(len(parts)), rows)
        axes.set_ylim(len(parts) - 0.5, -0.5)
        variable = parts[0][1]["variable"]
        axes.set(xlabel=shared, title=f"Where the error of {variable} comes from")
        legend(figure)
        svg = to_svg(figure, "Parts of the error by arithmetic")
    return Picture(
        svg,
        f"Each part that could be had, on its own: {', '.join(names)}.",
    )


def _measures(measures: Sequence[str]) -> tuple[str, list[tuple[str, ...]]]:
    """The clauses that all measures share, as one text, and for each row those of its own: each
    arithmetic's budget is of the place where its rounding weighs most."""
    clauses = [measure.split(", ") for measure in measures]
    shared = [clause for clause in clauses[0] if all(clause in row for row in clauses)]
    own_clauses = [tuple(clause for clause in row if clause not in shared) for row in clauses]
    return ", ".join(shared), own_clauses


def scales_picture(
    parts: Sequence[tuple[StoredRun, dict[str, Any]]], order: Sequence[str], name: str
) -> Picture | None:
    """Relative error of the wind by total wavenumber, and by bands of orders.

    Args:
        parts: runs with what `evidence.error_scales` says of them, as plain data.
        order: all labels of the batch.
        name: identifier of the figure.

    Returns:
        The picture; None where no run has an error of the wind at all.
    """
    parts = [(run, part) for run, part in parts if np.isfinite(drawable(part["by_degree"])).any()]
    if not parts:
        return None
    bands = list(dict.fromkeys(band for _, part in parts for band in part["by_band"]))
    with drawn(name, 3.4) as figure:
        left, right = figure.subplots(1, 2, sharey=True)
        for run, part in parts:
            look = label_style(run.label, order)
            left.loglog(part["wavenumber"], drawable(part["by_degree"]), label=short(run.label),
                        **look | {"marker": ""})  # fmt: skip
            values = drawable([part["by_band"].get(band) for band in bands])
            right.plot(np.arange(len(bands)), values, **look)
        right.set_xticks(np.arange(len(bands)), [band.removeprefix("m ").strip("= ")
                                                 for band in bands])  # fmt: skip
        left.set(xlabel="total wavenumber", ylabel="relative error of the wind")
        right.set(xlabel="zonal wavenumber")
        left.set_title(f"Error of the wind by scale, day {parts[0][1]['days']:g}")
        legend(figure)
        svg = to_svg(figure, "Relative error of the wind by total and zonal wavenumber")
    return Picture(
        svg,
        "Root of the kinetic energy of the difference from fp64 over that of fp64, at each total "
        "wavenumber and in bands of zonal wavenumbers, at the last time; 0 is the zonal mean. At "
        "1 nothing of fp64's wind is left at that scale.",
    )
