"""The history of an adaptive run as variables of its file, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from sciprec.facets.attributes import JsonAttribute
from sciprec.results.output.stated import ADAPTED, ADAPTIVE, ROUNDED
from sciprec.tools.adapt.blocks import Adapted
from sciprec.tools.adapt.control import COLUMNS, vain_attempts

PLAN = JsonAttribute(ADAPTIVE)
_BLOCK = f"{ADAPTED}block"
_WORDS = {
    "first": "number of the first step of a block",
    "steps": "steps of a block",
    "rung": f"arithmetic of a block, a number of the ladder in {ADAPTIVE}, from 0",
    "kept": "1 of a block that stayed, 0 of one that was made again on the next arithmetic",
    "estimate": "relative l2 error that is estimated after a block",
    "forecast": "relative l2 error at the end that is forecast after a block on its arithmetic",
}
_WHOLE = ("first", "steps", "rung", "kept")


def with_adapted(dataset: xr.Dataset, adapted: Adapted, rounded: str) -> xr.Dataset:
    """The dataset with the history of an adaptive run.

    Args:
        dataset: of the run.
        adapted: what was done.
        rounded: sentences on what is rounded in which arithmetic.
    """
    plan, history = adapted.plan, adapted.history
    more = {}
    for place, (name, words) in enumerate(_WORDS.items()):
        values = history[:, place].astype(np.int64) if name in _WHOLE else history[:, place]
        more[f"{ADAPTED}{name}"] = _BLOCK, values, {"units": "1", "long_name": words}
    number = {"units": "1", "long_name": "number of a block, those that were made again included"}
    request = {
        "tolerance": plan.tolerance, "ladder": list(plan.ladder), "every": plan.every,
        "variable": adapted.variable, "vain": vain_attempts(history),
    }  # fmt: skip
    attributes = PLAN.written(request) | {ROUNDED: rounded}
    dataset = dataset.assign_coords({_BLOCK: (_BLOCK, np.arange(len(history)), number)})
    return dataset.assign(more).assign_attrs(dataset.attrs | attributes)


def history_of(dataset: xr.Dataset) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the plan of an adaptive run, and the columns of the history.

    Args:
        dataset: of an adaptive run.
    """
    return PLAN.read(dataset), {name: dataset[f"{ADAPTED}{name}"].values for name in COLUMNS}
