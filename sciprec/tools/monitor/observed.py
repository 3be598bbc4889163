"""The observations of a run, ready for its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from sciprec.tools.monitor.alerts import Alert
from sciprec.tools.monitor.drift import Drift
from sciprec.tools.monitor.history import History
from sciprec.tools.monitor.lost import LostUpdates
from sciprec.tools.monitor.plan import WatchPlan

Elements = Mapping[str, tuple[np.ndarray, str]]


@dataclass(frozen=True)
class Observed:
    """The observations of a run by a monitor.

    Args:
        plan: what was asked for.
        history: of the watched variables.
        alerts: what the rules found.
        step_seconds: the time step of a model whose steps have a length; else None.
        drift: differences of steps from those in fp64; None where none were made.
        drift_fields: their signed sum at the end of the run, in SI units, by name of a field.
        elements: of a watched variable, where its elements are: by name of a coordinate the values
            of all elements and what they are, in words.
        sums: what updates of states have lost.
        not_looked_at: what nobody has looked at, and why, in words; or empty.
    """

    plan: WatchPlan
    history: History
    alerts: tuple[Alert, ...]
    step_seconds: float | None = None
    drift: Drift | None = None
    drift_fields: Mapping[str, np.ndarray] = field(default_factory=dict)
    elements: Mapping[str, Elements] = field(default_factory=dict)
    sums: tuple[LostUpdates, ...] = ()
    not_looked_at: str = ""
