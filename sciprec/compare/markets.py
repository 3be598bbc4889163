"""What a stored surface of option prices says about its market."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import xarray as xr

from sciprec.errors import InputError


@dataclass(frozen=True)
class Market:
    """Today's market and the payoff of a surface.

    Args:
        spot: price of the underlying.
        rate, dividend_yield: continuous, per year.
        kind: name of the payoff, such as "call".
    """

    spot: float
    rate: float
    dividend_yield: float
    kind: str

    @property
    def pays_below(self) -> bool:
        """Whether it is a put."""
        return self.kind == "put" or self.kind.endswith("-put")

    def discount(self, maturity) -> np.ndarray:
        """D = e^(-r T)."""
        return np.exp(-self.rate * np.asarray(maturity, float))

    def forward(self, maturity) -> np.ndarray:
        """F = S e^((r - q) T)."""
        return self.spot * np.exp((self.rate - self.dividend_yield) * np.asarray(maturity, float))


def is_surface(dataset: xr.Dataset) -> bool:
    """Whether a dataset holds prices over maturities and strikes."""
    return "price" in dataset and {"maturity", "strike"} <= set(dataset["price"].dims)


def market_of(dataset: xr.Dataset) -> Market:
    """The market of a stored surface, from its scenario.

    Raises:
        InputError: the dataset holds no surface of prices, or no scenario of kind heston.
    """
    scenario = json.loads(dataset.attrs.get("sciprec_scenario", "{}"))
    if scenario.get("kind") != "heston" or not is_surface(dataset):
        raise InputError(
            "the dataset is no surface of prices with its scenario; accepted: the file of a "
            "scenario of kind 'heston'"
        )
    model = scenario["heston"]["model"]
    return Market(
        float(model["spot"]),
        float(model.get("rate") or 0.0),
        float(model.get("dividend_yield") or 0.0),
        str(scenario["heston"]["payoffs"]["kind"]),
    )
