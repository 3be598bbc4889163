"""Random models with scales keep their bits: unclipped, repeated, interrupted and watched."""

import pytest

from tests.climate.random_scaled import trial


@pytest.mark.slow
@pytest.mark.parametrize("seed", [30])
def test_random_models_with_scales_keep_their_bits(seed, tmp_path):
    """Equations of its own, all of it in binary16; more, and built-in ones: see `random_scaled`."""
    assert " halved, " in trial(seed, tmp_path)
