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
from sciprec.climate.running.held_forcing import HeldForcing
from sciprec.climate.running.integration import integrate
from sciprec.climate.running.request import check_request
from sciprec.climate.transform.grid import Truncation
from sciprec.foundation.loading import loaded_file
from sciprec.precision import resolve_backend
from tests.climate.small_models import SMALL, require_same_bits, started, stirred
from tests.draws import few
from tests.oracles import vector
from tests.oracles.uncompiled import Uncompiled

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


@pytest.mark.parametrize("seed", few(range(5), 3))
def test_tendencies_of_random_forcings_are_those_of_the_oracle(tmp_path, seed):
    rng = np.random.default_rng(seed)
    case, backend = CASES[seed % len(CASES)], resolve_backend(FORMATS[seed % len(FORMATS)])
    about = {"output_hours": 1, "tracers": {"dye": "northern"} if rng.random() < 0.5 else {},
             "parameters": {"levels": 3} if case == "held_suarez" else {}}  # fmt: skip
    free = check_request(case, TINY, 1 / 24, **about)
    fields, changed = offered(free.equations.name, free.tracers)
    drawn = [(name, expression(rng, fields, 3)) for name in (*changed, changed[0])]
    file = tmp_path / f"forcing_{seed}.py"
    head = HEAD.format(
        parameters={"first": (0.7, "1"), "second": (1.3, "1/day")}, tracers=tuple(about["tracers"])
    )
    lines = [f"                out.{name}[k, j, i] += {one}\n" for name, (one, _) in drawn]
    file.write_text(head + "".join(lines))
    drawn_forcing = loaded_file(file, "forcing", registers=False).drawn
    request = check_request(
        case, TINY, 1 / 24, forcing=f"{file}:drawn", start_date="2001-03-04T05:06",
        backend=backend, **about,
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
        evaluation = Uncompiled(evaluation_of(drawn_forcing), backend, trust_inputs=True)
        evaluation(model, seen, made, into[0], places, clock)
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


RUN = {
    "case": "galewsky", "truncation": SMALL, "days": 7 / 12, "output_hours": 2 / 3,
    "step_seconds": 1200.0, "time_scheme": "semi_implicit_leapfrog", "threads": 3,
    "forcing": stirred, "tracers": {"dye": "northern"}, "start_date": "2000-12-31T20:00",
    "variables": ["u", "dye", "time_mean_dye"],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork, no SIGKILL on Windows")
def test_a_forced_run_that_is_killed_goes_on_with_the_same_bits(tmp_path, written_each_time):
    """A child process is killed up to four times at random moments, in writing, too; what a
    leapfrog holds of its forcing is in the checkpoint.
    """
    draw = random.Random(6)
    whole = integrate(**RUN)  # compiles
    begun = time.perf_counter()
    require_same_bits(integrate(**RUN), whole)
    span = time.perf_counter() - begun
    for _ in range(4):
        child = os.fork()
        if child == 0:
            try:
                integrate(**RUN, checkpoints=tmp_path)
            finally:
                os._exit(0)
        time.sleep(draw.uniform(0.1, 1.2) * span)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    require_same_bits(integrate(**RUN, checkpoints=tmp_path), whole)
