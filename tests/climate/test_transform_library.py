"""The transform against an independent library, ducc0 (Reinecke and Seljebotn 2013)."""

import ducc0
import numpy as np
import pytest

from sciprec.climate.transform.grid import resolve_truncation
from sciprec.climate.transform.legendre import coefficient_orders
from sciprec.climate.transform.spectral import reference_transform

SLOW = pytest.mark.slow


def starts(number):
    """Where l = 0 of each order would stand among our coefficients."""
    lengths = np.arange(number + 2, 1, -1)
    return (np.cumsum(lengths) - lengths - np.arange(number + 1)).astype(np.uint64)


def complex_coefficients(spectrum, degree, order):
    """Our coefficients of one field in the library's normalisation, (1, coefficients)."""
    sign = np.where(order % 2, -1.0, 1.0) * np.sqrt(4 * np.pi)
    return ((spectrum[:, 0] + 1j * spectrum[:, 1]) * sign)[None]


def library_field(spectrum, truncation):
    """The field of our coefficients by the library, (nlat, nlon), north to south."""
    degree, order = coefficient_orders(truncation.number)
    return ducc0.sht.synthesis_2d(
        alm=complex_coefficients(spectrum, degree, order),
        spin=0,
        lmax=truncation.number + 1,
        mmax=truncation.number,
        mstart=starts(truncation.number),
        geometry="GL",
        ntheta=truncation.nlat,
        nphi=truncation.nlon,
        nthreads=1,
    )[0]


@pytest.mark.parametrize("name", ["T42", "T85", pytest.param("TL127", marks=SLOW)])
def test_fields_of_random_coefficients(name):
    """The error of a sum of (T + 2)^2 / 2 terms grows with its size; each table entry is exact."""
    truncation = resolve_truncation(name)
    transform = reference_transform(truncation)
    spectrum = np.random.default_rng(5).uniform(-1, 1, (transform.degree.size, 2))
    spectrum[transform.order == 0, 1] = 0.0
    ours = transform.grid.to_output(transform.to_grid(spectrum)[0])[::-1]
    theirs = library_field(spectrum, truncation)
    assert np.abs(ours - theirs).max() <= 1e-13 * np.abs(theirs).max() * max(
        1, truncation.number / 42
    )
