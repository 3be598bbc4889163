"""The trade-off of the page: fronts, measured and modelled costs, drifts, and its sentences."""

import math
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciprec.cost.peak_rates import MACHINES
from sciprec.facets.compensation.keys import CompensationChoice
from sciprec.foundation.timing import Sections, Timing, timing_of
from sciprec.report.page import render
from sciprec.report.sections.tradeoff import (
    Cost,
    measured_cost,
    modelled_traffic,
    pareto,
    trade_offs,
)
from sciprec.scenario.variant import Variant


def exact(costs):
    """Costs without a range."""
    return [None if cost is None else Cost(cost, cost, cost) for cost in costs]


def test_sections_count_the_processor_time_of_their_thread():
    clock = Sections()
    with clock.timed(1):
        time.sleep(0.05)
    with clock.timed(1):
        start = time.thread_time()
        while time.thread_time() - start < 0.02:
            pass
    (_, waited), (_, worked) = clock.done
    assert waited < 0.01 < 0.02 <= worked


def test_what_one_section_compiles_does_not_move_the_time_of_all():
    pace = [(16, 1.6), (16, 1.7), (16, 1.5), (16, 99.0), (8, 0.8)] * 4
    found = timing_of(pace)
    work = sum(one for one, _ in pace)
    assert 0.1 * work <= found.seconds <= 1.7 / 16 * work
    assert found.low <= found.seconds <= found.high
    assert timing_of([]) == Timing()
    one = timing_of([(10, 2.0)])
    assert (one.low, one.seconds, one.high) == (2.0, 2.0, 2.0)
    assert one + Timing(1.0, 0.5, 2.0) == Timing(3.0, 2.5, 4.0)


def test_the_front_is_what_no_other_point_beats():
    errors, costs = [0.0, 1e-7, 1e-3, 1e-2, 1e-3], [1.0, 0.5, 0.4, 0.45, 0.4]
    assert pareto(errors, exact(costs)) == [True, True, True, False, True]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12))
def test_every_point_off_the_front_is_beaten_by_one_on_it(points):
    errors, costs = (list(map(float, column)) for column in zip(*points, strict=True))
    held = pareto(errors, exact(costs))
    front = [p for p, h in zip(points, held, strict=True) if h]
    assert front
    for point, h in zip(points, held, strict=True):
        beaten = any(f != point and f[0] <= point[0] and f[1] <= point[1] for f in front)
        assert beaten != h


def test_points_without_numbers_are_on_no_front():
    assert pareto([math.nan, 1.0, math.inf, 0.5], exact([0.1, None, 0.1, 1.0])) == [
        False, False, False, True,
    ]  # fmt: skip


def test_a_cost_within_the_range_of_a_better_one_is_on_no_front():
    truth, near, far = Cost(1.0, 1.0, 1.0), Cost(0.9, 0.8, 1.05), Cost(0.5, 0.4, 0.7)
    assert pareto([0.0, 1e-7], [truth, near]) == [True, False]
    assert pareto([0.0, 1e-7], [truth, far]) == [True, True]
    assert pareto([0.0, 1e-7, 1e-3], [truth, near, far]) == [True, False, True]
    assert pareto([1e-7, 1e-7], [near, Cost(0.85, 0.7, 1.0)]) == [True, True]


def test_modelled_traffic_is_bytes_over_published_bandwidth():
    """The vendor's, and beside it the described one."""
    a100 = MACHINES["a100"].bandwidth.per_second
    both = MACHINES["mlu370"].bandwidth, MACHINES["mlu370"].described_bandwidth
    assert modelled_traffic("fp64", "a100") == (1.0, None)
    assert modelled_traffic("fp16", "a100") == (0.25, None)
    expected = [0.5 * a100 / bandwidth.per_second for bandwidth in both]
    assert modelled_traffic("mlu370", "mlu370") == pytest.approx(expected, rel=1e-12)
    assert modelled_traffic("fp64", "mlu370") is None
    assert modelled_traffic("mlu370", "a100") is None


@pytest.fixture
def batch(stored_batch):
    return stored_batch


def test_rows_hold_the_worst_scenario_of_each_arithmetic(batch):
    rows = {row.label: row for row in trade_offs(batch)}
    assert list(rows) == ["fp64", "fp32", "fp16"]
    assert rows["fp64"].error == 0.0 and rows["fp64"].measured == Cost(1.0, 1.0, 1.0)
    for label in ("fp32", "fp16"):
        errors = {
            run.scenario: next(iter(run.comparison.rows)).errors["relative_l2"]
            for run in batch.of_label(label)
        }
        assert rows[label].error == max(errors.values())
        assert rows[label].where == max(errors, key=errors.get)
    assert rows["fp32"].error < rows["fp16"].error
    assert [rows[n].bytes_per_number for n in rows] == [(8, 16), (4,), (2,)]
    assert np.isfinite(rows["fp16"].drifts["mass"])


def test_modelled_costs_are_marked_as_modelled_on_the_page(batch):
    page = (batch.folder / "index.html").read_text(encoding="utf-8")
    for machine in MACHINES.values():
        assert f"{machine.title}, modelled" in page
    assert "processor time here, measured" in page
    assert "Modelled, not measured" in page


def timed(batch, **seconds):
    """The batch with other processor times, by label: (seconds, low, high)."""
    runs = []
    for run in batch.runs:
        dataset = run.dataset.copy()
        value, *ends = seconds.get(run.label, (1.0, 0.9, 1.1))
        dataset.attrs |= {"processor_seconds": value, "processor_seconds_range": ends}
        runs.append(replace(run, dataset=dataset))
    return replace(batch, runs=tuple(runs))


def test_times_within_their_range_are_neither_bold_nor_on_a_card(batch, blank_figures):
    slow = timed(batch, fp16=(2.0, 1.8, 2.2))
    cost = measured_cost(slow, slow.of_label("fp16"))
    assert cost.value == 2.0 and cost.low < cost.value < cost.high and cost.told_from_truth
    assert "2 (1.6 to 2.4) × the processor time of fp64 here" in render(slow)
    alike = timed(batch, fp32=(0.95, 0.85, 1.05), fp16=(0.9, 0.8, 1.0))
    assert not measured_cost(alike, alike.of_label("fp16")).told_from_truth
    assert [row.front for row in trade_offs(alike) if "measured" in row.front] == [
        next(row.front for row in trade_offs(alike) if row.label == "fp64")
    ]
    text = render(alike)
    assert "the processor time of fp64 here" not in text
    assert "a line joins those" in text  # of the modelled traffic


def test_arithmetics_of_other_scenarios_beat_nobody(batch):
    """Prices in fp16 are more exact than flows in fp32, and say nothing about them."""
    carried = Variant("fp16", CompensationChoice(name="carry"))
    runs = [
        replace(run, variant=carried)
        if (run.scenario, run.label) == ("little_heston", "fp16") else run
        for run in timed(batch, fp16=(0.5, 0.4, 0.6)).runs
    ]  # fmt: skip
    apart = replace(batch, runs=tuple(run for run in runs if run.label != "fp32"))
    rows = {row.label: row for row in trade_offs(apart)}
    assert rows["fp16"].scenarios == ("little_climate",)
    assert rows["fp16+carry"].error < rows["fp16"].error
    assert all("a100" in rows[label].front for label in ("fp64", "fp16", "fp16+carry"))


def test_a_run_without_a_time_has_a_dash(batch, blank_figures):
    bare = []
    for run in batch.runs:
        dataset = run.dataset.copy()
        for name in ("processor_seconds", "processor_seconds_range"):
            del dataset.attrs[name]
        bare.append(replace(run, dataset=dataset))
    untimed = replace(batch, runs=tuple(bare))
    assert all(row.measured is None for row in trade_offs(untimed))
    assert "measured here" not in render(untimed)


def test_modelled_traffic_counts_the_residual(batch):
    carry = CompensationChoice(name="carry")
    carried = [
        replace(run, variant=Variant(run.backend, carry))
        for run in batch.of_scenario("little_climate")
        if run.backend != "fp64"
    ]
    rows = {r.label: r for r in trade_offs(replace(batch, runs=batch.runs + tuple(carried)))}
    assert rows["fp16+carry"].bytes_per_number == (2 * 2,)
    plain = modelled_traffic("fp16", "a100").value
    carried = rows["fp16+carry"].modelled["a100"].value
    assert carried == pytest.approx(5 / 3 * plain, rel=1e-12)
