"""The stages of Heston's model, for policies of mixed precision, and how paths have them.

Draws are numbers that paths are given, rounded to their stage's format; payments and their means
are made of the paths in binary64, whatever the arithmetic.
"""

from __future__ import annotations

import numpy as np

from sciprec.instruments.assigning.assignment import AssignedBackend
from sciprec.instruments.assigning.stages import Stage
from sciprec.precision import Backend
from sciprec.precision.formats.backend import Arithmetic, uniform_backend

DRAWS = "draws"
_SCHEMES = "sciprec/heston/schemes"
_QE, _EULER = f"{_SCHEMES}/quadratic_exponential.py", f"{_SCHEMES}/euler.py"
_STEPS = ("qe_paths", "qem_paths")

HESTON_STAGES = (
    Stage(
        DRAWS, (("sciprec/heston/variates/inversion.py", "philox_variates"),), allowed=True,
        why="random numbers: their rounding is far below their spread",
    ),
    Stage(
        "variance",
        (
            (_EULER, "full_truncation_euler", "root", "change"),
            *((_QE, function) for function in ("qe_mean", "qe_width", "qe_swing", "qe_jump")),
            *((_QE, function, "inverse", "spread", "psi", "fall", "jump", "moved")
              for function in _STEPS),
        ),
        why="the change of the variance in a step, rounded once a step",
    ),
    Stage(
        "log spot",
        (
            (_EULER, "full_truncation_euler", "shock", "gain"),
            (f"{_SCHEMES}/martingale_correction.py", ""),
            *((_QE, function, "vbar", "drift", "gain") for function in _STEPS),
        ),
        why="the change of the log spot in a step, its martingale correction too",
    ),
    Stage(
        "state update",
        (
            (f"{_SCHEMES}/registry.py", "add_carried"),
            *((_QE, function, "change", "v_next", "carry") for function in _STEPS),
        ),
        denied=True,
        why="a change is far smaller than the state: its rounding adds up from step to step",
    ),
    Stage("payment", (), always="fp64", why="made of the paths in binary64 in every arithmetic"),
    Stage("mean", (), always="fp64", why="made of the payments in binary64 in every arithmetic"),
)  # fmt: skip
"""In the order of a step."""


def widest(backend: Backend) -> Arithmetic:
    """The arithmetic of a backend's widest operations."""
    if isinstance(backend, AssignedBackend):
        return backend.assignment.widest
    return backend.compute


def is_binary64(backend: Backend) -> bool:
    """Whether all operations are binary64's."""
    if isinstance(backend, AssignedBackend):
        return all(arithmetic.format.is_binary64 for arithmetic in backend.assignment.arithmetics)
    return backend.compute.format.is_binary64


def carrier_of(backend: Backend) -> np.dtype:
    """The dtype of the paths' arrays: in a policy, that of the widest format alone."""
    if isinstance(backend, AssignedBackend) and backend.assignment.is_policy:
        return uniform_backend("widest", widest(backend)).carrier
    return backend.carrier


def rounding_of_draws(backend: Backend) -> Backend | None:
    """The backend whose format draws are rounded to; None where kernels round them anyway."""
    if not isinstance(backend, AssignedBackend):
        return None
    arithmetic = backend.assignment.of_stage(DRAWS)
    if arithmetic is None or arithmetic == widest(backend):
        return None
    return uniform_backend("draws", arithmetic)


def carrier_of_draws(backend: Backend) -> np.dtype:
    """The dtype that draws are made in: in a policy, that of their own format alone."""
    arithmetic = rounding_of_draws(backend)
    return carrier_of(backend) if arithmetic is None else arithmetic.carrier
