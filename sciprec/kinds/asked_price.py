"""What `sciprec price` asks as plain data, and the kind of scenario that it is run as.

Files cannot name the kind: what a scenario holds of prices is a table of kind "heston".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import xarray as xr
from pydantic import BeforeValidator

from sciprec.kinds.heston import heston_sources, moved_model
from sciprec.kinds.heston_grid import levels_timing
from sciprec.kinds.kind import Kind, Surroundings
from sciprec.output.dataset import fixed_point_attributes, timing_attributes
from sciprec.output.stated import stated
from sciprec.scenario.heston_model import HestonModel
from sciprec.scenario.loading import Scenario
from sciprec.scenario.price_tolerance import price_tolerance, share_of
from sciprec.scenario.sections import Section, as_tuple, key
from sciprec.scenario.variant import Variant

KIND = "asked_price"
_Numbers = Annotated[tuple[float, ...], BeforeValidator(as_tuple)]
_PARTS = ("statistical", "discretisation", "rounding")


class AskedPayoffs(Section):
    """A payoff at every strike and maturity."""

    kind: str = key("the name of a payoff", 'kind = "call"')
    strikes: _Numbers = key("prices", "strikes = [100.0]", default=())
    maturities_years: _Numbers = key("years", "maturities_years = [1.0]")
    parameters: dict[str, float | int] = key("others", "parameters = {}", default={})


class AskedSimulation(Section):
    """How the paths are drawn."""

    scheme: str = key("the name of a path scheme", 'scheme = "euler"')


class AskedPrice(Section):
    """What `sciprec price` is asked, see there; `greeks_tolerance` is None without greeks."""

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


class PriceScenario(Scenario):
    """Prices of a request as a scenario."""

    kind: Literal["asked_price"] = key('"asked_price"', 'kind = "asked_price"')
    asked_price: AskedPrice = key("the table [asked_price]", "[asked_price]")
    takes_compensation: ClassVar[bool] = False


def asked_model(given: AskedPrice) -> Any:
    """The Model of a request."""
    from sciprec import heston

    return heston.Model(**given.model.model_dump())


def asked_payoffs(given: AskedPayoffs) -> list[Any]:
    """Payoffs, by maturity.

    Raises:
        InputError: the payoff is unknown, or a parameter is missing or outside its domain.
    """
    from sciprec.heston.payoff_registry import payoff_grid

    return payoff_grid(given.kind, given.strikes, given.maturities_years, **given.parameters)


def priced(
    given: AskedPrice, backend: str, *, threads: int = 1, max_seconds: float | None = None
) -> tuple[Any, Any]:
    """The prices of a request.

    Args:
        given: the request.
        backend: arithmetic of the paths.
        threads: change no result.
        max_seconds: a budget of time.

    Returns:
        A PriceResult, and a GreeksResult where greeks are asked for, else None.

    Raises:
        InputError: as `heston.price` and `heston.greeks`.
    """
    from sciprec import heston

    model, payoffs = asked_model(given), asked_payoffs(given.payoffs)
    tolerance = price_tolerance(given.tolerance)
    how = {
        "backend": backend, "confidence": given.confidence, "seed": given.seed,
        "scheme": given.simulation.scheme, "max_seconds": max_seconds,
        "compensation": given.compensation, "threads": threads,
    } | ({} if given.max_paths is None else {"max_paths": given.max_paths})  # fmt: skip
    result = heston.price(
        model, payoffs, tolerance=tolerance.value, relative=tolerance.relative,
        variance_reduction=given.variance_reduction, **how,
    )  # fmt: skip
    if given.greeks_tolerance is None:
        return result, None
    return result, heston.greeks(
        model, payoffs, tolerance=share_of(given.greeks_tolerance), **how
    )


def price_scenario(given: AskedPrice, backend: str) -> PriceScenario:
    """A request as a scenario in one arithmetic."""
    payoffs = given.payoffs
    return PriceScenario(
        name=f"price_{payoffs.kind}".replace("-", "_").lower(),
        title=f"Prices of {payoffs.kind}",
        source="a request of sciprec price",
        kind=KIND,
        backends=(backend,),
        asked_price=given,
    )


def _run(given: AskedPrice, variant: Variant, around: Surroundings) -> xr.Dataset:
    """Prices with their bounds and parts, greeks beside them; how many paths and steps it took."""
    result, derived = priced(given, variant.backend, threads=around.threads)
    options = [_words_of(payoff) for payoff in result.payoffs]
    names = ("price", "bound", *_PARTS, "rounding_error")
    values = {name: ("option", np.ravel(getattr(result, name))) for name in names}
    found = xr.Dataset(values, {"option": options})
    for name in ("n_paths", "n_steps"):
        found[name] = float(getattr(result, name))
    if derived is not None:
        shape = len(options), len(derived.greeks)
        axes = ("option", "greek")
        for name, part in (("greek_value", "value"), ("greek_bound", "bound")):
            found[name] = axes, np.reshape(getattr(derived, part), shape)
        found = found.assign_coords(greek=list(derived.greeks))
    for name in found.data_vars:
        counted = str(name).startswith("n_")
        found[name].attrs = {"units": "1" if counted else "currency", "long_name": str(name)}
    if "greek_value" in found:
        for name in ("greek_value", "greek_bound"):
            found[name].attrs["units"] = "1"
    found.attrs = {
        "blow_up": "", **timing_attributes(levels_timing([result])),
        **fixed_point_attributes(result.fixed_point),
    }  # fmt: skip
    return found


def _words_of(payoff: Any) -> str:
    """What a payoff is called: "call, maturity 1, strike 100"."""
    parameters: Mapping[str, Any] = asdict(payoff)
    told = (f"{name} {value:g}" if isinstance(value, (int, float)) else f"{name} {value}"
            for name, value in sorted(parameters.items()) if value is not None)  # fmt: skip
    return ", ".join((payoff.name, *told))


def _check(given: AskedPrice, variant: Variant) -> None:
    """Look at what only the model knows, before anything is computed."""
    model = asked_model(given)
    for payoff in asked_payoffs(given.payoffs):
        payoff.check(model)


ASKED_PRICE = Kind(
    KIND,
    PriceScenario,
    _run,
    check=_check,
    attributes=stated(primary="price", auxiliary=""),
    compile_seconds=7.0,  # docs/engine.md
    sources=heston_sources,
    moved=moved_model,
    in_files=False,
)
