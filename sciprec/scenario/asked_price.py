"""The request of `sciprec price`, as plain data: the parameters of Heston's model, tolerances as
users write them, and the arguments that it stands for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator

from sciprec.facets.tables import Section, as_tuple, key, limited
from sciprec.foundation.arguments import share
from sciprec.foundation.errors import InputError
from sciprec.foundation.limits import HESTON_MODEL

_Floats = Annotated[tuple[float, ...], BeforeValidator(as_tuple)]
UNUSUAL_RATE, UNUSUAL_VOLATILITY = 0.5, 2.0  # per year, beyond which a note says what they mean
ACCEPTED = (
    "a share of the price above 0 and at most 100%, such as 0.1% or 0.001, or an amount above 0, "
    "such as 0.01abs"
)

UNUSUAL_SHARE = 0.25


class HestonModel(Section):
    """Parameters of Heston (1993); sigma is the volatility of variance."""

    spot: float = limited(HESTON_MODEL["spot"], "spot = 100.0")
    v0: float = limited(HESTON_MODEL["v0"], "v0 = 0.04")
    kappa: float = limited(HESTON_MODEL["kappa"], "kappa = 1.5")
    theta: float = limited(HESTON_MODEL["theta"], "theta = 0.04")
    sigma: float = limited(HESTON_MODEL["sigma"], "sigma = 0.5")
    rho: float = limited(HESTON_MODEL["rho"], "rho = -0.7")
    rate: float = limited(HESTON_MODEL["rate"], "rate = 0.02", default=0.0)
    dividend_yield: float = limited(
        HESTON_MODEL["dividend_yield"], "dividend_yield = 0.01", default=0.0
    )

    def notes(self) -> list[str]:
        """Sentences about parameters that look as if they were given in per cent."""
        sentences = [
            f"{name} {value:g} is {100 * value:.4g} % a year; 5 % is written 0.05"
            for name in ("rate", "dividend_yield")
            if abs(value := getattr(self, name)) > UNUSUAL_RATE
        ]
        for name, when in (("v0", "today"), ("theta", "in the long run")):
            volatility = math.sqrt(value := getattr(self, name))
            if volatility > UNUSUAL_VOLATILITY:
                sentences.append(
                    f"{name} {value:g} is a variance, of a volatility of {100 * volatility:.4g} % "
                    f"{when}; a volatility of 20 % is written 0.04"
                )
        return sentences


class AskedPayoffs(Section):
    """A payoff at every strike and maturity."""

    kind: str = key("the name of a payoff", 'kind = "call"')
    strikes: _Floats = key("prices", "strikes = [100.0]", default=())
    maturities_years: _Floats = key("years", "maturities_years = [1.0]")
    parameters: dict[str, float | int] = key("others", "parameters = {}", default={})


class AskedSimulation(Section):
    """The simulation of the paths."""

    scheme: str = key("the name of a path scheme", 'scheme = "euler"')


class AskedPrice(Section):
    """The request of `sciprec price`, see there; `greeks_tolerance` is None without greeks."""

    model: HestonModel = key("the table [model]", "[model]")
    payoffs: AskedPayoffs = key("the table [payoffs]", "[payoffs]")
    simulation: AskedSimulation = key("the table [simulation]", "[simulation]")
    tolerance: str = key("of the bound", 'tolerance = "0.1%"')
    greeks_tolerance: str | None = key("of greeks", 'greeks_tolerance = "1%"', default=None)
    confidence: float = key("of the bound", "confidence = 0.95", allow_inf_nan=True)
    seed: int = key("a whole number", "seed = 0")
    max_paths: int | None = key("a budget", "max_paths = 1000", default=None)
    compensation: str = key("of rounding", 'compensation = "carry"')
    variance_reduction: str = key("how", 'variance_reduction = "auto"')


def asked_model(request: AskedPrice) -> Any:
    """The Model of a request."""
    from sciprec import heston

    return heston.Model(**request.model.model_dump())


def asked_payoffs(table: AskedPayoffs) -> list[Any]:
    """Payoffs, by maturity.

    Raises:
        InputError: the payoff is unknown, or a parameter is missing or outside its domain.
    """
    from sciprec.heston.payoff_registry import payoff_grid

    return payoff_grid(table.kind, table.strikes, table.maturities_years, **table.parameters)


def price_arguments(request: AskedPrice) -> dict[str, Any]:
    """Arguments of `heston.price` beside model, payoffs, backend and budgets of this machine.

    Raises:
        InputError: the tolerance is none.
    """
    tolerance = price_tolerance(request.tolerance)
    return _shared(request) | {
        "tolerance": tolerance.value, "relative": tolerance.relative,
        "variance_reduction": request.variance_reduction,
    }  # fmt: skip


def greeks_arguments(request: AskedPrice) -> dict[str, Any] | None:
    """Arguments of `heston.greeks`, likewise; None where greeks are not asked for.

    Raises:
        InputError: the tolerance is no share.
    """
    if request.greeks_tolerance is None:
        return None
    return _shared(request) | {"tolerance": share_of(request.greeks_tolerance)}


def _shared(request: AskedPrice) -> dict[str, Any]:
    options = {} if request.max_paths is None else {"max_paths": request.max_paths}
    return options | {
        "confidence": request.confidence, "seed": request.seed, "scheme": request.simulation.scheme,
        "compensation": request.compensation,
    }  # fmt: skip


@dataclass(frozen=True)
class PriceTolerance:
    """The largest bound that is accepted.

    Args:
        value: above zero.
        relative: whether `value` is a share of the price; otherwise it is an amount of currency.
    """

    value: float
    relative: bool

    def __str__(self) -> str:
        return f"{100 * self.value:.6g}%" if self.relative else f"{self.value:.6g}abs"


def price_tolerance(value_text: str | float) -> PriceTolerance:
    """The tolerance that a text stands for: "0.1%", "0.001" (shares) or "0.01abs" (an amount).

    Raises:
        InputError: it is written in another way, not above zero, or a share above one.
    """
    text = str(value_text).strip().lower()
    relative = not text.endswith("abs")
    try:
        value = share(text) if relative else float(text.removesuffix("abs"))
    except ValueError:
        value = math.nan
    if not (0 < value < math.inf) or (relative and value > 1):
        raise InputError(f"tolerance is {str(value_text)!r}; accepted: {ACCEPTED}")
    return PriceTolerance(value, relative)


def tolerance_note(quantity: str, text: str) -> list[str]:
    """A sentence about a large share without its per cent sign, which may be a slip.

    Args:
        quantity: the name of the one that it bounds, such as "price".
        text: accepted by `price_tolerance`.
    """
    tolerance = price_tolerance(text)
    if "%" in text or not tolerance.relative or tolerance.value < UNUSUAL_SHARE:
        return []
    share = f"{100 * tolerance.value:g} %"
    return [f"tolerance {text} is {share} of the {quantity}; 1 % of it is written 1% or 0.01"]


def share_of(text: str | float) -> float:
    """The share that a relative tolerance stands for.

    Raises:
        InputError: it is an amount, or no tolerance.
    """
    tolerance = price_tolerance(text)
    if not tolerance.relative:
        raise InputError(f"tolerance is {str(text)!r}; accepted: a share, such as 1%")
    return tolerance.value
