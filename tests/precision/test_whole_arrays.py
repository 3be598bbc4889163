"""Operations on whole arrays, compiled: every shape, layout and way of broadcasting, and loops that
are fused, against NumPy. Where they round is seen in the corpus.
"""


import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys

from sciprec.precision import LiftError, lift
from tests.oracles.uncompiled import Uncompiled
from tests.precision.corpus import arrays
from tests.precision.corpus.arrays import added, alone, both, long, long_stored, twice

LAYOUTS = {
    "plain": lambda a: a,
    "Fortran": np.asfortranarray,
    "strided": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "reversed": lambda a: a[..., ::-1],
}
SHAPES = {
    1: [((5,), (5,)), ((1,), (4,)), ((0,), (1,)), ((3,), (1,))],
    2: [((4, 3), (4, 3)), ((4, 1), (1, 3)), ((1, 3), (4, 1)), ((0, 3), (1, 3)), ((1, 1), (2, 2))],
    3: [((4, 3), (3,)), ((3,), (4, 3)), ((0, 3), (3,)), ((4, 1), (3,))],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_shapes_and_layouts_are_numpys(layout):
    rng, arrange = np.random.default_rng(3), LAYOUTS[layout]
    lifted, one = lift(both, "fp64"), lift(alone, "fp64")
    for pairs in SHAPES.values() if layout == "plain" else (SHAPES[2],):
        for shapes in pairs:
            x, y = (arrange(rng.normal(size=shape)) for shape in shapes)
            np.testing.assert_array_equal(lifted(x, y), both(x, y))
            np.testing.assert_array_equal(lifted(x, 0.3), both(x, 0.3))
            np.testing.assert_array_equal(one(x), alone(x))
            assert lifted(x, y).flags.c_contiguous


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


# ---- expressions -------------------------------------------------------------------------------


def named(a, b):
    product = a * b
    difference = product - a
    return difference / 3.0


def ending_in_a_function(a, b):
    return np.exp(a * b - 1.0)


def of_a_function(a, b):
    return np.exp(a - 1.0) * b


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
    """Expressions make one array for each loop: eight operations make one."""
    a, b = np.random.default_rng(8).normal(size=(2, 6))
    lifted = lift(kernel, "fp64")
    given, expected = [x.copy() for x in (a, b)], [x.copy() for x in (a, b)]
    found, true = lifted(*given), kernel(*expected)
    if true is not None:
        np.testing.assert_allclose(found, true, rtol=2**-51 if "function" in kernel.__name__ else 0)
    np.testing.assert_array_equal(given, expected)
    assert allocations(lifted, a, b) == arrays


@pytest.mark.parametrize(
    "backend", ["fp16", pytest.param("float:p=30", marks=pytest.mark.slow)]
)
def test_fused_loops_have_the_bits_of_operations_in_turn(backend):
    """In every layout where variables are of binary32, and where they are of binary64."""
    a, b = np.random.default_rng(9).normal(size=(2, 3, 4)) * 2.0 ** np.arange(-6, 6).reshape(3, 4)
    expected, lifted = Uncompiled(long, backend)(a, b), lift(long, backend)
    for arrange in LAYOUTS.values():
        x, y = (arrange(v) for v in (a, b))
        found = lifted(x, y)[..., ::-1] if arrange is LAYOUTS["reversed"] else lifted(x, y)
        np.testing.assert_array_equal(found, expected)
    lift(long_stored, backend)(a, b)
    np.testing.assert_array_equal(b, expected)


CHANGING = ("written_by_a_kernel", "written_in_place", "written_by_an_element",
            "written_by_a_part", "in_a_loop")  # fmt: skip


@pytest.mark.parametrize("name", CHANGING)
def test_what_changes_between_two_operations_counts(name):
    """No loop is fused over it."""
    kernel, a = arrays.KERNELS[name].kernel, np.random.default_rng(10).normal(size=5)
    given, expected = a.copy(), a.copy()
    assert np.array_equal(lift(kernel, "fp64")(given), kernel(expected))
    assert np.array_equal(given, expected)


# ---- parts of arrays and views --------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "layout"),
    [
        ("along", "reversed"), ("by_mask", "Fortran"), ("of_one_row", "strided"), ("rows", "plain"),
    ],
)  # fmt: skip
def test_parts_are_stored_as_in_numpy(name, layout):
    entry = arrays.KERNELS[name]
    given, expected = ([LAYOUTS[layout](x) for x in entry.make()] for _ in range(2))
    entry.kernel(*expected)
    lift(entry.kernel, "fp64")(*given)
    for one, other in zip(given, expected, strict=True):
        np.testing.assert_array_equal(one, other)


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
