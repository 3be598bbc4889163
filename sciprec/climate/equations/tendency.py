"""The tendency of a model: the three kernels of its equations, and transforms between them.

All in one arithmetic they are one kernel: five calls from Python would take a tenth of a step of
shallow water at T42. Where the transforms' stages have arithmetics of their own, each of the three
is compiled by itself.

Several threads may run the one kernel at once, each on its share: its fields in the transforms, and
its coefficients and longitudes where the kernels of the equations look at their share.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import DTypeLike

from sciprec.arrays.aligned import Pool, aligned_zeros
from sciprec.climate.equations.registry import Conversion, EquationSet
from sciprec.climate.equations.share import KERNELS, PART, PARTS, Share, first_field
from sciprec.climate.stages.staged_transform import StagedTransform
from sciprec.climate.transform.spectral import (
    analyze_some,
    make_work,
    round_into,
    synthesize_some,
)
from sciprec.climate.transform.substitution import substitute
from sciprec.precision.operations.meeting import meet, new_counters


def _spectra(state, constants, out):
    """Stands for `EquationSet.spectra`."""


def _products(fields, constants, work, out):
    """Stands for `EquationSet.products`."""


def _tendency(state, spectra, constants, out):
    """Stands for `EquationSet.tendency`."""


def whole_tendency(state, out, constants, tables, work):
    """Transform to the grid, form the products there, and transform back, in one kernel.

    Args:
        state: (coefficients, columns).
        out: of the shape of the state, written.
        constants: of the equations.
        tables: from `transform.make_tables`.
        work: from `make_tendency_work`.
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
    start = first_field(products.shape[0], share, share[PART])
    stop = first_field(products.shape[0], share, share[PART] + 1)
    analyze_some(products, tables[1], transforms, coefficients, start, stop)
    meet(counters, parts)
    if share[KERNELS] > 0:
        _tendency(state, coefficients, constants, out)
    meet(counters, parts)


@lru_cache(maxsize=64)
def in_one_kernel(spectra: Callable, products: Callable, tendency: Callable) -> Callable:
    """`whole_tendency` with the three kernels of a set of equations."""
    parts = {_spectra: spectra, _products: products, _tendency: tendency}
    return substitute(whole_tendency, parts)


def staged_tendency(
    kernels: Sequence[Callable], constants: tuple, work: tuple, transform: StagedTransform
) -> Callable:
    """The function (state, out) that does what `whole_tendency` does, with other transforms.

    Args:
        kernels: the three of the equations, compiled in one arithmetic.
        constants, work: as there.
        transform: whose stages have arithmetics of their own.
    """
    first, second, third = kernels
    spectra, fields, products, coefficients, _, own_work, _, _ = work
    backend, nlon, pool = first.backend, transform.truncation.nlon, Pool()

    def tendency(state: np.ndarray, out: np.ndarray) -> None:
        pool.reset()
        first(state, constants, spectra)
        to, products_on_grid = fields[:, :nlon], products[:, :nlon]
        grid, spectrum = pool.array(to.shape), pool.array(coefficients.shape)
        transform.synthesize(spectra, grid, pool)
        round_into(grid, backend, to, pool)
        second(fields, constants, own_work, products)
        transform.analyze(products_on_grid, spectrum, pool)
        round_into(spectrum, backend, coefficients, pool)
        third(state, coefficients, constants, out)

    return tendency


def make_tendency_work(
    equations: EquationSet, convert: Conversion, dtype: DTypeLike,
    transformed: tuple[int, int] | None = None,
) -> tuple:  # fmt: skip
    """Work arrays: to the grid, on it, products there, from it, the transforms', the equations',
    the share of one thread alone, and what threads meet by.

    Where products take the place of fields, or kernels make shares, one longitude is spare, so that
    fields do not lie apart by a power of two, where caches hold few.

    Args:
        equations, convert: of the model.
        dtype: of the arrays.
        transformed: how many fields and products there are; left out: those of the conversion.
    """
    transform, (fields, products) = convert.transform, transformed or convert.transformed
    truncation, size = transform.truncation, transform.degree.size
    spare = int(equations.in_place or equations.share is not None)
    most, shape = max(fields, products), (truncation.nlon + spare, truncation.nlat)
    if equations.in_place:
        shared = aligned_zeros((most, *shape), dtype)
        on_grid, products_on_grid = shared[:fields], shared[:products]
    else:
        on_grid, products_on_grid = (
            aligned_zeros((count, *shape), dtype) for count in (fields, products)
        )
    return (
        aligned_zeros((size, 2 * fields), dtype),
        on_grid,
        products_on_grid,
        aligned_zeros((size, 2 * products), dtype),
        *_own_work(equations, convert, Share(truncation), dtype),
        new_counters(),
    )


def work_of_share(
    work: tuple, equations: EquationSet, convert: Conversion, share: Share, dtype: DTypeLike
) -> tuple:
    """Work arrays of a thread: what threads share is that of others' work, the rest is its own."""
    return *work[:4], *_own_work(equations, convert, share, dtype), work[-1]


def _own_work(
    equations: EquationSet, convert: Conversion, share: Share, dtype: DTypeLike
) -> tuple[tuple, tuple, np.ndarray]:
    """Return the arrays that no other thread may touch: the transforms' work, the equations', the
    share.
    """
    most = max(convert.transformed)
    return (
        make_work(share.truncation, most, dtype),
        () if equations.work is None else equations.work(convert, dtype),
        share.array,
    )
