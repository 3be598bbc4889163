"""The digits of random kernels in fp64, beside those that 1,200 bits know.

    python -m tests.diagnosis.digits_survey FOLDER FIRST LAST

Kernels are those of `followed_survey`, and of every fifth seed one that decides by its numbers. Of
each number of a result *above* is one whose digits are told by more than one too many, *near* one
within a digit. What a seed found is in FOLDER/seed_N.json as soon as it is complete.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import mpmath
import numpy as np

import sciprec
from sciprec.foundation.errors import InputError
from tests.diagnosis import followed_survey
from tests.diagnosis.bound_survey import FMA
from tests.diagnosis.kept_seeds import kept
from tests.oracles.reals import BITS, real_kernel
from tests.random_kernels.trials import kernel_in

MOST = 53 * np.log10(2.0)
DECIDES = (
    "{} = math.floor({} * {k}) / {k}", "{} = {} % {l}", "{} = max({}, {l} * {})",
    "{} = {} - np.sign({}) * {l}", "{} = {} + int({} * {k}) / {k}", "{} = {} // {l} - {l} * {}",
    "{} = {} if {} > {l} * {} else {}",
)  # fmt: skip
LINEAR = ("{} = {} + {l} * {}", "{} = {} - {}", "{} = {m} * {} - {}", "{} = {} * {k} / {k}")


def source(seed: int) -> str:
    """The kernel of a seed: its source."""
    if seed % 5 != 4:
        return followed_survey.source(seed)
    rng = np.random.default_rng(seed)
    while True:
        lines = []
        for target in followed_survey.STATES:
            form = str(rng.choice((*DECIDES, *DECIDES, *LINEAR)))
            operands = rng.choice(["a", "b", "c", "x[i]"], form.count("{}") - 1)
            l, m = rng.uniform(0.1, 4.0, 2).round(1)  # noqa: E741
            k = float(rng.choice([10.0, 100.0, 1e3]))
            lines.append(form.format(target, *operands, l=l, m=m, k=k))
        body = "\n".join(f"        {line}" for line in [*lines, "out[i] = c"])
        text = (
            "import math\nimport numpy as np\n\n\ndef kernel(x, y, out):\n"
            "    a, b, c = y[0], y[1], y[0]\n"
            f"    for i in range({int(rng.integers(3, 12))}):\n{body}\n"
        )
        if followed_survey.stays(text, arguments(seed)):
            return text


def arguments(seed: int) -> tuple[np.ndarray, ...]:
    """Arguments of a seed's kernel; where it decides they have one decimal, so that ties arise."""
    args = followed_survey.arguments(seed)
    return tuple(a.round(1) for a in args) if seed % 5 == 4 else args


def true_digits(tested: np.ndarray, exact: list) -> np.ndarray:
    """Right digits of every number; NaN beside what is no real number."""
    right = []
    with mpmath.workprec(BITS):
        for number, true in zip(tested.ravel().tolist(), exact, strict=True):
            if not mpmath.isfinite(true):
                right.append(np.nan)
                continue
            if not np.isfinite(number):
                right.append(0.0)
                continue
            error, size = abs(mpmath.mpf(number) - true), abs(mpmath.mpf(true))
            if error == 0:
                right.append(MOST)
            else:
                right.append(float(-mpmath.log10(error / size)) if size else 0.0)
    return np.clip(right, 0.0, MOST)


def surveyed(seed: int) -> dict[str, Any]:
    """Claims about a seed's kernel, and the facts."""
    text, args = source(seed), arguments(seed)
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        kernel = kernel_in(text, Path(folder))
        try:
            found = sciprec.digits(kernel, args, output="out", condition=False)
            exact = real_kernel(kernel, FMA)(args)[1][2].ravel().tolist()
        except (InputError, OverflowError, ZeroDivisionError) as error:
            return {"refused": str(error)[:200]}
    told, right = found.digits["out"].ravel(), true_digits(found.results["out"], exact)
    real = ~np.isnan(right)
    known = real & ~np.isnan(told)
    apart = told[known] - right[known]
    counts = {
        "numbers": int(real.sum()),
        "known": int(known.sum()),
        "above": int((apart > 1.0).sum()),
        "near": int((abs(apart) <= 1.0).sum()),
    }
    if known.all():
        counts["worst"] = [float(told.min()), float(right.min())]
    return counts | {"decides": seed % 5 == 4, "otherwise": len(found.decisions),
                     "most_above": float(apart.max(initial=0.0))}  # fmt: skip


def survey(folder: Path, first: int, last: int) -> dict[str, Any]:
    """Run every seed that the folder does not hold yet; counts over all that it holds."""
    every = [one for one in kept(folder, range(first, last), surveyed) if "numbers" in one]
    total = Counter()
    for one in every:
        total.update({key: one[key] for key in ("numbers", "known", "above", "near")})
        total["kernels"] += 1
        total["kernels with one above"] += one["above"] > 0
        total["kernels with none known"] += one["known"] == 0 < one["numbers"]
    return dict(total) | {"above": [(o["seed"], o["above"]) for o in every if o["above"]]} | {
        "numbers above": total["above"]}  # fmt: skip


if __name__ == "__main__":
    print(survey(Path(sys.argv[1]), *map(int, sys.argv[2:4])))
