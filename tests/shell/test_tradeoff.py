"""The trade-off of the page: fronts, modelled costs, drifts, and its sentences."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciprec.machine.cost import MACHINES
from sciprec.report.stored import read_batch
from sciprec.report.tradeoff import modelled_traffic, pareto, trade_offs


def test_the_front_is_what_no_other_point_beats():
    errors, costs = [0.0, 1e-7, 1e-3, 1e-2, 1e-3], [1.0, 0.5, 0.4, 0.45, 0.4]
    assert pareto(errors, costs) == [True, True, True, False, True]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12))
def test_every_point_off_the_front_is_beaten_by_one_on_it(points):
    errors, costs = (list(map(float, column)) for column in zip(*points, strict=True))
    held = pareto(errors, costs)
    front = [p for p, h in zip(points, held, strict=True) if h]
    assert front
    for point, h in zip(points, held, strict=True):
        beaten = any(f != point and f[0] <= point[0] and f[1] <= point[1] for f in front)
        assert beaten != h


def test_points_without_numbers_are_on_no_front():
    assert pareto([math.nan, 1.0, math.inf, 0.5], [0.1, None, 0.1, 1.0]) == [
        False, False, False, True,
    ]  # fmt: skip


def test_modelled_traffic_is_bytes_over_published_bandwidth():
    mlu370, a100 = MACHINES["mlu370"].bandwidth.per_second, MACHINES["a100"].bandwidth.per_second
    assert modelled_traffic("fp64", "a100") == 1.0
    assert modelled_traffic("fp16", "a100") == 0.25
    assert modelled_traffic("mlu370", "mlu370") == pytest.approx(0.5 * a100 / mlu370, rel=1e-12)
    assert modelled_traffic("fp64", "mlu370") is None
    assert modelled_traffic("mlu370", "a100") is None


@pytest.fixture(scope="module")
def batch(little_batch):
    return read_batch(little_batch.folder)


def test_rows_hold_the_worst_scenario_of_each_arithmetic(batch):
    rows = {row.label: row for row in trade_offs(batch)}
    assert list(rows) == ["fp64", "fp32", "fp16"]
    assert rows["fp64"].error == 0.0 and rows["fp64"].measured == 1.0
    for label in ("fp32", "fp16"):
        errors = {
            run.scenario: next(iter(run.comparison.rows)).errors["relative_l2"]
            for run in batch.of_label(label)
        }
        assert rows[label].error == max(errors.values())
        assert rows[label].where == max(errors, key=errors.get)
    assert rows["fp32"].error < rows["fp16"].error
    assert [rows[n].bytes_per_number for n in rows] == [8, 4, 2]
    assert np.isfinite(rows["fp16"].drifts["mass"])


def test_modelled_costs_are_marked_as_modelled_on_the_page(batch):
    page = (batch.folder / "index.html").read_text(encoding="utf-8")
    for machine in MACHINES.values():
        assert f"{machine.title}, modelled" in page
    assert "time here, measured" in page
    assert "Modelled, not measured" in page
