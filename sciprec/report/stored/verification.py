"""Verification of a batch: whether its files, its list of runs and its page are as written."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sciprec.foundation.arguments import path as checked_path
from sciprec.foundation.errors import InputError
from sciprec.foundation.listing import Listing, Shown, Summary, counted
from sciprec.report.stored.batch import digest_of_batch, has_file, read_manifest, verified
from sciprec.results.output import files
from sciprec.results.output.folders import MANIFEST, PAGE, pages_of
from sciprec.results.output.proven import damage_of

VERIFIED, UNVERIFIED, NO_FILE = "verified", "not verified", "no file"
DAMAGED, MISSING = "damaged", "missing"
STATES = (VERIFIED, UNVERIFIED, NO_FILE, DAMAGED, MISSING)
"""Verified; made before files had digests; of a run that failed without leaving a file; and two
that are no longer what was written.
"""
_ON_PAGE = re.compile(r'<code id="digest">([0-9a-f]{64})</code>')


@dataclass(frozen=True, repr=False)
class VerifiedBatch(Shown):
    """The states of all files of a batch's folder.

    Args:
        folder: of the batch.
        table: a dictionary for the list of runs, for each file of a run, and for the page: file,
            state (one of `STATES`), reason (a sentence; empty where the state says it all).
        digest: of the values of all runs, which the page shows, too; empty where not every file has
            one.
        command: the command line that makes again what is missing or damaged; empty where the list
            of runs does not tell it.
    """

    folder: Path
    table: tuple[dict[str, str], ...]
    digest: str
    command: str

    @property
    def good(self) -> bool:
        """Whether nothing is damaged or missing."""
        return not any(row["state"] in (DAMAGED, MISSING) for row in self.table)

    def counts(self) -> dict[str, int]:
        """The number of files in each state; states without files are omitted."""
        states = [row["state"] for row in self.table]
        return {state: states.count(state) for state in STATES if state in states}

    def sentences(self) -> list[str]:
        """The digest, and what to do."""
        lines = [f"digest of the batch: {self.digest}"] if self.digest else []
        if not self.good:
            again = f"`{self.command}`" if self.command else "its `sciprec run` again"
            lines.append(f"to make again what is damaged or missing: {again}")
        return lines

    def listing(self) -> Listing:
        """A line for each file."""
        rows = [(row["file"], row["state"], row["reason"]) for row in self.table]
        return Listing(("file", "state"), (), rows, ("reason",))

    def _summary(self) -> Summary:
        counts = ", ".join(f"{count} {state}" for state, count in self.counts().items())
        title = f"{counted(len(self.table), 'file')} of the batch in {self.folder}: {counts}"
        return Summary(title, self.listing(), tuple(self.sentences()))


def verify(folder: str | Path) -> VerifiedBatch:
    """Read every file of a batch from end to end, and see whether it holds what was written.

    The list of runs says by a digest which values the file of each run holds, and is sealed itself;
    each file has digests of its own for every variable and record; the page shows a digest of all.

    Args:
        folder: that `sciprec run` wrote.

    Returns:
        A VerifiedBatch: `good`, and in `table` the state of each file.

    Raises:
        InputError: the folder holds no batch.

    Example:
        `sciprec.verify("reports/mine").good`
    """
    folder = Path(checked_path("the folder", folder))
    try:
        content = read_manifest(folder)
    except InputError as error:
        if not (folder / MANIFEST).is_file():
            raise
        unlisted = [_row_of(files.verify(path)) for path in _unlisted(folder)]
        return VerifiedBatch(folder, (_row(MANIFEST, DAMAGED, str(error)), *unlisted), "", "")
    digest = digest_of_batch(content)
    rows = [_row(MANIFEST, VERIFIED if digest else UNVERIFIED, "" if digest else _before())]
    for entry in content["runs"]:
        if not has_file(entry):
            rows.append(_row(entry["file"], NO_FILE, entry["failure"]))
        else:
            rows.append(_row_of(verified(folder, entry)))
    scenarios = dict.fromkeys(entry["scenario"] for entry in content["runs"])
    rows += [_of_page(folder, page, digest) for page in (PAGE, *pages_of(scenarios).values())]
    return VerifiedBatch(folder, tuple(rows), digest, content["command"])


def _unlisted(folder: Path) -> list[Path]:
    """Files that look like those of runs, where no list says which these are."""
    endings = tuple(files.SUFFIXES.values())
    return sorted(path for path in folder.iterdir() if path.name.endswith(endings))


def _row_of(checked: files.Verified) -> dict[str, str]:
    if checked.damage:
        missing = checked.damage == files.MISSING
        return _row(checked.path.name, MISSING if missing else DAMAGED, damage_of(checked))
    if checked.sealed:
        return _row(checked.path.name, VERIFIED)
    return _row(checked.path.name, UNVERIFIED, _before())


def _of_page(folder: Path, page: str, digest: str) -> dict[str, Any]:
    """Whether a page states the digest of the files."""
    path = folder / page
    if not os.path.lexists(path):
        return _row(page, MISSING, f"'{path}' is missing; `sciprec report {folder}` writes it")
    try:
        stated = _ON_PAGE.search(path.read_text(encoding="utf-8", errors="replace"))
    except OSError as error:
        return _row(page, DAMAGED, f"'{path}' cannot be read ({error.strerror})")
    if digest and (stated is None or stated[1] != digest):
        message = "states no digest" if stated is None else "states the digest of other runs"
        return _row(page, DAMAGED, f"'{path}' {message}; `sciprec report {folder}` writes it again")
    return _row(page, VERIFIED if digest else UNVERIFIED, "" if digest else _before())


def _row(file: str, state: str, reason: str = "") -> dict[str, str]:
    return {"file": file, "state": state, "reason": reason}


def _before() -> str:
    return f"made before {files.SEALED_SINCE}"
