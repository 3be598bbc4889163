"""The course of a pricing with greeks: that of a price, and bumps small enough."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sciprec.heston.bounds import levels as level
from sciprec.heston.bounds.interval import BINARY64
from sciprec.heston.bounds.mixed import path_cost
from sciprec.heston.bounds.plan import Pricing
from sciprec.heston.bounds.statistics import GroupMoments, quantile
from sciprec.heston.sensitivities.greek_estimates import ROWS
from sciprec.heston.sensitivities.rare_greeks import unseen_greeks

BUMP_RISK = 0.1  # share of 1 - confidence that the bound of the differences gets
BUMP_SHARE = 0.15  # of the tolerance that the differences may take
LOOKS = 8  # at the differences; each has its part of the risk
CLEAR = 3.0  # standard errors from which on a change by doubled bumps is clearly not zero
MOST_HALVINGS = 6  # at a time
BUDGET_SHARE = 0.15  # of the paths
LEAST_ROOM = 0.3  # of the tolerance that is left to everything else
SILENT = 2**18  # paths that have paid nothing, after which no more are simulated


@dataclass
class GreekPricing(Pricing):
    """One pricing of greeks on its way; see Pricing.

    A difference D_h stands for a derivative with an error c h^2 and higher powers of the bump h,
    so that D_2h - D_h = 3 c h^2 + 15 c' h^4 + ...: its upper limit bounds the error of D_h, thrice
    in the first power, and unless c' h^2 is between -2/7 and -1/7 of c, in the second as well. It
    is measured on paths of its own, in binary64; bumps are halved where it is clearly too large.
    Level integration has no bump, and its bound is zero.

    Greeks of which no path has shown anything are bound by what unseen payments may add to them
    (rare_greeks). A price that no path tells from zero has no greeks whose bound is a share of
    them: where more paths say no more of it (bounds.rare), or SILENT of them have paid nothing, no
    more are simulated.

    Args:
        worth: a Rare of the payoffs.

    Attributes:
        bumps: the Level "bumps" that was used.
        difference: bound of the error of the differences, shape (rows,).
        magnified: bound of the error of binary64 in them, shape (rows,).
    """

    worth: Any = None
    bumps: object = None
    difference: object = None
    magnified: object = None

    def _after_pilot(self):
        """Choose the bumps, and leave to the levels what the differences leave of the tolerance.

        The Bound that `run` returns lacks difference and magnified.
        """
        limit, risk = self.tolerance, self.risk
        self._measure_bumps(
            np.where(self.beyond, np.inf, limit(self.pilot.price)), BUMP_RISK * risk
        )
        self.risk = (1 - BUMP_RISK) * risk
        unit = BINARY64 * self.pilot.n_steps * self.sampler.amplification
        self.magnified = unit * np.repeat(*self._prices())

        def left(prices):
            accepted = limit(prices)
            return np.maximum(accepted - self.difference - self.magnified, LEAST_ROOM * accepted)

        self.tolerance = left

    @property
    def spent(self):
        """The resources of the pilot and all levels."""
        return super().spent + (self._used(self.bumps) if self.bumps else 0.0)

    def _prices(self):
        """Return every payoff's price as the pilot found it, and how many rows the payoff has."""
        rows, counts = self._price_rows
        return np.abs(self.pilot.price[rows]), counts

    @property
    def _price_rows(self):
        """The row of every payoff's price, and how many rows the payoff has."""
        counts = [len(names) for names in self.sampler.names]
        return np.cumsum([0, *counts[:-1]]), counts

    def _beyond(self, pilot):
        """Return for which rows more paths are no use: for all of a payoff, or none."""
        (at, counts), paths = self._price_rows, 0
        prices, variances = pilot.price, pilot.variances[pilot.n_steps]
        if self.base is not None and self.base.moments.groups > 1:
            prices, variances = self._price_so_far(), self.base.variance()
            paths = self.base.moments.paths
        silent = self.worth.silent(prices[at], variances[at])
        most = self.budget.paths / self.sampler.width
        found = self.worth.beyond(most, prices[at], silent, self._accepted_prices)
        return np.repeat(found | (silent & (paths >= SILENT)), counts)

    @property
    def worthless(self):
        """The payoffs that `beyond` is of, shape (n_payoffs,)."""
        return self.beyond[self._price_rows[0]]

    def _accepted_prices(self, prices):
        """Return the largest accepted bounds of prices alone, shape (n_payoffs,)."""
        rows = np.zeros(len(self.sampler.payoffs))
        rows[self._price_rows[0]] = prices
        return self.tolerance(rows)[self._price_rows[0]]

    def _ceiling(self):
        """Return bounds that no path is needed for: of these greeks there are none."""
        return np.full(len(self.sampler.payoffs), np.inf)

    def _bound(self):
        """Return the Bound of the levels, and of what no path has shown."""
        bound, beyond, base = self._measured(), self.beyond, self.base
        silent = (base.moments.mean[:, 0] == 0) & (base.variance() == 0)
        if not np.any(silent | beyond):
            return bound
        unseen = unseen_greeks(self.worth, min(base.moments.paths, self.steps.moments.paths))
        size = np.concatenate(
            [row[[ROWS.index(n) for n in names]]
             for row, names in zip(unseen, self.sampler.names, strict=True)]
        )  # fmt: skip
        seen = np.where(silent, 0.0, bound.statistical)
        noise = np.where(silent | beyond, np.maximum(seen, size), seen)
        total = noise + bound.discretisation + bound.rounding
        return replace(bound, statistical=noise, total=total)

    def _measure_bumps(self, accepted, risk):
        """Choose the bumps, and bound the error of the differences."""
        aim, paths = BUMP_SHARE * accepted, level.LEAST_PATHS
        self.bumps = self._bumps_level()
        for look in range(LOOKS):
            self._extend(self.bumps, paths, BUDGET_SHARE)
            size = np.abs(self.bumps.moments.mean[:, 0])
            spread = np.sqrt(self.bumps.moments.covariance_of_mean()[:, 0, 0])
            self.difference = size + quantile(risk / LOOKS, self.bumps.moments.freedom) * spread
            if np.all(self.difference <= aim) or not np.all(np.isfinite(size)):
                return
            wide = (size > CLEAR * spread) & (size > 0.5 * aim)
            spent = self._used(self.bumps)
            enough = np.any(spent >= 0.5 * BUDGET_SHARE * self.budget.total)
            if look == LOOKS - 1 or (not wide.any() and enough):
                return
            if wide.any():
                self.given_up += spent
                self._narrow(wide, size / np.maximum(aim, np.finfo(float).tiny))
            else:
                paths = 4 * self.bumps.moments.paths

    def _narrow(self, wide, excess):
        """Halve the bumps of greeks that are too far off as often as their errors ask for."""
        names = [name for names in self.sampler.names for name in names]
        times = np.clip(np.ceil(0.5 * np.log2(2 * np.maximum(excess, 1e-9))), 1, MOST_HALVINGS)
        halvings = {}
        for name, yes, n in zip(names, wide, times, strict=True):
            if yes:
                halvings[name] = max(halvings.get(name, 0), int(n))
        self.sampler = self.sampler.with_bumps(self.sampler.bumps.halved(halvings))
        estimator = replace(self.pilot.estimator, sampler=self.sampler)
        self.pilot = replace(self.pilot, estimator=estimator)
        self.bumps = self._bumps_level()

    def _bumps_level(self):
        """Return a new level of D_2h - D_h."""
        bumps, n_steps = self.sampler.bumps, self.pilot.n_steps
        seed = level.derived_seed(self.seed, f"bumps {bumps}")
        doubled = self.sampler.with_bumps(bumps.times(2.0))
        pair = [replace(self.pilot.estimator, sampler=s) for s in (doubled, self.sampler)]

        def sample(block):
            wide, narrow = (one(block, backend="fp64", n_steps=n_steps, seed=seed) for one in pair)
            return (wide - narrow)[:, None]

        moments = GroupMoments(len(self.sampler.payoffs), 1)
        cost = 2 * path_cost("fp64", n_steps)
        return level.Level("bumps", "fp64", n_steps, cost, sample, moments, 2 * self.sampler.width)
