"""Traces of kernels that are given named tuples."""

import numpy as np
import pytest

import sciprec
from sciprec import climate
from sciprec.climate.physics.clock import Time
from sciprec.climate.physics.forcings import named
from sciprec.precision.formats.backend import resolve_backend
from sciprec.tools.trace.models.traces import Results, trace_program
from sciprec.workbench.kinds.programs import first_variant, loaded
from sciprec.workbench.kinds.scenario_trace import trace_variant


@climate.forcing(parameters={"rate": (0.3, "1/day")})
def heating(fields, t, p, out):
    for i in range(fields.temperature.shape[2]):
        aim = 300.0 + 20.0 * t.year
        missing = aim - fields.temperature[0, 0, i]
        out.temperature[0, 0, i] += p.rate * missing


def arguments():
    rng = np.random.default_rng(0)
    fields, out = (
        named(kind, ("u", "temperature"))(np.zeros((1, 1, 6)), values)
        for kind, values in (
            ("Fields", 280.0 + 10.0 * rng.random((1, 1, 6))), ("Tendencies", np.zeros((1, 1, 6)))
        )
    )  # fmt: skip
    return heating.arguments(fields, Time(0.25, 0.3), (0.3,), out)


def test_trace_of_a_forcing_names_its_lines():
    trace = sciprec.trace(heating.kernel, "fp16", arguments())
    sources = [line.source for line in trace.lines]
    assert any("aim" in source for source in sources)
    assert sum(line.share for line in trace.lines) == pytest.approx(1.0, abs=1e-6)
    lifted = arguments()
    sciprec.lift(heating.kernel, "fp16")(*lifted)
    exact = arguments()
    heating.kernel(*exact)
    wrong = np.linalg.norm(lifted[3].temperature - exact[3].temperature)
    size = np.linalg.norm(exact[3].temperature)
    assert trace.outputs["out_1"] == pytest.approx(wrong / size, rel=1e-3)


def in_two(work, seen, out):
    """Write through one tuple, read through another one that holds the same arrays."""
    for i in range(out.size):
        work[0][0][i] = work[0][0][i] * 0.7 + 0.1
        out[i] = seen[0][i] - seen[1][i]


def twice(values, seen):
    for i in range(seen[0].size):
        seen[0][i] = seen[0][i] / 3.0
        values[0][i] = values[0][i] + seen[0][i]


def of_two_tuples(backend):
    first, second = sciprec.lift(in_two, backend), sciprec.lift(twice, backend)
    x, y, out = np.linspace(0.5, 1.5, 40), np.linspace(0.2, 0.4, 40), np.zeros(40)
    work, seen = ((x,), 3.0), (x, y)
    states = []
    for _ in range(4):
        first(work, seen, out)
        second((y,), seen)
        states.append(out.copy())
    return Results({"out": np.array(states)})


@pytest.mark.parametrize("_", range(3))
def test_arrays_that_several_tuples_hold_are_put_back_once(_):
    """Of two tuples with the same array one had numbers of its own, which nobody wrote."""
    junk = np.full(1 << 16, 1e30)  # what memory that is not written may hold
    del junk
    found = trace_program(of_two_tuples, "fp16", model="m", samples=1)
    assert found.closure < 1e-9 and sum(n.share for n in found.lines) == pytest.approx(1.0)


@pytest.mark.slow
def test_a_trace_of_a_flow_has_the_part_of_its_forcing(tmp_path):
    file = tmp_path / "drag.py"
    file.write_text(DRAG, encoding="utf-8")
    changes = {"climate.case": "rossby_haurwitz", "climate.truncation": 5,
               "climate.days": 1.0 / 24.0, "climate.output_hours": 1.0,
               "climate.forcing": f"{file}:drag"}  # fmt: skip
    scenario, backend = loaded("quickstart_climate", changes), resolve_backend("fp16")
    variant = first_variant(scenario, backend.name)
    found = trace_variant(scenario, variant, backend, output=["vorticity"], samples=1)
    assert found.closure < 1e-9
    share = sum(n.share for n in found.lines if n.function == "drag")
    assert abs(share) > 1e-3, [(n.function, n.share) for n in found.lines]


DRAG = """
from sciprec import climate


@climate.forcing
def drag(fields, t, out):
    for k in range(fields.u.shape[0]):
        for j in range(fields.u.shape[1]):
            for i in range(fields.u.shape[2]):
                lost = (fields.u[k, j, i] + 500.0) - 500.0
                out.u[k, j, i] -= lost
"""
