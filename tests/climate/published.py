"""Runs of the shallow-water cases and their norms against the truths in data/climate."""

from pathlib import Path

import numpy as np

from sciprec.climate.cases.registry import CASES
from sciprec.climate.constants import ModelUnits
from sciprec.climate.diagnostics.reference import Reference, reference_norms
from sciprec.climate.equations.shallow_water import ShallowWaterConversion
from sciprec.climate.running.integration import integrate
from sciprec.climate.transform.grid import GaussianGrid, resolve_truncation
from sciprec.climate.transform.spectral import reference_transform

DATA = Path(__file__).resolve().parents[2] / "data" / "climate"


def norms(case, run, truncation, day):
    """`reference_norms` of the fields of a run at a day."""
    row = resolve_truncation(truncation)
    grid = GaussianGrid(row)
    initial = CASES[case].initial(grid.lon_radians[:, None], grid.lat_radians[None, :])
    transform = reference_transform(row)
    ground = ShallowWaterConversion.of(initial, transform, ModelUnits(600.0), 0.0).orography
    reference = Reference.load(DATA / f"{case}_day{day}.npz")
    index = int(np.argmin(np.abs(run.time_days - day)))
    fields = {name: values[index] for name, values in run.fields.items()}
    return reference_norms(reference, grid, fields, ground)


def integrated(case, truncation, days, step, diffusion, parameters=None, **options):
    """The trajectory of a case as the published norms have it, stored every seven days."""
    parameters = {"diffusion_m4_per_s": diffusion, **(parameters or {})}
    return integrate(
        case, truncation, days, step_seconds=step, output_hours=168.0,
        time_scheme="semi_implicit_leapfrog", parameters=parameters, **options,
    )  # fmt: skip
