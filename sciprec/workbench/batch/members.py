"""The identity of an ensemble's members, as far as a batch knows it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sciprec.workbench.batch.plan import Run
from sciprec.workbench.kinds import Member


def member_of(run: Run) -> Member | None:
    """The member that a run's model is given; None for member 0."""
    if run.member == 0:
        return None
    ensemble = run.scenario.ensemble
    return Member(run.member, ensemble.amplitude, ensemble.seed or 0)


def identity_of(run: Run) -> dict[str, Any]:
    """The keys of an ensemble that the numbers of a run depend on; empty for member 0."""
    member = member_of(run)
    return {} if member is None else asdict(member)
