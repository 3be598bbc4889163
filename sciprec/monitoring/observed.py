"""What a monitor has seen of a run, ready for its file."""

from __future__ import annotations

from dataclasses import dataclass

from sciprec.monitoring.alerts import Alert
from sciprec.monitoring.history import History
from sciprec.monitoring.plan import Plan


@dataclass(frozen=True)
class Observed:
    """What a monitor has seen of a run.

    Args:
        plan: what was asked for.
        history: of the watched variables.
        alerts: what the rules found.
        step_seconds: the time step of a model whose steps have a length; else None.
    """

    plan: Plan
    history: History
    alerts: tuple[Alert, ...]
    step_seconds: float | None = None
