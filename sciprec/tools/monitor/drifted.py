"""How far rounding has moved a run, as a monitor estimates it: variables of its file, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from sciprec.results.output.stated import MONITOR, MONITORED
from sciprec.tools.monitor.drift import Drift

DRIFTED = "drift_of"
"""Key of the attribute on monitors: names of the variables whose drift is estimated."""
DRIFT, STEP = f"{MONITORED}drift", f"{MONITORED}drift_step"
_NUMBER, _FIELD = f"{MONITORED}drift_variable", f"{MONITORED}drift_of_"


def with_drift(dataset: xr.Dataset, drift: Drift, fields: Mapping[str, np.ndarray]) -> xr.Dataset:
    """The dataset with what single steps in fp64 say of its drift.

    Args:
        dataset: of the run, with its fields.
        drift: differences of steps.
        fields: their signed sum in SI units, shaped as one time of the field of that name; those
            that the dataset does not have are left out.
    """
    more: dict[str, Any] = {
        DRIFT: (
            (_NUMBER, STEP), drift.estimates,
            {
                "units": "1",
                "long_name": "estimated l2 norm of what rounding has added to a variable of the "
                "state, over the norm of the variable",
                "comment": "the growth of errors by the flow is not in it",
            },
        )
    }  # fmt: skip
    for name in (name for name in fields if name in dataset):
        about = {
            "units": dataset[name].attrs.get("units", "1"),
            "long_name": f"signed sum of what rounding has added to {name}, from every "
            f"{drift.every}th step",
        }
        more[f"{_FIELD}{name}"] = dataset[name].dims[1:], fields[name], about
    coordinates = {
        STEP: (STEP, drift.steps, _about("number of a step that was made in fp64, too")),
        _NUMBER: (
            _NUMBER, np.arange(len(drift.parts)),
            _about(f"number of a variable of the state, in the order of {DRIFTED} in {MONITOR}"),
        ),
    }  # fmt: skip
    return dataset.assign_coords(coordinates).assign(more)


def drift_field(dataset: xr.Dataset, name: str) -> xr.DataArray | None:
    """The signed sum of what rounding has added to a field; None where a file has none.

    Args:
        dataset: of a run.
        name: of the field.
    """
    return dataset.get(f"{_FIELD}{name}")


def estimates_of(dataset: xr.Dataset) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Steps, and by variable of the state the estimates after them; empty where a file has none.

    Args:
        dataset: of a run.
    """
    if DRIFT not in dataset:
        return np.zeros(0, np.int64), {}
    names = json.loads(dataset.attrs[MONITOR])[DRIFTED]
    return dataset[STEP].values, dict(zip(names, dataset[DRIFT].values, strict=True))


def _about(words: str) -> dict[str, str]:
    return {"long_name": words, "units": "1"}
