"""Initial states that users bring: fields of a file or dataset in the place of those of a case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sciprec.climate.cases.registry import Case
from sciprec.climate.catalogue import EQUATIONS
from sciprec.climate.constants import GRAVITY_M_PER_S2
from sciprec.climate.equations.winds import rotation, wind
from sciprec.climate.transform.grid import GaussianGrid
from sciprec.climate.transform.spectral import reference_transform
from sciprec.foundation.errors import InputError

if TYPE_CHECKING:
    from sciprec.climate.running.request import Request
    from sciprec.results.output.given_fields import GivenFields

_PARTS = {
    "height": (("height",),),
    "temperature": (("temperature",),),
    "surface_pressure": (("surface_pressure",), ("log_surface_pressure",)),
    "orography": (("orography",), ()),
}
"""Field of a state -> the fields that can make it, best first; with none the case's own stays."""


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


def given_state(given: GivenFields, made: Any, case: Case, grid: GaussianGrid) -> Any:
    """The initial state of a case with the given fields in the place of its own.

    Args:
        given: the fields.
        made: what the case's function has made.
        case: the case.
        grid: of the model; arrays of states are (..., nlon, nlat), south to north.

    Raises:
        InputError: what has to be above zero is not.
    """
    levels = made.levels.full if hasattr(made, "levels") else None
    values = given.on_grid(grid.lat, grid.lon, levels)
    gravity = made.planet.gravity_m_per_s2 if hasattr(made, "planet") else GRAVITY_M_PER_S2
    for name in given.per_gravity:
        values[name] = values[name] / gravity
    names = {f.name for f in fields(made)}
    if names & {"u", "vorticity"}:
        is_new = not given.is_on(grid.lat, grid.lon)
        values |= _winds(values, names, case.radius_m, grid, is_new)
    state = replace(
        made, **{name: np.swapaxes(x, -1, -2) for name, x in values.items() if name in names}
    )
    for name, above_zero in state.positive().items() if hasattr(state, "positive") else ():
        if not (above_zero > 0.0).all():
            raise InputError(
                f"{given.source}: {name} is {above_zero.min():.6g} at the least on the grid of "
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
    """Where the initial state of a run comes from and how it came onto the model's grid; empty
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
