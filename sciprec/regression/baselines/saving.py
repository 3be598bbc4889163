"""Saving of a request's answers as a baseline with their noise."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sciprec.foundation import whole
from sciprec.foundation.errors import InputError
from sciprec.foundation.origin import commit_around, provenance
from sciprec.regression.baselines.answering import PLAIN, Answers, How, answers
from sciprec.regression.baselines.records import (
    FOLDER,
    RECORD,
    KeptRun,
    Record,
    record_names,
    require_name,
    require_new,
    write_record,
)
from sciprec.regression.baselines.requests import BaselineRequest, name_of
from sciprec.results.output.folders import alone_in

SAVED = "saved"
"""The reason of a baseline that is new."""
_SAVING = ".saving-"
"""Start of the name of a folder with the runs of a baseline that is not there yet."""
_MADE_BY = ("sciprec", "numpy", "numba", "llvmlite", "scipy", "python", "system", "processor",
            "simd")  # fmt: skip


def save_request(
    request: BaselineRequest, *, name: str = "", folder: str | Path = FOLDER,
    batch: Path | None = None, unversioned: bool = False, how: How = PLAIN,
) -> Record:  # fmt: skip
    """Compute the runs of a request, and those that measure its noise, and save both as a baseline.

    Args:
        request: what is asked.
        name: of the baseline; left out, the request's.
        folder: of all baselines.
        batch: a folder of `sciprec run` that has the runs already; those of the noise are computed.
        unversioned: whether the folder need not be in a repository with a commit.
        how: runs are computed.

    Raises:
        InputError: there is a baseline of that name, the folder cannot be written or is in no
            repository, or the batch is of something else.
    """
    name, folder = name or request.name, Path(folder)
    require_name(name)
    with writable(folder):
        require_new(name, folder)
        commit = required_commit(folder, unversioned)
        with kept_runs(folder, name) as place:
            computed = answers(request, batch, how, place=place, noisy=True)
            return write_new(request, name, folder, computed, commit)


def write_new(
    request: BaselineRequest, name: str, folder: Path, computed: Answers, commit: str,
    history: Sequence[Mapping[str, Any]] = (), reason: str = SAVED,
    counts: Mapping[str, int] | None = None,
) -> Record:  # fmt: skip
    """Write a baseline of a request in place of the one of that name.

    Args:
        request: what was asked.
        name, folder: of the baseline.
        computed: the answers, with noise.
        commit: that it is of; empty where there is none.
        history: what was before.
        reason: why the numbers are as they are now.
        counts: how many variables had each verdict, against what was before.

    Raises:
        InputError: a run has left nothing, or the baseline cannot be written.
    """
    by_run, noise = computed
    without = ((n, answer.failure) for n, answer in by_run.items() if answer.values is None)
    failed = next(((name, failure) for name, failure in without if failure), None)
    if failed:
        raise InputError(
            f"{failed[0]} gives nothing to keep: {failed[1]}; correct it, or leave this arithmetic "
            "out with --backend"
        )
    places = {name_of(run): run.file for run in request.runs}
    runs, values = [], {}
    for run, answer in by_run.items():
        variables, words = noise[run]
        runs.append(KeptRun(
            run, places.get(run, ""), failure=answer.failure, variables=answer.fingerprints,
            noise=variables, noise_of=words, errors=answer.errors, pace=answer.pace,
            room=answer.room,
        ))  # fmt: skip
        if answer.values is not None:
            values[run] = answer.values
    made_by = {key: value for key, value in provenance().items() if key in _MADE_BY}
    entry = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"), "commit": commit, "reason": reason,
        "found": dict(counts or {}), "errors": {run.name: dict(run.errors) for run in runs},
    }  # fmt: skip
    record = Record(
        name, request.key, request.subject, request.asked, request.source, tuple(runs),
        made_by | {"commit": commit}, (*history, entry), folder,
    )  # fmt: skip
    write_record(record, values)
    return record


def required_commit(folder: Path, unversioned: bool) -> str:
    """The commit that a baseline is of.

    Raises:
        InputError: there is none, and that was not said to be right.
    """
    commit, why = commit_around(folder)
    if not commit and not unversioned:
        raise InputError(
            f"the folder '{folder}' of baselines has no commit to name ({why}); commit first, or "
            "keep baselines without one with --no-commit"
        )
    return commit


@contextlib.contextmanager
def kept_runs(folder: Path, name: str) -> Iterator[Path]:
    """A hidden folder for the runs of a baseline, for a `with` statement. It goes when the baseline
    is there; before, it stays, so that the next command goes on from it.

    Args:
        folder: of all baselines, held.
        name: of the baseline.

    Raises:
        InputError: that of the block, with a phrase on the folder where runs are in it.
    """
    place = folder / f"{_SAVING}{name}"
    place.mkdir(exist_ok=True)
    unseen = whole.write_text(place / ".gitignore", "*\n")
    try:
        yield place
    except BaseException as error:
        if set(place.iterdir()) == {unseen}:
            whole.remove(place)
        elif isinstance(error, InputError):
            raise InputError(
                f"{error}; runs that ended well are kept in '{place}', and the same command goes "
                "on from them"
            ) from None
        raise
    whole.remove(place)


@contextlib.contextmanager
def writable(folder: Path) -> Iterator[None]:
    """Hold the folder of baselines for a `with` statement, made where it is missing, and removed
    where it stays empty.

    Raises:
        InputError: it cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"the folder '{folder}' cannot be made ({error.strerror}); give one that you may write "
            "into with --folder"
        ) from None
    try:
        with alone_in(folder):
            whole.tidy(folder)
            for name in record_names(folder):  # a command was killed when its baseline was there
                if _is_older(folder / f"{_SAVING}{name}", folder / name / RECORD):
                    whole.remove(folder / f"{_SAVING}{name}")
            yield
    finally:
        with contextlib.suppress(OSError):
            folder.rmdir()


def _is_older(folder: Path, file: Path) -> bool:
    """Whether nothing in a folder was written after a file."""
    times = [path.stat().st_mtime for path in folder.rglob("*")]
    return bool(times) and max(times) < file.stat().st_mtime
