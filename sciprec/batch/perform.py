"""One run: the scenario's model in one arithmetic, and its file."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import Any

import xarray as xr

from sciprec.batch import options
from sciprec.batch.plan import Outcome, Run
from sciprec.batch.resume import RUN, SECONDS, run_digest
from sciprec.compensation_choice import NO_COMPENSATION
from sciprec.errors import InputError
from sciprec.output import netcdf
from sciprec.output.dataset import (
    accumulation_dataset,
    with_identity,
)
from sciprec.output.provenance import provenance
from sciprec.precision.backend import Backend, resolve_backend
from sciprec.scenario import TRUTH, AccumulationRun, ClimateRun, Scenario

Days = Callable[[Run, float], None]
"""Called with a run and the simulated days so far."""
_LISTENING: ContextVar[Callable[[float], None] | None] = ContextVar("listening", default=None)
"""What a model that takes long tells how far it is, in the run's own thread."""


def perform(run: Run, folder: str, debug: bool = False, on_days: Days | None = None) -> Outcome:
    """Compute a run and write its file; a failure becomes a sentence, unless `debug`."""
    start = time.perf_counter()
    failure = ""
    _LISTENING.set(None if on_days is None else partial(on_days, run))
    try:
        dataset = run_dataset(run)
        dataset.attrs |= {RUN: run_digest(run), SECONDS: time.perf_counter() - start}
        netcdf.write(dataset, Path(folder) / run.file)
    except Exception as error:  # whatever a run dies of, the other runs go on
        if debug:
            raise
        failure = sentence(error)
    seconds = time.perf_counter() - start
    name, choice = run.scenario.name, run.compensation.name
    return Outcome(name, run.backend, run.file, seconds, failure, choice, stored=run.stored)


def sentence(error: BaseException) -> str:
    """An exception in words."""
    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, MemoryError):
        return "ran out of memory; use a smaller truncation or fewer paths in a block"
    if isinstance(error, OSError):
        return f"could not write or read a file: {error.strerror or error} ({error.filename})"
    return f"failed inside sciprec with {type(error).__name__}: {error}; please report this"


def run_dataset(run: Run) -> xr.Dataset:
    """The complete dataset of a run, identity included."""
    scenario = run.scenario
    backend = resolve_backend(run.backend)
    compensation = run.compensation.resolved()
    dataset = MODELS[scenario.kind](getattr(scenario, scenario.kind), run.backend, compensation)
    return with_identity(
        dataset,
        title=scenario.title,
        source=scenario.source,
        scenario=scenario.model_dump(mode="json"),
        backend=properties(backend),
        compensation=run.compensation.model_dump(mode="json"),
        label=run.label,
        made_by=provenance(),
    )


def properties(backend: Backend) -> dict[str, Any]:
    """The arithmetic of a backend as plain data."""
    found: dict[str, Any] = {"name": backend.name, "about": backend.about, "noise": backend.noise}
    for role in ("storage", "compute", "accumulate", "matmul"):
        arithmetic = getattr(backend, role)
        fmt = arithmetic.format
        found[role] = {
            "format": fmt.name,
            "significand_bits": fmt.significand_bits,
            "emin": fmt.emin,
            "emax": fmt.emax,
            "subnormals": fmt.subnormals,
            "overflow": fmt.overflow,
            "rounding": arithmetic.rounding,
        }
    return found


def _climate(given: ClimateRun, backend: str, compensation: Any) -> xr.Dataset:
    """Integrate a global model."""
    from sciprec.climate_runs import run_climate

    arguments = given.arguments() | ({"stored": None} if backend == TRUTH else {})
    listening = _LISTENING.get()
    return run_climate(**arguments, backend=backend, compensation=compensation, progress=listening)


def _accumulation(given: AccumulationRun, backend: str, compensation: Any) -> xr.Dataset:
    """Sum many small increments."""
    from sciprec.accumulation import accumulate

    return accumulation_dataset(
        accumulate(**given.model_dump(), backend=backend, compensation=compensation)
    )


def check(scenario: Scenario) -> None:
    """Let the scenario's model check what it is asked to do, before anything is computed.

    Raises:
        InputError: the model does not know a name, or numbers do not fit together.
    """
    try:
        for choice in scenario.choices() or (NO_COMPENSATION,):
            _CHECKS[scenario.kind](getattr(scenario, scenario.kind), choice.resolved())
    except InputError as error:
        raise InputError(f"scenario '{scenario.name}', table [{scenario.kind}]: {error}") from None


def _check_climate(given: ClimateRun, compensation: Any) -> None:
    """Names of case, scheme and parameters; steps that fit the output times."""
    from sciprec.climate.request import check_request

    arguments = given.model_dump(exclude={"checkpoints"})
    check_request(**arguments, compensation=compensation)


def _check_accumulation(given: AccumulationRun, compensation: Any) -> None:
    """Increments whose sums are exact."""
    from sciprec.accumulation.model import check_request, one_compensation

    check_request(**given.model_dump())
    one_compensation(compensation)


MODELS: dict[str, Callable[[Any, str, Any], xr.Dataset]] = {
    "climate": _climate,
    "heston": options.run,
    "accumulation": _accumulation,
}
_CHECKS: dict[str, Callable[[Any, Any], None]] = {
    "climate": _check_climate,
    "heston": options.check,
    "accumulation": _check_accumulation,
}
