"""The result of `mend`: proposals that runs have proven, and the others that were tried."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from sciprec.foundation.listing import Listing, Shown, Summary, counted

MODEL_HEADS = ("proposal", "error left", "of before", "operations", "bits", "source")
HEADS = ("proposal", "line", "error left", "bits, mean", "worst", "operations", "source")
_ENOUGH = 0.1


class _Proposed(Shown):
    """Something else to run, with a row below heads."""

    heads: ClassVar[tuple[str, ...]]
    row: Callable[..., tuple[str, ...]]
    title: Any
    patch: Any
    cautions: Any

    def as_dict(self) -> dict[str, Any]:
        """Everything but a function as plain data."""
        return {n: v for n, v in vars(self).items() if n != "kernel"}

    def _summary(self) -> Summary:
        listing = Listing(self.heads[:1], self.heads[1:-1], [self.row()], self.heads[-1:])
        return Summary(self.title, listing, (*self.cautions, *self.patch.splitlines()))


class _Mended(Shown):
    """Proposals, below what was before them."""

    heads: ClassVar[tuple[str, ...]]
    proposals: Any
    tried: Any
    verdict: Any
    notes: Any
    _before: Callable[..., tuple[str, ...]]

    def as_dict(self) -> dict[str, Any]:
        """Everything but functions as plain data."""
        return vars(self) | {
            "proposals": [p.as_dict() for p in self.proposals],
            "tried": [asdict(t) for t in self.tried],
        }

    def rows(self) -> list[tuple[str, ...]]:
        """Words of a table below `heads`: what was before, then proposals."""
        return [self._before(), *(p.row() for p in self.proposals)] if self.proposals else []

    def _summary(self) -> Summary:
        droppable = ("worst", "line")
        listing = Listing(self.heads[:1], self.heads[1:-1], self.rows(), self.heads[-1:], droppable)
        notes = [*self.notes, *self._cautions()]
        if self.tried:
            more = counted(len(self.tried), "other")
            notes.append(f"{more} tried, see `.tried`: {self.tried[0]}")
        return Summary(self.verdict, listing, tuple(notes))

    def _cautions(self) -> list[str]:
        return []


@dataclass(frozen=True, repr=False, eq=False)
class Proposal(_Proposed):
    """One way to write a kernel so that it errs less, run on all inputs.

    Attributes:
        title: the rules that were applied.
        line: the first line that the first one changes.
        error: what is left, relative l2, of the result with the largest, on the inputs given.
        bits, worst: mean and largest error of its numbers, log2(1 + units in the last place).
        operations: how many more are done on the inputs given; negative where they are fewer.
        patch: unified diff, which `git apply` takes at the top of the repository.
        kernel: the mended function, without decorators; `lift` takes it.
        source: author and year of each rule.
        cautions: what to know before it is used.
    """

    title: str
    line: int
    error: float
    bits: float
    worst: float
    operations: int
    patch: str
    kernel: Callable[..., Any] = field(repr=False)
    source: str
    cautions: tuple[str, ...] = ()

    heads = HEADS

    def row(self) -> tuple[str, ...]:
        """Words of a table below `HEADS`."""
        return (
            self.title, str(self.line), f"{self.error:.2g}", f"{self.bits:.1f}",
            f"{self.worst:.1f}", f"{self.operations:+,}", self.source,
        )  # fmt: skip


@dataclass(frozen=True)
class RefusedCandidate:
    """A candidate that is not offered.

    Attributes:
        title, line: as those of a proposal; 0 of a model, where it is not of a line.
        why: what its run showed.
    """

    title: str
    line: int
    why: str

    def __str__(self) -> str:
        where = f" in line {self.line}" if self.line else ""
        return f"{self.title}{where} {self.why}"


@dataclass(frozen=True, repr=False, eq=False)
class Mend(_Mended):
    """Proposals for the line that a trace blames, each proven by runs.

    Attributes:
        kernel, backend: what was mended.
        error, bits, worst: of the kernel as it is, as those of a proposal.
        proposals: the one that leaves least first.
        tried: what is not offered, and why.
        verdict: what to do, in a sentence.
        notes: what was not run, or could not be.
    """

    kernel: str
    backend: str
    error: float
    bits: float
    worst: float
    proposals: tuple[Proposal, ...]
    tried: tuple[RefusedCandidate, ...]
    verdict: str
    notes: tuple[str, ...] = ()

    @property
    def recommended(self) -> Proposal | None:
        """The proposal that the verdict names; None without any."""
        return self.proposals[0] if self.proposals else None

    heads = HEADS

    def _before(self) -> tuple[str, ...]:
        return ("as it is", "–", f"{self.error:.2g}", f"{self.bits:.1f}", f"{self.worst:.1f}",
                "–", "")  # fmt: skip

    def _cautions(self) -> list[str]:
        return [f"{p.title}: {caution}" for p in self.proposals[:1] for caution in p.cautions]


@dataclass(frozen=True, repr=False, eq=False)
class ModelProposal(_Proposed):
    """One way to run a scenario's model so that it errs less, run and held to fp64.

    Attributes:
        title: what is changed.
        error: what is left, relative l2, of several results the root of the sum of squares.
        left: over the error before.
        operations: how many more are done in a run.
        bits: of executed operations, over those before: 1.05 where 5 % more are moved and computed.
        patch: unified diff of the scenario file, which `git apply` takes at the top of the
            repository; "" where there is no file, or its keys are written in another way.
        changes: keys of the scenario -> values, in place of a kernel's mended function:
            `trace_scenario(scenario, ..., changes=changes)` runs it, and a file says it.
        source: author and year.
        cautions: what to know before it is used.
    """

    title: str
    error: float
    left: float
    operations: int
    bits: float
    patch: str
    changes: dict[str, Any]
    source: str
    cautions: tuple[str, ...] = ()

    heads = MODEL_HEADS

    def row(self) -> tuple[str, ...]:
        """Words of a table below `MODEL_HEADS`."""
        return (
            self.title, f"{self.error:.2g}", f"{self.left:.1%}", f"{self.operations:+,}",
            f"{self.bits - 1.0:+.1%}", self.source,
        )  # fmt: skip


@dataclass(frozen=True, repr=False, eq=False)
class ModelMend(_Mended):
    """Proposals for a scenario's model, each proven by a run.

    Attributes:
        model, backend: what was mended.
        error: of the model as it is, as that of a proposal.
        proposals: the one that leaves least first.
        tried: what is not offered, and why.
        verdict: what to do, in a sentence.
        notes: what was not run, or could not be.
    """

    model: str
    backend: str
    error: float
    proposals: tuple[ModelProposal, ...]
    tried: tuple[RefusedCandidate, ...]
    verdict: str
    notes: tuple[str, ...] = ()

    @property
    def recommended(self) -> ModelProposal | None:
        """The proposal that the verdict names: the cheapest that leaves a tenth of the error, else
        the one that leaves least; None without any.
        """
        enough = [p for p in self.proposals if p.left <= _ENOUGH] or self.proposals[:1]
        return min(enough, key=lambda p: p.bits, default=None)

    heads = MODEL_HEADS

    def _before(self) -> tuple[str, ...]:
        return ("as it is", f"{self.error:.2g}", "100.0%", "–", "–", "")
