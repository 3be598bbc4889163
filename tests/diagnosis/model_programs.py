"""Models: three kernels called one by one, or as one, and flows on the sphere, in whose
scheme a fault can be planted.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sciprec import lift
from sciprec.climate.stepping import schemes
from sciprec.precision.formats.backend import resolve_backend
from sciprec.tools.trace.models.traces import Results
from sciprec.workbench.kinds import parse_scenario
from sciprec.workbench.kinds.programs import first_variant, loaded, program_of
from sciprec.workbench.kinds.scenario_trace import trace_variant

ROOT = Path(__file__).parents[2]


def faulty_increment(first, second, third, fourth, step, increment):
    for i in range(increment.shape[0]):
        total = (first[i] + fourth[i]) + 2.0 * (second[i] + third[i])
        increment[i] = ((0.5 * step) * total) / 3.0
        increment[i] = (increment[i] + 4.0) - 4.0


def model_of(scenario):
    return program_of(scenario, first_variant(scenario, "fp64"), None)


def wave(truncation, **climate):
    """The model of the equations on the sphere that compile fastest, of a wave that T3 holds."""
    content = {
        "name": "wave", "title": "A wave", "source": "Haurwitz (1940)", "kind": "climate",
        "backends": ["fp32"],
        "climate": {
            "case": "rossby_haurwitz", "truncation": truncation, "time_scheme": "rk4",
            "step_seconds": 1200.0, "parameters": {"wavenumber": 2}, **climate,
        },
    }  # fmt: skip
    return model_of(parse_scenario(content))


def trace_of_a_bell(backend: str, increment, monkeypatch):
    """A trace of an hour of a bell's transport at T5, whose kernels compile fastest, one kernel of
    the scheme replaced; no stage is kept wider in a run of its own, which compiles them once more.
    """
    monkeypatch.setitem(schemes.STEP_KERNELS, "runge_kutta_increment", increment)
    changes = {"climate.case": "williamson_1", "climate.truncation": 5,
               "climate.parameters": {"fourier": "matrix"},
               "climate.days": 1.0 / 24.0, "climate.output_hours": 1.0}  # fmt: skip
    scenario, resolved = loaded("quickstart_climate", changes), resolve_backend(backend)
    variant = first_variant(scenario, resolved.name)
    return trace_variant(scenario, variant, resolved, output=["height"], samples=1, lanes=4)


def advance(x, share, y):
    n = x.size
    for i in range(n):
        y[i] = x[i] + share * ((x[(i + 1) % n] - x[i]) - (x[i] - x[i - 1]))


def measures(x, weights):
    total = 0.0
    for i in range(x.size):
        total += weights[0][i] * x[i] * x[i]
    return total / x.size, np.sqrt(x * weights[1])


def both(x, share, y, weights, root):
    """Three steps and the measures, in one kernel."""
    for k in range(3):
        if k % 2 == 0:
            advance(x, share, y)
        else:
            advance(y, share, x)
    total, roots = measures(y, weights)
    for i in range(x.size):
        root[i] = roots[i]
    return total


def start():
    weights = np.linspace(0.3, 1.1, 20), np.linspace(1.3, 2.9, 20)
    return np.sin(np.linspace(0.0, 3.0, 20)) + 1.1, 0.237, weights


def by_kernels(backend):
    """The steps of `both`, by kernels and between them: views, copies, new arrays, tuples."""
    x, share, weights = start()
    step, measured = lift(advance, backend), lift(measures, backend)
    states, y = np.array([x, x]), np.zeros((20, 2))[:, 1]
    step(states[0], share, y)
    step(y.copy(), share, x)
    step(x=x[:], share=share, y=y)
    total, roots = measured(np.array(list(y)), weights)
    return Results({"y": y, "root": np.concatenate([roots[:7], roots[7:]]), "total": total})
