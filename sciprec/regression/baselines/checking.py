"""Checks of runs against their baseline: rows of verdicts, and notes for the reader."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from sciprec.foundation.errors import InputError
from sciprec.foundation.listing import Listing, Shown, Summary, counted
from sciprec.foundation.origin import commit_around, provenance
from sciprec.foundation.targets import MARKDOWN
from sciprec.regression.baselines.answering import PLAIN, How, RunAnswer, answers
from sciprec.regression.baselines.judging import (
    FAILING,
    VERDICTS,
    CheckRow,
    beyond,
    larger_row,
    rows_of,
    slower_row,
)
from sciprec.regression.baselines.keeping import METRICS
from sciprec.regression.baselines.records import Record
from sciprec.regression.baselines.requests import BaselineRequest, differing
from sciprec.regression.baselines.saving import kept_runs, required_commit, writable, write_new
from sciprec.results.comparison.junit import JUnitCase
from sciprec.results.comparison.wording import number

MOST_LINES = 30
"""Lines of a table in Markdown; further rows that are not identical are counted."""
_ENVIRONMENT = ("processor", "simd", "python", "numpy", "numba", "llvmlite", "scipy")


@dataclass(frozen=True, repr=False)
class Check(Shown):
    """Runs of today against a baseline.

    Args:
        name: of the baseline.
        rows: one for each variable of each run.
        since: the commit of the baseline; empty where it has none.
        commit: today's.
        notes: sentences about other machines, versions and sources.
        history: of the baseline.
        errors: by run and variable, errors against fp64 of today.
    """

    name: str
    rows: tuple[CheckRow, ...]
    since: str = ""
    commit: str = ""
    notes: tuple[str, ...] = ()
    history: tuple[Mapping[str, Any], ...] = ()
    errors: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def counts(self) -> dict[str, int]:
        """The number of variables with each verdict."""
        count = Counter(row.verdict for row in self.rows)
        return {verdict: count[verdict] for verdict in VERDICTS if count[verdict]}

    @property
    def within(self) -> bool:
        """Whether nothing is changed, of another pattern or, where that was asked, slower or
        larger.
        """
        return not any(row.verdict in FAILING for row in self.rows)

    @property
    def identical(self) -> bool:
        """Whether all bits are the same."""
        return set(self.counts) <= {"identical"}

    @property
    def better(self) -> tuple[CheckRow, ...]:
        """Rows beyond the noise whose error against fp64 is smaller than it was."""
        return tuple(
            row for row in self.rows
            if row.verdict == "changed" and row.error_now < row.error_then
        )  # fmt: skip

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        rows = [asdict(row) for row in self.rows]
        return {"name": self.name, "within": self.within, "found": self.counts, "rows": rows,
                "since": self.since, "commit": self.commit, "notes": list(self.notes)}  # fmt: skip

    def cases(self) -> list[JUnitCase]:
        """A test case for each row, with its metrics and their noise as properties."""
        return [
            JUnitCase(
                self.name, f"{row.run}, {row.variable}" if row.variable else row.run, row.verdict,
                row.reason, row.verdict in FAILING, _properties(row),
            )
            for row in self.rows
        ]  # fmt: skip

    def markdown(self) -> list[str]:
        """Lines of a list in Markdown: the verdicts, the notes, and which rows are better."""
        counts = ", ".join(f"{n} {verdict}" for verdict, n in self.counts.items())
        since = f" since `{self.since}`" if self.since else ""
        mark = ":x:" if not self.within else ":white_check_mark:"
        return [
            f"- {mark} **{_cell(self.name)}**: {counts}{since}",
            *(f"  - {_cell(note)}" for note in self.notes),
            *(
                f"  - better: {_cell(row.run)}, {_cell(row.variable)}: error "
                f"{number(row.error_now)}, was {number(row.error_then)}" for row in self.better
            ),
        ]  # fmt: skip

    def _summary(self) -> Summary:
        words = ", ".join(f"{count} {verdict}" for verdict, count in self.counts.items())
        title = f"baseline '{self.name}': {counted(len(self.rows), 'variable')}, {words}"
        return Summary(title, listing(self.rows), (*sentences(self), *self.notes))


def markdown(checks: Sequence[Check]) -> str:
    """A summary of checks: a line for each baseline, and a table of what is not identical."""
    bad = sum(not check.within for check in checks)
    count = f"{len(checks)} baseline{'s' if len(checks) != 1 else ''}"
    head = f"{bad} of {count} changed" if bad else f"{count}: nothing changed beyond the noise"
    lines = [MARKDOWN.mark, f"### Precision: {head}", ""]
    for check in checks:
        lines += check.markdown()
    unlike = [(c, row) for c in checks for row in c.rows if row.verdict != "identical"]
    if unlike:
        lines += ["", "| baseline | run | variable | verdict | why |", "|---|---|---|---|---|"]
        worst = sorted(unlike, key=lambda pair: pair[1].verdict not in FAILING)
        lines += [
            f"| {' | '.join(map(_cell, (c.name, r.run, r.variable, r.verdict, r.reason)))} |"
            for c, r in worst[:MOST_LINES]
        ]
        if len(worst) > MOST_LINES:
            lines += ["", f"and {len(worst) - MOST_LINES} more"]
    return "\n".join(lines) + "\n"


def _properties(row: CheckRow) -> dict[str, float]:
    numbers = {"error_then": row.error_then, "error_now": row.error_now}
    for metric in row.metrics:
        numbers |= {metric.name: metric.apart, f"{metric.name}_noise": metric.noise}
    return numbers


def _cell(text: str) -> str:
    """Words inside a table of Markdown."""
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def check_request(
    record: Record, request: BaselineRequest, *, batch: Path | None = None, how: How = PLAIN,
    slower: float | None = None, larger: float | None = None,
) -> Check:  # fmt: skip
    """Compute a request again, or read its runs from a batch, and compare them with a baseline.

    Args:
        record: the baseline.
        request: what is asked.
        batch: a folder of `sciprec run` that has the runs.
        how: runs are computed.
        slower: how many times longer a run may take; None: as long as it likes.
        larger: how many times more memory a run may take; None: as much as it likes.

    Raises:
        InputError: the baseline is of something else, or the batch is.
    """
    require_same(record, request)
    _require_factors(slower, larger, batch)
    given_answers, _ = answers(
        request, batch, how, timed=slower is not None, weighed=larger is not None
    )
    check = checked(record, request, given_answers)
    rows, notes = list(check.rows), list(check.notes)
    for stored in record.runs:
        now = given_answers.get(stored.name, RunAnswer())
        rows += filter(None, [slower_row(stored, now, slower)])
        rows += filter(None, [larger_row(stored, now, larger)] if larger is not None else [])
    for factor, which, words in ((slower, "pace", "time"), (larger, "room", "memory")):
        if factor is not None and not any(getattr(stored, which) for stored in record.runs):
            notes.append(
                f"the baseline knows nothing of the {words} of its runs, so that none can be told "
                "from it: it was made of a batch, by an earlier sciprec, or of a benchmark"
            )
    return replace(check, rows=tuple(rows), notes=tuple(notes))


def _require_factors(slower: float | None, larger: float | None, batch: Path | None) -> None:
    """Make sure that factors of time and memory can be held to.

    Raises:
        InputError: one is below 1, or the runs are in a batch.
    """
    for option, factor in (("--slower", slower), ("--larger", larger)):
        if factor is not None and batch is not None:
            raise InputError(
                f"{option} and --batch were both given; runs are measured beside a reference "
                "kernel, and the files of a batch were made elsewhere: leave out one of them"
            )
        if factor is not None and not factor >= 1.0:
            raise InputError(
                f"{option} is given {factor:g}; it takes a factor from 1 up, such as 1.5"
            )


def bless_request(
    record: Record, request: BaselineRequest, reason: str, *, batch: Path | None = None,
    unversioned: bool = False, how: How = PLAIN,
) -> Check:  # fmt: skip
    """Replace a baseline by today's answers to its request, and their noise, and note why.

    Args:
        record: what is replaced; what was asked may be something else by now.
        request: what is asked.
        reason: why the new numbers are right.
        batch, how: as for `check_request`.
        unversioned: whether there need not be a commit.

    Returns:
        The new numbers against the old ones.

    Raises:
        InputError: no reason was given, there is no commit, or a run has left nothing.
    """
    if not reason.strip():
        raise InputError("no reason was given; say with --reason why the new numbers are right")
    with writable(record.folder):
        commit = required_commit(record.folder, unversioned)
        with kept_runs(record.folder, record.name) as place:
            computed = answers(request, batch, how, place=place, noisy=True)
            check = checked(record, request, computed[0])
            write_new(
                request, record.name, record.folder, computed, commit, record.history,
                reason.strip(), check.counts,
            )  # fmt: skip
    return check


def checked(record: Record, request: BaselineRequest, by_name: Mapping[str, RunAnswer]) -> Check:
    """Compare answers, by the name of their run, with a baseline."""
    rows = [row for run in record.runs for row in rows_of(record, run, by_name.get(run.name))]
    return Check(
        record.name, tuple(rows), record.made_by.get("commit", ""),
        commit_around(record.folder)[0], notes_on(record, request, rows), record.history,
        {name: answer.errors for name, answer in by_name.items()},
    )  # fmt: skip


def require_same(record: Record, request: BaselineRequest) -> None:
    """Make sure that a baseline has the same request; other code is no matter.

    Raises:
        InputError: it is of something else.
    """
    phrases = differing(record.asked, request.asked)
    if phrases:
        end = f" and {len(phrases) - 3} more" if len(phrases) > 3 else ""
        raise InputError(
            f"baseline '{record.name}' is of something else: {'; '.join(phrases[:3])}{end}; accept "
            f"it with `sciprec baseline bless {record.name} --reason ...`, or save it under "
            "another name with --name"
        )


def notes_on(record: Record, request: BaselineRequest, rows: Sequence[CheckRow]) -> tuple[str, ...]:
    """Sentences that a reader has to know beside the verdicts."""
    now = provenance()
    changed = [
        f"{name} {record.made_by[name]} then, {now[name]} now"
        for name in _ENVIRONMENT if record.made_by.get(name, now[name]) != now[name]
    ]  # fmt: skip
    notes = []
    if changed:
        notes.append(f"another machine or other versions than the baseline's: {'; '.join(changed)}")
    elif any(row.verdict in ("noise", "changed") for row in rows):
        notes.append(
            "processor and versions are the baseline's, so that other bits come from other code"
        )
    if request.source != record.source:
        notes.append("the source behind it is not the baseline's")
    return tuple(notes)


def listing(rows: Sequence[CheckRow]) -> Listing:
    """One line per variable."""
    cells = []
    for row in rows:
        worst = max(row.metrics, key=beyond, default=None)
        cells.append((
            row.run, row.variable or "–", row.verdict,
            "–" if worst is None else METRICS[worst.name],
            number(worst.apart if worst else None), number(worst.noise if worst else None),
            number(row.error_then), number(row.error_now),
        ))  # fmt: skip
    return Listing(
        ("run", "variable", "verdict", "metric"),
        ("apart", "noise", "error then", "error now"),
        cells,
        droppable=("error then", "error now", "metric"),
    )


def sentences(check: Check) -> tuple[str, ...]:
    """A sentence for each row that is not identical."""
    return tuple(
        f"{row.run}{', ' + row.variable if row.variable else ''}: {row.verdict}: {row.reason}"
        for row in check.rows
        if row.verdict != "identical"
    )


def require_all(names: Sequence[str], every: Sequence[str], folder: Path) -> list[str]:
    """The baselines that are meant: those named, or all.

    Raises:
        InputError: there is none at all.
    """
    if not every and not names:
        raise InputError(
            f"there is no baseline in '{folder}'; save one with `sciprec baseline save "
            "SCENARIO.toml`, or give another folder with --folder"
        )
    return list(names) or list(every)
