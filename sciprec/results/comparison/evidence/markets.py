"""The market of a stored surface of option prices."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from sciprec.foundation.errors import InputError
from sciprec.results.output.stated import MARKET


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
    """The market of a stored surface.

    Raises:
        InputError: the dataset holds no surface of prices, or no scenario of kind heston.
    """
    market = json.loads(dataset.attrs.get(MARKET, "null")) or _of_earlier_files(dataset)
    if market is None or not is_surface(dataset):
        raise InputError(
            "the dataset is no surface of prices with its scenario; accepted: the file of a "
            "scenario of kind 'heston'"
        )
    numbers = (float(market.get(name) or 0.0) for name in ("spot", "rate", "dividend_yield"))
    return Market(*numbers, str(market["payoff"]))


def _of_earlier_files(dataset: xr.Dataset) -> dict[str, Any] | None:
    """The market in the scenario of a file that does not name it by itself."""
    heston = json.loads(dataset.attrs.get("sciprec_scenario", "{}")).get("heston")
    return None if heston is None else heston["model"] | {"payoff": heston["payoffs"]["kind"]}
