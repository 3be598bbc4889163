"""Random models of a user's own, watched and on a ladder of arithmetics."""

import re

import pytest

from tests.models.random_watched import trial


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "said"), [(25, "met: .* 1 repeated"), (4, "ended: ")])
def test_monitors_and_ladders_keep_the_bits_of_random_models(seed, said, tmp_path):
    """More: see `random_watched`."""
    assert re.search(said, trial(seed, tmp_path))
