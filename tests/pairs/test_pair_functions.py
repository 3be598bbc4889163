"""Elementary functions of pairs against mpmath at 500 bits."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from sciprec import lift
from sciprec.instruments.pairs.functions import FUNCTIONS
from sciprec.instruments.pairs.lifted import Pair
from sciprec.precision.operations.operation import OPERATIONS
from tests.oracles.uncompiled import Uncompiled
from tests.pairs.function_cases import BITS, CASES, OF_TWO, USUAL
from tests.pairs.real_pairs import BITS as EXACT_BITS
from tests.pairs.real_pairs import drawn, reals, worst
from tests.random_kernels.trials import kernel_in

QUICK = ("math.exp", "math.log", "math.sin", "math.asin", "math.sinh", "pow", "np.cbrt")


def _names(cases):
    return [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in cases]


def _kernel(folder, called: str, operands: str = "x"):
    head = f"import math\nimport numpy as np\n\n\ndef kernel({operands}, out):\n"
    return kernel_in(f"{head}    for i in range(x.size):\n        out[i] = {called}\n", folder)


def _limit(name: str) -> float:
    return 2.0 ** -BITS.get(name.rpartition(".")[2], USUAL)


@pytest.mark.parametrize("name", _names(CASES))
def test_a_function_is_known_to_its_bits(name, tmp_path, count=30):
    function, ranges = CASES[name]
    kernel = _kernel(tmp_path, f"{name}(x[i])")
    lifted = lift(kernel, "dd")
    for low, high in ranges:
        x, out = drawn(np.random.default_rng(count), low, high, count), Pair(*np.zeros((2, count)))
        lifted(x, out)
        with mpmath.workprec(EXACT_BITS):
            numbers = reals(x)
            exact = list(map(function, numbers))
            sizes = [abs(n * mpmath.diff(function, n)) for n in numbers]
        assert worst(out, exact, sizes) <= _limit(name), (low, high)
    require_ends(name, kernel, lifted)


@pytest.mark.parametrize("name", _names(OF_TWO))
def test_a_function_of_two_is_known_to_its_bits(name, tmp_path, count=30):
    function, ranges = OF_TWO[name]
    lifted = lift(_kernel(tmp_path, f"{name}(x[i], y[i])", "x, y"), "dd")
    for of_x, of_y in ranges:
        rng = np.random.default_rng(count)
        x, y, out = drawn(rng, *of_x, count), drawn(rng, *of_y, count), Pair(*np.zeros((2, count)))
        lifted(x, y, out)
        with mpmath.workprec(EXACT_BITS):
            both = list(zip(reals(x), reals(y), strict=True))
            exact = [function(a, b) for a, b in both]
            moved = [abs(b * mpmath.log(abs(a)) * e) for (a, b), e in zip(both, exact, strict=True)]
        assert worst(out, exact, moved if name == "pow" else None) <= 2.0**-USUAL, (of_x, of_y)


def test_every_operation_that_is_evaluated_has_a_form_for_pairs():
    evaluated = {r.evaluate for r in OPERATIONS.values() if r.evaluate and not r.of_bits}
    assert evaluated == FUNCTIONS.keys()
    tested = {n.rpartition(".")[2] for n in (*CASES, *OF_TWO)} | {"ufp", "sqrt"}
    assert {r.name for r in OPERATIONS.values() if r.evaluate in FUNCTIONS} <= tested


SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 2.0, -2.0, 5e-324, 800.0, -800.0,
                    1e308, -1e308, 0.5, -0.5])  # fmt: skip


def require_ends(name, kernel, lifted):
    """Poles, infinities, NaN, what overflows are binary64's; angles beyond 2^52 are not known."""
    made, expected = np.zeros(SPECIAL.size), np.zeros(SPECIAL.size)
    with np.errstate(all="ignore"):
        lifted(SPECIAL, made)
        Uncompiled(kernel, "fp64")(SPECIAL, expected)
    unknown = np.isnan(made) & ~np.isnan(expected)
    assert (abs(SPECIAL[unknown]) >= 2.0**52).all()
    assert not unknown.any() or name in ("math.sin", "math.cos", "math.tan", "np.sinc")
    np.testing.assert_allclose(made[~unknown], expected[~unknown], rtol=2.0**-50)
    zeros = expected == 0.0
    np.testing.assert_array_equal(np.signbit(made[zeros]), np.signbit(expected[zeros]))


def test_low_numbers_decide_at_the_ends_of_a_domain(tmp_path):
    above = Pair(np.array([1.0]), np.array([2.0**-70]))
    for name in ("math.asin", "math.acos", "math.atanh"):
        out = np.zeros(1)
        lift(_kernel(tmp_path, f"{name}(x[i])"), "dd")(above, out)
        assert math.isnan(out[0]), name
        lift(_kernel(tmp_path, f"{name}(x[i])"), "dd")(Pair(above.high, -above.low), out)
        assert math.isfinite(out[0]), name
    out = Pair(*np.zeros((2, 1)))
    lift(_kernel(tmp_path, "math.acosh(x[i])"), "dd")(above, out)
    assert out.high[0] == pytest.approx(2.0**-34.5)
