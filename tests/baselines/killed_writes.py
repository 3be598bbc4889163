"""Baselines whose writing is killed at every step: the old one is there, or the new one.

    python -m tests.baselines.killed_writes FOLDER
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import xarray as xr

from sciprec.regression.baselines.keeping import fingerprints
from sciprec.regression.baselines.records import (
    KeptRun,
    Record,
    read_record,
    record_names,
    write_record,
)
from sciprec.regression.baselines.saving import writable
from tests.writing.killed import killed_at_every_step


def record_of(folder: Path, number: float) -> tuple[Record, dict[str, xr.Dataset]]:
    """A baseline whose values are a number, and these."""
    values = xr.Dataset({"x": ("n", np.full(5, number))})
    runs = tuple(
        KeptRun(name, f"a__{name}.nc", variables=fingerprints(values)) for name in ("fp64", "fp16")
    )
    record = Record("mine", f"{number}", {"kind": "python"}, {}, "", runs, {}, (), folder)
    return record, dict.fromkeys(("fp64", "fp16"), values)


def number_in(folder: Path) -> float | None:
    """The number that a baseline is of; None where there is none."""
    if "mine" not in record_names(folder):
        return None
    record = read_record("mine", folder)
    (number,) = {float(x) for run in record.runs for x in record.values_of(run)["x"].values}
    assert record.key == f"{number}"
    return number


def killed(place: Path, before: float | None) -> int:
    """Kill the writing of a baseline at every step, where there was none or another one before; how
    many kills that were.
    """
    start, folder, seen = place / "start", place / "folder", []
    start.mkdir(parents=True)
    if before is not None:
        write_record(*record_of(start, before))
    shutil.copytree(start, folder)

    def look() -> None:
        seen.append(number_in(folder))
        with writable(folder):
            left = [path.name for path in folder.glob(".*")]
            assert left == [".sciprec-lock"], left
        assert number_in(folder) == seen[-1]
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(start, folder)

    count = killed_at_every_step(lambda: write_record(*record_of(folder, 2.0)), look)
    old = seen.index(2.0)
    assert {*seen[:old]} == {before} and {*seen[old:]} == {2.0}
    return count


if __name__ == "__main__":
    print(json.dumps([killed(Path(sys.argv[1]) / f"{k}", k) for k in (None, 1.0)]))
