"""Laws of error growth: each is recognised in data made by it, with its coefficients."""

import numpy as np
import pytest

from sciprec.comparison.evidence.growth_laws import growth_laws
from sciprec.errors import InputError
from sciprec.precision import lift, quantize

STEPS = np.arange(0, 400, 8)
U = 2.0**-24
MADE = {
    "exponential": lambda n: 3e-9 * np.exp(0.02 * n),
    "square root": lambda n: 2.0 * np.sqrt(n) * U,
    "linear": lambda n: 0.5 * n * U,
}


@pytest.mark.parametrize("name", MADE)
def test_a_law_is_recognised_through_scatter(name):
    scatter = np.exp(np.random.default_rng(3).normal(0, 0.1, STEPS.size))
    found = growth_laws(STEPS, MADE[name](STEPS) * scatter, U)
    assert found.best.name == name and found.best.weight > 0.9
    expected = {"exponential": {"delta_0": 3e-9, "eps": 0.02}, "square root": {"c": 2.0},
                "linear": {"c": 0.5}}[name]  # fmt: skip
    assert found.best.coefficients == pytest.approx(expected, rel=0.1)
    assert found.best.scatter == pytest.approx(0.1 / np.log(10), rel=0.3)
    assert sum(law.weight for law in found.laws) == pytest.approx(1.0)
    assert found.span == STEPS[-1] - STEPS[1]
    if name == "exponential":
        assert found.increase == pytest.approx(np.exp(0.02 * found.span), rel=0.2)
    else:
        power = {"square root": 0.5, "linear": 1.0}[name]
        assert abs(found.power - power) < 4 * found.power_error
    assert name in str(found)


def sequential_sum(x, out):
    total = 0.0
    for i in range(x.size):
        total = total + x[i]
        out[i] = total


def test_sums_follow_the_laws_of_theory():
    """Sums to nearest of random signs: sqrt(n) u; truncated sums of one sign: a bias, n u."""
    rng = np.random.default_rng(0)
    steps = np.unique(np.geomspace(10, 20000, 30).astype(int))
    for spec, name, power in (("fp16", "square root", 0.5), ("mlu370", "linear", 1.0)):
        errors = np.zeros(steps.size)
        for _ in range(40):
            x = rng.uniform(0.5, 1.0, steps[-1])
            x = x * rng.choice([-1.0, 1.0], x.size) if spec == "fp16" else x
            x = quantize(x, spec)
            out, true = np.zeros(x.size), np.cumsum(x)
            lift(sequential_sum, spec)(x, out)
            scale = np.sqrt(steps) if spec == "fp16" else true[steps - 1]
            errors += (np.abs(out - true)[steps - 1] / scale) ** 2
        found = growth_laws(steps, np.sqrt(errors / 40), U)
        assert found.best.name == name, str(found)
        assert abs(found.power - power) < 0.25


def test_what_cannot_be_used_is_left_out():
    errors = MADE["linear"](STEPS)
    errors[[3, 5, 7]] = 0.0, np.nan, np.inf
    found = growth_laws(STEPS, errors, U)
    assert found.points == STEPS.size - 4 and found.best.name == "linear"
    assert growth_laws([0, 1, 2, 3], [0.0, 1e-7, 2e-7, 3e-7], U) is None
    assert growth_laws([4, 4, 4, 4], [1e-7, 2e-7, 2e-7, 3e-7], U) is None


def test_wrong_input_is_a_sentence():
    with pytest.raises(InputError, match="accepted: two sequences of one length"):
        growth_laws([1, 2], [1.0], U)
    with pytest.raises(InputError, match="accepted: a number above zero"):
        growth_laws(STEPS, MADE["linear"](STEPS), 0.0)
