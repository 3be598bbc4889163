"""Path schemes: how one is registered, and the units in which every scheme keeps its state."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Units:
    """The units of a scheme's state, chosen so that narrow formats lose no digits and no range.

    A scheme keeps variance / variance_unit, which is of order one, and log(S_t / F_t) /
    log_spot_unit, whose increments over one step are of order one. log(S_t / F_t) starts at zero
    and has neither spot, rate nor dividend in it. log_spot_unit is a power of two.

    Args:
        model: a Model.
        step_years: length of one time step.
    """

    variance_unit: float
    log_spot_unit: float

    @classmethod
    def of(cls, model, step_years):
        variance_unit = max(model.theta, model.v0)
        exponent = round(0.5 * math.log2(variance_unit * step_years))
        return cls(variance_unit, math.ldexp(1.0, exponent))


@dataclass(frozen=True)
class PathScheme:
    """A registered scheme.

    Args:
        name: as in scenarios.
        kernel: advances a block of paths by whole steps; its arguments are (first_path,
            first_step, n_steps, key_0, key_1, constants, words, log_spot, log_spot_carry,
            variance, variance_carry), see `block_arguments`. A key_0 below zero says that
            words holds the random words of the step (or of a pair of steps) already, those of
            step in rows 2 (step % 2) and 2 (step % 2) + 1.
        constants: (model, step_years, units) -> binary64 array, the kernel's constants.
        source: author, year, equation.
        lifts: whether the kernel can be lifted; one that cannot is compiled, in binary64.
    """

    name: str
    kernel: Callable
    constants: Callable
    source: str
    lifts: bool = True


_SCHEMES = {}


def path_scheme(constants, source, lifts=True):
    """Register a kernel as the path scheme of its own name.

    Args:
        constants, source, lifts: see PathScheme.
    """

    def register(function):
        name = function.__name__
        _SCHEMES[name] = PathScheme(name, function, constants, source, lifts)
        return function

    return register


def registered_schemes():
    """Return the schemes registered so far, by name."""
    return dict(_SCHEMES)


def block_arguments(model, step_years, n_paths, constants, dtype=np.float64):
    """Return the arrays of a block of paths at time zero.

    Args:
        model: a Model.
        step_years: length of one time step.
        n_paths: paths of the block.
        constants: the scheme's function of that name.
        dtype: of the floating-point arrays.

    Returns:
        constants, words (int64, shape (4, n_paths)), then log_spot, log_spot_carry, variance and
        variance_carry (shape (n_paths,), in Units): the last seven arguments of a kernel.
    """
    units = Units.of(model, step_years)
    start = model.v0 / units.variance_unit
    return (
        np.asarray(constants(model, step_years, units), dtype=dtype),
        np.zeros((4, n_paths), dtype=np.int64),
        np.zeros(n_paths, dtype=dtype),
        np.zeros(n_paths, dtype=dtype),
        np.full(n_paths, start, dtype=dtype),
        np.zeros(n_paths, dtype=dtype),
    )
