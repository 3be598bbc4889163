"""Sums of products that kernels write as loops: they are what `@` and `np.dot` are, and what is no
such sum stays as it is.
"""

import ast
import importlib.util
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest

import sciprec
from sciprec.precision import FORMATS, Arithmetic, Backend, lift
from sciprec.precision.rewriting import contractions as rules
from tests.oracles.twin import run_twin
from tests.oracles.uncompiled import Uncompiled
from tests.precision.comparison import assert_same
from tests.precision.contraction_kernels import mistaken, written
from tests.precision.corpus import sums
from tests.precision.ways import ways


def roles(name: str, *given: tuple[str, str]) -> Backend:
    return Backend(name, *(Arithmetic(FORMATS[fmt], rounding) for fmt, rounding in given))


def named(backend) -> str:
    return getattr(backend, "name", backend)


HALF_PRODUCTS = roles(
    "half products", ("binary32", "rn"), ("binary32", "rn"), ("binary32", "rn"), ("binary16", "rn")
)
APART = roles(
    "all apart", ("binary16", "rn"), ("bfloat16", "rn"), ("binary32", "rz"), ("tf32", "rn")
)
WIDE_SUMS = roles(
    "wide sums", ("binary32", "rn"), ("binary32", "rn"), ("binary64", "rn"), ("binary64", "rn")
)
MIX = "mix-fp32-fix16"
SIZE = 40


def vectors(size=SIZE, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=size), rng.normal(size=size)


@pytest.mark.parametrize("backend", [HALF_PRODUCTS, WIDE_SUMS], ids=named)
def test_a_loop_has_the_bits_of_dot(backend):
    """Products in `matmul`, sums in `accumulate`, in the same order; arrays keep `storage`."""
    a, b = vectors(100)
    expected = Uncompiled(sums.dotted, backend)(a, b)
    loops = [f for f in sums.LOOPS if backend is not WIDE_SUMS or f is not sums.by_element]
    found = {f.__name__: Uncompiled(f, backend)(a, b) for f in loops}
    assert found == dict.fromkeys(found, expected)
    assert expected != Uncompiled(sums.plus, "fp32")(a, b)


def of_two_sizes(a, b, out):
    for n in range(1):
        large, small = 0.0, 0.0
        for i in range(a.size):
            large += a[i] * a[i]
        for i in range(b.size):
            small += b[i] * b[i]
        out[n], out[n + 1] = large, small


def test_each_sum_has_units_of_its_own():
    """As each call of `np.dot` has: numbers 2^40 apart lose nothing to each other."""
    a, b, out = np.full(8, 2.0**20), np.full(8, 2.0**-20), np.zeros(2)
    lift(of_two_sizes, MIX)(a, b, out)
    assert out.tolist() == [8 * 2.0**40, 8 * 2.0**-40]


# ---- what is none -------------------------------------------------------------------------------


def test_random_sums_and_steps_are_told_apart():
    assert mistaken(200, 0) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "rule", ["_begins_well", "_moves", "scope", "_is_left", "_has_another_name"]
)
def test_a_rule_that_is_left_out_is_found(rule, monkeypatch):
    """The random kernels need every part of the rule."""
    innermost = lambda self, update: update.loops[-1] if update.loops else None  # noqa: E731
    instead = innermost if rule == "scope" else lambda *given: rule != "_has_another_name"
    monkeypatch.setattr(rules._Kernel, rule, instead)
    assert mistaken(100, 0) != []


def arguments(names: list[str], rng) -> list:
    """Arrays for a random kernel, by the names of its parameters."""
    made = {name: rng.normal(size=(5, 5)) for name in "mnc"} | {"order": rng.permutation(5)}
    made |= {"c": np.zeros((5, 5))}
    return [made[name] if name in made else rng.normal(size=5) for name in names]


RUN = [n for n in range(400)
       if not {"vectors", "filters"} & {written(n, True).kind}
       and "out = np" not in written(n, True).source]  # fmt: skip


@ways("number", RUN[:12], compiled=6)
def test_random_sums_are_their_twins(number, tmp_path, lifted):
    path = tmp_path / f"sum_{number}.py"
    head = "import numpy as np\nfrom sciprec.precision.operations.reduce import fma\n\n\n"
    path.write_text(head + written(number, True).source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kernel = module.kernel
    names = list(kernel.__code__.co_varnames[: kernel.__code__.co_argcount])
    for backend in (APART, HALF_PRODUCTS):
        given = tuple(arguments(names, np.random.default_rng(number)))
        ours, theirs = deepcopy(given), deepcopy(given)
        found = lifted(kernel, backend)(*ours), ours
        assert_same(found, (run_twin(kernel, backend, theirs), theirs))


OF_PACKAGE = {
    "results/comparison/pointwise/tally.py _add_row_sums",
    "heston/simulation/paths.py group_sums",
}  # fmt: skip
"""Kernels of the package that the rule would take for sums of products: they keep `compute`."""


@pytest.mark.slow
def test_which_kernels_of_the_package_would_match():
    """Others name the roles themselves, by `accumulate` and `product`."""
    folder = Path(sciprec.__file__).parent
    found = {
        f"{path.relative_to(folder).as_posix()} {function.name}"
        for path in folder.rglob("*.py")
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef)
        and any(isinstance(node, ast.For | ast.While) for node in ast.walk(function))
        and rules.contractions(function, lambda called: ast.unparse(called).endswith("fma"))
    }
    assert found == OF_PACKAGE


def test_kernels_of_the_package_and_backends_of_one_arithmetic_are_as_they_were():
    from sciprec.heston.simulation.paths import group_sums

    for function, backend in ((group_sums, HALF_PRODUCTS), (sums.plus, "fp16")):
        assert "contracting" not in Uncompiled(function, backend).text
    assert "contracting" in Uncompiled(sums.plus, HALF_PRODUCTS).text


# ---- roles that nothing has ---------------------------------------------------------------------


def scaled(x, out):
    for i in range(x.size):
        out[i] = 3.0 * x[i]


IDLE = "no operation has the role matmul: there are no products that are summed"


def test_a_kernel_without_an_operation_of_a_role_says_so():
    x, out = vectors()
    lifted = lift(scaled, MIX)
    lifted(x, out)
    said = str(lifted.report())
    assert IDLE in said and "'mix-fp32-fix16' is binary32 here" in said
    assert repr(lifted).count(IDLE) == 1
    assert IDLE in repr(lift(scaled, HALF_PRODUCTS))
    apart = repr(lift(scaled, APART))
    assert "no operation has the roles accumulate and matmul" in apart
    assert "is bfloat16" not in apart
    summed = lift(sums.plus, MIX)
    summed(x, out)
    said = str(summed.report()) + repr(summed) + repr(lift(sums.plus, APART))
    assert "no operation has" not in said
    fixed = lift(scaled, "fixed16")
    fixed(x, out)
    assert "no operation has" not in str(fixed.report())
