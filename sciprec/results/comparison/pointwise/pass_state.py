"""The data of the compiled pass over pairs of values: its limits, and the state that it adds to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class ClassLimits(NamedTuple):
    """Limits of the classes of the run's number format: bits of magnitudes, and its last places.

    Args:
        normal, saturated: bits of the least normal and of the largest finite magnitude.
        significand_bits: p; 0 where the format has no one unit in the last place.
        emin: least exponent of normal numbers.
    """

    normal: int
    saturated: int
    significand_bits: int
    emin: int


class State(NamedTuple):
    """Counters of the pass; all merge by sums and maxima but the worst of this call.

    Args:
        matrix: pairs by class of truth and run, (7, 7).
        differing: pairs whose bits differ, (1,).
        changed_place: first place of this call where only one is finite or both differ, (1,).
        largest: bits of the largest of each of `HISTOGRAMS`, and of the truth, (4,).
        histograms: pairs per logarithmic bin of each of `HISTOGRAMS`, (3, BINS).
        magnitudes: by exponent of the truth: pairs, pairs without error, bits of the largest error,
            sum of log2 of the errors in units of 2^-20, (2048, 4).
        sums: the places of each of `SUMS`, (10, PLACES).
        worst: largest errors of this call, descending, (k,), and their places.
    """

    matrix: np.ndarray
    differing: np.ndarray
    changed_place: np.ndarray
    largest: np.ndarray
    histograms: np.ndarray
    magnitudes: np.ndarray
    sums: np.ndarray
    worst: np.ndarray
    worst_place: np.ndarray
