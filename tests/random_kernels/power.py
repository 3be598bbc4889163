"""What the sample of the slow tests finds: every planted fault by at least one of its trials.

    python -m tests.random_kernels.power [FAULT ...]

prints for each fault (all, where none is named) the seed and backend of the first trial of the
sample that finds it.
"""

from __future__ import annotations

import sys

from tests.random_kernels.backends import drawn
from tests.random_kernels.cases import Trial
from tests.random_kernels.faults import FAULTS
from tests.random_kernels.generator import random_case
from tests.random_kernels.runner import run_trials

SAMPLE = (*range(32), 128, 170, 190)
"""Seeds whose kernels every slow test run takes, about a minute of one core: the first ones, and
some with what few have."""

FOUND_BY = {
    "subnormals_kept": (1, "mlu370"),
    "literal_escapes": (2, "float:p=14,round=rz"),
    "swapped_operands": (190, "fp32"),
    "chunks_start_from_one": (10, "float:p=10,emin=-20,emax=20,round=rd"),
    "sticky_bit": (3, "float:p=21,round=ro"),
    "guard_bits": (4, "mlu370-noguard"),
    "elementary_unrounded": (10, "float:p=10,emin=-20,emax=20,round=rd"),
    "vector_unfit_instruction": (128, "float:p=14,round=rz"),
    "loop_variable": (170, "bf16"),
    "draws_repeat": (2, "float:p=8,round=sr"),
}
"""Fault -> seed and backend of the sample's trial that finds it."""


def sample() -> list[Trial]:
    """Each kernel of the sample in three drawn backends."""
    return [trial for seed in SAMPLE for trial in drawn(random_case(seed), 3)]


def finder(fault: str) -> Trial | None:
    """The first trial of the sample that finds a planted fault; None where none does."""
    met = [trial for trial in sample() if FAULTS[fault][1](trial)]
    outcomes = run_trials(met, fault=fault, per_process=4)
    return next((trial for trial, outcome in outcomes if outcome.kind != "same"), None)


if __name__ == "__main__":
    for name in sys.argv[1:] or FAULTS:
        found = finder(name)
        print(f'    "{name}": {(found.case.seed, found.backend) if found else None},', flush=True)
