"""Random kernels with random variables and lines of them watched: the bits of their results."""

from __future__ import annotations

import random
from copy import deepcopy

import numpy as np

import sciprec
from sciprec.instruments.observing.noting import found_in
from sciprec.precision.formats.backend import resolve_backend
from tests.random_kernels.generator import random_case
from tests.random_kernels.trials import kernel_of
from tests.random_kernels.values import values_of

BACKENDS = ("fp16", "bf16", "mlu370", "fp32", "e4m3fn", "float:p=8,round=sr")


def watched(seed: int, folder) -> tuple[bool, str]:
    """Whether a kernel leaves the same bits unwatched and watched at level 3, and what was seen.

    Args:
        seed: of the kernel, its arguments, the arithmetic and what is watched.
        folder: where its module is written.
    """
    case, rng = random_case(seed), random.Random(seed)
    kernel, backend = kernel_of(case, folder), resolve_backend(rng.choice(BACKENDS))
    values = values_of(case.arguments, backend, seed, 0, False)
    given = {a.name: value for a, value in zip(case.arguments, values, strict=True)}
    found = found_in(kernel, ())
    names, lines = sorted(found.names), sorted(found.giving)
    watch = rng.sample(names, min(4, len(names)))
    watch += [f"line:{n}" for n in rng.sample(lines, min(3, len(lines)))]
    every, how = rng.choice([1, 2]), {"truth": False}
    plain, seen = (
        sciprec.monitor(kernel, backend, deepcopy(given), watch=watch, level=level, every=every,
                        **how)
        for level in (0, 3)
    )  # fmt: skip
    mine, its = plain.results, seen.results
    same = mine.keys() == its.keys() and all(
        np.asarray(mine[n]).tobytes() == np.asarray(its[n]).tobytes() for n in mine
    )
    count = int(seen.history.column("count").sum())
    return same, f"{backend.name}, {watch}: {seen.steps.size} steps, {count} values"
