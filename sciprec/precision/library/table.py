"""The table of NumPy's and SciPy's functions and the kernels that stand for them."""

import math

import numpy as np

from sciprec.precision.library import (
    construction,
    elementwise,
    linear_algebra,
    order_statistics,
    sequences,
    statistics,
)

LIBRARY = {
    np.radians: elementwise.radians, np.deg2rad: elementwise.radians,
    math.radians: elementwise.radians, np.degrees: elementwise.degrees,
    np.rad2deg: elementwise.degrees, math.degrees: elementwise.degrees,
    round: elementwise.rounded, np.round: elementwise.to_decimals,
    np.around: elementwise.to_decimals, divmod: elementwise.quotient_and_rest,
    np.clip: elementwise.clip, np.isclose: elementwise.isclose, np.allclose: elementwise.allclose,
    np.average: statistics.average, np.nansum: statistics.nansum, np.nanmean: statistics.nanmean,
    np.nanvar: statistics.nanvar, np.nanstd: statistics.nanstd, np.nanprod: statistics.nanprod,
    np.nanmax: statistics.nanmax, np.nanmin: statistics.nanmin,
    np.nancumsum: statistics.nancumsum, np.nancumprod: statistics.nancumprod,
    np.cumprod: statistics.cumprod, np.median: order_statistics.median,
    np.nanmedian: order_statistics.nanmedian, np.ptp: order_statistics.spread,
    np.percentile: order_statistics.percentile, np.quantile: order_statistics.quantile,
    np.nanpercentile: order_statistics.nanpercentile,
    np.nanquantile: order_statistics.nanquantile, np.identity: construction.identity,
    np.eye: construction.eye, np.tri: construction.tri, np.tril: construction.tril,
    np.triu: construction.triu, np.linspace: construction.linspace,
    np.vander: construction.vander, np.outer: construction.outer, np.kron: construction.kron,
    np.cross: construction.cross, np.trace: construction.trace, np.diff: sequences.diff,
    np.ediff1d: sequences.ediff1d, np.trapezoid: sequences.trapezoid,
    np.interp: sequences.interp, np.convolve: sequences.convolve,
    np.correlate: sequences.correlate, sum: sequences.added_up, np.bincount: sequences.bincount,
    np.fill_diagonal: construction.fill_diagonal, np.linalg.norm: linear_algebra.norm,
    np.linalg.solve: linear_algebra.solve, np.linalg.inv: linear_algebra.inv,
    np.linalg.det: linear_algebra.det, np.linalg.cholesky: linear_algebra.cholesky,
    np.linalg.qr: linear_algebra.qr,
}  # fmt: skip
"""function -> the kernel of the same arguments that is lifted in its place; other arguments of it
are refused.
"""

MADE_OF_NUMBERS = {construction.identity, construction.eye}
"""Kernels whose functions take a dtype: one of integers is left to Numba."""
