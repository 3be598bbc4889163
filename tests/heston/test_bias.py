"""The bias of every scheme: measured against the truth, and falling with the steps."""

import math

import pytest

from data.heston import bias
from sciprec.heston.schemes.catalogue import schemes

N_PATHS = 2**14


@pytest.mark.slow
@pytest.mark.parametrize("scheme", sorted(schemes()))
def test_bias_of_many_steps_is_small(scheme):
    """On Andersen's case III: none seen for the exact scheme and QE, Euler's known one falls."""
    model, maturity = bias.andersen_cases()["III"]
    given = {"scheme": scheme, "n_paths": N_PATHS, "seed": 4}
    coarse, coarse_error = bias.measured_bias(model, [100.0], maturity, n_steps=5, **given)
    if "euler" in scheme:
        fine, fine_error = bias.measured_bias(model, [100.0], maturity, n_steps=40, **given)
        assert coarse[0] > 10 * coarse_error[0]
        assert abs(fine[0]) < 0.25 * coarse[0] + 4 * fine_error[0]
    else:
        assert abs(coarse[0]) < 4 * coarse_error[0] + 0.1


def test_cases_are_the_published_ones(references):
    for case, name in {"I": "andersen_1", "II": "andersen_2", "III": "andersen_3_r5"}.items():
        model, maturity = bias.andersen_cases()[case]
        expected, _, years, _ = references[f"{name}_K100"]
        assert (model, maturity) == (expected, years)


def test_table():
    model, maturity = bias.andersen_cases()["III"]
    rows = bias.bias_table(model, (90, 100), maturity, n_paths=512, steps_per_year=(1, 2))
    lifting = sum(entry.lifts for entry in schemes().values())
    assert len(rows) == 2 * (2 * lifting + len(schemes()) - lifting)
    assert all(math.isfinite(row.bias) and row.standard_error > 0 for row in rows)
    text = bias.markdown(rows)
    first = next(row for row in rows if row.strike == 100)
    assert f"| {first.bias:+.4f} ± {first.standard_error:.4f} |" in text
    assert (
        "| scheme | steps / year | K = 90 (" in text and len(text.splitlines()) == 2 + len(rows) / 2
    )
