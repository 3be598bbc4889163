"""Payoffs of the spots at several dates, or of the whole path."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sciprec.foundation.errors import InputError
from sciprec.heston.observations import (
    ArithmeticAverage,
    Extremes,
    GeometricAverage,
    Observation,
    StartAndEnd,
    Survival,
)
from sciprec.heston.options.european_payoffs import Call, Put
from sciprec.heston.options.level_payments import option_piece
from sciprec.heston.parameters import Model
from sciprec.heston.payoff_registry import Payoff, payoff, spot_deviation
from sciprec.heston.semianalytic import analytic
from sciprec.heston.semianalytic.analytic import SLACK
from sciprec.heston.semianalytic.analytic_greeks import asian_geometric_greeks


class _Asian(Payoff):
    """The base of options on a mean of the spots."""

    strike: float
    fixings: int

    def payment(self, rows: np.ndarray) -> np.ndarray:
        return self.intrinsic(rows[0], self.strike)

    def level_piece(self, rows: np.ndarray) -> tuple:
        return option_piece(self.kind, rows[0], self.strike)

    def certain(self, model: Model) -> float:
        """Return the discounted payment for the mean of the forwards."""
        mean = float(np.mean([model.forward(date) for date in self.observation.dates]))
        return model.discount(self.maturity) * float(self.intrinsic(mean, self.strike))


@payoff("asian-arithmetic-put", kind="put")
@payoff("asian-arithmetic", kind="call")
@dataclass(frozen=True)
class AsianArithmetic(_Asian):
    """An option on the mean of the spots at k maturity / fixings, k = 1 to fixings."""

    strike: float
    maturity: float
    fixings: int
    kind: str = "call"

    @property
    def observation(self) -> Observation:
        return ArithmeticAverage(self.maturity, self.fixings)

    def controls(self) -> tuple[Payoff, ...]:
        """The option on the geometric mean (Kemna and Vorst 1990)."""
        return (
            AsianGeometric(
                strike=self.strike, maturity=self.maturity, fixings=self.fixings, kind=self.kind
            ),
        )

    def ceiling(self, model: Model) -> float:
        """Return the mean of the prices of Europeans at the fixings, paid at maturity."""
        return _at_fixings(model, self) / self.fixings


@payoff("asian-geometric-put", kind="put")
@payoff("asian-geometric", kind="call")
@dataclass(frozen=True)
class AsianGeometric(_Asian):
    """An option on the geometric mean of the spots at k maturity / fixings, k = 1 to fixings."""

    strike: float
    maturity: float
    fixings: int
    kind: str = "call"

    @property
    def observation(self) -> Observation:
        return GeometricAverage(self.maturity, self.fixings)

    def analytic_price(self, model: Model) -> float:
        terms = self.strike, self.maturity, self.fixings, self.kind
        return float(analytic.asian_geometric_prices(model, *terms))

    def analytic_greeks(self, model: Model) -> dict[str, float]:
        terms = self.strike, self.maturity, self.fixings, self.kind
        return asian_geometric_greeks(model, *terms)


@payoff("lookback-fixed-put", kind="put")
@payoff("lookback-fixed", kind="call")
@dataclass(frozen=True)
class LookbackFixed(Payoff):
    """An option on the highest (call) or lowest (put) spot at k maturity / fixings, k >= 1."""

    strike: float
    maturity: float
    fixings: int
    kind: str = "call"

    @property
    def observation(self) -> Observation:
        return Extremes(self.maturity, self.fixings)

    def payment(self, rows: np.ndarray) -> np.ndarray:
        return self.intrinsic(rows[2] if self.kind == "call" else rows[1], self.strike)

    def level_piece(self, rows: np.ndarray) -> tuple:
        """An option on the extreme spot."""
        extreme = rows[2] if self.kind == "call" else rows[1]
        return option_piece(self.kind, extreme, self.strike)

    def ceiling(self, model: Model) -> float:
        """Return the sum of the prices of Europeans at the fixings, paid at maturity."""
        return _at_fixings(model, self)


@payoff("lookback-floating-put", kind="put")
@payoff("lookback-floating", kind="call")
@dataclass(frozen=True)
class LookbackFloating(Payoff):
    """Pays S - min (call) or max - S (put), the extremes over k maturity / fixings, k >= 1."""

    proportional = True
    maturity: float
    fixings: int
    kind: str = "call"

    @property
    def observation(self) -> Observation:
        return Extremes(self.maturity, self.fixings)

    def payment(self, rows: np.ndarray) -> np.ndarray:
        return self.intrinsic(rows[0], rows[1] if self.kind == "call" else rows[2])

    def ceiling(self, model: Model) -> float:
        """Return the sum of forward starts from the fixings: S_T - S_i (call), S_i - S_T (put)."""
        total = 0.0
        for date in self.observation.dates[:-1]:
            terms = np.array([1.0]), date, self.maturity, self.kind
            total += float(analytic.forward_start_prices(model, *terms)[0])
        return total


@payoff("forward-start-put", kind="put")
@payoff("forward-start", kind="call")
@dataclass(frozen=True)
class ForwardStart(Payoff):
    """An option whose strike is set at start (years): moneyness times the spot of that day."""

    proportional = True
    start: float
    maturity: float
    moneyness: float = 1.0
    kind: str = "call"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.start >= self.maturity:
            raise InputError(
                f"start is {self.start} with maturity {self.maturity}; accepted: a start before "
                "the maturity"
            )

    @property
    def observation(self) -> Observation:
        return StartAndEnd(self.start, self.maturity)

    def payment(self, rows: np.ndarray) -> np.ndarray:
        return self.intrinsic(rows[1], self.moneyness * rows[0])

    def analytic_price(self, model: Model) -> float:
        terms = self.moneyness, self.start, self.maturity, self.kind
        return float(analytic.forward_start_prices(model, *terms))


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

    def check(self, model: Model) -> None:
        """Refuse a barrier that today's spot has met already."""
        if (model.spot <= self.barrier) if self.direction == "down" else model.spot >= self.barrier:
            side = "below" if self.direction == "down" else "above"
            raise InputError(
                f"barrier is {self.barrier} with spot {model.spot}, already hit; accepted: a "
                f"barrier {side} the spot for {self.direction}-and-{self.knock}"
            )

    @property
    def observation(self) -> Observation:
        """Extreme spots at the fixings, or the chance of surviving in between as well."""
        if self.fixings is not None:
            return Extremes(self.maturity, self.fixings)
        side = 1 if self.direction == "down" else -1
        return Survival(self.maturity, self.barrier, side)

    def payment(self, rows: np.ndarray) -> np.ndarray:
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

    def level_piece(self, rows: np.ndarray) -> tuple:
        """An option, for levels that keep all fixings on one side of the barrier, or don't."""
        slope, shift, lower, upper = option_piece(self.kind, rows[0], self.strike)
        down, out = self.direction == "down", self.knock == "out"
        edge = np.log(self.barrier / (rows[1] if down else rows[2]))
        if down == out:
            return slope, shift, np.maximum(lower, edge), upper
        return slope, shift, lower, np.minimum(upper, edge)

    def payment_scale(self, model: Model) -> float:
        """Return G; it is knocked in where the payment is large."""
        size = spot_deviation(model, self.maturity)
        size += abs(model.forward(self.maturity) - self.strike)
        return model.discount(self.maturity) * min(size, self.strike, self._most())

    def ceiling(self, model: Model) -> float:
        """Return the price of the European, or less: of the largest payment where it is knocked
        out in the money, and of S or K where the barrier is met at all (Doob's inequality)."""
        european = Call if self.kind == "call" else Put
        price = float(european(strike=self.strike, maturity=self.maturity).analytic_price(model))
        discount = model.discount(self.maturity)
        if self.knock == "out":
            return min(price, discount * self._most())
        chance, level = _chance_of_meeting(model, self.barrier, self.maturity)
        paid = model.forward(self.maturity) / model.spot * level
        return min(price, discount * chance * (paid if self.kind == "call" else self.strike))

    def _most(self) -> float:
        """Return the largest payment; infinite where there is none, or it is the strike."""
        if (self.knock, self.direction, self.kind) == ("out", "up", "call"):
            return max(self.barrier - self.strike, 0.0)
        if (self.knock, self.direction, self.kind) == ("out", "down", "put"):
            return max(self.strike - self.barrier, 0.0)
        return np.inf


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


def _at_fixings(model: Model, payoff: AsianArithmetic | LookbackFixed) -> float:
    """Return the sum of the prices of Europeans at the fixings, paid at maturity.

    Convex functions of a mean are below the mean of the functions, and those of an extreme below
    their sum.
    """
    strike, total = np.array([payoff.strike], dtype=float), 0.0
    of_kind = analytic.call_prices if payoff.kind == "call" else analytic.put_prices
    for date in payoff.observation.dates:
        total += float(of_kind(model, strike, date)[0]) * model.discount(payoff.maturity - date)
    return total


def _chance_of_meeting(model: Model, barrier: float, years: float) -> tuple[float, float]:
    """Return a chance that the one of meeting a barrier does not exceed, and a level.

    M_t = S_t S_0 / F_t is a martingale, and has met the level where S has met the barrier. Of an
    upper one, P(max M >= level) <= E[(M_T - c)+] / (level - c) for any c below it (Doob 1953); of
    a lower one E[(c - M_T)+] / (c - level). M is at the level when it meets it, so that the mean of
    M_T over these paths is no more than the level times that chance.
    """
    growth = model.forward(years) / model.spot
    up = barrier > model.spot
    level = barrier / (max(growth, 1.0) if up else min(growth, 1.0))
    if (level <= model.spot) if up else level >= model.spot:
        return 1.0, max(level, model.spot)
    between = model.spot * (level / model.spot) ** np.linspace(0.0, 0.9, 10)
    of_kind = analytic.call_prices if up else analytic.put_prices
    discounted = model.discount(years) * growth
    options = np.maximum(of_kind(model, between * growth, years), 0.0) / discounted
    chances = (options + SLACK * model.spot) / np.abs(level - between)
    return min(1.0, float(np.min(chances))), level
