"""Random Heston models, and which states of theirs lose half of their change, as fp64 tells."""

import math
import sys

import numpy as np

from sciprec.arrays.quantization import quantize
from sciprec.heston import Model
from sciprec.heston.simulation.block import Simulation
from sciprec.heston.simulation.observing import STATES, observed_paths
from sciprec.heston.simulation.paths import Block
from sciprec.precision import resolve_backend
from sciprec.tools.monitor.plan import checked_plan

SCHEMES = "full_truncation_euler", "quadratic_exponential", "quadratic_exponential_martingale"
BACKENDS = (
    "fp16", "bf16", "mlu370", "fp32", "float:p=6,emin=-62,emax=63", "float:p=11,emin=-14,emax=15",
)  # fmt: skip
PATHS = 300
FAULT, HARMLESS, BETWEEN = range(3)


def drawn(rng, most_steps=20_000, backends=BACKENDS):
    """A model and options of its run: of some the variance is at rest, of some it hardly moves."""
    v0 = float(10 ** rng.uniform(-2.5, -0.5))
    theta = v0 if rng.random() < 0.5 else v0 * float(10 ** rng.uniform(-0.5, 0.5))
    size = rng.uniform(-4.0, -2.0) if rng.random() < 0.3 else rng.uniform(-2.0, 0.0)
    model = Model(
        spot=100.0, v0=v0, kappa=float(10 ** rng.uniform(-2.0, 0.8)), theta=theta,
        sigma=float(10**size), rho=float(rng.uniform(-0.9, 0.0)), rate=0.03,
    )  # fmt: skip
    return model, {
        "backend": str(rng.choice(backends)), "scheme": str(rng.choice(SCHEMES)),
        "carried": bool(rng.random() < 0.4), "seed": int(rng.integers(2**32)),
        "n_steps": round(10 ** rng.uniform(1.0, math.log10(most_steps))),
        "maturity": float(rng.choice([0.25, 1.0, 3.0])),
    }  # fmt: skip


def changes(model, maturity, n_steps, stored=None, **options):
    """Changes of the states of paths, and their sizes at the end, in binary64.

    Args:
        stored: backend in which all that a step leaves is rounded, without a carry; or None.
    """
    run = Simulation(model, Block(0, PATHS), step_years=maturity / n_steps, **options)

    def states():
        return np.array([run.log_ratio(), run.variance(), run.integrated_variance()])

    start = states()
    for _ in range(n_steps if stored else 0):
        run.advance(1)
        for value, carry in zip(run._arrays[::2], run._arrays[1::2], strict=True):
            value[:], carry[:] = quantize(value + carry, stored), 0.0
    if not stored:
        run.advance(n_steps)
    return states() - start, np.abs(states())


def half_is_lost(moved, true, size):
    """Whether a state moves by half of what it is to at most, FAULT, or as it is to, HARMLESS."""
    usable = np.isfinite(moved)
    moved, true, size = moved[usable], true[usable], size[usable].sum()
    of = np.abs(true).sum()
    share = np.abs(moved - true).sum() / max(of, 1e-300)
    if of <= 1e-6 * size or share <= 0.4:
        return HARMLESS
    moves = np.abs(moved).sum() > 0.5 * of
    return BETWEEN if moves or share < 0.55 or of < 2e-6 * size else FAULT


def judged(rng, *of):
    """(named, kind, loss, whether updates alone lose it) of the states of a random run."""
    model, how = drawn(rng, *of)
    options = {name: value for name, value in how.items() if name != "maturity"}
    seen = observed_paths(
        model, how["maturity"], checked_plan("variance"), n_paths=PATHS, **options
    )
    named = {alert.variable for alert in seen.alerts if alert.rule == "lost"}
    (moved, _), (true, size) = changes(model, **how), changes(model, **how | {"backend": "fp64"})
    kinds = [half_is_lost(*of) for of in zip(moved, true, size, strict=True)]
    found = []
    for number, (name, kind) in enumerate(zip(STATES, kinds, strict=True)):
        alone = True
        if kind == FAULT and name not in named and not how["carried"]:
            backend = resolve_backend(how["backend"])
            stored, _ = changes(model, **how | {"backend": "fp64"}, stored=backend)
            alone = half_is_lost(stored[number], true[number], size[number]) == FAULT
        found.append((name in named, kind, seen.sums[number], alone))
    return found, (model, how)


if __name__ == "__main__":
    first, count = map(int, sys.argv[1:])
    counts = np.zeros((3, 2, 2), int)
    for seed in range(first, first + count):
        found, about = judged(np.random.default_rng(seed))
        for named, kind, one, alone in found:
            counts[kind, int(named), int(alone)] += 1
            if kind == BETWEEN or named != (kind == FAULT):
                numbers = one.lost, one.zeroed, one.net, one.size, one.t
                print(seed, named, kind, alone, one.name, *(f"{n:.2g}" for n in numbers), *about)
    print("faults missed, of increments and of updates:", *counts[FAULT, 0])
    print("faults named:", counts[FAULT, 1].sum())
    print("harmless, and of these named:", counts[HARMLESS].sum(), counts[HARMLESS, 1].sum())
    print("in between, and of these named:", counts[BETWEEN].sum(), counts[BETWEEN, 1].sum())
