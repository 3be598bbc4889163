"""One run: the scenario's model in one arithmetic, and its file."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import xarray as xr

from sciprec.facets.monitor.attributes import told_alerts
from sciprec.facets.policy.words import words_of
from sciprec.foundation.errors import InputError, ModelError
from sciprec.foundation.memory import PEAK_MEMORY, peak_bytes
from sciprec.foundation.origin import provenance
from sciprec.instruments.assigning.assignment import AssignedBackend, every_place_met
from sciprec.instruments.assigning.policies import require_stages
from sciprec.precision.formats.backend import Backend, resolve_backend
from sciprec.results.comparison.verdicts import stopped_early
from sciprec.results.output import digests, files
from sciprec.results.output.dataset import CONVENTIONS, PROCESSOR_SECONDS
from sciprec.results.output.health import with_health, with_quantization
from sciprec.results.output.stated import ROUNDED, RUN, SECONDS, is_compared
from sciprec.scenario.variant import Variant
from sciprec.workbench.batch.checking import wrong_tolerances
from sciprec.workbench.batch.compiling import remember
from sciprec.workbench.batch.plan import Outcome, Run, member_of
from sciprec.workbench.batch.resume import interrupted_folder, remove_interrupted, run_digest
from sciprec.workbench.batch.states import RunState, is_watched
from sciprec.workbench.batch.traced import with_trace
from sciprec.workbench.kinds import Surroundings, kind_of

_ROUNDED_BY_PLACE = (
    "Every operation of a step has the format that the assignment gives its place{residuals}; the "
    "state is kept in binary64. Tables and initial state are made in binary64."
)

Days = Callable[[Run, float], None]
"""Called with a run and the simulated days so far."""


def perform(run: Run, folder: str, debug: bool = False, on_days: Days | None = None) -> Outcome:
    """Compute a run and write its file; a failure becomes a sentence, unless `debug`."""
    start = time.perf_counter()
    failure = pace = stopped = ""
    alerts: tuple[str, ...] = ()
    refused, shapes, notes, digests_of = False, {}, [], {}
    listening = None if on_days is None else partial(on_days, run)
    state = RunState(run, folder) if is_watched(run) else None
    if state is not None:
        listening = state.hearing(listening)
    interrupted = interrupted_folder(run, folder)
    monitor = None if state is None else run.scenario.monitor.plan(state.seen)
    around = Surroundings(
        listening, interrupted, Path(folder), threads=run.threads, monitor=monitor,
        told=notes.append,
    )  # fmt: skip
    try:
        dataset = run_dataset(run, around)
        dataset = with_trace(dataset, run)
        dataset.attrs |= {RUN: run_digest(run), SECONDS: time.perf_counter() - start}
        if (peak := peak_bytes()) is not None:
            dataset.attrs[PEAK_MEMORY] = peak
        dataset = digests.seal(dataset)
        files.write(dataset, Path(folder) / run.file)
        digests_of = {"run": dataset.attrs[RUN], "digest": dataset.attrs[digests.OF_RUN]}
        remove_interrupted(interrupted)
        remember(run)
        pace, stopped = pace_of(dataset), stopped_early(dataset.attrs)
        alerts = told_alerts(dataset.attrs)
        if kind_of(run.scenario).same_axes and not stopped:
            shapes = {
                str(name): tuple(v.shape) for name, v in dataset.data_vars.items()
                if is_compared(str(name), dataset.attrs)
            }  # fmt: skip
    except Exception as error:  # whatever a run dies of, the other runs go on
        if debug:
            raise
        failure, refused = sentence(error), isinstance(error, ModelError)
        if not isinstance(error, OSError | MemoryError):  # others would fail there again
            remove_interrupted(interrupted)
    if state is not None:
        state.end(failure or stopped, alerts)
    seconds = time.perf_counter() - start
    return run.outcome(
        seconds, failure or stopped, pace=pace, partial=bool(stopped),
        refused=refused, alerts=alerts, notes=tuple(notes), shapes=shapes, **digests_of,
    )  # fmt: skip


def pace_of(dataset: xr.Dataset) -> str:
    """The speed of a model on a processor of its own; empty where its dataset does not say."""
    seconds = float(dataset.attrs.get(PROCESSOR_SECONDS, 0.0))
    if not seconds > 0.0:
        return ""
    days = str(dataset["time"].attrs.get("units", "")) if "time" in dataset.coords else ""
    if days.startswith("days") and dataset.sizes["time"]:
        return f"{float(dataset['time'][-1] - dataset['time'][0]) / seconds:.3g} days/s"
    if "n_paths" in dataset.attrs:
        surfaces = dataset.sizes.get("maturity", 1) if "levels" not in dataset.attrs else 1
        return f"{dataset.attrs['n_paths'] * surfaces / seconds:,.0f} paths/s"
    return ""


def sentence(error: BaseException) -> str:
    """An exception in words."""
    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, MemoryError):
        return "ran out of memory; use a smaller truncation or fewer paths in a block"
    if isinstance(error, OSError):
        return f"{files.system_reason(error)}, and run again: what is done is kept"
    return f"failed inside sciprec with {type(error).__name__}: {error}; please report this"


def run_dataset(run: Run, around: Surroundings | None = None) -> xr.Dataset:
    """The complete dataset of a run, identity included."""
    scenario, kind = run.scenario, kind_of(run.scenario)
    backend = resolve_backend(run.backend)
    around = replace(around or Surroundings(), member=member_of(run))
    monitor = around.monitor or (scenario.monitor and scenario.monitor.plan())
    around = replace(around, monitor=None if run.variant.adaptive else monitor)
    require_stages(backend, scenario.kind)
    with every_place_met(backend):
        dataset = kind.run(scenario.table, run.variant, around)
    if kind.variables is None and scenario.tolerance:
        stored = tuple(map(str, dataset.data_vars))
        if complaints := wrong_tolerances(scenario, stored):
            raise ModelError("; ".join(complaints))
    dataset.attrs = {**kind.attributes, **dataset.attrs}
    if isinstance(backend, AssignedBackend):
        dataset.attrs[ROUNDED] = _ROUNDED_BY_PLACE
        backend = replace(backend, about=words_of(backend.name, scenario.kind) or backend.about)
    return with_identity(
        with_health(with_quantization(dataset, properties(backend))),
        title=scenario.title,
        source=scenario.source,
        scenario=scenario.model_dump(mode="json"),
        backend=properties(backend),
        variant=run.variant,
        member=run.member,
        made_by=provenance(),
    )


def properties(backend: Backend) -> dict[str, Any]:
    """The arithmetic of a backend as plain data."""
    result: dict[str, Any] = {"name": backend.name, "about": backend.about, "noise": backend.noise}
    for role in ("storage", "compute", "accumulate", "matmul"):
        fmt, rounding = getattr(backend, role).format, getattr(backend, role).rounding
        names = ("significand_bits", "emin", "emax", "subnormals", "overflow")
        numbers = {name: getattr(fmt, name) for name in names}
        result[role] = {"format": fmt.name, **numbers, "rounding": rounding}
    if isinstance(backend, AssignedBackend):
        result["assignment"] = backend.assignment.as_dict()
    return result


def with_identity(
    dataset: xr.Dataset,
    *,
    title: str,
    source: str,
    scenario: dict,
    backend: dict,
    made_by: dict,
    variant: Variant,
    member: int = 0,
) -> xr.Dataset:
    """The dataset with its global attributes: what it is, how it was made, and by what.

    Args:
        title, source: for people.
        scenario: the scenario as resolved; a plain dictionary with `name` and `kind`.
        backend: the properties of the arithmetic; a plain dictionary with `name`.
        made_by: versions, processor and so on.
        variant: the arithmetic with what belongs to it.
        member: of the scenario's ensemble.
    """
    label = variant.label + (f", member {member}" if member else "")
    dataset.attrs = {
        "Conventions": CONVENTIONS,
        "title": f"{title} ({label})",
        "source": f"sciprec {made_by['sciprec']}: {source}",
        "history": f"{made_by['made_at']} sciprec run",
        "references": source,
        "sciprec_kind": scenario["kind"],
        "sciprec_scenario_name": scenario["name"],
        "sciprec_scenario": json.dumps(scenario, sort_keys=True),
        "sciprec_backend": backend["name"],
        "sciprec_backend_properties": json.dumps(backend, sort_keys=True),
        "sciprec_member": member,
        "sciprec_provenance": json.dumps(made_by, sort_keys=True),
        **variant.as_attributes(),
    } | dataset.attrs
    return dataset
