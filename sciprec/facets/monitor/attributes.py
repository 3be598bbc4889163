"""The history of a monitor and its estimates of drift, as variables of a file, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import xarray as xr

from sciprec.facets.attributes import JsonAttribute
from sciprec.results.output.stated import MONITOR, MONITORED
from sciprec.tools.monitor.drift import Drift
from sciprec.tools.monitor.observed import Observed
from sciprec.tools.monitor.summaries import BINS, COLUMNS, LEAST_EXPONENT

PLAN = JsonAttribute(MONITOR)
STEP, _VARIABLE = f"{MONITORED}step", f"{MONITORED}variable"
_WORDS = {
    "count": "values of a watched variable",
    "minimum": "least finite value",
    "maximum": "greatest finite value",
    "mean": "mean of the finite values",
    "norm": "root of the sum of squares of the finite values",
    "zeros": "values that are zero",
    "subnormals": "values that are subnormal in the format of the state",
    "nans": "values that are NaN",
    "overflows": "values that are infinite",
    "saturated": "values at the largest number of a format that saturates",
}
_NUMBERS = ("minimum", "maximum", "mean", "norm")
_DRIFTED = "drift_of"
"""Key of the attribute on monitors: names of the variables whose drift is estimated."""
_DRIFT, _DRIFT_STEP = f"{MONITORED}drift", f"{MONITORED}drift_step"
_NUMBER, _FIELD = f"{MONITORED}drift_variable", f"{MONITORED}drift_of_"


def with_monitor(dataset: xr.Dataset, observed: Observed) -> xr.Dataset:
    """The dataset with what a monitor has seen.

    Args:
        dataset: of the run.
        observed: what was seen.
    """
    history, plan = observed.history, observed.plan
    both = (_VARIABLE, STEP)
    columns = np.moveaxis(history.rows, 0, 1)
    added: dict[str, Any] = {}
    places: dict[str, Any] = {}
    for name, words in _WORDS.items():
        values = columns[:, :, COLUMNS.index(name)]
        values = values if name in _NUMBERS else values.astype(np.int64)
        added[name] = both, values, _about(words)
    added["exponents"] = (
        (_VARIABLE, "monitor_exponent"), history.exponents,
        _about("values by exponent floor(log2 |x|), over all watched steps"),
    )  # fmt: skip
    if history.sketched is not None:
        added["sketch"] = (
            (*both, "monitor_sum"), np.moveaxis(history.sketched, 0, 1),
            _about("sums whose differences have the norm of the difference of two runs"),
        )  # fmt: skip
    if history.banded is not None:
        added["sketch_of_parts"] = (
            (*both, "monitor_part", "monitor_sum_of_part"), np.moveaxis(history.banded, 0, 1),
            _about("the same of the parts of a variable"),
        )  # fmt: skip
    if history.histograms is not None:
        added["exponents_of_steps"] = (
            (*both, "monitor_exponent"), np.moveaxis(history.histograms, 0, 1),
            _about("values by exponent floor(log2 |x|)"),
        )  # fmt: skip
    for number, name in enumerate(history.names):
        arrays = history.values_of(name)
        if arrays and len({a.shape for a in arrays}) == 1:
            axis = f"monitor_element_{number}"
            added[f"values_{number}"] = (STEP, axis), np.array(arrays), _about(f"values of {name}")
            places |= {
                f"{MONITORED}{element}_{number}": (axis, values, _about(f"{words} of an element"))
                for element, (values, words) in observed.elements.get(name, {}).items()
            }
    attribute = {
        "watch": list(history.names), "level": plan.level, "every": plan.every,
        "rules": dict(plan.rules),
        "alerts": [asdict(alert) | {"text": str(alert)} for alert in observed.alerts],
        "step_seconds": observed.step_seconds,
        _DRIFTED: [] if observed.drift is None else list(observed.drift.parts),
        "drift_every": plan.drift_every, "not_looked_at": observed.not_looked_at,
        "sums": [sums.as_dict() for sums in observed.sums],
    }  # fmt: skip
    more = xr.Dataset(
        {f"{MONITORED}{name}": variable for name, variable in added.items()},
        coords=places | {
            STEP: (STEP, history.steps, _about("number of a watched step")),
            _VARIABLE: (
                _VARIABLE, np.arange(len(history.names)),
                _about(f"number of a watched variable, in the order of {MONITOR}"),
            ),
            "monitor_exponent": (
                "monitor_exponent", np.arange(BINS) + LEAST_EXPONENT,
                _about("exponent; the ends stand for all beyond, too"),
            ),
        },
    )  # fmt: skip
    attributes = dataset.attrs | PLAN.written(attribute)
    dataset = dataset.assign_coords(more.coords).assign(more.data_vars).assign_attrs(attributes)
    if observed.drift is None:
        return dataset
    return _with_drift(dataset, observed.drift, observed.drift_fields)


def told_alerts(attributes: Any) -> tuple[str, ...]:
    """The alerts of a file in words.

    Args:
        attributes: of the file.
    """
    return tuple(alert["text"] for alert in (PLAN.read(attributes) or {}).get("alerts", ()))


def _with_drift(dataset: xr.Dataset, drift: Drift, fields: Mapping[str, np.ndarray]) -> xr.Dataset:
    """The dataset with what single steps in fp64 say of its drift.

    Args:
        dataset: of the run, with its fields.
        drift: differences of steps.
        fields: their signed sum in SI units, shaped as one time of the field of that name; those
            that the dataset does not have are left out.
    """
    more: dict[str, Any] = {
        _DRIFT: (
            (_NUMBER, _DRIFT_STEP), drift.estimates,
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
        _DRIFT_STEP: (
            _DRIFT_STEP, drift.steps, _about("number of a step that was made in fp64, too")
        ),
        _NUMBER: (
            _NUMBER, np.arange(len(drift.parts)),
            _about(f"number of a variable of the state, in the order of {_DRIFTED} in {MONITOR}"),
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
    if _DRIFT not in dataset:
        return np.zeros(0, np.int64), {}
    names = PLAN.read(dataset)[_DRIFTED]
    return dataset[_DRIFT_STEP].values, dict(zip(names, dataset[_DRIFT].values, strict=True))


def _about(words: str) -> dict[str, str]:
    return {"long_name": words, "units": "1"}
