"""What tells the members of an ensemble apart: another beginning, or other random paths."""

from __future__ import annotations

from typing import Any

from sciprec.batch.plan import Run
from sciprec.precision.streams import philox4x32, seed_words

_STREAM = 0x656E73  # the last word of the counter, which no path of the same seed has


def section_of(run: Run) -> tuple[Any, dict[str, Any]]:
    """The table that a run's model is given, and further arguments of its model.

    Member 0 is given the scenario's own table and nothing else. Other members of kind "heston" get
    a seed of their own, those of kind "climate" a perturbation of the initial state.
    """
    scenario = run.scenario
    given = getattr(scenario, scenario.kind)
    if run.member == 0:
        return given, {}
    if scenario.kind == "climate":
        from sciprec.climate.perturbation import Perturbation

        ensemble = scenario.ensemble
        beginning = Perturbation(run.member, ensemble.amplitude, ensemble.seed or 0)
        return given, {"perturbation": beginning}
    seed = member_seed(given.simulation.seed, run.member)
    simulation = given.simulation.model_copy(update={"seed": seed})
    return given.model_copy(update={"simulation": simulation}), {}


def member_seed(seed: int, member: int) -> int:
    """The seed of a member: two of Philox's words at (seed, member), 62 bits.

    Args:
        seed: of the scenario, in [0, 2**63).
        member: 0 has the scenario's own seed.
    """
    if member == 0:
        return seed
    low, high, *_ = philox4x32(member, 0, 0, _STREAM, *seed_words(seed))
    return ((high << 32) | low) >> 2


def identity_of(run: Run) -> dict[str, Any]:
    """What of an ensemble the numbers of a run depend on, as plain data; empty for member 0."""
    if run.member == 0:
        return {}
    ensemble = run.scenario.ensemble
    return {"member": run.member, "amplitude": ensemble.amplitude, "seed": ensemble.seed or 0}
