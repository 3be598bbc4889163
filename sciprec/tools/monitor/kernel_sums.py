"""Carried sums of kernels: runs in which they are looked at, beside fp64."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sciprec.instruments.observing.carried_sums import Totals, looking
from sciprec.instruments.observing.losing import CarriedSum, losing
from sciprec.instruments.observing.observed import lift_observed
from sciprec.precision.formats.backend import TRUTH, Backend, HandedBackend, resolve_backend
from sciprec.precision.rewriting.copies import copied
from sciprec.tools.monitor.lost import LostUpdates, bits_of, size_of

RUNNING = threading.Lock()
"""Held while an observed kernel runs: its notes are in tables of the process."""


def lost_sums(
    function: Callable[..., Any], backend: Backend, args: tuple,
    is_wanted: Callable[[CarriedSum], bool] = lambda _: True,
) -> tuple[LostUpdates, ...]:  # fmt: skip
    """The losses of a kernel's carried sums, in the order of the source; none, and no run,
    where none of them is wanted, or formats are given by place.

    Args:
        function: the plain kernel.
        backend: the arithmetic.
        args: in the order of its parameters; copied.
        is_wanted: of a sum.
    """
    if isinstance(backend, HandedBackend):
        return ()
    places: dict[CarriedSum, int] = {}
    exact = resolve_backend(TRUTH)
    tested = lift_observed(function, backend, [losing(function, places)])
    if not any(map(is_wanted, places)):
        return ()
    sums = []
    for kernel in (tested, lift_observed(function, exact, [losing(function, places)])):
        with RUNNING, looking(places) as totals, np.errstate(all="ignore"):
            kernel(*copied(args))
        sums.append(totals)
    return sums_of(sums[0], sums[1], backend)


def sums_of(
    totals: Mapping[CarriedSum, Totals], exact: Mapping[CarriedSum, Totals], backend: Backend
) -> tuple[LostUpdates, ...]:
    """The losses of carried sums, from their totals; where fp64 adds less, its size counts.

    Args:
        totals: in the arithmetic.
        exact: in fp64, as far as known.
        backend: the arithmetic.
    """
    sums = []
    for total in sorted(totals, key=lambda s: s.line):
        is_true = total in exact
        size = min(size_of(totals[total]), size_of(exact[total]) if is_true else math.inf)
        about = total.name, f"line:{total.line}", total.text, backend.name, bits_of(backend)
        sums.append(LostUpdates(*about, totals[total], size, is_true=is_true))
    return tuple(sums)
