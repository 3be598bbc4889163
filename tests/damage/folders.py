"""Finished folders of batches, and the values that they hold, read by other code than ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np

import sciprec

PLUGIN = Path(__file__).parent / "squall.py"
SCENARIOS = {
    "squall": """
name = "squall"
title = "A squall"
source = "nobody"
kind = "squall"
backends = ["fp32", "bf16", "fp16"]

[ensemble]
members = 2
perturbation = 1.0e-3

[[tolerance]]
variable = "wind"
metric = "relative_l2"
at_most = 1.0e-4
reason = "one in ten thousand"
""",
    "sums": """
name = "sums"
title = "Many small updates"
source = "nobody"
kind = "accumulation"
backends = ["fp32", "fp16"]

[accumulation]
updates = 20000
members = 8
smallest = 1.0e-7
largest = 1.0e-5
start = 1.0
outputs = 50
seed = 1

[[tolerance]]
variable = "largest_error_in_u"
metric = "max_abs"
at_most = 150.0
reason = "made up"
""",
}
TRANSIENT = ("sciprec_seconds", "history", "sciprec_provenance", "processor_seconds",
             "processor_seconds_range", "sciprec_peak_memory_bytes",
             "sciprec_digest")  # fmt: skip
"""Attributes that another run of the same need not repeat, and the digest that covers them."""


EASIER = {"tolerance.0.at_most": 1e6}


def made_folders(place: Path) -> tuple[dict[str, Path], list[Path]]:
    """Finished folders in both formats, those of an earlier batch of other values or tolerances,
    and the scenario files.
    """
    scenarios = write_scenarios(place / "scenarios")
    wholes = {}
    for form in ("netcdf", "zarr"):
        wholes[form], before = place / form, place / f"{form}-before"
        sciprec.run(scenarios, out=wholes[form], plugins=[PLUGIN], format=form)
        for path, changes in zip(scenarios, ({"squall.size": 200.0}, EASIER), strict=True):
            sciprec.run(path, out=before, plugins=[PLUGIN], format=form, changes=changes)
        wholes[f"{form}-before"] = before
    return wholes, scenarios


def write_scenarios(folder: Path) -> list[Path]:
    """The scenario files, in a new folder."""
    folder.mkdir()
    for name, text in SCENARIOS.items():
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    return sorted(folder.iterdir())


def run_files(folder: Path) -> list[str]:
    """Names of the files of runs in a folder."""
    return sorted(p.name for p in folder.iterdir() if p.suffix in (".nc", ".zarr"))


def contents(folder: Path) -> dict[str, Any]:
    """The contents of each run's file, by name; a phrase where it cannot be read."""
    found: dict[str, Any] = {}
    for name in run_files(folder):
        try:
            path = folder / name
            found[name] = of_store(path) if path.suffix == ".zarr" else of_file(path)
        except Exception as error:  # whatever the libraries raise for what is damaged
            found[name] = f"unreadable: {type(error).__name__}"
    return found


def of_file(path: Path) -> dict[str, Any]:
    """Variables and attributes of a netCDF file."""
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        return {"": plain(file.__dict__)} | {
            name: (v.dimensions, plain(v.__dict__), values(v[...]))
            for name, v in file.variables.items()
        }


def of_store(path: Path) -> dict[str, Any]:
    """Variables and attributes of a Zarr store, by its consolidated metadata, where it has some."""
    import zarr

    store = zarr.open_group(path, mode="r", zarr_format=2)
    return {"": plain(dict(store.attrs))} | {
        name: (array.attrs["_ARRAY_DIMENSIONS"], plain(dict(array.attrs)), values(array[...]))
        for name, array in store.arrays()
    }


def values(array: Any) -> tuple[str, tuple[int, ...], bytes]:
    """An array's type, shape and bytes; every NaN has the same ones."""
    array = np.array(array)
    if array.dtype.kind == "f":
        array[np.isnan(array)] = np.nan
    return array.dtype.str, array.shape, array.tobytes()


def plain(attributes: dict[str, Any]) -> str:
    """Attributes as text."""
    return json.dumps({k: np.array(v).tolist() for k, v in attributes.items()}, sort_keys=True)


def lasting(found: dict[str, Any]) -> dict[str, Any]:
    """The findings of `contents` without what another run of the same need not repeat."""
    return {name: one if isinstance(one, str) else one | {"": _steady(one[""])}
            for name, one in found.items()}  # fmt: skip


def _steady(attributes: str) -> dict[str, Any]:
    return {k: v for k, v in json.loads(attributes).items() if k not in TRANSIENT}
