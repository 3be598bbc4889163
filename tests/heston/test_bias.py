"""The bias of every scheme: measured against the truth, and falling with the steps."""


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
