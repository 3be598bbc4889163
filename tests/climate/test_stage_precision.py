"""Stages of the transform in arithmetics of their own: orders do not meet, errors are where they
were made.
"""

import numpy as np
import pytest

from data.climate.stage_precision import stage_errors
from sciprec.climate.stages.staged_transform import StagedTransform
from sciprec.climate.transform.grid import Truncation
from sciprec.climate.transform.legendre import coefficient_orders
from sciprec.climate.transform.spectral import SpectralTransform
from sciprec.errors import InputError
from sciprec.precision.formats.stages import STAGES, Stages

SMALL = Truncation(10, 16, 32, 1200.0)
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
