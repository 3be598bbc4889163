"""The lifted kernels of a request, and what makes steps with them: one thread, or several."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sciprec.arrays.aligned import Pool, aligned_zeros
from sciprec.arrays.quantization import rounding_into
from sciprec.climate.constants import ModelUnits
from sciprec.climate.equations.registry import Conversion, columns_of
from sciprec.climate.equations.share import Share
from sciprec.climate.equations.tendency import (
    in_one_kernel,
    make_tendency_work,
    staged_tendency,
    work_of_share,
)
from sciprec.climate.equations.tracer_blocks import (
    carries_in_blocks,
    in_one_kernel_with_blocks,
    make_blocked_work,
    with_block_work,
)
from sciprec.climate.running.held_forcing import HeldForcing
from sciprec.climate.running.request import Request
from sciprec.climate.running.team import Shared, StepMaker, Team, TeamThread
from sciprec.climate.stages.staged_transform import StagedTransform
from sciprec.climate.stepping.diffusion import damping, diffusion_rate
from sciprec.climate.stepping.levels import LEVEL_KERNELS, addition
from sciprec.climate.stepping.schemes import STEP_KERNELS, WORK_ARRAYS, System
from sciprec.climate.stepping.stored import rounding_after
from sciprec.climate.transform.compiled import compiled, staged
from sciprec.climate.transform.spectral import (
    reference_transform,
    round_into,
    rounded,
    tables_in,
)
from sciprec.precision import Backend
from sciprec.precision.operations.meeting import new_counters


def conversion_of(request: Request, initial) -> Conversion:
    """The way between SI fields and the state, for the case's planet and the scheme's step."""
    units = ModelUnits(request.step_seconds, request.case.radius_m)
    return request.equations.conversion.of(
        initial,
        reference_transform(request.truncation),
        units,
        request.scheme.implicit_share * units.step,
        **request.parameters.equations,
    )


class LiftedModel:
    """The lifted kernels of a request with their constants, tables and work arrays.

    Attributes:
        columns: name of the variable of each column of the state.
        steps: what makes steps of a whole state.
        lifted: all lifted kernels.
        in_blocks: whether tracers go through the transforms in blocks.
        matrix_units: what matrix units of its transforms keep and do, as plain data, or None.
    """

    matrix_units: dict | None = None

    def __init__(self, request: Request, convert: Conversion) -> None:
        self.request, self.backend, self.convert = request, request.backend, convert
        layout = request.equations.layout(request.parameters.equations)
        self.columns = columns_of(layout)
        self.shape = convert.transform.degree.size, self.columns.size
        self.constants = self._as_arguments(convert.constants)
        self.tables = tables_in(request.truncation, self.backend, _compensates_sums(request))
        self.in_blocks = self._takes_blocks()
        make_work = make_blocked_work if self.in_blocks else make_tendency_work
        self.work = make_work(request.equations, convert, self.backend.carrier)
        self.forcing = None
        if request.forcing is not None:
            self.forcing = HeldForcing(request, convert, self.backend)
            self.work = self.forcing.within(self.work)
        self.lifted: list = []
        self._by_scale = self._rounding_by_scale()
        system = self._system(convert)
        self.steps = StepMaker(request.scheme, system, self._adjust(), forcing=self.forcing)

    def team(self, threads: int) -> Team | None:
        """The threads that make steps together; None where one makes them alone."""
        request = self.request
        memory = any(each.random or each.fixed for each in (request.backend, request.update))
        whole_states = request.stored.is_master or self._by_scale is not None
        if threads == 1 or memory or whole_states or request.stages is not None:
            return None
        state, out = (aligned_zeros(self.shape, request.update.carrier) for _ in range(2))
        shared = Shared(state, out, new_counters(), threads)
        shares = [Share(request.truncation, part, threads) for part in range(threads)]
        if request.equations.share is None:
            shares = [replace(share, kernels=share.part == 0) for share in shares]
        members = [self._member(share, shared) for share in shares]
        return Team(members, [self._steps_of(member) for member in members])

    def _member(self, share: Share, shared: Shared) -> TeamThread:
        """One thread: the tendency with its own constants and work."""
        equations, tables = self.request.equations, self.tables
        carrier = self.backend.carrier
        work = work_of_share(self.work, equations, self.convert, share, carrier)
        if self.in_blocks:
            work = with_block_work(work, self.convert, carrier)
        if self.forcing is not None:
            work = self.forcing.within(work)
        rest = self._constants_of(share), tables, (*work[:-1], shared.counters)
        room = self.steps.system.work
        slope = self._evaluating(self._slope) if share.kernels else self._slope
        return TeamThread(share, shared, lambda x, out: slope(x, out, *rest), room)

    def _takes_blocks(self) -> bool:
        """Whether the tendency takes tracers in blocks."""
        request = self.request
        names, forcing = [tracer.name for tracer in request.tracers], request.forcing
        forced = () if forcing is None else (*forcing.used(0, names), *forcing.used(-1, names))
        return request.stages is None and carries_in_blocks(self.convert, self.backend, forced)

    def _constants_of(self, share: Share) -> tuple:
        """The constants, with the share of a thread."""
        place = self.request.equations.share
        if place is None:
            return self.constants
        return *self.constants[:place], share.array, *self.constants[place + 1 :]

    def _steps_of(self, member: TeamThread) -> StepMaker:
        """The steps of one thread."""
        base, constants = self.steps.system, self._constants_of(member.share)
        by_share = self.request.equations.share is not None
        split = member.of_own_rows if by_share else member.by_one
        linear, solve = (
            split(lambda x, out, kernel=kernel: kernel(x, constants, out))
            for kernel in (self._linear, self._solve)
        )
        system = replace(
            base, addition=member.addition(base.addition), tendency=member.slope, linear=linear,
            solve=solve, work=base.work[:, member.elements],
        )  # fmt: skip
        adjust = self.steps.adjust and member.changed_by_one(self.steps.adjust)
        forcing = self.forcing if member.share.kernels else None
        return StepMaker(self.request.scheme, system, adjust, forcing=forcing)

    def stored(self, state: np.ndarray) -> np.ndarray:
        """A state (coefficients, columns) as it is kept between steps, flat."""
        states = rounded(state.ravel(), self.request.stored.initial)
        states = states.astype(self.request.update.carrier)
        if self._by_scale is not None:
            self._by_scale(states)
        return states

    def groups(self) -> dict[str, slice]:
        """Variable -> its columns of the state."""
        names = self.columns.tolist()
        return {n: slice(names.index(n), names.index(n) + names.count(n)) for n in names}

    def _as_arguments(self, constants: tuple) -> tuple:
        """Constants as kernels are given them."""
        return rounded(constants, self.backend)

    def _rounding_by_scale(self) -> Callable[[np.ndarray], None] | None:
        """The function that rounds a state where scales have formats of their own."""
        if self.request.stored.scales is None:
            return None
        degree, columns = self.convert.transform.degree, self.columns.size
        return self.request.stored.rounding(degree, columns)

    def _system(self, convert: Conversion) -> System:
        request, equations, shape = self.request, self.request.equations, self.shape
        is_master, update = request.stored.is_master, request.update
        arithmetic = update if is_master else self.backend
        kernels: dict[str, Callable] = {
            name: self._lift(k, update if name in LEVEL_KERNELS else arithmetic)
            for name, k in STEP_KERNELS.items()
        }
        if self._by_scale is not None:
            kernels = rounding_after(kernels, self._by_scale)
        self._linear, self._solve = (
            self._lift(k, arithmetic) for k in (equations.linear, equations.solve)
        )
        self._slope = self._tendency()
        linear, solve, slope = self._linear, self._solve, self._evaluating(self._slope)
        rest = self.constants, self.tables, self.work
        constants = rounded(convert.constants, arithmetic) if is_master else self.constants
        degree = convert.transform.degree
        rate = diffusion_rate(degree, request.case.radius_m, request.parameters.diffusion)
        diffused = ~np.isin(self.columns, equations.undiffused)
        factors = rounded(damping(rate, request.step_seconds, diffused), arithmetic)
        plain, narrowed = self._as_they_are, self._narrowed if is_master else self._as_they_are
        return System(
            step=convert.units.step,
            step_seconds=request.step_seconds,
            filter=request.parameters.filter,
            addition=addition(kernels, factors, request.compensation, self.columns, arithmetic),
            tendency=narrowed(lambda x, out: slope(x, out, *rest)),
            linear=plain(lambda x, out: linear(x, constants, out)),
            solve=plain(lambda x, out: solve(x, constants, out)),
            kernels=kernels,
            work=aligned_zeros((WORK_ARRAYS, shape[0] * shape[1]), arithmetic.carrier),
            tables=rounded(request.scheme.tables, arithmetic),
        )

    def _evaluating(self, slope: Callable) -> Callable:
        """A tendency after which the forcing of the step is known; itself without one."""
        forcing = self.forcing
        if forcing is None:
            return slope

        def function(*args) -> None:
            slope(*args)
            forcing.evaluated()

        return function

    def _as_they_are(self, kernel: Callable) -> Callable:
        """The function (values, out) of flat arrays that a kernel of states is."""
        return lambda x, out: kernel(x.reshape(self.shape), out.reshape(self.shape))

    def _narrowed(self, kernel: Callable) -> Callable:
        """A function of values in a master's format, by a kernel that takes them in its own."""
        narrow_x, narrow_out = (aligned_zeros(self.shape, self.backend.carrier) for _ in range(2))
        flat, of_flat = narrow_x.reshape(-1), narrow_out.reshape(-1)
        if self.backend.random:  # bits of its own in every call
            pool = Pool()

            def narrow(values: np.ndarray, flat: np.ndarray) -> None:
                pool.reset()
                round_into(values, self.backend, flat, pool)
        else:
            narrow = rounding_into(self.backend)

        def state_narrowed(values: np.ndarray, out: np.ndarray) -> None:
            narrow(values, flat)
            kernel(narrow_x, narrow_out)
            out[:] = of_flat

        return state_narrowed

    def _tendency(self) -> Callable:
        """The function (state, out, constants, tables, work) of the right-hand side; state and out
        are (coefficients, columns).
        """
        request = self.request
        if request.stages is None:
            return self._lift(_tendency(request, self.in_blocks))
        transform = StagedTransform(request.truncation, request.stages, self.backend)
        if units := transform.report():
            fields = self.convert.transformed
            self.matrix_units = {"units": units, "fields": list(fields)}
        kernels = [self._lift(kernel) for kernel in request.equations.kernels]
        tendency = staged_tendency(kernels, self.constants, self.work, transform)
        return lambda x, out, *rest: tendency(x, out)

    def _adjust(self) -> Callable | None:
        if self.request.equations.adjust is None:
            return None
        if self.request.stored.is_master:
            return self._adjust_of_master()
        adjust, rest = self._lift(self.request.equations.adjust), (self.tables, self.work)

        def adjusted(x: np.ndarray) -> None:
            adjust(x.reshape(self.shape), self.constants, *rest)
            if self._by_scale is not None:
                self._by_scale(x)

        return adjusted

    def _adjust_of_master(self) -> Callable:
        """The function that adjusts each new state, in the arithmetic of the master copy."""
        request, update = self.request, self.request.update
        adjust = self._lift(request.equations.adjust, update)
        rest = (
            rounded(self.convert.constants, update),
            tables_in(request.truncation, update, _compensates_sums(request)),
            make_tendency_work(request.equations, self.convert, update.carrier),
        )  # fmt: skip

        def adjusted(x: np.ndarray) -> None:
            adjust(x.reshape(self.shape), *rest)
            if self._by_scale is not None:
                self._by_scale(x)

        return adjusted

    def _lift(self, kernel: Callable, backend: Backend | None = None):
        self.lifted.append(compiled(kernel, backend or self.backend))
        return self.lifted[-1]


def _tendency(request: Request, in_blocks: bool) -> Callable:
    """The tendency kernel with the Fourier stage and the sums that are asked for."""
    in_one = in_one_kernel_with_blocks if in_blocks else in_one_kernel
    kernel = in_one(*request.equations.kernels)
    return staged(kernel, request.parameters.fourier, _compensates_sums(request))


def _compensates_sums(request: Request) -> bool:
    return any(compensation.sums for compensation in request.compensation.values())
