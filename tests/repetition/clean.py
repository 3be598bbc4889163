"""Programs that are the same each time: registered kernels, random kernels in random arithmetics,
and scenarios. Run as a program this counts how many of them `sciprec repeat` blames.
"""

from __future__ import annotations

import importlib
import random
import sys
import time
from pathlib import Path

import numpy as np

from sciprec.foundation.errors import InputError
from sciprec.precision import resolve_backend
from sciprec.regression.repetition.kernels import repeat_kernel
from sciprec.regression.repetition.scenarios import repeat_scenario
from tests.precision.registered import registered_kernels
from tests.random_kernels.generator import random_case
from tests.random_kernels.values import values_of

BACKENDS = (None, None, None, "fp32", "mlu370-noise")
"""Most kernels as they are: a lifted one compiles much that is compiled already once more."""
SCENARIOS = {
    "quickstart_heston": (), "quickstart_climate": ("climate.days=0.25",),
    "long_accumulation": ("accumulation.updates=4096",),
    "policies_heston": ("heston.simulation.n_paths=256",),
    "transform_stages": ("climate.days=0.25",),
}  # fmt: skip
_REGISTERED = """
import {module}
from tests.precision.registered import registered_kernels

kernel = {module}.{name}

def inputs():
    return tuple(registered_kernels()["{module}.{name}"].example())
"""


def registered(count: int, seed: int, folder: Path):
    """Registered kernels at random, as they are and lifted."""
    rng = random.Random(seed)
    names = sorted(n for n in registered_kernels() if "<" not in n)
    for number, full in enumerate(rng.sample(names, count)):
        module, _, name = full.rpartition(".")
        if not callable(getattr(importlib.import_module(module), name, None)):
            continue
        file = folder / f"registered{number}.py"
        file.write_text(_REGISTERED.format(module=module, name=name), encoding="utf-8")
        backend = rng.choice(BACKENDS)
        yield f"{full} in {backend}", lambda f=file, b=backend: repeat_kernel(
            f"{f}:kernel", f"{f}:inputs", backend=b
        )


def at_random(count: int, seed: int, folder: Path):
    """Random kernels."""
    rng = random.Random(seed)
    for number in range(seed, seed + count):
        case, backend = random_case(number), rng.choice(BACKENDS)
        if case.is_complex or case.has_object:
            continue
        file = folder / f"random{number}.py"
        file.write_text(case.source, encoding="utf-8")
        given = folder / f"random{number}.npz"
        values = values_of(case.arguments, resolve_backend("fp32"), number, 0)
        np.savez(given, **dict(zip((a.name for a in case.arguments), values, strict=True)))
        yield f"random kernel {number} in {backend}", lambda f=file, g=given, b=backend: (
            repeat_kernel(f"{f}:kernel", str(g), backend=b)
        )


def scenarios():
    """Scenarios that come with sciprec."""
    for name, changes in SCENARIOS.items():
        yield f"scenario {name}", lambda n=name, c=changes: repeat_scenario(n, changes=c)


if __name__ == "__main__":
    folder, seed = Path(sys.argv[1]), int(sys.argv[4])
    programs = [
        *registered(int(sys.argv[2]), seed, folder), *at_random(int(sys.argv[3]), seed, folder),
        *(scenarios() if len(sys.argv) < 6 else ()),
    ]  # fmt: skip
    right = done = 0
    for words, repeat in programs:
        begun = time.perf_counter()
        try:
            found = repeat()
        except InputError as error:
            print(f"not run: {words}: {error}", flush=True)
            continue
        done, right = done + 1, right + found.identical
        said = "identical" if found.identical else f"{found.answer}: {found.sentences()[0]}"
        print(f"{time.perf_counter() - begun:5.1f} s  {words}: {said}", flush=True)
    print(f"clean: {right} of {done} identical")
