"""The course of a pricing with greeks: that of a price, and bumps small enough.

A difference D_h stands for a derivative with an error c h^2 and higher powers of the bump h, so
that D_2h - D_h = 3 c h^2 + 15 c' h^4 + ...: its upper limit bounds the error of D_h, thrice in the
first power, and unless c' h^2 is between -2/7 and -1/7 of c, in the second as well. It is measured
on paths of its own, in binary64; bumps are halved where it is clearly too large. Level integration
has no bump, and its bound is zero.
"""

from dataclasses import replace
from typing import cast

import numpy as np

from sciprec.heston.bounds import levels as level
from sciprec.heston.bounds.interval import BINARY64, Bound
from sciprec.heston.bounds.mixed import path_cost
from sciprec.heston.bounds.plan import run_levels, start
from sciprec.heston.bounds.state import Pricing, PricingState, extend, used, useless
from sciprec.heston.bounds.statistics import GroupMoments, quantile
from sciprec.heston.sensitivities.greek_sampler import GreekSampler
from sciprec.heston.sensitivities.rare_greeks import RareGreeks

BUMP_RISK = 0.1  # share of 1 - confidence that the bound of the differences gets
BUMP_SHARE = 0.15  # of the tolerance that the differences may take
LOOKS = 8  # at the differences; each has its part of the risk
CLEAR = 3.0  # standard errors from which on a change by doubled bumps is clearly not zero
MOST_HALVINGS = 6  # at a time
BUDGET_SHARE = 0.15  # of the paths
LEAST_ROOM = 0.3  # of the tolerance that is left to everything else


def run_greeks(pricing: Pricing) -> tuple[PricingState, Bound, np.ndarray, np.ndarray]:
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

    def left(prices):
        largest = limit(prices)
        return np.maximum(largest - difference - magnified, LEAST_ROOM * largest)

    risk = (1 - BUMP_RISK) * pricing.risk
    state.pricing = replace(pricing, sampler=sampler, accepted=left, risk=risk)
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
            one(block, backend="fp64", n_steps=n_steps, seed=seed) for one in (doubled, estimator)
        )
        return (wide - narrow)[:, None]

    moments, cost = GroupMoments(len(sampler.payoffs), 1), 2 * path_cost("fp64", n_steps)
    return level.Level("bumps", "fp64", n_steps, cost, sample, moments, 2 * sampler.width)
