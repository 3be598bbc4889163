"""One block of paths in a backend's arithmetic, advanced by whole steps, looked at in between.

The steps are made tile by tile in one compiled loop, so that state and variates of a tile stay in
the cache. A tile takes tens of microseconds: were its two kernels called from Python, threads would
wait for Python's lock most of the time.
"""

import functools
import math
import time

import numpy as np

from sciprec.arrays.quantization import quantize
from sciprec.foundation.errors import InputError
from sciprec.foundation.time_steps import step_begins, steps_end
from sciprec.heston.schemes.catalogue import scheme_named
from sciprec.heston.schemes.registry import Units, state_arrays
from sciprec.heston.schemes.stages import (
    carrier_of,
    carrier_of_draws,
    is_binary64,
    rounding_of_draws,
)
from sciprec.heston.simulation.fixed_point import count_kernel, fixed_kernel
from sciprec.heston.variates.inversion import philox_variates
from sciprec.heston.variates.random_numbers import PhiloxVariates, variates_for
from sciprec.instruments.assigning.matching import kept_kernel
from sciprec.precision import lift, resolve_backend
from sciprec.precision.compiled.addresses import address_of, call_at, part_at
from sciprec.precision.compiled.disk_cache import kept
from sciprec.precision.lifting.lifted import Lifted
from sciprec.precision.streams import seed_words

STREAM_STRIDE = 1_000_003  # a prime: streams of random bits of neighbouring seeds stay apart
STEP_STRIDE = 2_654_435_761  # another one: so do those of another kernel from a later step on
BINARY32 = resolve_backend("fp32")
CHUNK_PATHS, CHUNK_STEPS = 1024, 16  # paths and steps whose variates are made at a time


class Simulation:
    """A block of paths at some step of a grid of equal steps.

    Args:
        model: a Model.
        block: a Block (first_path, n_paths).
        step_years: length of one time step.
        backend: arithmetic of the paths, a name, a spec string or a Backend.
        scheme: name of a registered path scheme.
        seed: integer in [0, 2**64).
        draws_per_step: r; each step uses the variates of r consecutive steps, so that these paths
            see the same Brownian motion as those of r times as many steps.
        mirrored: run the antithetic paths, on the negative of every normal variate.
        conditional: leave out the Brownian motion of the log spot that is independent of the
            variance: log_ratio() is then the mean of log(S_t / F_t) given the path of the
            variance, and conditional_variance() its variance.
        carried: whether log spot, variance and integral carry the rounding errors of their
            additions along; without, these are forgotten after every step, but in fp64, the truth.
        watched: called after every step of at most CHUNK_PATHS paths with its variates, None where
            the scheme draws its own, and with the six arrays of the state; or None.

    Raises:
        InputError: an argument outside its domain, or a scheme that the backend cannot run.

    Attributes:
        step: steps done.
        seconds: processor time spent in the kernels.
        lifts: whether the scheme takes variates, in any backend.
        carried: whether the state carries its rounding errors.
        fixed_point: the kernels used in fixed point, which have counted saturations.

    Precision: constants are computed in binary64 and rounded once; arrays have room for the widest
        format of a policy. Backends with random bits (stochastic rounding, noise) draw them from a
        stream of seed and first path, and from a new one after each stop, so that there the bits
        depend on blocks and stops, too.
    """

    def __init__(
        self, model, block, *, step_years, backend, scheme, seed,
        draws_per_step=1, mirrored=False, conditional=False, carried=True, watched=None,
    ):  # fmt: skip
        resolved = resolve_backend(backend)
        resolved.require_taken_by("Heston's model")
        path_scheme = scheme_named(scheme)
        self.model, self.block = model, block
        self.step, self.seconds = 0, 0.0
        self._key = seed_words(seed)
        self._scheme, self._backend = path_scheme, resolved
        self._carrier, self._carrier_of_draws = carrier_of(resolved), carrier_of_draws(resolved)
        draws = rounding_of_draws(resolved)
        self._draws = None if draws and draws.compute == BINARY32.compute else draws
        self._years, self.fixed_point = 0.0, []
        self._fixed = resolved.fixed and path_scheme.lifts
        self._stream = int(seed) * STREAM_STRIDE + block.first_path
        self._kernel = self._run = None
        self._set_step(step_years)
        self._arrays = state_arrays(model, step_years, block.n_paths, self._carrier)
        self.lifts = path_scheme.lifts
        if not self.lifts:
            _refuse_given(path_scheme, draws_per_step, conditional or mirrored)
        self._variates = variates_for(
            seed, block.first_path, draws_per_step=draws_per_step, mirrored=mirrored
        )
        self._across = not conditional
        self.carried, self._watched = carried or is_binary64(resolved), watched

    def begin_stretch(self, step_years):
        """Go on with steps of another length, and with both Brownian motions.

        Args:
            step_years: length of every time step from now on.

        Precision: the log spot is multiplied by a power of two, where the step's unit asks for it;
            its variance given the path of the variance is counted anew.
        """
        before = self._units.log_spot_unit
        self._set_step(step_years)
        for array in self._arrays[:2]:
            array *= array.dtype.type(before / self._units.log_spot_unit)
        for array in self._arrays[4:]:
            array[:] = 0.0
        self._across = True

    def _set_step(self, step_years):
        """Take over a step length: units, constants and room for the variates."""
        self.step_years = step_years
        self._units = Units.of(self.model, step_years)
        constants = self._scheme.constants(self.model, step_years, self._units)
        self._constants = np.asarray(constants, dtype=self._carrier)
        self._rows = 3 if self._scheme.exponential(self.model, step_years) else 2
        kernel = self._scheme.kernel_for(self.model, step_years)
        if kernel is not self._kernel and not self._fixed:
            stream = (self._stream + self.step * STEP_STRIDE) % 2**32
            self._run = _runnable(self._scheme, kernel, self._backend, stream)
        self._kernel = kernel
        size = CHUNK_STEPS * self._rows * CHUNK_PATHS
        self._room = self._fresh = np.empty(size, dtype=self._carrier)
        if self._carrier_of_draws != self._carrier:
            self._fresh = np.empty(size, dtype=self._carrier_of_draws)

    def in_binary64(self):
        """Return kernel and constants in binary64, the six arrays of the state, and the number of
        rows of variates that a step takes.
        """
        constants = self._scheme.constants(self.model, self.step_years, self._units)
        return self._kernel, constants, self._arrays, self._rows

    def advance(self, n_steps):
        """Advance all paths by n_steps steps."""
        if self._fixed:
            self._run = self._with_units(n_steps)
        start = time.thread_time()
        if self.lifts:
            self._advance_tiles(n_steps)
            steps_end()
        else:
            self._advance_on_own_draws(n_steps)
        self.seconds += time.thread_time() - start
        self.step += n_steps
        self._years += n_steps * self.step_years

    def _advance_on_own_draws(self, n_steps):
        """Advance all paths of a scheme that draws its own variates."""
        count = n_steps if self._watched is None else 1
        for step in range(self.step, self.step + n_steps, count):
            how = self.block.first_path, step, count, *self._key
            self._run(*how, self._constants, *self._arrays)
            if self._watched is not None:
                self._watched(None, self._arrays)

    def _with_units(self, n_steps):
        """The kernel in fixed point with units for n_steps more steps."""
        last = round(self._years / self.step_years) + n_steps
        kernel = fixed_kernel(self._scheme, self._backend, self.model, self.step_years, last)
        self.fixed_point.append(kernel)
        count_kernel(kernel)
        return kernel

    def _advance_tiles(self, n_steps):
        """Advance all paths, tile by tile: in one compiled loop where the kernel is called with
        nothing but its arguments, on Philox's variates.
        """
        width = CHUNK_PATHS * max(1, CHUNK_STEPS // n_steps)
        steps, key = (self.step, self.step + n_steps), self._key
        how = self._room, self._fresh, self._rows, width, self._across, self.block.first_path
        plain = not self._backend.random and not self._backend.fixed
        plain = plain and isinstance(self._run, Lifted) and self._draws is None
        plain = plain and self._watched is None
        if plain and self.carried and isinstance(self._variates, PhiloxVariates):
            advance_tiles(self._run, self._constants, self._arrays, *how, steps, key)
            return
        for column in range(0, self.block.n_paths, width):
            self._advance_tile(column, min(width, self.block.n_paths - column), n_steps)

    def _advance_tile(self, column, n_paths, n_steps):
        """Advance the paths from a column on, whose state and variates stay in the cache."""
        state = [array[column : column + n_paths] for array in self._arrays]
        most = self._room.size // (self._rows * n_paths)
        for step in range(self.step, self.step + n_steps, most):
            steps = min(most, self.step + n_steps - step)
            shape = steps, self._rows, n_paths
            draws, fresh = (a[: math.prod(shape)].reshape(shape) for a in (self._room, self._fresh))
            if not self._across:
                fresh[:, 1] = 0.0
            self._variates.fill(column, step, fresh, self._across)
            if self._draws is not None:
                fresh[...] = quantize(fresh, self._draws)
            if self._fresh is not self._room:
                draws[...] = fresh
            if self.carried and self._watched is None:
                step_begins(step + 1, inside=True)
                self._run(self._constants, draws, *state)
            else:
                self._advance_step_by_step(step, draws, state)

    def _advance_step_by_step(self, done, draws, state):
        """Advance, perhaps without residuals: value + (0 + change) is the plain addition."""
        for step in range(len(draws)):
            step_begins(done + step + 1)
            self._run(self._constants, draws[step : step + 1], *state)
            for carry in () if self.carried else state[1::2]:
                carry[:] = 0.0
            if self._watched is not None:
                self._watched(draws[step], state)

    def log_ratio(self):
        """Return log(S_t / F_t) with its carried rounding error, binary64, shape (n_paths,)."""
        return _total(*self._arrays[:2]) * self._units.log_spot_unit

    def variance(self):
        """Return the variances per year, with their carried rounding errors, binary64."""
        return _total(*self._arrays[2:4]) * self._units.variance_unit

    def integrated_variance(self):
        """Return the scheme's integral of the variance over time up to now, binary64."""
        return _total(*self._arrays[4:]) * (self._units.variance_unit * self.step_years)

    def conditional_variance(self):
        """Return the variance of log(S_t / F_t) given the path of the variance, binary64.

        (1 - rho^2) times the integral of the variance: what the Brownian motion that is
        independent of the variance adds, exact for the scheme, not only for the model.
        """
        return (1 - self.model.rho**2) * self.integrated_variance()


def _runnable(path_scheme, kernel, backend, stream):
    """Return a scheme's kernel in a backend, or say that it knows binary64 only.

    Raises:
        InputError: a scheme that does not lift with a backend other than fp64.
    """
    if path_scheme.lifts:
        return lifted(kernel, backend, stream)
    if backend != resolve_backend("fp64"):
        raise InputError(
            f"scheme {path_scheme.name!r} was given backend {backend.name!r}; accepted: 'fp64': "
            "it is a truth for the other schemes, whose paths run in any backend"
        )
    return kernel


def _refuse_given(path_scheme, draws_per_step, conditional):
    """Say that a scheme that draws its own variates cannot be told which ones to use.

    Raises:
        InputError: anything but the defaults.
    """
    reasons = [("conditional or mirrored paths", conditional)]
    reasons.append((f"draws_per_step {draws_per_step!r}", draws_per_step != 1))
    for name, wrong in reasons:
        if wrong:
            raise InputError(
                f"scheme {path_scheme.name!r} was given {name}; accepted: the other schemes, "
                "which take two words for each step"
            )


def lifted(function, backend, stream=0):
    """Return a kernel lifted to a backend; a fresh one where random bits count the calls.

    Args:
        function: a kernel.
        backend: a Backend.
        stream: integer in [0, 2**32), the seed of the backend's own random bits.
    """
    if backend.random:
        return lift(function, backend, seed=stream)
    return kept_kernel(_lifted_once(function, backend))


@functools.lru_cache(maxsize=64)
def _lifted_once(function, backend):
    """Return a kernel lifted to a backend without random bits, once per process."""
    return lift(function, backend)


def _total(value, carry):
    """Return value + carry in binary64."""
    with np.errstate(invalid="ignore"):  # infinity - infinity, counted as a nonfinite path
        return value.astype(np.float64) + carry.astype(np.float64)


@kept(error_model="numpy", nogil=True)
def _advance(
    fill, run, constants, arrays, room, drawn, rows, width, across, first_path, steps, key
):  # fmt: skip
    """Advance a block of paths; see `advance_tiles`."""
    paths = arrays[0].shape[0]
    log_spot, log_spot_carry, variance, variance_carry, integral, integral_carry = arrays
    for first in range(0, paths, width):
        size = min(paths - first, width)
        words = np.empty((4, size), np.uint32)
        most = room.size // (rows * size)
        for step in range(steps[0], steps[1], most):
            count = min(most, steps[1] - step)
            fresh = part_at(drawn, 0, (count, rows, size))
            if not across:
                for i in range(count):
                    for j in range(size):
                        fresh[i, 1, j] = 0.0
            call_at(fill, (first_path + first, step, key[0], key[1], across, words, fresh))
            if drawn.itemsize != room.itemsize:
                for i in range(count * rows * size):
                    room[i] = drawn[i]
            tile = (
                constants, part_at(room, 0, (count, rows, size)),
                part_at(log_spot, first, (size,)), part_at(log_spot_carry, first, (size,)),
                part_at(variance, first, (size,)), part_at(variance_carry, first, (size,)),
                part_at(integral, first, (size,)), part_at(integral_carry, first, (size,)),
            )  # fmt: skip
            call_at(run, tile)


def advance_tiles(
    kernel, constants, arrays, room, made, rows, width, across, first_path, steps, key
):  # fmt: skip
    """Advance a block of paths on Philox's variates.

    Args:
        kernel: the scheme's, lifted to an arithmetic without random bits or units.
        constants: the kernel's.
        arrays: the six of the state, shape (paths,) each, changed.
        room: for the variates of a tile, in the type of the state.
        made: room for them in the type that they are made in; `room` where that is the same.
        rows: of variates of a step, 2 or 3.
        width: most paths of a tile.
        across: whether row 1 of the variates is wanted; it is zero otherwise.
        first_path: the number of the first path.
        steps: the first one, and the one after the last.
        key: see sciprec.precision.streams.seed_words.
    """
    fill, run = _addresses(kernel, room.dtype, made.dtype)
    how = room, made, rows, width, across, first_path, steps, key
    _advance(fill, run, constants, arrays, *how)


@functools.lru_cache(maxsize=64)
def _addresses(kernel, dtype, dtype_of_draws):
    """Return where the compiled source of variates and a compiled path kernel are, for types."""
    column, draws = np.empty(1, dtype), np.empty((1, 2, 1), dtype)
    drawn = np.empty((1, 2, 1), dtype_of_draws)
    arguments = 0, 0, 0, 0, True, np.empty((4, 1), np.uint32), drawn
    run = kernel.address(column, draws, *[column] * 6)
    return address_of(philox_variates, arguments), run
