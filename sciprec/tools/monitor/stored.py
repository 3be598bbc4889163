"""What a monitor has seen of a run, as variables of its file, and back."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import numpy as np
import xarray as xr

from sciprec.results.output.stated import MONITOR, MONITORED
from sciprec.tools.monitor.drifted import DRIFTED, with_drift
from sciprec.tools.monitor.observed import Observed
from sciprec.tools.monitor.summaries import BINS, COLUMNS, LEAST_EXPONENT

STEP, VARIABLE = f"{MONITORED}step", f"{MONITORED}variable"
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


def with_monitor(dataset: xr.Dataset, observed: Observed) -> xr.Dataset:
    """The dataset with what a monitor has seen.

    Args:
        dataset: of the run.
        observed: what was seen.
    """
    history, plan = observed.history, observed.plan
    both = (VARIABLE, STEP)
    columns = np.moveaxis(history.rows, 0, 1)
    made: dict[str, Any] = {}
    places: dict[str, Any] = {}
    for name, words in _WORDS.items():
        values = columns[:, :, COLUMNS.index(name)]
        values = values if name in _NUMBERS else values.astype(np.int64)
        made[name] = both, values, _about(words)
    made["exponents"] = (
        (VARIABLE, "monitor_exponent"), history.exponents,
        _about("values by exponent floor(log2 |x|), over all watched steps"),
    )  # fmt: skip
    if history.sketched is not None:
        made["sketch"] = (
            (*both, "monitor_sum"), np.moveaxis(history.sketched, 0, 1),
            _about("sums whose differences have the norm of the difference of two runs"),
        )  # fmt: skip
    if history.banded is not None:
        made["sketch_of_parts"] = (
            (*both, "monitor_part", "monitor_sum_of_part"), np.moveaxis(history.banded, 0, 1),
            _about("the same of the parts of a variable"),
        )  # fmt: skip
    if history.histograms is not None:
        made["exponents_of_steps"] = (
            (*both, "monitor_exponent"), np.moveaxis(history.histograms, 0, 1),
            _about("values by exponent floor(log2 |x|)"),
        )  # fmt: skip
    for number, name in enumerate(history.names):
        whole = history.whole(name)
        if whole and len({a.shape for a in whole}) == 1:
            axis = f"monitor_element_{number}"
            made[f"values_{number}"] = (STEP, axis), np.array(whole), _about(f"values of {name}")
            places |= {
                f"{MONITORED}{what}_{number}": (axis, values, _about(f"{words} of an element"))
                for what, (values, words) in observed.elements.get(name, {}).items()
            }
    said = {
        "watch": list(history.names), "level": plan.level, "every": plan.every,
        "rules": dict(plan.rules), "alerts": alerts_of(observed),
        "step_seconds": observed.step_seconds,
        DRIFTED: [] if observed.drift is None else list(observed.drift.parts),
        "drift_every": plan.drift_every,
    }  # fmt: skip
    more = xr.Dataset(
        {f"{MONITORED}{name}": variable for name, variable in made.items()},
        coords=places | {
            STEP: (STEP, history.steps, _about("number of a watched step")),
            VARIABLE: (
                VARIABLE, np.arange(len(history.names)),
                _about(f"number of a watched variable, in the order of {MONITOR}"),
            ),
            "monitor_exponent": (
                "monitor_exponent", np.arange(BINS) + LEAST_EXPONENT,
                _about("exponent; the ends stand for all beyond, too"),
            ),
        },
    )  # fmt: skip
    attributes = dataset.attrs | {MONITOR: json.dumps(said, sort_keys=True)}
    dataset = dataset.assign_coords(more.coords).assign(more.data_vars).assign_attrs(attributes)
    if observed.drift is None:
        return dataset
    return with_drift(dataset, observed.drift, observed.drift_fields)


def alerts_of(observed: Observed) -> list[dict[str, Any]]:
    """What rules have found, as plain data."""
    return [asdict(alert) | {"text": str(alert)} for alert in observed.alerts]


def told_alerts(attributes: Any) -> tuple[str, ...]:
    """The alerts of a file in words.

    Args:
        attributes: of the file.
    """
    said = json.loads(attributes.get(MONITOR, "{}"))
    return tuple(alert["text"] for alert in said.get("alerts", ()))


def _about(words: str) -> dict[str, str]:
    return {"long_name": words, "units": "1"}
