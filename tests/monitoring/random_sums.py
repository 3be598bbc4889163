"""Random carried sums, half of them with a planted loss, beside the exact sums, and the harmless
sums of docs and textbooks with drawn parameters.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sciprec.instruments.observing.carried_sums import looking
from sciprec.instruments.observing.losing import losing
from sciprec.instruments.observing.observed import lift_observed
from sciprec.precision.formats.backend import resolve_backend
from sciprec.tools.monitor.kernel_sums import sums_of

FORMATS = {"fp32": 24, "float:p=16,emin=-126,emax=127": 16, "fp16": 11, "bf16": 8}


def elements(x, d):
    """Adds rows of d to x, element by element."""
    for n in range(d.shape[0]):
        for i in range(x.size):
            x[i] = x[i] + d[n, i]


def in_place(x, d):
    for n in range(d.shape[0]):
        x += d[n]


def taken_off(x, d):
    for n in range(d.shape[0]):
        for i in range(x.size):
            x[i] -= -d[n, i]


def added(x, d, i):
    x[i] = d + x[i]


def called(x, d):
    for n in range(d.shape[0]):
        for i in range(x.size):
            added(x, d[n, i], i)


def numbers(x, d):
    """A copy with a number in place of an element."""
    for i in range(x.size):
        total = x[i]
        for n in range(d.shape[0]):
            total += d[n, i]
        x[i] = total


KERNELS = (elements, in_place, taken_off, called, numbers)


@functools.cache
def observed(kernel, backend: str):
    """The kernel with its carried sums observed, and their numbers."""
    places: dict = {}
    return lift_observed(kernel, resolve_backend(backend), [losing(kernel, places)]), places


def lost_sums(kernel, backend: str, *args):
    """Losses of a kernel's carried sums, as a monitor has it, and the arrays that are left."""
    totals, left = [], []
    for name in (backend, "fp64"):
        lifted, places = observed(kernel, name)
        copies = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        with looking(places) as found:
            lifted(*copies)
        totals.append(found)
        left.append(copies[0])
    return sums_of(*totals, resolve_backend(backend)), left


@dataclass(frozen=True)
class Case:
    """A carried sum: start x (n,), and increments d (steps, n), in units of a format's rounding.

    Args:
        kind: what is drawn.
        kernel, backend: what runs.
    """

    kind: str
    kernel: object
    backend: str
    x: np.ndarray
    d: np.ndarray


PLANTED = ("drift", "drift in noise")
HARMLESS = ("kept drift", "noise", "noise about a mean", "periodic", "series", "alternating",
            "steady")  # fmt: skip


def random_case(seed: int, kernels=KERNELS, formats=tuple(FORMATS)) -> Case:
    """A case; even seeds have a planted loss of more than half of the change."""
    rng = np.random.default_rng(seed)
    kind = str(rng.choice(HARMLESS if seed % 2 else PLANTED))
    backend = str(rng.choice(formats))
    u = 2.0 ** -FORMATS[backend]
    size, steps = int(rng.choice([1, 1, 3, 20])), int(10 ** rng.uniform(2.3, 3.7))
    base = 10.0 ** rng.uniform(-1, 1)
    x = base * rng.uniform(0.5, 1.0, size) * rng.choice([-1.0, 1.0], size)
    half, n = u * np.abs(x) / 2, np.arange(1, steps + 1)[:, None]
    noise = rng.normal(size=(steps, size))
    sign = rng.choice([-1.0, 1.0], size)
    if kind == "drift":
        d = sign * half * rng.uniform(0.05, 0.9) * rng.uniform(0.8, 1.0, (steps, size))
    elif kind == "drift in noise":
        d = half * (0.3 * sign + rng.uniform(0.05, 0.15) * noise)
    elif kind == "kept drift":
        d = sign * half * 10.0 ** rng.uniform(1.5, 2.5) * np.ones((steps, size))
    elif kind == "noise":
        d = half * 10.0 ** rng.uniform(-0.3, 2) * noise
    elif kind == "noise about a mean":
        walk = np.zeros((steps + 1, size))
        for k in range(steps):
            walk[k + 1] = 0.95 * walk[k] + half * 10.0 * noise[k]
        d = np.diff(walk, axis=0)
    elif kind == "periodic":
        turn = 2 * np.pi / (steps / int(rng.integers(2, 40)))
        d = half * 10.0 ** rng.uniform(0.5, 3) * np.cos(turn * (n - 0.5)) * np.ones(size)
    elif kind == "series":
        x, d = 0.0 * x, base / n.astype(float) ** rng.choice([2, 3, 4]) * np.ones(size)
    elif kind == "alternating":
        x, d = 0.0 * x, base * (-1.0) ** n / n * np.ones(size)
    else:
        d = half * 10.0 ** rng.uniform(-9, -4) * noise
    return Case(kind, kernels[int(rng.integers(len(kernels)))], backend, x, d)


def share_lost(case: Case, found: np.ndarray) -> tuple[float, float]:
    """The error over the largest change of exact sums at any step, in norm 1 over elements, and
    that change over the size of the sums.
    """
    x = [Fraction(v) for v in case.x.tolist()]
    ends = [a + sum(map(Fraction, column)) for a, column in zip(x, case.d.T.tolist(), strict=True)]
    error = sum(abs(float(Fraction(f) - e)) for f, e in zip(found.tolist(), ends, strict=True))
    reach = np.abs(np.cumsum(case.d, axis=0)).max(axis=0).sum()
    return error / reach, reach / sum(abs(float(end)) for end in ends)


def slab(ts, forcing, weather, steps):
    """A slab ocean of 50 m in steps of 600 s."""
    for s in range(steps):
        for i in range(ts.size):
            flux = forcing + weather[s % weather.size] - 1.2 * (ts[i] - 288.15)
            ts[i] = ts[i] + 600.0 * flux / 209200000.0


def clock(t, dt, steps):
    for _s in range(steps):
        t[0] += dt


def descent(w, g, rate, steps):
    for _s in range(steps):
        w -= rate * g


def of_pilot(rng) -> list[tuple[str, bool, tuple]]:
    """Named sums with drawn parameters: what they are, whether half of the change is lost, and
    kernel, arithmetic and arguments.
    """
    weights, gradient = rng.normal(size=100), rng.normal(size=100)
    weather = rng.normal(size=4000)
    ocean = np.array([288.15 + rng.uniform(-2, 2)])
    noisy = rng.uniform(3000, 6000) * weather
    return [
        ("a slab without weather", True,
         (slab, "fp32", np.array([288.15]), 3.7, 0 * weather, 4000)),
        ("a slab with much weather", False, (slab, "fp32", ocean, 3.7, noisy, 4000)),
        ("weather without forcing", False, (slab, "fp32", ocean, 0.0, noisy / 100, 4000)),
        ("descent with a small rate", True,
         (descent, "bf16", weights, gradient, 10.0 ** rng.uniform(-4.5, -3.8), 200)),
        ("descent with a large rate", False,
         (descent, "bf16", weights, gradient, rng.uniform(0.1, 0.3), 200)),
        ("a clock", False, (clock, "fp32", np.zeros(1), rng.uniform(0.05, 0.2), 20_000)),
        ("a clock in fp16", True, (clock, "fp16", np.zeros(1), rng.uniform(0.05, 0.2), 40_000)),
    ]  # fmt: skip
