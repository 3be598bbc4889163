"""A model whose places have scales in a short format: in binary32, at the speed of the format.

Bits are those of `scaled_model`, which finds the scales and notes how large numbers are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from sciprec.arrays.aligned import aligned_copy
from sciprec.arrays.quantization import quantize
from sciprec.climate.running.lifted_model import LiftedModel
from sciprec.climate.running.scaled_model import ScaledModel
from sciprec.climate.stages.scaled_tendency import MOST_FIELDS, ScaledTendency
from sciprec.climate.stages.scales import Place, Scales, SizeNotes
from sciprec.climate.stepping.schemes import STEP_KERNELS
from sciprec.climate.stepping.stored import StoredState
from sciprec.instruments.assigning import scaled_in_format as in_format
from sciprec.instruments.assigning.scaled import ScalableInFormat, scalable
from sciprec.instruments.assigning.scaling import CLIPPED
from sciprec.precision import Backend


def model_in_binary32(noting: ScaledModel) -> ScaledInFormatModel | None:
    """The model that makes the steps of another one with scales; None where binary32 does not hold
    all of its numbers.
    """
    scales, convert = noting.scales, noting.convert
    if scales.scaling.small != CLIPPED or not in_format.serves(scales.arithmetic):
        return None
    kernels = *noting.request.equations.kernels, *STEP_KERNELS.values()
    served = all(scalable(kernel).in_format(scales.arithmetic) for kernel in kernels)
    if not served or max(convert.transformed) > MOST_FIELDS or not _alike(noting.constants):
        return None
    noting_model = ScaledInFormatModel(noting)
    target, source = noting_model.steps.system, noting.steps.system
    pairs = list(zip(target.tables, source.tables, strict=True))
    pairs.append((target.addition.damping, source.addition.damping))
    if target.addition.shares is not None:
        pairs.append((target.addition.shares, source.addition.shares))
    return noting_model if all(np.array_equal(first, other) for first, other in pairs) else None


class ScaledInFormatModel(LiftedModel):
    """The kernels of a request whose arithmetic is a `ScaledBackend`, on binary32 variables.

    Args:
        noting: the model whose scales these are.

    Attributes:
        scales: of the places.
    """

    def __init__(self, noting: ScaledModel) -> None:
        self._noting, self.scales = noting, noting.scales
        wide = in_format.backend(self.scales.arithmetic)
        request = replace(noting.request, backend=wide, stored=StoredState(wide))
        super().__init__(request, noting.convert)
        self.lifted = [self.scales]

    @property
    def profile(self) -> SizeNotes:
        """Sizes of numbers in the profile."""
        return self._noting.profile

    def team(self, threads: int) -> None:
        """One thread makes the steps."""

    def report(self) -> dict[str, Any]:
        """The scales and what has changed them, as plain data."""
        return self._noting.report()

    def stored(self, state: np.ndarray) -> np.ndarray:
        """A state (coefficients, columns) in the range of its variables, flat."""
        return self._noting.stored(state).astype(np.float32)

    def _as_arguments(self, constants: tuple) -> tuple:
        return _in_binary32(self._noting.constants)

    def _lift(self, kernel: Callable, backend: Backend | None = None) -> Callable:
        if kernel in STEP_KERNELS.values():
            return _OfVariables(self._narrow(kernel), kernel.__name__, self)
        return _Binary32Kernel(self._narrow(kernel), (kernel.__name__, ""), self.scales)

    def _narrow(self, kernel: Callable) -> ScalableInFormat:
        result = scalable(kernel).in_format(self.scales.arithmetic)
        assert result is not None
        return result

    def _tendency(self) -> Callable:
        kernels = self.request.equations.kernels
        narrow = [self._narrow(kernel) for kernel in kernels]
        rows = [PlaceRows((kernel.__name__, ""), self.scales) for kernel in kernels]
        tendency = ScaledTendency(
            narrow, [each.table for each in rows], self.constants, self.work,
            self.request.truncation, self.scales,
        )  # fmt: skip
        version = -1

        def current(state: np.ndarray, out: np.ndarray, *rest) -> None:
            nonlocal version
            if version != self.scales.version:
                for each in rows:
                    each.fit()
                tendency.fit()
                version = self.scales.version
            tendency(state, out)

        return current


class PlaceRows:
    """The rows of a place, in memory that stays.

    Args:
        place: what the scales know it by.
        scales: of the model.
    """

    def __init__(self, place: Place, scales: Scales) -> None:
        self._place, self._scales = place, scales
        self.table = in_format.table([0] * len(scales.stages[place]))

    def fit(self) -> None:
        """Take over the scales in force."""
        self.table[...] = in_format.table(self._scales.of(self._place).tolist())


class _Binary32Kernel:
    """A kernel in its place."""

    def __init__(self, kernel: ScalableInFormat, place: Place, scales: Scales) -> None:
        self._kernel, self._scales = kernel, scales
        self._rows, self._version = PlaceRows(place, scales), -1

    def __call__(self, *args) -> None:
        """Run the kernel."""
        if self._version != self._scales.version:
            self._rows.fit()
            self._version = self._scales.version
        self._kernel.run(self._rows.table, *args)


class _OfVariables:
    """A kernel of flat states, at the scales of each variable."""

    def __init__(self, kernel: ScalableInFormat, name: str, model: ScaledInFormatModel) -> None:
        groups = model.groups()
        self._kernel, self._scales = kernel, model.scales
        self._rows = [PlaceRows((name, variable), model.scales) for variable in groups]
        self._tables = np.array([rows.table.ctypes.data for rows in self._rows])
        starts = [columns.start for columns in groups.values()]
        self._firsts, self._size = np.array([*starts, model.shape[1]]), int(np.prod(model.shape))
        self._in_format = lru_cache(lambda x: np.float32(quantize(x, model.backend)))
        self._version, self._room = -1, np.empty((0, 0), np.float32)

    def __call__(self, *args) -> None:
        """Run the kernel."""
        if self._version != self._scales.version:
            for rows in self._rows:
                rows.fit()
            self._version = self._scales.version
        arguments = [self._in_format(a) if isinstance(a, float) else a for a in args]
        if self._room.size == 0:
            self._room = self._kernel.room_for(*arguments)
        self._kernel.run_columns(self._tables, self._firsts, self._size, self._room, *arguments)


def _alike(constants) -> bool:
    """Whether binary32 holds constants."""
    if isinstance(constants, tuple):
        return all(map(_alike, constants))
    return constants.dtype.kind in "iu" or np.array_equal(constants.astype(np.float32), constants)


def _in_binary32(constants):
    if isinstance(constants, tuple):
        return tuple(map(_in_binary32, constants))
    return constants if constants.dtype.kind in "iu" else aligned_copy(constants, np.float32)
