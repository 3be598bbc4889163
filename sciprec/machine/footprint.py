"""The compensation of a scenario: memory for residuals, and coefficients that fit it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sciprec.foundation.arguments import refused
from sciprec.foundation.errors import InputError
from sciprec.machine.error_cache import ERROR_CACHE, ErrorCache, TileLayout, tile_layout
from sciprec.precision.formats.backend import Backend, resolve_backend
from sciprec.precision.formats.fixed_format import FixedFormat
from sciprec.scenario.loading import Scenario
from sciprec.workbench.kinds import kind_of, kinds


@dataclass(frozen=True)
class VariableFootprint:
    """The residuals of one variable.

    Args:
        variable: name.
        elements: of one level.
        levels: states that the model keeps, each with its residual.
        size_bytes: all of them.
        fits: whether they fit beside those of the variables before it.
    """

    variable: str
    elements: int
    levels: int
    size_bytes: int
    fits: bool


@dataclass(frozen=True)
class Footprint:
    """The residuals of a scenario against a cache.

    Args:
        scenario, backend: names.
        element_bytes: of a number of the backend's storage format.
        cache: the memory.
        variables: one row for each.
        tile_elements: elements of each variable (all levels) that fit together, in whole lines.
        tiles: how many tiles that makes; 1: everything fits.
        layout: collisions of the tile that was asked for, or None.
    """

    scenario: str
    backend: str
    element_bytes: int
    cache: ErrorCache
    variables: tuple[VariableFootprint, ...]
    tile_elements: int
    tiles: int
    layout: TileLayout | None

    @property
    def total_bytes(self) -> int:
        """The bytes of all residuals."""
        return sum(row.size_bytes for row in self.variables)

    @property
    def fitting(self) -> tuple[str, ...]:
        """The variables whose residuals fit together, in their order."""
        return tuple(row.variable for row in self.variables if row.fits)


def compensation_footprint(
    scenario: Scenario,
    backend: str | Backend = "mlu370",
    *,
    cache: ErrorCache = ERROR_CACHE,
    tile: tuple[int, int] | None = None,
) -> Footprint:
    """The memory that a scenario's residuals take, against the machine's error cache.

    Args:
        scenario: a loaded scenario of any kind.
        backend: the arithmetic, whose storage format residuals have.
        cache: the memory; the published 128 KB of 32 banks of 128 bit when left out.
        tile: (rows, columns) of a tile whose bank collisions are wanted.

    Returns:
        A Footprint.

    Raises:
        InputError: an unknown arithmetic, a kind without residuals, or a tile that is none.
    """
    resolved, kind = resolve_backend(backend), kind_of(scenario)
    if tile is not None and not (isinstance(tile, (tuple, list)) and len(tile) == 2):
        raise refused("tile", tile, "rows and columns of a tile, such as (32, 128)")
    if kind.residuals is None:
        names = [other.name for other in kinds().values() if other.residuals is not None]
        raise InputError(
            f"scenario '{scenario.name}' is of kind '{kind.name}', which carries no residuals; "
            f"accepted: {', '.join(names)}"
        )
    size = element_bytes(resolved)
    rows, free_bytes = [], cache.size_bytes
    for name, elements, levels in kind.residuals(scenario.table):
        needed = elements * levels * size
        rows.append(VariableFootprint(name, elements, levels, needed, needed <= free_bytes))
        free_bytes -= needed if needed <= free_bytes else 0
    together = sum(row.levels for row in rows) * size
    line = max(cache.line_bytes // size, 1)
    most = cache.size_bytes // together // line * line
    largest = max(row.elements for row in rows)
    return Footprint(
        scenario=scenario.name,
        backend=resolved.name,
        element_bytes=size,
        cache=cache,
        variables=tuple(rows),
        tile_elements=min(most, largest),
        tiles=math.ceil(largest / most) if most else 0,
        layout=None if tile is None else tile_layout(*tile, size, cache=cache),
    )


def element_bytes(backend: str | Backend) -> int:
    """Bytes of a number of the storage format in memory: its bits, up to 1, 2, 4 or 8 bytes."""
    fmt = resolve_backend(backend).storage.format
    if isinstance(fmt, FixedFormat):
        bits = fmt.bits
    else:
        exponents = fmt.emax - fmt.emin + 2
        bits = fmt.significand_bits + max(math.ceil(math.log2(exponents)), 1)
    return 2 ** max(math.ceil(math.log2(bits / 8)), 0)
