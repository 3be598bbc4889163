"""The table [monitor] of a scenario: variables of its runs to watch, how often, and alerts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationInfo, WithJsonSchema, field_validator

from sciprec.facets.tables import Section, as_tuple, key
from sciprec.tools.monitor.alerts import RULES, checked_rules
from sciprec.tools.monitor.history import OFF, SUMMARIES
from sciprec.tools.monitor.plan import EVERY, WatchPlan, checked_plan

_Rules = Annotated[dict[str, Any], WithJsonSchema(
    {"type": "object", "additionalProperties": {"type": ["boolean", "number", "string"]}}
)]  # fmt: skip
_Names = Annotated[tuple[str, ...], Field(min_length=1), BeforeValidator(as_tuple)]


class MonitorRequest(Section):
    """The variables of a scenario's runs that a monitor watches."""

    watch: _Names = key(
        'an array of names of variables of the state, of "increment:NAME" or "tendency:NAME"',
        'watch = ["vorticity", "increment:vorticity"]',
    )  # fmt: skip
    level: int = Field(
        default=SUMMARIES, ge=OFF, le=3, examples=["level = 1"],
        description="a whole number: 0 (off), 1 (summaries), 2 (also exponents of each step and "
        "errors by part) or 3 (also whole arrays)",
    )  # fmt: skip
    every: int = Field(
        default=EVERY, ge=1, le=2**31, examples=["every = 36"],
        description="a whole number of steps from 1; of steps each so many is watched",
    )
    alerts: _Rules = Field(
        default_factory=dict, examples=["alerts = { jump = 10.0, moved = 1e-3 }"],
        description=f"a table of rules, of {', '.join(RULES)} and ranges such as \"h>0\"; nan and "
        "overflow are true and lost is 50% unless they are false",
    )  # fmt: skip

    drift_every: int | None = Field(
        default=None, ge=1, le=2**31, examples=["drift_every = 36"],
        description="a whole number of steps from 1; of steps each so many is made in fp64, too, "
        "which tells how far rounding has moved the run; left out, none is",
    )  # fmt: skip

    @field_validator("alerts")
    @classmethod
    def _rules_are_known(cls, rules: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        checked_rules(rules, info.data.get("watch"))
        return rules

    def plan(self, callback: Callable[[Any], None] | None = None) -> WatchPlan | None:
        """The plan of a run's monitor; None where it watches nothing.

        Args:
            callback: called with what was seen, now and then.
        """
        if self.level == OFF:
            return None
        how = self.watch, self.level, self.every, self.alerts, callback, self.drift_every
        return checked_plan(*how)


MonitorKey = Annotated[
    MonitorRequest | None,
    Field(
        examples=['monitor = { watch = ["vorticity"] }'],
        description="the table [monitor]; left out, nothing is watched",
    ),
]
