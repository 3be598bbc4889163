"""The part of a dataset that a netCDF file cannot hold: asked of the library itself, piece by
piece, once it has refused the whole, with words that name neither variable nor attribute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from sciprec.foundation.arguments import shown
from sciprec.foundation.errors import InputError

REFUSALS = (TypeError, ValueError, OverflowError, AttributeError, KeyError, RuntimeError)
"""Exceptions that the libraries raise for values they cannot write."""
_Piece = tuple[str, Callable[[], xr.Dataset], str]


def refused_piece(dataset: xr.Dataset, write: Callable[[xr.Dataset], Any]) -> InputError | None:
    """The complaint about the first piece that cannot be written; None where each of them can.

    Args:
        write: a dataset into a file; raises one of `REFUSALS`.
    """
    for piece, alone, advice in _pieces(dataset):
        try:
            write(alone())
        except REFUSALS as error:
            message = " ".join(str(error).partition(", must be one of")[0].split())
            return InputError(f"a netCDF file cannot hold {piece} ({message:.100}); {advice}")
    return None


def _pieces(dataset: xr.Dataset) -> Iterator[_Piece]:
    """Names, then values, then attributes: what each is, what makes a dataset of it alone, and what
    to do.
    """
    for name in dict.fromkeys((*dataset.dims, *dataset.variables)):
        yield (
            f"a variable or axis named {shown(name)}",
            partial(xr.Dataset, {name: ([name], np.zeros(1))}),
            "rename it: a name is text without '/' that begins with a letter, a digit or '_'",
        )
    for name, variable in dataset.variables.items():
        yield (
            f"the variable '{name}', an array of {variable.dtype}",
            partial(_alone, name, variable),
            "convert it to integers, numbers of binary32 or binary64, texts or times",
        )
    for key, value in dataset.attrs.items():
        yield _attribute("the dataset", key, value, partial(xr.Dataset, attrs={key: value}))
    for name, variable in dataset.variables.items():
        for key, value in variable.attrs.items():
            make = partial(_alone, name, variable, {key: value})
            yield _attribute(f"the variable '{name}'", key, value, make)


def _attribute(owner: str, key: Any, value: Any, make: Callable[[], xr.Dataset]) -> _Piece:
    return (
        f"the attribute {shown(key)} of {owner}, {shown(value)}",
        make,
        "give text, a real number or a flat list of either, another name, or leave it out",
    )


def _alone(name: Any, variable: xr.Variable, attributes: Mapping | None = None) -> xr.Dataset:
    """An element of a variable; of one of objects, which may be of any kind, all."""
    few = variable if variable.dtype == object else variable[(slice(0, 1),) * variable.ndim]
    return xr.Dataset({name: (few.dims, few.values, attributes)})
