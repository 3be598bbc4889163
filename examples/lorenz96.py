"""Waves on a latitude circle after Lorenz and Emanuel (1998), a model of one's own.

    sciprec run examples/lorenz96.toml --plugin examples/lorenz96.py

dX_j/dt = (X_{j+1} - X_{j-2}) X_{j-1} - X_j + F on J sites of a circle, by Runge and Kutta's scheme
of fourth order with a step of 0.05, six hours of the authors' time: one unit is five days.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import xarray as xr
from pydantic import Field

import sciprec

DAYS_PER_UNIT = 5.0


@dataclass(frozen=True)
class Ring:
    """The ring, its forcing, and how long it is followed."""

    sites: Annotated[int, Field(ge=4, le=100_000, description="sites around the circle")] = 40
    forcing: Annotated[float, Field(description="the constant F")] = 8.0
    step: Annotated[float, Field(gt=0, le=0.1, description="of time; 0.05 are six hours")] = 0.05
    spin_up_days: Annotated[float, Field(ge=0, description="before the start of the run")] = 100.0
    days: Annotated[float, Field(gt=0, le=100_000, description="length of the run")] = 30.0
    output_days: Annotated[float, Field(gt=0, description="between stored states")] = 1.0


def slope(x, forcing, out):
    """The tendency of every site."""
    n = x.size
    for j in range(n):
        out[j] = (x[(j + 1) % n] - x[j - 2]) * x[j - 1] - x[j] + forcing


def increment(x, forcing, h, k1, k2, k3, k4, y, dx):
    """The sum that a step of fourth order adds to the state; k1 to k4 and y are work."""
    slope(x, forcing, k1)
    for j in range(x.size):
        y[j] = x[j] + 0.5 * h * k1[j]
    slope(y, forcing, k2)
    for j in range(x.size):
        y[j] = x[j] + 0.5 * h * k2[j]
    slope(y, forcing, k3)
    for j in range(x.size):
        y[j] = x[j] + h * k3[j]
    slope(y, forcing, k4)
    for j in range(x.size):
        dx[j] = h / 6.0 * (k1[j] + 2.0 * k2[j] + 2.0 * k3[j] + k4[j])


def steps_in(days, ring):
    """How many steps there are in some days, at least one."""
    return max(1, round(days / (ring.step * DAYS_PER_UNIT)))


def on_the_attractor(ring):
    """The state after the spin-up, in binary64 in every arithmetic, so that all begin alike."""
    advance = sciprec.lift(increment, "fp64")
    x = ring.forcing + np.where(np.arange(ring.sites) == ring.sites // 2, 0.008, 0.0)
    work = [np.zeros(ring.sites) for _ in range(6)]
    for _ in range(steps_in(ring.spin_up_days, ring) if ring.spin_up_days else 0):
        advance(x, ring.forcing, ring.step, *work)
        x += work[-1]
    return x


@sciprec.model(
    "lorenz96",
    variables=("wave", "mean", "energy", "attractor_mean", "attractor_deviation"),
    brief={"days": 0.25, "output_days": 0.25, "spin_up_days": 0.0},
)
def lorenz96(ring: Ring, arithmetic):
    """Waves, their mean and energy, and what is known of the attractor."""
    advance = arithmetic.lift(increment)
    x = arithmetic.quantize(arithmetic.perturb(on_the_attractor(ring)))
    work = [np.zeros(ring.sites) for _ in range(6)]
    every, count = steps_in(ring.output_days, ring), steps_in(ring.days, ring)
    states, days = [x.copy()], [0.0]
    for step in range(1, count + 1):
        advance(x, ring.forcing, ring.step, *work)
        arithmetic.update(x, work[-1])
        if step % every == 0 or step == count:
            states.append(x.copy())
            days.append(step * ring.step * DAYS_PER_UNIT)
    wave = np.array(states)
    plain = {"units": "1"}
    return xr.Dataset(
        {
            "wave": (("time", "site"), wave, plain | {"long_name": "state"}),
            "mean": (("time",), wave.mean(axis=1), plain | {"long_name": "mean around the circle"}),
            "energy": (("time",), 0.5 * (wave**2).mean(axis=1), plain),
            "attractor_mean": ((), wave.mean(), plain | {"long_name": "mean over time and sites"}),
            "attractor_deviation": ((), wave.std(), plain),
        },
        coords={"time": ("time", days, {"units": "days since 2000-01-01"})},
        attrs={"primary": "wave", "budgets": "energy", "pictures": "growth lines spectrum"},
    )
