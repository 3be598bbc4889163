"""Small grids, the model of a request before its first step, and comparisons of runs, for tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sciprec.climate.physics.forcings import forcing
from sciprec.climate.running.dynamic_scales import scaled_model
from sciprec.climate.running.integration import Trajectory
from sciprec.climate.running.lifted_model import LiftedModel, conversion_of
from sciprec.climate.running.request import Request
from sciprec.climate.transform.grid import GaussianGrid, Truncation
from sciprec.instruments.assigning.scaling import ScaledBackend

SMALL = Truncation(10, 16, 32, 1200.0)


class Stopped(Exception):
    """A run was interrupted."""


def stop_at(days: float) -> Callable[[float], None]:
    """A progress function that interrupts a run at some day."""

    def progress(now: float) -> None:
        if now >= days:
            raise Stopped

    return progress


@forcing(parameters={"rate": (0.5, "1/day"), "rise": (3.0, "m/s")}, tracers=("dye",))
def stirred(fields, t, p, out):
    """Winds are braked; a dye follows the days."""
    for k in range(fields.u.shape[0]):
        for j in range(fields.u.shape[1]):
            for i in range(fields.u.shape[2]):
                out.u[k, j, i] -= p.rate * fields.u[k, j, i]
                out.v[k, j, i] -= p.rate * fields.v[k, j, i]
                out.dye[k, j, i] += p.rate * (t.day - fields.dye[k, j, i])


def started(request: Request) -> tuple[Any, np.ndarray]:
    """The conversion of a request, and its initial state in binary64 (coefficients, columns)."""
    grid = GaussianGrid(request.truncation)
    places = grid.lon_radians[:, None], grid.lat_radians[None, :]
    initial = request.case.initial(*places, **request.parameters.case)
    convert = conversion_of(request, initial)
    return convert, convert.to_state(initial)


def model_of(request: Request) -> tuple[LiftedModel, Any, np.ndarray]:
    """The model of a request, with its scales where it has some, its conversion, and its initial
    state as it is stored.
    """
    convert, exact = started(request)
    is_scaled = isinstance(request.backend, ScaledBackend)
    model = scaled_model(request, convert, exact) if is_scaled else LiftedModel(request, convert)
    return model, convert, model.stored(exact)


def require_same_bits(one: Trajectory, other: Trajectory, about: str = "") -> None:
    """Require equal fields and budgets at the same times, to the last bit."""
    np.testing.assert_array_equal(one.time_days, other.time_days, err_msg=about)
    for kind in ("fields", "budgets"):
        mine, its = getattr(one, kind), getattr(other, kind)
        assert mine.keys() == its.keys(), about
        for name, values in mine.items():
            np.testing.assert_array_equal(values, its[name], err_msg=f"{about} {name}")


def random_spectrum(transform: Any, fields: int, seed: int = 0) -> np.ndarray:
    """Coefficients of real fields up to the truncation, all within 1."""
    spectrum = np.random.default_rng(seed).uniform(-1, 1, (transform.degree.size, 2 * fields))
    spectrum[transform.degree > transform.truncation.number] = 0.0
    spectrum[transform.order == 0, 1::2] = 0.0
    return spectrum
