"""A call of a kernel on copies of its arguments, and its results as a dataset."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from sciprec.arrays.quantization import quantize
from sciprec.foundation.errors import InputError
from sciprec.foundation.timing import Sections, Timing
from sciprec.precision.formats.backend import Backend
from sciprec.precision.rewriting.copies import copied
from sciprec.results.output.stated import AUXILIARY, START
from sciprec.tools.calls.call_results import given_arrays, left_by_call
from sciprec.tools.calls.inputs import Inputs

_REPEATED_SECONDS, _MOST_REPEATED = 0.5, 7


@dataclass(frozen=True)
class CallOutputs:
    """The results of a call.

    Args:
        results: by name: arrays that it was given, and what it returned.
        argument_of: of the arrays that it was given, the parameter: their own name, or that of a
            tuple.
    """

    results: Mapping[str, np.ndarray]
    argument_of: Mapping[str, str]

    def changed(self, name: str, inputs: Inputs) -> bool:
        """Whether an array that was given has other bits now."""
        before = given_arrays(inputs.values)[name][1]
        return before.tobytes() != self.results[name].tobytes()


def called(kernel: Callable[..., Any], inputs: Inputs) -> CallOutputs:
    """Call a kernel on copies of its arguments.

    Raises:
        InputError: it ends with an error, or returns what is no number, array or tuple of them.
    """
    values = dict(zip(inputs.values, copied(tuple(inputs.values.values())), strict=True))
    try:
        returned = kernel(*values.values())
    except (InputError, MemoryError):
        raise
    except Exception as error:
        raise InputError(
            f"it ends with {type(error).__name__}: {error}; give inputs that it takes"
        ) from None
    return CallOutputs(*left_by_call(values, returned))


def timing(kernel: Callable[..., Any], inputs: Inputs) -> Timing:
    """Processor time of a call of a kernel that has been called before: of some calls, one at
    least, half a second of them together.
    """
    sections, begun = Sections(), time.perf_counter()
    values = tuple(inputs.values.values())
    while True:
        fresh = copied(values)
        with sections.timed(1.0):
            kernel(*fresh)
        over = time.perf_counter() - begun > _REPEATED_SECONDS
        if over or len(sections.done) == _MOST_REPEATED:
            break
    every, count = sections.timing, len(sections.done)
    return Timing(every.seconds / count, every.low / count, every.high / count)


def dataset_of(
    call: CallOutputs, inputs: Inputs, outputs: Sequence[str], axes: Mapping[str, tuple[str, ...]],
    backend: Backend | None = None,
) -> xr.Dataset:  # fmt: skip
    """Results as a dataset. Axes without a name are called after their result; those with one have
    the values of an input of that name, where it has one axis of that length, or else numbers.
    Arrays that the kernel was given, and has no axis of time for, have their values before the
    call beside them.

    Args:
        call: what was left.
        inputs: of the call.
        outputs: names of the results that are kept.
        axes: result -> names of its axes.
        backend: the arithmetic, in which the values before the call are rounded; left out, these
            are not kept.
    """
    variables = {}
    for name in outputs:
        array = np.array(call.results[name])
        dims = axes.get(name) or tuple(f"{name}_axis_{k}" for k in range(array.ndim))
        attributes = {k: v for k, v in inputs.attributes.get(name, {}).items() if k in _KEPT}
        variables[name] = (dims, array, {"long_name": name, "units": "1"} | attributes)
    dataset = xr.Dataset(variables)
    coordinates = {n: v for n, v in inputs.values.items() if n not in outputs} | dict(
        inputs.coordinates
    )
    for dim in {d for dims in axes.values() for d in dims} - set(dataset.variables):
        size, values = dataset.sizes[dim], coordinates.get(str(dim))
        fits = isinstance(values, np.ndarray) and values.shape == (size,)
        extra = {k: v for k, v in inputs.attributes.get(str(dim), {}).items() if k in _KEPT}
        along = np.array(values, float) if fits else np.arange(size, dtype=float)
        dataset = dataset.assign_coords({dim: (dim, along, {"long_name": str(dim)} | extra)})
    return dataset if backend is None else _with_starts(dataset, inputs, backend)


def _with_starts(dataset: xr.Dataset, inputs: Inputs, backend: Backend) -> xr.Dataset:
    """Results with the values that those began with which the kernel was given."""
    arrays, starts = given_arrays(inputs.values), {}
    for name, result in dataset.data_vars.items():
        values, start = arrays.get(str(name), ("", None))[1], f"start_of_{name}"
        changes = values is not None and values.dtype.kind == "f" and "time" not in result.dims
        if changes and start not in dataset.variables and values.shape == result.shape:
            begun = values if backend.fixed else quantize(values, backend)
            about = {"long_name": f"{name} before the call", "units": result.attrs["units"]}
            starts[start] = result.dims, np.array(begun, np.float64), about
            dataset[name].attrs[START] = start
    return dataset.assign(starts).assign_attrs({AUXILIARY: " ".join(starts)})


_KEPT = ("long_name", "units", "standard_name")
"""Attributes of an input that its result has, too."""
