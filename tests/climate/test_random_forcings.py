"""Random forcings in random models: their tendencies against an oracle of operations on arrays, bit
for bit, and runs that are killed at random moments.
"""

import os
import random
import signal
import time

import numpy as np
import pytest

from sciprec.climate.equations.forced import evaluation_of, offered
from sciprec.climate.physics.forcings import forcing
from sciprec.climate.running.held_forcing import HeldForcing
from sciprec.climate.running.integration import integrate
from sciprec.climate.running.request import check_request
from sciprec.climate.transform.compiled import compiled
from sciprec.climate.transform.grid import Truncation
from sciprec.foundation.loading import loaded_file
from sciprec.precision import resolve_backend
from tests.climate.small_models import SMALL, require_same_bits, started
from tests.oracles import vector

TINY = Truncation(3, 8, 16, 1200.0)
CASES = ("galewsky", "held_suarez", "rossby_haurwitz")
FORMATS = ("fp16", "bf16", "mlu370", "fp32", "float:e=6,m=5")
PLACES = {"surface_pressure": "[j, i]", "sigma": "[k]", "latitude": "[j]", "longitude": "[i]"}
BROADCAST = {"sigma": "[:, None, None]", "latitude": "[:, None]"}
HEAD = """from sciprec import climate


@climate.forcing(parameters={parameters}, tracers={tracers})
def drawn(fields, t, p, out):
    for k in range(out.u.shape[0]):
        for j in range(out.u.shape[1]):
            for i in range(out.u.shape[2]):
"""


@forcing(parameters={"rate": (0.5, "1/day")}, tracers=("dye",))
def stirred(fields, t, p, out):
    for k in range(fields.u.shape[0]):
        for j in range(fields.u.shape[1]):
            for i in range(fields.u.shape[2]):
                out.u[k, j, i] -= p.rate * fields.u[k, j, i]
                out.dye[k, j, i] += p.rate * (t.day - fields.dye[k, j, i])


def expression(rng, fields, depth):
    """A random expression in the words of a kernel, and in those of whole arrays."""
    if depth == 0 or rng.random() < 0.15:
        kind = rng.integers(4)
        if kind == 0:
            name = ("p.first", "p.second", "t.day", "t.year")[rng.integers(4)]
            return name, name
        if kind == 1:
            number = f"{rng.normal():.3f}"
            return f"({number})", f"rounded({number})"
        name = fields[rng.integers(len(fields))]
        one = f"fields.{name}{PLACES.get(name, '[k, j, i]')}"
        return one, f"fields[{name!r}]{BROADCAST.get(name, '')}"
    operator = " + ", " - ", " * ", " / "
    pairs = [expression(rng, fields, depth - 1) for _ in range(2)]
    sign = operator[rng.integers(4)]
    return tuple(f"({a}{sign}{b})" for a, b in zip(*pairs, strict=True))


class Rounded:
    """An array of numbers of an arithmetic, whose every operation is rounded once.

    Args:
        x: numbers, which are rounded.
        arithmetic: the format and the rounding.
    """

    def __init__(self, x, arithmetic):
        self.arithmetic = arithmetic
        self.x = vector.round_values(np.atleast_1d(np.asarray(x, float)), arithmetic)

    def __getitem__(self, places):
        return Rounded(self.x[places], self.arithmetic)

    def _by(self, operation, other):
        pair = np.broadcast_arrays(self.x, other.x)
        return Rounded(operation(*(x.copy() for x in pair), self.arithmetic), self.arithmetic)

    def __add__(self, other):
        return self._by(vector.add, other)

    def __sub__(self, other):
        return self._by(vector.sub, other)

    def __mul__(self, other):
        return self._by(vector.mul, other)

    def __truediv__(self, other):
        return self._by(vector.div, other)


class Named(dict):
    """A dictionary whose keys are attributes, too."""

    __getattr__ = dict.__getitem__


@pytest.mark.parametrize("seed", [*range(5), *(pytest.param(s, marks=pytest.mark.slow)
                                               for s in range(5, 10))])  # fmt: skip
def test_tendencies_of_random_forcings_are_those_of_the_oracle(tmp_path, seed):
    rng = np.random.default_rng(seed)
    case, backend = CASES[seed % len(CASES)], resolve_backend(FORMATS[seed % len(FORMATS)])
    tracers = {"dye": "northern"} if rng.random() < 0.5 else {}
    free = check_request(case, TINY, 1 / 24, output_hours=1, tracers=tracers)
    fields, changed = offered(free.equations.name, free.tracers)
    drawn = [(name, expression(rng, fields, 3)) for name in (*changed, changed[0])]
    file = tmp_path / f"forcing_{seed}.py"
    head = HEAD.format(
        parameters={"first": (0.7, "1"), "second": (1.3, "1/day")}, tracers=tuple(tracers)
    )
    lines = [f"                out.{name}[k, j, i] += {one}\n" for name, (one, _) in drawn]
    file.write_text(head + "".join(lines))
    drawn_forcing = loaded_file(file, "forcing", registers=False).drawn
    request = check_request(
        case, TINY, 1 / 24, output_hours=1, tracers=tracers, forcing=f"{file}:drawn",
        start_date="2001-03-04T05:06", backend=backend,
    )  # fmt: skip
    convert, _ = started(request)
    grid = convert.transform.grid

    def rounded(x):
        return Rounded(x, backend.compute)

    held = HeldForcing(request, convert, backend)
    held.begin(3, 1)
    count = convert.transformed[0]
    model = rounded(rng.normal(size=(count, TINY.nlon, TINY.nlat)) * 0.3).x.astype(backend.carrier)
    _, seen, made, into, places, clock = held.arrays
    with np.errstate(all="ignore"):
        compiled(evaluation_of(drawn_forcing), backend)(model, seen, made, into[0], places, clock)
        shown, firsts, offsets, factors, pressure, named = seen
        arrays = Named({name: rounded(getattr(named, name)) for name in fields})
        rows = iter(zip(firsts, offsets, factors, shown, strict=True))
        for first, offset, factor, there in rows:
            expected = [
                grid.to_output((rounded(factor) * (rounded(offset) + rounded(model[first + k]))).x)
                for k in range(there.shape[0])
            ]
            np.testing.assert_array_equal(there, np.array(expected))
        for row in pressure[0]:
            exact = 1000.0 * np.exp(grid.to_output(model[row].astype(float)))
            roundoff = backend.storage.format.unit_roundoff
            np.testing.assert_allclose(pressure[2], exact, rtol=8 * roundoff)
        p, t = Named(first=rounded(0.7), second=rounded(1.3)), Named(
            day=rounded(clock[0]), year=rounded(clock[1])
        )  # fmt: skip
        words = {"fields": arrays, "p": p, "t": t, "rounded": rounded}
        total = {name: rounded(np.zeros(made[0][0].shape)) for name in changed}
        for name, (_, all_at_once) in drawn:
            total[name] = total[name] + eval(all_at_once, words)
        for start, rate, name in zip(made[1], made[2], held._changed, strict=True):
            for k, level in enumerate(total[name].x):
                expected = (rounded(rate) * rounded(grid.to_model(level))).x
                np.testing.assert_array_equal(into[0][start + k], expected)


def forced_run(seed):
    """The arguments of a random forced run."""
    draw = random.Random(seed)
    case = draw.choice(CASES)
    backend, compensation = draw.choice([
        ("fp32", None), ("bf16", "carry"), ("mlu370", None), ("float:e=6,m=5", None),
        ("fp64,round=sr", None), ("fp16", "carry"), ("fp32,round=sr", "carry"), ("fixed32", None),
    ])  # fmt: skip
    schemes = {
        "held_suarez": ["imex_ars443", "semi_implicit_leapfrog"],
        "galewsky": ["imex_ars443", "semi_implicit_leapfrog", "rk4", "ssprk3"],
        "rossby_haurwitz": ["rk4", "ssprk3"],
    }  # fmt: skip
    return {
        "case": case, "truncation": SMALL, "days": draw.randint(40, 90) / 72,
        "step_seconds": 1200.0, "output_hours": draw.choice([1, 2]) / 3, "backend": backend,
        "parameters": {"levels": draw.choice([2, 3])} if case == "held_suarez" else {},
        "compensation": compensation, "time_scheme": draw.choice(schemes[case]),
        "threads": draw.choice([1, 2, 3]), "tracers": {"dye": draw.choice([0.5, "northern"])},
        "forcing": stirred, "forcing_parameters": {"rate": draw.uniform(0.1, 3.0)},
        "start_date": draw.choice(["2000-12-31T20:00", "1999-02-28T23:00"]),
        "variables": ["u", "dye", "time_mean_dye"],
    }  # fmt: skip


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork, no SIGKILL on Windows")
@pytest.mark.parametrize("seed", [6, 22, *(pytest.param(s, marks=pytest.mark.slow)
                                           for s in (3, 9, 11))])  # fmt: skip
def test_forced_runs_that_are_killed_go_on_with_the_same_bits(seed, tmp_path, written_each_time):
    """A child process is killed up to four times at random moments, in writing, too."""
    options, draw = forced_run(seed), random.Random(seed)
    whole = integrate(**options)  # compiles
    begun = time.perf_counter()
    require_same_bits(integrate(**options), whole)
    span = time.perf_counter() - begun
    for _ in range(4):
        child = os.fork()
        if child == 0:
            try:
                integrate(**options, checkpoints=tmp_path)
            finally:
                os._exit(0)
        time.sleep(draw.uniform(0.1, 1.2) * span)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    require_same_bits(integrate(**options, checkpoints=tmp_path), whole, f"{options}")
