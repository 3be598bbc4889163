"""Searches of random kernels with branches, each held to an oracle of its own; seeds that were done
are not done again.

    python -m tests.tuning.branching_survey FOLDER FIRST LAST

FOLDER/SEED.txt says "same", or what is wrong.
"""

from __future__ import annotations

import sys
from collections import Counter
from copy import deepcopy
from pathlib import Path

import numpy as np

from sciprec import InputError, tune
from tests.random_kernels.trials import kernel_in
from tests.tuning.branching_kernels import Run, drawn, error_of

TOLERANCES = (0.2, 1e-2, 1e-3, 1e-6)
SETS = (("fp64", "fp32", "fp16"), ("fp16", "fp64"), ("fp32", "fp16"), ("fp64", "fp32"))
SAID = "Lifted whole to"


def differences(seed: int, folder: Path) -> list[str]:
    """The faults of the searches of a seed, in both ways to round."""
    return [
        f"{rounds}: {one}" for rounds in ("operations", "everything")
        for one in _of_search(seed, folder, rounds)
    ]  # fmt: skip


def _of_search(seed: int, folder: Path, rounds: str) -> list[str]:
    case, rng = drawn(seed), np.random.default_rng([seed, 1])
    tolerance, formats = float(rng.choice(TOLERANCES)), SETS[rng.integers(len(SETS))]
    everything, wrong = rounds == "everything", []
    truth = Run(case, lambda line: "fp64", everything).results

    def error(format_at, everything: bool) -> float:
        return error_of(Run(case, format_at, everything).results, truth)

    kernel = kernel_in(case.source, folder)
    try:
        found = tune(
            kernel, deepcopy(case.args), tolerance=tolerance, formats=formats, rounds=rounds
        )
    except InputError as refused:
        widest = min(error(lambda line, f=f: f, everything) for f in formats)
        if "above the limit" in str(refused) and widest > tolerance:
            return []
        return [f"{refused}; by the oracle {widest}"]
    given = dict(found.assignment)
    expected = error(lambda line: given.get(line, found.assignment.default), everything)
    if not np.isclose(found.error, expected, rtol=1e-9, atol=0.0):
        wrong.append(f"error {found.error}, by the oracle {expected}")
    if found.good and not expected <= tolerance:
        wrong.append(f"called good with {expected} of {tolerance}")
    whole = {name: error(lambda line, f=name: f, True) for name in formats}
    told = {t.label: t.error for t in found.pareto if t.label in formats}
    if found._problem.groups and set(told) != set(formats):
        wrong.append(f"lifted whole to {sorted(told)}")
    for name, one in told.items():
        if not np.isclose(one, whole[name], rtol=1e-9, atol=0.0):
            wrong.append(f"lifted whole to {name}: {one}, by the oracle {whole[name]}")
    used = {found.formats[n] for n in found._choice}
    if len(used) == 1 and (whole[used.pop()] > tolerance) != (SAID in found.verdict):
        wrong.append(f"{found.verdict} By the oracle {whole}")
    return wrong


def survey(folder: Path, first: int, last: int) -> None:
    """Search the kernels of seeds FIRST to LAST - 1."""
    folder.mkdir(parents=True, exist_ok=True)
    counts: Counter[str] = Counter()
    for seed in range(first, last):
        path = folder / f"{seed:05d}.txt"
        if not path.exists():
            try:
                path.write_text("\n".join(differences(seed, folder)) or "same")
            except Exception as error:
                path.write_text(f"{type(error).__name__}: {error}")
        text = path.read_text()
        counts["same" if text == "same" else "differs"] += 1
        if text != "same":
            print(seed, text, flush=True)
    print(dict(counts), flush=True)


if __name__ == "__main__":
    survey(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
