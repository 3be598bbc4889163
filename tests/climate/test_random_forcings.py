"""Random forcings in random models, against NumPy's binary16, bit for bit."""

import numpy as np
import pytest

from sciprec.climate.equations.forced import evaluation_of, offered
from sciprec.climate.running.held_forcing import HeldForcing
from sciprec.climate.running.request import check_request
from sciprec.climate.transform.compiled import compiled
from sciprec.climate.transform.grid import Truncation
from sciprec.foundation.loading import loaded_file
from sciprec.precision import resolve_backend
from tests.climate.small_models import started

TINY = Truncation(3, 8, 16, 1200.0)
CASES = ("galewsky", "held_suarez", "rossby_haurwitz")
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
            return f"({number})", f"half({number})"
        name = fields[rng.integers(len(fields))]
        one = f"fields.{name}{PLACES.get(name, '[k, j, i]')}"
        return one, f"fields[{name!r}]{BROADCAST.get(name, '')}"
    operator = " + ", " - ", " * ", " / "
    pairs = [expression(rng, fields, depth - 1) for _ in range(2)]
    sign = operator[rng.integers(4)]
    return tuple(f"({a}{sign}{b})" for a, b in zip(*pairs, strict=True))


def half(x):
    """Numbers of binary16, on which NumPy rounds every operation."""
    return np.asarray(x, np.float64).astype(np.float16)


class Named(dict):
    """A dictionary whose keys are attributes, too."""

    __getattr__ = dict.__getitem__


@pytest.mark.parametrize("seed", range(6))
def test_tendencies_of_random_forcings_are_those_of_numpy(tmp_path, seed):
    rng = np.random.default_rng(seed)
    case = CASES[seed % len(CASES)]
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
    forcing = loaded_file(file, "forcing", registers=False).drawn
    request = check_request(
        case, TINY, 1 / 24, output_hours=1, tracers=tracers, forcing=f"{file}:drawn",
        start_date="2001-03-04T05:06", backend="fp16",
    )  # fmt: skip
    convert, _ = started(request)
    backend, grid = resolve_backend("fp16"), convert.transform.grid
    held = HeldForcing(request, convert, backend)
    held.begin(3, 1)
    count = convert.transformed[0]
    model = half(rng.normal(size=(count, TINY.nlon, TINY.nlat)) * 0.3).astype(backend.carrier)
    _, seen, made, into, places, clock = held.arrays
    with np.errstate(all="ignore"):
        compiled(evaluation_of(forcing), backend)(model, seen, made, into[0], places, clock)
        shown, firsts, offsets, factors, pressure, named = seen
        arrays = Named({name: half(getattr(named, name)) for name in fields})
        rows = iter(zip(firsts, offsets, factors, shown, strict=True))
        for first, offset, factor, there in rows:
            expected = [
                grid.to_output(half(factor) * (half(offset) + half(model[first + k])))
                for k in range(there.shape[0])
            ]
            np.testing.assert_array_equal(half(there), np.array(expected))
        for row in pressure[0]:
            exact = 1000.0 * np.exp(grid.to_output(model[row].astype(float)))
            np.testing.assert_allclose(pressure[2], exact, rtol=2e-3)
        p, t = Named(first=half(0.7), second=half(1.3)), Named(
            day=half(clock[0]), year=half(clock[1])
        )  # fmt: skip
        words = {"fields": arrays, "p": p, "t": t, "half": half}
        total = {name: np.zeros(made[0][0].shape, np.float16) for name in changed}
        for name, (_, all_at_once) in drawn:
            total[name] = total[name] + eval(all_at_once, words)
        for start, rate, name in zip(made[1], made[2], held._changed, strict=True):
            for k, level in enumerate(total[name]):
                expected = half(rate) * grid.to_model(level)
                np.testing.assert_array_equal(half(into[0][start + k]), expected)
