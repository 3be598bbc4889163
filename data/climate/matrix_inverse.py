"""Does an analysis that inverts the rounded synthesis help a matrix unit with few bits?

`python data/climate/matrix_inverse.py` runs flow over the mountain (case 5, T42, RK4 with 1200 s, 5
days) with Legendre products on matrix units with tables in int8, and again with the pseudo-inverse
of the rounded synthesis table in the place of the analysis table, rounded to int8 in its turn. It
prints the relative l2 errors of the height against fp64, for fields in fp16 and in int8, a scale
for each function and one for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from unittest.mock import patch

import numpy as np

from sciprec.arrays.matrix_unit.unit import MatrixUnit
from sciprec.arrays.matrix_unit.unit_table import UnitTable
from sciprec.climate.running.integration import Trajectory, integrate
from sciprec.climate.stages.matrix_legendre import MatrixLegendre, legendre_matrices
from sciprec.climate.transform.grid import Truncation
from sciprec.facets.stages.arithmetics import Stages

INT8 = "matrix:table=int8,field=fp16"
UNITS = (
    INT8, f"{INT8},scale=tensor", "matrix:table=int8,field=int8",
    "matrix:table=int8,field=int8,scale=tensor",
)  # fmt: skip


def inverted(truncation: Truncation, unit: MatrixUnit) -> tuple[np.ndarray, np.ndarray]:
    """The matrices of the synthesis, and pseudo-inverses of them as rounded for the analysis.

    X = P^T S at northern latitudes; the analysis has north + south = 2 X: S = pinv(P^T) (2 X) / 2
    """
    forth, back = legendre_matrices(truncation, unit.step)
    rounded = UnitTable.of(forth, unit, "rows").values()
    north = truncation.nlat // 2
    made = np.zeros_like(back)
    for b, table in enumerate(rounded):
        there = np.abs(table).max(axis=1) > 0
        made[b, :north, there] = np.linalg.pinv(table[there, :north]).T / 2
    return forth, made


class Inverse(MatrixLegendre):
    """The Legendre stage whose analysis is the pseudo-inverse of its rounded synthesis."""

    def __init__(self, truncation: Truncation, unit: MatrixUnit, held: np.ndarray) -> None:
        super().__init__(truncation, unit, held, inverted(truncation, unit))


def height_error(run: Trajectory, truth: Trajectory) -> float:
    """Relative l2 error of the last height over the sphere."""
    found, wanted = (x.fields["height"][-1] for x in (run, truth))
    weights = np.cos(np.deg2rad(truth.lat))[:, None]
    return float(np.sqrt((weights * (found - wanted) ** 2).sum() / (weights * wanted**2).sum()))


def errors(
    truncation: str | int | Truncation = "T42", days: float = 5.0, units: Sequence[str] = UNITS
) -> dict[str, tuple[float, float]]:
    """Unit -> the error of the height with the analysis table, and with the pseudo-inverse in its
    place.
    """

    def run(stages: Stages | None) -> Trajectory:
        options = {"step_seconds": 1200.0, "time_scheme": "rk4", "output_hours": 24.0 * days}
        return integrate("williamson_5", truncation, days, stages=stages, **options)

    truth, found = run(None), {}
    for unit in units:
        with_table = height_error(run(Stages(unit)), truth)
        with patch("sciprec.climate.stages.staged_transform.MatrixLegendre", Inverse):
            found[unit] = with_table, height_error(run(Stages(unit)), truth)
    return found


if __name__ == "__main__":
    for name, (with_table, with_inverse) in errors().items():
        print(f"{name:44} table {with_table:.2e}, pseudo-inverse {with_inverse:.2e}")
