"""Random models of the sphere, of sets of equations that are written at random, too, with scales.

    python -m tests.climate.random_scaled 0 20

runs the models of seeds 0 to 19 and prints a line for each.
"""

from __future__ import annotations

import random
import sys
import tempfile
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciprec.climate.catalogue import CASES, EQUATIONS
from sciprec.climate.running.integration import Trajectory, integrate
from sciprec.climate.running.request import check_request
from sciprec.climate.stages.scales import SCALED_STAGES
from sciprec.climate.stepping.levels import Level
from sciprec.climate.transform.grid import Truncation
from sciprec.facets.stages.arithmetics import Stages
from sciprec.tools.monitor.plan import checked_plan, with_changes
from tests.climate.random_equations import registered
from tests.climate.small_models import Stopped, model_of, require_same_bits, stop_at

SHORT, LONG = ("fp16", "e5m2", "e4m3fn"), ("bf16", "tf32", "fp32", "float:p=9,emin=-60,emax=60")
"""Formats of 2^-100 to 2^100 as scales, and others."""
BITS = {"fp16": 11, "e5m2": 3, "e4m3fn": 4, "bf16": 8, "tf32": 11, "fp32": 24, LONG[-1]: 9}
GRIDS = (Truncation(3, 8, 16, 3600.0), Truncation(4, 10, 16, 3600.0), Truncation(5, 8, 24, 3600.0))
STEP_HOURS, MOST_STEPS = 1.0, 10
FAST = {"rossby_haurwitz": {"wavenumber": 2}, "williamson_1": {}}
"""Cases of equations that compile fast, with their parameters."""
SHALLOW = ("williamson_2", "williamson_5", "williamson_6", "galewsky")


@dataclass(frozen=True)
class Draw:
    """A model.

    Args:
        case, truncation: of the run.
        how: the other arguments of `integrate`.
        steps: how many it has.
        rng: goes on drawing.
    """

    case: str
    truncation: Truncation
    how: dict[str, Any]
    steps: int
    rng: random.Random

    @property
    def variables(self) -> tuple[str, ...]:
        """Of its state."""
        return EQUATIONS[CASES[self.case].equations].variables

    def run(self, backend: str, **more: Any) -> Trajectory:
        """A run of it."""
        with np.errstate(all="ignore"):
            return integrate(self.case, self.truncation, backend=backend, **self.how | more)

    def scales(self, most: int) -> str:
        """Scales of some stages and variables by hand, as the name of an arithmetic has them."""
        names = self.rng.sample([*SCALED_STAGES, *self.variables], self.rng.randint(0, 3))
        return "".join(f",{name}={2.0 ** self.rng.randint(-most, most)!r}" for name in names)


def drawn(seed: int, case: str = "") -> Draw:
    """The model of a seed; without a case it is one of the built-in ones, now and then shallow
    water.
    """
    rng = random.Random(seed)
    shallow = seed % 8 == 5
    case = case or rng.choice(SHALLOW if shallow else sorted(FAST))
    forms = {"formulation": rng.choice(["careful", "anomaly", "whole", "naive"])}
    steps = rng.randint(4, MOST_STEPS)
    how = {
        "days": steps * STEP_HOURS / 24.0, "step_seconds": 3600.0 * STEP_HOURS,
        "output_hours": STEP_HOURS, "parameters": forms if shallow else FAST.get(case, {}),
        "time_scheme": rng.choice(["rk4", "semi_implicit_leapfrog"]),
        "compensation": rng.choice([None, "carry"]),
    }  # fmt: skip
    return Draw(case, rng.choice(GRIDS), how, steps, rng)


def require_alike(one: Trajectory, other: Trajectory, about: str) -> None:
    """Require equal states, to the last bit, and an equal end."""
    assert (one.blow_up is None) == (other.blow_up is None), about
    require_same_bits(one, other, about)


def unlimited(draw: Draw) -> tuple[str, list[str]]:
    """Where no number is clipped, scales change no bit: the run is that of the format with all
    exponents, which knows nothing of scales. Also: the stages that have some.
    """
    name = draw.rng.choice([*SHORT, *LONG])
    plain = draw.run(f"float:p={BITS[name]},emin={BITS[name] - 451},emax=450", stages=Stages())
    times = 2.0 ** draw.rng.randint(-30, 0)
    backend = f"scaled:static,{name},times={times!r},small=kept{draw.scales(0)}"
    made = draw.run(backend)
    require_alike(made, plain, backend)
    if name in LONG[:3]:  # with the exponents of binary32 nothing is clipped either
        backend = f"scaled:static,{name}{draw.scales(8)}"
        require_alike(draw.run(backend), plain, backend)
        require_alike(draw.run(name, stages=Stages()), plain, name)
    stages = [row["stage"] for row in made.scaling["stages"]]
    return f"{name}, finite: {plain.blow_up is None}", stages


def followed(draw: Draw, folder: Path, stages: list[str]) -> str:
    """Dynamic scales: interrupted, on two threads, and watched at each level a run has the same
    bits and scales. Those of one stage are often too large at first.
    """
    rng, name = draw.rng, draw.rng.choice(SHORT)
    scales = draw.scales(20)
    stage = rng.choice([one for one in stages if f",{one}=" not in scales])
    scales += f",{stage}={2.0 ** rng.randint(10, 40)!r}"
    backend = f"scaled:dynamic,{name},good_steps={rng.randint(1, 5)}{scales}"
    whole = draw.run(backend)
    interrupted(draw, backend, folder)
    gone_on = draw.run(backend, checkpoints=folder, threads=rng.choice([1, 2]))
    require_alike(whole, gone_on, f"{backend}, interrupted")
    assert gone_on.scaling == whole.scaling, backend
    watched(draw, backend, whole, draw.variables)
    changed = whole.scaling["repeated"], whole.scaling["doubled"]
    return f"{backend}: {changed[0]} halved, {changed[1]} doubled, {len(whole.time_days)} states"


def injected(draw: Draw, stages: list[str]) -> str:
    """A step whose scales are made too large is repeated; from there on a run has the bits of one
    that has the scales found from that step on.
    """
    rng, most = draw.rng, draw.steps
    before, stage, by = rng.randrange(most), rng.choice(stages), rng.randint(5, 40)
    backend = f"scaled:dynamic,{rng.choice(SHORT)},good_steps=1000000"
    (model, levels), (other, same), (plain, its) = (_begun(draw, backend) for _ in range(3))
    scales = model.scales
    with np.errstate(all="ignore"):
        plain.steps.advance(its, 0, most)
        finite = np.isfinite(its[0].values).all()
        for one, begun in ((model, levels), (other, same)):
            one.steps.advance(begun, 0, before)
        earlier = len(scales.history)
        for place, exponents in scales.exponents.items():
            exponents += by * (np.array(scales.stages[place]) == stage)
        scales.version += 1
        model.steps.advance(levels, before, most - before)
        changes = scales.history[earlier:]
        said = f"{stage} times 2^{by} after {before} steps, {len(changes)} halved"
        assert np.isfinite(levels[0].values).all() == finite, f"{backend}, {said}"
        if {step for step, _, _ in changes} <= {before}:
            other.scales.restore(scales.state() | {"history": np.zeros((0, 3))})
            other.steps.advance(same, before, most - before)
            assert not other.scales.history, said
            for one, its in zip(levels, same, strict=True):
                np.testing.assert_array_equal(one.values, its.values, f"{backend}, {said}")
    return said


def _begun(draw: Draw, backend: str) -> tuple[Any, list[Level]]:
    """A model that has its scales, and the levels of its initial state."""
    request = check_request(draw.case, draw.truncation, backend=backend, **draw.how)
    with np.errstate(all="ignore"):
        model, _, state = model_of(request)
    return model, [model.steps.system.addition.level(state)]


def interrupted(draw: Draw, backend: str, folder: Path) -> None:
    """A run that leaves a checkpoint somewhere on its way, and no more."""
    last = draw.rng.randint(1, draw.steps - 1) * STEP_HOURS / 24.0
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("sciprec.climate.running.checkpoint._MOST_SHARE_OF_TIME", np.inf)
        with suppress(Stopped):
            draw.run(backend, checkpoints=folder, progress=stop_at(last - 1e-9))


def watched(draw: Draw, backend: str, plain: Trajectory, known: tuple[str, ...]) -> None:
    """No bit depends on what is watched, at which level."""
    for level in range(4):
        names = draw.rng.sample(known, draw.rng.randint(1, len(known)))
        drift = draw.rng.choice([None, 2, 3])
        plan = checked_plan(names, level, draw.rng.randint(1, 4), drift_every=drift)
        made = draw.run(backend, monitor=plan)
        require_alike(plain, made, f"{backend}, {names} at level {level}")
        if level == 3 and plain.blow_up is None:
            assert made.observed.history.steps.size == draw.steps // plan.every


def static(draw: Draw) -> str:
    """Static scales and plain formats, watched inside their steps, too."""
    name = draw.rng.choice([*SHORT, *LONG, "mlu370"])
    scaled = name != "mlu370" and draw.rng.random() < 0.5
    backend = f"scaled:static,{name}{draw.scales(3)}" if scaled else name
    plain = draw.run(backend)
    watched(draw, backend, plain, with_changes(draw.variables))
    return f"{backend} watched"


def trial(seed: int, folder: Path) -> str:
    """All that is required of the model of a seed; what it was. Those of even seeds have equations
    that are written for them.
    """
    with nullcontext("") if seed % 2 else registered(seed, folder) as case:
        draw = drawn(seed, case)
        said, stages = unlimited(draw)
        again = followed(draw, folder / str(seed), stages)
        parts = said, again, injected(draw, stages), static(draw)
    return f"{draw.case}, {draw.truncation.name}, {draw.how['time_scheme']}: {'; '.join(parts)}"


if __name__ == "__main__":
    for number in range(*map(int, sys.argv[1:3])):
        with tempfile.TemporaryDirectory() as place:
            print(number, trial(number, Path(place)), flush=True)
