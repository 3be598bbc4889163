"""What `tune` counts: every operation that has a format, sums of arrays and whole powers too."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

from sciprec import tune
from sciprec.arrays.metrics import metric_of
from sciprec.precision import resolve_backend
from sciprec.tools.tune.formats import formats_of
from sciprec.tools.tune.kernel_problem import KernelProblem
from tests.random_kernels.generator import random_case
from tests.random_kernels.trials import kernel_in, kernel_of
from tests.random_kernels.values import values_of
from tests.tuning.by_profile import counted_call

X = np.random.default_rng(0).uniform(0.5, 1.5, 16)
POWERS = (2, 3, 7, 8, -1, -2, -5)


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


def runs_of(lines, folder: Path):
    """How often each line computes, by its number from 0."""
    problem = problem_of(lines, folder)
    first = problem.kernel.__code__.co_firstlineno + 1
    found = {group.place.line - first: group.runs for group in problem.groups}
    return [found.get(n, 0) for n in range(len(lines))]


def test_whole_powers_count_their_products(tmp_path):
    """By repeated squaring: a square for every further bit, a product for every further one."""
    lines = [f"x[{n}] ** {n}" for n in POWERS]
    known = [n.bit_length() - 1 + abs(n).bit_count() - 1 + (n < 0) for n in POWERS]
    assert runs_of(lines, tmp_path) == known


def test_sums_of_arrays_count_their_additions(tmp_path):
    lines = ("np.sum(x)", "x.sum()", "np.mean(x)", "np.sum(x * y)", "np.dot(x, y)", "x[0] * y[0]")
    assert runs_of(lines, tmp_path) == [15, 15, 16, 31, 32, 1]


def test_statements_that_change_arrays_count_an_operation_an_element(tmp_path):
    """In loops of several threads, too."""
    source = (
        "import math\nfrom numba import prange\n\n\ndef kernel(x, y):\n    y -= x\n"
        "    y *= math.sqrt(2.0 * x[0])\n    for i in prange(x.size):\n        y[i] += 0.1\n"
        "        y[i] /= x[i] + 0.5\n"
    )
    problem = searched(source, tmp_path)
    found = {group.place.source: group.runs for group in problem.groups}
    assert list(found.values()) == [16, 18, 16, 32]


def test_sums_of_products_count_apart_from_the_products(tmp_path):
    source = (
        "from sciprec.precision.operations.reduce import accumulate, product\n\n\n"
        "def kernel(x, y):\n    s = 0.0\n    for i in range(x.size):\n"
        "        p = product(x[i], y[i])\n        if i > 5:\n            s = accumulate(s, p)\n"
        "    return s\n"
    )
    problem = searched(source, tmp_path)
    assert [group.runs for group in problem.groups] == [16, 10]


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


def test_a_line_with_a_sum_or_a_power_is_narrowed():
    def spread(x):
        total = np.sum(x)
        mean = total / x.size
        return (x[0] - mean) ** 2

    found = tune(spread, (X,), tolerance=0.5, formats=("fp64", "bf16"))
    first = spread.__code__.co_firstlineno
    assert dict(found.assignment) == dict.fromkeys(range(first + 1, first + 4), "bf16")
    assert found.cost == 0.25


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
