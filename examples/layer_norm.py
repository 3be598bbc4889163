"""Layer normalisation with blocked sums, the classical accuracy case of an accelerator's kernel.

    sciprec run examples/layer_norm.toml --plugin examples/layer_norm.py

y = (x - mean) / sqrt(variance + epsilon) over rows of 128 x 768 numbers (Ba et al. 2016,
equations 1 to 3), sums made block by block of 64 numbers. The variance is the mean of squares
less the square of the mean, which cancels where the mean is far from zero, or that of the
deviations, in a second pass. The sums are accumulated in the arithmetic of the rest or in fp32.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import xarray as xr
from pydantic import Field

import sciprec

BLOCK = 64
EPSILON = 1e-5


@dataclass(frozen=True)
class Layer:
    """The numbers that are normalised, and how."""

    variance: Annotated[
        Literal["squares", "two-pass"], Field(description="of squares, or of deviations")
    ] = "squares"
    accumulator: Annotated[
        Literal["same", "fp32"], Field(description="the arithmetic of the sums")
    ] = "same"
    offsets: Annotated[tuple[float, ...], Field(min_length=1, description="means of the rows")] = (
        0.0, 4.0, 100.0,
    )  # fmt: skip
    batch: Annotated[int, Field(ge=1, le=1024, description="rows for each offset")] = 8
    rows: Annotated[int, Field(ge=1, le=4096)] = 128
    columns: Annotated[int, Field(ge=1, le=4096)] = 768
    seed: Annotated[int, Field(ge=0, description="of the numbers")] = 1


def blocked_mean(x):
    """The mean of x, its blocks of 64 numbers summed one after another, and then their sums."""
    total = 0.0
    for start in range(0, x.size, BLOCK):
        part = 0.0
        for i in range(start, min(start + BLOCK, x.size)):
            part += x[i]
        total += part
    return total / x.size


def squared(x, out):
    """The squares of x."""
    for i in range(x.size):
        out[i] = x[i] * x[i]


def deviations(x, mean, out):
    """The squares of x less its mean."""
    for i in range(x.size):
        out[i] = (x[i] - mean) * (x[i] - mean)


def of_squares(mean, mean_of_squares):
    """The variance as a difference; what rounding leaves below zero counts as zero."""
    return max(mean_of_squares - mean * mean, 0.0)


def normalised(x, mean, variance, out):
    """(x - mean) / sqrt(variance + epsilon)."""
    scale = 1.0 / np.sqrt(variance + EPSILON)
    for i in range(x.size):
        out[i] = (x[i] - mean) * scale


@sciprec.model("layer_norm", variables=("normalised", "mean", "variance"))
def layer_norm(layer: Layer, arithmetic):
    """Layer normalisation of x, and the moments that it rests on."""
    kernels = [squared, deviations, of_squares, normalised]
    squares, second_pass, difference, normalise = map(arithmetic.lift, kernels)
    wider = layer.accumulator == "fp32" and arithmetic.backend != "fp64"
    mean_of = sciprec.lift(blocked_mean, "fp32") if wider else arithmetic.lift(blocked_mean)
    size, offsets = layer.rows * layer.columns, np.array(layer.offsets)
    drawn = np.random.default_rng(layer.seed).standard_normal((layer.batch, size))
    drawn = arithmetic.perturb(drawn)
    out = np.empty((offsets.size, layer.batch, size))
    means, variances = (np.empty((offsets.size, layer.batch)) for _ in range(2))
    work = np.empty(size)
    for k, offset in enumerate(offsets):
        for row in range(layer.batch):
            x = arithmetic.quantize(drawn[row] + offset)
            mean = mean_of(x)
            if layer.variance == "squares":
                squares(x, work)
                variance = difference(mean, mean_of(work))
            else:
                second_pass(x, mean, work)
                variance = mean_of(work)
            normalise(x, mean, variance, out[k, row])
            means[k, row], variances[k, row] = mean, variance
    moments = ("offset", "row")
    shown = out[:, :, :: max(1, size // 96)]  # of 98,304 numbers of a row every 1024th
    return xr.Dataset(
        {
            "normalised": ((*moments, "place"), shown, {"units": "1"}),
            "mean": (moments, means, {"units": "1"}),
            "variance": (moments, variances, {"units": "1"}),
        },
        coords={"offset": ("offset", offsets, {"units": "1"})},
        attrs={"primary": "normalised", "pictures": "lines"},
    )
