"""Compensated updates by instructions: the protocol bit for bit, and exact sums in fixed point."""

import numpy as np
import pytest

from sciprec import lift, machine, quantize
from sciprec.arrays.sums import compensation
from sciprec.foundation.errors import InputError


def mlu370(values):
    """Numbers of the format, in binary32 variables."""
    return quantize(np.asarray(values, np.float32), "mlu370")


@pytest.mark.parametrize(
    ("alpha", "beta", "spread"),
    [(1.0, 0.0, 0), (0.1, 0.9, 30), (0.15, 0.85, 120), (0.0, 1.0, 30), (1.0, 0.0, 120)],
)
def test_it_is_the_protocol_bit_for_bit(alpha, beta, spread):
    rng = np.random.default_rng(370)
    exponents = rng.integers(-spread, spread + 1, (3, 3000))
    state, residual, _ = (mlu370(x) for x in rng.uniform(-2, 2, (3, 3000)) * 2.0**exponents)
    residual = mlu370(residual * np.float32(2.0**-21))  # a subnormal number is none of the format
    state[:3], residual[:3] = (0.0, -0.0, -0.0), (0.0, -0.0, 0.0)
    reference = lift(compensation.compensated_update, "mlu370", trust_inputs=True)
    found, expected = (state.copy(), residual.copy()), (state.copy(), residual.copy())
    for _ in range(5):
        increment = mlu370(rng.uniform(-1, 1, 3000) * 2.0 ** (exponents[0] - rng.integers(0, 40)))
        machine.compensated_update(*found, increment, alpha, beta)
        reference(*expected, increment, np.float32(alpha), np.float32(beta))
    for one, other in zip(found, expected, strict=True):
        assert np.array_equal(one.view(np.int32), other.view(np.int32))
    assert not np.array_equal(found[0], state)


@pytest.mark.parametrize("scale", [1, -1, 12345, 2**31 - 1, -(2**31)])
def test_fixed_point_loses_nothing(scale):
    rng = np.random.default_rng(64)
    state, residual = rng.integers(-(2**40), 2**40, 50), np.zeros(50, np.int64)
    exact = [int(x) * 2**32 for x in state]
    dropped = state.copy()
    for _ in range(200):
        increment = rng.integers(-(2**31), 2**31, 50).astype(np.int32)
        assert machine.rescaled_update(state, residual, increment, scale) == 0
        dropped += machine.vscale_i32(increment, scale)
        exact = [e + int(i) * scale for e, i in zip(exact, increment, strict=True)]
    assert state.tolist() == [e >> 32 for e in exact]
    assert residual.tolist() == [e & (2**32 - 1) for e in exact]
    lag = state - dropped  # VSCALE alone rounds each of 200 down: it lags by up to 1 each
    assert 0 <= lag.min() and lag.max() <= 200
    assert abs(scale) != 12345 or lag.mean() == pytest.approx(100, abs=5 * np.sqrt(200 / 12))


def test_sums_that_leave_the_register_are_counted():
    state, residual = np.array([2**63 - 1, 0]), np.zeros(2, np.int64)
    increment = np.array([4, 4], np.int32)
    assert machine.rescaled_update(state, residual, increment, 2**30) == 1
    assert state.tolist() == [-(2**63), 1]


SINGLE, DOUBLE, WORDS = np.zeros(2, np.float32), np.zeros(2), np.zeros(2, np.int32)
LONG = np.zeros(2, np.int64)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: machine.compensated_update(DOUBLE, SINGLE, SINGLE), "state of 1-D float64; accep"),
        (lambda: machine.compensated_update(SINGLE, SINGLE, [1.0]), "increment of list; accepted:"),
        (lambda: machine.compensated_update(SINGLE, SINGLE[:1], SINGLE), "(2,), residual (1,), in"),
        (lambda: machine.rescaled_update(WORDS, LONG, WORDS, 1), "state of 1-D int32; accepted: "),
        (lambda: machine.rescaled_update(LONG, LONG - 1, WORDS, 1), "residuals from -1 to -1; acc"),
        (lambda: machine.rescaled_update(LONG, LONG, WORDS, 2**31), "rs = 2147483648; accepted: w"),
    ],
)
def test_messages(call, words):
    with pytest.raises(InputError) as caught:
        call()
    assert words in str(caught.value)
