"""Runs of Heston scenarios: a grid of options with a fixed number of paths, or with a bound."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from sciprec.facets.monitor.attributes import with_monitor
from sciprec.foundation.errors import InputError
from sciprec.foundation.timing import Timing
from sciprec.results.output.bounded_prices import (
    PRICED,
    RELATIVE_ROUNDING,
    VOLATILITIES,
    surface_dataset,
)
from sciprec.results.output.dataset import fixed_point_attributes, prices_dataset, timing_attributes
from sciprec.scenario.asked_price import price_tolerance
from sciprec.scenario.variant import Variant
from sciprec.tools.monitor.observed import Observed
from sciprec.tools.monitor.plan import WatchPlan
from sciprec.workbench.kinds.heston_sections import HestonPayoffs, HestonRun, HestonSimulation

_PER_STRIKE = ("price", "standard_error", "analytic_price", "implied_volatility")
_PER_MATURITY = ("martingale", "martingale_standard_error", "nonfinite_paths")
_TRUTHS = ("analytic_price", "analytic_implied_volatility")


def stored_variables(table: HestonRun) -> tuple[str, ...]:
    """Names of the variables that a run's file holds."""
    if table.simulation.tolerance is None:
        return (*_PER_STRIKE, *_PER_MATURITY)
    return (*PRICED, *VOLATILITIES, RELATIVE_ROUNDING, *_TRUTHS)


def run(
    table: HestonRun,
    backend: str,
    compensation: str,
    threads: int = 1,
    monitor: WatchPlan | None = None,
) -> xr.Dataset:
    """Price a grid of options, one simulation per maturity.

    Args:
        table: of the scenario.
        backend: arithmetic of the paths.
        compensation: "none", "carry" or, where a bound is made, "correction".
        threads: blocks of paths that are simulated at a time.
        monitor: looks at the first paths to the longest maturity; or None.
    """
    how = _how(table.simulation, backend) | {"compensation": compensation, "threads": threads}
    if table.simulation.tolerance is None:
        n_steps = _steps_to(table.payoffs.maturities_years[-1], table.simulation)
        observed = _observed(table, how, monitor, n_steps)
        dataset = _with_a_number_of_paths(table, how)
    else:
        dataset, n_steps = _with_a_bound(table, how)
        observed = _observed(table, how, monitor, n_steps)
    return dataset if observed is None else with_monitor(dataset, observed)


def _observed(
    table: HestonRun, how: dict[str, Any], monitor: WatchPlan | None, n_steps: int
) -> Observed | None:
    """A monitor's view of the first paths to the longest maturity; None without a monitor. The
    integral of the variance is read by prices with a bound alone.
    """
    if monitor is None:
        return None
    from sciprec import heston
    from sciprec.heston.simulation.observing import STATES, observed_paths

    model, maturity = heston.Model(**table.model.model_dump()), table.payoffs.maturities_years[-1]
    return observed_paths(
        model, maturity, monitor, n_paths=table.simulation.n_paths, n_steps=n_steps,
        carried=how["compensation"] != "none",
        judged=STATES[:2] if table.simulation.tolerance is None else STATES,
        **_how(table.simulation, how["backend"]),
    )  # fmt: skip


def _steps_to(maturity: float, simulation: HestonSimulation) -> int:
    """Steps of a number of paths."""
    return max(1, math.ceil(maturity * simulation.steps_per_year))


def check(table: HestonRun, variant: Variant) -> None:
    """Look at what only the model knows, before anything is computed.

    Raises:
        InputError: a parameter is outside its domain, the scheme is unknown or cannot serve, or a
            barrier is hit already.
    """
    from sciprec import heston
    from sciprec.heston.payoff_registry import check_payoffs
    from sciprec.heston.schemes.catalogue import scheme_named

    model = heston.Model(**table.model.model_dump())
    scheme = scheme_named(table.simulation.scheme)
    if table.simulation.tolerance is not None and not scheme.lifts:
        raise InputError(
            f"scheme {scheme.name!r} makes no bound; accepted with 'tolerance': a scheme that "
            "lifts, such as 'quadratic_exponential_martingale'"
        )
    years = table.payoffs.maturities_years
    check_payoffs([p for year in years for p in grid_options(table.payoffs, year)], model)


def grid_options(table: HestonPayoffs, maturity: float) -> list[Any]:
    """The payoffs of one maturity, by strike.

    Args:
        table: of the scenario.
        maturity: years.

    Raises:
        InputError: the payoff is unknown, has no strike, or takes other parameters.
    """
    from sciprec.heston.payoff_registry import payoff_grid, payoff_named, payoffs

    if "strike" not in payoff_named(table.kind).parameters:
        names = sorted(name for name, entry in payoffs().items() if "strike" in entry.parameters)
        raise InputError(f"payoff {table.kind!r} has no strike; accepted: {', '.join(names)}")
    parameters = {"fixings": table.fixings, "barrier": table.barrier} | (table.parameters or {})
    return payoff_grid(table.kind, table.strikes, [maturity], **parameters)


def _with_a_number_of_paths(table: HestonRun, how: dict[str, Any]) -> xr.Dataset:
    """Means of payments and their standard errors."""
    from sciprec import heston
    from sciprec.heston.semianalytic.black import implied_volatilities
    from sciprec.heston.simulation import paths
    from sciprec.heston.simulation.fixed_point import added

    model = heston.Model(**table.model.model_dump())
    strikes, maturities = table.payoffs.strikes, table.payoffs.maturities_years
    simulation = table.simulation
    how = how | {"block_paths": simulation.block_paths}
    grid = {name: np.empty((len(maturities), len(strikes))) for name in _PER_STRIKE}
    per_maturity = {name: np.empty(len(maturities)) for name in _PER_MATURITY}
    timing, fixed_points = Timing(), []
    for row, maturity in enumerate(maturities):
        options = grid_options(table.payoffs, maturity)
        # a tiny run first compiles the kernels, so that the time of the real one is its own
        paths.estimate(model, options, **(how | {"n_paths": 2, "n_steps": 1, "threads": 1}))
        n_steps = _steps_to(maturity, simulation)
        how |= {"n_paths": simulation.n_paths, "n_steps": n_steps}
        estimate = paths.estimate(model, options, **how)
        grid["analytic_price"][row] = _analytic_prices(model, options)
        for name in ("price", "standard_error"):
            grid[name][row] = getattr(estimate, name)
        grid["implied_volatility"][row] = implied_volatilities(model, options, estimate.price)
        for name in _PER_MATURITY:
            per_maturity[name][row] = getattr(estimate, name)
        timing += estimate.timing
        fixed_points.append(estimate.fixed_point)
    return prices_dataset(
        strikes,
        maturities,
        grid | per_maturity,
        n_paths=simulation.n_paths,
        blow_up="",
        **timing_attributes(timing),
        **fixed_point_attributes(added(fixed_points)),
    )


def _with_a_bound(table: HestonRun, how: dict[str, Any]) -> tuple[xr.Dataset, int]:
    """Prices whose bounds meet a tolerance, one pricing per maturity, at the maturity's own steps;
    and the steps of most paths to the last one.

    The measured time is that of the paths of all levels, without the pilots.
    """
    from sciprec import heston
    from sciprec.heston.bounds.pricing import price
    from sciprec.heston.simulation.fixed_point import added

    model = heston.Model(**table.model.model_dump())
    tolerance = price_tolerance(table.simulation.tolerance)
    how = how | {"tolerance": tolerance.value, "relative": tolerance.relative}
    for name in ("confidence", "max_paths"):
        if getattr(table.simulation, name) is not None:
            how[name] = getattr(table.simulation, name)
    results, extra = [], []
    for maturity in table.payoffs.maturities_years:
        options = grid_options(table.payoffs, maturity)
        results.append(price(model, options, **how))
        extra.append(_truths(model, options))
    grid = {name: np.stack([row[name] for row in extra]) for name in extra[0]}
    dataset = surface_dataset(
        table.payoffs.strikes, table.payoffs.maturities_years, results, grid,
        blow_up="", notes=_notes(table, results),
        **timing_attributes(levels_timing(results)),
        **fixed_point_attributes(added(result.fixed_point for result in results)),
    )  # fmt: skip
    return dataset, next(row.n_steps for row in results[-1].levels if row.level == "base")


def levels_timing(results: Sequence[Any]) -> Timing:
    """The processor time of the paths of all levels."""
    rows = [level for result in results for level in result.levels]
    return sum((Timing(row.seconds, row.seconds_low, row.seconds_high) for row in rows), Timing())


def _how(simulation: HestonSimulation, backend: str) -> dict[str, Any]:
    """Arguments that both kinds of pricing take."""
    return {"backend": backend, "scheme": simulation.scheme, "seed": simulation.seed}


def _notes(table: HestonRun, results: Sequence[Any]) -> str:
    """The pricings' own remarks, as JSON: a list of sentences."""
    notes = []
    for maturity, result in zip(table.payoffs.maturities_years, results, strict=True):
        notes += [f"maturity {maturity:g}: {sentence}" for sentence in result.sentences]
    return json.dumps(notes)


def _analytic_prices(model: Any, options: Sequence[Any]) -> np.ndarray:
    """Semi-analytic prices; NaN for payoffs that have none."""
    from sciprec.heston.semianalytic import analytic

    prices = [analytic.price(model, o) if analytic.has_price(o) else math.nan for o in options]
    return np.array(prices)


def _truths(model: Any, options: Sequence[Any]) -> dict[str, np.ndarray]:
    """Semi-analytic prices, and their implied volatilities for Europeans."""
    from sciprec.heston.semianalytic.black import implied_volatilities

    exact = _analytic_prices(model, options)
    return {
        "analytic_price": exact,
        "analytic_implied_volatility": implied_volatilities(model, options, exact),
    }
