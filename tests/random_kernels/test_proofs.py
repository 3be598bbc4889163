"""Random kernels whose arguments are in the format: the kernel that takes them as they are computes
what the kernel does that rounds every load.
"""

import pytest

from sciprec.precision import lift, resolve_backend
from sciprec.precision.lifting import proof
from tests.random_kernels.generator import random_case, whole_case
from tests.random_kernels.trials import difference, kernel_of
from tests.random_kernels.values import values_of

BACKENDS = (
    "fp16", "float:p=16", "bf16", "mlu370", "e4m3fn", "float:p=30,emin=-20,emax=20",
    "float:p=13,round=ru",
    "float:p=5,emin=-9,emax=9,subnormals=flush,overflow=saturate", "float:p=14,emin=-30,emax=30",
)  # fmt: skip
TRIALS = (random_case, 1), (whole_case, 0)


def proven(make, seed: int, folder) -> bool:
    """Whether the trusting kernel of a case was run, which gives what the rounding one does."""
    case, backend = make(seed), resolve_backend(BACKENDS[seed % len(BACKENDS)])
    kernel = kernel_of(case, folder)
    lifted, rounding = lift(kernel, backend), lift(kernel, backend)
    lifted._proof = proof.Proof(lifted.dispatcher, kernel, backend, "auto", 1)
    rounding._proof = None
    for call in range(3):
        mine, its = (values_of(case.arguments, backend, seed, 0, True) for _ in range(2))
        results = (lifted(*mine), *mine), (rounding(*its), *its)
        what = f"{make.__name__} of {seed} in {backend.name}, call {call}"
        assert not (wrong := difference(*results, what, signed=True)), wrong
    return lifted._proof._trusting is not None


@pytest.fixture
def at_once(monkeypatch):
    for name, value in (("FIRST_SECONDS", 0.0), ("SECONDS_A_SITE", 0.0), ("LARGEST_SHARE", 1e9)):
        monkeypatch.setattr(proof, name, value)


@pytest.mark.slow
@pytest.mark.parametrize(("make", "seed"), TRIALS)
def test_kernels_that_trust_their_arguments_compute_what_the_others_do(
    make, seed, at_once, tmp_path
):
    assert proven(make, seed, tmp_path)
