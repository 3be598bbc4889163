"""The three instructions against exact references, on extreme and on random operands."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from sciprec import machine
from sciprec.foundation.errors import InputError
from sciprec.precision import FORMATS
from tests.oracles import machine as oracle
from tests.precision.comparison import assert_bits

U = 2.0**-20  # spacing of mlu370 numbers below 2
LARGEST = FORMATS["mlu370"].max_finite
SIZES = [0.0, 2.0**-149, 2.0**-127, 2.0**-126, 2.0**-126 * (1 + U), 2.0**-64, 2.0**-63, 1e-5]
SIZES += [2.0**-33, 2.0**-32, 2.0**-21, 2.0**-20, 1 - 2.0**-21, 1 - 2.0**-22, 1.0, 1 + U / 8, 1 + U]
SIZES += [1.5, 2 - U, math.pi, 2.0**20 + 1, 2.0**32, 1e10, 2.0**63, 2.0**64 * (2 - U), 2.0**127]
SIZES += [LARGEST, 2.0**128, 1e300, 5e-324, math.inf, math.nan]
FACTORS = (1.0, -1.0, 0.1, 2.0**-126, LARGEST)
REALS = [s * x for x in SIZES for s in (1.0, -1.0)]
WORDS = [0, 1, 2, 3, 2**15, 2**16 - 1, 2**30, 2**31 - 2, 2**31 - 1]
WORDS += [-x for x in WORDS[1:]] + [-(2**31)]
SUMS = [0, 1, -1, 2**62, -(2**62), 2**63 - 1, 2**63 - 2, -(2**63), -(2**63) + 1, 2**32 - 1]


@pytest.mark.slow
@pytest.mark.parametrize("fused", [False, True])
def test_vcomp_is_rounded_as_the_reference_says(fused):
    """On extreme operands, and on random ones of all distances, many of whose sums cancel."""
    rng = np.random.default_rng(370)
    drawn = rng.uniform(-2, 2, (3, 1000)) * 2.0 ** rng.integers(-45, 45, (3, 1000))
    drawn[0, ::2] = -drawn[1, ::2] * drawn[2, ::2] * rng.choice([1, 1 + U, 1 - U], 500)
    extreme = itertools.product(REALS, REALS[::3] + [1.0, LARGEST], FACTORS)
    operands = np.concatenate([np.array(list(extreme)).T, drawn], axis=1)
    expected = [oracle.vcomp(*column, fused) for column in operands.T.tolist()]
    found = machine.vcomp_f32(*operands, fused=fused)
    assert found.dtype == np.float32
    assert_bits(found, expected, operands, "vcomp_f32")


def test_vscale_on_extreme_words():
    operands = list(itertools.product(WORDS, WORDS))
    found = machine.vscale_i32(*np.array(operands).T)
    assert found.dtype == np.int32
    assert found.tolist() == [oracle.vscale(*o) for o in operands]


@given(st.integers(-(2**31), 2**31 - 1), st.integers(-(2**31), 2**31 - 1))
@settings(max_examples=200, deadline=None)
def test_vscale_rounds_down_and_never_overflows(rn, rs):
    found = int(machine.vscale_i32(rn, rs))
    assert found == oracle.vscale(rn, rs)
    assert 0 <= rn * rs - found * 2**32 < 2**32
    assert -(2**30) <= found <= 2**30


@pytest.mark.parametrize("saturate", [False, True])
def test_vacc_at_both_ends(saturate):
    operands = list(itertools.product(SUMS, WORDS, [1, -1, 2**31 - 1, -(2**31)]))
    registers = [np.array(column) for column in zip(*operands, strict=True)]
    expected = [oracle.vacc(*o, saturate) for o in operands]
    found = machine.vacc_i64(*registers, saturate=saturate)
    assert found.dtype == np.int64
    assert found.tolist() == [value for value, _ in expected]
    assert machine.vacc_leaves(*registers).tolist() == [left for _, left in expected]


@pytest.mark.parametrize("saturate", [False, True])
def test_accumulation_counts_every_sum_that_left(saturate):
    rng = np.random.default_rng(64)
    rn, rm = rng.integers(-(2**31), 2**31, (2, 500))
    total, overflows = 12345, 0
    for a, b in zip(rn.tolist(), rm.tolist(), strict=True):
        total, left = oracle.vacc(total, a, b, saturate)
        overflows += left
    assert machine.accumulate_i64(rn, rm, start=12345, saturate=saturate) == (total, overflows)
    assert overflows > 0
    assert machine.accumulate_i64([], 1) == (0, 0)


def test_all_can_be_called_from_jitted_code():
    vcomp, vscale = machine.vcomp_f32, machine.vscale_i32
    vacc, leaves = machine.vacc_i64, machine.vacc_leaves

    @njit
    def everything(x, r, alpha, i, s):
        return (
            vcomp(x, r, alpha), vcomp(x, r, alpha, True), vscale(i, s),
            vacc(i, s), vacc(i, s, i), vacc(2**63 - 1, s, i, True), leaves(2**63 - 1, s, i),
        )  # fmt: skip

    found = everything(1.0, 0.3, 0.7, 100, 2**31 - 1)
    assert found == (
        oracle.vcomp(1.0, 0.3, 0.7), oracle.vcomp(1.0, 0.3, 0.7, True), 49,
        2**31 + 99, 100 * (2**31 - 1) + 100, 2**63 - 1, True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: machine.vscale_i32(2**31, 1), "vscale_i32 was given rn = 2147483648; accepted:"),
        (lambda: machine.vscale_i32(1, 0.5), "vscale_i32 was given rs = 0.5; accepted: whole num"),
        (lambda: machine.vacc_i64(2**63, 1), "rd = 9223372036854775808; accepted: whole numbers"),
        (lambda: machine.vacc_i64(0, True), "vacc_i64 was given rn = True; accepted: whole numb"),
        (lambda: machine.vacc_leaves(0, [2**40]), "rn = an array of int64 from 1099511627776 to"),
        (lambda: machine.vcomp_f32(1.0, "a", 1.0), "vcomp_f32 was given rm = 'a'; accepted: real"),
        (lambda: machine.vcomp_f32(1.0, 1.0, 2**60), "accepted: real numbers of at most 64 bits"),
        (lambda: machine.accumulate_i64([[1]]), "was given rn of shape"),
        (lambda: machine.accumulate_i64([1, 2], [1, 2, 3]), "factors of its length or one number"),
    ],
)
def test_what_a_register_cannot_hold_is_refused(call, words):
    with pytest.raises(InputError) as caught:
        call()
    assert words in str(caught.value)
