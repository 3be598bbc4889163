"""The request of `sciprec price`, as plain data, and the arguments that it stands for."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator

from sciprec.facets.tables import Section, as_tuple, key
from sciprec.scenario.heston_model import HestonModel
from sciprec.scenario.price_tolerance import price_tolerance, share_of

_Numbers = Annotated[tuple[float, ...], BeforeValidator(as_tuple)]


class AskedPayoffs(Section):
    """A payoff at every strike and maturity."""

    kind: str = key("the name of a payoff", 'kind = "call"')
    strikes: _Numbers = key("prices", "strikes = [100.0]", default=())
    maturities_years: _Numbers = key("years", "maturities_years = [1.0]")
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
