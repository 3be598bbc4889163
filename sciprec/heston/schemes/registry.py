"""Path schemes: how one is registered, and the units in which every scheme keeps its state."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from sciprec.foundation.loading import load_plugins
from sciprec.heston.parameters import Model


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
    def of(cls, model: Model, step_years: float) -> Units:
        """The units for a model and a length of steps."""
        variance_unit = max(model.theta, model.v0)
        exponent = round(0.5 * math.log2(variance_unit * step_years))
        return cls(variance_unit, math.ldexp(1.0, exponent))


def _never(model: Model, step_years: float) -> bool:
    """Whether a scheme of normal variates alone needs exponential ones."""
    return False


@dataclass(frozen=True)
class PathScheme:
    """A registered scheme.

    Args:
        name: as in scenarios.
        kernel: advances a block of paths by draws.shape[0] steps; its arguments are (constants,
            draws, log_spot, log_spot_carry, variance, variance_carry, integral, integral_carry),
            see `state_arrays` and variates.random_numbers. It adds to integral, in variance_unit,
            each step's mean variance, whose share (1 - rho^2) dt is the variance of the step of
            log(S / F) given the path of the variance. The kernel of a scheme that does not lift
            draws its own variates: its arguments are (first_path, first_step, n_steps, key_0,
            key_1, constants) and the same six arrays.
        constants: (model, step_years, units) -> binary64 array, the kernel's constants.
        source: author, year, equation.
        exponential: (model, step_years) -> whether the kernel needs exponential variates.
        narrowed: (model, step_years) -> the kernel, or one without what this model never needs:
            less to compile.
        lifts: whether the kernel can be lifted; one that cannot is compiled, in binary64.
    """

    name: str
    kernel: Callable
    constants: Callable[[Model, float, Units], np.ndarray]
    source: str
    exponential: Callable[[Model, float], bool] = _never
    narrowed: Callable[[Model, float], Callable] | None = None
    lifts: bool = True

    def kernel_for(self, model: Model, step_years: float) -> Callable:
        """The kernel for the paths of one model."""
        return self.narrowed(model, step_years) if self.narrowed else self.kernel


_SCHEMES: dict[str, PathScheme] = {}


def path_scheme(
    constants: Callable[[Model, float, Units], np.ndarray],
    source: str,
    *,
    exponential: Callable[[Model, float], bool] = _never,
    narrowed: Callable[[Model, float], Callable] | None = None,
    lifts: bool = True,
) -> Callable[[Callable], Callable]:
    """Register a kernel as the path scheme of its own name.

    Args:
        constants, source, exponential, narrowed, lifts: see PathScheme.

    Returns:
        The decorator of the kernel, which stays as it is.
    """

    def register(function: Callable) -> Callable:
        name = function.__name__
        _SCHEMES[name] = PathScheme(
            name, function, constants, source, exponential, narrowed, lifts
        )
        return function

    return register


def registered_schemes() -> dict[str, PathScheme]:
    """Return the schemes registered so far, by name; those of plugins, too."""
    load_plugins()
    return dict(_SCHEMES)


def state_arrays(
    model: Model, step_years: float, n_paths: int, dtype: DTypeLike = np.float64
) -> tuple[np.ndarray, ...]:
    """Return the state of a block of paths at time zero.

    Args:
        model: a Model.
        step_years: length of one time step.
        n_paths: paths of the block.
        dtype: of the arrays.

    Returns:
        log_spot, variance and integral, each followed by the rounding errors that are carried
        along with it: the last six arguments of a kernel, of shape (n_paths,), in Units.
    """
    arrays = tuple(np.zeros(n_paths, dtype=dtype) for _ in range(6))
    arrays[2][:] = model.v0 / Units.of(model, step_years).variance_unit
    return arrays


def kernel_example(
    model: Model, step_years: float, constants: Callable[[Model, float, Units], np.ndarray]
) -> tuple[np.ndarray, ...]:
    """Return arguments of a lifted scheme's kernel: two steps of three paths."""
    draws = np.array([[0.3, -1.2, 0.7], [-0.4, 0.1, 1.9], [0.48, 0.12, 1.42]])
    values = constants(model, step_years, Units.of(model, step_years))
    return values, np.stack([draws, -0.7 * draws[::-1]]), *state_arrays(model, step_years, 3)


def add_carried(values, carries, i, change):
    """Add a change to values[i], with the rounding error of the last addition (Kahan 1965).

    Args:
        values, carries: arrays; written at i.
    """
    value = values[i]
    whole = carries[i] + change
    total = value + whole
    carries[i] = whole - (total - value)
    values[i] = total
