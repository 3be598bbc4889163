"""Scenarios of kind "heston": a grid of options, priced on paths."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from typing import Any, ClassVar, Literal

import xarray as xr
from pydantic import model_validator

from sciprec.facets.compensation.keys import CARRY, CORRECTION, CorrectionChoice, CorrectionKey
from sciprec.facets.policy.keys import WithPolicies
from sciprec.facets.tables import key
from sciprec.foundation.errors import InputError
from sciprec.foundation.limits import HESTON_MODEL, PATHS
from sciprec.precision.streams import philox4x32, seed_words
from sciprec.results.output.stated import MARKET, stated
from sciprec.scenario.loading import Scenario
from sciprec.scenario.variant import Variant
from sciprec.workbench.kinds import heston_grid
from sciprec.workbench.kinds.heston_sections import HestonRun
from sciprec.workbench.kinds.kind import NUMBER_BYTES, Estimate, Kind, Surroundings

_PATH_STEP = 1.2e-8
"""Seconds of a step of a path in fp64 (docs/lab/heston.md)."""
_ROUNDED = (
    "Every operation of the paths is rounded in the arithmetic{residuals}. Payments, their "
    "means, errors and bounds are computed from the paths in binary64."
)
_STREAM = 0x656E73  # the last word of the counter, which no path of the same seed has


class HestonScenario(WithPolicies, Scenario):
    """A scenario of kind "heston"."""

    kind: Literal["heston"] = key('"heston"', 'kind = "heston"')
    heston: HestonRun = key("the table [heston]", "[heston.model]")
    compensation: CorrectionKey = ()
    takes_compensation: ClassVar[bool] = False

    @staticmethod
    def stages_of_policies() -> list[str]:
        """Names of the stages of the paths."""
        from sciprec.heston.schemes.stages import HESTON_STAGES

        return [stage.name for stage in HESTON_STAGES]

    @model_validator(mode="after")
    def _members_draw_their_own_paths(self) -> HestonScenario:
        ensemble = self.ensemble
        if ensemble is not None and (ensemble.perturbation, ensemble.seed) != (None, None):
            raise ValueError(
                "table [ensemble] has a perturbation or a seed; members of kind 'heston' draw "
                "paths of their own from the seed in [heston.simulation]: give 'members' alone"
            )
        return self

    @model_validator(mode="after")
    def _corrected_where_a_bound_is_made(self) -> HestonScenario:
        names = [choice.name for choice in self.compensation]
        if CORRECTION in names and self.heston.simulation.tolerance is None:
            raise ValueError(
                "the key 'compensation' has \"correction\", and only prices with a 'tolerance' are "
                "corrected; accepted with 'n_paths': \"none\" and \"carry\"; or give a tolerance "
                "instead"
            )
        return self

    def choices(self) -> tuple[CorrectionChoice, ...]:
        """The corrections of its runs: the carry where none is given."""
        return self.compensation or (CorrectionChoice(name=CARRY),)


def _run(table: HestonRun, variant: Variant, around: Surroundings) -> xr.Dataset:
    """Price the grid; members draw paths of their own, and the truth carries residuals."""
    if around.member is not None:
        seed = member_seed(table.simulation.seed, around.member.member)
        simulation = table.simulation.model_copy(update={"seed": seed})
        table = table.model_copy(update={"simulation": simulation})
    compensation = variant.compensation.resolved() or CARRY
    dataset = heston_grid.run(
        table, variant.backend, compensation, around.threads, around.monitor
    )
    model = table.model
    market = {"spot": model.spot, "rate": model.rate, "dividend_yield": model.dividend_yield}
    market["payoff"] = table.payoffs.kind
    return dataset.assign_attrs({MARKET: json.dumps(market, sort_keys=True)})


def member_seed(seed: int, member: int) -> int:
    """The seed of a member: two of Philox's words at (seed, member), 62 bits.

    Args:
        seed: of the scenario, in [0, 2**63).
        member: 0 has the scenario's own seed.
    """
    if member == 0:
        return seed
    low, high, *_ = philox4x32(member, 0, 0, _STREAM, *seed_words(seed))
    return ((high << 32) | low) >> 2


def _estimate(table: HestonRun, variant: Variant, slowness: float) -> Estimate:
    simulation, payoffs = table.simulation, table.payoffs
    prices = len(payoffs.strikes) * len(payoffs.maturities_years)
    megabytes = 10 * prices * NUMBER_BYTES / 1e6
    if simulation.tolerance is not None:
        return Estimate(f"{prices} prices until {simulation.tolerance} is met", None, megabytes)
    steps = round(simulation.steps_per_year * payoffs.maturities_years[-1])
    work = simulation.n_paths * steps
    return Estimate(
        f"{simulation.n_paths:,} paths of {steps} steps", work * _PATH_STEP * slowness, megabytes
    )


def _kernels(table: HestonRun, variant: Variant) -> list[Any]:
    simulation = table.simulation
    return [table.payoffs.kind, simulation.scheme, simulation.tolerance is None]


def _brief(table: HestonRun) -> HestonRun:
    """A few paths, or prices that nearly any bound is good enough for."""
    simulation = table.simulation
    few = (
        {"tolerance": "90%", "max_paths": PATHS[0]}
        if simulation.n_paths is None
        else {"n_paths": min(simulation.n_paths, 16)}
    )
    return table.model_copy(update={"simulation": simulation.model_copy(update=few)})


def moved_model(table: Any, move: Callable[[float], float]) -> Any:
    """The table, the parameters of its model moved where they stay in their domain."""
    model = table.model.model_dump()
    for name, value in model.items():
        with contextlib.suppress(InputError):
            model[name] = HESTON_MODEL[name].number(name, move(value))
    return table.model_copy(update={"model": type(table.model)(**model)})


def heston_sources(table: Any) -> tuple[Any, ...]:
    """The registered payoff and scheme."""
    from sciprec.heston.payoff_registry import payoff_named
    from sciprec.heston.schemes.catalogue import scheme_named

    return payoff_named(table.payoffs.kind), scheme_named(table.simulation.scheme)


def _residuals(table: HestonRun) -> list[tuple[str, int, int]]:
    """The carries of a block of paths."""
    simulation = table.simulation
    paths = min(simulation.block_paths, simulation.n_paths or simulation.block_paths)
    return [("log_spot", paths, 1), ("variance", paths, 1)]


def _watched(table: HestonRun) -> tuple[str, ...]:
    """The states of a path."""
    from sciprec.heston.simulation.observing import STATES

    return STATES


HESTON = Kind(
    "heston",
    HestonScenario,
    _run,
    check=heston_grid.check,
    attributes=stated(primary="price", rounded=_ROUNDED, truth_carries=True),
    variables=heston_grid.stored_variables,
    estimate=_estimate,
    compile_seconds=7.0,  # docs/lab/engine.md
    kernels=_kernels,
    brief=_brief,
    sources=heston_sources,
    ensembles=True,
    moved=moved_model,
    residuals=_residuals,
    watched=_watched,
)
