"""A net: regressions that were seeded on purpose are found, and clean runs are not blamed."""

import pytest

from tests.baselines import regressions

WITHIN_INPUTS = {"a product distributed", "a carry dropped"}
"""The faults that may change results by less than rounding the inputs does."""


@pytest.mark.slow
def test_seeded_regressions_are_found_and_clean_checks_are_clean(seed=4):
    for _ in range(5):  # times are of a machine that does other things, too
        failing, noise, alarms = regressions.found_with(seed)
        if "a slower loop" in failing and not alarms:
            break
    every = {words for words, *_ in regressions.REGRESSIONS}
    assert len(every) == len(regressions.REGRESSIONS) == 20
    assert every - set(failing) <= WITHIN_INPUTS
    assert len(failing) + len(noise) == 20  # what --exact fails for
    assert alarms == 0
