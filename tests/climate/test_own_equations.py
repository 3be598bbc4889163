"""The equation set of docs/how_to/add_case.md and its case, and time schemes, each a row."""

from fractions import Fraction

import numpy as np
import pytest

from sciprec import climate
from sciprec.climate.catalogue import CASES, EQUATIONS, TIME_SCHEMES
from sciprec.climate.running.integration import integrate
from sciprec.climate.stepping import runge_kutta as rk
from sciprec.extend import SECONDS_PER_DAY
from sciprec.foundation.errors import InputError
from tests.climate.small_models import SMALL
from tests.extending import loading

FIRST, RATE_PER_DAY = 0.125, 3.0


@pytest.fixture
def registered():
    """Registries that forget what a test adds."""
    registries = CASES, EQUATIONS, TIME_SCHEMES
    before = [dict(registry) for registry in registries]
    yield
    for registry, kept in zip(registries, before, strict=True):
        registry.clear()
        registry.update(kept)


@pytest.fixture
def logistic(tmp_path):
    """dh/dt = r h (1 - h), from an even share: 1 / h - 1 decays with the rate r."""
    with loading(tmp_path) as load:
        yield load("set of equations")


def share(days, scheme, step_seconds=1200.0, **options):
    run = integrate(
        "even", SMALL, days, time_scheme=scheme, step_seconds=step_seconds, **options
    )
    return run.fields["share"][-1]


def exact(days):
    return 1.0 / (1.0 + (1.0 / FIRST - 1.0) * np.exp(-RATE_PER_DAY * days))


@pytest.mark.parametrize("scheme", ["rk4", "semi_implicit_leapfrog"])
def test_equations_of_ones_own_run_with_any_scheme(logistic, scheme):
    """Nothing is stiff: linear part and solution are left out."""
    order = TIME_SCHEMES[scheme].order
    error = np.abs(share(0.5, scheme) / exact(0.5) - 1.0).max()
    assert error < (RATE_PER_DAY * 1200.0 / SECONDS_PER_DAY) ** order


def test_their_fields_have_names_and_units_in_files(logistic):
    """Every run of them failed: sciprec's table of variables had no row for the field."""
    names = ["zonal_mean_share", "share"]
    dataset = climate.run("even", SMALL, 1 / 24, output_hours=1, time_scheme="rk4", variables=names)
    said = {name: (dataset[name].attrs["long_name"], dataset[name].attrs["units"])
            for name in ("share", "zonal_mean_share", "living")}  # fmt: skip
    assert said == {"share": ("share", "1"), "zonal_mean_share": ("zonal mean of share", "1"),
                    "living": ("living", "1")}  # fmt: skip
    assert dataset["share"].attrs["cell_measures"] == "area: cell_area"


TABLEAUS = {
    "heun": (2, ((1,),), (0.5, 0.5)),
    "kutta": (3, ((0.5,), (-1, 2)), (Fraction(1, 6), Fraction(2, 3), Fraction(1, 6))),
}


@pytest.mark.parametrize("name", TABLEAUS)
def test_a_time_scheme_is_a_row(logistic, name):
    order, rows, weights = TABLEAUS[name]
    made = rk.runge_kutta(name, order=order, rows=rows, weights=weights, source="Kutta (1901)")
    assert TIME_SCHEMES[name] is made and made.tendencies == len(weights)
    steps = [7200.0, 3600.0, 1800.0]
    errors = [np.abs(share(0.5, name, s) - exact(0.5)).max() for s in steps]
    slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert abs(slope - order) < 0.2


@pytest.mark.parametrize(
    ("rows", "weights", "words"),
    [
        ((), (0.5, 0.5), "has 2 weights and 0 rows; accepted: 1 to 8 weights, and a row for each"),
        ([[0.1] * i for i in range(1, 9)], [1 / 9] * 9, "has 9 weights and 8 rows"),
        (((1, 1),), (0.5, 0.5), "row 1 has 2 numbers; accepted: 1, one for each stage before"),
        (((1,),), (0.5, 0.4), "the weights sum to 0.9; accepted: 1"),
    ],
)
def test_what_is_no_tableau_gets_a_sentence(registered, rows, weights, words):
    with pytest.raises(InputError, match=f"the time scheme 'own'.*{words}"):
        rk.runge_kutta("own", order=2, rows=rows, weights=weights, source="nobody")
    assert "own" not in TIME_SCHEMES
