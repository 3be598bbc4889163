"""Which trials find the planted faults: uncompiled those of what writes the generated module,
compiled, and in the sample of the slow tests, those below it.

    python -m tests.random_kernels.power [FAULT ...]

prints for each fault (all, where none is named) the seed and backend of the first trial that finds
it: one of the sample, else one of further kernels.
"""

from __future__ import annotations

import itertools
import sys

from tests.random_kernels.backends import drawn, trial_of
from tests.random_kernels.cases import Trial
from tests.random_kernels.faults import FAULTS
from tests.random_kernels.generator import random_case
from tests.random_kernels.runner import run_planted

FOUND_BY = {
    "overflow_tie": (438, "fp16"),
    "subnormals_kept": (245, "mlu370"),
    "fma_rounded_twice": (685, "float:p=30"),
    "vector_unfit_instruction": (128, "float:p=14,round=rz"),
    "minimum_of_nan": (240, "float:p=2,emin=-4,emax=4"),
    "integers_escape": (34, "bf16"),
    "folded_constants": (428, "float:p=24,emin=-300,emax=300,round=ru"),
    "sticky_bit": (211, "float:p=40,round=rz"),
    "cut_off_bits": (100, "float:p=16"),
    "guard_bits": (4, "mlu370-noguard"),
    "elementary_unrounded": (
        709, "float:p=11,emin=-14,emax=15,round=rz,subnormals=flush,overflow=saturate"),
    "ends_of_the_range": (505, "fixed:bits=11,round=rd"),
    "imaginary_parts_unrounded": (3, "float:p=21,round=ro"),
    "changes_overlooked": (8, "mlu370-noguard"),
    "exact_in_mixed_roles": (62, "roles: binary32, binary16, binary32, binary16"),
}  # fmt: skip
"""Fault -> seed and backend of the sample's trial that finds it, compiled."""
FOUND_UNCOMPILED = {
    "loop_variable": (554, "bf16"),
    "literal_escapes": (182, "e4m3fn"),
    "swapped_operands": (505, "fixed:bits=11,round=rd"),
    "chunks_start_from_one": (240, "float:p=2,emin=-4,emax=4"),
    "draws_repeat": (280, "float:p=20,round=sr"),
    "product_turned": (3, "float:p=21,round=ro"),
}
"""Fault -> seed and backend of a trial that finds it."""

SAMPLE = (4, 8)
"""Seeds whose kernels every slow test run takes, each in two drawn backends."""


def trial(seed: int, backend: str) -> Trial:
    """The trial of a random kernel in a backend, one of those that were drawn for it."""
    return trial_of(random_case(seed), backend)


def sample() -> list[Trial]:
    """The trials of the slow tests: those that find a planted fault, and the kernels of the sample.
    """
    finding = [trial(*row) for row in sorted(set(FOUND_BY.values())) if row[0] not in SAMPLE]
    return finding + [trial for seed in SAMPLE for trial in drawn(random_case(seed), 2)]


def finder(fault: str) -> Trial | None:
    """The first trial that finds a planted fault: of the sample, or of 800 further kernels."""
    further = (trial for seed in range(800) for trial in drawn(random_case(seed), 3))
    met = filter(FAULTS[fault][1], itertools.chain(sample(), further))
    while trials := list(itertools.islice(met, 4)):
        outcomes = run_planted([(fault, t, fault in FOUND_BY) for t in trials])
        for found, outcome in zip(trials, outcomes, strict=True):
            if outcome.kind != "same":
                return found
    return None


if __name__ == "__main__":
    for name in sys.argv[1:] or FAULTS:
        found = finder(name)
        print(f'    "{name}": {(found.case.seed, found.backend) if found else None},', flush=True)
