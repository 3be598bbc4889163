"""Does an analysis that inverts the rounded synthesis help a matrix unit with few bits?

`python data/climate/matrix_inverse.py` runs flow over the mountain (case 5, T42, RK4 with 1200 s, 5
days) with Legendre products on a matrix unit in int8, and again with the pseudo-inverse
of the rounded synthesis table in the place of the analysis table, rounded to int8 in its turn. It
prints the relative l2 error of the height against fp64.
"""

from __future__ import annotations

from unittest.mock import patch

import numpy as np

from sciprec.climate.running.integration import Trajectory, integrate
from sciprec.climate.stages.matrix_legendre import MatrixLegendre, legendre_matrices
from sciprec.climate.transform.grid import Truncation
from sciprec.precision.formats.matrix_unit import MatrixUnit
from sciprec.precision.formats.stages import Stages
from sciprec.precision.matrix_unit.unit_table import UnitTable

INT8 = "matrix:table=int8,field=fp16"


def inverted(truncation: Truncation, unit: MatrixUnit) -> tuple[np.ndarray, np.ndarray]:
    """The matrices of the synthesis, and pseudo-inverses of them as rounded for the analysis.

    X = P^T S at northern latitudes; the analysis has north + south = 2 X: S = pinv(P^T) (2 X) / 2
    """
    forth, back = legendre_matrices(truncation, unit.group)
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


def errors(truncation: str | int | Truncation = "T42", days: float = 5.0) -> dict[str, float]:
    """The error of the height with the analysis table, and with the pseudo-inverse in its place."""

    def run(stages: Stages | None) -> Trajectory:
        options = {"step_seconds": 1200.0, "time_scheme": "rk4", "output_hours": 24.0 * days}
        return integrate("williamson_5", truncation, days, stages=stages, **options)

    truth, found = run(None), {}
    found["table"] = height_error(run(Stages(INT8)), truth)
    with patch("sciprec.climate.stages.staged_transform.MatrixLegendre", Inverse):
        found["pseudo-inverse"] = height_error(run(Stages(INT8)), truth)
    return found


if __name__ == "__main__":
    for name, error in errors().items():
        print(f"{name:16} {error:.2e}")
