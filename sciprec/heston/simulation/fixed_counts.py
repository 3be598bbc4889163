"""The counts of fixed point in several blocks or maturities, added up."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import Any

from sciprec.precision.lifting.fixed_lifting import fixed_point_summary

COUNTS = ("calls", "adaptations", "careful_calls", "saturations", "invalid")
_counting: ContextVar[list | None] = ContextVar("kernels in fixed point", default=None)


def counted(function: Callable, *args: Any) -> tuple[Any, dict | None]:
    """Call a function; return its result and what fixed point did in it on this thread.

    Args:
        function: called with args.

    Returns:
        Its result, and the summary of all kernels that were given to `count_kernel` meanwhile; None
        where there are none.
    """
    kernels: list = []
    token = _counting.set(kernels)
    try:
        result = function(*args)
    finally:
        _counting.reset(token)
    return result, fixed_point_summary(kernels)


def count_kernel(kernel: Any) -> None:
    """Add a kernel in fixed point to those that `counted` sums up, if it runs on this thread."""
    kernels = _counting.get()
    if kernels is not None:
        kernels.append(kernel)


def added(summaries: Iterable[dict | None], worst: int = 10) -> dict | None:
    """One summary for several kernels of the same source; None where none is in fixed point.

    Args:
        summaries: from `fixed_point_summary`.
        worst: how many places are listed.

    Returns:
        Sums of the counts; each place once, with the sum of its saturations and the most bits that
        it was short of anywhere.
    """
    summaries_given = [summary for summary in summaries if summary is not None]
    if not summaries_given:
        return None
    short = _once([place for summary in summaries_given for place in summary["short"]])
    saturated = _once([place for summary in summaries_given for place in summary["saturated"]])
    return {name: sum(summary[name] for summary in summaries_given) for name in COUNTS} | {
        "places_short_of_bits": max(summary["places_short_of_bits"] for summary in summaries_given),
        "short": sorted(short, key=lambda place: -place["bits_short"])[:worst],
        "saturated": sorted(saturated, key=lambda place: -place["saturations"])[:worst],
    }


def _once(places: list[dict]) -> list[dict]:
    """Every place of the source once."""
    merged: dict[tuple, dict] = {}
    for place in places:
        key = tuple(place[name] for name in ("function", "line", "column", "operation"))
        before = merged.get(key)
        merged[key] = place if before is None else _together(before, place)
    return list(merged.values())


def _together(first: dict, other: dict) -> dict:
    """Two reports of the same place as one."""
    (low, high), (lower, higher) = first["unit_exponents"], other["unit_exponents"]
    worse = max(first, other, key=lambda place: (place["bits_short"], place["lost_share"]))
    return worse | {
        "unit_exponents": (min(low, lower), max(high, higher)),
        "largest": max(first["largest"], other["largest"]),
        "saturations": first["saturations"] + other["saturations"],
        "invalid": first["invalid"] + other["invalid"],
    }
