"""Kernels whose places have scales, against exact fractions and factors that are powers of two."""

import math
from fractions import Fraction

import numpy as np
import pytest

from sciprec import Assignment, InputError, lift, trace
from sciprec.instruments.assigning.scaled import largest_of, scalable, spread_of
from sciprec.instruments.assigning.scaling import (
    scale_exponent,
    with_scaling,
    within_reach,
)
from sciprec.precision import resolve_backend
from sciprec.precision.rounding.recording import LEAST_EXPONENT
from tests.oracles.exact import round_exact


def mixed(x, y, z, w, out):
    for i in range(out.size):
        out[i] = (x[i] * y[i] + z[i]) / w[i] - 0.7


def numbers(random, arithmetic, size, spread):
    """Numbers of the significand of an arithmetic, of exponents from -spread to spread."""
    bits = arithmetic.format.significand_bits
    digits = random.integers(1 << (bits - 1), 1 << bits, size)
    exponents = random.integers(-spread, spread + 1, size) - bits + 1
    return random.choice([-1.0, 1.0], size) * np.ldexp(digits.astype(float), exponents)


def same(one, other):
    np.testing.assert_array_equal(np.asarray(one) + 0.0, np.asarray(other) + 0.0)


def test_notes_hold_what_is_made_without_a_range():
    random, kernel = np.random.default_rng(5), scalable(mixed)
    arithmetic = resolve_backend("e4m3fn").compute
    args = [numbers(random, arithmetic, 200, 15) for _ in range(4)]
    wide, out = np.zeros(200), np.zeros(200)
    notes = kernel.new_notes(arithmetic)
    kernel.note(notes, *args, out)
    lift(mixed, "float:p=4,emin=-400,emax=400", trust_inputs=True)(*args, wide)
    same(out, wide)
    sites = [kernel.program.sites[row.site].operation for row in kernel.rows]
    product = np.abs([round_exact(Fraction(a) * Fraction(b), resolve_backend("float:p=4").compute)
                      for a, b in zip(*args[:2], strict=True)])  # fmt: skip
    row = sites.index("mul")
    assert largest_of(notes)[row] == product.max()
    counts = np.zeros(120, int)
    np.add.at(counts, np.frexp(product)[1] - 1 - LEAST_EXPONENT, 1)
    np.testing.assert_array_equal(spread_of(notes)[row], counts)


@pytest.mark.parametrize(
    "scale",
    [3.0, 0.0, -2.0, math.inf, math.nan, True, "2", 2.0**201, None, 10**400, 1 << 20000, 1j],
    ids=range(12),
)
def test_a_scale_is_a_power_of_two(scale):
    with pytest.raises(InputError, match="the scale of 'advection' is .*powers of two from 2"):
        with_scaling("fp16", "static", {"advection": scale})


def test_scales_are_within_reach_of_the_arithmetic():
    assert [scale_exponent("x", 2.0**k) for k in (-200, 0, 200)] == [-200, 0, 200]
    for backend, most in (("bf16", 200), ("fp16", 100)):
        arithmetic = resolve_backend(backend).compute
        assert within_reach(np.array([-201, 201]), arithmetic).tolist() == [-most, most]
        with_scaling(backend, "static", {"advection": 2.0**most})
    with pytest.raises(InputError, match="'advection' is .*; accepted: powers of two from 2.-100"):
        with_scaling("fp16", "static", {"advection": 2.0**101})


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("scaled:static", "it names no arithmetic; write for example 'scaled:static,fp16'"),
        ("scaled:sttic,fp16", "unknown scaling 'sttic'.*did you mean 'static'"),
        ("scaled:static,fp16,times=3", "scale of 'times' is 3.0"),
        ("scaled:static,fp16,times=x", "times='x' is no number"),
        ("scaled:static,fp16,small=none", "small 'none' is unknown"),
        ("scaled:dynamic,fp16,small=kept", "scaling = 'dynamic'; it goes with scaling = 'static'"),
        ("scaled:dynamic,fp16,good_steps=0", "good_steps is 0"),
        ("scaled:static,fp16,good_steps=7", "good_steps is 7 beside static scales"),
        *((f"scaled:dynamic,fp16,good_steps={x}", "is no whole number; write for example")
          for x in ("inf", "nan", "1.5", "1e400")),
        ("scaled:static,fp16,times=2,times=4", "'times' is given twice"),
        ("scaled:static,fp16,advection=2, advection=2", "'advection' is given twice"),
        *((f"scaled:static,{x}", f"{x[-4:]}.*' cannot have scales; accepted: one format to nearest")
          for x in ("fp64", "mlu370", "fixed16", "float:p=30", "fp16,round=rz")),
    ],
)  # fmt: skip
def test_what_has_no_scales_is_refused(name, said):
    with pytest.raises(InputError, match=said):
        resolve_backend(name)


@pytest.mark.parametrize("stage", ["times", "good_steps", "small", "p", "emin", "a,b", "a=b", 3])
def test_what_means_something_else_in_a_name_is_no_stage(stage):
    with pytest.raises(InputError, match=r"unknown stage .* among scales; give stages that `scipr"):
        with_scaling("fp16", "static", {stage: 2.0})


def test_every_name_is_refused_or_means_what_it_says():
    """Names drawn of parts that names have, and of others: what is taken has a name of its own,
    which gives it again; every part of the given one is in it, or what is usual.
    """
    random, taken = np.random.default_rng(5), 0
    keys = ("times", "small", "good_steps", "advection", "rest", "p", "")
    values = ("2", "0.5", "1", "clipped", "kept", "inf", "nan", "1e400", "-4", "7", "", "x", "3")
    for _ in range(3000):
        mode = random.choice(["static", "dynamic", "none", ""], p=[0.45, 0.45, 0.05, 0.05])
        parts = [str(random.choice(["fp16", "e4m3fn", "float:p=9,emin=-30,emax=20", "fp64"]))]
        parts += [f"{random.choice(keys)}={random.choice(values)}"
                  for _ in range(random.integers(4))]  # fmt: skip
        name = f"scaled:{mode},{','.join(parts)}"
        try:
            made = resolve_backend(name)
        except InputError:
            continue
        taken += 1
        again = resolve_backend(made.name)
        assert again == made and again.scaling == made.scaling, name
        own = dict(made.scaling.given) | {
            "times": made.scaling.times, "small": made.scaling.small,
            "good_steps": made.scaling.good_steps,
        }  # fmt: skip
        for part in parts[1:]:
            key, _, value = part.partition("=")
            k = value if key == "small" else float(value)
            k = k if key in ("small", "good_steps") else math.log2(k)
            assert own[key] == k, name
        assert made.compute == resolve_backend(parts[0]).compute
    assert taken > 100 and with_scaling("fp16") is resolve_backend("fp16")


def test_scales_are_no_kernels():
    with pytest.raises(InputError, match="scales for the places of a climate model"):
        lift(mixed, "scaled:static,fp16")
    with pytest.raises(InputError, match="'scaled:static,fp16' is no single floating-point"):
        Assignment({1: "scaled:static,fp16"})
    with pytest.raises(InputError, match="has scales, which trace does not .* them, 'fp16'"):
        trace(mixed, "scaled:static,fp16", tuple(np.ones((5, 3))))
