"""The digits of results: never more than 1,200 bits know, on kernels that lose them."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from sciprec import InputError, LiftError, digits, lift
from sciprec.precision.formats.backend import resolve_backend
from sciprec.tools.digits.truth import LITERALS, truth_of
from sciprec.tools.trace.problem import Problem
from tests.diagnosis import digits_survey
from tests.diagnosis.digits_survey import true_digits
from tests.draws import few
from tests.oracles.reals import real_kernel


def muller(out):
    a, b = 2.0, -4.0
    for i in range(out.size):
        a, b = b, 111.0 - 1130.0 / b + 3000.0 / (b * a)
        out[i] = b


def rump(a, b):
    second = a * a * (11.0 * a * a * b**2 - b**6 - 121.0 * b**4 - 2.0)
    return 333.75 * b**6 + second + 5.5 * b**8 + a / (2.0 * b)


def growing(n):
    """A bank that takes one unit a year: all that is left is what the literal is off by."""
    y = 2.718281828459045 - 1.0
    for i in range(1, n):
        y = i * y - 1.0
    return y


def logistic(x, out):
    for i in range(out.size):
        x = 3.9 * x * (1.0 - x)
        out[i] = x


def vancouver(changes, out):
    """The index of a stock exchange, cut to three decimals after every trade."""
    index = 1000.0
    for i in range(changes.size):
        index = math.floor((index + changes[i]) * 1000.0) / 1000.0
        out[i] = index


def haversine(longitudes, out):
    for i in range(longitudes.size):
        s = math.sin(0.5 * longitudes[i])
        out[i] = 2.0 * math.asin(math.sqrt(s * s))


def quotients(x, y, out):
    for i in range(x.size):
        out[i] = x[i] // y + x[i] % y + math.fmod(x[i], y) + np.sign(x[i] - 3.0 * y)


def vanishing(x, y):
    return x * y * 1e300 * 1e10


def softplus(x):
    return math.log(1.0 + math.exp(x))


def _right(kernel, args):
    """Digits that 1,200 bits know of what a kernel writes last, or returns."""
    tested = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    returned = lift(kernel, "fp64")(*tested)
    real, held = real_kernel(kernel)(args)
    if returned is None:
        return true_digits(tested[-1], held[-1].ravel().tolist())
    return true_digits(np.array([returned]), [real])


CASES = {
    "Muller": (muller, (np.zeros(60),)),
    "Rump": (rump, (77617.0, 33096.0)),
    "Kahan's e": (growing, (20,)),
    "logistic map": (logistic, (0.3, np.zeros(200))),
    "haversine of antipodes": (haversine, (math.pi + np.linspace(-1e-6, 1e-6, 40), np.zeros(40))),
    "quotients of whole numbers": (quotients, (np.arange(1.0, 80.0) * 0.1, 0.1, np.zeros(79))),
}


@pytest.mark.parametrize("name", CASES)
def test_no_digit_is_above_the_truth(name):
    kernel, args = CASES[name]
    found = digits(kernel, args, condition=False)
    (told,) = (a.ravel() for a in found.digits.values())
    right = _right(kernel, args)
    known = ~np.isnan(told)
    assert (told[known] <= right[known] + 1e-6).all()
    assert (told[known] >= right[known] - 1.0).all()
    assert known.sum() >= 1


def test_what_is_lost_is_not_known_and_what_is_wrong_has_no_digit():
    """Both twins of Muller's return to 100; of Rump's the value is not known, its digits are."""
    told = digits(muller, (np.zeros(60),)).digits["out"]
    assert told[0] > 15 and told[17] == 0.0 and np.isnan(told[-1])
    found = digits(rump, (77617.0, 33096.0))
    assert found.digits["return"] == 0.0 and "no right digit" in found.verdict


def test_what_literals_and_arguments_leave():
    """The bank's account is right to 15 digits of what its literal says, and to none of e - 1."""
    found = digits(growing, (25,))
    assert found.digits["return"] > 14.5 and found.condition["return"][LITERALS] < 0.5
    assert found.deciding["return"][0] == LITERALS and "none in return" in found.verdict
    found = digits(logistic, (0.3, np.zeros(40)))
    slopes = np.array([abs(float(_slope(n))) for n in (1, 10, 39)])
    values = np.array([float(_logistic(Fraction(0.3), n)) for n in (1, 10, 39)])
    expected = -np.log10(2.0**-53 * 0.3 * slopes / values)
    assert found.condition["out"]["x"][[1, 10, 39]] == pytest.approx(expected, abs=0.31)
    assert found.deciding["out"][0] in ("x", LITERALS)


def _logistic(x: Fraction, n: int) -> Fraction:
    for _ in range(n + 1):
        x = Fraction(3.9) * x * (1 - x)
        x = Fraction(round(x * 2**400), 2**400)
    return x


def _slope(n: int) -> Fraction:
    h = Fraction(1, 2**120)
    return (_logistic(Fraction(0.3) + h, n) - _logistic(Fraction(0.3), n)) / h


def test_a_quotient_on_the_edge_of_an_integer_decides():
    """0.3 / 0.1 of the binary64 numbers is below 3; half a unit less of 0.1 is enough for 3."""

    def edge(x, y):
        return x // y

    found = digits(edge, (0.3, 0.1))
    assert found.digits["return"] > 15 and found.condition["return"]["y"] < 0.5


def undecided(x):
    """Whether e^x e^-x is more than 1: it is 1, and no number of bits can tell."""
    return 1.0 if math.exp(x) * math.exp(-x) - 1.0 > 0.0 else 2.0


def test_what_exact_values_cannot_decide_is_not_known():
    found = digits(undecided, (0.3,))
    assert found.unsure == 1 and np.isnan(found.digits["return"])
    assert "exact values leave 1 decision open" in found.verdict


@pytest.mark.parametrize(("kernel", "args"), [(vanishing, (1e-200, 1.7e-115)),
                                              (softplus, (1000.0,))])  # fmt: skip
def test_beyond_the_range_of_pairs_nothing_is_known(kernel, args):
    found = digits(kernel, args)
    assert np.isnan(found.digits["return"]) and "not known" in found.verdict


def sines(x, e, out):
    for i in range(x.size):
        out[i] = math.sin(x[i] + e) - math.sin(x[i])


def test_the_doubt_of_functions_does_not_cancel():
    """Where two of them do, their exact values err by as much as either."""
    x, e = np.random.default_rng(3).uniform(0.5, 3.0, 400), 2.0**-50
    problem = Problem(sines, resolve_backend("fp64"), (x, e, np.zeros(400)), None, 4)
    _, known = truth_of(problem)
    low = 0
    with mpmath.workprec(400):
        for a, *pair, doubt in zip(x.tolist(), *(
            part["out"].tolist() for part in (known.high, known.low, known.doubt)
        ), strict=True):  # fmt: skip
            exact = mpmath.sin(mpmath.mpf(a) + e) - mpmath.sin(mpmath.mpf(a))
            low += abs(mpmath.mpf(pair[0]) + pair[1] - exact) > 4.0 * doubt
    assert low == 0


@pytest.mark.parametrize("seed", few(range(0, 40, 6), 4))
def test_random_kernels(seed):
    one = digits_survey.surveyed(seed)
    assert not one["above"] and one["near"] == one["known"] >= 0.85 * one["numbers"], one


@pytest.mark.survey
def test_many_random_kernels(tmp_path):
    """Of 20 kernels at most 2 % of numbers have more than one digit too many; 85 % are within a
    digit, and at most 15 % are not known.
    """
    found = digits_survey.survey(tmp_path, 400, 420)
    assert found["numbers above"] <= 0.02 * found["numbers"]
    assert found["near"] >= 0.85 * found["numbers"]
    assert found["known"] >= 0.85 * found["numbers"]


def _complex(z):
    return z * z


@pytest.mark.parametrize(
    ("kernel", "args", "options", "error", "words"),
    [
        (rump, (1.0, 2.0), {"backend": "fixed32"}, InputError, "digits takes floating-point"),
        (rump, (1.0, 2.0), {"backend": "bf16,round=sr"}, InputError, "random bits"),
        (rump, (1.0,), {}, InputError, "called wrongly"),
        (rump, 1.0, {}, InputError, "a tuple of the kernel's arguments"),
        (_complex, (1j,), {}, InputError, "digits takes"),
        (rump, (1.0, "2"), {}, InputError, "the string '2'"),
        (muller, (np.zeros(3),), {"output": "in"}, InputError, "accepted: out"),
        ("rump", (1.0,), {}, LiftError, "define the kernel with `def`"),
    ],
)
def test_bad_input_gets_a_sentence(kernel, args, options, error, words):
    with pytest.raises(error) as raised:
        digits(kernel, args, **options)
    assert words in str(raised.value) and "\n" not in str(raised.value)


FILE = """
import numpy as np


def muller(out):
    a, b = 2.0, -4.0
    for i in range(out.size):
        a, b = b, 111.0 - 1130.0 / b + 3000.0 / (b * a)
        out[i] = b


def given():
    return {"out": np.zeros(30)}
"""


def test_the_verb_prints_a_table_writes_a_page_and_json(tmp_path, call, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernels.py").write_text(FILE)
    words = ["digits", "kernels.py:muller", "--inputs", "kernels.py:given"]
    code, shown, _ = call(*words, "--html", "page.html")
    assert code == 0 and "no right digit in out[" in shown
    page = (tmp_path / "page.html").read_text()
    assert "Number by number" in page and "<script" not in page
    plain = json.loads(call(*words, "--json")[1])
    assert plain["digits"]["out"][0] > 15 and plain["digits"]["out"][-1] in (0.0, None)
    code, _, refused = call("digits", "kernels.py:muller")
    assert code == 2 and "give --inputs" in refused
    code, _, refused = call("digits", "quickstart")
    assert code == 2 and "FILE.py:FUNCTION" in refused
