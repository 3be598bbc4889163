"""Random models with scales keep their bits: unclipped, repeated, interrupted and watched."""

import pytest

from tests.climate.random_scaled import trial
from tests.draws import few


@pytest.mark.slow
@pytest.mark.parametrize("seed", few([15, 30], 1))
def test_random_models_with_scales_keep_their_bits(seed, tmp_path):
    """In binary16; of even seeds in equations of their own. More: see `random_scaled`."""
    assert " halved, " in trial(seed, tmp_path)
