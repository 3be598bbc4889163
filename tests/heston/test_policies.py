"""Policies of mixed precision on paths: random ones against exact fractions, what they equal."""

import re
from pathlib import Path

import numpy as np
import pytest

from sciprec import InputError, heston, quantize
from sciprec.heston.schemes.catalogue import scheme_named
from sciprec.heston.simulation.block import Simulation
from sciprec.heston.simulation.paths import Block
from sciprec.heston.variates.inversion import philox_variates
from sciprec.instruments.assigning.policies import Policy
from sciprec.precision import lift, resolve_backend
from sciprec.precision.streams import seed_words
from tests.heston.examples import LEWIS
from tests.oracles.by_line import run_by_line
from tests.precision.registered import registered_kernels

SCHEMES = ("full_truncation_euler", "quadratic_exponential", "quadratic_exponential_martingale")
STAGES = ("draws", "variance", "log spot", "state update")
NARROW = ("bf16", "fp16", "mlu370", "float:p=9", "float:p=13,round=rz")
WIDE = ("fp32", "fp64", "float:p=24,round=rz")
BY_HAND = [
    ("registry.py", r".", "state update"),
    ("martingale_correction.py", r".", "log spot"),
    ("", r"(root|change = \(level) ", "variance"),
    ("", r"(shock|gain|vbar|drift) = ", "log spot"),
    ("quadratic_exponential.py", r"(change|v_next|carry) = ", "state update"),
    ("", r"(inverse|spread|psi|fall|jump|moved) = ", "variance"),
    ("", r"(return|swing = |excess = )", "variance"),
]
"""File, what the line begins with -> stage; the table by which the oracle knows stages."""


def random_policy(seed: int) -> Policy:
    rng = np.random.default_rng(seed)
    lists = rng.integers(0, 4, len(STAGES))
    return Policy(
        str(rng.choice(["O0", "O1", "O2", "O3"])), str(rng.choice(NARROW)), str(rng.choice(WIDE)),
        tuple(s for s, n in zip(STAGES, lists, strict=True) if n == 1),
        tuple(s for s, n in zip(STAGES, lists, strict=True) if n == 2),
    )  # fmt: skip


def narrow_by_hand(policy: Policy, stage: str) -> bool:
    if stage in policy.allow or stage in policy.deny:
        return stage in policy.allow
    return {"O0": False, "O1": stage == "draws", "O2": stage != "state update", "O3": True}[
        policy.name
    ]


def arithmetic_by_hand(policy: Policy):
    """(file, line) -> the arithmetic that the policy gives it, by the table above."""
    narrow, wide = (resolve_backend(name).compute for name in (policy.narrow, policy.wide))

    def at(file: str, line: int):
        source = Path(file).read_text().splitlines()[line - 1].strip()
        for name, begins, stage in BY_HAND:
            if (not name or file.endswith(name)) and re.match(begins, source):
                return narrow if narrow_by_hand(policy, stage) else wide
        return narrow if policy.name in ("O2", "O3") else wide

    return at


def assert_is_the_oracles(seed: int) -> None:
    policy, name = random_policy(seed), SCHEMES[seed % 3]
    args = registered_kernels()[f"{scheme_named(name).kernel.__module__}.{name}"].example()
    expected = tuple(np.array(a, dtype=float) for a in args)
    found = tuple(a.copy() for a in expected)
    lift(scheme_named(name).kernel, resolve_backend(policy.text))(*found)
    run_by_line(scheme_named(name).kernel, arithmetic_by_hand(policy), expected)
    for one, other in zip(found[2:], expected[2:], strict=True):
        np.testing.assert_array_equal(one, other, err_msg=f"{name} {policy.text}")


@pytest.mark.parametrize("seed", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_random_policies_are_the_oracles(seed):
    assert_is_the_oracles(seed)


def advanced(
    backend: str, scheme: str, *, carried: bool = True, paths: int = 96, steps: int = 8
) -> Simulation:
    made = Simulation(
        LEWIS, Block(0, paths), step_years=1 / steps, backend=backend, scheme=scheme, seed=3,
        carried=carried,
    )  # fmt: skip
    made.advance(steps)
    return made


def same(one: Simulation, other: Simulation) -> bool:
    pairs = ((f(one), f(other)) for f in (Simulation.log_ratio, Simulation.variance))
    return all(np.array_equal(a, b) for a, b in pairs)


@pytest.mark.parametrize(
    ("narrow", "wide", "carried"),
    [("bf16", "fp32", True), ("fp32", "fp64", True), ("bf16", "fp64", False)],
)
def test_narrow_draws_are_rounded_numbers(narrow, wide, carried):
    """O1 is the wide kernel on draws that are rounded; for binary64 paths, too, they are made in
    binary32. In one loop with the paths, and called by tile.
    """
    scheme, paths = scheme_named(SCHEMES[0]), 96
    how = {"carried": carried, "paths": paths}
    found = advanced(f"policy:O1,narrow={narrow},wide={wide}", SCHEMES[0], **how)
    draws, words = np.zeros((8, 2, paths), np.float32), np.empty((4, paths), np.uint32)
    philox_variates(0, 0, *seed_words(3), True, words, draws)
    made = quantize(draws, narrow).astype(resolve_backend(wide).carrier)
    other = Simulation(
        LEWIS, Block(0, paths), step_years=1 / 8, backend=wide, scheme=SCHEMES[0], seed=3
    )
    run = lift(scheme.kernel, wide)
    for step in range(8):
        run(other._constants, made[step : step + 1], *other._arrays)
        if not carried:
            for residual in other._arrays[1::2]:
                residual[:] = 0.0
    assert same(found, other) and not same(found, advanced(wide, SCHEMES[0], **how))


def test_a_wide_update_keeps_what_a_narrow_one_loses():
    """Without carried residuals O3 loses more with every step than O2."""
    truth, *runs = (
        advanced(b, SCHEMES[0], carried=False, paths=512, steps=64).log_ratio()
        for b in ("fp64", "policy:O2,narrow=bf16,wide=fp32", "bf16")
    )
    wide, narrow = (np.sqrt(np.mean((run - truth) ** 2)) for run in runs)
    assert 0 < wide < 0.6 * narrow


def test_prices_take_policies_in_place_of_a_backend():
    """The measured rounding is that of the policy's paths, of path-dependent payoffs, too."""
    asian = heston.AsianArithmetic(strike=100, maturity=1, fixings=4)
    payoffs = [heston.Call(strike=100, maturity=1), asian]
    given = {"tolerance": 0.02, "seed": 2, "compensation": "none", "scheme": SCHEMES[0]}
    found = heston.price(LEWIS, payoffs, policy="O2", narrow="bf16", wide="fp32", **given)
    named = heston.price(LEWIS, payoffs, backend="policy:O2,narrow=bf16,wide=fp32", **given)
    narrow = heston.price(LEWIS, payoffs, backend="policy:O3,narrow=bf16,wide=fp32", **given)
    plain = heston.price(LEWIS, payoffs, backend="bf16", **given)
    assert np.array_equal(found.price, named.price) and found.backend == named.backend
    assert np.array_equal(narrow.price, plain.price) and np.all(found.rounding > 1e-4)
    assert not np.array_equal(found.rounding_error, plain.rounding_error)


REFUSED = [
    ({"policy": "O1", "narrow": "fp16", "wide": "fp32", "backend": "fp32"}, "give one of them"),
    ({"backend": "policy:O2,narrow=fp16,wide=fp32,allow=mean"}, "fp64 in every policy"),
    ({"backend": "policy:O2,narrow=fp16,wide=fp32,deny=log-spot"}, "did you mean 'log spot'"),
]


@pytest.mark.parametrize(("given", "said"), REFUSED)
def test_refusals(given, said):
    with pytest.raises(InputError, match=re.escape(said)) as raised:
        heston.price(LEWIS, heston.Call(strike=100, maturity=1), **given)
    assert "\n" not in str(raised.value)
