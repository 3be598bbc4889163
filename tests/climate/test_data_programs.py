"""The programs in data/climate: Legendre sums in few bits, and rows of the stored tables."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from sciprec.climate.transform.grid import Truncation
from sciprec.climate.transform.spectral import reference_transform

FOLDER = Path(__file__).parents[2] / "data" / "climate"
SMALL = Truncation(10, 16, 32, 1200.0)


def program(name):
    """A program of the folder as a module."""
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    sys.modules[name] = importlib.util.module_from_spec(spec)  # dataclasses look themselves up
    spec.loader.exec_module(sys.modules[name])
    return sys.modules.pop(name)


@pytest.fixture(scope="module")
def sums():
    """The program of Legendre sums, its stages at T10, and random coefficients."""
    half_products = program("half_products")
    legendre = half_products.Legendre(SMALL)
    rng = np.random.default_rng(5)
    pair = rng.uniform(-1, 1, (2, 3, legendre.order.size))
    return half_products, legendre, pair[0] + 1j * np.where(legendre.order > 0, pair[1], 0.0)


def test_legendre_sums_are_those_of_the_transform(sums):
    """Fourier coefficients of the package's fields on the grid, and the coefficients back."""
    _, legendre, coefficients = sums
    exact = np.full(legendre.order.size, True)
    rows = legendre.synthesis(coefficients, exact)
    transform = reference_transform(SMALL)
    spectrum = np.zeros((transform.degree.size, 6))
    inside = transform.degree <= SMALL.number
    spectrum[inside, 0::2], spectrum[inside, 1::2] = coefficients.real.T, coefficients.imag.T
    fields = [transform.grid.to_output(x)[::-1] for x in transform.to_grid(spectrum)]
    found = np.fft.rfft(fields, norm="forward")[..., : SMALL.number + 1]
    np.testing.assert_allclose(np.swapaxes(rows, 1, 2), found, rtol=0, atol=1e-13)
    np.testing.assert_allclose(legendre.analysis(rows, exact), coefficients, rtol=0, atol=1e-13)
    rms = np.sqrt(np.sum(transform.grid.mean(np.square(fields))))
    assert legendre.size(rows) == pytest.approx(rms)


def test_errors_of_half_products_vanish_where_all_wavenumbers_are_kept(sums):
    half_products, legendre, coefficients = sums
    errors = dict(zip(half_products.KEPT, half_products.synthesis_errors(legendre, coefficients),
                      strict=True))  # fmt: skip
    assert 2.0**-13 < errors["nothing"] < 2.0**-11
    assert errors["l <= 3"] < errors["nothing"] and errors["l <= 10"] == 0.0
    rows = legendre.synthesis(coefficients, np.full(legendre.order.size, True))
    bands = half_products.analysis_errors(legendre, rows, zonal=False)
    assert bands[0] == 0.0 and all(2.0**-14 < x < 2.0**-9 for x in bands[1:3])


def test_half_is_binary16():
    half = program("half_products").half
    assert half(np.array([1 + 2.0**-12, 1 + 3 * 2.0**-11])).tolist() == [1.0, 1 + 2.0**-9]
    assert half(np.array([0.1j])) == 1j * float(np.float16(0.1))


def test_a_row_of_the_table_compares_equal_numbers_of_days():
    make = program("make")
    rng = np.random.default_rng(2)
    members = [{n: rng.normal(size=(4, 2, 3)) for n in ("u", "temperature")} for _ in range(5)]
    shares = np.full((2, 3), 1 / 6)
    run = {n: members[0][n][:2] + 9.0 for n in ("u", "temperature")} | {"blow_up": np.array("")}
    row = make.compared(make.Climate(backend="fp16", compensation="carry"), run, members, shares)
    assert (row["name"], row["days"], row["blow_up"]) == ("fp16+carry", 100, None)
    middle = np.mean([one["u"][:2] for one in members], axis=(0, 1))
    expected = run["u"].mean(axis=0) - middle
    np.testing.assert_allclose(row["u"]["bias"], expected, rtol=1e-3)
    assert row["u"]["departure"]["mean"] == pytest.approx(expected.mean(), rel=1e-3)
    assert row["u"]["within"] is False and row["u"]["limits"]["mean"] < 9.0
    empty = {n: x[:0] for n, x in members[0].items()} | {"blow_up": np.array("day 3")}
    assert make.compared(make.Climate(), empty, members, shares) == {
        "name": "fp64", "days": 0, "blow_up": "day 3"
    }  # fmt: skip


def test_files_hold_what_was_written_in_lines(tmp_path):
    make = program("make")
    path = make.written({"a": [[1.0, 2.0], [3.0, 4.0]], "b": {"c": 1}}, tmp_path / "X.json")
    assert path.name == "x.json"
    assert path.read_text() == '{"a": [[1.0, 2.0],\n[3.0, 4.0]],\n"b": {"c": 1}}\n'
