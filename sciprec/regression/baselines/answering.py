"""Answers of a request's runs, computed or read from a batch; their noise, time and memory."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import xarray as xr

from sciprec.foundation.errors import InputError
from sciprec.foundation.whole import temporary_folder
from sciprec.regression.baselines.costs import (
    REPEATS,
    ratios_of,
    reference_room,
    reference_seconds,
    room_of,
)
from sciprec.regression.baselines.keeping import (
    Fingerprint,
    fingerprints,
    kept_values,
    relative_error,
)
from sciprec.regression.baselines.noise import StoredPart, has_ensemble, noise_runs, spread
from sciprec.regression.baselines.requests import BaselineRequest, differing, name_of
from sciprec.results.comparison.verdicts import stopped_early
from sciprec.results.output import files
from sciprec.results.output.dataset import PROCESSOR_SECONDS
from sciprec.results.output.stated import SCENARIO
from sciprec.workbench.batch.perform import perform
from sciprec.workbench.batch.plan import Outcome, Run
from sciprec.workbench.batch.workflow import completed


@dataclass(frozen=True)
class RunAnswer:
    """The results of one run, as a baseline compares them.

    Args:
        values, fingerprints: what a baseline keeps of it.
        failure: empty, or why it failed.
        errors: by variable, relative l2 errors of the kept values against fp64's.
        seconds: processor seconds of it and of the runs beside it; 0 where they are not known.
        pace: median and least of these, as ratios to a reference kernel.
        room: likewise, of the bytes that it takes.
    """

    values: xr.Dataset | None = None
    fingerprints: Mapping[str, Fingerprint] = field(default_factory=dict)
    failure: str = ""
    errors: Mapping[str, float] = field(default_factory=dict)
    seconds: tuple[float, ...] = ()
    pace: Mapping[str, float] = field(default_factory=dict)
    room: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class How:
    """Settings of the computation of runs: threads, and whom to tell of progress.

    Args:
        threads: how many runs at a time; None: one a processor.
        told: callbacks of `execute`: on_done, on_days, on_compiling.
        on_plan: called with all runs, before anything is computed.
        say: told what of a benchmark is being measured.
    """

    threads: int | None = None
    told: Mapping[str, Callable[..., None]] = field(default_factory=dict)
    on_plan: Callable[[Sequence[Run]], None] = lambda runs: None
    say: Callable[[str], None] = lambda text: None


ROUNDS = 3
"""Rounds of a benchmark, and of a run whose memory is measured."""
Answers = tuple[dict[str, RunAnswer], dict[str, tuple[dict[str, dict[str, float]], str]]]
"""The answer of each run by name; and by name the spread of its noise, and of what that is."""
PLAIN = How()
"""Default settings: one run a processor, without listeners."""


def answers(
    request: BaselineRequest, batch: Path | None, how: How, *, place: Path | None = None,
    noisy: bool = False, timed: bool = False, weighed: bool = False,
) -> Answers:  # fmt: skip
    """Compute or read the answers of the runs of a request, by name.

    Args:
        request: what is asked.
        batch: a folder that has its runs, or None: they are computed.
        how: they are.
        place: a folder for the files of runs, those that are in it already are kept; None: a
            temporary one.
        noisy: whether the runs that tell their noise are computed, too.
        timed: whether each is computed so often that its time is known.
        weighed: whether each is computed again, alone, so that its memory is known.

    Returns:
        The answer of each run; and for each the spread of its noise, and of what that is.

    Raises:
        InputError: the folder has not all the runs, or those of something else.
    """
    if request.timings is not None:
        return _only_timed(request.timings, how)
    noises = {run.file: noise_runs(run, request.perturbed) if noisy else [] for run in request.runs}
    todo = [] if batch is not None else list(request.runs)
    todo += [run for some in noises.values() for run in some]
    again = {
        run.file: [replace(run, file=f"again{k}__{run.file}") for k in range(1, REPEATS)]
        if timed else noises[run.file] for run in request.runs
    }  # fmt: skip
    todo += [run for some in again.values() for run in some] if timed else []
    result = {
        name_of(run): stored_run(batch, run, request.asked[name_of(run)])
        for run in (request.runs if batch is not None else ())
    }
    with contextlib.ExitStack() as stack:
        place = place or stack.enter_context(temporary_folder("baseline"))
        stack.enter_context(request.around())
        how.on_plan(todo)
        completed_runs = completed(todo, place, threads=how.threads, **how.told)
        outcomes = {outcome.file: outcome for outcome in completed_runs}
        if batch is None:
            result = {name_of(run): _answer_of(place, outcomes[run.file]) for run in request.runs}
        reference, bytes_taken = reference_seconds(), reference_room()
        for run in request.runs if batch is None else ():
            answer, repeats = result[name_of(run)], again[run.file]
            beside = [_answer_of(place, outcomes[repeat.file]).seconds for repeat in repeats]
            seconds = (*answer.seconds, *(s for some in beside for s in some))
            is_weighed = (noisy or weighed) and answer.values is not None and bytes_taken > 0.0
            room = ratios_of(_bytes_alone(run, place), bytes_taken) if is_weighed else {}
            result[name_of(run)] = replace(
                answer, seconds=seconds, pace=ratios_of(seconds, reference), room=room
            )
        noise = {
            name_of(run): _noise(run, result[name_of(run)], place, outcomes, noises[run.file])
            for run in (request.runs if noisy else ())
        }
    return _with_errors(request.runs, result), noise


def _only_timed(
    timings: Callable[[Callable[[str], None]], Mapping[str, float]], how: How
) -> Answers:
    """Measure a request that is only timed, several times, each beside the reference kernel."""
    ratios: dict[str, list[float]] = {}
    for k in range(1, ROUNDS + 1):
        how.say(f"round {k} of {ROUNDS}")
        seconds, reference = timings(how.say), reference_seconds()
        for name, amount in seconds.items():
            ratios.setdefault(name, []).append(max(amount, 0.0) / reference)
    result = {
        name: RunAnswer(seconds=tuple(some), pace=ratios_of(some, 1.0))
        for name, some in ratios.items()
    }
    return result, {name: ({}, "") for name in result}


def _bytes_alone(run: Run, folder: Path) -> list[float]:
    """The memory of a run, each time that it is made alone."""
    alone = [replace(run, file=f"alone{k}__{run.file}") for k in range(ROUNDS)]
    return [room_of(partial(perform, run_alone, str(folder))) for run_alone in alone]


def stored_run(batch: Path, run: Run, entry: Mapping[str, Any]) -> RunAnswer:
    """Read the answer of a run from a batch's folder.

    Raises:
        InputError: the file is of another scenario, or of another kernel or inputs.
    """
    if not batch.is_dir():
        raise InputError(f"there is no folder '{batch}'; give one that `sciprec run --out` wrote")
    path = batch / run.file
    if not path.exists():
        return RunAnswer(failure=f"there is no '{run.file}' in the batch's folder")
    dataset = files.read(path)
    stored = json.loads(dataset.attrs.get(SCENARIO, "{}"))
    scenario = entry["scenario"]
    differences = differing({"": stored}, {"": scenario}, missing=False)
    if differences:
        raise InputError(
            f"'{path}' is of another scenario than the baseline: {'; '.join(differences[:3])}; "
            "give the folder of a batch of the same scenario"
        )
    identity = getattr(run.scenario.table, "identity", "")
    if identity != stored[run.scenario.kind].get("identity", ""):
        raise InputError(
            f"'{path}' was made by another source of the kernel than there is now, or from other "
            "inputs; make the study again"
        )
    return _of_dataset(dataset, stopped_early(dataset.attrs))


def _answer_of(folder: Path, outcome: Outcome) -> RunAnswer:
    """Read the answer of a run that was computed into a folder."""
    if outcome.failure and not outcome.partial:
        return RunAnswer(failure=outcome.failure)
    return _of_dataset(files.read(folder / outcome.file), outcome.failure)


def _of_dataset(dataset: xr.Dataset, failure: str) -> RunAnswer:
    seconds = float(dataset.attrs.get(PROCESSOR_SECONDS, 0.0))
    return RunAnswer(kept_values(dataset), fingerprints(dataset), failure, seconds=(seconds,))


def _noise(
    run: Run, answer: RunAnswer, folder: Path, outcomes: Mapping[str, Outcome], runs: Sequence[Run]
) -> tuple[dict[str, dict[str, float]], str]:
    """The spread of a run's noise, and the words for its runs."""
    if answer.values is None:
        return {}, ""
    some = [_answer_of(folder, outcomes[perturbed.file]) for perturbed in runs]
    ended: list[StoredPart] = [
        (perturbed.values, perturbed.fingerprints)
        for perturbed in some
        if perturbed.values is not None
    ]
    words = "members of its ensemble" if has_ensemble(run) else (
        "runs whose inputs are one unit of the format apart")  # fmt: skip
    lost = next((perturbed.failure for perturbed in some if perturbed.values is None), "")
    if not ended:
        return {}, f"not known ({lost}): only the same bits are the same"
    count_words = f"{len(ended)} {words}"
    return spread([(answer.values, answer.fingerprints), *ended]), count_words


def _with_errors(runs: Sequence[Run], by_run: Mapping[str, RunAnswer]) -> dict[str, RunAnswer]:
    """The answers with errors against the truth of their member."""
    truths = {run.member: by_run[name_of(run)].values for run in runs if run.is_truth}
    return {
        name_of(run): _against(truths.get(run.member), by_run[name_of(run)], run) for run in runs
    }


def _against(truth: xr.Dataset | None, answer: RunAnswer, run: Run) -> RunAnswer:
    if truth is None or answer.values is None or run.is_truth:
        return answer
    alike = _alike(truth, answer.values)
    errors = {name: relative_error(truth, answer.values, name) for name in alike}
    return replace(answer, errors=errors)


def _alike(first: xr.Dataset, second: xr.Dataset) -> Iterator[str]:
    """Names of variables that are of one shape in both."""
    for name in first.data_vars:
        if name in second and first[name].shape == second[name].shape:
            yield str(name)
