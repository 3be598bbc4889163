"""Random policies of the climate's models against exact fractions, and what they equal."""

import re
from pathlib import Path

import numpy as np
import pytest

from sciprec import quantize
from sciprec.climate.transform.legendre_stage import legendre_synthesis
from sciprec.instruments.assigning.policies import Policy
from sciprec.precision import Backend, lift, resolve_backend
from tests.draws import few
from tests.oracles.by_line import run_by_line
from tests.precision.registered import registered_kernels

NARROW = ("bf16", "fp16", "mlu370", "float:p=9,emin=-60,emax=60", "float:p=13,round=rz")
WIDE = ("fp32", "fp64", "float:p=24,round=rz")
STAGES = (
    "state update", "diffusion", "products on the grid", "pressure gradient and gravity",
    "advection", "winds and rotation", "Fourier", "implicit solve", "columns",
)  # fmt: skip
WIDE_IN_O2 = ("state update", "diffusion", "implicit solve")
PRESSURE, PRODUCTS = "pressure gradient and gravity", "products on the grid"
BY_HAND: dict[str, list[tuple[str, str]]] = {
    **dict.fromkeys(
        ("apply_increment", "carry_increment", "share_increment"),
        [("lost = ", "diffusion"), ("", "state update")],
    ),
    **dict.fromkeys(
        ("filter_levels", "filter_carried_levels", "stage_state", "runge_kutta_increment",
         "difference", "leapfrog_known", "weighted_sum"), [("", "state update")],
    ),
    **dict.fromkeys(("grid_fluxes", "tracer_fluxes", "vorticity_fluxes"), [("", PRODUCTS)]),
    "spectral_tendency": [("(pressure|gravity)_", PRESSURE), ("", "advection")],
    "mass_flux": [("along", "advection"), ("", PRODUCTS)],
    "momentum_products": [
        ("pressure = ", PRESSURE), ("(from_below|moved) = ", "advection"), ("", PRODUCTS)
    ],
    "thermal_products": [("(from_below|moved) = ", "advection"), ("", PRODUCTS)],
    "primitive_spectral_tendency": [("(level_|work)", PRESSURE), ("", "advection")],
    "hydrostatic": [("", PRESSURE)],
    "flux_convergence": [("", "advection")],
    **dict.fromkeys(
        ("grid_spectra", "primitive_spectra", "coriolis_terms", "rotation_spectra",
         "turn_vorticity"), [("", "winds and rotation")],
    ),
    **dict.fromkeys(("gravity_waves", "solve_gravity_waves"), [("", "implicit solve")]),
    **dict.fromkeys(("compression", "relax_temperature", "brake_wind"), [("", "columns")]),
}  # fmt: skip
"""Kernel -> what a line begins with, its stage; the table by which the oracle knows stages."""


def drawn_policy(rng: np.random.Generator) -> Policy:
    lists = rng.integers(0, 4, len(STAGES))
    allow, deny = (
        tuple(s for s, n in zip(STAGES, lists, strict=True) if n == which) for which in (1, 2)
    )
    name = str(rng.choice(["O0", "O1", "O2", "O3"]))
    return Policy(name, str(rng.choice(NARROW)), str(rng.choice(WIDE)), allow, deny)


def narrow_by_hand(policy: Policy, stage: str) -> bool:
    if stage in policy.allow or stage in policy.deny:
        return stage in policy.allow
    return {"O0": False, "O1": False, "O2": stage not in WIDE_IN_O2, "O3": True}[policy.name]


def arithmetic_by_hand(policy: Policy):
    """(file, line) -> the arithmetic that the policy gives it, by the table above."""
    narrow, wide = (resolve_backend(name).compute for name in (policy.narrow, policy.wide))

    def at(file: str, line: int):
        lines = Path(file).read_text().splitlines()
        function = next(
            found[1] for text in reversed(lines[:line]) if (found := re.match(r"def (\w+)", text))
        )
        source = lines[line - 1].strip()
        stage = next(s for begins, s in BY_HAND[function] if re.match(begins, source))
        return narrow if narrow_by_hand(policy, stage) else wide

    return at


def arrays_of(values) -> list[np.ndarray]:
    if isinstance(values, tuple):
        return [array for value in values for array in arrays_of(value)]
    return [values] if isinstance(values, np.ndarray) else []


def doubled(values):
    if isinstance(values, tuple):
        return tuple(map(doubled, values))
    return values.copy() if isinstance(values, np.ndarray) else values


@pytest.mark.parametrize("seed", few([8, 0], 1))
def test_random_policies_are_the_oracles(seed):
    """Random lists and formats on some of the kernels, bit for bit exact fractions by line."""
    rng = np.random.default_rng(seed)
    entries = {e.function.__name__: e for e in registered_kernels().values()}
    for name in rng.choice(sorted(BY_HAND), 3, replace=False):
        policy, entry = drawn_policy(rng), entries[str(name)]
        given = entry.example()
        found, expected = doubled(given), doubled(given)
        lift(entry.function, resolve_backend(policy.text))(*found)
        run_by_line(entry.function, arithmetic_by_hand(policy), expected)
        for one, other in zip(arrays_of(found), arrays_of(expected), strict=True):
            np.testing.assert_array_equal(one, other, err_msg=f"{name} {policy.text}")


@pytest.mark.slow
def test_legendre_sums_have_the_roles_of_their_stages():
    """A backend with other products than sums, whose transforms the engine makes otherwise; of
    factors that are narrow, since roles round results alone.
    """
    narrow, wide = "bf16", "float:p=20"
    own, others = (resolve_backend(name).compute for name in (narrow, wide))
    entries = {e.function.__name__: e for e in registered_kernels().values()}
    given = entries["legendre_synthesis"].example()
    for array in arrays_of(given):
        array[...] = quantize(array, narrow)
    found, expected = doubled(given), doubled(given)
    policy = resolve_backend(f"policy:O1,narrow={narrow},wide={wide}")
    lift(legendre_synthesis, policy)(*found)
    lift(legendre_synthesis, Backend("roles", others, others, others, own))(*expected)
    assert np.any(found[-1])
    np.testing.assert_array_equal(found[-1], expected[-1])
