"""Means, sums and extremes between stored states, in every arithmetic, beside exact fractions."""

import contextlib
import io
import random
from dataclasses import replace
from fractions import Fraction

import cftime
import numpy as np
import pytest
import xarray as xr

from sciprec import climate
from sciprec.climate.running.checkpoint import Checkpoints
from sciprec.climate.running.integration import integrate
from sciprec.climate.running.request import Restart, check_request
from sciprec.climate.running.time_statistics import TimeStatistics
from sciprec.foundation.errors import InputError
from sciprec.foundation.time_methods import TIME_METHODS, over_time, statistics_of
from sciprec.results.output import files
from tests.climate.small_models import SMALL, Stopped, require_same_bits, stop_at
from tests.draws import few

STEP = 1200.0
CASES = {
    "williamson_5": ("u", "height", "zonal_mean_v", "kinetic_energy_spectrum"),
    "williamson_1": ("height", "zonal_mean_height"),
    "jablonowski_williamson": ("temperature", "surface_pressure", "zonal_mean_eddy_heat_flux"),
}


def exactly(rows):
    """The sums of rows (states, values), and of their sizes, as fractions."""
    flat = np.asarray(rows).T
    return [(sum(map(Fraction, row)), sum(map(abs, map(Fraction, row)))) for row in flat.tolist()]


def require_right(found, rows, method, seconds):
    """A statistic is that of the rows: extremes to the bit, sums to two roundings of their value
    and those of their sizes squared.
    """
    if method in ("maximum", "minimum"):
        extreme = np.max if method == "maximum" else np.min
        np.testing.assert_array_equal(found, extreme(rows, axis=0))
        return
    rows = np.reshape(rows, (len(rows), -1))
    places = np.random.default_rng(0).integers(0, rows.shape[1], 60)
    rows, found = rows[:, places], np.ravel(found)[places]
    factor = Fraction(1, len(rows)) if method == "mean" else Fraction(seconds)
    for mine, (total, size) in zip(found.tolist(), exactly(rows), strict=True):
        bound = abs(total) * Fraction(1, 2**52) + size * Fraction(len(rows) ** 2, 2**104)
        assert abs(Fraction(mine) - total * factor) <= bound * factor, (mine, float(total))


@pytest.mark.parametrize("seed", range(6))
def test_sums_of_any_numbers_are_those_of_fractions(seed):
    """Numbers of far different sizes that cancel, in pieces of any length."""
    draw = np.random.default_rng(seed)
    every, count = int(draw.integers(1, 4)), int(draw.integers(3, 40))
    numbers = draw.normal(size=(count, 5)) * 10.0 ** draw.integers(-12, 13, (count, 5))
    numbers[1:-1:2] = -numbers[: count - 2 : 2][: len(numbers[1:-1:2])]
    numbers = draw.permuted(numbers, axis=0)
    names = [name for name in statistics_of("x")]
    statistics = TimeStatistics(names, every, 0.5)
    looked_at, before = [], 0
    while before < count:
        length = min(int(draw.integers(1, 9)), count - before)
        for more, sampled in statistics.pieces(before, length):
            before += more
            if sampled:
                looked_at.append(before - 1)
                statistics.take(lambda name, k=before - 1: numbers[k])
        if draw.random() < 0.3:  # through the file of a checkpoint
            stream = io.BytesIO()
            np.savez(stream, **statistics.arrays())
            stream.seek(0)
            statistics = TimeStatistics(names, every, 0.5)
            with np.load(stream) as arrays:
                statistics.restore(dict(arrays), dict.fromkeys(names, (5,)))
    assert looked_at == list(range(every - 1, count, every))
    found = statistics.values(lambda name: numbers[-1])
    for method in TIME_METHODS:
        if looked_at:
            require_right(found[f"time_{method}_x"], numbers[looked_at], method, 0.5 * every)


def drawn(seed, cut_short=False):
    """A case, the arguments of a run, and names of statistics; the run may end in the middle of an
    interval, between two states that statistics look at.
    """
    draw = random.Random(seed)
    case = draw.choice(list(CASES)[: 2 if cut_short else 3])
    every = draw.choice([1, 2] if cut_short else [1, 2, 3, 4, 6, 12])
    between = every * draw.choice([3, 4] if cut_short else [1, 2, 3])
    steps = draw.randint(between, 3 * between + between // 2)
    if cut_short:
        steps = 2 * between + draw.randint(every, between - 1)
    picked = draw.sample(CASES[case], draw.randint(1, 2))
    names = [name for variable in picked for name in statistics_of(variable)]
    scheme = draw.choice([None, "semi_implicit_leapfrog"] if "jablon" in case else
                         [None, "rk4", "semi_implicit_leapfrog"])  # fmt: skip
    if case == "williamson_1" and scheme == "semi_implicit_leapfrog":
        scheme = None
    given = {
        "step_seconds": STEP, "time_scheme": scheme, "threads": draw.choice([1, 2]),
        "backend": draw.choice(["fp64"] if "jablon" in case else ["fp64", "fp32", "bf16"]),
        "statistics_period": draw.choice([None, 2, 3]),
    }  # fmt: skip
    if given["statistics_period"] is not None:
        given["statistics_period"] *= between * STEP / 86400
    asked = draw.sample(names, draw.randint(1, min(4, len(names))))
    return case, steps, between, every, picked, asked, given


@pytest.mark.parametrize("seed", few(range(6), 3))
def test_statistics_are_those_of_the_states_of_every_step(seed):
    """Random cases, steps, intervals and arithmetics; the run itself keeps its bits."""
    case, steps, between, every, picked, names, given = drawn(seed)
    days = steps * STEP / 86400
    asked = [*picked, *names]
    run = integrate(case, SMALL, days, output_hours=between / 3, variables=asked,
                    sample_every=every, **given)  # fmt: skip
    period = round((given.pop("statistics_period") or 0) * 86400 / STEP) or between
    each = integrate(case, SMALL, days, output_hours=1 / 3, variables=picked, **given)
    ends = [*range(0, steps, between), steps]
    np.testing.assert_array_equal(run.time_days, each.time_days[ends])
    for name in picked:
        np.testing.assert_array_equal(run.fields[name], np.asarray(each.fields[name])[ends])
    begun = [0, *(start // period * period for start in ends[:-1])]
    np.testing.assert_allclose(run.since_days, np.array(begun) * STEP / 86400, rtol=1e-14)
    for name in names:
        method, variable = over_time(name)
        states = np.asarray(each.fields[variable])
        first = run.fields[name][0]
        np.testing.assert_array_equal(first, 0.0 * first if method == "sum" else states[0])
        for k, (start, end) in enumerate(zip(begun[1:], ends[1:], strict=True)):
            looked_at = [n for n in range(start + 1, end + 1) if n % every == 0] or [end]
            if len(looked_at) == 1 and looked_at[0] % every:  # none: the state alone
                continue
            require_right(run.fields[name][k + 1], states[looked_at], method, every * STEP)


@pytest.mark.slow
@pytest.mark.parametrize(("case", "name", "options"), [
    ("rossby_haurwitz", "vorticity", {"backend": "fp16", "scaling": "dynamic"}),
    ("rossby_haurwitz", "vorticity", {"backend": "fp16", "monitor": {
        "watch": ["vorticity", "increment:vorticity"], "level": 1, "every": 5, "drift_every": 7}}),
    ("rossby_haurwitz", "vorticity", {"backend": "fp32", "stages": "mixed-m0"}),
    ("williamson_1", "height", {"backend": "mlu370-noise", "compensation": "carry"}),
])  # fmt: skip
def test_statistics_change_nothing_else_of_a_run(case, name, options):
    """Neither a bit nor a word, whatever else looks at the state or makes its steps again."""
    given = options | {"step_seconds": STEP, "output_hours": 4.0, "time_scheme": "rk4"}
    plain = climate.run(case, SMALL, 0.5, variables=[name], **given)
    names = [name, f"time_mean_{name}", f"time_minimum_zonal_mean_{name}"]
    run = climate.run(case, SMALL, 0.5, variables=names, **given)
    for name in set(plain.data_vars) - {"time_bnds"}:
        np.testing.assert_array_equal(run[name], plain[name], err_msg=name)
    times = {"processor_seconds", "processor_seconds_range"}
    assert {n: x for n, x in run.attrs.items() if n not in times} == {
        n: x for n, x in plain.attrs.items() if n not in times
    }


@pytest.mark.parametrize("seed", few(range(30, 34), 2))
def test_a_run_that_is_killed_or_becomes_longer_ends_with_the_same_bits(
    seed, tmp_path, written_each_time
):
    """Stopped at random moments, in the middle of an interval and of a block; begun as a shorter
    run, whose last interval the longer one goes on with.
    """
    case, steps, between, every, picked, names, given = drawn(seed, cut_short=True)
    draw = random.Random(seed)
    days, asked = steps * STEP / 86400, [*picked, *names]
    how = given | {"output_hours": between / 3, "variables": asked, "sample_every": every}
    whole = integrate(case, SMALL, days, **how)
    place = Restart(tmp_path, lasting=True) if draw.random() < 0.5 else tmp_path

    for _ in range(3):
        with contextlib.suppress(Stopped):
            integrate(case, SMALL, days, checkpoints=place,
                      progress=stop_at(draw.uniform(0, days)), **how)  # fmt: skip
    again = integrate(case, SMALL, days, checkpoints=place, **how)
    require_same_bits(whole, again, f"{seed}")
    longer = (steps + draw.randint(1, 2 * between)) * STEP / 86400
    require_same_bits(
        integrate(case, SMALL, longer, **how),
        integrate(case, SMALL, longer, checkpoints=place, **how), f"{seed}, longer",
    )  # fmt: skip


def test_a_checkpoint_with_other_statistics_is_not_gone_on_from(tmp_path, monkeypatch):
    how = {"step_seconds": STEP, "output_hours": 2.0, "variables": ["time_mean_u"]}
    shapes, statistics = {"time_mean_u": (3, 4)}, TimeStatistics(["time_mean_u"], 1, STEP)
    statistics.take(lambda name: np.ones((3, 4)))
    statistics.restore(statistics.arrays(), shapes)
    for damage in (
        lambda arrays: arrays | {"sum u": np.zeros(3)},
        lambda arrays: {name: x for name, x in arrays.items() if name != "carried u"},
        lambda arrays: arrays | {"count": np.array(-2)},
        lambda arrays: arrays | {"maximum u": np.zeros((3, 4))},
        lambda arrays: {name: np.float32(x) for name, x in arrays.items()},
    ):
        with pytest.raises(ValueError, match="its means and extremes are not those of this run"):
            statistics.restore(damage(statistics.arrays()), shapes)
    monkeypatch.setattr(TimeStatistics, "arrays", lambda self: {"count": np.array(-2)})
    integrate("williamson_5", SMALL, 8 / 72, checkpoints=tmp_path, **how)
    with pytest.raises(InputError, match="its means and extremes are not those of this run"):
        integrate("williamson_5", SMALL, 12 / 72, checkpoints=tmp_path, **how)


def test_a_run_that_blows_up_has_statistics_of_finite_states_alone():
    run = integrate("williamson_5", SMALL, 5.0, backend="fp16", step_seconds=7200.0,
                    output_hours=4.0, time_scheme="rk4", parameters={"viscosity": 0.0},
                    variables=["height", "time_mean_height", "time_maximum_height"])  # fmt: skip
    assert run.blow_up
    for name, values in run.fields.items():
        assert np.isfinite(values).all(), name


def test_names_bounds_and_methods_are_those_of_cf(tmp_path):
    """Dates that xarray groups; the same in memory and in files of both formats."""
    pytest.importorskip("zarr")
    names = [*statistics_of("u"), "time_mean_zonal_mean_u", "time_sum_kinetic_energy_spectrum"]
    run = climate.run("williamson_5", SMALL, 1.0, step_seconds=STEP, output_hours=6.0,
                      variables=names, sample_every=3)  # fmt: skip
    cells = {name: run[name].attrs["cell_methods"] for name in names}
    assert cells == {
        **{f"time_{m}_u": f"lat: lon: point time: {m} (interval: 3600 s)" for m in TIME_METHODS},
        "time_mean_zonal_mean_u": "lat: point circle: mean time: mean (interval: 3600 s)",
        "time_sum_kinetic_energy_spectrum": "area: mean time: sum (interval: 3600 s)",
    }
    assert run.time_sum_u.units == "m s-1 s" and "standard_name" not in run.time_sum_u.attrs
    assert run.time_mean_u.standard_name == "eastward_wind"
    assert run.time.attrs["bounds"] == "time_bnds" and run.time_bnds.dims == ("time", "bnds")
    hours = (run.time_bnds - run.time[0]) / np.timedelta64(1, "h")
    np.testing.assert_array_equal(hours, [[0, 0], [0, 6], [6, 12], [12, 18], [18, 24]])
    by_day = run.time_mean_u.isel(time=slice(1, None)).resample(time="1D", closed="right").mean()
    np.testing.assert_allclose(by_day[0], run.time_mean_u[1:].mean("time"), rtol=1e-13)
    for ending in ("nc", "zarr"):
        path = files.write(run, tmp_path / f"run.{ending}")
        with xr.open_dataset(path, engine="zarr" if ending == "zarr" else None) as read:
            xr.testing.assert_identical(read.load(), run)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"variables": ["time_mean_hight"]}, "unknown variable 'time_mean_hight'.*did you mean"),
        ({"variables": ["time_median_u"]}, "and time_mean_, time_maximum_, time_minimum_, time_s"),
        ({"sample_every": 2}, "sample_every is given without a variable such as time_mean_u"),
        ({"variables": ["time_sum_u"], "sample_every": 7},
         "sample_every = 7 does not divide the 72 steps"),
        ({"variables": ["time_sum_u"], "sample_every": 0}, "sample_every"),
        ({"statistics_period": "month"}, "statistics_period is given without a variable such as"),
        ({"variables": ["time_sum_u"], "statistics_period": "moth"},
         "is 'moth'; accepted: a number of days, 'month' or 'year'; did you mean 'month'"),
        ({"variables": ["time_sum_u"], "statistics_period": 1.5},
         "= 1.5 days is no multiple of output_hours = 24; take a multiple of 1 days, or another"),
        ({"tracers": {"time_mean_x": 1.0}}, "a tracer is named 'time_mean_x'"),
    ],
)  # fmt: skip
def test_what_cannot_be_kept_gets_a_sentence(given, words):
    with pytest.raises(InputError, match=words):
        climate.run("williamson_5", SMALL, 1.0, step_seconds=STEP, **given)


@pytest.mark.slow
@pytest.mark.parametrize("calendar", ["standard", "noleap", "360_day", "julian"])
def test_months_and_years_are_those_of_the_calendar(calendar):
    """Of output times that meet their ends, and of ones that do not; in branches, too."""
    for hours, begin in ((24.0, "1999-11-29"), (100.0, "2000-02-20T05:00")):
        request = check_request(
            "williamson_5", SMALL, 500.0, step_seconds=3600.0, output_hours=hours,
            variables=["time_mean_u"], start_date=begin, calendar=calendar,
        )  # fmt: skip
        stored = [0, *request.stops]
        dates = cftime.num2date(stored, f"hours since {begin.replace('T', ' ')}", calendar)
        for period, parts in (("month", 2), ("year", 1)):
            starts, expected = replace(request, period=period).interval_starts(stored), [0]
            for k in range(1, len(stored)):
                new = (dates[k - 1].timetuple()[:parts] != dates[k - 2].timetuple()[:parts])
                expected.append(stored[k - 1] if k > 1 and new else expected[-1])
            assert starts == expected


def test_what_a_run_looks_at_decides_whose_checkpoint_it_is(tmp_path):
    runs = [check_request("williamson_5", SMALL, 1.0, step_seconds=STEP, variables=["time_mean_u"],
                          sample_every=every) for every in (1, 2)]  # fmt: skip
    assert len({Checkpoints(tmp_path, run).identity for run in runs}) == 2
