"""The plan of a monitor: which variables of a run it watches, and how often."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sciprec.foundation.arguments import integer, names, refused
from sciprec.foundation.errors import InputError, meant
from sciprec.foundation.listing import counted
from sciprec.tools.monitor.alerts import checked_rules
from sciprec.tools.monitor.history import OFF, SUMMARIES, checked_level

EVERY = 36
"""Steps from one watched step to the next, without a value given."""
INCREMENT, TENDENCY = "increment:", "tendency:"


def with_changes(variables: Sequence[str]) -> tuple[str, ...]:
    """The watchable names of prognostic variables: themselves, what a step adds to them, and their
    tendency at its beginning.
    """
    return (
        *variables, *(f"{INCREMENT}{name}" for name in variables),
        *(f"{TENDENCY}{name}" for name in variables),
    )  # fmt: skip


@dataclass(frozen=True)
class WatchPlan:
    """The variables to watch, how much of them to keep, and how often.

    Args:
        watch: names of variables.
        level: see `history.LEVELS`.
        every: of steps each so many is watched; of fewer steps the last one.
        rules: of alerts with their values, as pairs.
        drift_every: of steps each so many is made in fp64, too; 0: none.
        told: called after a watched step with a function that says what was seen so far; or None.
            No number depends on it.
    """

    watch: tuple[str, ...]
    level: int = SUMMARIES
    every: int = EVERY
    rules: tuple[tuple[str, float], ...] = ()
    drift_every: int = 0
    told: Callable[[Any], None] | None = None

    def identity(self) -> tuple[Any, ...]:
        """The settings that decide what is kept."""
        return self.watch, self.level, self.every, self.drift_every, "lost" in dict(self.rules)

    def watches(self, step: int) -> bool:
        """Whether a step is watched."""
        return step % self.every == 0

    def drifts(self, step: int) -> bool:
        """Whether a step is made in fp64, too."""
        return self.drift_every > 0 and step % self.drift_every == 0

    def within(self, steps: int) -> WatchPlan:
        """The plan of a run of so many steps: where they are fewer than `every`, the last one is
        watched.

        Raises:
            InputError: no step is made in fp64, too, where that is wanted.
        """
        if self.level != OFF and self.drift_every > steps:
            raise InputError(
                f"drift_every is {self.drift_every:,}, and the run has {counted(steps, 'step')}, "
                f"of which none would be made in fp64; give drift_every from 1 to {steps:,}"
            )
        return replace(self, every=min(self.every, steps))

    def pieces(self, before: int, count: int) -> Iterator[int]:
        """Cut the next `count` steps into pieces that end where something is to be done."""
        end = before + count
        paces = [each for each in (self.every, self.drift_every) if each]
        while before < end:
            following = min(end, *(before + each - before % each for each in paces))
            yield following - before
            before = following


def checked_plan(
    watch: str | Sequence[str], level: Any = SUMMARIES, every: Any = EVERY,
    alerts: Mapping[str, Any] | None = None, callback: Callable[[Any], None] | None = None,
    drift_every: Any = None,
) -> WatchPlan:  # fmt: skip
    """A plan, as far as it can be checked without a model.

    Raises:
        InputError: a level, a number of steps or a rule is none.
    """
    watched = tuple(dict.fromkeys(names("watch", watch)))
    rules = tuple(checked_rules(alerts, watched).items())
    each = integer("every", every, 1, 2**31, "a whole number of steps from 1")
    drift = 0
    if drift_every is not None:
        drift = integer("drift_every", drift_every, 1, 2**31, "a whole number of steps from 1")
    return WatchPlan(watched, checked_level(level), each, rules, drift, callback)


def plan_from(plan: WatchPlan | Mapping[str, Any] | None) -> WatchPlan | None:
    """A plan from what a user gives; None where nothing is to be watched.

    Raises:
        InputError: as `checked_plan`, or it is neither, or a table with other keys.
    """
    keys = ("watch", "level", "every", "alerts", "drift_every")
    if isinstance(plan, Mapping):
        for name in plan:
            if name not in keys:
                raise InputError(
                    f"monitor has the unknown key {name!r}; known: {', '.join(keys)}"
                    f"{meant(name, keys)}"
                )
        if "watch" not in plan:
            raise InputError(
                'monitor has no key \'watch\'; give names, such as {"watch": ["vorticity"]}'
            )
        plan = checked_plan(**plan)
    if plan is not None and not isinstance(plan, WatchPlan):
        raise refused("monitor", plan, 'a table such as {"watch": ["vorticity"], "every": 36}')
    return plan if plan is not None and plan.level != OFF else None


def require_known(plan: WatchPlan, variables: Sequence[str], whose: str) -> None:
    """Make sure that a model has what is to be watched.

    Raises:
        InputError: it has not, with the nearest name.
    """
    unknown = [name for name in plan.watch if name not in variables]
    if unknown:
        near = dict.fromkeys(_nearest(name, variables) for name in unknown)
        raise InputError(
            f"watch names {', '.join(map(repr, unknown))}, which {whose} does not have; known: "
            f"{', '.join(variables)}{''.join(near)}"
        )


def _nearest(name: str, places: Sequence[str]) -> str:
    """The nearest name, if any: behind "increment:" that word itself is like none."""
    before, _, variable = name.rpartition(":")
    alike = [place for place in places if place.rpartition(":")[0] == before] or places
    near = meant(variable, [place.rpartition(":")[2] for place in alike])
    return meant(name, alike) if near or alike is places else ""
