"""Runs of the shallow-water cases and their norms against the truths in data/climate."""

from pathlib import Path

import numpy as np

from sciprec.climate.cases.registry import CASES
from sciprec.climate.constants import ModelUnits
from sciprec.climate.diagnostics.budgets import scalar_errors, wind_errors
from sciprec.climate.diagnostics.reference import Reference
from sciprec.climate.equations.shallow_water import ShallowWaterConversion
from sciprec.climate.running.integration import integrate
from sciprec.climate.transform.grid import GaussianGrid, resolve_truncation
from sciprec.climate.transform.spectral import reference_transform

DATA = Path(__file__).resolve().parents[2] / "data" / "climate"


def reference_norms(
    reference, grid, fields, orography
):
    """Normalised errors of a flow against a reference: those of depth and wind.

    Depths are compared, each above the ground of its own resolution, as the published norms do:
    at T42 a mountain's truncation alone is most of the error of Williamson et al.'s case 5.

    Args:
        reference: the truth.
        grid: of the fields.
        fields: height (m), u and v (m/s), each (nlat, nlon).
        orography: height of the ground in the run, m (nlat, nlon).

    Returns:
        height_l1, height_l2, height_linf and wind_l1, wind_l2, wind_linf, as `scalar_errors` and
        `wind_errors` define them.
    """
    truth = reference.fields(grid)
    depth = truth["height"] - truth["orography"]
    height = scalar_errors(grid, fields["height"] - orography, depth)
    wind = wind_errors(grid, (fields["u"], fields["v"]), (truth["u"], truth["v"]))
    return {f"height_{k}": x for k, x in height.items()} | {f"wind_{k}": x for k, x in wind.items()}


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
