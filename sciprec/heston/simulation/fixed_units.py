"""Path kernels in fixed point: units from pilot paths, so that no price depends on its blocks."""

import functools

import numpy as np

from sciprec.heston.schemes.registry import Units, state_arrays
from sciprec.heston.variates.random_numbers import PhiloxVariates
from sciprec.precision import lift

PILOT_PATHS, PILOT_STEPS, PILOT_SEED = 256, 16, 0x9D5F
SPARE_BITS = 2  # for paths further out than the pilot's: eight times its sizes, with the headroom


def fixed_kernel(path_scheme, backend, model, step_years, last_step):
    """Return a scheme's kernel in fixed point, with units for steps up to a last one.

    The pilot runs on paths of its own, in binary64 and then in fixed point, whose rounding errors
    need room where binary64's are smaller. Its length is last_step rounded up to a power of two, so
    that units depend on the grid and the stops, not on blocks, threads or their order. What leaves
    a range all the same saturates and is counted.

    Args:
        path_scheme: a registered PathScheme that lifts.
        backend: a Backend in fixed point.
        model: a Model.
        step_years: length of one time step.
        last_step: integer, at least 1.

    Returns:
        A lifted kernel whose counts start at zero.
    """
    horizon = 1 << max(0, int(last_step) - 1).bit_length()
    return _with_units(path_scheme, backend, model, float(step_years), horizon).fresh()


@functools.lru_cache(maxsize=64)
def _with_units(path_scheme, backend, model, step_years, horizon):
    """Return the kernel with units for `horizon` steps."""
    blank, truth = _lifted(path_scheme.kernel_for(model, step_years), backend)
    lifted = blank.unprofiled()
    constants = np.asarray(path_scheme.constants(model, step_years, Units.of(model, step_years)))
    rows = 3 if path_scheme.exponential(model, step_years) else 2
    variates = PhiloxVariates(PILOT_SEED, 0)

    def advance(step):
        """Call step(first, constants, draws, state...) for pieces of the pilot's time."""
        arrays = state_arrays(model, step_years, PILOT_PATHS)
        for first in range(0, horizon, PILOT_STEPS):
            draws = np.empty((min(PILOT_STEPS, horizon - first), rows, PILOT_PATHS))
            variates.fill(0, first, draws)
            step(first, constants, draws, *arrays)

    def profile(first, *args):
        lifted.profile(*args, widen=first > 0)
        truth(*args)

    advance(profile)
    advance(lambda first, *args: lifted(*args))
    lifted.freeze(SPARE_BITS)
    return lifted


@functools.lru_cache(maxsize=16)
def _lifted(kernel, backend):
    """Return a kernel in fixed point, never called, and in binary64."""
    return lift(kernel, backend), lift(kernel, "fp64")
