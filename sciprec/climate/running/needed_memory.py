"""The memory that a run will need, from its request alone."""

from __future__ import annotations

from sciprec.climate.running.request import Request
from sciprec.climate.stages.needed_room import StagedRoom
from sciprec.foundation.time_methods import over_time

PROCESS_BYTES = 320_000_000
"""Memory of Python, its packages, compiled kernels, and the pieces in which files are written."""
_NUMBER_BYTES = 8
_SUMMED = 2
"""Arrays of a statistic over time: a sum, and what its additions rounded off."""
_TIMES_STORED = 3
"""How often the fields of one stored state are there at once: made, derived from, and written."""


def bytes_of_run(request: Request) -> int:
    """Bytes that a run takes at most, in a process of its own, by the formulas of
    docs/reference/climate.md: for the largest of the sets of equations, in binary64, and one
    stored state.
    """
    truncation = request.truncation
    number, nlon, nlat = truncation.number, truncation.nlon, truncation.nlat
    layout = request.equations.layout(request.parameters.equations)
    columns = 2 * sum(levels for _, levels in layout)
    most = max(levels for _, levels in layout)
    coefficients = (number + 1) * (number + 4) // 2
    states = (12 + 2 * request.scheme.levels + 2) * columns * coefficients
    tables = 3 * coefficients * (nlat + 32)
    transforms = 16 * (number + 2) * (nlat + 32) + 64 * nlat + 32 * nlon + 2 * nlon * nlat
    tendency = 4 * columns * coefficients + 2 * columns * nlon * nlat
    implicit = (number + 2) * most**2 + 17 * coefficients
    statistics = sum(bool(over_time(name)[0]) for name in request.variables)
    arrays = _TIMES_STORED * len(request.variables) + _SUMMED * statistics
    stored = arrays * most * nlon * nlat
    numbers = states + tables + transforms + tendency + implicit + stored
    return _NUMBER_BYTES * numbers + PROCESS_BYTES + _bytes_of_stages(request, columns)


def _bytes_of_stages(request: Request, fields: int) -> int:
    """Bytes that transforms take in addition, where their stages have arithmetics of their own."""
    if request.stages is None:
        return 0
    room = StagedRoom(request.truncation, request.stages, request.backend)
    return room.pool(fields, fields) + room.tables()
