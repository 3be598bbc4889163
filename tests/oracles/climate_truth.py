"""Makes the solutions in data/climate: `python -m tests.oracles.climate_truth CASE`.

They come from `tests.oracles.shallow_water`, not from the package's model.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sciprec.climate.cases.galewsky import unstable_jet
from sciprec.climate.cases.williamson import flow_over_mountain, rossby_haurwitz_wave
from tests.oracles.shallow_water import GRAVITY, Flow, Integration, ShallowWater

FOLDER = Path(__file__).resolve().parents[2] / "data" / "climate"
DAY = 86400.0


@dataclass(frozen=True)
class Plan:
    """How one truth is made: the grid, the step, the diffusion, and what of it is stored.

    Args:
        initial: the case's function.
        grid: T, latitudes, longitudes, every which zonal wavenumber.
        scheme: method of `Integration`.
        step: s.
        diffusion: coefficient, and order of the derivative.
        mean_height: m; gravity waves are semi-implicit about it, in the model's runs too.
        days: when it is stored.
        stored: up to which degree.
    """

    initial: object
    grid: tuple[int, int, int, int]
    scheme: str
    step: float
    diffusion: tuple[float, int]
    mean_height: float
    days: tuple[float, ...]
    stored: int


PLANS = {
    "williamson_5": Plan(
        flow_over_mountain, (213, 320, 640, 1), "leapfrog", 360.0, (8.0e12, 4), 5635.248, (15,), 106
    ),
    "williamson_6": Plan(
        rossby_haurwitz_wave, (213, 320, 640, 4), "leapfrog", 180.0, (8.0e12, 4), 9503.770, (7, 14),
        106,
    ),
    "galewsky": Plan(
        unstable_jet, (170, 256, 512, 1), "runge_kutta", 200.0, (1.0e5, 2), 10000.0, (4, 5, 6), 106
    ),
}  # fmt: skip


def prepared(plan: Plan) -> Integration:
    """The integration of a plan, at its start."""
    model = ShallowWater(*plan.grid)
    given = plan.initial(model.lon[:, None], np.arcsin(model.sine)[None, :])
    flow = Flow(given.height, given.vorticity, given.divergence)
    nu, order = plan.diffusion
    return Integration(
        model, flow, given.orography, given.coriolis, plan.mean_height, plan.step, nu, order
    )


def stored(plan: Plan, run: Integration) -> dict[str, np.ndarray]:
    """Coefficients (orders, degrees) up to the stored degree, as `Reference` has them."""
    keep = run.model.orders <= plan.stored
    state = np.concatenate([run.state, run.relief], axis=-1)[keep, : plan.stored + 1]
    state[..., 2] /= GRAVITY
    state[0, 0, 2] += plan.mean_height
    names = "vorticity", "divergence", "height", "orography"
    fields = {name: state[..., i].astype(np.complex64) for i, name in enumerate(names)}
    return {"orders": run.model.orders[keep], **fields}


def make(case: str, folder: Path = FOLDER) -> None:
    """Integrate a case and store it at its days."""
    plan = PLANS[case]
    run = prepared(plan)
    advance, done, start = getattr(run, plan.scheme), 0, time.time()
    for day in plan.days:
        while done < round(day * DAY / plan.step):
            advance()
            done += 1
            if done % 100 == 0:
                print(f"{case}: step {done}, {time.time() - start:.0f} s", flush=True)
        folder.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(folder / f"{case}_day{day:g}.npz", **stored(plan, run))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        make(name)
