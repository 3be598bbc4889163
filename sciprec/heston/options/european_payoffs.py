"""Payments at maturity that depend on the spot at maturity alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sciprec.heston.observations import Terminal
from sciprec.heston.options.level_payments import option_piece
from sciprec.heston.parameters import Model
from sciprec.heston.payoff_registry import Payoff, payoff
from sciprec.heston.semianalytic import analytic, black


class European(Payoff):
    """A payment at maturity that depends on the spot at maturity alone: `at_maturity`."""

    @property
    def observation(self) -> Terminal:
        return Terminal(self.maturity)

    def payment(self, rows: np.ndarray) -> np.ndarray:
        return self.at_maturity(rows[0])

    def at_maturity(self, spot: np.ndarray | float) -> np.ndarray:
        """Return the undiscounted payment for terminal spots of any shape, in binary64."""
        raise NotImplementedError

    def certain(self, model: Model) -> float:
        """Return the discounted payment for a spot at its forward."""
        paid = float(self.at_maturity(model.forward(self.maturity)))
        return model.discount(self.maturity) * paid


class _Vanilla(European):
    """The base of calls and puts."""

    strike: float

    def at_maturity(self, spot: np.ndarray | float) -> np.ndarray:
        return self.intrinsic(np.asarray(spot), self.strike)

    def analytic_greeks(self, model: Model) -> dict[str, float]:
        return analytic.greeks(model, self)

    def level_piece(self, rows: np.ndarray) -> tuple:
        return option_piece(self.kind, rows[0], self.strike)


@payoff("call")
@dataclass(frozen=True)
class Call(_Vanilla):
    """A European call: pays max(S - strike, 0) at maturity (years)."""

    strike: float
    maturity: float

    def analytic_price(self, model: Model) -> float:
        return float(analytic.call_prices(model, self.strike, self.maturity))

    def expected(self, model: Model, forward: np.ndarray, spread: np.ndarray) -> np.ndarray:
        """The put and its parity, so that all payments are bounded."""
        put = black.expected_puts(forward, self.strike, spread)
        return put + (model.forward(self.maturity) - self.strike)

    def bounded_twin(self, model: Model) -> tuple[Payoff, dict[str, float]]:
        """The put, which lacks D (F - K)."""
        discount = model.discount(self.maturity)
        carried, banked = discount * model.forward(self.maturity), discount * self.strike
        lacking = {
            "price": carried - banked,
            "delta": carried / model.spot,
            "rho": self.maturity * banked,
            "theta": model.dividend_yield * carried - model.rate * banked,
        }
        return Put(strike=self.strike, maturity=self.maturity), lacking


@payoff("put")
@dataclass(frozen=True)
class Put(_Vanilla):
    """A European put: pays max(strike - S, 0) at maturity (years)."""

    kind = "put"
    strike: float
    maturity: float

    def analytic_price(self, model: Model) -> float:
        return float(analytic.put_prices(model, self.strike, self.maturity))

    def expected(self, model: Model, forward: np.ndarray, spread: np.ndarray) -> np.ndarray:
        """Black's formula, undiscounted."""
        return black.expected_puts(forward, self.strike, spread)


@payoff("spot")
@dataclass(frozen=True)
class Spot(European):
    """The asset itself: pays S at maturity (years); its price is known, so that it controls."""

    proportional = True
    maturity: float

    def at_maturity(self, spot: np.ndarray | float) -> np.ndarray:
        return np.array(spot, dtype=float)

    def analytic_price(self, model: Model) -> float:
        return model.discount(self.maturity) * model.forward(self.maturity)

    def analytic_greeks(self, model: Model) -> dict[str, float]:
        carried = float(model.spot * np.exp(-model.dividend_yield * self.maturity))
        values = (carried / model.spot, 0.0, 0.0, 0.0, 0.0, model.dividend_yield * carried)
        return dict(zip(analytic.GREEKS, values, strict=True))

    def expected(self, model: Model, forward: np.ndarray, spread: np.ndarray) -> np.ndarray:
        return forward

    def payment_scale(self, model: Model) -> float:
        """Zero: payments are never rare."""
        return 0.0


@payoff("digital-put", kind="put")
@payoff("digital-call", kind="call")
@dataclass(frozen=True)
class Digital(European):
    """Cash or nothing: pays 1 at maturity if S > strike (call) or S < strike (put)."""

    strike: float
    maturity: float
    kind: str = "call"

    def at_maturity(self, spot: np.ndarray | float) -> np.ndarray:
        """Return 0 or 1 for terminal spots of any shape; NaN for NaN."""
        spot = np.asarray(spot, dtype=float)
        above = spot > self.strike if self.kind == "call" else spot < self.strike
        return np.where(np.isnan(spot), np.nan, above)

    def analytic_price(self, model: Model) -> float:
        return float(analytic.digital_prices(model, self.strike, self.maturity, self.kind))

    def expected(self, model: Model, forward: np.ndarray, spread: np.ndarray) -> np.ndarray:
        """The probability to end in the money."""
        return black.exercise_chances(forward, self.strike, spread, self.kind)

    def level_piece(self, rows: np.ndarray) -> tuple:
        """1 above the strike or below it."""
        _, _, lower, upper = option_piece(self.kind, rows[0], self.strike)
        return 0.0, 1.0, lower, upper

    def payment_scale(self, model: Model) -> float:
        """The discounted unit."""
        return model.discount(self.maturity)

    def certain(self, model: Model) -> float:
        """Return the discounted unit where the forward is in the money; a put's on the strike."""
        above = model.forward(self.maturity) > self.strike
        return model.discount(self.maturity) * float(above == (self.kind == "call"))
