"""Bumps: by how much parameters are shifted for a difference that stands for a derivative."""

import math
from dataclasses import dataclass, field, replace

from sciprec.foundation.errors import InputError
from sciprec.heston.schemes.catalogue import scheme_named
from sciprec.heston.schemes.moments import mean_integrated_variance
from sciprec.heston.schemes.registry import Units

START = 0.05  # first bump, relative to the mean variance and to the time up to the first date
SMOOTH_RATE = 1e-3  # first bump of the forward's logarithm, where payments are smooth in it
SHARE_OF_DEVIATION = 0.1  # first bump of the spot, where they aren't
SHARE_OF_DISTANCE = 0.2  # of the way to a barrier
SMALL_VARIANCE = 0.25  # share of the bump that v0 has at least, if it is lowered as well


@dataclass(frozen=True)
class Bumps:
    """Bumps of the parameters.

    Args:
        spot: relative, for payments that are not smooth in the spot.
        v0: per year; one_sided: whether v0 may only be raised.
        time: share of the time up to the first date.
        rate: of the rate times the longest maturity, for payments that are smooth in it.
    """

    spot: float
    v0: float
    time: float
    one_sided: bool
    rate: float = field(default=SMOOTH_RATE, repr=False)

    def times(self, factor):
        """Return Bumps a factor larger."""
        names = ("spot", "v0", "time", "rate")
        return replace(self, **{name: getattr(self, name) * factor for name in names})

    def halved(self, halvings):
        """Return narrower Bumps.

        Args:
            halvings: {name of a greek: how often the bump that it is made with is halved}.
        """
        spot = max(halvings.get(name, 0) for name in ("delta", "gamma", "rho"))
        return replace(
            self,
            spot=math.ldexp(self.spot, -spot),
            v0=math.ldexp(self.v0, -halvings.get("vega_v0", 0)),
            time=math.ldexp(self.time, -halvings.get("theta", 0)),
            rate=math.ldexp(self.rate, -halvings.get("rho", 0)),
        )

    @property
    def v0_stencil(self):
        """Offsets and weights of the derivative to v0."""
        return forward_difference(self.v0) if self.one_sided else central_difference(self.v0)


def central_difference(h):
    """Return offsets and weights of (V(h) - V(-h)) / (2 h), of error h^2 V''' / 6."""
    return ((h, 0.5 / h), (-h, -0.5 / h))


def forward_difference(h):
    """Return offsets and weights of (4 V(h) - V(2 h) - 3 V(0)) / (2 h), of error -h^2 V''' / 3."""
    return ((0.0, -1.5 / h), (h, 2.0 / h), (2 * h, -0.5 / h))


def first_bumps(model, payoffs, scheme, step_years):
    """Return the Bumps to start with: wide, as long as nothing leaves its domain.

    Args:
        model: a Model.
        payoffs: a sequence of payoffs.
        scheme: name of the path scheme.
        step_years: longest step that will be taken.
    """
    shortest = min(payoff.maturity for payoff in payoffs)
    spot = SHARE_OF_DEVIATION * math.sqrt(mean_integrated_variance(model, shortest, 8))
    for payoff in payoffs:
        if hasattr(payoff, "barrier"):
            distance = abs(math.log(model.spot / payoff.barrier))
            spot = min(spot, SHARE_OF_DISTANCE * distance)
    time = START
    while not _takes(model, scheme, step_years * (1 + 2 * time)):
        time *= 0.5
    v0, one_sided = _first_v0_bump(model, shortest)
    return Bumps(spot, v0, time, one_sided)


def _first_v0_bump(model, years):
    """Return a bump of v0 that moves the mean variance by START of itself, and whether it is
    to one side because v0 is too close to zero; else at most a quarter of v0."""
    reach = -math.expm1(-model.kappa * years) / model.kappa  # of v0 into the integrated variance
    bump = float(START * mean_integrated_variance(model, years, 8) / reach)
    if model.v0 < SMALL_VARIANCE * bump:
        return bump, True
    return min(bump, 0.25 * model.v0), False


def _takes(model, scheme, step_years):
    """Return whether a scheme takes steps of this length."""
    try:
        scheme_named(scheme).constants(model, step_years, Units.of(model, step_years))
    except InputError:
        return False
    return True
