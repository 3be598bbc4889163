"""A model whose places have scales: its kernels compiled once, whatever the scales are.

Kernels of the equations read the range of each operation from a table; those of the state's updates
do so for each variable in turn, and the transforms multiply and divide. All runs on one thread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from sciprec.arrays.aligned import Pool
from sciprec.arrays.quantization import quantize
from sciprec.climate.constants import SECONDS_PER_DAY
from sciprec.climate.equations.registry import Conversion
from sciprec.climate.running.lifted_model import LiftedModel
from sciprec.climate.running.request import Request
from sciprec.climate.stages.policies import CLIMATE_STAGES
from sciprec.climate.stages.scaled_transform import ScaledTransform
from sciprec.climate.stages.scales import (
    HEADROOM,
    REST,
    SCALED_STAGES,
    STATE,
    ScaledPlace,
    Scales,
    SizeNotes,
)
from sciprec.climate.stepping.schemes import STEP_KERNELS
from sciprec.climate.stepping.stored import StoredState
from sciprec.instruments.assigning.origins import own_place
from sciprec.instruments.assigning.scaled import Scalable, largest_of, scalable, spread_of
from sciprec.instruments.assigning.scaling import (
    DYNAMIC,
    KEPT,
    ScaledBackend,
    shifted,
    without_range,
)
from sciprec.precision import Backend
from sciprec.precision.formats.backend import uniform_backend

PROFILE_DAYS = 1.0
"""Length of the run whose numbers scales are made for, whatever the length of the run is."""
_STATE = "state"
_SHOWN_CHANGES = 100
_NONE = 0, 0, 0
"""Numbers of a profile that has broken down before they were counted."""


class ScaledModel(LiftedModel):
    """The kernels of a request whose arithmetic is a `ScaledBackend`, its places with scales.

    Attributes:
        scales: of the places; there are none until `find_scales`.
        profile: how large numbers were in the profile, and their counts in its last step.
        profile_days: how long it was.
        unscaled: the name of the arithmetic without scales.
    """

    def __init__(self, request: Request, convert: Conversion) -> None:
        backend = request.backend
        assert isinstance(backend, ScaledBackend)
        self.scales = Scales(backend.compute, backend.scaling)
        self.profile, self.unscaled = SizeNotes(), backend.unscaled
        self.profile_days = PROFILE_DAYS
        wide = without_range(backend.compute)
        super().__init__(replace(request, backend=wide, stored=StoredState(wide)), convert)
        for name in self.groups():
            self.scales.register((_STATE, name), [STATE], ["state"])
        self.lifted = [self.scales]

    def team(self, threads: int) -> None:
        """One thread makes the steps."""

    def _takes_blocks(self) -> bool:
        """False: the three kernels are called one by one, for all fields."""
        return False

    def find_scales(self, state: np.ndarray) -> None:
        """Give every place its scale, by a profile that begins with a state (coefficients, columns)
        in binary64. One that breaks down, or whose numbers grow so much that nothing is left of
        that state at their scales, counts for its first step alone.
        """
        notes = self.scales.notes = first = SizeNotes()
        steps = max(1, round(PROFILE_DAYS * SECONDS_PER_DAY / self.request.step_seconds))
        finite = True
        levels = [self.steps.system.addition.level(super().stored(state))]
        self._note_state(levels[0].values)
        for step in range(steps):
            notes.counting = step == steps - 1
            self.steps.advance(levels, step, 1)
            self._note_state(levels[0].values)
            first = first if step else SizeNotes(largest=dict(notes.largest))
            finite = bool(np.isfinite(levels[0].values).all())
            if not finite:
                break
        self.profile, self.scales.notes = notes, None
        self.scales.fit(notes)
        if not finite or self._loses(state):
            self.profile = first
            self.profile_days = self.request.step_seconds / SECONDS_PER_DAY
            self.scales.fit(first)

    def noted_step(self, levels: list) -> SizeNotes:
        """Sizes of numbers in a step of levels, which change, without any range."""
        notes = self.scales.notes = SizeNotes()
        self._note_state(levels[0].values)
        self.steps.step(levels)
        self._note_state(levels[0].values)
        self.scales.notes = None
        return notes

    def report(self) -> dict[str, Any]:
        """The scales and what has changed them, as plain data."""
        scales, scaling = self.scales, self.scales.scaling
        clipped, exponents = scales.clipped(self.profile), scales.by_stage()
        stages = [
            {"stage": stage, "sites": sum(exponents[stage].values()),
             "least": min(exponents[stage]), "greatest": max(exponents[stage]),
             **dict(zip(("numbers", "subnormal", "zero"), clipped.get(stage, _NONE), strict=True))}
            for stage in SCALED_STAGES if stage in exponents
        ]  # fmt: skip
        changes = [change for _, change, _ in scales.history]
        return {
            "arithmetic": self.unscaled,
            "mode": scaling.mode, "small": scaling.small, "times": scaling.times,
            "headroom": HEADROOM, "profile_days": self.profile_days, "by_hand": dict(scaling.given),
            "stages": stages, "sites": [list(site) for site in scales.sites()],
            "repeated": changes.count(-1), "doubled": changes.count(1),
            "history": [list(change) for change in scales.history[-_SHOWN_CHANGES:]],
        }  # fmt: skip

    def stored(self, state: np.ndarray) -> np.ndarray:
        """A state (coefficients, columns) in the range of its variables, flat; dynamic scales are
        halved where it has no room.
        """
        scales, states = self.scales, super().stored(state).reshape(self.shape)
        for name, columns in self.groups().items():
            place, values = (_STATE, name), states[:, columns].copy()
            while True:
                (k,) = scales.of(place).tolist()
                scale = shifted(scales.arithmetic, k, scales.scaling.small)
                states[:, columns] = quantize(values, uniform_backend("state", scale))
                if scales.scaling.mode != DYNAMIC or np.isfinite(states[:, columns]).all():
                    break
                if not scales.change(0, -1, {place: np.array([True])}):
                    break
        return states.reshape(-1)

    def _loses(self, state: np.ndarray) -> bool:
        """Whether nothing is left of a state (coefficients, columns) at the scales in force."""
        groups, fmt = self.groups(), self.scales.arithmetic.format
        sizes = {name: np.abs(state[:, columns]).max() for name, columns in groups.items()}
        if self.scales.scaling.small == KEPT or not any(sizes.values()):
            return False
        least = 0.5 * fmt.min_positive
        return all(
            np.ldexp(size, self.scales.of((_STATE, name))[0]) <= least
            for name, size in sizes.items()
        )

    def _note_state(self, values: np.ndarray) -> None:
        assert self.scales.notes is not None
        for name, columns in self.groups().items():
            part = values.reshape(self.shape)[:, columns]
            self.scales.notes.note((_STATE, name), np.array([np.abs(part).max()]))
            self.scales.notes.count((_STATE, name), [part])

    def _as_arguments(self, constants: tuple) -> tuple:
        """Constants in the format; each array has a scale of its own, which is known."""
        if isinstance(constants, tuple):
            return tuple(map(self._as_arguments, constants))
        result = super()._as_arguments(constants)
        if result.dtype.kind in "iu" or self.scales.scaling.small != "clipped":
            return result
        fmt = self.scales.arithmetic.format
        largest = np.abs(result).max(initial=0.0) or 1.0
        scale = shifted(self.scales.arithmetic, fmt.emax - int(np.frexp(largest)[1]))
        result[...] = quantize(result, uniform_backend("constants", scale))
        return result

    def _lift(self, kernel: Callable, backend: Backend | None = None) -> Callable:
        if kernel in STEP_KERNELS.values():
            return self._of_variables(scalable(kernel))
        return self._placed(scalable(kernel), "")

    def _placed(self, kernel: Scalable, variable: str) -> _ScaledKernel:
        place = kernel.kernel.__name__, variable
        origins = [own_place(kernel.program, row) for row in kernel.rows]
        stages = [_stage(kernel, n) for n in range(len(origins))]
        self.scales.register(place, stages, [origin.source for origin in origins])
        return _ScaledKernel(kernel, place, self.scales)

    def _of_variables(self, kernel: Scalable) -> Callable:
        """A kernel of flat states, called for the columns of each variable in turn."""
        groups = self.groups()
        calls = [(self._placed(kernel, name), columns) for name, columns in groups.items()]
        columns, size = self.shape[1], self.shape[0] * self.shape[1]
        in_format, pool = lru_cache(lambda x: float(quantize(x, self.backend))), Pool()

        def called(*args) -> None:
            arguments = [in_format(a) if isinstance(a, float) else a for a in args]
            pool.reset()
            for call, own_columns in calls:
                parts: dict[int, tuple[np.ndarray, np.ndarray]] = {}
                for a in arguments:
                    if isinstance(a, np.ndarray) and a.shape[-1] == size and id(a) not in parts:
                        view = a.reshape(*a.shape[:-1], -1, columns)[..., own_columns]
                        part = pool.array(view.shape, view.dtype)
                        part[...] = view
                        parts[id(a)] = view, part
                call(*(
                    parts[id(a)][1].reshape(*a.shape[:-1], -1) if id(a) in parts else a
                    for a in arguments
                ))  # fmt: skip
                for view, part in parts.values():
                    view[...] = part

        return called

    def _tendency(self) -> Callable:
        request, nlon = self.request, self.request.truncation.nlon
        first, second, third = (self._lift(kernel) for kernel in request.equations.kernels)
        counts = self.convert.transformed
        transform = ScaledTransform(request.truncation, self.scales, *counts)
        spectra, fields, products, coefficients, _, products_work, _, _ = self.work

        def tendency(state: np.ndarray, out: np.ndarray, *rest) -> None:
            first(state, self.constants, spectra)
            transform.to_grid(spectra, fields)
            second(fields, self.constants, products_work, products)
            transform.to_spectrum(products[:, :nlon], coefficients)
            third(state, coefficients, self.constants, out)

        return tendency


class _ScaledKernel:
    """A kernel in its place: with the scales in force, or noting sizes.

    Args:
        kernel: whose places take scales.
        place: what the scales know it by.
        scales: of the model.
    """

    def __init__(self, kernel: Scalable, place: ScaledPlace, scales: Scales) -> None:
        self._kernel, self._place, self._scales = kernel, place, scales
        self._table, self._version = np.empty(0), -1

    def __call__(self, *args) -> None:
        """Run the kernel."""
        scales, kernel = self._scales, self._kernel
        if scales.notes is not None:
            rows = kernel.new_notes(scales.arithmetic)
            kernel.note(rows, *args)
            scales.notes.note(self._place, largest_of(rows))
            scales.notes.count_rows(self._place, spread_of(rows))
            return
        if self._version != scales.version:
            k = scales.of(self._place).tolist()
            self._table = kernel.table(scales.arithmetic, k, scales.scaling.small)
            self._version = scales.version
        kernel.run(self._table, *args)


def _stage(kernel: Scalable, number: int) -> str:
    """The stage of a model that a row of a kernel is part of."""
    program, row = kernel.program, kernel.rows[number]
    origin = own_place(program, row)
    for stage in CLIMATE_STAGES:
        if any(place.holds(program, row, origin) for place in stage.as_places):
            return stage.name
    return REST
