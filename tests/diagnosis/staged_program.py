"""A model of four stages, each a kernel that loses digits where it is given a large number."""

from __future__ import annotations

import numpy as np

from sciprec import lift, quantize
from sciprec.instruments.assigning.stages import Stage
from sciprec.tools.trace.models.traces import Results

FILE = "diagnosis/staged_program.py"


def mixed(x, large, out):
    """Mean of two neighbours."""
    for i in range(x.size):
        out[i] = 0.5 * (x[i] + x[i - 1])
        out[i] = (out[i] + large) - large


def bent(x, large, out):
    for i in range(x.size):
        out[i] = x[i] * (1.5 - 0.5 * x[i])
        out[i] = (out[i] + large) - large


def drawn(x, large, out):
    for i in range(x.size):
        out[i] = x[i] / (0.5 + x[i])
        out[i] = (out[i] + large) - large


def raised(x, large, out):
    for i in range(x.size):
        out[i] = np.sqrt(x[i] + 0.1)
        out[i] = (out[i] + large) - large


KERNELS = mixed, bent, drawn, raised
STAGES = tuple(
    Stage(f"stage of {kernel.__name__}", ((FILE, kernel.__name__),)) for kernel in KERNELS
)


def with_fault(ruined: int, large: float, x: np.ndarray):
    """A program of three steps, one of whose stages adds a large number and takes it away."""

    def program(backend):
        state = quantize(x, backend)
        for _ in range(3):
            for number, kernel in enumerate(KERNELS):
                out = np.zeros(x.size, backend.carrier)
                lift(kernel, backend)(state, large if number == ruined else 0.0, out)
                state = out
        return Results({"state": state})

    return program
