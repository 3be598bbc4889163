"""How much the sample of random kernels finds: every fault that is planted."""

import pytest

from sciprec.precision.rounding import mode
from tests.random_kernels.cases import Trial
from tests.random_kernels.faults import FAULTS
from tests.random_kernels.planted import run_planted
from tests.random_kernels.power import FOUND_BY, sample


def chosen(fault: str) -> Trial:
    """The trial of the sample that finds it."""
    seed, backend = FOUND_BY[fault]
    (trial,) = (t for t in sample() if (t.case.seed, t.backend) == (seed, backend))
    return trial


@pytest.mark.slow
def test_planted_faults_are_found():
    """Each by its trial alone: after all of them, without a fault, the first is as it should be."""
    first, *_ = FOUND_BY
    *outcomes, last = run_planted([(f, chosen(f)) for f in FOUND_BY] + [("", chosen(first))])
    found = {fault: o.kind for fault, o in zip(FOUND_BY, outcomes, strict=True)}
    if not mode.has_feature("sse4a"):  # Intel's: LLVM translated it for Emerald Rapids
        assert found.pop("vector_unfit_instruction") in ("same", "aborted")
    missed = {f: k for f, k in found.items() if k not in ("differs", "aborted", "hung", "raised")}
    assert not missed and last.kind == "same"
    assert found.get("vector_unfit_instruction", "aborted") == "aborted"


def test_every_planted_fault_has_a_trial():
    assert FOUND_BY.keys() == FAULTS.keys() and len(FAULTS) >= 10
