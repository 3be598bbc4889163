"""How a run went stands in its file and is compared with nothing, whatever its axes."""

import itertools
import json

import numpy as np
import pytest
import xarray as xr

import sciprec
from sciprec.results.comparison.rows import growth
from sciprec.results.output.stated import is_history, without_history

SCENARIO = {"name": "flow", "kind": "climate", "backends": ["fp16"], "climate": {"days": 3.0}}
WATCHED = ("sciprec_monitor", "monitor_step", "monitor_norm")
CHOSEN = ("sciprec_adaptive", "adaptive_block", "adaptive_rung")


def run(history=None, points=4, times=3, scenario=SCENARIO):
    """A stored run, and how it went: on an axis of so many points."""
    about = {"sciprec_scenario": json.dumps(scenario)}
    height = ("time", np.arange(1.0, 4.0)[:times])
    made = xr.Dataset({"height": height}, {"time": np.arange(3.0)[:times]}, about)
    if history is None:
        return made
    attribute, axis, name = history
    steps = 2 + 3 * np.arange(points)
    made = made.assign_coords({axis: (axis, steps)}).assign({name: (axis, np.ones(points))})
    return made.assign_attrs({attribute: "{}"})


@pytest.mark.parametrize("history", [WATCHED, CHOSEN])
def test_histories_of_any_length_are_no_obstacle(history):
    truth = run(history)
    for points, times in itertools.product([0, 2, 4, 5], [1, 3]):
        tested = run(history, points, times)
        assert sciprec.compare(truth, tested).within
        assert (growth(truth, tested, "height")[1] == 0.0).all()
    assert sciprec.compare(truth, run()).within and sciprec.compare(run(), truth).within


@pytest.mark.parametrize("history", [WATCHED, CHOSEN])
def test_names_alone_make_no_history(history):
    """Of a file of others, which says nothing of a monitor, such names are variables like any."""
    attribute, axis, name = history
    truth, tested = run(history), run(history, points=2)
    for one in (truth, tested):
        del one.attrs[attribute]
        assert not is_history(name, one.attrs) and without_history(one).identical(one)
    with pytest.raises(sciprec.InputError, match=f"axis '{axis}' has 4 and 2 points"):
        sciprec.compare(truth, tested)
