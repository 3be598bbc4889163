"""Which wavenumbers need more than half precision in the Legendre sums of a weather map?

`python data/climate/half_products.py` takes the vorticity, divergence and temperature of
Jablonowski and Williamson's wave at day 9 (T42, 24 levels, binary64), rounds the factors of the
Legendre sums to binary16, multiplies and adds exactly, as a matrix unit with a wide accumulator
nearly does, and prints how large the errors are. Some wavenumbers may stay in binary64, as in
Hatfield et al. (2019).
"""

from __future__ import annotations

import numpy as np

from sciprec.climate.running.integration import integrate
from sciprec.climate.transform.grid import Truncation, resolve_truncation
from sciprec.climate.transform.legendre import coefficient_orders, gauss_nodes, legendre_table

FIELDS = ("vorticity", "divergence", "temperature")
BANDS = ((0, 0), (1, 3), (4, 10), (11, 21), (22, 42))
KEPT = {
    "nothing": lambda degree, order: degree < 0,
    "m = 0": lambda degree, order: order == 0,
    "l <= 3": lambda degree, order: degree <= 3,
    "l <= 10": lambda degree, order: degree <= 10,
    "l <= 21": lambda degree, order: degree <= 21,
    "m = 0 and l <= 10": lambda degree, order: (order == 0) | (degree <= 10),
}
"""Name -> which total and zonal wavenumbers stay in binary64."""


def half(x: np.ndarray) -> np.ndarray:
    """Rounded to binary16; real and imaginary parts on their own."""
    parts = np.stack([x.real, x.imag]).astype(np.float16).astype(np.float64)
    return parts[0] + 1j * parts[1] if np.iscomplexobj(x) else parts[0]


class Legendre:
    """The two Legendre stages of a truncation in plain NumPy.

    Args:
        truncation: with its grid.
    """

    def __init__(self, truncation: Truncation) -> None:
        nodes, self.weights = gauss_nodes(truncation.nlat)
        degree, order = coefficient_orders(truncation.number)
        kept = degree <= truncation.number
        self.degree, self.order = degree[kept], order[kept]
        self.table = legendre_table(truncation.number, nodes)[kept]
        self.share = np.where(self.order > 0, 2.0, 1.0)

    def synthesis(self, coefficients: np.ndarray, exact: np.ndarray) -> np.ndarray:
        """Fourier coefficients (fields, orders, nlat), the marked wavenumbers in binary64."""
        table = np.where(exact[:, None], self.table, half(self.table))
        factors = np.where(exact, coefficients, half(coefficients))
        rows = np.zeros((len(coefficients), self.order.max() + 1, self.weights.size), complex)
        for m in range(rows.shape[1]):
            rows[:, m] = factors[:, self.order == m] @ table[self.order == m]
        return rows

    def analysis(self, fourier: np.ndarray, exact: np.ndarray) -> np.ndarray:
        """Coefficients (fields, coefficients), the marked wavenumbers in binary64."""
        table = self.table * self.weights
        full = np.einsum("fcj,cj->fc", fourier[:, self.order], table)
        few = np.einsum("fcj,cj->fc", half(fourier[:, self.order]), half(table))
        return np.where(exact, full, few)

    def size(self, rows: np.ndarray) -> float:
        """Root mean square over the sphere of Fourier coefficients."""
        share = np.where(np.arange(rows.shape[1]) > 0, 2.0, 1.0)
        return float(np.sqrt(np.einsum("fmj,m,j->", np.abs(rows) ** 2, share, self.weights)))


def weather(truncation: Truncation, days: float = 9.0) -> dict[str, np.ndarray]:
    """Fourier coefficients (levels, orders, nlat) of the fields, north to south, largest 1."""
    made = integrate(
        "jablonowski_williamson", truncation, days, step_seconds=truncation.step_seconds,
        output_hours=24 * days, variables=FIELDS,
    )  # fmt: skip
    out = {}
    for name in FIELDS:
        field = made.fields[name][-1][:, ::-1]
        field = field - (300.0 if name == "temperature" else 0.0)
        rows = np.fft.rfft(field / np.abs(field).max(), norm="forward")
        out[name] = np.swapaxes(rows, 1, 2)[:, : truncation.number + 1]
    return out


def synthesis_errors(legendre: Legendre, coefficients: np.ndarray) -> list[float]:
    """Relative rms error of the field for each row of `KEPT`."""
    truth = legendre.synthesis(coefficients, np.full(legendre.order.size, True))
    marks = (keep(legendre.degree, legendre.order) for keep in KEPT.values())
    errors = (legendre.synthesis(coefficients, mark) - truth for mark in marks)
    return [legendre.size(error) / legendre.size(truth) for error in errors]


def analysis_errors(legendre: Legendre, fourier: np.ndarray, zonal: bool) -> list[float]:
    """Relative rms error of the coefficients, m = 0 or not, of each band of total wavenumbers."""
    truth, found = (
        legendre.analysis(fourier, np.full(legendre.order.size, exact)) for exact in (True, False)
    )
    out = []
    for first, last in BANDS:
        band = (legendre.degree >= first) & (legendre.degree <= last)
        band &= (legendre.order == 0) == zonal
        share = legendre.share[band]
        size, error = (
            np.sum(share * np.abs(x[:, band]) ** 2) for x in (truth, found - truth)
        )  # fmt: skip
        out.append(float(np.sqrt(error / size)) if size > 1e-20 else 0.0)
    return out


def main(truncation: Truncation) -> None:
    """Print both tables."""
    legendre = Legendre(truncation)
    rows = weather(truncation)
    exact = np.full(legendre.order.size, True)
    spectra = {name: legendre.analysis(x, exact) for name, x in rows.items()}
    print(f"fields, relative rms error ({', '.join(FIELDS)}):")
    table = np.array([synthesis_errors(legendre, spectra[name]) for name in FIELDS]).T
    for kept, line in zip(KEPT, table, strict=True):
        print(f"  in binary64: {kept:20s}", *(f"{x:.1e}" for x in line))
    for zonal, words in ((True, "m = 0"), (False, "m > 0")):
        print(f"coefficients, {words}, relative rms error of a band:")
        table = np.array([analysis_errors(legendre, rows[name], zonal) for name in FIELDS]).T
        for (first, last), line in zip(BANDS, table, strict=True):
            print(f"  l = {first} to {last}:".ljust(34), *(f"{x:.1e}" for x in line))


if __name__ == "__main__":
    main(resolve_truncation("T42"))
