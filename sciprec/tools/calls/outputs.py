"""A call of a kernel on copies of its arguments, and its results: arrays by name, and a dataset."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
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
from sciprec.tools.calls.inputs import Inputs

_REPEATED_SECONDS, _MOST_REPEATED = 0.5, 7
RETURNED = "return"
"""Name of what a kernel returns, of several things with their numbers; `returned` where an argument
has such a name.
"""
_OLDER = re.compile(r"result(?=$|_\d+$)")


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


def todays_name(name: str, names: Collection[str]) -> str:
    """The name of a result; of `result`, as older versions called what is returned, `return`, with
    a warning.
    """
    today = _OLDER.sub(RETURNED, name)
    if name in names or today not in names or name == today:
        return name
    message = f"'{name}' is called '{today}' in every verb now; write that"
    warnings.warn(message, FutureWarning, stacklevel=4)
    return today


def left_by_call(
    values: Mapping[str, Any], returned: Any, kinds: str = "fiub"
) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Return the arrays that a kernel was given, as they are now, and its results.

    Args:
        values: of its arguments.
        returned: by the call.
        kinds: of numbers that may be returned, as of NumPy's dtypes.

    Returns:
        The arrays by name, and of those that were given the parameter.

    Raises:
        InputError: what was returned is no number, array or tuple of them.
    """
    arrays = given_arrays(values)
    results = _returned(returned, RETURNED, kinds)
    if results.keys() & arrays.keys():
        results = _returned(returned, "returned", kinds)
    results = {name: array for name, (_, array) in arrays.items()} | results
    return results, {name: argument for name, (argument, _) in arrays.items()}


def given_arrays(values: Mapping[str, Any]) -> dict[str, tuple[str, np.ndarray]]:
    """Arrays by the name of a result, each with its parameter."""
    arrays: dict[str, tuple[str, np.ndarray]] = {}
    for name, value in values.items():
        parts = {f"{name}_{k}": v for k, v in enumerate(value)} if isinstance(value, tuple) else {
            name: value}  # fmt: skip
        arrays |= {n: (name, v) for n, v in parts.items() if isinstance(v, np.ndarray)}
    return arrays


def _returned(value: Any, stem: str, kinds: str) -> dict[str, np.ndarray]:
    """Return the returned numbers and arrays, by name.

    Raises:
        InputError: it is no number, array or tuple of them.
    """
    if value is None:
        return {}
    if not isinstance(value, tuple):
        return {stem: _as_array(value, kinds)}
    parts = enumerate(value)
    return {f"{stem}_{k}": _as_array(item, kinds) for k, item in parts if item is not None}


def _as_array(value: Any, kinds: str) -> np.ndarray:
    array = np.asarray(value)
    if array.dtype.kind not in kinds:
        raise InputError(
            f"it returns a {type(value).__name__}, which cannot be compared; return real numbers, "
            "arrays of them, or a tuple of these"
        )
    return array
