"""The sections of what each arithmetic of a scenario would save, and of the times of its runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sciprec.cost.peak_rates import MACHINES, roofline
from sciprec.cost.work import CARRY_FLOPS, STORE, Work, update_work
from sciprec.facets.adaptive.attributes import PLAN
from sciprec.facets.compensation import PLAIN
from sciprec.facets.stages.section import stage_words
from sciprec.foundation.errors import InputError
from sciprec.foundation.memory import PEAK_MEMORY
from sciprec.foundation.timing import Timing
from sciprec.precision.formats.backend import TRUTH, resolve_backend
from sciprec.precision.formats.fixed_format import FixedFormat
from sciprec.report.stored.batch import StoredRun
from sciprec.results.comparison.pointwise.number_format import formats_of
from sciprec.results.comparison.wording import factor, number
from sciprec.results.output.stated import STAGE_WORK, STORED_STATE
from sciprec.tools.tune.formats import stored_bits

BITS_OF_TRUTH = 64
UPDATE = "state update"
"""The stage of a step that a carry adds operations to."""


def savings_rows(runs: Sequence[StoredRun]) -> list[dict[str, Any]]:
    """Savings of each arithmetic of a scenario on a machine that has it, as plain data.

    Args:
        runs: of the scenario.

    Returns:
        label; about, the arithmetic in words; operations, bits of all executed operations over
        fp64's, in words; bytes, those that a number of the state takes; traffic, the bytes that an
        update of the state moves over fp64's; machines, titles of those that have the arithmetic.
    """
    counted = _counted(runs)
    return [
        {
            "label": run.label,
            "about": _about(run),
            "operations": _operations(run, counted),
            "bytes": run.bytes_per_number,
            "traffic": run.state_update.bytes_moved / update_work(TRUTH).bytes_moved,
            "machines": ", ".join(m.title for m in MACHINES.values() if _has(m.name, run)) or "–",
        }
        for run in runs
        if run.dataset is not None and not run.is_truth
    ]


def time_rows(runs: Sequence[StoredRun]) -> list[dict[str, Any]]:
    """Measured processor times: label, seconds, and over fp64's in words, with the range."""
    truth = next((run.processor_time for run in runs if run.is_truth), None)
    return [
        {"label": run.label, "seconds": time.seconds, "over": _over(time, truth)}
        for run in runs
        if (time := run.processor_time) is not None
    ]


def most_memory(runs: Sequence[StoredRun]) -> float | None:
    """Megabytes of the largest process of a run; None where no file says so."""
    peaks = (run.dataset.attrs.get(PEAK_MEMORY) for run in runs if run.dataset is not None)
    return max((float(peak) / 1e6 for peak in peaks if peak is not None), default=None)


def _over(time: Timing, truth: Timing | None) -> str:
    """A time over that of the truth: "0.71 (0.61 to 0.86)"."""
    if truth is None or not truth.low > 0.0:
        return "–"
    low, high = factor(time.low / truth.high), factor(time.high / truth.low)
    return f"{factor(time.seconds / truth.seconds)} ({low} to {high})"


def _about(run: StoredRun) -> str:
    """The arithmetic in words: its own line, the form of the state, and the transforms' stages."""
    state = str(run.dataset.attrs.get(STORED_STATE, ""))
    return ", ".join(filter(None, (run.arithmetic.get("about", ""), state, stage_words(run))))


def _counted(runs: Sequence[StoredRun]) -> list[dict[str, Any]]:
    """Counted operations of a step's stages; empty where the truth counted none."""
    texts = (run.dataset.attrs.get(STAGE_WORK) for run in runs if run.dataset is not None)
    return json.loads(next(filter(None, texts), "[]"))


def _operations(run: StoredRun, counted: Sequence[dict[str, Any]]) -> str:
    """Bits of executed operations over fp64's, in words: one number, or a range by place."""
    bits = _bits(_arithmetics(run))
    if bits is None:
        return "–"
    low, high = min(bits) / BITS_OF_TRUTH, max(bits) / BITS_OF_TRUTH
    more = _carried(counted) if run.compensation != PLAIN else 1.0
    ends = [number(end * (more or 1.0)) for end in (low, high)]
    words = ends[0] if low == high else f"{ends[0]} to {ends[1]}, by place"
    operations = f"{CARRY_FLOPS} operations for each number of the state and update"
    return words if more is not None else f"{words}, plus {operations} ({run.compensation})"


def _carried(counted: Sequence[dict[str, Any]]) -> float | None:
    """Operations with a carry over those without; None where they were not counted."""
    works = [s["times"] * Work.of_counts(s["counts"], TRUTH).operations for s in counted]
    if not sum(works):
        return None
    updated = sum(s["times"] * s["counts"].get(STORE, 0) for s in counted if s["stage"] == UPDATE)
    return 1.0 + CARRY_FLOPS * updated / sum(works)


def _arithmetics(run: StoredRun) -> list[str]:
    """Names of the arithmetics in which a run computes."""
    stages = run.stages or {}
    named = [stages[key] for key in ("legendre", "sums", "fourier", "kept") if stages.get(key)]
    if (plan := PLAN.read(run.dataset)) is not None:
        named += plan["ladder"]
    return [*named, *(formats_of(run.arithmetic) or (run.backend,))]


def _bits(named: Sequence[str]) -> list[int] | None:
    """Bits of the formats of arithmetics; None where one of them is not known here."""
    try:
        backends = [resolve_backend(name) for name in named]
    except InputError:
        return None
    formats = [
        getattr(backend, role).format
        for backend in backends
        for role in ("compute", "accumulate", "matmul")
    ]
    return [f.bits if isinstance(f, FixedFormat) else stored_bits(f) for f in formats]


def _has(machine: str, run: StoredRun) -> bool:
    """Whether a machine has a rate for the operations of each arithmetic of a run."""
    try:
        for name in _arithmetics(run):
            roofline(Work(flops=1), machine, name)
    except InputError:
        return False
    return True
