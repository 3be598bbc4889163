"""The arguments of a kernel's calls, from Python or from files, in the order of its parameters."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sciprec.foundation.arguments import path as checked_path
from sciprec.foundation.arguments import shown
from sciprec.foundation.errors import InputError, meant
from sciprec.results.comparison.inputs import numpy_arrays
from sciprec.results.output import files
from sciprec.tools.calls.kernel_file import made_by, names_function, refuse_slip

FLOAT = np.dtype(np.float64)
_ACCEPTED = "real numbers of at most 8 bytes"


@dataclass(frozen=True)
class Inputs:
    """The arguments of one call of a kernel.

    Args:
        values: of the arguments, by the names of the parameters and in their order; arrays of
            floats are of binary64.
        origin: a file, or words.
        dims: names of the axes of arrays that have some.
        coordinates: values along named axes.
        attributes: units and the like of arrays that have some.
    """

    values: Mapping[str, Any]
    origin: str
    dims: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    coordinates: Mapping[str, np.ndarray] = field(default_factory=dict)
    attributes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def inputs_of(kernel: Callable[..., Any], args: Any, origin: str = "the arguments") -> Inputs:
    """The inputs of a kernel from what a user gives for one call.

    Args:
        kernel: the plain function.
        args: a tuple, a mapping by parameter name, the path of an .npz or netCDF file that holds
            one, or `FILE.py:FUNCTION` of a function that returns one.
        origin: what to call it, where it is no path.

    Raises:
        InputError: an argument is missing, is none of the kernel, or is no number, array or tuple.
    """
    if isinstance(args, (str, Path)):
        return _from_path(kernel, args)
    if not isinstance(args, (tuple, Mapping)):
        raise InputError(
            f"{origin}: {shown(args)} was given; accepted: a tuple of the arguments, a mapping by "
            "parameter name, the path of an .npz or netCDF file, or a list of these"
        )
    values = _bound(kernel, args, origin)
    return Inputs(_as_numbers(values, origin), origin)


def _from_path(kernel: Callable[..., Any], source: str | Path) -> Inputs:
    """Inputs that a file holds, or that a function of a file makes."""
    text = checked_path("the inputs", source)
    if names_function(text):
        args = made_by(text)
        if isinstance(args, (tuple, dict)):
            return inputs_of(kernel, args, text)
        raise InputError(
            f"'{text}' returned {shown(args)}; it returns a tuple of the arguments of "
            f"'{kernel.__name__}', or a dictionary by parameter name"
        )
    if Path(text).suffix == ".npz":
        return inputs_of(kernel, numpy_arrays(Path(text)), text)
    if Path(text).suffix == ".py":
        raise InputError(
            f"the inputs '{text}' are a Python file; name the function that makes them, as in "
            f"{text}:make"
        )
    refuse_slip(text, "a function that makes inputs is FILE.py:FUNCTION")
    return _from_netcdf(kernel, text)


def _from_netcdf(kernel: Callable[..., Any], path: str) -> Inputs:
    """Inputs from the variables of a netCDF file, with the names of their axes."""
    dataset = files.read(path)
    names = inspect.signature(kernel).parameters
    chosen = [str(n) for n in dataset.variables if n in names or n in dataset.data_vars]
    values = _bound(kernel, {n: dataset[n].values for n in chosen}, path)
    arrays = {n: dataset[n] for n in chosen if n in values and dataset[n].ndim}
    along = {str(n): np.asarray(c.values) for n, c in dataset.coords.items() if c.ndim == 1}
    return Inputs(
        _as_numbers(values, path),
        path,
        dims={n: tuple(map(str, a.dims)) for n, a in arrays.items()},
        coordinates=along,
        attributes={n: dict(a.attrs) for n, a in arrays.items()},
    )


def _bound(kernel: Callable[..., Any], values: Any, origin: str) -> dict[str, Any]:
    """Values by parameter, defaults filled in."""
    signature = inspect.signature(kernel)
    call = f"{kernel.__name__}{signature}"
    if isinstance(values, Mapping):
        parameters = list(signature.parameters)
        for name in values:
            if name not in parameters:
                raise InputError(
                    f"{origin}: {shown(name)} is no argument of {call}{meant(name, parameters)}"
                )
        empty = inspect.Parameter.empty
        lacking = [
            name for name, parameter in signature.parameters.items()
            if parameter.default is empty and name not in values
        ]  # fmt: skip
        if lacking:
            listed = ", ".join(map(str, values)) or "nothing"
            raise InputError(
                f"{origin}: the argument '{lacking[0]}' of {call} is missing; given: {listed}; add "
                f"{', '.join(lacking)}"
            )
        bound = signature.bind(**values)
    else:
        try:
            bound = signature.bind(*values)
        except TypeError as error:
            raise InputError(f"{origin}: {error}; the kernel is {call}") from None
    bound.apply_defaults()
    return dict(bound.arguments)


def _as_numbers(values: Mapping[str, Any], origin: str) -> dict[str, Any]:
    """Values as kernels take them: floats in binary64, of arrays without axes the number."""
    converted: dict[int, np.ndarray] = {}
    numbers = {
        n: _as_number(v, f"{origin}: the argument '{n}'", converted) for n, v in values.items()
    }
    arrays = [a for a in _arrays(tuple(values.values())) if a.size]
    for array, other in itertools.combinations({id(a): a for a in arrays}.values(), 2):
        if (id(array) in converted or id(other) in converted) and np.shares_memory(array, other):
            raise InputError(
                f"{origin}: two arrays share memory and are not all of binary64, so that copies "
                "would not; convert them with x.astype(float) first"
            )
    return numbers


def _as_number(value: Any, label: str, converted: dict[int, np.ndarray]) -> Any:
    if isinstance(value, tuple):
        return tuple(_as_number(v, label, converted) for v in value)
    if isinstance(value, (np.ndarray, np.generic)):
        dtype = value.dtype
        if dtype.kind not in "fiub" or dtype.itemsize > FLOAT.itemsize:
            raise InputError(f"{label} has dtype {dtype}; accepted: {_ACCEPTED}")
        if not value.ndim:
            return value.item()
        native = FLOAT if dtype.kind == "f" else dtype.newbyteorder("=")
        if dtype == native and dtype.isnative:
            return value
        return converted.setdefault(id(value), value.astype(native, order="K"))
    if value is None or isinstance(value, (bool, int, float)) or callable(value):
        return value
    more = ": make an array with np.array(x)" if isinstance(value, list) else ""
    raise InputError(
        f"{label} is {shown(value)}; accepted: numbers, arrays of them, and tuples of these{more}"
    )


def _arrays(value: Any) -> list[np.ndarray]:
    """The arrays among values, in tuples too."""
    if isinstance(value, tuple):
        return [array for item in value for array in _arrays(item)]
    return [value] if isinstance(value, np.ndarray) else []
