"""Operations on whole arrays: every shape, layout and way of broadcasting, against NumPy."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys
from numba.np import arrayobj

from sciprec.precision import lift
from sciprec.precision.rewriting.syntax import LiftError


def both(x, y):
    return (x * y - x) / 3.0


def alone(x):
    return -x * 0.5


def added(target, x):
    target += x
    target[...] = target * 0.5
    return target


def looped(x, y):
    out = np.empty(x.shape)
    for index in np.ndindex(x.shape):
        out[index] = x[index] * y[index]
    return out


LAYOUTS = {
    "plain": lambda a: a,
    "Fortran": np.asfortranarray,
    "strided": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "reversed": lambda a: a[..., ::-1],
}
SHAPES = {
    1: [((5,), (5,)), ((1,), (4,)), ((0,), (1,)), ((3,), (1,))],
    2: [((4, 3), (4, 3)), ((4, 1), (1, 3)), ((1, 3), (4, 1)), ((0, 3), (1, 3)), ((1, 1), (2, 2))],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_shapes_and_layouts_are_numpys(layout):
    rng, arrange = np.random.default_rng(3), LAYOUTS[layout]
    lifted, one = lift(both, "fp64"), lift(alone, "fp64")
    for pairs in SHAPES.values():
        for shapes in pairs:
            x, y = (arrange(rng.normal(size=shape)) for shape in shapes)
            np.testing.assert_array_equal(lifted(x, y), both(x, y))
            np.testing.assert_array_equal(lifted(x, 0.3), both(x, 0.3))
            np.testing.assert_array_equal(one(x), alone(x))
            assert lifted(x, y).flags.c_contiguous


def test_vectors_go_along_the_last_axis():
    rng, lifted = np.random.default_rng(4), lift(both, "fp64")
    for shape in ((4, 3), (1, 3), (0, 3), (4, 1)):
        x, row = rng.normal(size=shape), rng.normal(size=3)
        np.testing.assert_array_equal(lifted(x, row), both(x, row))
        np.testing.assert_array_equal(lifted(row, x), both(row, x))


def test_shapes_that_do_not_fit_are_refused_when_they_meet():
    lifted, adding = lift(both, "mlu370"), lift(added, "mlu370")
    for shapes in (((4,), (3,)), ((0,), (2,)), ((4, 3), (4, 2)), ((4, 3), (3, 3))):
        x, y = (np.ones(shape) for shape in shapes)
        with pytest.raises(ValueError, match="cannot be broadcast"):
            lifted(x, y)
        with pytest.raises(ValueError, match="cannot be broadcast"):
            adding(x, y)
    with pytest.raises(ValueError, match="cannot be broadcast"):
        adding(np.ones(1), np.ones(4))  # a target does not grow
    with pytest.raises(LiftError, match="an array of 2 axes does not fit into one of 1"):
        adding(np.ones(4), np.ones((1, 4)))
    assert lift(both, "mlu370")(np.ones(2), np.ones(2)).tolist() == [0.0, 0.0]  # mode restored


@pytest.mark.parametrize("layout", LAYOUTS)
def test_in_place_is_what_numpy_does(layout):
    rng, lifted = np.random.default_rng(5), lift(added, "fp64")
    for shapes in (((4, 3), (4, 3)), ((4, 3), (1, 3)), ((4, 3), (4, 1)), ((0, 3), (1, 3))):
        target, x = (rng.normal(size=shape) for shape in shapes)
        given, expected = LAYOUTS[layout](target.copy()), target.copy()
        if layout == "reversed":
            expected = expected[..., ::-1]
        added(expected, x)
        result = lifted(given, x)
        assert result is given or np.shares_memory(result, given) or not given.size
        np.testing.assert_array_equal(given, expected)


def test_elements_draw_the_bits_of_their_number():
    """Whole arrays draw by the element's number in C order, in every layout."""
    x, y = np.random.default_rng(6).normal(size=(2, 5, 4))
    spec = "float:p=5,round=sr"
    plain = lift(both, spec, seed=3)(x, y)
    for name in ("Fortran", "strided"):
        arranged = [LAYOUTS[name](a) for a in (x, y)]
        np.testing.assert_array_equal(lift(both, spec, seed=3)(*arranged), plain)
    assert len(set((plain - both(x, y)).ravel())) > 10


@pytest.mark.parametrize("backend", ["fp16", "float:p=9,round=rd", "float:p=16"])
def test_elements_are_rounded_as_numbers_are(backend):
    x, y = np.random.default_rng(7).normal(size=(2, 3, 4)) * 2.0 ** np.arange(-8, 4).reshape(3, 4)
    expected = lift(looped, backend)(x, y)
    np.testing.assert_array_equal(lift(np_product, backend)(x, y), expected)
    np.testing.assert_array_equal(lift(np_product, backend)(x.T, y.T).T, expected)


def np_product(x, y):
    return np.multiply(x, y)


@pytest.mark.slow
def test_operations_are_found_that_nothing_used_before():
    """In fixed point arrays have operations of their own, made while the kernel is compiled."""
    source = (
        "import numpy as np, sciprec\n"
        "def kernel(x):\n"
        "    x[1:] *= 0.5\n"
        "    return x\n"
        "print(sciprec.lift(kernel, 'fixed:bits=20')(np.array([0.5, 0.25])))\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "first.py"
        path.write_text(source)
        said = subprocess.run(
            [sys.executable, path], capture_output=True, text=True, timeout=300,
            env=os.environ | {"SCIPREC_CACHE_DIR": folder},
        )  # fmt: skip
    assert said.stdout.strip() == "[0.5   0.125]", said.stderr


# ---- expressions -------------------------------------------------------------------------------


def long(a, b):
    return (a * 0.1 + b) * (a - b) / (b * b + 1.0) - abs(a) ** 2


def long_by_elements(a, b):
    out = np.empty(a.shape)
    for i in np.ndindex(a.shape):
        out[i] = (a[i] * 0.1 + b[i]) * (a[i] - b[i]) / (b[i] * b[i] + 1.0) - abs(a[i]) ** 2
    return out


def long_stored(a, b):
    b[:] = (a * 0.1 + b) * (a - b) / (b * b + 1.0) - abs(a) ** 2


def named(a, b):
    product = a * b
    difference = product - a
    return difference / 3.0


def ending_in_a_function(a, b):
    return np.exp(a * b - 1.0)


def of_a_function(a, b):
    return np.exp(a - 1.0) * b


def twice(a, b):
    product = a * b
    return product + product * 0.1


def allocations(function, *args) -> int:
    """How many arrays a call makes, all of which are freed afterwards."""
    _nrt_python.memsys_enable_stats()
    try:
        before = rtsys.get_allocation_stats()
        function(*args)
        after = rtsys.get_allocation_stats()
    finally:
        _nrt_python.memsys_disable_stats()
    made = after.alloc - before.alloc
    assert after.free - before.free == made
    return made - len(args)  # of each argument what holds it


@pytest.mark.parametrize(("kernel", "arrays"), [
    (long, 1), (long_stored, 1), (named, 1), (ending_in_a_function, 1), (of_a_function, 2),
    (twice, 2),
])  # fmt: skip
def test_expressions_are_one_loop(kernel, arrays):
    """As many arrays are made as there are loops: eight operations make one."""
    a, b = np.random.default_rng(8).normal(size=(2, 6))
    lifted = lift(kernel, "fp64")
    given, expected = [x.copy() for x in (a, b)], [x.copy() for x in (a, b)]
    found, true = lifted(*given), kernel(*expected)
    if true is not None:
        np.testing.assert_allclose(found, true, rtol=2**-51 if "function" in kernel.__name__ else 0)
    np.testing.assert_array_equal(given, expected)
    assert allocations(lifted, a, b) == arrays


@pytest.mark.parametrize("backend", ["fp16", "mlu370", "float:p=9,round=rd", "float:p=30"])
def test_expressions_have_the_bits_of_loops(backend):
    """In every layout where variables are of binary32, and where they are of binary64."""
    a, b = np.random.default_rng(9).normal(size=(2, 3, 4)) * 2.0 ** np.arange(-6, 6).reshape(3, 4)
    expected = lift(long_by_elements, backend)(a, b)
    np.testing.assert_array_equal(lift(long, backend)(a, b), expected)
    lift(long_stored, backend)(a, stored := b.copy())
    np.testing.assert_array_equal(stored, expected)
    for arrange in LAYOUTS.values() if backend in ("fp16", "float:p=30") else ():
        np.testing.assert_array_equal(lift(long, backend)(arrange(a), arrange(b)),
                                      lift(long, backend)(*(arrange(x).copy() for x in (a, b))))


def written(a):
    for i in range(a.size):
        a[i] = 7.0
    return 1.0


def written_by_a_kernel(a):
    return a * 2.0 + written(a)


def written_in_place(a):
    product = a * 2.0
    a += 1.0
    return product - a * 3.0


def written_by_an_element(a):
    product = a * 2.0
    a[0] = 100.0
    return product - a * 3.0


def written_by_a_part(a):
    product = a * 2.0
    a[1:] = a[:-1] - 0.5
    return product - a * 3.0


def in_a_loop(a):
    total = np.zeros(a.size)
    for i in range(3):
        total = total * 0.5 + a * i - 0.1
        a[i] = 2.0
    return total


@pytest.mark.parametrize("kernel", [
    written_by_a_kernel, written_in_place, written_by_an_element, written_by_a_part, in_a_loop,
])  # fmt: skip
def test_what_changes_between_two_operations_counts(kernel):
    a = np.random.default_rng(10).normal(size=5)
    given, expected = a.copy(), a.copy()
    assert np.array_equal(lift(kernel, "fp64")(given), kernel(expected))
    assert np.array_equal(given, expected)


# ---- parts of arrays -------------------------------------------------------------------------


def along(a):
    a[1:] = a[:-1] * 2.0 + 1.0
    a[::-1] = a * 0.5 + a


def by_mask(a):
    a[a > 0.0] = a[a > 0.0] * 0.5
    a[np.array([0, 2])] = a[:2] * 2.0 + 1.0


def of_one_row(a):
    a[:] = np.expand_dims(a, 0) * 2.0 - 1.0
    a[:] = a[:1] * 0.5


def rows(m):
    m[1] = m[0] * 2.0 - 1.0
    m[:, 0] = m[0, :2] * 0.5 + 1.0
    m[0, ...] = m[1] + m[0]
    m[...] = m[0] - m
    m[:, 1:] = m[:, :1] * 3.0
    m[:, -1] = m[0, :1] * 3.0


@pytest.mark.parametrize(("kernel", "shape"), [
    (along, (6,)), (by_mask, (5,)), (of_one_row, (5,)), (of_one_row, (1,)), (rows, (2, 4)),
])  # fmt: skip
@pytest.mark.parametrize("layout", LAYOUTS)
def test_parts_are_stored_as_in_numpy(kernel, shape, layout):
    a = np.random.default_rng(11).normal(size=shape)
    given, expected = LAYOUTS[layout](a.copy()), LAYOUTS[layout](a.copy())
    kernel(expected)
    lift(kernel, "fp64")(given)
    np.testing.assert_array_equal(given, expected)


def too_long(a, b):
    a[1:] = b * 2.0


def test_parts_of_another_size_are_refused():
    for sizes in ((4, 4), (3, 1), (1, 2)):
        a, b = np.ones(sizes[0]), np.ones(sizes[1])
        fits = sizes == (3, 1)
        if fits:
            lift(too_long, "mlu370")(a, b)
            assert a.tolist() == [1.0, 2.0, 2.0]
        else:
            with pytest.raises(ValueError, match="cannot be broadcast"):
                lift(too_long, "mlu370")(a, b)


def test_parts_are_not_stored_by_numba(tmp_path, monkeypatch):
    """Whose own store compiles some 40 functions first, for the text of an error."""
    source = tmp_path / "whole.py"
    source.write_text("def kernel(a, b):\n    b[:] = a * 0.1\n    b[1:] = a[:1]\n")
    namespace: dict = {"__name__": "whole"}
    exec(compile(source.read_text(), str(source), "exec"), namespace)
    monkeypatch.setenv("SCIPREC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(arrayobj, "fancy_setslice", None)
    lift(namespace["kernel"], "float:p=17")(np.ones(3), made := np.ones(3))
    assert made[0] != 1.0 and made[1:].tolist() == [1.0, 1.0]
