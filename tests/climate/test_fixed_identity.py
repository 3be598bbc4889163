"""32-bit fixed point: nearer to binary64 than binary32 is, and the same bits in any order."""


import numpy as np
import pytest

from sciprec.climate.transform.spectral import SpectralTransform
from tests.climate.small_models import SMALL, random_spectrum

FIELDS = 10


@pytest.fixture(scope="module")
def transformed():
    """A transform whose units come from one batch; its coefficients, fields and coefficients."""
    transform = SpectralTransform(SMALL, "fixed32", "matrix")
    spectrum = random_spectrum(transform, FIELDS) / 16
    fields = transform.to_grid(spectrum)
    return transform, spectrum, fields, transform.to_spectrum(fields)


def columns(fields):
    return np.array([[2 * f, 2 * f + 1] for f in fields]).ravel()


@pytest.mark.slow
@pytest.mark.parametrize("chosen", [np.random.default_rng(1).permutation(FIELDS), [3], [9, 0, 4]])
def test_any_order_and_any_batch_of_fields_and_levels_gives_the_same_bits(transformed, chosen):
    transform, spectrum, fields, back = transformed
    alone = transform.to_grid(spectrum[:, columns(chosen)])
    np.testing.assert_array_equal(alone, fields[chosen])
    np.testing.assert_array_equal(transform.to_spectrum(alone), back[:, columns(chosen)])


@pytest.mark.slow
def test_it_is_nearer_to_binary64_than_binary32(transformed):
    _, spectrum, fields, back = transformed
    exact, single = (SpectralTransform(SMALL, backend) for backend in ("fp64", "fp32"))
    truth = exact.to_grid(spectrum)
    for mine, its, right in (
        (fields, single.to_grid(spectrum), truth),
        (back, single.to_spectrum(single.to_grid(spectrum)), exact.to_spectrum(truth)),
    ):
        assert 0 < np.abs(mine - right).max() < np.abs(its - right).max()
