"""Which stage of the transform needs which arithmetic, by one evaluation of a tendency.

What a run with such stages comes to: the parameter `stages` of `model.integrate`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from sciprec.climate.cases.registry import resolve_case
from sciprec.climate.constants import ModelUnits
from sciprec.climate.equations.registry import EQUATIONS
from sciprec.climate.equations.shallow_water import ShallowWaterConversion
from sciprec.climate.running.integration import integrate
from sciprec.climate.stages.staged_transform import StagedTransform
from sciprec.climate.transform.compiled import compiled
from sciprec.climate.transform.grid import GaussianGrid, Truncation, resolve_truncation
from sciprec.climate.transform.spectral import reference_transform
from sciprec.facets.stages.arithmetics import STAGES, Stages
from sciprec.foundation.errors import InputError
from sciprec.results.comparison.evidence.error_scales import BANDS


def stage_errors(
    case: str = "williamson_5",
    truncation: str | int | Truncation = "T42",
    days: float = 10.0,
    choices: Mapping[str, Stages] | None = None,
    step_seconds: float | None = None,
    formulation: str = "careful",
) -> list[dict]:
    """Errors of arithmetics in the transform's stages, on a flow that the model has made in fp64.

    Errors are root mean squares relative to those of what fp64 makes of the same numbers: of the
    coefficients of the fields that are taken to the grid; of those of the products that come from
    it; of the tendencies of vorticity, divergence and geopotential from products in fp64 between
    both. Each variable is divided by its own size; variables are then averaged.

    Args:
        case: a shallow-water case.
        truncation: of run and transform.
        days: of the run, from whose end the state is taken.
        choices: name -> Stages; `STAGES` when left out. What they leave out is in fp64.
        step_seconds: of the run; left out, the usual one.
        formulation: of the equations, such as "careful" or "whole".

    Returns:
        For each choice `name`, `synthesis`, `analysis`, `tendency`, and the error of the tendency
        by bands of orders, `by_order`, and by total wavenumber, `by_degree` (T + 1,), each relative
        to the size of the tendency there.

    Raises:
        InputError: the case has other equations, or an argument is none that a run takes.

    Source: Hatfield et al. (2019) keep the lowest orders of half-precision Legendre transforms in
        higher precision.
    """
    row = resolve_truncation(truncation)
    convert, state = _state(case, row, days, step_seconds, formulation)
    given = _Given(convert, state)
    return [
        {"name": name, **given.errors(StagedTransform(row, stages))}
        for name, stages in (STAGES if choices is None else choices).items()
    ]


def _state(
    case: str, row: Truncation, days: float, step_seconds: float | None, formulation: str
) -> tuple[ShallowWaterConversion, np.ndarray]:
    """The conversion and the coefficients of a flow after some days."""
    found = resolve_case(case)
    if found.equations != "shallow_water":
        raise InputError(
            f"the case '{case}' has the equations '{found.equations}'; the stages of transforms "
            "are compared in a shallow-water case such as williamson_5, williamson_6 or galewsky"
        )
    grid = GaussianGrid(row)
    made = integrate(
        case, row, days, step_seconds=step_seconds, output_hours=24.0 * days,
        parameters={"formulation": formulation},
    )  # fmt: skip
    initial = found.initial(
        grid.lon_radians[:, None], grid.lat_radians[None, :], **found.parameters
    )
    names = "height", "vorticity", "divergence"
    fields = {name: grid.to_model(made.fields[name][-1]) for name in names}
    units = ModelUnits(made.step_seconds, found.radius_m)
    given = initial, reference_transform(row), units, 0.0
    convert = ShallowWaterConversion.of(*given, formulation)
    return convert, convert.to_state(replace(initial, **fields))


class _Given:
    """A state with what fp64 makes of it: coefficients, products on the grid, tendencies.

    Args:
        convert: of the case.
        state: (coefficients, 6).
    """

    def __init__(self, convert: ShallowWaterConversion, state: np.ndarray) -> None:
        self.kernels = [compiled(k, "fp64") for k in EQUATIONS["shallow_water"].kernels]
        self.constants, self.state = convert.constants, state
        self.exact = StagedTransform(convert.transform.truncation, Stages())
        self.degree, self.order = convert.transform.degree, convert.transform.order
        self.spectra = np.zeros((state.shape[0], 2 * convert.transformed[0]))
        self.kernels[0](state, self.constants, self.spectra)
        self.products = self.on_grid(self.exact.to_grid(self.spectra))
        self.from_grid = self.exact.to_spectrum(self.products)
        self.tendency = self.from_products(self.from_grid)

    def on_grid(self, fields: np.ndarray) -> np.ndarray:
        """Products (5, nlon, nlat) of fields (4, nlon, nlat)."""
        products = np.zeros((5, *fields.shape[1:]))
        self.kernels[1](fields, self.constants, (), products)
        return products

    def from_products(self, spectra: np.ndarray) -> np.ndarray:
        """Tendencies (coefficients, 6) from coefficients of the products."""
        tendency = np.zeros_like(self.state)
        self.kernels[2](self.state, spectra, self.constants, tendency)
        return tendency

    def errors(self, transform: StagedTransform) -> dict:
        """A transform's errors, as `stage_errors` gives them."""
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
