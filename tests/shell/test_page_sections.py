"""Sections of the page: distributions, evidence, and suggestions that a run verifies."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from sciprec.facets.compensation.keys import CompensationChoice
from sciprec.precision.formats.backend import resolve_backend
from sciprec.precision.formats.rounding_rules import ROUNDINGS
from sciprec.report import page_section, section
from sciprec.report.comparison import comparison_page
from sciprec.report.page import render
from sciprec.report.sections.distribution import (
    differing,
    quantile_rows,
    worst_rows,
)
from sciprec.report.sections.evidence_matrix import evidence_matrix
from sciprec.report.sections.evidence_pictures import evidence_pictures, evidence_rows
from sciprec.report.sections.rounded import rounded_in_words
from sciprec.report.sections.suggestions import suggestions
from sciprec.results.comparison import compare
from sciprec.results.comparison.rows import main_row
from sciprec.results.comparison.verdicts import Verdict
from sciprec.results.comparison.wording import LONGEST_LABEL, short
from sciprec.scenario.variant import Variant
from tests.extending import loading


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


@pytest.mark.parametrize("without", [{}, {"dataset": None}], ids=["a file", "no file"])
def test_a_run_that_stopped_or_stood_still_is_helped_by_what_is_good_enough_alone(made_up, without):
    stopped = {"comparison": None, "verdict": Verdict("failed", "stopped early: not finite")}
    runs = [
        SimpleNamespace(**(vars(run) | stopped | without))
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


def replace_verdict(run, verdict):
    """The stand-in of a run with another verdict."""
    return SimpleNamespace(**(vars(run) | {"verdict": verdict}))


PLAIN_ROUNDINGS = [name for name, rule in ROUNDINGS.items() if not rule.noisy]


@given(st.integers(2, 24), st.integers(-100, -1), st.sampled_from(PLAIN_ROUNDINGS))
def test_the_short_name_of_an_arithmetic_means_the_same(p, emin, rounding):
    for spec in (f"float:p={p},emin={emin},round={rounding}", f"float:p={p},emin={emin},emax=99"):
        name = resolve_backend(spec).name
        assert resolve_backend(short(name)).name == name and len(short(name)) <= len(name)


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


def test_long_labels_are_cut_in_the_middle_and_stay_apart():
    long = "float:p=53,emin=-1022,emax=1023,round=rn with state in float:p=21"
    assert short("mlu370+carry") == "mlu370+carry"
    assert short(f"{BY_LINE}+carry") == "by_line+carry"
    policy = "policy:O1,narrow=binary16,round=sr,wide=fp32"
    assert short(f"{policy},deny=Fourier+carry") == "O1 fp16,round=sr/fp32,deny=Fourier+carry"
    assert short("my_binary16 with state in binary16") == "my_binary16 with state in fp16"
    assert len(short(long)) <= LONGEST_LABEL and short(long) != short(f"{long}+carry")
    assert short(long).startswith("float:p=53") and short(long).endswith("float:p=21")


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
