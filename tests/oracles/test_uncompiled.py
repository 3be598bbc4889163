"""Generated modules run by Python give the bits of compiled code, and leave no operation out.

That they give those of the exact twin is said by `random_kernels.test_random_kernels`; compiled
kernels with random bits and in fixed point are compared with them there.
"""

from copy import deepcopy

import numpy as np
import pytest

from sciprec.precision import lift
from sciprec.precision.rewriting.build import Build
from sciprec.precision.rewriting.program import Program
from sciprec.precision.rounding.variant import CAREFUL
from tests.oracles.fixed_operations import FixedOperations
from tests.oracles.python_operations import PythonOperations
from tests.oracles.uncompiled import Uncompiled, run_module, uses_of_rows
from tests.random_kernels.backends import resolved, takes, trial_of
from tests.random_kernels.generator import further_case, library_case, random_case, whole_case
from tests.random_kernels.trials import arguments_of, compared, kernel_of, or_singular


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["fp16", "float:p=21,round=ro"])
def test_uncompiled_kernels_give_the_bits_of_compiled_ones(backend, tmp_path):
    seed = next(n for n in range(100, 200) if takes(backend, random_case(n)))
    trial = trial_of(random_case(seed), backend)
    kernel, arithmetic = kernel_of(trial.case, tmp_path), resolved(backend)
    args = arguments_of(trial, kernel, arithmetic, 0)
    first, second = deepcopy(args), deepcopy(args)
    results = (
        or_singular(make(kernel, arithmetic, path=trial.path, trust_inputs=trial.trust), given)
        for make, given in ((Uncompiled, first), (lift, second))
    )
    outcome = compared(trial.case, tuple(results), first, second)
    assert outcome.kind == "same", f"{outcome.detail}\n{trial.text()}"


def test_a_number_of_the_carrier_passes_unrounded_as_in_the_engine():
    """The contents of arrays are rounded by the text of the module, and by no operation on it."""
    operations = PythonOperations(resolved("float:p=13,emin=-300,emax=300"))
    third = np.float64(1 / 3)
    assert operations.neg(third) == -1 / 3
    assert operations.neg(np.float32(third)) == operations.neg(operations.enter(third)) != -1 / 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backend", "count"),
    [
        pytest.param("fp16", 60, marks=pytest.mark.slow),
        ("float:p=8,round=sr", 20),
        ("fixed16", 20),
    ],
)
def test_every_operation_that_kernels_name_is_there(backend, count, tmp_path):
    """A new operation that the tables lack is said by the first text that names it."""
    arithmetic = resolved(backend)
    for made in (random_case, library_case, whole_case, further_case):
        for case in map(made, range(count if made is random_case else 10)):
            if not takes(backend, case):
                continue
            kernel = kernel_of(case, tmp_path)
            if arithmetic.fixed:
                units = lift(kernel, arithmetic, ranges=1.0, adapt=None).units
                program = Program(kernel, arithmetic, Build(variant=CAREFUL))
                run_module(program, FixedOperations(units))
            else:
                Uncompiled(kernel, arithmetic)


def test_every_operation_in_fixed_point_has_a_row_of_its_own(tmp_path):
    """But loads of one array, and the products and sums of one sum, which share theirs."""
    fixed, shared = resolved("fixed16"), {"accumulate", "product"}
    for case in filter(lambda case: takes("fixed16", case), map(random_case, range(40))):
        program, seen = Program(kernel_of(case, tmp_path), fixed, Build(variant=CAREFUL)), {}
        for function, name, row in uses_of_rows(program):
            own = program.frames[function].rows[row]
            operation = program.sites[own.site].operation
            stem = "".join(c if c.isalnum() else "_" for c in operation.replace("-", "m"))
            named = name.removeprefix("sp_").removeprefix("own_")
            same = named == stem.rstrip("_") or {named, operation} == shared
            assert same and own.part == 0, (function, name, operation)
            assert (function, row) not in seen or operation in {"enter", *shared}, (function, name)
            seen[function, row] = name
