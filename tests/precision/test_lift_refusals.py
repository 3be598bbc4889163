# ruff: noqa: E701, E704
"""Refusals of kernels: the construct, the kernel, the file, the line, the way out."""

import functools
import math
import math as m
import random
import re
import runpy
import warnings
from collections import namedtuple
from types import SimpleNamespace

import numba
import numpy as np
import pytest
import scipy.special
from numba import guvectorize, objmode, prange, vectorize
from numba.typed import List

import sciprec
from sciprec.foundation.errors import InputError
from sciprec.precision.rewriting.advice import _SPECIAL
from tests.oracles.uncompiled import Uncompiled

X = np.array([1.1, 2.2, 3.3])
SETTINGS, COEFFICIENTS = SimpleNamespace(a=0.1), [0.1, 0.2]
REFUSED: list[tuple] = []
HERE = "test_lift_refusals.py"


class Thing:
    def method(self, x):
        return x * 0.1

    def __call__(self, x):
        return x


def made_inside():
    return namedtuple("LocalPoint", "x y")


LocalPoint = made_inside()
LocalPoint.__qualname__ = "made_inside.<locals>.LocalPoint"
THING, PARTIAL = Thing(), functools.partial(math.pow, 2.0)


@vectorize
def tenth(a):
    return a * 0.1


@guvectorize("(n)->(n)")
def tenths(a, out):
    out[:] = a * 0.1


def refused(words: str, advice: str):
    """Register a kernel that `lift` refuses, with words of the construct and of the advice."""

    def register(kernel):
        REFUSED.append((kernel, words, advice))
        return kernel

    return register


# fmt: off
@refused("np.linalg.svd", "norm, solve, inv, det, cholesky and qr are lifted")
def singular_values(x): return np.linalg.svd(x)
@refused("np.linalg.norm", "for an axis write the loop over rows")
def norm(x): return np.linalg.norm(x, axis=0)
@refused("np.random.rand", "pass them in as an array")
def numpy_random(x): return np.random.rand()
@refused("random.random", "pass them in as an array")
def python_random(x): return random.random()
@refused("round with these arguments", "it takes (number, ndigits)")
def rounding(x): return round(x[0], 2, 3)
@refused("np.fft.fft", "loops over complex numbers")
def fft(x): return np.fft.fft(x)
@refused("scipy.special.ndtr", "write 0.5 * math.erfc(-x / math.sqrt(2.0))")
def special(x): return scipy.special.ndtr(x[0])
@refused("np.histogram", "count in a loop")
def histogram(x): return np.histogram(x, 3)
@refused("typed.Dict", "two arrays")
def typed_dictionary(x): return numba.typed.Dict()
@refused("the method .normal()", "draw the random numbers before the call")
def from_generator(x, rng): return rng.normal() * x[0]
@refused("np.sum with axis", "loop")
def sum_axis(x): return np.sum(x, axis=x.ndim)
@refused("np.add", "define a function with def that calls it")
def reduced(x): return np.add.reduce(x)
@refused("np.einsum", "loops over its indices")
def einsum(x): return np.einsum("i,i", x, x)
@refused(".view()", "operators")
def reinterpreted(x): return x.view(np.int64)
@refused("math.ldexp", "write x * 2.0 ** i")
def scaled(x): return math.ldexp(x[0], 3)
@refused("map", "list comprehension")
def mapped(x): return list(map(math.sqrt, x))
@refused("tenth with 2 operands", "give all 1")
def vectorised(x): return tenth(x, x)
@refused("tenths with keywords or a star", "one by one")
def generalised(x): return tenths(*(x, x))
@refused("THING", "operators")
def callable_object(x): return THING(x[0])
@refused("PARTIAL", "the function inside with all its arguments")
def partial(x): return PARTIAL(x[0])
@refused("math.sqrt", "define a function with def that calls it")
def renamed(x):
    f = math.sqrt
    return f(x[0])
@refused("'SETTINGS', a SimpleNamespace", "argument")
def settings(x): return SETTINGS.a * x[0]
@refused("'COEFFICIENTS', a list", "tuples and arrays")
def coefficients(x): return COEFFICIENTS[0] * x[0]
@refused("unknown name 'nowhere'", "define it")
def unknown(x): return nowhere + x[0]  # noqa: F821
@refused("unknown name 'np.nowhere'", "spelt")
def unknown_member(x): return np.nowhere(x)
@refused("numba.carray", "the array itself")
def at_address(x): return numba.carray(x, 3)
@refused("a lambda", "def")
def lambdas(x):
    f = lambda a: a * 0.1  # noqa: E731
    return f(x[0])
@refused("yield", "append to a list")
def generator(x): yield x[0]
@refused("'with open('f')'", "before the call")
def context(x):
    with open("f"):
        return x[0]
@refused("'with objmode(y='float64')'", "before the call")
def in_python(x):
    with objmode(y="float64"):
        y = scipy.special.erf(x[0])
    return y
@refused("a dictionary", "two arrays")
def dictionary(x): return {"a": 1.0}["a"]
@refused("a set", "set([...])")
def a_set(x): return {1.0, 2.0}
@refused("a set comprehension", "set([... for ...])")
def set_comprehension(x): return {v for v in x}
@refused("a generator expression", "list comprehension")
def generated(x): return max(v for v in x)
@refused("an f-string", "the values themselves")
def formatted(x): print(f"{x[0]}")
@refused("a class", "outside the kernel")
def classes(x):
    class A: pass
    return x[0]
@refused("global", "return what becomes of it")
def globals_(x):
    global SETTINGS
    SETTINGS = x[0]
@refused("import", "top of the module")
def imports(x):
    import math as m
    return m.pi
@refused("'del y'", "leave it out")
def deletes(x):
    y = x[0]
    del y
@refused("an assignment expression", "a line before")
def walrus(x): return (n := x.size) + n
@refused("max with a starred argument", "one by one")
def starred(x): return max(*(x[0], x[1]))
@refused("a starred expression in a list", "tuple")
def starred_list(x): return [*x]
@refused("'type(x[0])(x[0], 2.0)'", "write T(x)")
def cast_of_two(x): return type(x[0])(x[0], 2.0)
@refused("a typed list of 'str'", "List()")
def list_of_texts(x): return List.empty_list(str)
@refused("'LocalPoint', whose module does not have it by its own name,", "top of a module")
def named_elsewhere(x): return LocalPoint(x[0], 1.0)
@refused("assignment to '*b'", "array element")
def star_target(x):
    a, *b = x
    return a
@refused("assignment to 'x.shape'", "array element")
def shape_target(x): x.shape = (3, 1)
@refused("loop variable 'x[0]'", "name")
def element_as_target(x):
    for x[0] in range(3): pass
@refused("'raise Thing('bad')'", "class of exceptions")
def no_exception(x):
    if x[0] > 9: raise Thing("bad")
@refused("'except ValueError'", "except Exception")
def typed_handler(x):
    try: y = x[0] * 0.1
    except ValueError: y = 0.5
    return y
@refused("with default values", "every argument")
def inner_default(x):
    def h(a, b=0.1): return a * b
    return h(x[0])
@refused("an exception within prange", "status")
def raises_in_parallel(x):
    for i in prange(x.size):
        if x[i] < 0: raise ValueError("negative")
@refused("leaving a prange loop early", "flag")
def breaks_in_parallel(x):
    for i in prange(x.size):
        if x[i] < 0: break
@refused("the function 'halved', defined within prange,", "outside")
def defines_in_parallel(x):
    for i in prange(x.size):
        def halved(v): return v / 2.0
        x[i] = halved(x[i])
@refused("'last', of one iteration of prange, read after the loop,", "array")
def last_of_parallel(x):
    for i in prange(x.size): last = x[i]
    return last
@refused("'s', which a prange loop reduces into and reads,", "after the loop")
def partial_sum(x):
    s = 0.0
    for i in prange(x.size):
        s += x[i]
        x[i] = s
    return s
@refused("'a', which one iteration of prange passes to the next,", "array")
def carried(x):
    a = 0.0
    for i in prange(x.size):
        x[i] = a
        a = x[i]
# fmt: on


@pytest.mark.parametrize(
    ("kernel", "words", "advice"), REFUSED, ids=lambda v: getattr(v, "__name__", "")
)
def test_construct_is_refused_by_name_and_place(kernel, words, advice):
    with pytest.raises(sciprec.LiftError) as caught:
        sciprec.lift(kernel, "bf16")
    text, code = str(caught.value), kernel.__code__
    construct, way_out = text.split(" cannot be lifted; ")
    assert isinstance(caught.value, InputError)
    assert construct.startswith(f"kernel '{kernel.__name__}' ({HERE}, line ") and words in construct
    line = int(construct.split("line ")[1].split(")")[0])
    last = max(line for *_, line in code.co_lines() if line is not None)
    assert code.co_firstlineno < line <= last and advice in way_out


def star(**x):
    return x["a"][0]


def keyword_only(x, *, c=0.1):
    return x[0] * c


async def asynchronous(x):
    return x[0]


exec("def from_text(x):\n    return x * 0.1")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (star, r"kernel 'star' takes '\*\*x'; .*name each one"),
        (keyword_only, r"kernel 'keyword_only' takes 'c' by keyword only; .*leave out the bare \*"),
        (asynchronous, "kernel 'asynchronous' is not defined with `def`"),
        (lambda x: x * 0.1, "source of kernel '<lambda>' cannot be read; .*save it in a .py file"),
        (globals()["from_text"], "source of kernel 'from_text' cannot be read; .*save it"),
        (math.sqrt, "is a builtin_function_or_method; lift takes a Python function"),
        (np.add, "is a ufunc; lift takes a Python function"),
        (THING, "is a Thing; lift takes a Python function"),
        (THING.method, "is a method; lift takes a Python function"),
        ("kernel", "is a str; lift takes a Python function"),
        (None, "is a NoneType; lift takes a Python function"),
    ],
    ids=lambda v: "",
)
def test_things_that_are_no_kernels(given, words):
    with pytest.raises(sciprec.LiftError, match=words):
        sciprec.lift(given, "bf16")


# fmt: off
def first(s): return s[0] * 0.1
def corner(s): return s[0, 0] * 0.1
def number(s): return s * 0.1
def missing(s): return s.nowhere
def halves(s): return s[0.5]
def either(s): return s if s[0] > 0 else 0.5
def text_as_number(s): return float("inf")
def rows_of_two_kinds(s): return np.array([[s, 0], [s, s]])
def rows_of_one_kind(s): return np.array([[s, 0.0], [s, s]])
# fmt: on


def of_two_kinds(x):
    s = 0
    for v in x:
        s += v
    return sum((s, x[0]))


def of_one_kind(x):
    s = 0.0
    for v in x:
        s += v
    return sum((s, x[0]))


@pytest.mark.parametrize(
    ("kernel", "args", "words"),
    [
        (first, ([1.1, 2.2],), "is given a list; .*np.array"),
        (first, ([],), "is given a list; .*np.array"),
        (first, ([[1.1]],), "is given a list; .*np.array"),
        (number, ({1.0},), "is given a set; .*np.array"),
        (number, ({"a": 1.0},), "is given a dict; .*np.array"),
        (first, (X.astype(object),), r"\(s: 1-D array of object\): non-precise type"),
        (first, (X.astype(np.longdouble),), r"array of float128\): non-precise type"),
        (first, (np.ma.masked_array(X, X > 2),), "Unsupported array type: numpy.ma.MaskedArray"),
        (number, ("abc",), r"there is no mul\(unicode_type, float"),
        (number, (2**70,), r"\(s: int\): non-precise type"),
        (number, (SETTINGS,), r"\(s: SimpleNamespace\): non-precise type"),
        (corner, (X,), "cannot index array.* with 2 indices"),
        (first, (1.5,), "there is no getitem"),
        (missing, (X,), "Unknown attribute 'nowhere'"),
        (halves, (X,), "Unsupported array index type"),
        (either, (X,), "Can.*t? unify"),
        (text_as_number, (X,), "an operation on numbers is given unicode_type"),
        (rows_of_two_kinds, (1.5,), "Numba's compiler .*; .*write 0.0 for 0"),
        (of_two_kinds, (X,), "begins with an integer is binary64 .*: begin it with 0.0"),
        (first, (), "called wrongly: missing a required argument: 's'; it takes first"),
        (first, (X, 1.0), "called wrongly: too many positional arguments; it takes first"),
        (number, (math.sqrt,), "lift takes a Python function"),
    ],
    ids=lambda v: "",
)
def test_arguments_are_refused(kernel, args, words):
    """Wrong dtypes, shapes, counts and objects: a sentence that names the kernel, no traceback of
    Numba's. In a backend with random bits, where the entry takes a key, for every other one.
    """
    lifted = sciprec.lift(kernel, "mlu370-noise" if len(words) % 2 else "bf16")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(sciprec.LiftError, match=words) as caught:
            lifted(*args)
    assert "pipeline" not in str(caught.value) and "\n" not in str(caught.value)


# ---- the way out works: what the messages say, done ---------------------------------------------


def rewritten(x):
    """Each line is what one of ADVISED is told to write."""
    keys, values = np.array([3, 5]), np.array([0.1, 0.2])
    found = 0.0
    for i in range(keys.size):
        if keys[i] == 5:
            found = values[i]
    some = []
    for i in range(x.size):
        some.append(x[i] * 2.0**i)
    n = x.size
    print(n, len(some))
    roots = [math.sqrt(v) for v in x]
    pairs = len(set([1.0, 2.0])) + len(set([v for v in x]))  # noqa: C403, C405
    normal = 0.5 * math.erfc(-x[0] / math.sqrt(2.0))
    return found + some[2] + roots[1] + pairs, normal, math.pow(2.0, x[0]), m.pi


ADVISED = (
    dictionary, typed_dictionary, generator, scaled, formatted, mapped, a_set,
    set_comprehension, special, partial, imports,
)  # fmt: skip


def test_advice_works(capsys):
    assert sciprec.lift(rows_of_one_kind, "bf16")(1.5).tolist() == [[1.5, 0.0], [1.5, 1.5]]
    assert sciprec.lift(of_one_kind, "fp32")(np.ones(3)) == 4.0
    for kernel in ADVISED:
        with pytest.raises(sciprec.LiftError, match="cannot be lifted; "):
            sciprec.lift(kernel)
    found, truth = sciprec.lift(rewritten)(X), rewritten(X)
    assert np.allclose(found, truth, rtol=1e-14)
    assert truth[0] - 5 == pytest.approx(0.2 + X[2] * 4 + math.sqrt(2.2), rel=1e-14)


ADVICE_FOR_SCIPY = {
    "beta": (0.7, -1.9), "betaln": (0.7, 1.9), "binom": (7.25, 2.5), "rgamma": (2.3,),
    "exp10": (0.4,), "expit": (0.3,), "logit": (0.2,), "ndtr": (-1.2,), "xlogy": (0.7, 2.2),
}  # fmt: skip
AS_ADVISED = """
import math
import scipy.special

def refused({names}):
    return scipy.special.{name}({names})

def advised({names}):
    return {advice}
"""


@pytest.mark.parametrize("name", ADVICE_FOR_SCIPY)
def test_the_advice_for_functions_of_scipy_works(name, tmp_path):
    """The advice of the message, followed: SciPy's values."""
    given, advice = ADVICE_FOR_SCIPY[name], _SPECIAL[name]
    names = [n for n in ("x", "p", "n", "k", "a", "b", "y") if re.search(rf"\b{n}\b", advice)]
    text = AS_ADVISED.format(names=", ".join(names), name=name, advice=advice)
    (tmp_path / f"advised_{name}.py").write_text(text)
    found = runpy.run_path(str(tmp_path / f"advised_{name}.py"))
    words = re.escape(f"{name} cannot be lifted; write {advice}")
    with pytest.raises(sciprec.LiftError, match=words):
        sciprec.lift(found["refused"])
    truth = getattr(scipy.special, name)(*given)
    assert Uncompiled(found["advised"])(*given) == pytest.approx(truth, rel=1e-13)


def test_every_advice_for_scipy_is_run():
    assert _SPECIAL.keys() == ADVICE_FOR_SCIPY.keys()
