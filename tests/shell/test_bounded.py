"""Scenarios whose prices have bounds: plan, datasets, files, comparison, and the page."""

import json
import math
import re
import tomllib
from types import SimpleNamespace

import numpy as np
import pytest

from sciprec import heston
from sciprec.foundation.timing import Timing
from sciprec.heston.semianalytic import analytic
from sciprec.report.stored.batch import read_batch
from sciprec.results.output import netcdf
from sciprec.results.output.dataset import timing_attributes
from sciprec.results.output.surfaces import surface_dataset
from sciprec.workbench.batch import workflow
from sciprec.workbench.batch.plan import plan
from sciprec.workbench.kinds import heston_grid as options
from sciprec.workbench.kinds import parse_scenario
from tests.shell.conftest import BOUNDED


def scenario(*edits):
    """The little surface, with pairs of old and new text."""
    text = BOUNDED
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return parse_scenario(tomllib.loads(text))


BOTH = ('kind = "heston"', 'kind = "heston"\ncompensation = ["carry", "correction"]')
CORRECTED = ('kind = "heston"', 'kind = "heston"\ncompensation = ["correction"]')


def little_result(strikes, shift=0.0, rounding=0.0):
    """What heston.price returns, made up: prices 10 and less, a bound of 0.2."""
    price = 10.0 - 0.05 * np.arange(len(strikes)) + shift
    parts = {"statistical": 0.1, "discretisation": 0.1 - rounding, "rounding": rounding}
    grids = {name: np.full(len(strikes), value) for name, value in parts.items()}
    level = heston_level()
    return SimpleNamespace(
        price=price, bound=np.full(len(strikes), 0.2), rounding_error=np.full(len(strikes), shift),
        tolerance=np.full(len(strikes), 0.25), met=True, n_paths=3, n_steps=4, seconds=0.5,
        levels=(level,), confidence=0.95, implied_volatility=0.2 + 0.01 * shift + 0 * price,
        implied_volatility_low=np.full(len(strikes), 0.195),
        implied_volatility_high=np.full(len(strikes), np.nan), scheme="s",
        variance_reduction="v", sentences=("dear",),
        **grids,
    )  # fmt: skip


def heston_level():
    from sciprec.heston.bounds.pricing import LevelRow

    return LevelRow("base", "fp16", 4, 128, 10.0, 2.0, 6.0, 0.25, 0.2, 0.3)


def stand_in(given, backend, compensation=None):
    """Stands for the pricing of a surface."""
    strikes, maturities = given.payoffs.strikes, given.payoffs.maturities_years
    shift = 0.0 if backend == "fp64" else 0.001 if compensation == "correction" else 0.05
    results = [little_result(strikes, shift, rounding=shift) for _ in maturities]
    exact = np.stack([result.price - shift for result in results])
    volatility = 0.2 + 0 * exact
    grid = {
        "analytic_price": exact, "analytic_implied_volatility": volatility,
    }  # fmt: skip
    return surface_dataset(
        strikes, maturities, results, grid, notes=json.dumps(["made up"]), blow_up="",
        **timing_attributes(Timing(0.25, 0.2, 0.3)),
    )  # fmt: skip


def test_residuals_are_carried_unless_told_otherwise():
    runs = plan([scenario()])
    assert [run.label for run in runs] == ["fp64", "mlu370+carry", "bf16+carry"]
    assert [run.variant.compensation.resolved() for run in runs] == [None, "carry", "carry"]
    three = 'kind = "heston"\ncompensation = ["none", "carry", "correction"]'
    runs = plan([scenario(('kind = "heston"', three))])
    labels = ["fp64", "mlu370", "mlu370+carry", "mlu370+correction"]
    assert [run.label for run in runs][:4] == labels
    assert [run.compensation for run in runs[1:4]] == ["none", "carry", "correction"]
    assert len({run.file for run in runs}) == 7


@pytest.mark.parametrize("backend", ["fp64", "mlu370"])
def test_a_small_surface_holds_its_bounds_and_its_parts_add_up(backend):
    given = scenario().heston
    data = options.run(given, backend, "correction")
    assert data["price"].dims == ("maturity", "strike")
    model = heston.Model(**given.model.model_dump())
    for i, maturity in enumerate(given.payoffs.maturities_years):
        exact = [
            analytic.price(model, option)
            for option in options.grid_options(given.payoffs, maturity)
        ]
        np.testing.assert_array_equal(data["analytic_price"][i], exact)
    parts = data["statistical"] + data["discretisation"] + data["rounding"]
    np.testing.assert_allclose(parts, data["bound"], rtol=1e-12)
    assert (data["bound"] <= data["tolerance"]).all()
    np.testing.assert_allclose(data["tolerance"], 0.02 * data["price"], rtol=1e-12)
    assert (abs(data["price"] - data["analytic_price"]) <= data["bound"]).all()
    low, high = data["implied_volatility_low"], data["implied_volatility_high"]
    assert (low < data["implied_volatility"]).all() and (data["implied_volatility"] < high).all()
    exact = data["analytic_implied_volatility"]
    assert (low <= exact).all() and (exact <= high).all()
    levels = json.loads(data.attrs["levels"])
    names = ["base", "steps"] if backend == "fp64" else ["base", "rounding", "steps"]
    assert [row["level"] for row in levels] == 2 * names
    assert [row["maturity"] for row in levels[:: len(names)]] == [0.5, 1.0]


def test_without_correction_the_bound_holds_the_whole_rounding_error():
    given = scenario(("[0.5, 1.0]", "[1.0]")).heston
    plain, left, removed = (
        options.run(given, "bf16", how) for how in ("none", "carry", "correction")
    )
    assert (plain["rounding_error"] != left["rounding_error"]).all()
    for data in (plain, left, removed):
        assert (abs(data["rounding_error"]) > 0).all()
        assert (abs(data["price"] - data["analytic_price"]) <= data["bound"]).all()
    assert (left["rounding"] > abs(left["rounding_error"])).all()
    assert (removed["rounding"] < abs(removed["rounding_error"])).all()


def test_along_the_path_there_is_a_price_without_a_truth():
    asian = ('kind = "call"', 'kind = "asian-arithmetic"\nfixings = 2')
    given = scenario(asian, ('"2%"', '"5%"'), ("[0.5, 1.0]", "[1.0]")).heston
    data = options.run(given, "fp64", "carry")
    assert (data["bound"] <= data["tolerance"]).all() and (data["price"] > 0).all()
    assert np.isnan(data["analytic_price"]).all() and np.isnan(data["implied_volatility"]).all()


def test_implied_volatilities_know_calls_and_puts_and_their_limits():
    model = heston.Model(spot=100, v0=0.04, kappa=2, theta=0.04, sigma=0.5, rho=-0.5, rate=0.03)
    call, put = (cls(strike=95.0, maturity=0.5) for cls in (heston.Call, heston.Put))
    found = heston.black.implied_volatilities(
        model, [call, put], np.array([analytic.price(model, call), analytic.price(model, put)])
    )
    assert found[0] == pytest.approx(found[1], rel=1e-10)
    discount, forward = model.discount(0.5), model.forward(0.5)
    back = heston.black.call_prices(forward, 95.0, found[0] * math.sqrt(0.5), discount)
    assert back == pytest.approx(analytic.price(model, call), rel=1e-12)
    limits = heston.black.implied_volatilities(model, [call, call, put], [1.0, 101.0, -1.0])
    assert limits[0] == limits[2] == 0.0 and math.isnan(limits[1])
    asian = heston.AsianArithmetic(strike=95.0, maturity=0.5, fixings=2)
    assert np.isnan(heston.black.implied_volatilities(model, [asian], [5.0])).all()


@pytest.mark.slow
def test_prices_of_a_number_of_paths_have_implied_volatilities():
    given = scenario(('tolerance = "2%"', "n_paths = 2048\nsteps_per_year = 4")).heston
    data = options.run(given, "fp64", "carry")
    model = heston.Model(**given.model.model_dump())
    for i, maturity in enumerate(given.payoffs.maturities_years):
        forward, discount = model.forward(maturity), model.discount(maturity)
        deviation = data["implied_volatility"].values[i] * math.sqrt(maturity)
        back = heston.black.call_prices(forward, data["strike"].values, deviation, discount)
        np.testing.assert_allclose(back, data["price"][i], rtol=1e-10)


def test_the_page_shows_bounds_notes_and_levels(monkeypatch, models, tmp_path):
    monkeypatch.setitem(models, "heston", stand_in)
    batch = workflow.run([scenario(BOTH)], out=tmp_path / "out")
    assert not batch.failures
    status = {row["label"]: row["status"] for row in batch.table}
    assert status["mlu370+carry"] == "beyond" and status["mlu370+correction"] == "good"
    text = " ".join(batch.page.read_text(encoding="utf-8").split())
    assert text.count("<svg") == 5
    assert "<li><code>mlu370+correction</code> made up</li>" in text
    assert "Levels: in which arithmetic" in text and '<td class="n">128</td>' in text
    assert "<tspan" not in text.split("<svg")[1]  # a linear axis has no powers of ten
    assert '<td class="n">0.20050</td><td class="n">0.19500</td><td class="n">–</td>' in text
    for words in ("less the semi-analytic price", "The smile", "What the bound is made of"):
        assert words in text
    runs = read_batch(batch.folder).runs
    compared = {row.variable for row in runs[1].comparison.rows}
    assert compared == {"price", "relative_rounding"}
    row = batch.table[2]
    assert row["variable"] == "rounding of price" and row["errors"]["max_abs"] == 0.001
    assert "errors of price" not in text  # whose differences from fp64 are those of other paths


def test_files_of_earlier_versions_have_half_of_the_width(models, tmp_path, blank_figures):
    def older(given, backend, compensation=None):
        data = stand_in(given, backend, compensation)
        data["implied_volatility_bound"] = 0.004 + 0 * data["implied_volatility_low"]
        return data.drop_vars(["implied_volatility_low", "implied_volatility_high"])

    models["heston"] = older
    text = workflow.run([scenario()], out=tmp_path / "out").page.read_text(encoding="utf-8")
    cells = '<td class="n">0.20050</td><td class="n">0.19650</td><td class="n">0.20450</td>'
    assert cells in text


def test_the_tolerance_of_prices_is_one_that_runs_are_judged_by(monkeypatch, models, tmp_path):
    def wider(given, backend, compensation=None):
        data = stand_in(given, backend, compensation)
        if backend == "bf16":
            data["bound"][1, 0] = 0.5
            data["bound"][0, 0] = data["tolerance"][0, 0]  # within: at most
        return data

    monkeypatch.setitem(models, "heston", wider)
    monkeypatch.setattr("sciprec.report.page.write_page", lambda batch: batch.folder)
    alone = scenario(CORRECTED).model_copy(update={"tolerance": ()})
    rows = {row["label"]: row for row in workflow.run([alone], out=tmp_path / "out").table}
    good, missed = rows["mlu370+correction"], rows["bf16+correction"]
    assert (good["status"], missed["status"]) == ("good", "beyond")
    assert good["reason"] == (
        "all prices have bounds within the tolerance that they were computed to, the widest being "
        "0.8 of it"
    )
    assert missed["reason"].startswith("3 of 4 prices have bounds within the tolerance")
    assert missed["reason"].endswith("the widest being 2 of it")


WORTHLESS = (
    ('kind = "call"', 'kind = "asian-arithmetic"\nfixings = 5'),
    ("maturities_years = [0.5, 1.0]", "maturities_years = [0.0191]"),
    ('backends = ["mlu370", "bf16"]', 'backends = ["fp32"]'),
)


@pytest.mark.parametrize(
    ("strikes", "met", "figures"), [([120.0], "0 of 1", 1), ([100.0, 120.0], "1 of 2", 4)]
)
def test_worthless_prices_miss_their_tolerance(strikes, met, figures, tmp_path, blank_figures):
    """They were "identical", and shares of a price of zero were drawn."""
    one = scenario(*WORTHLESS, ("strikes = [90.0, 110.0]", f"strikes = {strikes}"))
    batch = workflow.run([one], out=tmp_path / "out")
    assert [row["status"] for row in batch.table] == ["truth", "beyond"]
    reason = batch.table[1]["reason"]
    assert reason.startswith(f"{met} prices have bounds within the tolerance")
    assert "the widest being of a price of zero" in reason
    assert ("every stored value has the same bits" in reason) == (len(strikes) == 1)
    text = batch.page.read_text(encoding="utf-8")
    assert text.count("<svg") == figures
    assert ("1 of 2 options, worth less than their bounds, not shown" in text) == (figures > 1)
    for file in batch.files:
        assert np.isfinite(netcdf.read(file)["relative_rounding"]).all()


def test_what_rounding_adds_is_a_share_of_the_larger_one_of_price_and_bound():
    result = little_result([1.0, 2.0, 3.0], rounding=0.02)
    result.price = np.array([10.0, -1e-17, 0.0])
    result.bound = np.array([0.2, 0.2, 0.0])
    result.rounding = np.array([0.02, 0.02, 0.0])
    data = surface_dataset([1.0, 2.0, 3.0], [1.0], [result], {})
    assert data["relative_rounding"].values[0] == pytest.approx([0.002, 0.1, 0.0])


def test_without_a_truth_prices_are_shown_against_fp64(models, tmp_path, blank_figures):
    def unknown(given, backend, compensation=None):
        data = stand_in(given, backend, compensation)
        for name in ("analytic_price", "implied_volatility", "analytic_implied_volatility"):
            data[name] = math.nan * data[name]
        return data

    models["heston"] = unknown
    batch = workflow.run([scenario()], out=tmp_path / "out")
    text = " ".join(batch.page.read_text(encoding="utf-8").split())
    assert text.count("<svg") == 4
    assert "less the price in fp64" in text and "The smile" not in text


def test_wild_prices_make_the_axis_logarithmic_and_no_warning(monkeypatch, models, tmp_path):
    def wild(given, backend, compensation=None):
        data = stand_in(given, backend, compensation)
        if backend == "bf16":
            data["price"][0, 0], data["bound"][0, 0] = -50.0, 100.0
            data["price"][0, 1], data["bound"][0, 1] = math.nan, math.inf
        return data

    monkeypatch.setitem(models, "heston", wild)
    batch = workflow.run([scenario(CORRECTED)], out=tmp_path / "out")
    assert {row["label"]: row["status"] for row in batch.table}["bf16+correction"] == "broken"
    _, intervals, *others = batch.page.read_text(encoding="utf-8").split("<svg")
    assert len(others) == 4
    assert re.search(">−?10[⁰¹²³⁴]<", intervals)  # along the axis
