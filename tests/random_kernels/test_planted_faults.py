"""How much the random kernels find: every fault that is planted."""

import pytest

from sciprec.precision.rounding import mode
from tests.random_kernels.faults import FAULTS
from tests.random_kernels.power import FOUND_BY, FOUND_UNCOMPILED, trial
from tests.random_kernels.runner import run_planted


@pytest.mark.slow
@pytest.mark.parametrize(
    "trials",
    [
        pytest.param(FOUND_UNCOMPILED, id="uncompiled"),
        pytest.param(FOUND_BY, id="compiled", marks=pytest.mark.survey),
    ],
)
def test_planted_faults_are_found(trials):
    """Each by its trial alone: after all of them, without a fault, the first is as it should be."""
    compiled, first = trials is FOUND_BY, next(iter(trials))
    planted = [(fault, trial(*row), compiled) for fault, row in trials.items()]
    *outcomes, last = run_planted([*planted, ("", trial(*trials[first]), compiled)])
    found = {fault: o.kind for fault, o in zip(trials, outcomes, strict=True)}
    # Intel's, and AMD's before AVX-512: LLVM translated it for these
    if compiled and not (mode.has_feature("sse4a") and mode.has_feature("avx512f")):
        assert found.pop("vector_unfit_instruction") in ("same", "aborted")
    missed = {f: k for f, k in found.items() if k not in ("differs", "aborted", "hung", "raised")}
    assert not missed and last.kind == "same"
    assert found.get("vector_unfit_instruction", "aborted") == "aborted"


def test_every_planted_fault_has_a_trial():
    assert FOUND_BY.keys() | FOUND_UNCOMPILED.keys() == FAULTS.keys() and len(FAULTS) >= 10
