"""Stages of a step beside the roofline; a run that counts them is in test_matrix_units.py."""

import json
from types import SimpleNamespace

import pytest
import xarray as xr

from sciprec.cost.matrix_rates import MATRIX_MACHINES
from sciprec.facets.matrix_unit.attributes import MATRIX_UNITS
from sciprec.machine import MACHINES
from sciprec.report.sections.rooflines import rooflines_section
from sciprec.results.output.stated import STAGE_WORK

COUNTED = [
    {"stage": "light", "counts": {"add": 30, "load": 20, "store": 10}, "times": 4},
    {"stage": "heavy", "times": 1,
     "counts": {"mul": 50_000, "fma": 50_000, "load": 60, "store": 40}},
]  # fmt: skip


def run_in(backend, counted=None, units=None):
    told = {} if counted is None else {STAGE_WORK: json.dumps(counted)}
    told |= MATRIX_UNITS.written(units)
    return SimpleNamespace(
        backend=backend, dataset=xr.Dataset(attrs=told), label=f"{backend}{', own' * bool(units)}",
        stages=units and {"legendre": units["units"][0]["unit"]},
    )  # fmt: skip


def test_bytes_and_ridges_are_those_of_each_arithmetic():
    runs = [run_in("fp64", COUNTED), run_in("fp16"), run_in("fp16"), run_in("e5m2")]
    section = rooflines_section(runs)
    assert section["arithmetics"] == ["fp64", "fp16", "e5m2"]
    light, heavy = section["stages"]
    assert (light["operations"], light["moved"]) == (4 * 30, 4 * 30)
    assert light["intensities"] == [30 / (30 * size) for size in (8, 2, 1)]
    assert heavy["operations"] == 150_000
    assert heavy["intensities"] == [150_000 / (100 * size) for size in (8, 2, 1)]
    for title, (of_fp64, of_fp16, of_e5m2) in section["ridges"].items():
        (machine,) = (m for m in MACHINES.values() if m.title == title)
        for found, kind in ((of_fp64, "fp64"), (of_fp16, "fp16")):
            rate = machine.rates.get(kind)
            known = rate and rate.per_second / machine.bandwidth.per_second
            assert found == (known and pytest.approx(known))
        assert of_e5m2 is None
    assert section["above"] == [
        "heavy in fp16 on the MLU370", "heavy in fp64 on the A100", "heavy in fp16 on the A100",
    ]  # fmt: skip


def test_units_have_rows_of_their_own():
    """By hand: three slices in six products; 2 bytes of fp16; a machine that skips zeros."""
    part = {"numbers": 1000, "multiplications": 4000, "field_numbers": 50}
    sliced = part | {"unit": "matrix:table=int8,field=int8,slices=3", "bytes": 3100}
    sparse = part | {"unit": "matrix:table=fp16,field=fp16,sparsity=2:4", "bytes": 1125}
    units = {"units": [sliced, sparse], "fields": [5, 4]}
    section = rooflines_section([run_in("fp64", COUNTED), run_in("fp64", units=units)])
    assert section["arithmetics"] == ["fp64"] and section["staged"] == ["fp64, own"]
    first, second = section["units"]
    assert first["label"] == "fp64, own" and first["unit"] == sliced["unit"]
    assert first["operations"] == 4 * 2 * 4000 * 9 * 6
    assert first["bytes"] == 4 * (3100 + 3 * 50 * 9)
    assert second["intensity"] == 2 * 4000 * 9 / (1125 + 2 * 50 * 9)
    titles = section["unit_machines"]
    ridges = [dict(zip(titles, row["ridges"], strict=True)) for row in section["units"]]
    a100, npu = (MATRIX_MACHINES[name] for name in ("a100", "npu"))
    assert ridges[0][a100.title] == 624e12 / a100.bandwidth.per_second
    assert ridges[1][a100.title] == 2 * 312e12 / a100.bandwidth.per_second
    assert ridges[1][npu.title] == 256e12 / 300e9
    assert rooflines_section([run_in("fp64", COUNTED)])["units"] == []
