"""Greeks by Monte Carlo, each with a bound of its whole error, in any arithmetic.

The course is that of a price, with bumps small enough. A difference D_h stands for a derivative
with an error c h^2 and higher powers of the bump h, so that D_2h - D_h = 3 c h^2 + 15 c' h^4 + ...:
its upper limit bounds the error of D_h, thrice in the first power, and unless c' h^2 is between
-2/7 and -1/7 of c, in the second as well. It is measured on paths of its own, in binary64; bumps
are halved where it is clearly too large. Level integration has no bump, and its bound is zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from sciprec.foundation.listing import Listing, Summary
from sciprec.heston.bounds import levels as level
from sciprec.heston.bounds.interval import BINARY64, BoundedPrices
from sciprec.heston.bounds.mixed import path_cost
from sciprec.heston.bounds.pilot import budget_of
from sciprec.heston.bounds.plan import run_levels, start
from sciprec.heston.bounds.pricing import (
    PARTS as PRICE_PARTS,
)
from sciprec.heston.bounds.pricing import BoundedResult, bounded_listing, how_made, varying
from sciprec.heston.bounds.request import Accepted, PricingRequest
from sciprec.heston.bounds.state import Pricing, PricingState, extend, used, useless
from sciprec.heston.bounds.statistics import GroupMoments, quantile
from sciprec.heston.parameters import Model
from sciprec.heston.payoff_registry import Payoff
from sciprec.heston.semianalytic import analytic
from sciprec.heston.sensitivities.bumps import Bumps, first_bumps
from sciprec.heston.sensitivities.greek_estimates import ROWS
from sciprec.heston.sensitivities.greek_sampler import GreekSampler
from sciprec.heston.sensitivities.rare_greeks import RareGreeks
from sciprec.heston.simulation.monitoring import steps_for
from sciprec.instruments.assigning.assignment import every_place_met
from sciprec.precision import Backend

if TYPE_CHECKING:
    import xarray as xr

NAMES = ("price", *analytic.GREEKS)
_PARTS = (*PRICE_PARTS, "difference")
PARTS = ("value", "bound", *_PARTS, "tolerance")


@dataclass(frozen=True)
class Greek:
    """One greek with its bound: numbers for one payoff, arrays (n_payoffs,) for several.

    Attributes:
        value: the derivative.
        bound: |value - true value| exceeds it with probability 1 - confidence at most.
        statistical, discretisation, rounding, difference: its parts, which add up to it; the last
            one is that of differences which stand for derivatives.
        tolerance: the largest bound that was accepted.
    """

    value: float | np.ndarray
    bound: float | np.ndarray
    statistical: float | np.ndarray
    discretisation: float | np.ndarray
    rounding: float | np.ndarray
    difference: float | np.ndarray
    tolerance: float | np.ndarray


@dataclass(frozen=True, repr=False)
class GreeksResult(BoundedResult):
    """Price and greeks with their bounds; result["delta"] is a Greek.

    Attributes:
        greeks: the names: price, delta, gamma, vega_v0, vega_sqrt_v0, rho, theta.
        value, bound, statistical, discretisation, rounding, difference, tolerance: as in Greek,
            shape (n_greeks,) for one payoff, (n_payoffs, n_greeks) for several.
        bumps: the Bumps of the differences.

    The rest is as in BoundedResult.
    """

    greeks: tuple[str, ...]
    value: np.ndarray
    bound: np.ndarray
    statistical: np.ndarray
    discretisation: np.ndarray
    rounding: np.ndarray
    difference: np.ndarray
    tolerance: np.ndarray
    bumps: Bumps

    def __getitem__(self, name: str) -> Greek:
        """Return the Greek of a name."""
        at = self.greeks.index(name)
        return Greek(**{part: getattr(self, part)[..., at] for part in PARTS})

    def to_dataset(self) -> xr.Dataset:
        """Return an xarray Dataset with dimensions payoff, maturity, strike, backend and greek."""
        from sciprec.results.output.bounded_prices import greeks_dataset

        return greeks_dataset(self)

    def rows(self) -> list[dict[str, Any]]:
        """Rows of greeks with the parts of their bounds, as plain data."""
        rows = []
        for k, payoff in enumerate(self.payoffs):
            for column, name in enumerate(self.greeks):
                row = {"payoff": payoff.name} | asdict(cast(Any, payoff)) | {"greek": name}
                row |= {n: float(np.atleast_2d(getattr(self, n))[k, column]) for n in PARTS}
                rows.append(row | {"met": row["bound"] <= row["tolerance"]})
        return rows

    def _summary(self) -> Summary:
        return self._listed("greeks", greek_listing(self.rows()))


def greek_listing(rows: Sequence[Mapping[str, Any]]) -> Listing:
    """One line per payoff and greek: value, bound, and the bound's parts.

    Args:
        rows: of `GreeksResult.rows`; with `analytic`, the true value or None, where that is known.
    """
    return bounded_listing(rows, "value", _PARTS, varying(rows), "analytic", ("greek",))


def greeks(
    model: Model,
    payoffs: Payoff | Sequence[Payoff],
    *,
    backend: str | Backend = "fp32",
    tolerance: float | str = 0.01,
    confidence: float | str = 0.95,
    seed: int = 0,
    scheme: str = "quadratic_exponential_martingale",
    max_paths: int = 2**26,
    max_seconds: float | None = None,
    compensation: str = "correction",
    threads: int = 1,
) -> GreeksResult:
    """Price payoffs and their derivatives until the bound of each one's whole error is met.

        delta         dV/dS
        gamma         d2V/dS2
        vega_v0       dV/dv0
        vega_sqrt_v0  dV/d sqrt(v0) = 2 sqrt(v0) vega_v0
        rho           dV/d rate
        theta         dV/dt as time passes: all dates come nearer, fixings too; of one date -dV/dT

    All per unit: years, units of currency, 1 (not per cent or day). The price comes along.

    Args:
        model: a Model.
        payoffs: one payoff or a sequence.
        backend: arithmetic of the cheap paths, a name, a spec string or a Backend.
        tolerance: share t of each greek that its bound may have. Where a greek is small, that is a
            share of the price over the parameter: t V / S, t V / S^2, t V / (2 max(v0, theta)),
            t V T, t V / T for delta, gamma, vega_v0, rho, theta.
        confidence: probability, between 0 and 1, with which each bound holds, taken by itself.
        seed: integer in [0, 2**64). The same seed gives the same bits on any number of threads,
            unless max_seconds limits the run.
        scheme: name of a path scheme.
        max_paths: simulated paths of all levels and bumped models together.
        max_seconds: None, or the time after which no more paths are started; how many that
            may be is found once, from the pace of the first.
        compensation: "none", "carry" or "correction", as for sciprec.heston.price.
        threads: blocks of paths that are simulated at a time.

    Returns:
        A GreeksResult.

    Raises:
        InputError: an argument outside its domain.

    Precision: every operation of the cheap paths is rounded in the backend; what is made of the
        paths, differences and bounds is binary64, in a fixed order.
    Source: Glasserman (2004), ch. 7, for differences on the same random numbers and conditioning;
        the bound is that of sciprec.heston.bounds.interval, with a part for the differences
        (at the top of this module).
    """
    request = PricingRequest.of(
        model, payoffs, backend=backend, tolerance=tolerance, confidence=confidence, seed=seed,
        scheme=scheme, max_paths=max_paths, max_seconds=max_seconds, compensation=compensation,
        threads=threads,
    )  # fmt: skip
    sampler = _sampler(request)
    limit = _limit(sampler, request.accepted)
    rare = RareGreeks(
        model, request.payoffs, request.risk, scheme, request.seed,
        names=sampler.names, width=sampler.width,
    )  # fmt: skip
    budget = budget_of(request, sampler)
    with every_place_met(request.backend):
        state, bound, difference, magnified = run_greeks(
            Pricing(request, sampler, limit, request.risk, budget, rare)
        )
    parts = {
        "value": bound.price,
        "bound": bound.total + difference + magnified,
        "statistical": bound.statistical,
        "discretisation": bound.discretisation,
        "rounding": bound.rounding + magnified,
        "difference": difference,
        "tolerance": limit(bound.price),
    }
    tables = {name: _with_root(model, _table(sampler, rows)) for name, rows in parts.items()}
    good = np.all(tables["bound"] <= tables["tolerance"])
    values: dict[str, Any] = {n: t if request.several else t[0] for n, t in tables.items()}
    return GreeksResult(
        greeks=NAMES,
        **values,
        bumps=greek_sampler(state).bumps,
        **how_made(request, [state], [] if good else [_missed(tables, state, rare)]),
    )


def _sampler(request: PricingRequest) -> GreekSampler:
    """Return the sampler with its first bumps."""
    model, payoffs, scheme = request.model, request.payoffs, request.scheme
    longest = max(payoff.maturity for payoff in payoffs)
    step_years = longest / steps_for(payoffs, max(1, int(np.ceil(longest))))
    bumps = first_bumps(model, payoffs, scheme, step_years)
    return GreekSampler(model, payoffs, scheme, bumps, request.carried)


def _limit(sampler: GreekSampler, share: Accepted) -> Accepted:
    """Return the function from a sampler's rows to the largest accepted bounds."""
    model = sampler.model
    years = np.array([payoff.maturity for payoff in sampler.requested])
    per = np.ones((len(years), len(ROWS)))
    per[:, ROWS.index("delta")] = 1 / model.spot
    per[:, ROWS.index("gamma")] = 1 / model.spot**2
    per[:, ROWS.index("vega_v0")] = 0.5 / max(model.v0, model.theta)
    per[:, ROWS.index("rho")] = years
    per[:, ROWS.index("theta")] = 1 / years
    estimated = np.array([[name in names for name in ROWS] for names in sampler.names])

    def limit(rows: np.ndarray) -> np.ndarray:
        values = np.abs(_table(sampler, rows))
        return share(np.maximum(values, values[:, :1] * per))[estimated]

    return limit


def _table(sampler: GreekSampler, rows: np.ndarray) -> np.ndarray:
    """Return a sampler's rows as (n_payoffs, len(ROWS)); for payments proportional to the spot
    the delta is the price over the spot, and the gamma zero."""
    table, start = np.zeros((len(sampler.requested), len(ROWS))), 0
    for k, names in enumerate(sampler.names):
        table[k, [ROWS.index(name) for name in names]] = rows[start : start + len(names)]
        start += len(names)
        if "delta" not in names:
            table[k, ROWS.index("delta")] = table[k, 0] / sampler.model.spot
    return table


def _with_root(model: Model, table: np.ndarray) -> np.ndarray:
    """Return a table with the columns NAMES, the derivative to sqrt(v0) among them."""
    columns = dict(zip(ROWS, table.T, strict=True))
    columns["vega_sqrt_v0"] = 2 * np.sqrt(model.v0) * columns["vega_v0"]
    return np.stack([columns[name] for name in NAMES], axis=1)


def _missed(tables: dict[str, np.ndarray], state: PricingState, rare: RareGreeks) -> str:
    """Say that, and by how much, a tolerance was missed."""
    bound, accepted = tables["bound"], tables["tolerance"]
    payoffs = rare.payoffs
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(accepted > 0, bound / accepted, np.where(bound > 0, np.inf, 0.0))
    row, column = divmod(int(np.argmax(np.nan_to_num(ratio, nan=np.inf))), bound.shape[1])
    if useless(state)[rare.price_rows[row]]:
        return (
            f"no path tells {payoffs[row].name} from a worthless option: its price is within "
            f"{bound[row, 0]:.2g} of zero, so that its greeks meet no share, and no more paths "
            "were simulated"
        )
    parts = ", ".join(f"{name} {tables[name][row, column]:.2g}" for name in _PARTS)
    return (
        f"the bound {bound[row, column]:.4g} of {NAMES[column]} of {payoffs[row].name} misses the "
        f"tolerance {accepted[row, column]:.4g}: {parts}; allow more paths or a larger tolerance"
    )


BUMP_RISK = 0.1  # share of 1 - confidence that the bound of the differences gets
BUMP_SHARE = 0.15  # of the tolerance that the differences may take
LOOKS = 8  # at the differences; each has its part of the risk
CLEAR = 3.0  # standard errors from which on a change by doubled bumps is clearly not zero
MOST_HALVINGS = 6  # at a time
BUDGET_SHARE = 0.15  # of the paths
LEAST_ROOM = 0.3  # of the tolerance that is left to everything else


def run_greeks(pricing: Pricing) -> tuple[PricingState, BoundedPrices, np.ndarray, np.ndarray]:
    """Choose the bumps, and leave to the levels what the differences leave of the tolerance.

    Args:
        pricing: its sampler is a GreekSampler, its rare RareGreeks.

    Returns:
        What is known in the end, the Bound of the levels, and what it lacks: bounds of the error of
        the differences, and of binary64 in them, each of shape (rows,).
    """
    state, limit, rare = start(pricing), pricing.accepted, cast("RareGreeks", pricing.rare)
    accepted = np.where(useless(state), np.inf, limit(state.pilot.price))
    difference = _measure_bumps(state, accepted, BUMP_RISK * pricing.risk)
    sampler = greek_sampler(state)
    unit = BINARY64 * state.pilot.n_steps * sampler.amplification
    magnified = unit * np.repeat(np.abs(state.pilot.price[rare.price_rows]), rare.counts)

    def remaining(prices):
        largest = limit(prices)
        return np.maximum(largest - difference - magnified, LEAST_ROOM * largest)

    risk = (1 - BUMP_RISK) * pricing.risk
    state.pricing = replace(pricing, sampler=sampler, accepted=remaining, risk=risk)
    return state, run_levels(state), difference, magnified


def greek_sampler(state: PricingState) -> GreekSampler:
    """Return the sampler with the bumps of a pricing of greeks."""
    return cast("GreekSampler", state.pilot.estimator.sampler)


def _measure_bumps(state, accepted, risk):
    """Choose the bumps; return the bound of the error of the differences."""
    aim, paths = BUMP_SHARE * accepted, level.LEAST_PATHS
    state.bumps = _bumps_level(state)
    for look in range(LOOKS):
        extend(state, state.bumps, paths, BUDGET_SHARE)
        moments = state.bumps.moments
        size = np.abs(moments.mean[:, 0])
        spread = np.sqrt(moments.covariance_of_mean()[:, 0, 0])
        difference = size + quantile(risk / LOOKS, moments.freedom) * spread
        if np.all(difference <= aim) or not np.all(np.isfinite(size)):
            return difference
        wide = (size > CLEAR * spread) & (size > 0.5 * aim)
        spent = used(state, state.bumps)
        enough = np.any(spent >= 0.5 * BUDGET_SHARE * state.pricing.budget.total)
        if look == LOOKS - 1 or (not wide.any() and enough):
            return difference
        if wide.any():
            state.given_up += spent
            _narrow(state, wide, size / np.maximum(aim, np.finfo(float).tiny))
            state.bumps = _bumps_level(state)
        else:
            paths = 4 * moments.paths


def _narrow(state, wide, excess):
    """Halve the bumps of greeks that are too far off as often as their errors ask for."""
    sampler, halvings = greek_sampler(state), {}
    names = [name for names in sampler.names for name in names]
    times = np.clip(np.ceil(0.5 * np.log2(2 * np.maximum(excess, 1e-9))), 1, MOST_HALVINGS)
    for name, yes, n in zip(names, wide, times, strict=True):
        if yes:
            halvings[name] = max(halvings.get(name, 0), int(n))
    narrower = sampler.with_bumps(sampler.bumps.halved(halvings))
    estimator = replace(state.pilot.estimator, sampler=narrower)
    state.pilot = replace(state.pilot, estimator=estimator)


def _bumps_level(state):
    """Return a new level of D_2h - D_h."""
    estimator, n_steps, sampler = state.pilot.estimator, state.pilot.n_steps, greek_sampler(state)
    seed = level.derived_seed(state.pricing.request.seed, f"bumps {sampler.bumps}")
    doubled = replace(estimator, sampler=sampler.with_bumps(sampler.bumps.times(2.0)))

    def sample(block):
        wide, narrow = (
            sampler(block, backend="fp64", n_steps=n_steps, seed=seed)
            for sampler in (doubled, estimator)
        )
        return (wide - narrow)[:, None]

    moments, cost = GroupMoments(len(sampler.payoffs), 1), 2 * path_cost("fp64", n_steps)
    return level.MultilevelTerm("bumps", "fp64", n_steps, cost, sample, moments, 2 * sampler.width)
