"""32-bit fixed point: nearer to binary64 than binary32 is, and the same bits in any order."""


import numpy as np
import pytest

from sciprec.climate.running.integration import integrate
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


def wave(backend, days=0.05):
    """Fields of the wave of Rossby and Haurwitz after some days."""
    return integrate(
        "rossby_haurwitz", SMALL, days, step_seconds=1080.0, backend=backend, time_scheme="rk4"
    ).fields


@pytest.mark.slow
def test_it_is_nearer_to_binary64_than_binary32():
    truth, fixed, single = (wave(backend, 0.5) for backend in ("fp64", "fixed32", "fp32"))
    for name, exact in truth.items():
        mine, other = (np.abs(fields[name][-1] - exact[-1]).max() for fields in (fixed, single))
        assert 0 < mine <= other, name
