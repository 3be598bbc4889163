"""Random kernels on a pool of threads: with streams by number, and with frozen units, every bit is
that of one thread.

`python -m tests.random_kernels.on_threads FIRST LAST` runs the kernels of these seeds, each in two
arithmetics, and prints what differs.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from pathlib import Path

import numpy as np

from sciprec.precision import FORMATS, Arithmetic, Backend, lift
from sciprec.precision.rewriting.syntax import LiftError
from tests.oracles.fields import Fields
from tests.random_kernels.backends import MIXED, resolved
from tests.random_kernels.cases import Case
from tests.random_kernels.generator import further_case, library_case, random_case, whole_case
from tests.random_kernels.trials import flat, kernel_of, or_singular, with_objects
from tests.random_kernels.values import values_of

TASKS, THREADS, REPRESENTATIVE = 24, 8, 3
MADE = (random_case, whole_case, library_case, further_case)
AT_RANDOM = Backend(
    "roles at random", Arithmetic(FORMATS["binary16"], "sr"), Arithmetic(FORMATS["bfloat16"], "sr"),
    Arithmetic(FORMATS["binary32"]), Arithmetic(FORMATS["bfloat16"], "sr"), noise=(1e-3, 1e-2),
)  # fmt: skip
BACKENDS = (
    "float:p=8,round=sr", "mlu370-noise", "fixed32", "float:p=11,emin=-14,emax=15,round=sr",
    AT_RANDOM, "fixed16", "float:p=20,round=sr", "fp16", "mix-fp32-fix16", "mlu370",
    *list(MIXED)[:2], "bf16,round=sr,random_bits=6", "fp64,round=sr", "fp64,round=mca",
)  # fmt: skip


def case_of(seed: int) -> Case:
    """The kernel of a seed, of each kind in turn."""
    return MADE[seed % len(MADE)](seed)


def on_threads(case: Case, backend: str | Backend, folder: Path) -> str:
    """How results on a pool differ from those of one thread: "same", "refused" where the kernel is
    not lifted, or which task does.
    """
    arithmetic = backend if isinstance(backend, Backend) else resolved(backend)
    try:
        lifted = lift(kernel_of(case, folder), arithmetic)
    except LiftError:
        return "refused"
    given = [values_of(case.arguments, arithmetic, case.seed, n, False) for n in range(TASKS)]
    for fields in (a for args in given for a in args if isinstance(a, Fields)):
        fields._kind = lifted.kernel.__globals__["Tank"]

    def task(n: int, call: bool = True) -> bytes:
        args = deepcopy(given[n])
        result = or_singular(with_objects(lifted.stream(n)), args)
        held = [a.held() if isinstance(a, Fields) else a for a in args]
        return np.array(flat((result, *held))).tobytes()

    try:
        for n in range(REPRESENTATIVE if arithmetic.fixed else 1):
            task(n)
    except LiftError:
        return "refused"
    if arithmetic.fixed and lifted.has_units:
        lifted.freeze()
    alone = [task(n) for n in range(TASKS)]
    with ThreadPoolExecutor(THREADS) as pool:
        for order in (range(TASKS), range(TASKS)[::-1]):
            wrong = [n for n, x in zip(order, pool.map(task, order), strict=True) if x != alone[n]]
            if wrong:
                return f"tasks {wrong} differ"
    return "same"


def main(first: int, last: int) -> None:
    """Run the kernels of some seeds, and print what differs."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        for seed in range(first, last):
            for backend in (BACKENDS[seed % len(BACKENDS)], BACKENDS[(seed + 5) % len(BACKENDS)]):
                found = on_threads(case_of(seed), backend, Path(folder))
                counts[found if found in ("same", "refused") else "differs"] += 1
                if found not in ("same", "refused"):
                    print(seed, backend, found, flush=True)
    print(dict(counts))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
