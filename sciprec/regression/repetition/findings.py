"""The answer: whether runs that were made again left the same bits, and what that depends on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sciprec.drawing.templating import write_listed
from sciprec.foundation.listing import Listing, Shown, Summary, counted
from sciprec.regression.repetition.circumstances import ASPECTS, Circumstance
from sciprec.regression.repetition.leavings import Difference

IDENTICAL = "identical"


@dataclass(frozen=True)
class SourceLine:
    """A line of source that explains a difference.

    Args:
        file, line, text: of the source.
        reason: in words.
    """

    file: str
    line: int
    text: str
    reason: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.text} ({self.reason})"


@dataclass(frozen=True)
class ComparedRun:
    """A run, and how it compares with the first one.

    Args:
        circumstance: in what it was another one.
        difference: where it differs first; None where it does not.
        counted: whether a difference says something about the circumstance; not where runs like the
            first one differ already.
    """

    circumstance: Circumstance
    difference: Difference | None
    counted: bool = True


@dataclass(frozen=True)
class Finding:
    """A circumstance that results depend on.

    Args:
        aspect: of ASPECTS.
        ways: of WAYS.
        words: of the circumstances, for people.
        difference: the first one; None where a check of memory alone found it.
        places: lines of source that explain it; empty where none was found.
    """

    aspect: str
    ways: tuple[str, ...]
    words: str
    difference: Difference | None
    places: tuple[SourceLine, ...] = ()

    def sentences(self) -> list[str]:
        """Sentences on the difference, and on the lines that explain it."""
        where = f": {self.difference.words}" if self.difference else ""
        sentence = f"differs {self.aspect} ({self.words}){where}"
        return [sentence, *(f"  {place}" for place in self.places)]


@dataclass(frozen=True, repr=False)
class Repetition(Shown):
    """The result of runs that were made again.

    Args:
        target: what was run.
        runs: all, the first one first.
        findings: what the results depend on; empty where all bits are the same.
        notes: what was not varied or counted.
    """

    target: str
    runs: tuple[ComparedRun, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()

    @property
    def identical(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    @property
    def answer(self) -> str:
        """The answer in a few words; of several findings that which may explain the others."""
        aspects = {finding.aspect for finding in self.findings}
        return next((f"differs {aspect}" for aspect in ASPECTS if aspect in aspects), IDENTICAL)

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "target": self.target,
            "verdict": self.answer,
            "runs": [
                {"run": n, "other": run.circumstance.words, "counted": run.counted,
                 "difference": run.difference and asdict(run.difference)}
                for n, run in enumerate(self.runs, 1)
            ],
            "findings": [asdict(finding) for finding in self.findings],
            "notes": list(self.notes),
        }  # fmt: skip

    def sentences(self) -> list[str]:
        """Sentences on the findings, then the notes."""
        ordered = sorted(self.findings, key=lambda finding: ASPECTS.index(finding.aspect))
        return [line for finding in ordered for line in finding.sentences()] + list(self.notes)

    def html(self, path: str | Path) -> Path:
        """Write a page: every run with its circumstance, and what explains a difference.

        Args:
            path: of the file.

        Returns:
            The path.

        Raises:
            InputError: it cannot be written, or what is there is no page of sciprec.
        """
        runs = {"Runs": runs_listing(self.runs)}
        verdict = f"{self.target}: {self.answer}."
        return write_listed(path, f"Repeated: {self.target}", verdict, runs, self.sentences())

    def _summary(self) -> Summary:
        title = f"{self.target}: {self.answer} ({counted(len(self.runs), 'run')})"
        return Summary(title, runs_listing(self.runs), tuple(self.sentences()))


def runs_listing(runs: Sequence[ComparedRun]) -> Listing:
    """One line per run."""
    rows = [
        (str(n), run.circumstance.words, "–" if n == 1 else _result(run))
        for n, run in enumerate(runs, 1)
    ]
    return Listing(("run", "what is other", "verdict"), (), rows)


def _result(run: ComparedRun) -> str:
    if run.difference is None:
        return "identical"
    return run.difference.words if run.counted else f"(differs) {run.difference.words}"
