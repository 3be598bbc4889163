"""Traces of kernels that are given named tuples."""

import numpy as np
import pytest

import sciprec
from sciprec import climate
from sciprec.climate.physics.clock import Time
from sciprec.climate.physics.forcings import named


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
