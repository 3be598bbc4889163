"""Payoffs: small frozen classes, registered by name.

A payoff says what it observes (`observation`, see sciprec.heston.observations) and what it then
pays at its maturity: `payment(rows)`, undiscounted, per path, in binary64.
"""

from dataclasses import dataclass

import numpy as np

from sciprec.errors import InputError
from sciprec.heston import observations
from sciprec.heston.payoff_registry import Payoff, PayoffEntry, payoff, payoff_named, payoffs

__all__ = [
    "AsianArithmetic",
    "AsianGeometric",
    "Barrier",
    "Call",
    "Digital",
    "ForwardStart",
    "LookbackFixed",
    "LookbackFloating",
    "Payoff",
    "PayoffEntry",
    "Put",
    "Spot",
    "payoff_named",
    "payoffs",
]


class _European(Payoff):
    """A payment at maturity that depends on the spot at maturity alone."""

    @property
    def observation(self):
        """The terminal spot."""
        return observations.Terminal(self.maturity)

    def payment(self, rows):
        """Return the payments, shape (n_paths,)."""
        return self.at_maturity(rows[0])

    def at_maturity(self, spot):
        """Return the payment for terminal spots of any shape, in binary64."""
        return self.intrinsic(np.asarray(spot), self.strike)


@payoff("call")
@dataclass(frozen=True, kw_only=True)
class Call(_European):
    """A European call: pays max(S - strike, 0) at maturity (years)."""

    strike: float
    maturity: float


@payoff("put")
@dataclass(frozen=True, kw_only=True)
class Put(_European):
    """A European put: pays max(strike - S, 0) at maturity (years)."""

    kind = "put"
    strike: float
    maturity: float


@payoff("spot")
@dataclass(frozen=True, kw_only=True)
class Spot(_European):
    """The asset itself: pays S at maturity (years); its price is known, so that it controls."""

    maturity: float

    def at_maturity(self, spot):
        """Return the spot."""
        return np.array(spot, dtype=float)


@payoff("digital-put", kind="put")
@payoff("digital-call", kind="call")
@dataclass(frozen=True, kw_only=True)
class Digital(_European):
    """Cash or nothing: pays 1 at maturity if S > strike (call) or S < strike (put)."""

    strike: float
    maturity: float
    kind: str = "call"

    def at_maturity(self, spot):
        """Return 0 or 1 for terminal spots of any shape; NaN for NaN."""
        spot = np.asarray(spot, dtype=float)
        above = spot > self.strike if self.kind == "call" else spot < self.strike
        return np.where(np.isnan(spot), np.nan, above)


@payoff("asian-arithmetic-put", kind="put")
@payoff("asian-arithmetic", kind="call")
@dataclass(frozen=True, kw_only=True)
class AsianArithmetic(Payoff):
    """An option on the mean of the spots at k maturity / fixings, k = 1 to fixings."""

    strike: float
    maturity: float
    fixings: int
    kind: str = "call"

    @property
    def observation(self):
        """The mean spot."""
        return observations.ArithmeticAverage(self.maturity, self.fixings)

    def payment(self, rows):
        """Return the payments, shape (n_paths,)."""
        return self.intrinsic(rows[0], self.strike)


@payoff("asian-geometric-put", kind="put")
@payoff("asian-geometric", kind="call")
@dataclass(frozen=True, kw_only=True)
class AsianGeometric(Payoff):
    """An option on the geometric mean of the spots at k maturity / fixings, k = 1 to fixings."""

    strike: float
    maturity: float
    fixings: int
    kind: str = "call"

    @property
    def observation(self):
        """The geometric mean spot."""
        return observations.GeometricAverage(self.maturity, self.fixings)

    def payment(self, rows):
        """Return the payments, shape (n_paths,)."""
        return self.intrinsic(rows[0], self.strike)


@payoff("lookback-fixed-put", kind="put")
@payoff("lookback-fixed", kind="call")
@dataclass(frozen=True, kw_only=True)
class LookbackFixed(Payoff):
    """An option on the highest (call) or lowest (put) spot at k maturity / fixings, k >= 1."""

    strike: float
    maturity: float
    fixings: int
    kind: str = "call"

    @property
    def observation(self):
        """The extreme spots."""
        return observations.Extremes(self.maturity, self.fixings)

    def payment(self, rows):
        """Return the payments, shape (n_paths,)."""
        return self.intrinsic(rows[2] if self.kind == "call" else rows[1], self.strike)


@payoff("lookback-floating-put", kind="put")
@payoff("lookback-floating", kind="call")
@dataclass(frozen=True, kw_only=True)
class LookbackFloating(Payoff):
    """Pays S - min (call) or max - S (put), the extremes over k maturity / fixings, k >= 1."""

    maturity: float
    fixings: int
    kind: str = "call"

    @property
    def observation(self):
        """The extreme spots."""
        return observations.Extremes(self.maturity, self.fixings)

    def payment(self, rows):
        """Return the payments, shape (n_paths,)."""
        return self.intrinsic(rows[0], rows[1] if self.kind == "call" else rows[2])


@payoff("forward-start-put", kind="put")
@payoff("forward-start", kind="call")
@dataclass(frozen=True, kw_only=True)
class ForwardStart(Payoff):
    """An option whose strike is set at start (years): moneyness times the spot of that day."""

    start: float
    maturity: float
    moneyness: float = 1.0
    kind: str = "call"

    def __post_init__(self):
        super().__post_init__()
        if self.start >= self.maturity:
            raise InputError(
                f"start is {self.start} with maturity {self.maturity}; accepted: a start before "
                "the maturity"
            )

    @property
    def observation(self):
        """The spots at start and maturity."""
        return observations.StartAndEnd(self.start, self.maturity)

    def payment(self, rows):
        """Return the payments, shape (n_paths,)."""
        return self.intrinsic(rows[1], self.moneyness * rows[0])


@dataclass(frozen=True, kw_only=True)
class Barrier(Payoff):
    """A European call or put that is knocked in or out at a barrier.

    Args:
        strike, barrier: in units of currency.
        maturity: years.
        direction: "down" with a barrier below the spot, "up" with one above.
        knock: "out" pays unless the barrier is met, "in" only if it is.
        fixings: the barrier is watched at k maturity / fixings, k = 1 to fixings; continuously
            where this is None.
        kind: "call" or "put".
    """

    strike: float
    barrier: float
    maturity: float
    direction: str
    knock: str
    fixings: int | None = None
    kind: str = "call"

    def check(self, model):
        """Refuse a barrier that today's spot has met already."""
        if (model.spot <= self.barrier) if self.direction == "down" else model.spot >= self.barrier:
            side = "below" if self.direction == "down" else "above"
            raise InputError(
                f"barrier is {self.barrier} with spot {model.spot}, already hit; accepted: a "
                f"barrier {side} the spot for {self.direction}-and-{self.knock}"
            )

    @property
    def observation(self):
        """Extreme spots at the fixings, or the chance of surviving in between as well."""
        if self.fixings is not None:
            return observations.Extremes(self.maturity, self.fixings)
        side = 1 if self.direction == "down" else -1
        return observations.Survival(self.maturity, self.barrier, side)

    def payment(self, rows):
        """Return the payments, shape (n_paths,); expected ones where watched continuously."""
        if self.fixings is None:
            survival = rows[1]
        elif self.direction == "down":
            survival = rows[1] > self.barrier
        else:
            survival = rows[2] < self.barrier
        return self.intrinsic(rows[0], self.strike) * (
            survival if self.knock == "out" else 1.0 - survival
        )


for _kind in ("put", "call"):
    for _direction in ("down", "up"):
        for _knock in ("in", "out"):
            _suffix = "-put" if _kind == "put" else ""
            payoff(
                f"barrier-{_direction}-{_knock}{_suffix}",
                direction=_direction,
                knock=_knock,
                kind=_kind,
            )(Barrier)
