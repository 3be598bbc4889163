"""The kind of scenario that what `sciprec price` is asked is run as.

Files cannot name the kind: what a scenario holds of prices is a table of kind "heston".
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
import xarray as xr

from sciprec.facets.tables import key
from sciprec.results.output.dataset import fixed_point_attributes, timing_attributes
from sciprec.results.output.stated import stated
from sciprec.scenario.asked_price import (
    AskedPrice,
    asked_model,
    asked_payoffs,
    greeks_arguments,
    price_arguments,
)
from sciprec.scenario.loading import Scenario
from sciprec.scenario.variant import Variant
from sciprec.workbench.kinds.heston import heston_sources, moved_model
from sciprec.workbench.kinds.heston_grid import levels_timing
from sciprec.workbench.kinds.kind import Kind, Surroundings

KIND = "asked_price"
_PARTS = ("statistical", "discretisation", "rounding")


class PriceScenario(Scenario):
    """Prices of a request as a scenario."""

    kind: Literal["asked_price"] = key('"asked_price"', 'kind = "asked_price"')
    asked_price: AskedPrice = key("the table [asked_price]", "[asked_price]")
    takes_compensation: ClassVar[bool] = False


def price_scenario(request: AskedPrice, backend: str) -> PriceScenario:
    """A request as a scenario in one arithmetic."""
    payoffs = request.payoffs
    return PriceScenario(
        name=f"price_{payoffs.kind}".replace("-", "_").lower(),
        title=f"Prices of {payoffs.kind}",
        source="a request of sciprec price",
        kind=KIND,
        backends=(backend,),
        asked_price=request,
    )


def _run(request: AskedPrice, variant: Variant, around: Surroundings) -> xr.Dataset:
    """Prices with their bounds and parts, greeks beside them; how many paths and steps it took."""
    from sciprec import heston
    from sciprec.heston.payoff_registry import described

    subject = asked_model(request), asked_payoffs(request.payoffs)
    how = {"backend": variant.backend, "threads": around.threads}
    result = heston.price(*subject, **how, **price_arguments(request))
    of_greeks = greeks_arguments(request)
    derived = None if of_greeks is None else heston.greeks(*subject, **how, **of_greeks)
    options = [described(payoff) for payoff in result.payoffs]
    names = ("price", "bound", *_PARTS, "rounding_error")
    values = {name: ("option", np.ravel(getattr(result, name))) for name in names}
    dataset = xr.Dataset(values, {"option": options})
    for name in ("n_paths", "n_steps"):
        dataset[name] = float(getattr(result, name))
    if derived is not None:
        shape = len(options), len(derived.greeks)
        axes = ("option", "greek")
        for name, part in (("greek_value", "value"), ("greek_bound", "bound")):
            dataset[name] = axes, np.reshape(getattr(derived, part), shape)
        dataset = dataset.assign_coords(greek=list(derived.greeks))
    for name in dataset.data_vars:
        counted = str(name).startswith("n_")
        dataset[name].attrs = {"units": "1" if counted else "currency", "long_name": str(name)}
    if "greek_value" in dataset:
        for name in ("greek_value", "greek_bound"):
            dataset[name].attrs["units"] = "1"
    dataset.attrs = {
        "blow_up": "", **timing_attributes(levels_timing([result])),
        **fixed_point_attributes(result.fixed_point),
    }  # fmt: skip
    return dataset


def _check(request: AskedPrice, variant: Variant) -> None:
    """Make the checks that only the model can make, before anything is computed."""
    from sciprec.heston.payoff_registry import check_payoffs

    check_payoffs(asked_payoffs(request.payoffs), asked_model(request))


ASKED_PRICE = Kind(
    KIND,
    PriceScenario,
    _run,
    check=_check,
    attributes=stated(primary="price", auxiliary=""),
    compile_seconds=7.0,  # docs/lab/engine.md
    sources=heston_sources,
    moved=moved_model,
    in_files=False,
)
