"""Tracers of the air in blocks: two levels of one tracer at a time, whose fields a cache holds.

The slopes and differences of ten tracers on 20 levels are 590 fields, of 64 kB each at T42. Those
of a block go to the grid, become products and come back before those of the next block do. Every
number is made by the operations of `tracers`, and has the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import lru_cache

from numpy.typing import DTypeLike

from sciprec.arrays.aligned import aligned_zeros
from sciprec.climate.equations.primitive_spectral import primitive_products
from sciprec.climate.equations.registry import Conversion, EquationSet
from sciprec.climate.equations.share import KERNELS, PART, PARTS, first_field
from sciprec.climate.equations.tendency import make_tendency_work
from sciprec.climate.equations.tracers import (
    COLUMN,
    LEVELS,
    PRODUCT,
    TRACERS,
    TracedConversion,
    carried_everywhere,
    carried_row,
    slopes_of_coefficient,
    tracer_slopes,
    tracer_tendency,
)
from sciprec.climate.transform.spectral import analyze_some, synthesize_some
from sciprec.climate.transform.substitution import substitute
from sciprec.precision import Backend
from sciprec.precision.operations.meeting import meet

DEEP = 2
"""Levels of a block."""


def _spectra(state, constants, out):
    """Stands for `EquationSet.spectra`."""


def _products(fields, constants, work, out):
    """Stands for `EquationSet.products`."""


def _tendency(state, spectra, constants, out):
    """Stands for `EquationSet.tendency`."""


def slopes_in_blocks(state, tracers, first, stop, spectra):
    """Stands for `tracer_slopes`: nothing is left to do."""


def tendency_in_blocks(spectra, tracers, first, stop, tendency):
    """Stands for `tracer_tendency`: nothing is left to do."""


def carried_in_blocks(fields, constants, work, products):
    """Stands for `carried_everywhere`: nothing is left to do."""


def keep_winds(i, fields, constants, work, products):
    """Stands for `primitive_products`: winds and the velocity of sigma follow after the products.

    Args:
        i, fields, constants, work: as there.
        products: (9 levels + 2, nlon + 1, nlat), written: those of the flow, U, V (levels each),
            velocity (levels + 1).
    """
    primitive_products(i, fields, constants, work, products)
    rows, _, _, velocity = work
    levels = velocity.shape[0] - 1
    first = 6 * levels + 1
    for k in range(2 * levels):
        wind = products[first + k, i]
        for j in range(rows.shape[1]):
            wind[j] = rows[3 * levels + k, j]
    for k in range(levels + 1):
        sinking = products[first + 2 * levels + k, i]
        for j in range(rows.shape[1]):
            sinking[j] = velocity[k, j]


def slot_of_difference(level, k, count):
    """Return the field of a block with the difference below a level; the first is the one above."""
    if level < k:
        return 0
    return 1 + 2 * count + level - k


def carried_in_block(k, count, winds, some, tracers, per_thickness, products):
    """-(U dq/dlon + V cos(lat) dq/dlat) / cos(lat)**2 - W(q) on the levels of a block.

    Args:
        k, count: its first level, and how many.
        winds: (3 levels + 1, at least nlon, nlat): U, V and the velocity of sigma.
        some: (7, at least nlon, nlat): the difference above the block, eastward slopes, northward
            ones, differences.
        tracers: from `TracedConversion.tables`.
        per_thickness: (levels,): 1 / (2 thickness).
        products: (2, at least nlon, nlat), written.
    """
    inverse_cos2 = tracers[4]
    levels = tracers[5][LEVELS]
    for n in range(count):
        level = k + n
        upper = slot_of_difference(max(level - 1, 0), k, count)
        lower = slot_of_difference(min(level, levels - 2), k, count)
        for i in range(some.shape[1] - 1):
            carried_row(
                winds[level, i], winds[levels + level, i], some[1 + n, i],
                some[1 + count + n, i], some[upper, i], some[lower, i],
                winds[2 * levels + level, i], winds[2 * levels + level + 1, i],
                per_thickness[level], inverse_cos2, products[n, i],
            )  # fmt: skip


def copy_field(field, copy):
    """copy = field, both (nlon, nlat)."""
    for i in range(field.shape[0]):
        for j in range(field.shape[1]):
            copy[i, j] = field[i, j]


def carry_blocks(state, winds, constants, tables, transforms, blocks, share, out):
    """Tendencies of the tracers on the levels of a share.

    Args:
        state: (coefficients, columns).
        winds: as in `carried_in_block`.
        constants: of the equations.
        tables: from `transform.make_tables`.
        transforms: from `transform.make_work`.
        blocks: of `with_block_work`.
        share: of a thread.
        out: (coefficients, columns), those of tracers written.

    Precision: a share that begins below the top forms the difference above it once more.
    """
    tracers = constants[-1]
    mask, sizes = tracers[3], tracers[5]
    levels = sizes[LEVELS]
    spectra, some, products, coefficients = blocks
    pairs = (levels + 1) // 2
    begin = DEEP * (pairs * share[PART] // share[PARTS])
    end = min(levels, DEEP * (pairs * (share[PART] + 1) // share[PARTS]))
    lead = max(begin - 1, 0)
    count = end - lead
    steps = min(end, levels - 1) - lead
    for t in range(sizes[TRACERS]):
        column = sizes[COLUMN] + 2 * t * levels
        for i in range(state.shape[0]):
            slopes_of_coefficient(
                state, tracers, i, column + 2 * lead, count, steps, spectra, 0
            )  # fmt: skip
        if begin > 0:
            synthesize_some(spectra[:, 4 * count :], tables[0], transforms, some, 0, 1)
        for k in range(begin, end, DEEP):
            deep = min(DEEP, end - k)
            for n in range(3):
                first = 2 * (n * count + k - lead)
                depth = deep if n < 2 else min(deep, levels - 1 - k)
                on_grid = some[1 + n * deep :]
                synthesize_some(spectra[:, first:], tables[0], transforms, on_grid, 0, depth)
            carried_in_block(k, deep, winds, some, tracers, constants[0][4], products)
            of_block = coefficients[:, 2 * (k - begin) :]
            analyze_some(products, tables[1], transforms, of_block, 0, deep)
            copy_field(some[3 * deep], some[0])
        for i in range(state.shape[0]):
            for c in range(2 * (end - begin)):
                out[i, column + 2 * begin + c] = mask[i] * coefficients[i, c]


def tendency_with_blocks(state, out, constants, tables, work):
    """`tendency.whole_tendency` of the air, whose tracers go through the transforms in blocks.

    Args:
        state, out, constants, tables: as there.
        work: from `make_blocked_work`.
    """
    spectra, fields, products, coefficients, transforms, products_work, share, counters = work
    parts = share[PARTS]
    meet(counters, parts)
    if share[KERNELS] > 0:
        _spectra(state, constants, spectra)
    meet(counters, parts)
    start = first_field(fields.shape[0], share, share[PART])
    stop = first_field(fields.shape[0], share, share[PART] + 1)
    synthesize_some(spectra, tables[0], transforms, fields, start, stop)
    meet(counters, parts)
    if share[KERNELS] > 0:
        _products(fields, constants, products_work, products)
    meet(counters, parts)
    count = constants[-1][5][PRODUCT]
    start = first_field(count, share, share[PART])
    stop = first_field(count, share, share[PART] + 1)
    analyze_some(products, tables[1], transforms, coefficients, start, stop)
    winds = products[count:]
    carry_blocks(state, winds, constants, tables, transforms, products_work[2], share, out)
    meet(counters, parts)
    if share[KERNELS] > 0:
        _tendency(state, coefficients, constants, out)
    meet(counters, parts)


@lru_cache(maxsize=64)
def in_one_kernel_with_blocks(spectra: Callable, products: Callable, tendency: Callable):
    """`tendency_with_blocks` with the three kernels of a set of equations with tracers."""
    instead = {
        tracer_slopes: slopes_in_blocks, carried_everywhere: carried_in_blocks,
        tracer_tendency: tendency_in_blocks, primitive_products: keep_winds,
    }  # fmt: skip
    flow = (substitute(kernel, instead) for kernel in (spectra, products, tendency))
    return substitute(
        tendency_with_blocks, dict(zip((_spectra, _products, _tendency), flow, strict=True))
    )


def carries_in_blocks(convert: Conversion, backend: Backend, forced: Collection[str]) -> bool:
    """Whether the tracers of a model go in blocks: those of air that no forcing knows, in one
    arithmetic for all, without random bits, fixed point or formats by line.

    Args:
        convert: of the model.
        backend: its arithmetic.
        forced: names of the tracers that a forcing sees or changes.
    """
    levelled = isinstance(convert, TracedConversion) and convert.levels > 1
    uniform = type(backend) is Backend and len(set(backend.roles)) == 1 and backend.noise is None
    return levelled and not forced and uniform and not (backend.random or backend.fixed)


def make_blocked_work(
    equations: EquationSet, convert: TracedConversion, dtype: DTypeLike
) -> tuple:  # fmt: skip
    """Work arrays of `tendency_with_blocks`: of the flow, whose products take the place of its
    fields, with room for `keep_winds`; and those of blocks.
    """
    fields, products = convert.flow.transformed
    counts = fields, products + 3 * convert.levels + 1
    work = make_tendency_work(replace(equations, in_place=True), convert, dtype, counts)
    return with_block_work(work, convert, dtype)


def with_block_work(work: tuple, convert: TracedConversion, dtype: DTypeLike) -> tuple:
    """The work of a tendency, with that of blocks last in that of the equations: coefficients of
    slopes and differences of a tracer, those of a block on the grid with the difference above it,
    products of a block, coefficients of a tracer's products.

    Args:
        work: of a tendency, or of a thread's share.
        convert: of the model.
        dtype: of the arrays.
    """
    grid, size = convert.transform.grid, convert.transform.degree.size
    shape = grid.nlon + 1, grid.nlat  # a spare longitude, as in `make_tendency_work`
    blocks = (
        aligned_zeros((size, 6 * convert.levels), dtype),
        aligned_zeros((3 * DEEP + 1, *shape), dtype),
        aligned_zeros((DEEP, *shape), dtype),
        aligned_zeros((size, 2 * convert.levels), dtype),
    )
    return *work[:5], (*work[5], blocks), *work[6:]
