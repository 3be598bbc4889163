"""Checks of a model's result: whether it can be stored and compared, and what it says of itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from sciprec.foundation.errors import ModelError, meant
from sciprec.results.output.stated import BUDGETS, DRAWN, FIGURES, IN_FORMAT, PRIMARY

_SAID = {"primary": PRIMARY, "budgets": BUDGETS, "pictures": DRAWN, "in_format": IN_FORMAT}
"""Attributes of a model's dataset, and their names in its file."""
_KINDS = {"f": np.float64, "i": np.int64, "u": np.int64, "b": np.int8}
"""Types in which numbers are stored, by their kind."""


def stored_form(
    result: Any, model: str, truth: bool, variables: Sequence[str] | None = None
) -> xr.Dataset:
    """Convert a model's result to the form in which it is stored.

    Args:
        result: what it returned.
        model: its name.
        truth: whether it ran in binary64.
        variables: those that it has announced; None where it has announced none.

    Raises:
        ModelError: it is no dataset, or one that cannot be stored, compared or understood.
    """
    if not isinstance(result, xr.Dataset):
        raise ModelError(
            f"model '{model}' returned a {type(result).__name__}; a model returns an "
            "xarray.Dataset"
        )
    if not result.data_vars:
        raise ModelError(f"model '{model}' returned a Dataset without a variable; put some in")
    dataset = _with_numbers(result, model)
    names = tuple(map(str, dataset.data_vars))
    for name in names if variables is None else variables:
        if name not in names:
            raise ModelError(
                f"model '{model}' announces the variable '{name}' and returns {', '.join(names)}; "
                "correct the argument 'variables' of @sciprec.model"
            )
    for name in dataset.data_vars:
        if not isinstance(dataset[name].attrs.get("units"), str):
            raise ModelError(
                f"model '{model}': the variable '{name}' has no unit; say it, such as "
                f"dataset['{name}'].attrs['units'] = 'm s-1', or '1' for plain numbers"
            )
        dataset[name].attrs.setdefault("long_name", str(name).replace("_", " "))
    for name in dataset.coords:
        dataset[name].attrs.setdefault("long_name", str(name))
        if "units" not in dataset[name].attrs:
            dataset[name].attrs["units"] = "1"
    dataset.attrs = _attributes(dataset, model)
    return _with_end(dataset, model, truth)


def _with_numbers(result: xr.Dataset, model: str) -> xr.Dataset:
    """The dataset with numbers that a file can hold and an index for each axis.

    Raises:
        ModelError: there is something else in it.
    """
    dataset = result.copy()
    for name, variable in dataset.variables.items():
        kind = variable.dtype.kind
        if kind not in _KINDS:
            raise ModelError(
                f"model '{model}': '{name}' holds values of type {variable.dtype}, which cannot be "
                "compared; give real numbers, times as days or seconds, and complex numbers as two "
                "variables"
            )
        values = np.asarray(variable.values, _KINDS[kind])  # a copy of no later change
        dataset[name] = (variable.dims, values, dict(variable.attrs))
    missing = [dim for dim in dataset.dims if dim not in dataset.coords]
    return dataset.assign_coords({dim: np.arange(float(dataset.sizes[dim])) for dim in missing})


def _attributes(dataset: xr.Dataset, model: str) -> dict[str, Any]:
    """The attributes of the file: those of the model's dataset, under the names that files have.

    Raises:
        ModelError: it names a variable that there is not, or a figure.
    """
    attributes = dict(dataset.attrs)
    for plain, name in _SAID.items():
        if plain not in attributes:
            continue
        value = attributes.pop(plain)
        words = value.split() if isinstance(value, str) else [str(word) for word in value]
        known_names = FIGURES if name == DRAWN else tuple(map(str, dataset.data_vars))
        for word in words:
            if word not in known_names:
                raise ModelError(
                    f"model '{model}': the attribute '{plain}' of its Dataset names {word!r}; "
                    f"known: {', '.join(known_names)}{meant(word, known_names)}"
                )
        attributes[name] = " ".join(words)
    for name in str(attributes.get(BUDGETS, "")).split():
        if dataset[name].dims != ("time",):
            raise ModelError(
                f"model '{model}': the budget '{name}' has the axes {dataset[name].dims}; a budget "
                "is one number at each time: give it the axis 'time' alone"
            )
    attributes.setdefault("blow_up", "")
    attributes.setdefault(PRIMARY, next(map(str, dataset.data_vars), ""))  # stores keep no order
    figures, axes = str(attributes.get(DRAWN, "")).split(), dataset[attributes[PRIMARY]].dims
    for figure, fits, needed in (
        ("growth", axes[:1] == ("time",), "the first axis 'time'"),
        ("map", len(set(axes) - {"time"}) > 1, "two axes beside 'time'"),
        ("lines", set(axes) - {"time"}, "an axis beside 'time'"),
        ("spectrum", set(axes) - {"time"}, "an axis beside 'time'"),
    ):
        if figure in figures and not fits:
            raise ModelError(
                f"model '{model}': the attribute 'pictures' of its Dataset names '{figure}', which "
                f"needs {needed}; '{attributes[PRIMARY]}' has the axes {axes}"
            )
    return attributes


def _with_end(dataset: xr.Dataset, model: str, truth: bool) -> xr.Dataset:
    """The dataset with a sentence where its numbers are not finite to the end.

    Raises:
        ModelError: they are not from the beginning, in binary64.
    """
    for name, variable in dataset.data_vars.items():
        values = variable.values
        if values.dtype.kind != "f" or np.isfinite(values).all():
            continue
        along = variable.dims[:1] == ("time",)
        bad = ~np.isfinite(values.reshape(values.shape[0], -1)).all(axis=1) if along else None
        first = 0 if bad is None else int(np.argmax(bad))
        if truth and first == 0:
            when = f" at {_moment(dataset, 0)}" if along else ""
            raise ModelError(
                f"model '{model}': '{name}' is not finite in fp64{when}, at its beginning; mend "
                "its initial state or its parameters"
            )
        if not dataset.attrs["blow_up"]:
            when = f" from {_moment(dataset, first)} on" if along else ""
            dataset.attrs["blow_up"] = f"'{name}' is not finite{when}"
    return dataset


def _moment(dataset: xr.Dataset, index: int) -> str:
    """A stored time in words."""
    return f"time {float(dataset['time'][index]):g}"
