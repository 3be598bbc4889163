"""The section of fixed point: saturations and lost bits of runs, from their files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sciprec.report.stored.batch import StoredRun

ATTRIBUTE = "sciprec_fixed_point"


@dataclass(frozen=True)
class FixedPointSection:
    """The part of the page about one fixed-point run.

    Args:
        label: of the run.
        sentence: counts of the whole run.
        rows: the places most short of bits or saturated: function, line, text, unit, bits_short,
            lost, saturations.
        more: how many further places are short of bits.
    """

    label: str
    sentence: str
    rows: list[dict[str, Any]]
    more: int


def fixed_point_sections(runs: Sequence[StoredRun]) -> list[FixedPointSection]:
    """One section for each run that computed in fixed point."""
    summaries = [(run.label, summary_of(run)) for run in runs]
    return [_section(label, summary) for label, summary in summaries if summary is not None]


def summary_of(run: StoredRun) -> dict[str, Any] | None:
    """The summary of fixed point in a run's file; None for floats and failed runs."""
    text = None if run.dataset is None else run.dataset.attrs.get(ATTRIBUTE)
    return None if text is None else json.loads(text)


def idle_roles_of(run: StoredRun) -> str | None:
    """The sentence in a run's file about roles that no operation of it has."""
    if run.dataset is None:
        return None
    sentence = run.dataset.attrs.get("sciprec_idle_roles")
    return sentence or (summary_of(run) or {}).get("idle_roles")


def _section(label: str, summary: dict[str, Any]) -> FixedPointSection:
    places = [*summary["short"], *(p for p in summary["saturated"] if not p["bits_short"])]
    n_hidden = (summary["places_short_of_bits"] or 0) - len(summary["short"])
    return FixedPointSection(label, _sentence(summary), [_row(place) for place in places], n_hidden)


def _sentence(summary: dict[str, Any]) -> str:
    """Counts of a run, zeros in words."""
    short = summary["places_short_of_bits"]
    counts = [
        _counted(summary["saturations"], "saturation"),
        _counted(summary["invalid"], "NaN that became zero", "NaN that became zeros"),
        _counted(summary["adaptations"], "change of units", "changes of units"),
    ]
    if short is None:
        bits = "units come from known ranges, so that nothing is said of places short of bits"
    elif short == 0:
        bits = "no place is short of bits"
    else:
        bits = f"{_counted(short, 'place')} {'is' if short == 1 else 'are'} short of bits"
    calls = _counted(summary["calls"], "call of a kernel", "calls of kernels")
    return f"{counts[0]}, {counts[1]} and {counts[2]} in {calls}; {bits}"


def _counted(count: int, singular: str, many: str | None = None) -> str:
    """ "no saturation", "1 saturation", "12,000 saturations"."""
    if count == 0:
        return f"no {singular}"
    return f"{count:,} {singular if count == 1 else many or f'{singular}s'}"


def _row(place: dict[str, Any]) -> dict[str, Any]:
    """A place of the source in words."""
    least, greatest = place["unit_exponents"]
    return {
        "function": place["function"],
        "line": place["line"],
        "text": place["text"] or place["operation"],
        "unit": f"2^{least}" if least == greatest else f"2^{least} … 2^{greatest}",
        "bits_short": place["bits_short"],
        "lost": f"{place['lost_share']:.1%}",
        "saturations": f"{place['saturations']:,}",
    }
