"""Age of air in a resting atmosphere: where its sum stops, foretold by a formula."""

import math

import numpy as np
import pytest
import xarray as xr

from sciprec import climate
from sciprec.climate.running.labelled import fields_given
from sciprec.climate.running.lifted_model import LiftedModel
from sciprec.climate.running.request import check_request
from sciprec.foundation.loading import loaded_file
from tests.climate.small_models import SMALL

AGE = loaded_file("examples:age_of_air.py", "forcing", registers=False).age_of_air
LEVELS, CASE = 3, "jablonowski_williamson"


def rest():
    """Air of 300 K at rest over a plain."""
    lat, lon = np.arange(-87.5, 90.0, 5.0), np.arange(0.0, 360.0, 10.0)
    flat = np.zeros((lat.size, lon.size))
    deep = np.zeros((LEVELS, *flat.shape))
    axes = ("sigma", "lat", "lon")
    fields = {"u": deep, "v": deep, "temperature": deep + 300.0}
    ground = {"surface_pressure": flat + 1e5, "orography": flat}
    units = {"u": "m s-1", "v": "m s-1", "temperature": "K", "surface_pressure": "Pa",
             "orography": "m"}  # fmt: skip
    variables = {n: (axes, x, {"units": units[n]}) for n, x in fields.items()}
    variables |= {n: (axes[1:], x, {"units": units[n]}) for n, x in ground.items()}
    sigma = (np.arange(LEVELS) + 0.5) / LEVELS
    return xr.Dataset(variables, {"sigma": sigma, "lat": lat, "lon": lon})


def model_of(backend, step, start, **options):
    """The model of resting air with the age, and its level at the start."""
    request = check_request(
        CASE, SMALL, step / 86400, backend=backend, step_seconds=step, output_hours=step / 3600,
        parameters={"levels": LEVELS}, forcing=AGE, tracers={"age": start},
        initial=fields_given(rest(), None, CASE), **options,
    )  # fmt: skip
    from sciprec.climate.running.lifted_model import conversion_of
    from sciprec.climate.running.start import initial_state
    from sciprec.climate.transform.grid import GaussianGrid

    initial = initial_state(request, GaussianGrid(request.truncation))
    convert = conversion_of(request, initial)
    model = LiftedModel(request, convert)
    return model, model.steps.system.addition.level(model.stored(convert.to_state(initial)))


def half(x):
    """The nearest number of binary16."""
    return np.asarray(x, np.float64).astype(np.float16).astype(np.float64)


def brain(x):
    """The nearest number of bfloat16, by the bits of binary32."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return bits.view(np.float32).astype(np.float64)


def summed(rounded, start, slope, damping, steps, seconds, step):
    """A leapfrog of a constant slope with filter and diffusion, every operation rounded."""

    def added(state, increment, lost):
        lost = rounded(lost * rounded(state + increment))
        return rounded(state + rounded(increment - lost))

    strength = rounded(min(0.5 * 0.1 / 1200.0 * seconds, 0.5))
    share = rounded(0.53)
    total = rounded(rounded(slope + slope) + rounded(2.0 * rounded(slope + slope)))
    first = rounded(rounded(rounded(0.5 * step) * total) / 3.0)
    older, newer = start, added(start, first, damping[0])
    increment = rounded(2.0 * rounded(step * slope))
    for _ in range(steps - 1):
        newest = added(older, increment, damping[1])
        bend = rounded(rounded(older - newer) + rounded(newest - newer))
        moved = rounded(strength * bend)
        older = rounded(newer + rounded(share * moved))
        newer = rounded(newest - rounded(rounded(1.0 - share) * moved))
    return newer


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backend", "rounded", "bits", "step", "start", "days"),
    [("bf16", brain, 8, 1200.0, 0.0, 12), ("fp16", half, 11, 1200.0, 60.0, 10)],
)  # fmt: skip
def test_sum_stops_where_the_formula_says(backend, rounded, bits, step, start, days):
    """At 2^ceil(p + log2(2 dt)) days: there 2 dt is half of a unit in the last place, or less."""
    model, level = model_of(backend, step, start)
    columns = model.groups()["age"]
    slope = np.zeros_like(level.values)
    model.forcing.begin(0, 1)
    model.steps.system.tendency(level.values, slope)
    steps = round(days * 86400 / step)
    before, slopes = (
        x.reshape(model.shape).astype(float)[:, columns] for x in (level.values, slope)
    )
    levels = [level]
    model.steps.advance(levels, 0, steps)
    made = levels[0].values.reshape(model.shape)[:, columns]
    damping = model.steps.system.addition.damping.reshape(2, *model.shape)[:, :, columns]
    how = damping.astype(float), steps, step, model.convert.units.step
    foretold, above = summed(rounded, before, slopes, *how), 2 * (LEVELS - 1)
    np.testing.assert_array_equal(made[:, :above], foretold[:, :above])
    assert abs(made[0, above]) <= 0.1 * abs(made[0, 0])  # renewed
    unit = 2.0 ** math.ceil(math.log2(start)) if start else 1.0
    limit = 2.0 ** math.ceil(bits + math.log2(2 * step / 86400))
    assert made[0, 0] * unit == pytest.approx(limit, rel=2.0**-bits)
    model.steps.advance(levels, steps, 72)
    np.testing.assert_array_equal(levels[0].values.reshape(model.shape)[0, columns][0], made[0, 0])


@pytest.mark.slow
def test_carried_sums_go_on():
    flow = climate.run(
        CASE, "T10", 3, step_seconds=300.0, output_hours=24, initial=rest(), levels=LEVELS,
        tracers={"age": 15.0}, forcing=AGE, backend="fp16", compensation="carry",
    )  # fmt: skip
    age = flow["age"].isel(time=-1, sigma=0)
    assert abs(float(age.mean()) - 18.0) < 0.3
