"""The start of a run: the state that a case makes, or fields of a file or dataset in its place,
checked and in the order of the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sciprec.climate.cases.registry import Case, require_state
from sciprec.climate.catalogue import EQUATIONS
from sciprec.climate.constants import GRAVITY_M_PER_S2
from sciprec.climate.equations.registry import Conversion
from sciprec.climate.equations.winds import rotation, wind
from sciprec.climate.running.request import Request
from sciprec.climate.transform.grid import GaussianGrid
from sciprec.climate.transform.spectral import reference_transform
from sciprec.foundation.errors import InputError

if TYPE_CHECKING:
    from sciprec.results.output.given_fields import GivenFields

FASTEST_WIND = 10_000.0
"""m/s; faster than any wind that was ever seen on a planet, and than sound in their air."""
_PARTS = {
    "height": (("height",),),
    "temperature": (("temperature",),),
    "surface_pressure": (("surface_pressure",), ("log_surface_pressure",)),
    "orography": (("orography",), ()),
}
"""Field of a state -> the fields that can make it, best first; with none the case's own stays."""


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


def wanted_fields(
    case: Case, tracers: Sequence[str] = (), may_lack: bool = False
) -> tuple[tuple[tuple[tuple[str, ...], ...], ...], bool, float]:
    """The fields of which an initial state of a case is made, as `read_fields` takes them, whether
    they have levels, and the radius of the planet in m.

    Args:
        case: the case.
        tracers: names of tracers that begin as fields.
        may_lack: whether these may be missing.

    Raises:
        InputError: the case's equations take no such fields.
    """
    names = _names_of(case)
    parts = [part for name, part in _PARTS.items() if name in names]
    winds = names & {"u", "vorticity"}
    if winds:
        turning = {"vorticity", "divergence"} if names & {"u", "divergence"} else {"vorticity"}
        parts.insert(0, (tuple(sorted(turning, reverse=True)), ("u", "v")))
    if not parts:
        raise InputError(
            f"initial is given to case {case.name!r} of the equations {case.equations!r}, whose "
            "states have no fields that files could have; leave it out"
        )
    parts += [((name,), ()) if may_lack else ((name,),) for name in tracers]
    return tuple(parts), "levels" in names, case.radius_m


def given_state(replacing: GivenFields, initial: Any, case: Case, grid: GaussianGrid) -> Any:
    """The initial state of a case with the given fields in the place of its own.

    Args:
        replacing: the given fields.
        initial: the state that the case's function makes.
        case: the case.
        grid: of the model; arrays of states are (..., nlon, nlat), south to north.

    Raises:
        InputError: what has to be above zero is not.
    """
    levels = initial.levels.full if hasattr(initial, "levels") else None
    values = replacing.on_grid(grid.lat, grid.lon, levels)
    gravity = initial.planet.gravity_m_per_s2 if hasattr(initial, "planet") else GRAVITY_M_PER_S2
    for name in replacing.per_gravity:
        values[name] = values[name] / gravity
    names = {f.name for f in fields(initial)}
    if names & {"u", "vorticity"}:
        is_new = not replacing.is_on(grid.lat, grid.lon)
        values |= _winds(values, names, case.radius_m, grid, is_new)
    state = replace(
        initial, **{name: np.swapaxes(x, -1, -2) for name, x in values.items() if name in names}
    )
    for name, above_zero in state.positive().items() if hasattr(state, "positive") else ():
        if not (above_zero > 0.0).all():
            raise InputError(
                f"{replacing.source}: {name} is {above_zero.min():.6g} at the least on the grid of "
                "the model; accepted: above 0 everywhere: give an orography below the height, or "
                "take another case"
            )
    return state


def _winds(
    values: dict[str, np.ndarray], names: set[str], radius: float, grid: GaussianGrid, is_new: bool
) -> dict[str, np.ndarray]:
    """The wind as a state has it, (..., nlat, nlon); empty where it was given so.

    No wind has a mean vorticity or divergence: it is taken out where fields were interpolated.
    """
    if "vorticity" in names & values.keys():
        some = names & {"vorticity", "divergence"}
        return {name: values[name] - grid.mean(values[name]) * is_new for name in some}
    if "u" in names & values.keys():
        return {}
    transform = reference_transform(grid.truncation)
    order, back = np.argsort(grid.south_to_north), grid.south_to_north
    cosine = grid.cosine[:, None]

    def model(x):
        return np.swapaxes(x, -1, -2).reshape(-1, grid.nlon, grid.nlat)[..., order]

    def field(x, like):
        return np.swapaxes(x[..., back], -1, -2).reshape(like.shape)

    if "u" in names:
        parts = (values[name] for name in ("vorticity", "divergence"))
        spectra = [transform.to_spectrum(model(x)) for x in parts]
        moving = (field(x, values["vorticity"]) for x in wind(transform, *spectra))
        return {n: radius * x / cosine for n, x in zip(("u", "v"), moving, strict=True)}
    spectra = rotation(transform, *(model(values[name] / (radius * cosine)) for name in ("u", "v")))
    turning = (field(transform.to_grid(x), values["u"]) for x in spectra)
    return dict(zip(("vorticity", "divergence"), turning, strict=True))


def start_in_words(request: Request) -> str:
    """The origin of the initial state of a run, and the way it came onto the model's grid; empty
    where it is the case's own.
    """
    start = "" if request.start is None else request.start.words
    if request.initial is None:
        return start
    grid = GaussianGrid(request.truncation)
    ground = ""
    if "orography" not in request.initial.names and "orography" in _names_of(request.case):
        ground = f", the orography that of case '{request.case.name}'"
    words = request.initial.in_words(grid.lat, grid.lon)
    words = f"{words}; transformed to {request.truncation.name}{ground}"
    return f"{start}: {words}" if start else words


def _names_of(case: Case) -> set[str]:
    state = EQUATIONS[case.equations].state
    return {f.name for f in fields(state)} if state is not None else set()
