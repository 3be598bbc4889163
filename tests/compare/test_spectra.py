"""Kinetic energy spectra and errors by scale, of single harmonics and of the model; departures."""

import numpy as np
import pytest
import xarray as xr
from scipy.special import sph_harm_y

from sciprec.climate.diagnostics.derived import kinetic_energy_spectrum
from sciprec.climate.transform.grid import resolve_truncation
from sciprec.climate.transform.spectral import reference_transform
from sciprec.foundation.errors import InputError
from sciprec.report.sections import evidence_matrix
from sciprec.results.comparison.evidence import spectra
from sciprec.results.comparison.evidence.error_scales import error_scales
from sciprec.results.comparison.evidence.spectra import mean_spectrum, spectrum_ratio
from sciprec.results.comparison.wording import number

RADIUS = 6.4e6
NLAT, NLON = 32, 64  # T21
LAT = np.degrees(np.arcsin(np.polynomial.legendre.leggauss(NLAT)[0]))
LON = np.arange(NLON) * 360.0 / NLON
ALL = slice(None)


def harmonic(degree, order, phase=0.0):
    """A real harmonic (nlat, nlon)."""
    theta, phi = np.meshgrid(np.radians(90.0 - LAT), np.radians(LON) + phase, indexing="ij")
    return sph_harm_y(degree, order, theta, phi).real


def run(vorticity, divergence=None, lat=LAT):
    """A run with one or more times of vorticity."""
    fields = {"vorticity": vorticity}
    fields |= {} if divergence is None else {"divergence": divergence}
    area = np.full((NLAT, NLON), 4 * np.pi * RADIUS**2 / (NLAT * NLON))
    return xr.Dataset(
        {k: (("time", "lat", "lon"), np.asarray(v)) for k, v in fields.items()}
        | {"cell_area": (("lat", "lon"), area)},
        coords={"time": np.arange(len(vorticity)) * 1.0, "lat": lat, "lon": LON},
    )


def square_mean(field):
    """Mean square over the sphere by Gauss's weights."""
    return np.sum(field**2 * np.polynomial.legendre.leggauss(NLAT)[1][:, None]) / (2 * NLON)


@pytest.mark.parametrize(("degree", "order"), [(1, 0), (5, 0), (7, 3), (21, 21), (21, 4)])
def test_a_harmonic_has_its_energy_at_its_degree(degree, order):
    """The wind of a vorticity of degree l has the energy a^2 <zeta^2> / (2 l (l+1))."""
    field = 1e-5 * harmonic(degree, order, 0.3)
    spectrum = mean_spectrum(run([field]), ALL)
    expected = np.zeros(32)  # what the grid could hold; the truncation is 21
    expected[degree] = RADIUS**2 * square_mean(field) / (2 * degree * (degree + 1))
    np.testing.assert_allclose(spectrum, expected, rtol=1e-10, atol=1e-12 * expected.max())


@pytest.mark.slow
def test_it_is_the_spectrum_of_the_model():
    rng = np.random.default_rng(3)
    both = 1e-5 * rng.normal(size=(2, 2, NLAT, NLON))
    transform = reference_transform(resolve_truncation(21))
    fields = dict(zip(("vorticity", "divergence"), both, strict=True))
    expected = kinetic_energy_spectrum(fields, transform, RADIUS).mean(axis=0)
    np.testing.assert_allclose(mean_spectrum(run(*both), ALL)[:22], expected, rtol=1e-10)
    stored = run(*both).drop_vars(["vorticity", "divergence"])
    stored["kinetic_energy_spectrum"] = (("time", "total_wavenumber"), [expected, expected])
    np.testing.assert_array_equal(mean_spectrum(stored, ALL), expected)


def sum_of_harmonics(factors):
    """One harmonic per degree, whose energies are multiplied by factors (21,)."""
    parts = [np.sqrt(f) * harmonic(k + 1, 1) / (k + 1) for k, f in enumerate(factors)]
    return 1e-5 * np.sum(parts, axis=0)


def test_departure_is_where_every_smaller_scale_is_off():
    factors = np.ones(21)
    factors[3] = 2.0  # a single scale is no departure
    factors[14:] = 3.0
    truth, other = run([sum_of_harmonics(np.ones(21))]), run([sum_of_harmonics(factors)])
    found = spectrum_ratio(truth, other)
    np.testing.assert_allclose(found.ratio, factors, rtol=1e-9)
    assert found.departs_at == 15
    assert found.sentence == (
        "kinetic energy departs from total wavenumber 15 on; at 21 it is 3 times that of fp64"
    )
    same = spectrum_ratio(truth, truth)
    assert same.departs_at is None and "agrees down to the smallest scales" in same.sentence
    fewer = spectrum_ratio(truth, run([sum_of_harmonics(1 / factors)]))
    assert fewer.sentence.endswith("at 21 it is 1 / 3 of that of fp64")


def test_members_widen_what_is_no_departure():
    factors = np.ones(21)
    factors[10:] = 1.5
    truth, other = run([sum_of_harmonics(np.ones(21))]), run([sum_of_harmonics(factors)])
    assert spectrum_ratio(truth, other).departs_at == 11
    factors[10:16] = 1.6
    factors[16:] = 1.2
    member = run([sum_of_harmonics(factors)])
    found = spectrum_ratio(truth, other, [member])
    assert found.departs_at == 17
    np.testing.assert_allclose(found.accepted[12], [1 / 1.1, 1.6], rtol=1e-9)


# ---- errors of the wind by scale -----------------------------------------------------------------


def flow(*factors):
    """A zonal jet of degree 5 and a wave (7, 3), multiplied by factors."""
    return 1e-5 * (factors[0] * harmonic(5, 0) + factors[1] * harmonic(7, 3, 0.4))


def test_each_harmonic_has_its_own_error():
    truth, other = run([flow(1, 1)] * 2), run([flow(2, 2), flow(1.001, 0.98)])
    found = error_scales(truth, other)
    expected = np.full(7, np.nan)
    expected[[4, 6]] = 1e-3, 2e-2
    np.testing.assert_allclose(found.by_degree, expected, rtol=1e-6)
    np.testing.assert_array_equal(found.wavenumber, np.arange(1, 8))
    assert found.by_band == pytest.approx({"m = 0": 1e-3, "m = 1 to 3": 2e-2}, rel=1e-6)
    wind = np.array([1.0 / 30.0, 0.5 / 56.0])  # mean squares of both harmonics over l (l+1)
    whole = np.sqrt((wind * [1e-6, 4e-4]).sum() / wind.sum())
    assert found.whole == pytest.approx(whole, rel=1e-6) and found.days == 1.0
    on_page = {head: cell for head, part, cell in evidence_matrix._COLUMNS if part == "scales"}
    assert on_page["relative error of the wind"](vars(found)) == number(whole)
    assert found.sentence.endswith(": 1.0e-03 at m = 0, 0.02 at m = 1 to 3")


def test_divergence_and_levels_count_too():
    both = run([flow(1, 0)], [flow(0, 1)])
    other = run([flow(1, 0)], [flow(0, 1.5)])
    found = error_scales(both, other)
    assert found.by_band == pytest.approx({"m = 0": 0.0, "m = 1 to 3": 0.5}, abs=1e-12)
    layers = [data.expand_dims(sigma=[0.3, 0.7], axis=1) for data in (both, other)]
    for name, values in found.by_band.items():
        assert error_scales(*layers).by_band[name] == pytest.approx(values, abs=1e-12)


def test_what_has_no_scales():
    truth = run([flow(1, 1)])
    with pytest.raises(InputError, match="no 'vorticity'; store it with the key 'variables'"):
        error_scales(truth, truth.drop_vars("vorticity"))
    broken = run([np.where(flow(1, 1) > 0, np.nan, 1.0)])
    with pytest.raises(InputError, match="'vorticity' holds values that are not finite"):
        error_scales(truth, broken)
    still = run([0.0 * flow(1, 1)])
    assert error_scales(still, still).sentence == "there is no wind"


def test_what_has_no_spectrum_is_a_sentence(monkeypatch):
    field = harmonic(3, 1)
    with pytest.raises(InputError, match="neither 'kinetic_energy_spectrum' nor 'vorticity'"):
        mean_spectrum(run([field]).drop_vars("vorticity"), ALL)
    monkeypatch.setattr(spectra, "MOST_LATITUDES", 31)
    with pytest.raises(InputError, match="32 latitudes are too many to make a spectrum"):
        mean_spectrum(run([field]), ALL)
    even = np.linspace(-89, 89, NLAT)
    with pytest.raises(InputError, match="not those of a Gaussian grid"):
        mean_spectrum(run([field], lat=even), ALL)
