"""Noise: how far runs are apart whose inputs differ by one unit of their format.

A difference that is no larger than that cannot be told from one that rounding the inputs makes. The
runs are as many as SAMPLES beside the baseline's own; the spread of a metric is the largest one
between any two of them. Nothing else is ever noise.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from sciprec.precision.formats.backend import Backend, resolve_backend
from sciprec.regression.baselines.keeping import METRICS, Fingerprint, differences
from sciprec.results.output.stated import INPUTS, MEMBERS
from sciprec.scenario.loading import Ensemble
from sciprec.tools.trace.attribution import stored_in
from sciprec.tools.trace.problem import SEED, moved
from sciprec.workbench.batch.plan import Run
from sciprec.workbench.kinds import kind_of

SAMPLES = 8
"""Runs with perturbed inputs, at least."""
_LARGEST_PERTURBATION = 0.1
StoredPart = tuple[xr.Dataset, Mapping[str, Fingerprint]]
"""The kept part of a run: values, and the fingerprints of all of them."""


def unit_of(backend: Backend) -> float:
    """One unit of a format, relative: the distance of neighbouring numbers at one."""
    return 2.0 * stored_in(backend).format.unit_roundoff


def has_ensemble(run: Run) -> bool:
    """Whether members of the scenario's own ensemble tell the noise: enough of them, whose initial
    values differ by no less than a unit of the run's format.
    """
    ensemble = run.scenario.ensemble
    kind = kind_of(run.scenario)
    of_inputs = kind.attributes.get(MEMBERS) == INPUTS
    if ensemble is None or kind.moved is not None or of_inputs:
        return False
    enough = ensemble.members > SAMPLES
    return enough and ensemble.amplitude >= unit_of(resolve_backend(run.backend))


def noise_runs(run: Run, perturbed: Any) -> list[Run]:
    """The runs that tell the noise of a run: members of its ensemble, or perturbed ones.

    Args:
        run: undisturbed.
        perturbed: as of a Request.
    """
    if has_ensemble(run):
        noisy = [replace(run, member=k) for k in range(1, run.scenario.members)]
    else:
        noisy = [perturbed(run, k) for k in range(1, SAMPLES + 1)]
    return [
        replace(
            noise_run, file=f"noise{k}__{run.file}",
            scenario=noise_run.scenario.model_copy(update={"trace": None}),
        )
        for k, noise_run in enumerate(noisy, 1)
    ]  # fmt: skip


def perturbed_inputs(run: Run, sample: int) -> Run:
    """A scenario's run with its inputs moved by up to one unit of the format that it stores in.

    Args:
        run: undisturbed.
        sample: which perturbation, from 1.
    """
    scenario, kind = run.scenario, kind_of(run.scenario)
    backend = resolve_backend(run.backend)
    if kind.moved is None:
        unit = min(unit_of(backend), _LARGEST_PERTURBATION)
        ensemble = Ensemble(members=SAMPLES + 1, perturbation=unit, seed=SEED)
        return replace(
            run, member=sample, scenario=scenario.model_copy(update={"ensemble": ensemble})
        )
    rng = np.random.default_rng((SEED, sample))
    table = kind.moved(scenario.table, lambda x: moved(float(x), backend, rng, units=1.0))
    return replace(run, scenario=scenario.model_copy(update={scenario.kind: table}))


def spread(runs: Sequence[StoredPart]) -> dict[str, dict[str, float]]:
    """The spread by variable: METRICS of the two runs that are farthest apart in each.

    Args:
        runs: the undisturbed one first; others of other shapes do not count.
    """
    _, of_first = runs[0]
    result = {}
    for name in runs[0][0].data_vars:
        alike = [
            (dataset, prints) for dataset, prints in runs
            if name in dataset and prints[name].shape == of_first[name].shape
        ]  # fmt: skip
        largest = dict.fromkeys(METRICS, 0.0)
        for (first, of_one), (second, of_other) in itertools.combinations(alike, 2):
            apart = differences(first, second, of_one, of_other, str(name))
            largest = {metric: max(largest[metric], apart[metric]) for metric in METRICS}
        result[str(name)] = largest
    return result
