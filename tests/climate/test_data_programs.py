"""The programs in data/climate: Legendre sums in few bits, stages of the transform in arithmetics
of their own, and rows of the stored tables.
"""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from data.climate.stage_precision import stage_errors
from sciprec.climate.stages.staged_transform import StagedTransform
from sciprec.climate.transform.legendre import coefficient_orders
from sciprec.climate.transform.spectral import SpectralTransform, reference_transform
from sciprec.foundation.errors import InputError
from sciprec.precision.formats.stages import STAGES, Stages
from tests.climate.small_models import SMALL

FOLDER = Path(__file__).parents[2] / "data" / "climate"


def program(name):
    """A program of the folder as a module."""
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    sys.modules[name] = importlib.util.module_from_spec(spec)  # dataclasses look themselves up
    spec.loader.exec_module(sys.modules[name])
    return sys.modules.pop(name)


@pytest.fixture(scope="module")
def sums():
    """The program of Legendre sums, its stages at T10, and random coefficients."""
    half_products = program("half_products")
    legendre = half_products.Legendre(SMALL)
    rng = np.random.default_rng(5)
    pair = rng.uniform(-1, 1, (2, 3, legendre.order.size))
    return half_products, legendre, pair[0] + 1j * np.where(legendre.order > 0, pair[1], 0.0)


def test_legendre_sums_are_those_of_the_transform(sums):
    """Fourier coefficients of the package's fields on the grid, and the coefficients back."""
    _, legendre, coefficients = sums
    exact = np.full(legendre.order.size, True)
    rows = legendre.synthesis(coefficients, exact)
    transform = reference_transform(SMALL)
    spectrum = np.zeros((transform.degree.size, 6))
    inside = transform.degree <= SMALL.number
    spectrum[inside, 0::2], spectrum[inside, 1::2] = coefficients.real.T, coefficients.imag.T
    fields = [transform.grid.to_output(x)[::-1] for x in transform.to_grid(spectrum)]
    found = np.fft.rfft(fields, norm="forward")[..., : SMALL.number + 1]
    np.testing.assert_allclose(np.swapaxes(rows, 1, 2), found, rtol=0, atol=1e-13)
    np.testing.assert_allclose(legendre.analysis(rows, exact), coefficients, rtol=0, atol=1e-13)
    rms = np.sqrt(np.sum(transform.grid.mean(np.square(fields))))
    assert legendre.size(rows) == pytest.approx(rms)


def test_errors_of_half_products_vanish_where_all_wavenumbers_are_kept(sums):
    half_products, legendre, coefficients = sums
    errors = dict(zip(half_products.KEPT, half_products.synthesis_errors(legendre, coefficients),
                      strict=True))  # fmt: skip
    assert 2.0**-13 < errors["nothing"] < 2.0**-11
    assert errors["l <= 3"] < errors["nothing"] and errors["l <= 10"] == 0.0
    rows = legendre.synthesis(coefficients, np.full(legendre.order.size, True))
    bands = half_products.analysis_errors(legendre, rows, zonal=False)
    assert bands[0] == 0.0 and all(2.0**-14 < x < 2.0**-9 for x in bands[1:3])


def test_a_row_of_the_table_compares_equal_numbers_of_days():
    make = program("make")
    rng = np.random.default_rng(2)
    members = [{n: rng.normal(size=(4, 2, 3)) for n in ("u", "temperature")} for _ in range(5)]
    shares = np.full((2, 3), 1 / 6)
    run = {n: members[0][n][:2] + 9.0 for n in ("u", "temperature")} | {"blow_up": np.array("")}
    row = make.compared(make.Climate(backend="fp16", compensation="carry"), run, members, shares)
    assert (row["name"], row["days"], row["blow_up"]) == ("fp16+carry", 100, None)
    middle = np.mean([one["u"][:2] for one in members], axis=(0, 1))
    expected = run["u"].mean(axis=0) - middle
    np.testing.assert_allclose(row["u"]["bias"], expected, rtol=1e-3)
    assert row["u"]["departure"]["mean"] == pytest.approx(expected.mean(), rel=1e-3)
    assert row["u"]["within"] is False and row["u"]["limits"]["mean"] < 9.0
    empty = {n: x[:0] for n, x in members[0].items()} | {"blow_up": np.array("day 3")}
    assert make.compared(make.Climate(), empty, members, shares) == {
        "name": "fp64", "days": 0, "blow_up": "day 3"
    }  # fmt: skip


DEGREE, ORDER = coefficient_orders(10)


def spectrum(fields=2):
    values = np.random.default_rng(4).uniform(-1, 1, (DEGREE.size, 2 * fields)) / 16
    values[DEGREE > 10] = 0.0
    values[ORDER == 0, 1::2] = 0.0
    return values


@pytest.mark.slow
@pytest.mark.parametrize("stages", [Stages(), Stages("mlu370", kept_orders=11)])
def test_in_binary64_it_is_the_transform(stages):
    """Also where all orders are kept."""
    plain, staged = SpectralTransform(SMALL, "fp64"), StagedTransform(SMALL, stages)
    fields = plain.to_grid(spectrum())
    np.testing.assert_array_equal(staged.to_grid(spectrum()), fields)
    back = plain.to_spectrum(fields, extra_degree=True)
    np.testing.assert_array_equal(staged.to_spectrum(fields), back)


@pytest.mark.slow
def test_each_order_is_that_of_its_own_arithmetic():
    none, all_, some = (StagedTransform(SMALL, Stages("mlu370", kept_orders=n)) for n in (0, 11, 3))
    grid = StagedTransform(SMALL, Stages()).to_grid(spectrum())
    low, high, mixed = (transform.to_spectrum(grid) for transform in (none, all_, some))
    assert (low != high).any()
    np.testing.assert_array_equal(mixed[ORDER < 3], high[ORDER < 3])
    np.testing.assert_array_equal(mixed[ORDER >= 3], low[ORDER >= 3])
    waves = [t.to_grid(spectrum()) for t in (none, all_, some)]
    low, high, mixed = (np.fft.rfft(x, axis=1) for x in waves)
    for found, own, other in (
        (mixed[:, :3], high[:, :3], low[:, :3]), (mixed[:, 3:], low[:, 3:], high[:, 3:])
    ):  # fmt: skip
        assert np.abs(found - own).max() < 1e-3 * np.abs(found - other).max()


@pytest.mark.slow
def test_each_degree_is_that_of_its_own_arithmetic():
    none, some, exact = (
        StagedTransform(SMALL, stages)
        for stages in (Stages("mlu370"), Stages("mlu370", kept_degrees=4), Stages())
    )
    grid = exact.to_grid(spectrum())
    low, mixed, high = (transform.to_spectrum(grid) for transform in (none, some, exact))
    np.testing.assert_array_equal(mixed[DEGREE < 4], high[DEGREE < 4])
    np.testing.assert_array_equal(mixed[DEGREE >= 4], low[DEGREE >= 4])
    only = np.where((DEGREE < 4)[:, None], spectrum(), 0.0)
    np.testing.assert_array_equal(some.to_grid(only), exact.to_grid(only))
    rest = spectrum() - only
    np.testing.assert_array_equal(some.to_grid(rest), none.to_grid(rest))
    assert (some.to_grid(spectrum()) != none.to_grid(spectrum())).any()


@pytest.mark.slow
def test_errors_of_both_stages():
    choices = {
        "none": Stages(), "legendre": Stages("mlu370"), "fourier": Stages(fourier="mlu370"),
        "kept": Stages("mlu370", kept_orders=1),
    }  # fmt: skip
    found = stage_errors("williamson_5", SMALL, 0.25, choices)
    none, legendre, fourier, kept = found
    assert [row["name"] for row in found] == list(choices)
    assert none["synthesis"] < 1e-14 and none["analysis"] == none["tendency"] == 0.0
    for row in (legendre, fourier):
        assert 2.0**-23 < row["synthesis"] < row["tendency"] < 2.0**-10
        assert 2.0**-23 < row["analysis"] < 2.0**-15
        assert len(row["by_degree"]) == 11
    assert kept["by_order"]["m = 0"] < legendre["by_order"]["m = 0"]
    assert list(kept["by_order"]) == ["m = 0", "m = 1 to 3", "m = 4 to 15"]


@pytest.mark.slow
def test_half_precision_products_want_their_sums_in_single_precision():
    choices = {name: STAGES[name] for name in ("fp16-legendre", "mixed")}
    half, mixed = stage_errors("williamson_6", SMALL, 2.0, choices)
    for name in ("synthesis", "analysis", "tendency"):
        assert mixed[name] < half[name]


def test_cases_with_other_equations_get_a_sentence():
    with pytest.raises(InputError, match="'held_suarez' has the equations .*williamson_5"):
        stage_errors("held_suarez", SMALL, 1.0)
