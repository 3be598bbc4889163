"""Sections of the page: distributions, evidence, and suggestions that a run verifies."""

import itertools
import math
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg

from sciprec.drawing.heat import error_map
from sciprec.drawing.svg import drawn, legend, to_svg
from sciprec.facets.compensation.keys import CompensationChoice
from sciprec.foundation.errors import InputError
from sciprec.precision.formats.backend import resolve_backend
from sciprec.precision.formats.float_format import FORMATS
from sciprec.precision.formats.rounding_rules import ROUNDINGS
from sciprec.report import page_section, section
from sciprec.report.comparison import comparison_page
from sciprec.report.page import render
from sciprec.report.sections.distribution import (
    class_rows,
    differing,
    distribution_picture,
    quantile_rows,
    worst_rows,
)
from sciprec.report.sections.evidence_matrix import evidence_matrix
from sciprec.report.sections.evidence_pictures import evidence_pictures, evidence_rows
from sciprec.report.sections.figures import ALIKE, _error_map, pictures
from sciprec.report.sections.rounded import rounded_in_words
from sciprec.report.sections.suggestions import magnitude_correlation, suggestions
from sciprec.results.comparison import compare
from sciprec.results.comparison.rows import main_row
from sciprec.results.comparison.verdicts import Verdict
from sciprec.results.comparison.wording import LONGEST_LABEL, short
from sciprec.results.output.dataset import trajectory_dataset
from sciprec.scenario.variant import Variant
from tests.extending import loading
from tests.shell.conftest import little_trajectory


@pytest.fixture
def batch(stored_batch):
    return stored_batch


@pytest.fixture
def runs(batch):
    """Of the flow: the truth, fp32 and fp16."""
    return batch.of_scenario("little_climate")


def test_percentiles_are_those_of_the_errors(runs):
    """The truth itself has none."""
    assert [run.label for run, _ in differing(runs)] == ["fp32", "fp16"]
    truth, fp16 = (next(r for r in runs if r.label == label) for label in ("fp64", "fp16"))
    error = np.abs(fp16.dataset["height"].values - truth.dataset["height"].values)
    row = next(r for r in quantile_rows(runs) if r["label"] == "fp16")
    assert row["max"] == error.max()
    for p in (50, 90, 99):
        assert row[f"p{p}"] == pytest.approx(np.quantile(error, p / 100, method="higher"), rel=0.02)
    worst = next(r for r in worst_rows(runs) if r["label"] == "fp16")
    assert worst["error"] == error.max()
    place = np.unravel_index(error.argmax(), error.shape)
    assert worst["golden"] == truth.dataset["height"].values[place]
    assert worst["place"].startswith("time 3, lat")


def test_evidence_is_said_for_each_arithmetic_and_what_is_missing_too(batch, runs):
    rows = evidence_rows(runs)
    assert [row["label"] for row in rows] == ["fp32", "fp16"]
    assert any(title == "Error budget" for title, _ in rows[0]["said"])
    assert not any("not enough members" in said for _, said in rows[0]["said"])
    assert any("no [ensemble]" in said for said in rows[0]["missing"])
    assert len(evidence_pictures(runs, batch.labels, "x")) >= 1


def test_the_band_of_internal_variability_is_drawn_where_there_are_members(batch, runs):
    days = [0.0, 1.0, 2.0]
    part = {"variable": "height", "units": "m", "days": days, "error": [0.0, 1e-3, 1e-2],
            "spread": [1e-1, 1.0, 2.0], "ulp": [None, None, None], "members": 4,
            "sentence": "small"}  # fmt: skip
    shown = [
        SimpleNamespace(label=r.label, dataset=r.dataset, evidence={"variability": part})
        for r in runs
        if r.label != "fp64"
    ]
    (picture,) = evidence_pictures(shown, batch.labels, "band")
    assert "internal variability" in picture.svg and "one ulp of fp64" not in picture.svg
    assert "Dashed" not in picture.caption  # no member is one ulp apart
    assert "4 fp64 members" in picture.caption


def test_each_row_of_a_budget_names_its_own_place():
    """The budget of an arithmetic is of the option where its rounding weighs most."""

    def drawn_of(*measures):
        shown = [
            SimpleNamespace(label=label, dataset={}, evidence={"budget": {
                "variable": "price", "measure": measure, "parts": {"sampling": 1e-2, "steps": size},
            }})
            for label, measure, size in zip(("fp16", "fp16+carry"), measures, (1e-3, 1e-4),
                                            strict=True)
        ]
        (picture,) = evidence_pictures(shown, ["fp16", "fp16+carry"], "parts")
        return re.findall(r"<text[^>]*>([^<]*)</text>", picture.svg)

    error = "error of the price (sampling: standard error), maturity 1"
    texts = drawn_of(f"{error}, strike 110", f"{error}, strike 120")
    assert {"fp16, strike 110", "fp16+carry, strike 120", error} <= set(texts)
    assert not any(error in text and "strike" in text for text in texts)
    assert {"fp16", "fp16+carry", f"{error}, strike 110"} <= set(
        drawn_of(*[f"{error}, strike 110"] * 2)
    )
    l2 = "relative l2 error at day"
    assert {f"fp16, {l2} 5", f"fp16+carry, {l2} 3"} <= set(drawn_of(f"{l2} 5", f"{l2} 3"))


def test_spectra_end_where_each_run_has_nothing_more(batch, runs):
    """At day 0 a steady flow holds one degree; runs that went on hold what rounding has made."""
    shown = [
        SimpleNamespace(label=run.label, dataset=run.dataset, evidence={"spectrum": {
            "wavenumber": list(range(1, n + 1)), "golden": [2.0**-k for k in range(n)],
            "actual": [2.0**-k for k in range(n)], "ratio": [1.0] * n, "accepted": [[0.9, 1.1]] * n,
            "departs_at": None,
        }})
        for run, n in zip(runs[1:], (1, 42), strict=True)
    ]  # fmt: skip
    for some in (shown, shown[::-1]):
        (picture,) = evidence_pictures(some, batch.labels, "ends")
        assert "total wavenumber" in picture.svg and "none departs" in picture.folded
    shown[0].evidence["spectrum"]["departs_at"] = 3
    assert evidence_pictures(shown, batch.labels, "ends")[0].folded == ""


def test_the_evidence_is_a_matrix_of_short_answers():
    def run(label, **parts):
        return SimpleNamespace(label=label, evidence={"perturbation": 1e-4, **parts})

    grown = {"applies": True, "share": 0.045, "lost_hours": 0.02}
    found = evidence_matrix([
        SimpleNamespace(label="fp64", evidence=None),
        run("fp32", variability=grown, consistency={"answer": "yes"}, budget={"below_by": 2200.0}),
        run("bf16", variability=grown | {"share": 35.0, "lost_hours": 140.0},
            consistency={"answer": "no"}, spectrum={"departs_at": 17}, budget={"below_by": 0.5}),
    ])  # fmt: skip
    assert found["heads"] == [
        "of the internal variability", "hours of predictability lost", "ensemble like that of fp64",
        "departure of the spectrum, wavenumber", "rounding against the largest other error",
    ]  # fmt: skip
    assert found["rows"] == [
        ("fp32", ["4.5 %", "< 0.1", "yes", "–", "÷ 2,200"]),
        ("bf16", ["3,500 %", "140", "no", "from 17", "× 2"]),
    ]


def test_legends_are_wide_enough_for_a_phone_and_do_not_take_the_place_of_the_panels():
    heights = []
    for labels in (["fp32"], [f"a label of thirty letters, no. {k}" for k in range(8)]):
        with drawn("x", 3.0) as figure:
            axes = figure.subplots(1, 2)
            for label in labels:
                axes[1].plot([0, 1], label=label)
            legend(figure)
        (shown,) = figure.legends
        figure.draw_without_rendering()
        box = shown.get_window_extent()
        assert box.x0 / figure.dpi < 0.5 and box.x1 / figure.dpi < 6.5
        assert [text.get_text() for text in shown.get_texts()] == labels
        heights.append(axes[0].get_window_extent().height / figure.dpi)
    assert heights[1] > 0.9 * heights[0]


@pytest.mark.parametrize("name", ["little_climate", "little_heston"])
def test_captions_name_what_is_drawn_only(batch, name):
    picture = distribution_picture(batch.of_scenario(name), batch.labels, "x")
    assert ("By size" in picture.caption) == ("typical error by size" in picture.svg)


def test_what_is_rounded_is_said_with_each_scenario(batch):
    flow, prices = (batch.of_scenario(f"little_{kind}") for kind in ("climate", "heston"))
    assert "evaluated from the stored states in binary64" in rounded_in_words(flow)
    assert "residual" not in rounded_in_words(flow)
    assert "computed from the paths in binary64" in rounded_in_words(prices)
    carry = Variant("fp16", CompensationChoice(name="carry"))
    carried = [flow[0], flow[1], replace(flow[2], variant=carry)]
    said = rounded_in_words(carried)
    assert "carried along as a residual in fp16+carry." in said
    bare = [replace(run, dataset=run.dataset.drop_attrs(deep=False)) for run in flow]
    assert rounded_in_words(bare) == ""


def run_of(label, dataset, truth, status):
    """A stored run as suggestions see it; its tolerance is 5e-5 of relative l2."""
    backend, _, compensation = label.partition("+")
    bits = 0 if ":" in backend else resolve_backend(backend).compute.format.significand_bits
    comparison = compare(truth, dataset)
    margin = main_row(comparison).errors["relative_l2"] / 5e-5
    return SimpleNamespace(
        width=(bits, 9), size=(bits or 10**6, 9, bool(compensation)),
        label=label, backend=backend, is_truth=backend == "fp64",
        compensation=compensation or "none", scenario="made_up",
        dataset=dataset,
        file=f"{label}.nc", stages=None, comparison=comparison,
        verdict=Verdict(status, "why", margin),
    )  # fmt: skip


def dataset_of(values):
    return xr.Dataset({"height": ("x", values)})


SMALLEST = "take mlu370 (21 bits) instead, the smallest without compensation that is good enough"
BY_LINE = "assignment:by_line@5a1803b6e172"
VALUES = np.exp(np.linspace(-3.0, 7.0, 4000))
WAVE = np.sin(np.arange(4000.0))


@pytest.fixture
def made_up():
    """Runs whose errors follow the magnitude."""
    truth = dataset_of(VALUES)
    given = {
        "fp64": (0.0, "truth"), "fp16": (1e-3, "beyond"), "fp16+carry": (1e-5, "good"),
        "bf16": (8e-3, "beyond"), "fp32": (1e-7, "good"), "mlu370": (2e-6, "good"),
        "tf32": (7e-4, "beyond"),
    }  # fmt: skip
    return [
        run_of(label, dataset_of(VALUES * (1.0 + relative * WAVE)), truth, status)
        for label, (relative, status) in given.items()
    ]


def test_suggestions_come_with_the_run_that_verifies_them(made_up):
    found = {(s.label, s.change): s for s in suggestions(made_up, "reports/x")}
    assert set(found) == {
        ("fp16", "keep the residual (compensation 'carry')"),
        ("fp16", SMALLEST),
        ("bf16", "take fp16 instead, of as many bytes"),
        ("bf16", SMALLEST),
        ("tf32", "take fp32 instead, of as many bytes"),
        ("tf32", SMALLEST),
    }
    carried = found["fp16", "keep the residual (compensation 'carry')"]
    assert carried.gain == pytest.approx(100.0, rel=1e-3)
    assert carried.command == "sciprec compare reports/x/fp64.nc reports/x/fp16+carry.nc"
    assert "follows the magnitude (correlation 1.00)" in carried.sentence
    assert carried.sentence.endswith("; verified by a run: × 14 becomes ÷ 7.1, good enough")
    narrow = found["bf16", "take fp16 instead, of as many bytes"]
    assert narrow.sentence.endswith(": × 110 becomes × 14, which helps, and not enough")
    for labels in (("fp64", "fp16"), ("fp64", "fp32", "fp16+carry")):  # nothing shows it; all good
        assert suggestions([run for run in made_up if run.label in labels], "x") == []


def test_a_run_that_stopped_or_stood_still_is_helped_by_what_is_good_enough_alone(made_up):
    stopped = Verdict("failed", "stopped early: not finite")
    runs = [
        SimpleNamespace(**(vars(run) | {"comparison": None, "verdict": stopped}))
        if run.label == "bf16" else run for run in made_up
    ]  # fmt: skip
    (one,) = [s for s in suggestions(runs, "x") if s.label == "bf16"]
    assert one.sentence == (
        "take mlu370 (21 bits) instead, the smallest without compensation that is good enough; "
        "verified by a run: failed becomes ÷ 35, good enough"
    )
    runs = [replace_verdict(run, Verdict("still", "why", 0.5)) if run.label == "bf16" else run
            for run in made_up]  # fmt: skip
    one = next(s for s in suggestions(runs, "x") if s.label == "bf16")
    assert one.result == "still (moves too little) becomes ÷ 35, good enough"


@pytest.mark.parametrize("other, told", [
    ({"carried": True, "depth": 3.0}, True), ({"carried": True, "depth": 4.0}, False),
    ({"carried": False, "depth": 4.0}, False), ({"carried": False, "depth": 3.0}, False),
])  # fmt: skip
def test_a_scenario_that_differs_by_a_switch_alone_shows_what_it_does(made_up, other, told):
    def of(name, values, status):
        about = {"name": name, "title": name, "kind": "soil", "soil": values}
        return [
            SimpleNamespace(**(vars(run) | {
                "scenario": name, "description": about, "file": f"{name}.{run.label}.nc",
                "verdict": run.verdict if run.is_truth else Verdict(status, "why", margin),
            }))
            for run, margin in ((made_up[0], 0.0), (made_up[1], 0.5 if status == "good" else 8.0))
        ]  # fmt: skip

    plain, carried = (
        of("plain", {"carried": False, "depth": 3.0}, "beyond"), of("other", other, "good"),
    )  # fmt: skip
    result = suggestions(plain, "x", carried)
    assert [one.label for one in result] == ["fp16"] * told
    if told:
        assert result[0].sentence.endswith(
            "carried = true, by which alone other differs; verified by a run: × 8 becomes ÷ 2, "
            "good enough"
        )
        assert result[0].command == "sciprec compare x/other.fp64.nc x/other.fp16.nc"
    assert suggestions(carried, "x", plain) == []


def test_what_helps_and_not_enough_stands_last(made_up):
    labels = [s.label for s in suggestions(made_up, "x")]
    assert labels == sorted(labels, key=labels.index)
    one, two = (s.result for s in suggestions(made_up, "x") if s.label == "bf16")
    assert one.endswith("good enough") and two.endswith("which helps, and not enough")


def test_a_gain_names_its_error_where_the_matrix_has_none(made_up):
    """Without tolerances, and where evidence alone speaks against a run."""
    unjudged = [replace_verdict(run, Verdict("unjudged", "why")) for run in made_up]
    one = next(s for s in suggestions(unjudged, "x") if s.label == "fp16" and "keep" in s.change)
    assert one.gain == pytest.approx(100.0, rel=1e-3)
    error = "the relative l2 error of height over all stored values is 100 times smaller"
    assert one.sentence.endswith(f"; verified by a run: {error}, not judged")
    told = [replace_verdict(run, Verdict("beyond", "distinguishable", 0.1))
            if run.label == "fp16" else run for run in made_up]  # fmt: skip
    one = next(s for s in suggestions(told, "x") if s.label == "fp16" and "keep" in s.change)
    assert one.result == "not good enough becomes ÷ 7.1, good enough"


def test_no_mixed_formats_are_called_the_smallest_and_no_single_one_beside_them(made_up):
    place = run_of(BY_LINE, made_up[4].dataset, made_up[0].dataset, "good")
    changes = [s.change for s in suggestions([*made_up, place], "x") if s.label == "bf16"]
    assert changes == [
        SMALLEST.replace("smallest", "smallest single format"),
        "take by_line instead, of mixed formats",
        "take fp16 instead, of as many bytes",
    ]
    twin = run_of(BY_LINE.replace("5a18", "77aa"), made_up[4].dataset, made_up[0].dataset, "beyond")
    labels = {s.label: s.change for s in suggestions([*made_up, place, twin], "x")}
    assert labels[twin.label] == "take by_line@5a18 instead, of mixed formats"


def replace_verdict(run, verdict):
    """The stand-in of a run with another verdict."""
    return SimpleNamespace(**(vars(run) | {"verdict": verdict}))


def test_errors_of_one_size_do_not_follow_the_magnitude():
    flat = compare(dataset_of(VALUES), dataset_of(VALUES + 1e-3 * WAVE)).row("height")
    assert abs(magnitude_correlation(flat)) < 0.5
    relative = compare(dataset_of(VALUES), dataset_of(VALUES * (1 + 1e-3 * WAVE))).row("height")
    assert magnitude_correlation(relative) > 0.99
    few = compare(dataset_of(np.ones(9)), dataset_of(np.full(9, 1.5))).row("height")
    assert math.isnan(magnitude_correlation(few))


def test_what_has_nothing_to_say_is_folded(batch, blank_figures):
    """Six prices have no percentiles, and nothing was compensated."""
    page = render(batch)
    assert "<summary>How the errors of 6 values are distributed</summary>" in page
    assert "quantiles-little_climate" in page and "quantiles-little_heston" not in page
    assert "<th scope=\"col\" class=\"n\">gain</th>" not in page


def test_the_tolerance_of_prices_is_drawn_at_the_tolerance(batch):
    rounding, _ = pictures(batch.of_scenario("little_heston"), batch.labels, "x")
    assert rounding.caption.endswith("Dashed: the tolerance.")


def test_curves_on_one_another_are_folded(batch):
    truth, run, _ = batch.of_scenario("little_heston")
    for apart in (0.01, 0.2):  # standard errors
        moved = truth.dataset.assign(
            price=truth.dataset["price"] + apart * truth.dataset["standard_error"]
        )
        _, analytic = pictures([truth, replace(run, dataset=moved)], batch.labels, "x")
        assert bool(analytic.folded) == (apart < ALIKE)


PLAIN_ROUNDINGS = [name for name, rule in ROUNDINGS.items() if not rule.noisy]


@given(st.integers(2, 24), st.integers(-100, -1), st.sampled_from(PLAIN_ROUNDINGS))
def test_the_short_name_of_an_arithmetic_means_the_same(p, emin, rounding):
    for spec in (f"float:p={p},emin={emin},round={rounding}", f"float:p={p},emin={emin},emax=99"):
        name = resolve_backend(spec).name
        assert resolve_backend(short(name)).name == name and len(short(name)) <= len(name)


@given(st.sampled_from(sorted(FORMATS)), st.sampled_from(["", *PLAIN_ROUNDINGS]))
def test_a_standard_format_has_the_name_that_people_type(standard, rounding):
    name = standard + f",round={rounding}" * bool(rounding)
    try:
        backend = resolve_backend(name)
    except InputError:  # not every format takes every rounding
        return
    assert resolve_backend(short(name)).name == backend.name
    assert not short(name).startswith(("binary", "bfloat"))
    assert short(f"{name}+carry") == f"{short(name)}+carry"


def test_a_comparison_shows_its_main_variable_first_and_folds_the_others(runs):
    """That of u is far worse; six values have no percentiles."""
    truth, other = (
        run.dataset.assign(few=("x", np.arange(6.0) + error), u=run.dataset["u"] + 99 * error)
        for run, error in zip((runs[0], runs[2]), (0.0, 0.5), strict=True)
    )
    page = comparison_page(compare(truth, other), golden="a.nc", actual="b.nc")
    shown, _, folded = page.partition('<section id="variables">')
    assert "<h2>Errors of height</h2>" in shown and "Percentiles of height" in shown
    assert shown.count("<svg") == 1 and "Percentiles of u" in folded
    assert "<summary>few: figure and tables</summary>" in folded
    assert "Percentiles of few" not in folded


def test_maps_of_digits_have_whole_numbers_and_keep_what_is_not_known():
    errors = np.array([[1e-3, np.nan, np.inf], [0.0, 10.0, 1e-16]])
    picture = error_map(("x", "y"), 100.0 * np.arange(3), errors, "step", "map", "All.")
    words = re.findall(r"<text[^>]*>([^<]*)</text>", picture.svg)
    assert {"digits left", "0", "x", "y"} <= set(words)
    assert not any("." in word or "e" in word for word in words if word[:1].isdigit())
    assert error_map(("x",), np.arange(2.0), np.full((1, 2), np.nan), "step", "map", "") is None


def test_long_labels_are_cut_in_the_middle_and_stay_apart():
    long = "float:p=53,emin=-1022,emax=1023,round=rn with state in float:p=21"
    assert short("mlu370+carry") == "mlu370+carry"
    assert short(f"{BY_LINE}+carry") == "by_line+carry"
    policy = "policy:O1,narrow=binary16,round=sr,wide=fp32"
    assert short(f"{policy},deny=Fourier+carry") == "O1 fp16,round=sr/fp32,deny=Fourier+carry"
    assert short("my_binary16 with state in binary16") == "my_binary16 with state in fp16"
    assert len(short(long)) <= LONGEST_LABEL and short(long) != short(f"{long}+carry")
    assert short(long).startswith("float:p=53") and short(long).endswith("float:p=21")


def test_values_that_become_another_kind_of_number_are_counted():
    truth = dataset_of(np.array([1.0, 2.0, 3.0, 4.0]))
    run = run_of("fp16", dataset_of(np.array([1.0, np.inf, np.nan, 0.0])), truth, "broken")
    rows = {(r["golden"], r["actual"]): r["count"] for r in class_rows([run])}
    assert rows == {("normal", "inf"): 1, ("normal", "nan"): 1, ("normal", "zero"): 1}


def test_added_sections_stand_before_the_details_escaped_and_with_figures(
    monkeypatch, batch, tmp_path
):
    """That of the docs, and one of a test's own, on a page without sciprec's findings."""
    monkeypatch.setattr(section, "_FINDINGS", ())
    monkeypatch.setattr(section, "_ADDED", {})
    with loading(tmp_path) as load:
        load("section of the page")

        @page_section(
            '{% from "figure.html" import figure %}{{ figure(data[0]) }}<p>{{ data[1] }}</p>'
        )
        def drawn(subject):
            figure = SimpleNamespace(svg="<svg>", caption=subject.scenario)
            return [figure, "a < b"] if subject.prefix == "s0" else None

        page = render(batch)
    assert page.count("<h3>Highest level</h3>") == 1  # prices have no heights
    assert "<li>fp16: 5" in page
    assert page.index("Highest level") < page.index("<summary>All variables")
    assert page.count("<figcaption>little_climate</figcaption>") == 1
    assert "<p>a &lt; b</p>\n<details>" in page
    assert "<figcaption>little_heston" not in page


def test_a_map_of_a_run_with_a_long_name_has_room():
    """Its title left none for the map, which matplotlib warned of."""
    spec = resolve_backend("float:p=53,emin=-1022,emax=1023").name
    label = f"{spec} with state in float:p=21,emin=-99+carry"
    runs = [
        SimpleNamespace(label=name, dataset=trajectory_dataset(little_trajectory(error)))
        for name, error in (("fp64", 0.0), (label, 1e-7))
    ]
    assert "minus fp64, day 3" in _error_map(*runs, "height", "map").svg


@pytest.mark.parametrize("ratio", [1.02, 1.9, 4.9, 14.0, 90.0, 2e4])
@pytest.mark.parametrize("low", [1.3e-6, 7.7])
def test_no_label_of_a_logarithmic_axis_lies_on_another(low, ratio):
    """In a third of a page, the narrowest panel; the extents are those of a raster."""
    ends = low, low * ratio
    with drawn("x", 2.4) as figure:
        for axes in figure.subplots(1, 3):
            axes.plot(ends, ends)
            axes.set(xscale="log", yscale="log")
        to_svg(figure, "lines")
        FigureCanvasAgg(figure).draw()
        for axis in (side for axes in figure.axes for side in (axes.xaxis, axes.yaxis)):
            first, last = sorted(axis.get_view_interval())
            boxes = [label.get_window_extent() for label in axis.get_ticklabels(which="both")
                     if label.get_text() and first <= _place(label, axis) <= last]  # fmt: skip
            assert boxes and not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))


def _place(label, axis):
    """Where a label stands on its axis."""
    return label.get_position()[0 if axis.axis_name == "x" else 1]
