"""The sampler of prices and greeks: which paths are simulated, and which controls go with them."""

import functools

import numpy as np

from sciprec.heston.bounds.estimators import controls_of
from sciprec.heston.options.european_payoffs import Spot
from sciprec.heston.schemes.moments import may_control
from sciprec.heston.semianalytic import analytic
from sciprec.heston.semianalytic.analytic_greeks import known_greeks
from sciprec.heston.sensitivities.greek_estimates import (
    LEVEL_ROWS,
    ROWS,
    amplification,
    estimates,
    level_means,
)
from sciprec.heston.simulation.monitoring import MonitoredPayoffs, watch

LEVEL_CONTROLS = {"vega_v0": (0, 1, 2, 3), "theta": (0, 1, 4, 5)}  # of level rows; else 0 and 1

CONSTANT = ("gamma", "rho")  # of the spot: no variate in them, nothing but rounding errors


class GreekSampler:
    """Per path the price of every payoff and its derivatives, with controls of known mean.

    Args:
        model: a Model.
        payoffs: a tuple of payoffs.
        scheme: name of a path scheme that can leave out the independent Brownian motion.
        bumps: Bumps.

    Attributes:
        given: the payoffs.
        names: per payoff the greeks that are estimated: all ROWS, but no delta and no gamma where
            payments are proportional to the spot.
        payoffs: the payoff of every row of `raw`.
        controls: per row those of its controls.
        sentence: what was chosen, and why.
    """

    name = "greeks"

    def __init__(self, model, payoffs, scheme, bumps, carried=True):
        self.model, self.scheme, self.bumps = model, scheme, bumps
        self.carried = carried
        self.requested = tuple(payoffs)
        self.names = tuple(_estimated(payoff) for payoff in payoffs)
        self.payoffs = tuple(p for p, names in zip(payoffs, self.names, strict=True) for _ in names)
        self._longest = max(payoff.maturity for payoff in payoffs)
        keys = [(_first_years(payoff), is_smooth(model, payoff)) for payoff in payoffs]
        self._groups = {key: self._group(*key, keys) for key in dict.fromkeys(keys)}
        self._keys = keys
        self._starts, count = {}, 0
        for key, (group, extras) in self._groups.items():
            self._starts[key] = count
            count += LEVEL_ROWS * group.smooth + len(ROWS) * len(extras)
        self.controls = [
            self._rows(payoff, key, name)
            for payoff, key, names in zip(self.requested, keys, self.names, strict=True)
            for name in names
        ]
        self._n_controls = count
        self.sentence = self._why()

    def with_bumps(self, bumps):
        """Return this sampler with other Bumps."""
        return GreekSampler(self.model, self.requested, self.scheme, bumps, self.carried)

    @property
    def width(self):
        """Simulated paths for each path: one for every model and group."""
        return 5 * len(self._groups)

    @property
    def amplification(self):
        """The factor by which differences magnify a relative rounding error of the price, per row.
        """
        amplified = []
        for key, names in zip(self._keys, self.names, strict=True):
            factors = amplification(self._groups[key][0], self.model, self.bumps)
            amplified += [factors[ROWS.index(name)] for name in names]
        return np.array(amplified)

    def raw(self, block, *, backend, n_steps, draws_per_step, seed):
        """Simulate a block; return discounted prices, their derivatives, and centred controls.

        Args: as ConditionalSampler.raw.

        Returns:
            Binary64 arrays of shapes (len(self.payoffs), paths) and (controls, paths).
        """
        options = {
            "backend": backend, "seed": seed, "scheme": self.scheme, "block": block,
            "draws_per_step": draws_per_step, "n_steps": n_steps, "longest": self._longest,
            "carried": self.carried,
        }  # fmt: skip
        values = [None] * len(self.requested)
        controls = np.empty((self._n_controls, block.n_paths))
        for key, (group, extras) in self._groups.items():
            run = functools.partial(watch, group, **options)
            estimated, level = estimates(group, self.model, self.bumps, run)
            row = self._starts[key]
            if group.smooth:
                step = round(group.first_years / self._longest * n_steps)
                means = level_means(group, self.model, self.bumps, step)
                controls[row : row + LEVEL_ROWS] = level - means[:, None]
                row += LEVEL_ROWS
            for extra, means in extras.items():
                controls[row : row + len(ROWS)] = estimated[extra] - means[:, None]
                row += len(ROWS)
            for k, payoff in enumerate(self.requested):
                if self._keys[k] == key:
                    simulated, constants = _simulated(self.model, payoff, group.smooth)
                    rows = [ROWS.index(name) for name in self.names[k]]
                    values[k] = estimated[simulated][rows] + constants[rows, None]
        return np.concatenate(values), controls

    def _group(self, first_years, smooth, keys):
        """Return a Group and {control payoff: means of its rows}."""
        targets = [
            p for p, key in zip(self.requested, keys, strict=True) if key == (first_years, smooth)
        ]
        extras = dict.fromkeys(e for p in targets for e in _extras(self.model, p, smooth))
        simulated = [_simulated(self.model, payoff, smooth)[0] for payoff in targets]
        known_rows = {extra: _known_rows(self.model, extra) for extra in extras}
        payoffs = tuple(dict.fromkeys([*simulated, *extras]))
        return MonitoredPayoffs(payoffs, first_years, smooth), known_rows

    def _rows(self, payoff, key, name):
        """Return the rows of the controls of one greek of a payoff."""
        group, extras = self._groups[key]
        start, rows = self._starts[key], []
        if group.smooth:
            used = LEVEL_CONTROLS.get(name, (0, 1))
            finite = may_control(self.model, group.first_years, self.model.rho**2)
            rows = [start + k for k in used if k % 2 or finite]
            start += LEVEL_ROWS
        extra_payoffs = _extras(self.model, payoff, group.smooth)
        for k, extra in enumerate(extras):
            if extra in extra_payoffs and not (isinstance(extra, Spot) and name in CONSTANT):
                rows.append(start + len(ROWS) * k + ROWS.index(name))
        return rows

    def _why(self):
        """Say what was chosen."""
        smooth = [group for group, _ in self._groups.values() if group.smooth]
        parts = []
        if smooth:
            parts.append(
                "the spot's level at the first date is integrated out given the variance: delta "
                "and gamma path by path, the rest by differences on the same random numbers"
            )
        if len(smooth) < len(self._groups):
            parts.append(
                "barriers watched continuously, and payoffs where rho is -1 or 1: all greeks by "
                "differences on the same random numbers"
            )
        return "; ".join(parts)


def is_smooth(model, payoff):
    """Return whether the level of the spot at a payoff's first date is integrated out."""
    return payoff.integrates_level and abs(model.rho) < 1


def _estimated(payoff):
    """Return the names of the rows that a payoff needs."""
    if payoff.proportional:
        return tuple(name for name in ROWS if name not in ("delta", "gamma"))
    return ROWS


def _first_years(payoff):
    """Return the date up to which time is stretched for a payoff."""
    return payoff.observation.dates[0]


def _simulated(model, payoff, smooth):
    """Return the payoff to simulate, and what its rows lack, shape (len(ROWS),)."""
    twin, lacking = payoff.bounded_twin(model) if smooth else (payoff, {})
    return twin, np.array([lacking.get(name, 0.0) for name in ROWS])


def _extras(model, payoff, smooth):
    """Return payoffs of known price and greeks that control a payoff."""
    if smooth and payoff.knows("expected"):
        return []
    return [extra for extra in controls_of(model, payoff) if extra.knows("analytic_greeks")]


def _known_rows(model, payoff):
    """Return price and greeks of a control."""
    values = known_greeks(model, payoff) | {"price": analytic.price(model, payoff)}
    return np.array([values[name] for name in ROWS])
