"""Sums of products that kernels write as loops: they are what `@` and `np.dot` are, and what is no
such sum stays as it is.
"""

import ast
import importlib.util
from pathlib import Path

import numpy as np
import pytest
from numba import prange

import sciprec
from sciprec.precision import FORMATS, Arithmetic, Backend, lift, quantize
from sciprec.precision.operations.reduce import fma
from sciprec.precision.rewriting import contractions as rules
from tests.precision.contraction_kernels import mistaken, written
from tests.precision.test_fixed_twins import assert_twin
from tests.precision.test_twins import require_twin


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


def plus(a, b):
    s = 0.0
    for i in range(a.size):
        s += a[i] * b[i]
    return s


def total_first(a, b):
    s = 0.0
    for i in range(a.size):
        s = s + a[i] * b[i]
    return s


def product_first(a, b):
    s: float = 0.0
    for i in range(a.size):
        s = a[i] * b[i] + s
    return s


def fused(a, b):
    s = 0.0
    for i in range(a.size):
        s = fma(a[i], b[i], s)
    return s


def by_element(a, b):
    out = np.zeros(1)
    i = 0
    while i < a.size:
        x = a[i]
        out[0] += x * b[i]
        i += 1
    return out[0]


def from_an_integer(a, b):
    s = 0
    for x, y in zip(a, b):  # noqa: B905 - Numba
        s += x * y
    return s


def dotted(a, b):
    return np.dot(a, b)


LOOPS = (plus, total_first, product_first, fused, by_element, from_an_integer)


@pytest.mark.parametrize("backend", [MIX, HALF_PRODUCTS, WIDE_SUMS, "fixed16"], ids=named)
def test_a_loop_has_the_bits_of_dot(backend):
    """Products in `matmul`, sums in `accumulate`, in the same order; arrays keep `storage`."""
    a, b = vectors(100)
    expected = lift(dotted, backend)(a, b)
    narrow = backend in (WIDE_SUMS, "fixed16")
    loops = [f for f in LOOPS if not narrow or f is not by_element]
    found = {f.__name__: lift(f, backend)(a, b) for f in loops}
    assert found == dict.fromkeys(found, expected)
    if backend != "fixed16":
        assert expected != lift(plus, "fp32")(a, b)


def test_the_mixture_multiplies_integers_in_loops():
    a, b = vectors()
    total = np.float32(0)
    for x, y in zip(quantize(a, "fixed16"), quantize(b, "fixed16"), strict=True):
        total = np.float32(total + np.float32(x * y))
    assert [lift(f, MIX)(a, b) for f in (plus, product_first)] == [total, total]


def product_with_array(a, b, out):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                out[i, j] += a[i, k] * b[k, j]


def product_by_rows(a, b, out):
    out[:] = 0.0
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            x = a[i, k]
            for j in range(b.shape[1]):
                out[i, j] = out[i, j] + x * b[k, j]


def product_of_engine(a, b, out):
    out[:, :] = a @ b


@pytest.mark.parametrize("backend", [MIX, APART], ids=named)
def test_matrices_in_loops_have_the_bits_of_the_operator(backend):
    a, b = (np.random.default_rng(n).normal(size=(5, 5)) for n in (1, 2))
    results = []
    for function in (product_of_engine, product_with_array, product_by_rows):
        out = np.zeros((5, 5))
        lift(function, backend)(a, b, out)
        results.append(out.tolist())
    assert results[0] == results[1] == results[2]


def several(a, b, out):
    """Two sums in turn, one of them of differences; integers; a sum in an array; a name again."""
    re, im, count = 0.0, 0, 0
    for i in range(a.size):
        x = a[i]
        re += x * b[i]
        re -= b[i] * b[i]
        im = im + x * b[i] - b[i] * -a[i]
    for i in range(4):
        count += (i + 1) * (i + 1)
    for i in range(1, out.size):
        s = b[i]
        for k in range(i):
            s -= out[k] * a[k]
        out[i] = s
    s = 0.0
    for i in range(a.size):
        s += a[i] * a[i]
    return re, im, out[count % out.size], s * re


def in_threads(a, b):
    s, t, largest = 0.0, 0.0, 0.0
    for i in prange(a.size):
        s += a[i] * b[i]
        t = t - b[i] * b[i]
        largest = max(largest, a[i])
    return s, t, largest


def of_arrays(a, b):
    rows = np.zeros(4)
    square = a[:16].reshape(4, 4)
    for k in range(4):
        rows += square[k] * b[k]
    return rows


def of_pairs(a, b):
    s = 0j
    z = a[:8] + 1j * b[:8]
    for k in range(8):
        s += z[k] * b[k]
    return s.real, s.imag


@pytest.mark.parametrize("function", [*LOOPS, in_threads, of_arrays, of_pairs])
def test_loops_in_roles_of_several_formats_are_their_twins(function):
    for backend in (APART, WIDE_SUMS):
        require_twin(function, vectors(200 if function is in_threads else SIZE), backend)


def test_several_sums_are_their_twin():
    for backend in (APART, WIDE_SUMS):
        require_twin(several, (*vectors(), np.zeros(7)), backend)


@pytest.mark.parametrize("function", [plus, product_first, fused, several, in_threads])
def test_loops_in_fixed_point_are_their_twins(function):
    for backend in ("fixed16", "fixed:bits=24,round=rd"):
        more = (np.zeros(7),) if function is several else ()
        args = (*vectors(200 if function is in_threads else SIZE), *more)
        lifted = lift(function, backend)
        lifted(*(x.copy() for x in args))
        assert_twin(lifted, args)


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


@pytest.mark.slow
def test_traces_and_bounds_follow_the_roles():
    """They work in the arithmetic of the lifted kernel: a loop has the error of `np.dot`."""
    a, b = vectors(100)
    for backend in (HALF_PRODUCTS, APART):
        errors, bounds = [], []
        for function in (plus, total_first, dotted):
            errors.append(sciprec.trace(function, backend, (a, b)).outputs["return"])
            bounds.append(str(sciprec.bound(function, backend, (a, b))).partition("at most")[2])
        assert errors[0] == errors[1] == errors[2] > 0
        assert bounds[0] == bounds[1] == bounds[2] != ""


# ---- what is none -------------------------------------------------------------------------------


def stages(a, b, out):
    """The last step of a scheme of several stages, on a state of the caller's."""
    slopes = a[:20].reshape(4, 5)
    for k in range(4):
        for i in range(5):
            out[i] = out[i] + b[k] * slopes[k, i]


def stages_from_a_copy(a, b, out):
    for i in range(5):
        out[i] = a[i]
    for i in range(5):
        for k in range(4):
            out[i] += b[k] * a[4 * i + k]


def relaxed(a, b, out):
    for n in range(a.size):
        for i in range(out.size):
            out[i] += b[n] * (a[i] - out[i])


def looked_at(a, b, out):
    state = 0.0
    for n in range(a.size):
        state = state + a[n] * b[n]
        out[n % out.size] = state


@pytest.mark.parametrize("function", [stages, stages_from_a_copy, relaxed, looked_at])
def test_a_state_that_is_stepped_keeps_its_bits(function):
    for backend in (MIX, HALF_PRODUCTS):
        results = []
        for name in (backend, "fp32"):
            out = np.ones(5)
            lift(function, name)(*vectors(), out)
            results.append(out.tolist())
        assert results[0] == results[1]


def test_random_sums_and_steps_are_told_apart():
    assert mistaken(200, 0) == []


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


@pytest.mark.parametrize(
    "number", [pytest.param(n, marks=[pytest.mark.slow] * (i >= 3)) for i, n in enumerate(RUN[:24])]
)
def test_random_sums_are_their_twins(number, tmp_path):
    path = tmp_path / f"sum_{number}.py"
    head = "import numpy as np\nfrom sciprec.precision.operations.reduce import fma\n\n\n"
    path.write_text(head + written(number, True).source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kernel = module.kernel
    names = list(kernel.__code__.co_varnames[: kernel.__code__.co_argcount])
    for backend in (APART, HALF_PRODUCTS):
        require_twin(kernel, tuple(arguments(names, np.random.default_rng(number))), backend)


OF_PACKAGE = {
    "comparison/pointwise/profiles.py _add_row_sums", "heston/simulation/paths.py group_sums",
}  # fmt: skip
"""Kernels of the package that the rule would take for sums of products: they keep `compute`."""


def test_which_kernels_of_the_package_would_match():
    """Others name the roles themselves, by `accumulate` and `product`."""
    folder = Path(sciprec.__file__).parent
    found = {
        f"{path.relative_to(folder).as_posix()} {function.name}"
        for path in folder.rglob("*.py")
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef)
        and rules.contractions(function, lambda called: ast.unparse(called).endswith("fma"))
    }
    assert found == OF_PACKAGE


def test_kernels_of_the_package_and_backends_of_one_arithmetic_are_as_they_were():
    from sciprec.heston.simulation.paths import group_sums

    for function, backend in ((group_sums, MIX), (plus, "fp16"), (plus, "float:p=9,round=sr")):
        assert "contracting" not in lift(function, backend).path.read_text(encoding="utf-8")
    assert "contracting" in lift(plus, MIX).path.read_text(encoding="utf-8")


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
    summed = lift(plus, MIX)
    summed(x, out)
    assert "no operation has" not in str(summed.report()) + repr(summed) + repr(lift(plus, APART))
    fixed = lift(scaled, "fixed16")
    fixed(x, out)
    assert "no operation has" not in str(fixed.report())


def test_a_study_says_it_in_its_table_and_on_its_page(tmp_path):
    x, out = vectors()
    made = sciprec.study(scaled, (x, out), backends=[MIX], out=tmp_path)
    (note,) = made.notes
    assert note.startswith(f"mix-fp32-fix16 in scaled: {IDLE}") and note in str(made)
    assert [row["idle_roles"] is None for row in made.table] == [True, False]
    assert IDLE in made.page.read_text(encoding="utf-8")
    again = sciprec.study(plus, (x, out), backends=[MIX], out=tmp_path / "other")
    assert again.notes == () and IDLE not in again.page.read_text(encoding="utf-8")


def test_long_accumulation_says_that_it_has_no_product():
    from sciprec.accumulation import accumulate

    made = accumulate(updates=8, members=2, outputs=2, backend=MIX)
    assert made.fixed_point["idle_roles"].startswith(IDLE)
