"""A small model of one's own, which damaged folders are made of: a plugin of their scenario."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import xarray as xr
from pydantic import Field

import sciprec


@dataclass(frozen=True)
class Squall:
    """The table [squall] of the scenario."""

    size: Annotated[float, Field(gt=0, description="of the first values")] = 300.0


def gust(x, wind, share):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            wind[i, j] = 0.9 * x[i, j] + 0.1 * x[i, j - 1]
            share[i, j] = x[i, j] * x[i, j] / (x[i, j] * x[i, j])  # in fp16 infinity by infinity


@sciprec.model("squall")
def squall(given: Squall, arithmetic):
    kernel = arithmetic.lift(gust)
    random = np.random.default_rng(1)
    x = arithmetic.quantize(arithmetic.perturb(given.size * random.uniform(0.9, 1.1, (12, 32))))
    winds, shares = [], []
    for _ in range(10):
        wind, share = np.zeros_like(x), np.zeros_like(x)
        kernel(x, wind, share)
        winds.append(wind)
        shares.append(share)
        x = wind
    axes = ("time", "y", "x")
    return xr.Dataset(
        {"wind": (axes, np.array(winds), {"units": "m s-1"}),
         "share": (axes, np.array(shares), {"units": "1"}),
         "mean": ("time", np.mean(winds, axis=(1, 2)), {"units": "m s-1"})},
        coords={"time": ("time", np.arange(10.0), {"units": "s"})},
    )  # fmt: skip
