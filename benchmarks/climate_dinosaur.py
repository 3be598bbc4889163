"""Steps of dinosaur's dynamical core (JAX), the same equations, truncation, step and time scheme.

JAX's number of threads and of bits are set before it starts, so each measurement is a process.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable

MODELS = {
    "shallow water T42": {"model": "shallow_water", "truncation": 42, "step_seconds": 600.0},
    "Held-Suarez T42L20": {
        "model": "held_suarez", "truncation": 42, "levels": 20, "step_seconds": 1200.0
    },
}  # fmt: skip
"""Name of a row of ours -> what dinosaur runs beside it."""
BITS = {"fp64": 64, "fp32": 32}
MISSING = "dinosaur is not installed: pip install dinosaur"
_ONE_THREAD = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
_SHORT, _LONGER_SECONDS, _ROUNDS = 10, 1.0, 3


def measure_dinosaur(say: Callable[[str], None]) -> list[dict]:
    """Seconds of a step of every model in fp64 and fp32, or one entry that says what is missing."""
    if not importlib.util.find_spec("dinosaur"):
        return [{"skipped": MISSING}]
    found = []
    for name, given in MODELS.items():
        for backend, bits in BITS.items():
            say(f"dinosaur: steps of {name} in {backend}")
            environment = os.environ | {"XLA_FLAGS": _ONE_THREAD, "JAX_PLATFORMS": "cpu"}
            environment["JAX_ENABLE_X64"] = str(bits == 64)
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.climate_dinosaur", json.dumps(given)],
                env=environment, capture_output=True, text=True, check=False,
            )  # fmt: skip
            if done.returncode:
                reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
                return [*found, {"skipped": f"dinosaur failed: {reason}"}]
            seconds = json.loads(done.stdout.splitlines()[-1])["seconds"]
            found.append({"model": name, "backend": backend, "seconds": seconds})
    return found


def held_suarez(truncation: int, levels: int, step_seconds: float) -> tuple:
    """(step, its first argument): leapfrog, Robert and Asselin's filter, diffusion of order 8."""
    import jax
    from dinosaur import coordinate_systems, primitive_equations, sigma_coordinates
    from dinosaur import held_suarez as forcing
    from dinosaur import primitive_equations_states as states
    from dinosaur import time_integration as schemes

    grid, specs, dt = _grid(truncation, step_seconds)
    vertical = sigma_coordinates.SigmaCoordinates.equidistant(levels)
    coords = coordinate_systems.CoordinateSystem(grid, vertical)
    pressure = _units().pascal
    initial, features = states.isothermal_rest_atmosphere(coords, specs, p1=5e3 * pressure)
    orography, reference = features["orography"], features["ref_temperatures"]
    equation = schemes.compose_equations(
        [
            primitive_equations.PrimitiveEquationsSigma(
                reference, grid.to_modal(orography), coords, specs
            ),
            forcing.HeldSuarezForcingSigma(coords, specs, reference),
        ]
    )
    state = initial(jax.random.key(0))
    return _leapfrog(equation, grid, dt, 4), (state, state)


def shallow_water(truncation: int, step_seconds: float) -> tuple:
    """(step, its first argument): a zonal wind, the schemes as in `held_suarez`."""
    import numpy as np
    from dinosaur import coordinate_systems, layer_coordinates
    from dinosaur import shallow_water as equations
    from dinosaur import shallow_water_states as states

    grid, specs, dt = _grid(truncation, step_seconds)
    coords = coordinate_systems.CoordinateSystem(grid, layer_coordinates.LayerCoordinates(1))
    unit = _units().meter / _units().second
    wind = specs.nondimensionalize(20 * unit) * np.asarray(grid.cos_lat)
    state = states.multi_layer(wind[None], np.ones(1), coords)
    mean = np.array([specs.nondimensionalize(5960 * 9.80616 * unit**2)])
    orography = np.zeros(grid.modal_shape)
    equation = equations.ShallowWaterEquations(coords, specs, orography, mean)
    return _leapfrog(equation, grid, dt, 2), (state, state)


def _units():
    from dinosaur import scales

    return scales.units


def _grid(truncation: int, step_seconds: float) -> tuple:
    from dinosaur import spherical_harmonic, units

    specs = units.SimUnits.from_si()
    grid = getattr(spherical_harmonic.Grid, f"T{truncation}")(radius=specs.radius)
    return grid, specs, specs.nondimensionalize(step_seconds * _units().second)


def _leapfrog(equation, grid, dt: float, order: int):
    from dinosaur import filtering
    from dinosaur import time_integration as schemes

    share = 1e-2 / abs(grid.laplacian_eigenvalues[-1]) ** order
    filters = (
        schemes.leapfrog_step_filter(filtering.horizontal_diffusion_filter(grid, share, order)),
        schemes.robert_asselin_leapfrog_filter(0.05),
    )
    return schemes.step_with_filters(schemes.semi_implicit_leapfrog(equation, dt, 0.5), filters)


def step_seconds(step, state) -> float:
    """Processor time of a step: what a longer run takes more, median of three."""
    import jax
    from dinosaur import time_integration as schemes

    def timed(steps: int) -> Callable[[], float]:
        """A measurement of so many compiled steps: processor seconds when called."""
        run = jax.jit(schemes.repeated(step, steps))
        jax.block_until_ready(run(state))

        def clocked() -> float:
            start = time.process_time()
            jax.block_until_ready(run(state))
            return time.process_time() - start

        return clocked

    short = timed(_SHORT)
    more = max(_SHORT, round(_LONGER_SECONDS * _SHORT / max(short(), 1e-4)))
    long = timed(_SHORT + more)
    return sorted((long() - short()) / more for _ in range(_ROUNDS))[_ROUNDS // 2]


def _main(text: str) -> None:
    given = json.loads(text)
    make = {"held_suarez": held_suarez, "shallow_water": shallow_water}[given.pop("model")]
    print(json.dumps({"seconds": step_seconds(*make(**given))}))


if __name__ == "__main__":
    _main(sys.argv[1])
