"""Scenarios whose prices have bounds: plan, datasets, files, comparison, and the page."""

import json
import math
import tomllib
from types import SimpleNamespace

import numpy as np
import pytest

from sciprec import heston
from sciprec.foundation.timing import Timing
from sciprec.heston.semianalytic import analytic
from sciprec.report.stored.batch import read_batch
from sciprec.results.output import netcdf
from sciprec.results.output.bounded_prices import surface_dataset
from sciprec.results.output.dataset import timing_attributes
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
    """A result of heston.price, made up: prices 10 and less, a bound of 0.2."""
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


@pytest.mark.slow
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
