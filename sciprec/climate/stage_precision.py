"""Which stage of the transform needs which arithmetic: stages, and orders, in one of their own.

Orders do not meet in the Legendre stage. So its products may be in half precision for all but the
lowest orders: both arithmetics compute all of them, and each order is taken from its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from sciprec.climate.compiled import compiled
from sciprec.climate.constants import Units
from sciprec.climate.grid import GaussianGrid, Truncation, resolve_truncation
from sciprec.climate.initial import resolve_case
from sciprec.climate.legendre_stage import (
    legendre_analysis,
    legendre_synthesis,
    make_products_work,
)
from sciprec.climate.model import integrate
from sciprec.climate.real_fourier import fft_analysis, fft_synthesis
from sciprec.climate.shallow_water import ShallowWaterConversion
from sciprec.climate.shallow_water_kernels import grid_fluxes, grid_spectra, spectral_tendency
from sciprec.climate.transform import make_tables, make_work, reference_transform, rounded
from sciprec.errors import InputError
from sciprec.precision import Arithmetic, Backend, resolve_backend
from sciprec.precision.formats import FORMATS

_HALF, _SINGLE = (Arithmetic(FORMATS[name]) for name in ("binary16", "binary32"))
HALF_PRODUCTS = Backend("fp16, sums in binary32", _HALF, _HALF, _SINGLE, _SINGLE)
"""A matrix unit: factors in binary16, their products, which are exact, and sums in binary32."""
BANDS = {"m = 0": (0, 0), "m = 1 to 3": (1, 3), "m = 4 to 15": (4, 15), "m above 15": (16, None)}
"""Name of a band of orders -> its first and last one."""


@dataclass(frozen=True)
class Stages:
    """The arithmetics of the stages of a transform.

    Args:
        legendre: of the Legendre products.
        fourier: of the fast Fourier transform.
        kept: of the Legendre products of the lowest orders.
        kept_orders: how many orders from m = 0 on are computed in `kept`.
    """

    legendre: str | Backend = "fp64"
    fourier: str | Backend = "fp64"
    kept: str | Backend = "fp64"
    kept_orders: int = 0


CHOICES: dict[str, Stages] = {
    "fp16 in both stages": Stages("fp16", "fp16"),
    "fp16 in the Fourier stage": Stages(fourier="fp16"),
    "fp16 in the Legendre stage": Stages("fp16"),
    "the same, sums in binary32": Stages(HALF_PRODUCTS),
    "the same, m = 0 in fp32": Stages(HALF_PRODUCTS, kept="fp32", kept_orders=1),
    "the same, m = 0 to 3 in fp32": Stages(HALF_PRODUCTS, kept="fp32", kept_orders=4),
    "the same, m = 0 to 15 in fp32": Stages(HALF_PRODUCTS, kept="fp32", kept_orders=16),
}
"""What `stage_errors` compares unless told otherwise."""


class StagedTransform:
    """Transforms whose stages have arithmetics of their own.

    Args:
        truncation: the truncation and its grid.
        stages: the arithmetics.

    Precision: what a stage is given is rounded to its storage first, as its tables are.
    """

    def __init__(self, truncation: str | int | Truncation, stages: Stages) -> None:
        self.truncation = resolve_truncation(truncation)
        self.stages, self._tables = stages, make_tables(self.truncation)
        degrees = np.arange(self.truncation.number + 2, 1, -1)
        self._order = np.repeat(np.arange(degrees.size), degrees)

    def to_grid(self, spectrum: np.ndarray) -> np.ndarray:
        """Fields (fields, nlon, nlat), in the model's order, of (coefficients, 2 fields)."""
        row, fields = self.truncation, spectrum.shape[1] // 2
        backend, waves, work = self._fourier_stage(self._tables[0])
        grid = np.zeros((fields, row.nlon, row.nlat), backend.carrier)
        fourier = rounded(self._from_both(legendre_synthesis, 0, spectrum, self._fourier), backend)
        compiled(fft_synthesis, backend)(fourier, waves, work, grid)
        return grid.astype(np.float64)

    def to_spectrum(self, grid: np.ndarray) -> np.ndarray:
        """Coefficients (coefficients, 2 fields) of fields in the model's order, the degree above
        the truncation included.
        """
        backend, waves, work = self._fourier_stage(self._tables[1])
        fourier = self._fourier(grid.shape[0]).astype(backend.carrier)
        compiled(fft_analysis, backend)(rounded(grid, backend), waves, work, fourier)
        return self._from_both(legendre_analysis, 1, fourier.astype(np.float64), self._spectrum)

    def _fourier_stage(self, tables: tuple) -> tuple:
        """(arithmetic, tables, work) of the Fourier stage."""
        backend = resolve_backend(self.stages.fourier)
        work = make_work(self.truncation, 1, backend.carrier)[3]
        return backend, rounded(tables[1], backend), work

    def _fourier(self, fields: int) -> np.ndarray:
        tiles, orders, pair = make_work(self.truncation, 1)[0].shape[1:]
        return np.zeros((fields, tiles, orders, pair))

    def _spectrum(self, fields: int) -> np.ndarray:
        return np.zeros((self._order.size, 2 * fields))

    def _from_both(self, kernel, direction: int, given: np.ndarray, make) -> np.ndarray:
        """What a Legendre kernel makes in both arithmetics, each order from its own.

        Args:
            kernel: `legendre_synthesis` or `legendre_analysis`.
            direction: 0 or 1, of the tables.
            given: what it takes.
            make: what it writes, of a number of fields.
        """
        fields = given.shape[0] if direction else given.shape[1] // 2
        kept_orders = self.stages.kept_orders
        found = self._legendre(kernel, self.stages.legendre, direction, given, make(fields))
        if kept_orders:
            kept = self._legendre(kernel, self.stages.kept, direction, given, make(fields))
            if direction:
                found[self._order < kept_orders] = kept[self._order < kept_orders]
            else:
                found[:, :, :kept_orders] = kept[:, :, :kept_orders]
        return found

    def _legendre(self, kernel, name, direction: int, given, out) -> np.ndarray:
        backend, row = resolve_backend(name), self.truncation
        table = rounded(self._tables[direction][0], backend)
        work = make_products_work(row.number, row.nlat, backend.carrier)
        out = out.astype(backend.carrier)
        compiled(kernel, backend)(rounded(given, backend), table, *work, out)
        return out.astype(np.float64)


def stage_errors(
    case: str = "williamson_5",
    truncation: str | int | Truncation = "T42",
    days: float = 10.0,
    choices: Mapping[str, Stages] | None = None,
    step_seconds: float | None = None,
) -> list[dict]:
    """What arithmetics of the transform's stages cost, on a flow that the model has made in fp64.

    Errors are root mean squares relative to those of what fp64 makes of the same numbers: of the
    coefficients of the fields that are taken to the grid; of those of the products that come from
    it; of the tendencies of vorticity, divergence and geopotential from products in fp64 between
    both. Each variable is divided by its own size; variables are then averaged.

    Args:
        case: a shallow-water case.
        truncation: of run and transform.
        days: of the run, from whose end the state is taken.
        choices: name -> Stages; `CHOICES` when left out.
        step_seconds: of the run; left out, the usual one.

    Returns:
        For each choice `name`, `synthesis`, `analysis`, `tendency`, and the error of the tendency
        by bands of orders, `by_order`, and by total wavenumber, `by_degree` (T + 1,), each relative
        to the size of the tendency there.

    Raises:
        InputError: the case has other equations.

    Source: Hatfield et al. (2019) keep the lowest orders of half-precision Legendre transforms in
        higher precision.
    """
    row = resolve_truncation(truncation)
    convert, state = _state(case, row, days, step_seconds)
    given = _Given(convert, state)
    return [
        {"name": name, **given.errors(StagedTransform(row, stages))}
        for name, stages in (CHOICES if choices is None else choices).items()
    ]


def _state(case, row: Truncation, days, step_seconds) -> tuple[ShallowWaterConversion, np.ndarray]:
    """The conversion and the coefficients of a flow after some days."""
    found = resolve_case(case)
    if found.equations != "shallow_water":
        raise InputError(
            f"the case '{case}' has the equations '{found.equations}'; the stages of transforms "
            "are compared in a shallow-water case such as williamson_5, williamson_6 or galewsky"
        )
    grid = GaussianGrid(row)
    made = integrate(case, row, days, step_seconds=step_seconds, output_hours=24.0 * days)
    initial = found.initial(
        grid.lon_radians[:, None], grid.lat_radians[None, :], **found.parameters
    )
    names = "height", "vorticity", "divergence"
    fields = {name: grid.to_model(made.fields[name][-1]) for name in names}
    units = Units(made.step_seconds, found.radius_m)
    convert = ShallowWaterConversion.of(initial, reference_transform(row), units, 0.0)
    return convert, convert.to_state(replace(initial, **fields))


class _Given:
    """A state with what fp64 makes of it: coefficients, products on the grid, tendencies.

    Args:
        convert: of the case.
        state: (coefficients, 6).
    """

    def __init__(self, convert: ShallowWaterConversion, state: np.ndarray) -> None:
        self.factors, self.places, _ = convert.constants
        self.state, self.spectra = state, np.zeros((state.shape[0], 8))
        compiled(grid_spectra, "fp64")(state, *self.factors[1:4], self.spectra)
        self.exact = StagedTransform(convert.transform.truncation, Stages())
        self.degree, self.order = convert.transform.degree, convert.transform.order
        self.products = self.on_grid(self.exact.to_grid(self.spectra))
        self.from_grid = self.exact.to_spectrum(self.products)
        self.tendency = self.from_products(self.from_grid)

    def on_grid(self, fields: np.ndarray) -> np.ndarray:
        """Products (5, nlon, nlat) of fields (4, nlon, nlat)."""
        products = np.zeros((5, *fields.shape[1:]))
        compiled(grid_fluxes, "fp64")(fields, *self.places, products)
        return products

    def from_products(self, spectra: np.ndarray) -> np.ndarray:
        """Tendencies (coefficients, 6) from coefficients of the products."""
        tendency = np.zeros_like(self.state)
        compiled(spectral_tendency, "fp64")(self.state, spectra, self.factors, tendency)
        return tendency

    def errors(self, transform: StagedTransform) -> dict:
        """What a transform's errors are, as `stage_errors` gives them."""
        fields = transform.to_grid(self.spectra)
        tendency = self.from_products(transform.to_spectrum(self.on_grid(fields)))
        synthesis = self.exact.to_spectrum(fields)
        analysis = transform.to_spectrum(self.products)
        return {
            "synthesis": _relative(synthesis, self.spectra),
            "analysis": _relative(analysis, self.from_grid),
            "tendency": _relative(tendency, self.tendency),
            "by_order": {
                name: self._part(tendency, self._orders(first, last))
                for name, (first, last) in BANDS.items()
                if first <= self.order[-1]
            },
            "by_degree": [self._part(tendency, self.degree == n) for n in range(self.degree.max())],
        }

    def _orders(self, first: int, last: int | None) -> np.ndarray:
        last = self.order[-1] if last is None else last
        return (self.order >= first) & (self.order <= last)

    def _part(self, tendency: np.ndarray, rows: np.ndarray) -> float:
        return _relative(tendency[rows], self.tendency[rows])


def _relative(found: np.ndarray, truth: np.ndarray) -> float:
    """Root mean square of the errors of variables, each relative to the variable's own size.

    Args:
        found, truth: (rows, 2 variables); variables that are zero everywhere are left out.

    Returns:
        0 where all are.
    """
    error, size = (_squares(x) for x in (found - truth, truth))
    there = size > 0
    return float(np.sqrt(np.mean(error[there] / size[there]))) if there.any() else 0.0


def _squares(values: np.ndarray) -> np.ndarray:
    """Sum of squares of each variable."""
    return (values**2).reshape(values.shape[0], -1, 2).sum(axis=(0, 2))
