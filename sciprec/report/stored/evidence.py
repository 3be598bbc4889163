"""Evidence beside pointwise errors for the runs of a stored batch, its ensembles included."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import xarray as xr

from sciprec.results.comparison.evidence.gathering import Members, evidence
from sciprec.results.output import proven
from sciprec.results.output.stated import INPUTS, MEMBERS

MOST_BYTES_KEPT = 2**27
"""Of an ensemble's members, which several tests go through, and each arithmetic anew."""

if TYPE_CHECKING:
    from sciprec.report.stored.batch import StoredBatch, StoredRun


class StoredMembers(Sequence[xr.Dataset]):
    """The datasets of some files, each read when it is asked for; small ones are kept.

    Args:
        paths: of the files.
        expected: of each the digest that the list of runs has.
    """

    def __init__(self, paths: Sequence[Path], expected: Sequence[str]) -> None:
        self.paths, self.expected = tuple(paths), tuple(expected)
        self.kept: dict[Path, xr.Dataset] = {}
        self.room = MOST_BYTES_KEPT

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index):
        path = self.paths[index]
        if path in self.kept:
            return self.kept[path]
        dataset = proven.available(path, self.expected[index])
        if dataset.nbytes <= self.room:
            self.kept[path] = dataset
            self.room -= dataset.nbytes
        return dataset


def evidence_of(batch: StoredBatch, run: StoredRun) -> dict[str, Any] | None:
    """The evidence of one run of a batch (`sciprec.results.comparison.evidence.gathering`).

    Args:
        batch: with the further members of the scenario's ensemble.
        run: of member 0.

    Returns:
        Plain data; None for the truth, where the run or its truth failed, or where members differ
        in their inputs, so that each has to be good enough by itself.
    """
    truth = truth_of(batch, run)
    if truth is None or truth.dataset is None or run.is_truth or run.comparison is None:
        return None
    if truth.dataset.attrs.get(MEMBERS) == INPUTS:
        return None
    members = (_members(batch, run.scenario, label) for label in (truth.label, run.label))
    return evidence(truth.dataset, run.dataset, Members(*members))


def truth_of(batch: StoredBatch, run: StoredRun) -> StoredRun | None:
    """The fp64 run of the same scenario."""
    return next((other for other in batch.of_scenario(run.scenario) if other.is_truth), None)


def _members(batch: StoredBatch, scenario: str, label: str) -> StoredMembers:
    """The members of one arithmetic's ensemble beyond 0 that have a file."""
    members = [
        member for member in batch.further
        if (member.scenario, member.label) == (scenario, label) and member.has_file
    ]  # fmt: skip
    paths = tuple(batch.folder / member.file for member in members)
    states = [path.stat() if path.exists() else None for path in paths]
    return _as_they_are(
        paths, tuple(member.entry.get("digest", "") for member in members),
        tuple(s and (s.st_mtime_ns, s.st_size) for s in states),
    )  # fmt: skip


@lru_cache(maxsize=2)
def _as_they_are(
    paths: tuple[Path, ...], expected: tuple[str, ...], states: tuple
) -> StoredMembers:  # fmt: skip
    """The members in files as they are now: those of the truth serve one arithmetic after another.

    Args:
        paths, expected: as in `StoredMembers`.
        states: what tells the contents of the files from earlier ones.
    """
    return StoredMembers(paths, expected)
