"""Forcings of users on a column of air, and the clock that they see."""

import datetime
from fractions import Fraction

import numpy as np
import pytest

from sciprec import Assignment, LiftError, climate
from sciprec.climate.physics.clock import Clock
from sciprec.foundation.dates import start_date
from sciprec.foundation.errors import InputError

DAY = 86400


@climate.forcing(parameters={"rate": (0.25, "1/day"), "aim": (250.0, "K")})
def newtonian(fields, t, p, out):
    for k in range(fields.sigma.shape[0]):
        for j in range(fields.latitude.shape[0]):
            for i in range(fields.temperature.shape[2]):
                out.temperature[k, j, i] += p.rate * (p.aim - fields.temperature[k, j, i])


@climate.forcing(parameters={"heating": (1.0, "K/day"), "turn": (2 * np.pi, "rad")})
def seasonal(fields, t, p, out):
    for k in range(fields.sigma.shape[0]):
        out.temperature[k, 0, 0] += p.heating * np.sin(p.turn * t.year)
        out.u[k, 0, 0] += p.heating * np.sin(p.turn * t.day)


@climate.forcing
def unbounded(fields, t, out):
    out.v[1, 0, 0] += 1.0 / (fields.temperature[1, 0, 0] - 280.0)


@pytest.mark.parametrize("calendar", ["proleptic_gregorian", "standard", "noleap", "360_day"])
def test_phases_are_exact_at_any_step_to_a_million_days(calendar):
    """Against Python's dates, or lengths of years that are the same."""
    step = Fraction(DAY, 77)
    clock = Clock(step, start_date("1999-03-01T06:00", calendar))
    lengths = {"noleap": 365, "360_day": 360}
    before = {"noleap": 59, "360_day": 60}
    for days in (0, 1, 305, 306, 3651, 999_999):
        for extra in (0, 1, 58, 76):
            steps = 77 * days + extra
            seconds = 6 * 3600 + steps * step
            whole, rest = divmod(seconds, DAY)
            if calendar in lengths:
                year = (before[calendar] + int(whole)) % lengths[calendar]
                length = lengths[calendar]
            else:
                date = datetime.date(1999, 3, 1) + datetime.timedelta(int(whole))
                year, length = date.timetuple().tm_yday - 1, 365 + _is_leap(date.year)
            assert clock.phases(steps) == (rest / DAY, (year + rest / DAY) / length)


def _is_leap(year):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


@pytest.mark.parametrize("scheme", ["euler", "leapfrog"])
def test_newtonian_cooling_has_its_closed_form(scheme):
    """(1 - r dt)^n of the departure; two chains of 2 dt in the leapfrog without a filter."""
    run = climate.column(newtonian, 5, levels=3, temperature=[200.0, 250.0, 300.0],
                         time_scheme=scheme, step_seconds=3600, output_hours=1,
                         parameters={"rate": 0.5})  # fmt: skip
    n, rdt = np.arange(121), 0.5 / 24
    factor = (1 - rdt) ** n
    if scheme == "leapfrog":
        factor = (1 - 2 * rdt) ** (n // 2) * np.where(n % 2, 1 - rdt, 1.0)
    departure = np.array([-50.0, 0.0, 50.0])
    expected = 250.0 + departure * factor[:, None]
    np.testing.assert_allclose(run["temperature"], expected, rtol=4 * 121 * 2.0**-53)
    assert run.attrs["blow_up"] == "" and (run["u"] == 0.0).all()


@pytest.mark.parametrize("scheme", ["euler", "leapfrog"])
def test_seasons_and_days_are_the_sums_of_their_sines(scheme):
    """With the leapfrog the sines at step n - 1, twice, on the way from there to step n + 1."""
    run = climate.column(seasonal, 730, levels=2, step_seconds=21600, output_hours=240,
                         time_scheme=scheme, calendar="noleap")  # fmt: skip
    for name, period, start in (("temperature", 365 * 4, 280.0), ("u", 4, 0.0)):
        x = [start, start]
        for n in range(4 * 730):
            back = 1 if scheme == "leapfrog" and n > 0 else 0
            change = (1 + back) / 4 * np.sin(2 * np.pi * (n - back) / period)
            x.append(x[n + 1 - back] + change)
        np.testing.assert_allclose(run[name].values[:, 1], x[1::40], atol=1e-9)


def test_fp16_column_has_the_bits_of_numpy_s_binary16():
    run = climate.column(newtonian, 2, backend="fp16", levels=2, temperature=[281.3, 222.9],
                         time_scheme="euler", step_seconds=3600, output_hours=1)  # fmt: skip
    half, x = np.float16, np.array([281.3, 222.9], np.float16)
    for stored in run["temperature"].values:
        np.testing.assert_array_equal(stored, x)
        x = x + half(1 / 24) * (half(0.25) * (half(250.0) - x))


def test_slow_heating_moves_in_fp16_with_carry_alone():
    options = {"backend": "fp16", "levels": 2, "step_seconds": 1200, "time_scheme": "euler"}
    slow = {"rate": 0.02, "aim": 281.0}
    plain, carried = (
        climate.column(newtonian, 20, compensation=way, parameters=slow, **options)
        for way in (None, "carry")
    )
    assert (plain["temperature"] == 280.0).all()
    expected = 281.0 - (1 - 0.02 / 72) ** (20 * 72)
    assert abs(carried["temperature"].values[-1] - expected).max() <= 0.125


def test_formats_of_lines_reach_the_forcing_and_places_that_are_not_there_are_refused():
    line = newtonian.kernel.__code__.co_firstlineno + 5
    names = {"kernel": newtonian.kernel, "default": "fp64"}
    narrow, wide = (
        climate.column(newtonian, 1, levels=2, backend=backend)["temperature"].values[-1]
        for backend in (Assignment({line: "fp16"}, **names), "fp64")
    )
    assert (1e-6 < abs(narrow - wide)).all() and (abs(narrow - wide) < 0.5).all()
    with pytest.raises(InputError, match="gives a format to line 3, which no kernel of the"):
        climate.column(newtonian, 1, levels=2, backend=Assignment({"other:3": "fp16"}))


def test_tendency_that_is_not_finite_is_named():
    run = climate.column(unbounded, 1, levels=2)
    assert run.sizes["time"] == 1
    assert run.attrs["blow_up"].startswith(
        "blow-up at day 0: the forcing 'unbounded' sets the tendency of v to inf at level 2"
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"parameters": 3}, "parameters is 3; accepted: a table of parameters of 'newtonian'"),
        ({"output_hours": 1 / 3, "days": 3500}, "stored states"),
        ({"days": 1_000_001, "output_hours": 2400}, "accepted: a number of days > 0"),
        ({"parameters": {"rat": 1.0}}, "no parameter 'rat'; known: rate, aim; did you mean 'rate'"),
        ({"parameters": {"rate": "fast"}}, "rate is 'fast'; accepted: a finite number"),
        ({"step_seconds": 7000}, "no whole number of steps of 7000 s; accepted: a multiple"),
        ({"step_seconds": -1}, "step_seconds is -1; accepted: a number above 0"),
        ({"temperature": [1.0, 2.0, 3.0]}, "temperature is .*; accepted: one finite number, or"),
        ({"latitude": 91}, "latitude is 91; accepted: degrees north, from -90 to 90"),
        ({"time_scheme": "rk4"}, "unknown time scheme 'rk4'"),
        ({"backend": "fixed16"}, "'fixed16', whose units are not known for a forcing"),
        ({"calendar": "lunar"}, "unknown calendar 'lunar'"),
    ],
)  # fmt: skip
def test_requests_out_of_range_are_refused(options, words):
    with pytest.raises(InputError, match=words):
        climate.column(newtonian, **{"days": 1, "levels": 2, **options})


def test_field_that_is_not_there_is_refused_with_the_nearest():
    with pytest.raises(InputError, match=r"line \d+: 'f' has no 'temprature'; known: u, v, .*"
                       "did you mean 'temperature'"):  # fmt: skip

        @climate.forcing()
        def cool(f, t, out):
            out.temperature[0, 0, 0] = f.temprature[0, 0, 0]


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"q": (5.0, "K/dai")}, "unit of parameter 'q' is 'K/dai'; .*did you mean 'K/day'"),
        ({"q": (5.0, "bar")}, "unit of parameter 'q' is 'bar'; accepted: 1, K, m/s, hPa"),
        ({"q": 5.0}, "parameter 'q' is 5.0; accepted: .value, unit. in a table"),
        ({"a b": (5.0, "K")}, "the name of a parameter is 'a b'; accepted: a name of Python"),
    ],
)
def test_parameters_without_unit_or_name_are_refused(parameters, words):
    with pytest.raises(InputError, match=words):
        climate.forcing(parameters=parameters)


def test_kernel_with_other_arguments_or_that_does_not_lift_is_refused():
    with pytest.raises(InputError, match=r"arguments \(fields, out\); accepted: \(fields, t, out"):

        @climate.forcing()
        def short(fields, out):
            pass

    @climate.forcing()
    def opened(fields, t, out):
        with open("x") as file:
            out.temperature[0, 0, 0] = len(file.read())

    with pytest.raises(LiftError, match="opened"):
        climate.column(opened, 1, levels=2)
