"""Runs whose error is split by line, as the table [trace] of their scenario asks."""

from __future__ import annotations

import json

import xarray as xr

from sciprec.foundation.errors import InputError
from sciprec.foundation.later import MODEL_STAGES
from sciprec.precision.formats.backend import resolve_backend
from sciprec.precision.rewriting.syntax import LiftError
from sciprec.tools.trace.models.groups import STAGE
from sciprec.workbench.batch.plan import Run
from sciprec.workbench.kinds.scenario_trace import trace_variant

TRACE = "sciprec_trace"
"""Attribute of a file: the trace of its run, or why there is none, as JSON."""


def traced_by(run: Run) -> str:
    """The key `by` of the scenario's table [trace] for a run; "" where the run is not traced."""
    request = run.scenario.trace
    if request is None or run.member or run.is_truth:
        return ""
    traced = {resolve_backend(name).name for name in request.backends}
    return request.by if not traced or run.backend in traced else ""


def with_trace(dataset: xr.Dataset, run: Run) -> xr.Dataset:
    """The dataset of a run with its trace, where one is asked for. A run that cannot be traced says
    why, and is as good as any.
    """
    by = traced_by(run)
    if not by:
        return dataset
    stages = tuple(MODEL_STAGES.get(run.scenario.kind, ())) if by == STAGE else ()
    try:
        trace = trace_variant(
            run.scenario, run.variant, resolve_backend(run.backend), by=by, stages=stages
        )
        content = trace.as_dict()
    except (InputError, LiftError) as error:
        content = {"refused": str(error)}
    dataset.attrs[TRACE] = json.dumps(content, sort_keys=True)
    return dataset
