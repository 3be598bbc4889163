"""Operations on whole arrays: every shape, layout and way of broadcasting, against NumPy."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

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
