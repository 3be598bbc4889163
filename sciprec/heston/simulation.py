"""One block of paths in a backend's arithmetic, advanced by whole steps, looked at in between."""

import functools
import time

import numpy as np

from sciprec.errors import InputError
from sciprec.heston.registry import Units, block_arguments
from sciprec.heston.schemes import scheme_named
from sciprec.precision import lift, resolve_backend
from sciprec.precision.streams import seed_words

STREAM_STRIDE = 1_000_003  # a prime: streams of random bits of neighbouring seeds stay apart


class Simulation:
    """A block of paths at some step of a grid of equal steps.

    Args:
        model: a Model.
        block: a Block (first_path, n_paths).
        step_years: length of one time step.
        backend: arithmetic of the paths, a name, a spec string or a Backend.
        scheme: name of a registered path scheme.
        seed: integer in [0, 2**64).
        words: None for Philox words of the seed, or int64 words of shape (steps, 2, n_paths) in
            their place.

    Raises:
        InputError: an argument outside its domain, or a scheme that the backend cannot run.

    Attributes:
        step: steps done.
        seconds: time spent in the kernel.

    Precision: constants are computed in binary64 and rounded once. Backends with random bits
        (stochastic rounding, noise) draw them from a stream of seed and first path, and from a
        new one after each stop, so that there the bits depend on blocks and stops, too.
    """

    def __init__(self, model, block, *, step_years, backend, scheme, seed, words=None):
        resolved = resolve_backend(backend)
        path_scheme = scheme_named(scheme)
        self.model, self.block, self.step_years = model, block, step_years
        self.step, self.seconds = 0, 0.0
        self._units = Units.of(model, step_years)
        self._key = seed_words(seed)
        self._arrays = block_arguments(
            model, step_years, block.n_paths, path_scheme.constants, resolved.carrier
        )
        stream = (int(seed) * STREAM_STRIDE + block.first_path) % 2**32
        self._run = _runnable(path_scheme, resolved, stream)
        self._given = _given_words(words, path_scheme)

    def advance(self, n_steps):
        """Advance all paths by n_steps steps."""
        start = time.perf_counter()
        if self._given is None:
            self._run(self.block.first_path, self.step, n_steps, *self._key, *self._arrays)
        else:
            self._advance_by_given_words(n_steps)
        self.seconds += time.perf_counter() - start
        self.step += n_steps

    def _advance_by_given_words(self, n_steps):
        """Advance step by step, each with its own words."""
        words = self._arrays[1]
        for step in range(self.step, self.step + n_steps):
            row = 2 * (step % 2)
            words[row : row + 2] = self._given[step]
            self._run(self.block.first_path, step, 1, -1, 0, *self._arrays)

    def log_ratio(self):
        """Return log(S_t / F_t) with its carried rounding error, binary64, shape (n_paths,)."""
        return _total(*self._arrays[2:4]) * self._units.log_spot_unit

    def variance(self):
        """Return the variances per year, with their carried rounding errors, binary64."""
        return _total(*self._arrays[4:6]) * self._units.variance_unit


def _runnable(path_scheme, backend, stream):
    """Return the scheme's kernel in a backend, or say that it knows binary64 only.

    Raises:
        InputError: a scheme that does not lift with a backend other than fp64.
    """
    if path_scheme.lifts:
        return lifted(path_scheme.kernel, backend, stream)
    if backend != resolve_backend("fp64"):
        raise InputError(
            f"scheme {path_scheme.name!r} was given backend {backend.name!r}; accepted: 'fp64': "
            "it is a truth for the other schemes, whose paths run in any backend"
        )
    return path_scheme.kernel


def _given_words(words, path_scheme):
    """Return the given words, or say that the scheme draws its own.

    Raises:
        InputError: words for a scheme that takes as many as it happens to need.
    """
    if words is not None and not path_scheme.lifts:
        raise InputError(
            f"scheme {path_scheme.name!r} was given words; accepted: the other schemes, which "
            "take two for each step"
        )
    return words


def lifted(function, backend, stream=0):
    """Return a kernel lifted to a backend; a fresh one where random bits count the calls.

    Args:
        function: a kernel.
        backend: a Backend.
        stream: integer in [0, 2**32), the seed of the backend's own random bits.
    """
    if backend.random:
        return lift(function, backend, seed=stream)
    return _lifted_once(function, backend)


@functools.lru_cache(maxsize=64)
def _lifted_once(function, backend):
    """Return a kernel lifted to a backend without random bits, once per process."""
    return lift(function, backend)


def _total(value, carry):
    """Return value + carry in binary64."""
    with np.errstate(invalid="ignore"):  # infinity - infinity, counted as a nonfinite path
        return value.astype(np.float64) + carry.astype(np.float64)
