"""The compensation protocol: what a residual is, that nothing is lost, and what it is good for."""

from fractions import Fraction

import numpy as np
import pytest

from sciprec import quantize
from sciprec.arrays.sums.compensation import (
    COMPENSATIONS,
    CarriedUpdate,
    Compensation,
    lost_in_sum,
    resolve_compensation,
)
from sciprec.foundation.errors import InputError
from sciprec.precision import lift, resolve_backend

NEAREST = ("fp32", "fp16", "bf16", "tf32")
DIRECTED = ("mlu370", "float:p=21,round=ru", "float:p=21,round=rd", "float:p=8,round=sr")
SHARES = [(1.0, 0.0), (0.1, 0.9), (0.15, 0.85), (0.5, 0.0), (1.0, 1.0), (2.0, 0.5)]


def sums_and_losses(a, b, out):
    for i in range(a.shape[0]):
        out[0, i] = a[i] + b[i]
        out[1, i] = lost_in_sum(a[i], b[i], out[0, i])


def operands(backend, count=1500, seed=0):
    """Pairs of numbers of the storage format, from equal size to far apart, of both signs."""
    rng, lowest = np.random.default_rng(seed), max(backend.storage.format.emin + 2, -40)
    pairs = rng.uniform(-2, 2, (2, count)) * 2.0 ** rng.integers(lowest, 3, (2, count))
    return quantize(pairs, backend)


def exact_losses(a, b, totals):
    return [Fraction(x) + Fraction(y) - Fraction(t) for x, y, t in zip(a, b, totals, strict=True)]


def losses(name):
    backend = resolve_backend(name)
    a, b = operands(backend)
    out = np.zeros((2, a.size))
    lift(sums_and_losses, backend)(a, b, out)
    return a, b, *out, exact_losses(a.tolist(), b.tolist(), out[0].tolist())


@pytest.mark.parametrize("name", NEAREST + DIRECTED)
def test_what_a_sum_loses_is_found(name):
    """To nearest exactly, and so where terms of one sign are truncated; else to one rounding."""
    a, b, totals, found, expected = losses(name)
    p = resolve_backend(name).compute.format.significand_bits
    exact = (a * b > 0) & (name == "mlu370") | (name in NEAREST)
    for x, e, total, is_exact in zip(found.tolist(), expected, totals.tolist(), exact, strict=True):
        assert abs(Fraction(x) - e) <= (0 if is_exact else Fraction(2) ** (1 - p) * abs(e))
        assert abs(e) < Fraction(2) ** (1 - p) * abs(Fraction(total)) or e == 0
    assert any(expected)


def updates_of(backend, count, seed=0, lowest=-1.0, size=32):
    """Increments around a third of a unit in the last place of one, in the storage format."""
    u = backend.compute.rounding_error
    drawn = np.random.default_rng(seed).uniform(lowest * u / 3, u / 3, (count, size))
    return quantize(drawn, backend).astype(backend.carrier)


def run(name, compensation, increments, update=None):
    """The state after all increments, from one, and what is left."""
    backend = resolve_backend(name)
    state = np.ones(increments.shape[1], backend.carrier)
    carried = CarriedUpdate(backend, compensation)
    for increment in increments:
        carried(state, increment)
    return state, carried.residual


def error(name, compensation, lowest=0.0, count=2000):
    """Largest error of the state in units of the largest relative error of a rounding."""
    backend = resolve_backend(name)
    increments = updates_of(backend, count, lowest=lowest)
    state, _ = run(backend, compensation, increments)
    truth = 1.0 + increments.sum(axis=0, dtype=np.float64)
    return np.abs(state - truth).max() / backend.compute.rounding_error


@pytest.mark.parametrize(
    ("name", "shares"), [(("fp32", "mlu370", "fp16")[n % 3], s) for n, s in enumerate(SHARES)]
)
def test_state_and_residual_together_lose_nothing_of_the_first_order(name, shares):
    """What is missing is what the roundings of residuals lose: u**2 or less in each update."""
    backend, count = resolve_backend(name), 500
    increments = updates_of(backend, count, size=8)
    state, residual = run(backend, Compensation(*shares), increments)
    u = backend.compute.rounding_error
    rest = backend.storage.format.min_positive
    largest = max(abs(residual).max(), u)
    for i in range(8):
        truth = 1 + sum(Fraction(float(x)) for x in increments[:, i])
        missing = truth - Fraction(float(state[i])) - Fraction(float(residual[i]))
        assert abs(missing) <= count * (8 * u * largest + 8 * rest)


@pytest.mark.parametrize(
    ("name", "lowest"), [("fp32", 0.0), ("mlu370", -1.0), ("mlu370", 0.0), ("fp16", -1.0)]
)
def test_published_coefficients_reduce_the_error_and_the_carry_reduces_it_more(name, lowest):
    """The uncompensated state stagnates or lags by hundreds of units; the carry stays below 4 u."""
    none, *published, carry = (
        error(name, c, lowest) for c in (None, "published-10-90", "published-15-85", "carry")
    )
    assert none > 200 or lowest < 0.0
    assert carry < 4 and all(carry < one < none / 4 for one in published)


def test_uncompensated_updates_keep_no_residual():
    assert run("fp32", "none", updates_of(resolve_backend("fp32"), 3))[1] is None


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"alpha": -0.1}, "compensation: alpha is -0.1; accepted: a number from 0 to 2"),
        ({"alpha": float("nan")}, "compensation: alpha is nan; accepted: a number from 0 to 2"),
        ({"alpha": "1"}, "compensation: alpha is '1'; accepted: a number from 0 to 2"),
        ({"beta": 2.5}, "compensation: beta is 2.5; accepted: a number from 0 to 2"),
        ({"beta": True}, "compensation: beta is True; accepted: a number from 0 to 2"),
        ({"reset_every": 0}, "compensation: reset_every is 0; accepted: a whole number of updates"),
        ({"reset_every": 1.5}, "compensation: reset_every is 1.5; accepted: a whole number"),
        ({"sums": 1}, "compensation: sums is 1; accepted: True or False"),
    ],
)
def test_wrong_coefficients_get_a_sentence(wrong, words):
    with pytest.raises(InputError) as caught:
        Compensation(**wrong)
    assert words in str(caught.value)


def test_compensations_by_name_and_per_variable():
    assert resolve_compensation("none") is None
    assert resolve_compensation("carry") == Compensation(1.0, 0.0)
    half = Compensation(0.5)
    assert resolve_compensation({"u": "carry", "v": half, "w": None}) == {
        "u": Compensation(), "v": half,
    }  # fmt: skip
    assert all(resolve_compensation(name) is c for name, c in COMPENSATIONS.items())
    with pytest.raises(InputError, match=r"unknown compensation 'kahan'; known: none, carry, car"):
        resolve_compensation("kahan")
    with pytest.raises(InputError, match="compensation of 'u' is a mapping; accepted: a name"):
        resolve_compensation({"u": {"v": "carry"}})
    with pytest.raises(InputError, match="given a compensation per variable; make one Carried"):
        CarriedUpdate("fp32", {"u": "carry"})
