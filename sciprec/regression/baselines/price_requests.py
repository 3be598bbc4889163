"""Requests of baselines for prices, as `sciprec price` makes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sciprec.precision.formats.backend import resolve_backend
from sciprec.regression.baselines.noise import perturbed_inputs
from sciprec.regression.baselines.requests import BaselineRequest, plain_asked
from sciprec.results.output.files import NETCDF, suffix_of
from sciprec.scenario.asked_price import AskedPrice
from sciprec.workbench.batch.workflow import planned
from sciprec.workbench.kinds.asked_price import price_scenario


def price_request(asked: AskedPrice, backend: str) -> BaselineRequest:
    """Prices with a bound, in one arithmetic.

    Args:
        asked: model, payoffs, tolerance and the rest.
        backend: of the paths.

    Raises:
        InputError: the backend is unknown, or the model does not take the payoffs.
    """
    scenario = price_scenario(asked, resolve_backend(backend).name)
    every = planned([scenario], None, suffix_of(NETCDF))
    runs = tuple(run for run in every if run.backend in scenario.backends)
    subject = {"kind": "price", "backends": list(scenario.backends), "price": _plain(asked)}
    return BaselineRequest(
        scenario.name, subject, plain_asked(runs), runs[0].code, runs, perturbed_inputs
    )


def price_asked_again(said: Mapping[str, Any]) -> BaselineRequest:
    """The request that a baseline has noted."""
    backends: Sequence[str] = said["backends"]
    return price_request(AskedPrice.model_validate(said["price"]), backends[0])


def _plain(request: AskedPrice) -> dict[str, Any]:
    return request.model_dump(mode="json")
