"""Generated modules run by Python give the bits of the exact twin and of compiled code."""

import random
from copy import deepcopy

import numpy as np
import pytest

from sciprec.precision import lift
from tests.oracles.python_operations import PythonOperations
from tests.oracles.twin import run_twin
from tests.oracles.uncompiled import Uncompiled
from tests.random_kernels.backends import ALL, MIXED, resolved, takes, trial_of
from tests.random_kernels.generator import further_case, library_case, random_case, whole_case
from tests.random_kernels.trials import compared, kernel_of, or_singular
from tests.random_kernels.values import values_of

FLOATS = [n for n in (*ALL, *MIXED) if not (resolved(n).fixed or resolved(n).random)]


def trials_of(made, seeds, count: int) -> list:
    """Trials of kernels in backends of floats that are drawn."""
    found = []
    for seed in seeds:
        case = made(seed)
        names = [name for name in FLOATS if takes(name, case)]
        found += [trial_of(case, name) for name in random.Random(seed).sample(names, count)]
    return found


def required_alike(trial, one, other) -> None:
    """Both callables give, and write, the same bits."""
    args = values_of(trial.case.arguments, resolved(trial.backend), trial.seed, 0, trial.trust)
    first, second = deepcopy(args), deepcopy(args)
    results = or_singular(one, first), or_singular(other, second)
    outcome = compared(trial.case, results, first, second)
    assert outcome.kind == "same", f"{outcome.detail}\n{trial.text()}"


@pytest.mark.parametrize("made", [random_case, library_case, whole_case, further_case])
def test_uncompiled_kernels_give_the_bits_of_the_twin(made, tmp_path):
    for trial in trials_of(made, range(12 if made is random_case else 4), 3):
        kernel, backend = kernel_of(trial.case, tmp_path), resolved(trial.backend)
        one = Uncompiled(kernel, backend, path=trial.path, trust_inputs=trial.trust)
        required_alike(trial, one, lambda *x, k=kernel, b=backend: run_twin(k, b, x))


@pytest.mark.slow
def test_uncompiled_kernels_give_the_bits_of_compiled_ones(tmp_path):
    for trial in trials_of(random_case, range(100, 103), 1):
        given = {"path": trial.path, "trust_inputs": trial.trust}
        kernel, backend = kernel_of(trial.case, tmp_path), resolved(trial.backend)
        required_alike(trial, Uncompiled(kernel, backend, **given), lift(kernel, backend, **given))


def test_a_number_of_the_carrier_passes_unrounded_as_in_the_engine():
    """What arrays hold is rounded by the text of the module, and by no operation on it."""
    operations = PythonOperations(resolved("float:p=13,emin=-300,emax=300"))
    third = np.float64(1 / 3)
    assert operations.neg(third) == -1 / 3
    assert operations.neg(np.float32(third)) == operations.neg(operations.enter(third)) != -1 / 3
