"""A half-precision preconditioner, after Ackmann et al. (2022), 10.1029/2022MS003148.

    sciprec run examples/half_preconditioner.toml --plugin examples/half_preconditioner.py

(1 - k Laplacian) p = r on the sphere, k = (c dt / a)^2: what a semi-implicit step of the shallow
water equations solves. GCR(3) runs in binary64. Its preconditioner runs in the arithmetic of the
scenario, on residuals that are scaled to 1: sweeps that are implicit along circles of latitude,
where grid points lie closest. What it loses costs iterations at most, no digit of the solution.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import xarray as xr
from pydantic import Field

import sciprec

EARTH_RADIUS = 6.371e6  # m
KEPT = 3  # directions that a new one is made orthogonal to


@dataclass(frozen=True)
class Sphere:
    """The grid, the step, and the iterations that are stored."""

    latitudes: Annotated[int, Field(ge=4, le=512, description="rows")] = 16
    longitudes: Annotated[int, Field(ge=8, le=1024, description="points of a row")] = 32
    step_seconds: Annotated[float, Field(gt=0, description="of a semi-implicit step")] = 7200.0
    wave_speed: Annotated[float, Field(gt=0, description="sqrt(g H) in m s-1")] = 300.0
    sweeps: Annotated[int, Field(ge=1, le=20, description="of the preconditioner")] = 1
    iterations: Annotated[int, Field(ge=1, le=1000, description="of the solver")] = 40
    reduction: Annotated[float, Field(gt=0, lt=1, description="of the residual, wanted")] = 1e-10


def precondition(residual, north, south, zonal, shift, sweeps, z, right, factor, corner):
    """Richardson sweeps, implicit in the zonal direction: (z - k zonal part of z) of each row is
    solved by Thomas' algorithm, closed to a circle (Sherman, Morrison 1950).

    Args:
        residual: (lat, lon), sizes up to 1.
        north, south, zonal: (lat,), couplings of a point to its neighbours.
        shift: (lat,), what the diagonal has beside `zonal`.
        sweeps: how many.
        z: (lat, lon), the result.
        right, factor, corner: (lon,), scratch.
    """
    rows, n = residual.shape
    for j in range(rows):
        for i in range(n):
            z[j, i] = 0.0
    for _ in range(sweeps):
        for j in range(rows):
            a = zonal[j]
            b = shift[j] + 2.0 * a
            for i in range(n):
                right[i] = residual[j, i]
                if j > 0:
                    right[i] += north[j] * z[j - 1, i]
                if j < rows - 1:
                    right[i] += south[j] * z[j + 1, i]
                corner[i] = 0.0
            corner[0] = -b
            corner[n - 1] = -a
            pivot = b + b
            for i in range(n):
                if i > 0:
                    factor[i] = -a / pivot
                    pivot = (b if i < n - 1 else b + a * (a / b)) + a * factor[i]
                    right[i] = (right[i] + a * right[i - 1]) / pivot
                    corner[i] = (corner[i] + a * corner[i - 1]) / pivot
                else:
                    right[0] = right[0] / pivot
                    corner[0] = corner[0] / pivot
            for i in range(n - 2, -1, -1):
                right[i] -= factor[i + 1] * right[i + 1]
                corner[i] -= factor[i + 1] * corner[i + 1]
            closing = (right[0] + a / b * right[n - 1]) / (1.0 + corner[0] + a / b * corner[n - 1])
            for i in range(n):
                z[j, i] = right[i] - closing * corner[i]


def couplings(sphere: Sphere):
    """k / spacing^2 to the next points: (north, south, zonal), each (lat,); none across a pole."""
    k = (sphere.wave_speed * sphere.step_seconds / EARTH_RADIUS) ** 2
    spacing = np.pi / sphere.latitudes
    latitude = -np.pi / 2 + spacing * (np.arange(sphere.latitudes) + 0.5)
    edge = np.cos(-np.pi / 2 + spacing * np.arange(sphere.latitudes + 1))
    edge[0] = edge[-1] = 0.0
    lower, upper = (k / spacing**2 * e / np.cos(latitude) for e in (edge[:-1], edge[1:]))
    zonal = k / (2.0 * np.pi / sphere.longitudes * np.cos(latitude)) ** 2
    return lower, upper, zonal, latitude


def applied(p, lower, upper, zonal):
    """(1 - k Laplacian) p, in binary64."""
    around = np.roll(p, 1, 1) + np.roll(p, -1, 1) - 2.0 * p
    below, above = np.vstack([p[:1], p[:-1]]), np.vstack([p[1:], p[-1:]])
    meridional = lower[:, None] * (below - p) + upper[:, None] * (above - p)
    return p - zonal[:, None] * around - meridional


@sciprec.model(
    "half_preconditioner", variables=("solution", "residual", "iterations_needed"),
    brief={"iterations": 1},
)  # fmt: skip
def half_preconditioner(sphere: Sphere, arithmetic):
    """The solution, and the norm of the residual after each iteration."""
    lower, upper, zonal, latitude = couplings(sphere)
    shape = (sphere.latitudes, sphere.longitudes)
    longitude = 2.0 * np.pi * np.arange(sphere.longitudes) / sphere.longitudes
    rng = np.random.default_rng(0)
    right = np.sin(2.0 * latitude)[:, None] * np.cos(3.0 * longitude) + 0.1 * rng.normal(size=shape)
    kernel = arithmetic.lift(precondition)
    quantize = arithmetic.quantize
    shift = quantize(1.0 + lower + upper)
    narrow = [quantize(v) for v in (lower, upper, zonal)]
    scratch = [np.zeros(sphere.longitudes) for _ in range(3)]

    def preconditioned(residual):
        largest, z = abs(residual).max(), np.zeros(shape)
        if largest == 0.0:
            return z
        kernel(quantize(residual / largest), *narrow, shift, sphere.sweeps, z, *scratch)
        return largest * z

    p, residual = np.zeros(shape), right.copy()
    norms, directions = [np.linalg.norm(residual)], []
    for _ in range(sphere.iterations):
        d = preconditioned(residual)
        image = applied(d, lower, upper, zonal)
        for other, its_image, size in directions:
            share = (image * its_image).sum() / size
            d, image = d - share * other, image - share * its_image
        size = (image * image).sum()
        if size > 0.0:
            share = (residual * image).sum() / size
            p, residual = p + share * d, residual - share * image
            directions = [*directions, (d, image, size)][-KEPT:]
        norms.append(np.linalg.norm(residual))
    norms = np.array(norms) / norms[0]
    there = norms <= sphere.reduction
    needed = np.argmax(there) if there.any() else sphere.iterations + 1
    return xr.Dataset(
        {
            "solution": (("latitude", "longitude"), p, {"units": "1"}),
            "residual": (("time",), norms, {"units": "1", "long_name": "of the first residual"}),
            "iterations_needed": ((), float(needed), {
                "units": "1", "long_name": "one more than stored where the residual stays larger"}),
        },
        coords={
            "time": ("time", np.arange(len(norms)), {"units": "iterations"}),
            "latitude": ("latitude", np.degrees(latitude), {"units": "degrees_north"}),
            "longitude": ("longitude", np.degrees(longitude), {"units": "degrees_east"}),
        },
        attrs={"primary": "solution", "pictures": "map"},
    )  # fmt: skip
