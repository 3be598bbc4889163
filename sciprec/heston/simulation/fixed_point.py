"""Fixed point in path kernels: units from pilot paths, so that no price depends on its blocks, and
counts in several blocks or maturities, added up.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import Any

import numpy as np

from sciprec.heston.schemes.registry import Units, state_arrays
from sciprec.heston.variates.random_numbers import PhiloxVariates
from sciprec.precision import lift
from sciprec.precision.lifting.fixed_lifting import fixed_point_summary

COUNTS = ("calls", "adaptations", "careful_calls", "saturations", "invalid")
_counting: ContextVar[list | None] = ContextVar("kernels in fixed point", default=None)
PILOT_PATHS, PILOT_STEPS, PILOT_SEED = 256, 16, 0x9D5F
SPARE_BITS = 2  # for paths further out than the pilot's: eight times its sizes, with the headroom


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


def fixed_kernel(path_scheme, backend, model, step_years, last_step):
    """Return a scheme's kernel in fixed point, with units for steps up to a last one.

    The pilot runs on paths of its own, in binary64 and then in fixed point, whose rounding errors
    need room where binary64's are smaller. Its length is last_step rounded up to a power of two, so
    that units depend on the grid and the stops, not on blocks, threads or their order. What leaves
    a range all the same saturates and is counted.

    Args:
        path_scheme: a registered PathScheme that lifts.
        backend: a Backend in fixed point.
        model: a Model.
        step_years: length of one time step.
        last_step: integer, at least 1.

    Returns:
        A lifted kernel whose counts start at zero.
    """
    horizon = 1 << max(0, int(last_step) - 1).bit_length()
    return _with_units(path_scheme, backend, model, float(step_years), horizon).fresh()


@functools.lru_cache(maxsize=64)
def _with_units(path_scheme, backend, model, step_years, horizon):
    """Return the kernel with units for `horizon` steps."""
    blank, truth = _lifted(path_scheme.kernel_for(model, step_years), backend)
    lifted = blank.unprofiled()
    constants = np.asarray(path_scheme.constants(model, step_years, Units.of(model, step_years)))
    rows = 3 if path_scheme.exponential(model, step_years) else 2
    variates = PhiloxVariates(PILOT_SEED, 0)

    def advance(step):
        """Call step(first, constants, draws, state...) for pieces of the pilot's time."""
        arrays = state_arrays(model, step_years, PILOT_PATHS)
        for first in range(0, horizon, PILOT_STEPS):
            draws = np.empty((min(PILOT_STEPS, horizon - first), rows, PILOT_PATHS))
            variates.fill(0, first, draws)
            step(first, constants, draws, *arrays)

    def profile(first, *args):
        lifted.profile(*args, widen=first > 0)
        truth(*args)

    advance(profile)
    advance(lambda first, *args: lifted(*args))
    lifted.freeze(SPARE_BITS)
    return lifted


@functools.lru_cache(maxsize=16)
def _lifted(kernel, backend):
    """Return a kernel in fixed point, never called, and in binary64."""
    return lift(kernel, backend), lift(kernel, "fp64")
