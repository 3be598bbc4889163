"""The start of a run: the state that a case makes, checked and in the order of the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from sciprec.climate.cases.registry import require_state
from sciprec.climate.equations.registry import Conversion
from sciprec.climate.running.given_start import given_state
from sciprec.climate.running.request import Request
from sciprec.climate.transform.grid import GaussianGrid
from sciprec.foundation.errors import InputError

FASTEST_WIND = 10_000.0
"""m/s; faster than any wind that was ever seen on a planet, and than sound in their air."""


def initial_state(request: Request, grid: GaussianGrid) -> Any:
    """The initial state of a request: that of its case, or the fields that were given in its place;
    its latitudes in the model's order.

    The case's function is given longitudes (nlon, 1), eastward from 0, and latitudes (1, nlat),
    from south to north as in files, both in radians.

    Raises:
        InputError: the function made something that is no initial state of the equations, or the
            given fields are none.
    """
    initial = request.case.initial(
        grid.lon_radians[:, None],
        grid.lat_radians[None, grid.south_to_north],
        **request.parameters.case,
    )
    if request.initial is not None:
        initial = given_state(request.initial, initial, request.case, grid)
    require_state(request.case, request.equations.state, initial, grid)
    return _in_models_order(initial, np.argsort(grid.south_to_north))


def _in_models_order(state: Any, order: np.ndarray) -> Any:
    """Reorder the last axis of every array over latitudes; other values stay."""
    if isinstance(state, np.ndarray):
        across = state.ndim > 1 and state.shape[-1] == order.size
        return np.take(state, order, axis=-1) if across else state
    if is_dataclass(state) and not isinstance(state, type):
        values = {f.name: getattr(state, f.name) for f in fields(state) if f.init}
        changed = {name: _in_models_order(value, order) for name, value in values.items()}
        in_order = all(changed[name] is value for name, value in values.items())
        return state if in_order else replace(state, **changed)
    if isinstance(state, Mapping):
        return {name: _in_models_order(value, order) for name, value in state.items()}
    if type(state) in (tuple, list):
        return type(state)(_in_models_order(value, order) for value in state)
    return state


def require_possible_winds(
    request: Request, initial: Any, convert: Conversion, exact: np.ndarray
) -> None:
    """Refuse an initial state whose wind no planet has.

    Args:
        request: whose case made it.
        initial: the state in SI units.
        convert: of the equations.
        exact: the coefficients of the state in binary64.

    Raises:
        InputError: the wind is faster than FASTEST_WIND somewhere.
    """
    grid = convert.transform.grid
    with np.errstate(over="ignore", invalid="ignore"):
        values = convert.to_fields(exact)
        if {"u", "v"} <= values.keys():
            speed = np.hypot(values["u"], values["v"])
        elif hasattr(initial, "u") and hasattr(initial, "v"):
            speed = grid.to_output(np.hypot(initial.u, initial.v))
        else:
            return
    if (speed <= FASTEST_WIND).all():
        return
    *_, row, column = np.unravel_index(int(np.argmax(speed)), speed.shape)  # the first NaN, if any
    whose = f"case {request.case.name!r}" if request.initial is None else request.initial.source
    raise InputError(
        f"the initial state of {whose} has a wind of {speed.max():.3g} m/s at "
        f"latitude {grid.lat[row]:.1f}, longitude {grid.lon[column]:.1f}; accepted: at most "
        f"{FASTEST_WIND:,.0f} m/s: mend the case's function or its parameters (winds are in m/s, "
        "vorticity and divergence in 1/s)"
    )
