"""Counts of `tune`: every operation that has a format, sums of arrays and whole powers too."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

from sciprec.arrays.metrics import metric_of
from sciprec.precision import resolve_backend
from sciprec.tools.tune.formats import formats_of
from sciprec.tools.tune.tuned import KernelProblem
from tests.random_kernels.generator import random_case
from tests.random_kernels.trials import kernel_in, kernel_of
from tests.random_kernels.values import values_of
from tests.tuning.by_profile import counted_call

X = np.random.default_rng(0).uniform(0.5, 1.5, 16)


def searched(source, folder: Path, *more):
    """The search of a kernel's source on two arrays and further arguments."""
    return KernelProblem(
        kernel_in(source, folder), (X, X[::-1].copy(), *more), output=None,
        metric=metric_of("relative_max"), formats=formats_of(("fp64", "bf16")), by="line",
    )  # fmt: skip


def problem_of(lines, folder: Path):
    """A kernel each of whose lines gives one number."""
    body = "".join(f"    out[{n}] = {line}\n" for n, line in enumerate(lines))
    source = f"import math\nimport numpy as np\n\n\ndef kernel(x, y, k, out):\n{body}"
    return searched(source, folder, 3, np.zeros(len(lines)))


SEEDS = (4, 12)


def test_random_kernels_count_what_a_profile_of_theirs_does(tmp_path):
    """But for `y -= x`: of arrays a profile counts elements as they are read and written, too."""
    compared = 0
    for seed in SEEDS:
        case = random_case(seed)
        kernel = kernel_of(case, tmp_path)
        args = tuple(values_of(case.arguments, resolve_backend("fp64"), seed, 0, False))
        problem = KernelProblem(
            kernel, args, output=None, metric=metric_of("relative_max"),
            formats=formats_of(("fp64", "bf16")), by="line",
        )  # fmt: skip
        found, known = problem.counts(), counted_call(kernel, args, problem.place_of)
        for place in found | known:
            if not re.match(r"[\w\[\], ]+[-+*/]= ", place.source):
                assert found[place] == known[place], (seed, place)
                compared += 1
    assert compared > 2 * len(SEEDS)


FEW = ("x[1] ** 5", "np.sum(x)", "x[2] ** k", "max(x[0], y[0])")
MANY = (
    "(x ** 3)[2]", "(x ** -2)[1]", "x.reshape(4, 4).sum(axis=0)[1]", "np.prod(x)", "np.std(x)",
    "np.cumsum(x)[9]", "np.median(x[:4])", "np.var(x)", "np.linalg.norm(x)", "(x @ y) / 3.0",
    "(x.reshape(4, 4) @ y.reshape(4, 4))[1, 2]", "np.interp(0.7, x, y)", "np.diff(x)[3]",
    "np.trapezoid(y, x)", "np.hypot(x[0], y[1])", "math.fmod(x[0], 0.3)", "x[0] % 0.3",
    "x[0] // 0.001", "2.0 ** x[3]", "abs(x[0])", "np.square(x)[1]", "np.cross(x[:3], y[:3])[0]",
    "np.where(x > 1.0, x, y)[0]", "np.max(x)", "np.sqrt(x)[2]", "(x[0] * 8.0)", "x[1] / 4.0",
)  # fmt: skip


@pytest.mark.parametrize("lines", [FEW, pytest.param(MANY, marks=pytest.mark.slow)], ids=len)
def test_a_line_that_a_format_changes_is_counted(lines, tmp_path):
    """Each line alone in bf16, counted or not: its number may differ only where it is."""
    problem = problem_of(lines, tmp_path)
    counted = {group.place for group in problem.groups}
    truth, differing = problem.truth()["out"], 0
    for number, place in enumerate(problem.places_of(problem.kernels[0])):
        table = problem.in_binary64(problem.kernels[0])
        table[number] = problem._words[1]
        problem.kernels[0].with_versions(table)
        found = problem.results(lambda _, table=table: table)["out"]
        changed = not np.array_equal(found, truth)
        assert place in counted or not changed, place
        differing += changed
    assert differing > len(lines) / 2 and not any(map(math.isnan, truth))
