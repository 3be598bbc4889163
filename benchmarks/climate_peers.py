"""Spherical-harmonic transforms of other libraries, measured beside ours where installed."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from sciprec.climate.transform.grid import Truncation

SHTNS_LATITUDES = 32
"""On fewer SHTns ends the whole process."""


def round_trips(truncation: Truncation, batch: int) -> dict[str, Callable]:
    """Row -> one synthesis and one analysis of each field of a batch, one thread, binary64."""
    makers = {"ducc0": ("ducc0", _ducc0)}
    if truncation.nlat >= SHTNS_LATITUDES:
        makers["SHTns"] = "shtns", _shtns
    return {
        row: make(truncation, batch)
        for row, (module, make) in makers.items()
        if importlib.util.find_spec(module)
    }


def _coefficients(count: int, batch: int) -> np.ndarray:
    rng = np.random.default_rng(2)
    parts = rng.uniform(-1, 1, (2, batch, count))
    return parts[0] + 1j * parts[1]


def _ducc0(truncation: Truncation, batch: int) -> Callable:
    import ducc0

    number = truncation.number
    alm = _coefficients((number + 1) * (number + 2) // 2, batch)
    alm[:, : number + 1].imag = 0.0
    back = np.zeros((1, alm.shape[1]), complex)
    field = np.zeros((1, truncation.nlat, truncation.nlon))
    common = {"spin": 0, "lmax": number, "geometry": "GL", "nthreads": 1, "map": field}

    def run() -> None:
        for f in range(batch):
            ducc0.sht.synthesis_2d(alm=alm[f : f + 1], **common)
            ducc0.sht.analysis_2d(alm=back, **common)

    return run


def _shtns(truncation: Truncation, batch: int) -> Callable:
    with _spoken_aside():  # it greets, and threads of its own would count as the next one's time
        import shtns

    transform = shtns.sht(truncation.number, truncation.number, nthreads=1)
    transform.set_grid(truncation.nlat, truncation.nlon, shtns.sht_gauss, 0.0)
    alm = _coefficients(transform.nlm, batch)
    alm[:, transform.m == 0] = alm[:, transform.m == 0].real
    back, field = transform.spec_array(), transform.spat_array()

    def run() -> None:
        for f in range(batch):
            transform.SH_to_spat(alm[f], field)
            transform.spat_to_SH(field.copy(), back)

    return run


@contextmanager
def _spoken_aside() -> Iterator[None]:
    """Send to standard error what a library prints: the benchmark's table has the output."""
    sys.stdout.flush()
    out = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        ctypes.CDLL(None).fflush(None)
        os.dup2(out, 1)
        os.close(out)
