"""The lifted kernels of a request, and what makes steps with them: one thread, or several."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sciprec.climate.constants import Units
from sciprec.climate.equations.registry import Conversion, columns_of
from sciprec.climate.equations.share import Share
from sciprec.climate.equations.tendency import (
    in_one_kernel,
    make_tendency_work,
    staged_tendency,
    work_of_share,
)
from sciprec.climate.running.request import Request
from sciprec.climate.running.team import Member, Shared, Steps, Team
from sciprec.climate.stages.staged_transform import StagedTransform
from sciprec.climate.stepping.diffusion import damping, diffusion_rate
from sciprec.climate.stepping.levels import LEVEL_KERNELS, addition
from sciprec.climate.stepping.schemes import STEP_KERNELS, WORK_ARRAYS, System
from sciprec.climate.transform.aligned import aligned_zeros
from sciprec.climate.transform.compiled import compiled, staged
from sciprec.climate.transform.spectral import make_tables, reference_transform, rounded
from sciprec.precision import Backend
from sciprec.precision.operations.meeting import new_counters


def conversion_of(request: Request, initial) -> Conversion:
    """The way between SI fields and the state, for the case's planet and the scheme's step."""
    units = Units(request.step_seconds, request.case.radius_m)
    return request.equations.conversion.of(
        initial,
        reference_transform(request.truncation),
        units,
        request.scheme.implicit_share * units.step,
        **request.parameters.equations,
    )


class Model:
    """The lifted kernels of a request with their constants, tables and work arrays.

    Attributes:
        columns: name of the variable of each column of the state.
        steps: what makes steps of a whole state.
        lifted: all lifted kernels.
    """

    def __init__(self, request: Request, convert: Conversion) -> None:
        self.request, self.backend, self.convert = request, request.backend, convert
        layout = request.equations.layout(request.parameters.equations)
        self.columns = columns_of(layout)
        self.shape = convert.transform.degree.size, self.columns.size
        self.constants = rounded(convert.constants, self.backend)
        self.tables = rounded(make_tables(request.truncation), self.backend)
        self.work = make_tendency_work(request.equations, convert, self.backend.carrier)
        self.lifted: list = []
        system = self._system(convert)
        self.steps = Steps(request.scheme, system, self._adjust())

    def team(self, threads: int) -> Team | None:
        """The threads that make steps together; None where one makes them alone."""
        request = self.request
        memory = any(each.random or each.fixed for each in (request.backend, request.update))
        if threads == 1 or memory or request.stages is not None:
            return None
        whole, out = (aligned_zeros(self.shape, request.update.carrier) for _ in range(2))
        shared = Shared(whole, out, new_counters(), threads)
        shares = [Share(request.truncation, part, threads) for part in range(threads)]
        if request.equations.share is None:
            shares = [replace(share, kernels=share.part == 0) for share in shares]
        members = [self._member(share, shared) for share in shares]
        return Team(members, [self._steps_of(member) for member in members])

    def _member(self, share: Share, shared: Shared) -> Member:
        """One thread: the tendency with its own constants and work."""
        equations, tables = self.request.equations, self.tables
        work = work_of_share(self.work, equations, self.convert, share, self.backend.carrier)
        rest = self._constants_of(share), tables, (*work[:-1], shared.counters)
        own = self.steps.system.work
        return Member(share, shared, lambda x, out: self._slope(x, out, *rest), own)

    def _constants_of(self, share: Share) -> tuple:
        """The constants, with the share of a thread."""
        place = self.request.equations.share
        if place is None:
            return self.constants
        return *self.constants[:place], share.array, *self.constants[place + 1 :]

    def _steps_of(self, member: Member) -> Steps:
        """What makes the steps of a thread."""
        whole, constants = self.steps.system, self._constants_of(member.share)
        by_share = self.request.equations.share is not None
        split = member.of_own_rows if by_share else member.by_one
        linear, solve = (
            split(lambda x, out, kernel=kernel: kernel(x, constants, out))
            for kernel in (self._linear, self._solve)
        )
        system = replace(
            whole, addition=member.addition(whole.addition), tendency=member.slope, linear=linear,
            solve=solve, work=whole.work[:, member.elements],
        )  # fmt: skip
        adjust = self.steps.adjust and member.changed_by_one(self.steps.adjust)
        return Steps(self.request.scheme, system, adjust)

    def _system(self, convert: Conversion) -> System:
        request, equations, shape = self.request, self.request.equations, self.shape
        kernels = {
            name: self._lift(k, request.update if name in LEVEL_KERNELS else self.backend)
            for name, k in STEP_KERNELS.items()
        }
        self._linear, self._solve = (self._lift(k) for k in (equations.linear, equations.solve))
        self._slope = self._tendency()
        linear, solve, slope = self._linear, self._solve, self._slope
        constants, rest = self.constants, (self.constants, self.tables, self.work)
        degree = convert.transform.degree
        rate = diffusion_rate(degree, request.case.radius_m, request.parameters.diffusion)
        diffused = ~np.isin(self.columns, equations.undiffused)
        taken = rounded(damping(rate, request.step_seconds, diffused), self.backend)
        return System(
            step=convert.units.step,
            step_seconds=request.step_seconds,
            filter=request.parameters.filter,
            addition=addition(kernels, taken, request.compensation, self.columns, self.backend),
            tendency=lambda x, out: slope(x.reshape(shape), out.reshape(shape), *rest),
            linear=lambda x, out: linear(x.reshape(shape), constants, out.reshape(shape)),
            solve=lambda x, out: solve(x.reshape(shape), constants, out.reshape(shape)),
            kernels=kernels,
            work=aligned_zeros((WORK_ARRAYS, shape[0] * shape[1]), self.backend.carrier),
            tables=rounded(request.scheme.tables, self.backend),
        )

    def _tendency(self) -> Callable:
        """The function (state, out, constants, tables, work) of the right-hand side; state and out
        are (coefficients, columns).
        """
        request = self.request
        if request.stages is None:
            return self._lift(_tendency(request))
        transform = StagedTransform(request.truncation, request.stages, self.backend)
        kernels = [self._lift(kernel) for kernel in request.equations.kernels]
        tendency = staged_tendency(kernels, self.constants, self.work, transform)
        return lambda x, out, *rest: tendency(x, out)

    def _adjust(self) -> Callable | None:
        if self.request.equations.adjust is None:
            return None
        adjust, rest = self._lift(self.request.equations.adjust), (self.tables, self.work)
        return lambda x: adjust(x.reshape(self.shape), self.constants, *rest)

    def _lift(self, kernel: Callable, backend: Backend | None = None):
        self.lifted.append(compiled(kernel, backend or self.backend))
        return self.lifted[-1]


def _tendency(request: Request) -> Callable:
    """The tendency kernel with the Fourier stage and the sums that are asked for."""
    sums = any(compensation.sums for compensation in request.compensation.values())
    return staged(in_one_kernel(*request.equations.kernels), request.parameters.fourier, sums)
