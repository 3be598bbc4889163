"""How much the sample of random kernels finds: every fault that is planted."""

import pytest

from tests.random_kernels.faults import FAULTS
from tests.random_kernels.power import FOUND_BY, sample
from tests.random_kernels.runner import run_trials


@pytest.mark.slow
@pytest.mark.parametrize("fault", FOUND_BY)
def test_planted_faults_are_found(fault):
    seed, backend = FOUND_BY[fault]
    (trial,) = (t for t in sample() if (t.case.seed, t.backend) == (seed, backend))
    ((_, outcome),) = run_trials([trial], fault=fault)
    assert outcome.kind in ("differs", "aborted", "hung", "raised"), outcome


def test_every_planted_fault_has_a_trial():
    assert FOUND_BY.keys() == FAULTS.keys() and len(FAULTS) >= 10
