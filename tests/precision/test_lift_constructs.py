"""Constructs that people write around their arithmetic: named tuples, types as arguments, objects
of classes, exceptions with computed texts, functions made by `@vectorize`, integers of others'
intrinsics. Those that need no compiling to be tested are kernels of the corpus.
"""

import dataclasses
import functools
import linecache
import pickle
from collections import namedtuple
from fractions import Fraction

import numpy as np
import pytest
from numba import float32, float64, guvectorize, vectorize
from numba.experimental import jitclass
from numba.extending import intrinsic

import sciprec
from sciprec.precision import resolve_backend
from sciprec.precision.formats.float_format import FORMATS
from tests.oracles import derived, exact
from tests.precision.by_numba import by_numba
from tests.precision.comparison import numbers_of
from tests.precision.corpus import constructs
from tests.precision.corpus.constructs import Colour, Share

Point = namedtuple("Point", "x y")
X = np.array([1.1, 2.2, -0.7])
HALF, SHORT, SINGLE = (resolve_backend(b).compute for b in ("fp16", "bf16", "fp32"))
MIXED = sciprec.Backend("mixed", HALF, SHORT, SINGLE, SHORT)


class Failure(ValueError):
    """An exception of a user's own."""


@intrinsic
def next_integer(typingctx, x):
    """Somebody's intrinsic."""

    def codegen(context, builder, signature, args):
        return builder.add(args[0], args[0].type(1))

    return x(x), codegen


@jitclass([("volume", float64), ("level", float32), ("parts", float64[:])])
class Tank:
    """Fields of both floating-point types, and a method."""

    def __init__(self, volume):
        self.volume = volume
        self.level = 0.5
        self.parts = np.ones(3)

    def filled(self, x):
        """A product and a sum."""
        return self.volume * x + self.level


def with_tank(tank, x, y):
    tank.volume = x * 0.1
    tank.volume += 1.0
    tank.level = y * 0.7
    tank.parts[1] = x * y
    return tank.filled(x), tank.volume * y, tank.parts[1]


def given_type(kind, x):
    return kind(x) - 1000 + np.zeros(2, kind)[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["starred", "named", "decorated"])
def test_constructs_have_rows_of_fixed_point(name):
    """Near the truth of binary64."""
    entry = constructs.KERNELS[name]
    found = numbers_of(sciprec.lift(entry.kernel, "fixed32")(*entry.make()))
    assert found == pytest.approx(numbers_of(entry.plain(*entry.make())), rel=1e-4, abs=1e-4)


def incremented(a):
    return next_integer(a.size)


def test_intrinsics_of_others_take_integers():
    assert sciprec.lift(incremented, "fp16")(X) == 4


def variadic(x, *rest):
    return x * rest[0] + len(rest)


def test_a_kernel_may_take_any_number_of_arguments():
    assert sciprec.lift(variadic, "fp16")(0.5, 3.0, 4.0) == 3.5


def test_named_tuples_are_those_of_the_kernel():
    def swapped(p):
        return Point(p.y, p.x)

    found = sciprec.lift(swapped, "bf16")(Point(1.1, 2.2))
    assert type(found) is Point and found == (2.203125, 1.1015625)


def test_a_type_may_be_an_argument():
    for kind in (np.float64, np.float32):
        assert sciprec.lift(given_type, "bf16")(kind, 1001) == 0.0
    assert sciprec.lift(given_type)(np.int64, 1002.7) == 2


def of_share(x):
    """Members of one enumeration that are no numbers, and numbers that are members of another."""
    colour = Colour.RED if x > 0.1 else Colour.GREEN
    other = x if colour == Colour.RED else 0.0
    return Share.TENTH.value * x, Share.TWO.value * x, x + len(Share.TWO.name), other


def test_values_of_members_are_literals():
    """Rounded once, in the direction of the backend, which a compiler that folds them ignores."""
    for rounding, tenth in (("ru", 0.10003662109375), ("rd", 0.0999755859375)):
        lifted = sciprec.lift(of_share, f"float:p=11,emin=-14,emax=15,round={rounding}")
        assert lifted(0.5) == (tenth / 2, 1.0, 3.5, 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["mlu370", "float:p=40,round=ru", "fixed32"])
def test_jitclasses(backend):
    """Fields are read, written and updated, methods called; each is rounded like an array's."""
    lifted, arithmetic = sciprec.lift(with_tank, backend), resolve_backend(backend).compute
    for x, y in sciprec.quantize(np.random.default_rng(4).uniform(0.5, 3.0, (9, 2)), "mlu370"):
        own = Tank(0.3)
        found = lifted(own, x, y)
        if backend == "fixed32":
            assert found == pytest.approx(with_tank(Tank(0.3), x, y), rel=1e-6)
            continue
        of = functools.partial(exact.round_exact, arithmetic=arithmetic)
        mul, add = (functools.partial(f, arithmetic=arithmetic) for f in (exact.mul, exact.add))
        narrow = dataclasses.replace(arithmetic, format=FORMATS["binary32"])
        held = add(mul(x, of(Fraction(0.1))), 1.0)
        level = exact.round_exact(Fraction(mul(y, of(Fraction(0.7)))), narrow)
        assert own.volume == held and own.level == level
        first = add(mul(held, x), of(Fraction(level)))
        assert list(found) == [first, mul(held, y), mul(x, y)] and own.parts[1] == mul(x, y)


def failing(x, a):
    if x > 3:
        raise Failure(f"bad {x:.2f} of " + str(a.size))
    if x > 2:
        raise ValueError("worse %s" % x)  # noqa: UP031
    if x > 1:
        raise Failure
    assert x > 0, f"not {x}"
    return x


def test_texts_of_exceptions_name_what_they_compute():
    lifted = sciprec.lift(failing, "bf16")
    for x, kind, words in [
        (4.0, Failure, r"bad \{x\} of \{a.size\}"), (2.5, ValueError, "worse %s"),
        (1.5, Failure, "^$"), (-1.0, AssertionError, r"not \{x\}"),
    ]:  # fmt: skip
        with pytest.raises(kind, match=words):
            lifted(x, X)
    assert lifted(0.5, X) == 0.5


def to_decimals(x):
    return round(x, 2), round(x, 25), round(x, -1)


def test_rounding_to_decimals():
    """In fp64 Numba's bits; in mlu370 a product, the nearest integer, and a quotient."""
    rng = np.random.default_rng(3)
    ours, numbas = sciprec.lift(to_decimals), by_numba(to_decimals)
    short, arithmetic = sciprec.lift(to_decimals, "mlu370"), resolve_backend("mlu370").compute
    for x in [*rng.normal(size=99) * 10.0 ** rng.integers(-300, 308, 99), np.nan, np.inf, -0.0]:
        assert np.array_equal(np.array(ours(x)).view("i8"), np.array(numbas(x)).view("i8"))
        x = float(sciprec.quantize(np.array([rng.normal() * 100]), "mlu370")[0])
        scaled = derived.rint(exact.mul(x, 100.0, arithmetic), arithmetic)
        assert short(x)[0] == exact.div(scaled, 100.0, arithmetic)


# ---- ufuncs -------------------------------------------------------------------------------------


@vectorize
def clipped(a, b):
    if a > b:
        return a * b
    return a - b * 0.3


@vectorize
def tenth(a):
    return a * 0.1


@vectorize
def positive(a):
    return a > 0


@guvectorize(["void(f4[:],f4,f4[:])", "void(f8[:],f8,f8[:])"], "(n),()->()")
def scaled_sum(a, c, out):
    s = 0.0
    for i in range(a.size):
        s += a[i] * c
    out[0] = s


@guvectorize("(n),(n)->(n)")
def running(a, b, out):
    s = 0.0
    for i in range(a.size):
        s += a[i] * b[i]
        out[i] = s


def calling(x, y):
    s = clipped(x[0], 0.5) + tenth(2.0)
    z = clipped(x, y) + tenth(y)
    out, one = np.empty(x.size), np.empty(1)
    running(x, y, out)
    scaled_sum(x, 0.3, one)
    return s, z, out, one[0], clipped(x.reshape(1, 3), y.reshape(3, 1)), positive(x)


def plainly(function, *arrays):
    """A function of numbers over broadcast arrays, in plain Python."""
    arrays = np.broadcast_arrays(*arrays)
    out = np.empty(arrays[0].shape)
    for index in np.ndindex(out.shape):
        out[index] = function(*(a[index] for a in arrays))
    return out


def test_ufuncs_broadcast_as_the_originals():
    rng = np.random.default_rng(1)
    two, sums, runs = (sciprec.lift(u) for u in (clipped, scaled_sum, running))
    for one, other in [((4, 1, 3), (2, 3)), ((), (3,)), ((0, 3), (3,)), ((), ()), ((2, 0), (1, 1))]:
        a, b = rng.normal(size=one), rng.normal(size=other)
        found, expected = two(a, b), clipped(a, b)
        assert np.array_equal(found, expected) and type(found) is type(expected)
    a, b = rng.normal(size=(4, 1, 3)), rng.normal(size=(2, 3))
    narrow = a.astype("f4"), b[:, 0].astype("f4")
    for x, y in [(a, b[:, 0]), (a[0, 0], 0.3), (a[:0], 0.3), narrow]:
        found, expected = sums(x, y), scaled_sum(x, y)
        assert np.asarray(found).dtype == np.asarray(expected).dtype
        assert np.shape(found) == np.shape(expected)
        if np.asarray(x).dtype == float:
            assert np.array_equal(found, expected)
    out, same = np.empty((4, 2, 3)), np.empty((4, 2, 3))
    assert runs(a, b, out) is out and np.array_equal(out, running(a, b, same))
    column = np.empty((4, 2, 6))[..., ::2]
    assert np.array_equal(runs(a, b, out=column), same) and np.array_equal(column, same)
    x = a[0, 0].copy()
    assert np.array_equal(runs(x, x, x), running(a[0, 0], a[0, 0], np.empty(3)))
    assert sciprec.lift(positive, "bf16")(a).dtype == bool and two.nin == 2
    assert "lifted to fp64" in repr(two) and two.backend.name == "fp64"
    copy = pickle.loads(pickle.dumps(two))
    assert np.array_equal(copy(a, b), two(a, b))


def test_ufuncs_in_a_narrow_arithmetic():
    """Against exact products and differences; called from kernels they are the same."""
    arithmetic = resolve_backend("mlu370").compute
    x, y = (sciprec.quantize(v, "mlu370") for v in (X, np.array([0.3, 2.5, 1.9])))

    def one(a, b):
        if a > b:
            return exact.mul(a, b, arithmetic)
        return exact.sub(a, exact.mul(b, third_of, arithmetic), arithmetic)

    third_of = exact.round_exact(0.3, arithmetic)
    two = sciprec.lift(clipped, "mlu370")
    assert np.array_equal(two(x[:, None], y), plainly(one, x[:, None], y))
    s, z, out, last, square, signs = sciprec.lift(calling, "mlu370")(x, y)
    assert np.array_equal(square, two(x, y[:, None])) and list(signs) == [True, True, False]
    tenths = sciprec.lift(tenth, "mlu370")
    parts = zip(two(x, y), tenths(y), strict=True)
    assert np.array_equal(z, [exact.add(a, b, arithmetic) for a, b in parts])
    assert s == exact.add(two(x[0], 0.5), tenths(2.0), arithmetic)
    assert np.array_equal(out, sciprec.lift(running, "mlu370")(x, y, np.empty(3)))
    assert last == sciprec.lift(scaled_sum, "mlu370")(x, 0.3)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["fixed32", "float:p=20,round=sr"])
def test_ufuncs_called_from_kernels(backend):
    """With keys and rows near what NumPy gives."""
    y = np.array([0.3, 2.5, 1.9])
    found = sciprec.lift(calling_two, backend)(X, y)
    expected = clipped(X[0], 0.5), clipped(X, y), running(X, y, np.empty(3))
    assert numbers_of(found) == pytest.approx(numbers_of(expected), rel=1e-4)
    if backend == "float:p=20,round=sr":  # every element has random bits of its own
        many = sciprec.lift(tenth, backend)(np.full(64, 0.7))
        assert 1 < len(set(many)) < 4


def calling_two(x, y):
    out = np.empty(x.size)
    running(x, y, out)
    return clipped(x[0], 0.5), clipped(x, y), out


# fmt: off
def too_deep(x): return scaled_sum(x.reshape(1, 3), 0.3, x[:1])
def bits_of(x): return next_integer(x[0])
# fmt: on


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (lambda: sciprec.lift(clipped)(X), "ufunc 'clipped' is given 1 operands; give 2 inputs"),
        (lambda: sciprec.lift(clipped)(X, X[:2]), "do not broadcast.*reshape them"),
        (lambda: sciprec.lift(clipped)(X, X, out=X[:2]), r"of shape \(2,\); here it is \(3,\)"),
        (lambda: sciprec.lift(clipped)(X, X, out=X.astype("f4")), "float32; give one of float64"),
        (lambda: sciprec.lift(clipped)(X, X, out=[0.0]), "no array; make one with np.empty"),
        (lambda: sciprec.lift(running)(X, X), "no signature .*; give out="),
        (lambda: sciprec.lift(running)(X, X[:2], X), "sizes 3 and 2 for 'n'"),
        (lambda: sciprec.lift(running)(0.5, X, X), r"0-D array for \(n\); add dimensions"),
        (lambda: sciprec.lift(scaled_sum)(X + 0j, 1.0), "given complex128, float64; give inputs"),
        (lambda: sciprec.lift(too_deep)(X), "core dimensions alone: write the loop around it"),
        (lambda: sciprec.lift(bits_of)(X), "intrinsics take and give integers"),
    ],
)
def test_operands_of_ufuncs_and_intrinsics_are_refused(run, words):
    with pytest.raises(sciprec.LiftError, match=words):
        run()


def of_any_kind(x):
    if not isinstance(x, (float, np.ndarray)):
        return x[1] * 0.1
    if isinstance(x, np.ndarray) and x.ndim == 2:
        return x[1, 1] * 0.1
    return x[1] * 0.1 if isinstance(x, np.ndarray) else x * 0.1


@pytest.mark.parametrize(
    "backend", ["fp16", pytest.param("fixed32", marks=pytest.mark.slow), "float:p=9,round=sr"]
)
def test_isinstance_knows_arrays(backend):
    """Branches for arrays, numbers and tuples are chosen by type, and the others left out."""
    lifted = sciprec.lift(of_any_kind, backend)
    for given in (2.0, np.full(3, 2.0), np.full((2, 2), 2.0), (1.0, 2.0)):
        lifted.rewind()
        assert lifted(given) == pytest.approx(0.2, rel=2e-2)
    assert type(sciprec.lift(of_any_kind, "fp64")(np.ones(2))) is float


FROM_TEXT = "def from_text(x):\n    return x * 0.1"


def test_a_kernel_of_exec_has_no_module():
    """Python finds its source where a notebook or a debugger has put it, and nowhere else."""
    lines = FROM_TEXT.splitlines(True)
    linecache.cache["<text>"] = len(FROM_TEXT), None, lines, "<text>"
    spaces = {}, {}
    exec(compile(FROM_TEXT, "<text>", "exec"), spaces[0])
    exec(FROM_TEXT, spaces[1])
    known, unknown = (space["from_text"] for space in spaces)
    assert known.__module__ is None

    def caller(x):
        return known(x) + 1.0

    def lost(x):
        return unknown(x)

    for backend in ("fp32", "fixed16"):
        assert sciprec.lift(known, backend)(1.0) == pytest.approx(0.1, rel=1e-4)
    assert sciprec.lift(caller, "fp32")(1.0) == pytest.approx(1.1)
    for kernel in (unknown, lost):
        with pytest.raises(sciprec.LiftError, match="source of kernel 'from_text' cannot be read"):
            sciprec.lift(kernel, "fp32")
