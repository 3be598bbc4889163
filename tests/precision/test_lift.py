"""Lifting kernels that this project did not write."""

import ast
import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numba import njit

import sciprec
from sciprec.precision.operations.operation import OPERATIONS, operation_called
from sciprec.precision.rewriting import rewrite
from sciprec.precision.rewriting.syntax import nodes
from tests.oracles.twin import run_twin
from tests.precision import foreign_kernels as foreign
from tests.precision.by_numba import by_numba

KERNELS = list(foreign.EXAMPLES)
IN_TURN = ("fp32", "fp16", "mlu370-noguard", "float:p=13,emin=-30,emax=30,round=ru", "bf16")
"""Beside mlu370, one for every second kernel: random kernels are run in all of them."""
REDUCING = (foreign.normalise, foreign.matrix_polynomial)  # in the engine's order, not in Numba's
TWINS = [
    (kernel, backend)
    for number, kernel in enumerate(KERNELS)
    for backend in ("mlu370", "fp64" if kernel in REDUCING else IN_TURN[number // 2 % len(IN_TURN)])
    if backend in ("mlu370", "fp64") or number % 2 == 0
]


def names(value) -> str:
    return getattr(value, "__name__", value)


def flattened(result) -> list[np.ndarray]:
    """A kernel's result as a list of float64 arrays."""
    items = result if isinstance(result, tuple) else (result,)
    return [np.asarray(x, dtype=np.float64) for x in items if x is not None]


def same_bits(left: np.ndarray, right: np.ndarray) -> bool:
    """Equal shapes and bits; any NaN equals any other."""
    left, right = np.asarray(left, np.float64), np.asarray(right, np.float64)
    if left.shape != right.shape:
        return False
    nan = np.isnan(left) & np.isnan(right)
    return bool(np.all(nan | (left.view(np.int64) == right.view(np.int64))))


def assert_same(one, other, arguments, other_arguments):
    """Results and arrays agree, those that were only read included."""
    for a, b in zip(flattened(one), flattened(other), strict=True):
        assert same_bits(a, b), (a, b)
    for a, b in zip(arguments, other_arguments, strict=True):
        if isinstance(a, np.ndarray):
            assert same_bits(a, b), (a, b)


@pytest.mark.parametrize("kernel", [k for k in KERNELS if k not in REDUCING], ids=names)
def test_fp64_equals_plain_numba(kernel):
    """Identity: the same bits as Numba's own compilation (no elementary functions here but sqrt).
    """
    recursive = kernel is foreign.halves
    native = kernel if recursive else by_numba(kernel)
    ours, theirs = foreign.EXAMPLES[kernel](), foreign.EXAMPLES[kernel]()
    assert_same(sciprec.lift(kernel, "fp64")(*ours), native(*theirs), ours, theirs)


@pytest.mark.parametrize(("kernel", "backend"), TWINS, ids=names)
def test_lifted_equals_twin(kernel, backend):
    """The kernel's own source on the exact scalar class gives the same bits."""
    lifted = sciprec.lift(kernel, backend)
    ours, theirs = foreign.EXAMPLES[kernel](), foreign.EXAMPLES[kernel]()
    result = lifted(*ours)
    twin = run_twin(getattr(kernel, "py_func", kernel), lifted.backend, theirs)
    assert_same(result, twin, ours, theirs)


def test_functions_as_arguments():
    """A right-hand side given as an argument is lifted with the integrator."""
    plain = foreign.heun(foreign.decay, 1.0, 0.0, 0.125, 8)
    assert sciprec.lift(foreign.heun, "fp64")(foreign.decay, 1.0, 0.0, 0.125, 8) == plain
    low = sciprec.lift(foreign.heun, "fp16")(njit(foreign.decay), 1.0, 0.0, 0.125, 8)
    assert low == sciprec.quantize(low, "fp16") and 1e-5 < abs(low - plain) < 1e-2


def test_results_hold_no_wider_number():
    """Whatever a kernel returns or writes is a number of the storage format."""
    for kernel in KERNELS:
        arguments = foreign.EXAMPLES[kernel]()
        before = copy.deepcopy(arguments)
        written = flattened(sciprec.lift(kernel, "mlu370")(*arguments))
        for array, old in zip(arguments, before, strict=True):
            if isinstance(array, np.ndarray) and not same_bits(array, old):
                written.append(array[array != old])
        for values in written:
            assert same_bits(values, sciprec.quantize(values, "mlu370")), kernel


def test_fp32_keeps_binary32_where_numba_promotes():
    """0.5 * x stays binary32 in a kernel lifted to fp32; plain Numba computes it in binary64."""

    def halve(x, out):
        for i in range(x.size):
            out[i] = 0.1 * x[i] + x[i] / 3

    x = np.float32([0.7, 1.3, 2.9])
    out, native = np.zeros(3), np.zeros(3)
    sciprec.lift(halve, "fp32")(x, out)
    njit(halve)(x, native)
    expected = np.float32(0.1) * x + x / np.float32(3)
    assert same_bits(out, expected.astype(np.float64))
    assert not same_bits(out, native)


def test_lifted_kernel_is_callable_from_compiled_code():
    lifted = sciprec.lift(foreign.halves, "fp16")

    @njit
    def driver(a):
        return lifted(a, 0, a.size)

    x = np.random.default_rng(3).random(20)
    assert driver(x) == lifted(x, 0, 20)


def test_keyword_and_default_arguments():
    def scale(x, factor=0.1):
        return x * factor

    lifted = sciprec.lift(scale, "mlu370")
    assert lifted(2.0) == lifted(x=2.0, factor=0.1) == lifted(2.0, 0.1)
    with pytest.raises(sciprec.LiftError, match="called wrongly: .*it takes scale"):
        lifted(2.0, fctor=1.0)


def test_sites_name_every_operation():
    sites = sciprec.lift(foreign.horner, "fp16").sites
    first = foreign.horner.__code__.co_firstlineno
    found = {(s.function, s.line - first, s.operation) for s in sites}
    assert ("horner", 3, "mul") in found and ("horner", 3, "add") in found


def test_noncontiguous_and_readonly_arrays():
    x = np.random.default_rng(5).random((6, 8))
    x.flags.writeable = False
    lifted = sciprec.lift(foreign.halves, "fp16")
    assert lifted(x[::2, 3], 0, 3) == lifted(x[::2, 3].copy(), 0, 3)


def test_trusted_inputs_give_the_same_bits():
    u = sciprec.quantize(np.random.default_rng(6).random((12, 12)), "mlu370")
    outs = []
    for trust in (False, True):
        out = np.zeros_like(u)
        sciprec.lift(foreign.heat, "mlu370", trust_inputs=trust)(u, out, 0.1)
        outs.append(out)
    assert same_bits(*outs)


def test_functions_made_by_functions_have_names_of_their_own():
    """Compiled code from the disk cache is linked by name: what differs must differ in its name."""
    rows = [row for row in OPERATIONS.values() if row.evaluate]
    made = [f.py_func.__qualname__ for f in {f for row in rows for f in (row.narrow, row.directed)}]
    assert len(made) == len(set(made))


def test_operations_are_found_by_what_kernels_call(monkeypatch):
    """Also what a plugin brings, or puts in the place of another, after others were looked for."""
    for row in OPERATIONS.values():
        assert all(operation_called(function) is row for function in row.functions)
    assert operation_called(np.sort) is None
    other = replace(OPERATIONS["exp"], toward="")
    monkeypatch.setitem(OPERATIONS, "exp", other)
    assert operation_called(np.exp) is other
    monkeypatch.setitem(OPERATIONS, "kept", replace(other, name="kept", called="np.sort"))
    assert operation_called(np.sort).name == "kept"


def test_the_nodes_of_a_tree_are_those_that_python_finds():
    for source in Path(rewrite.__file__).parent.glob("*.py"):
        tree = ast.parse(source.read_text(encoding="utf-8"))
        walked = [node for node in ast.walk(tree) if not isinstance(node, ast.expr_context)]
        assert list(map(id, nodes(tree))) == list(map(id, walked))


def extremes(x, low):
    return np.min(x) if low else x.max()


@pytest.mark.parametrize("low", [True, False])
def test_an_empty_array_has_no_extremes(low):
    """It gave what was in memory behind the array."""
    lifted = sciprec.lift(extremes, "fp32")
    assert lifted(np.array([2.0, 1.0, 3.0]), low) == (1.0 if low else 3.0)
    with pytest.raises(ValueError, match="element of an empty array"):
        lifted(np.zeros(0), low)
