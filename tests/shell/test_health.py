"""Flags of what happened in a run, and CF's metadata of quantization."""

import json
import math

import numpy as np
import pytest

from sciprec.precision.formats.backend import resolve_backend
from sciprec.results.output import netcdf
from sciprec.results.output.dataset import prices_dataset, trajectory_dataset
from sciprec.results.output.health import FLAGS, HEALTH, with_health, with_quantization
from sciprec.results.output.stated import IN_FORMAT
from sciprec.workbench.batch.perform import properties
from tests.shell.conftest import little_climate, little_trajectory


def flags_of(dataset):
    """The meanings of the bits that are set in a dataset's `health`; none where it has none."""
    value = int(dataset[HEALTH]) if HEALTH in dataset else 0
    return tuple(name for bit, name in enumerate(FLAGS) if value >> bit & 1)


def prices(**attributes):
    return prices_dataset([1.0, 2.0], [1.0], {"price": np.ones((1, 2))}, **attributes)


def with_hole():
    dataset = little_climate(None, "fp64")
    dataset["height"][1, 2, 3] = math.nan
    return dataset


CASES = {
    (): lambda: little_climate(None, "fp64"),
    ("not_finite",): with_hole,
    ("stopped_early",): lambda: trajectory_dataset(little_trajectory(blow_up="at day 2")),
    ("saturated",): lambda: prices(sciprec_fixed_point=json.dumps({"saturations": 3})),
    ("tolerance_missed",): lambda: prices(tolerance_met=0),
}


@pytest.mark.parametrize("expected", CASES)
def test_each_flag_is_set_by_what_it_means(expected, tmp_path):
    path = netcdf.write(with_health(CASES[expected]()), tmp_path / "run.nc")
    stored = netcdf.read(path)
    assert flags_of(stored) == expected
    health = stored["health"]
    assert health.dtype == np.int8 and health.attrs["flag_masks"].dtype == np.int8
    assert health.attrs["flag_meanings"].split() == list(FLAGS)
    assert health.attrs["flag_masks"].tolist() == [1, 2, 4, 8]
    assert health.attrs["standard_name"] == "status_flag"


def test_flags_add_up_and_what_is_not_compared_sets_none():
    dataset = with_hole()
    dataset.attrs |= {"blow_up": "at day 2", "tolerance_met": 0}
    assert int(with_health(dataset)["health"]) == 1 + 2 + 8
    unknown = prices_dataset([1.0], [1.0], {"analytic_price": np.full((1, 1), math.nan)})
    assert flags_of(with_health(unknown)) == () == flags_of(unknown)


def sums(backend):
    dataset = prices()
    dataset["parameter"] = ("strike", np.ones(2), {})
    dataset.attrs[IN_FORMAT] = "parameter"
    return with_quantization(dataset, properties(resolve_backend(backend)))


@pytest.mark.parametrize(("backend", "explicit"), [("fp16", 10), ("bf16", 7), ("fp32", 23)])
def test_numbers_of_a_format_to_nearest_are_bitround(backend, explicit):
    made = sums(backend)
    attributes = made["parameter"].attrs
    assert attributes["quantization"] == "quantization_info"
    assert attributes["quantization_nsb"] == explicit
    assert made["quantization_info"].attrs["algorithm"] == "bitround"
    assert "sciprec" in made["quantization_info"].attrs["implementation"]
    assert "quantization" not in made["price"].attrs


@pytest.mark.parametrize("backend", ["fp64", "fixed32", "mlu370"])
def test_other_numbers_are_not(backend):
    made = sums(backend)
    assert "quantization_info" not in made and "quantization" not in made["parameter"].attrs
    said = made["parameter"].attrs.get("comment", "")
    assert said == ("values have 21 significant bits, rounded by rz" if backend == "mlu370" else "")
