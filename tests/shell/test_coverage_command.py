"""`sciprec dev coverage`: table, page, exit codes, and a sentence for wrong input."""

import json
import re
from pathlib import Path

import pytest

from sciprec import heston
from sciprec.cli import commands as cli
from sciprec.cli.console import GOOD, NOT_MET
from sciprec.foundation.errors import InputError
from sciprec.heston.bounds.bound_coverage import BACKENDS, CoverageRow
from sciprec.report.coverage_page import write_coverage_page

REFERENCES = Path(__file__).parents[2] / "data" / "heston" / "europeans.json"
GIVEN = ("--references", REFERENCES)


def made_up_row(case, backend, n_seeds, covered):
    """A row whose prices were covered so many times."""
    return CoverageRow(case, backend, 0.95, n_seeds, covered, 30, 0.02, 0.01, 1e-4, 3e-4, 40, 0.5)


@pytest.fixture
def stand_in(monkeypatch):
    """Replaces the pricing by made-up rows; returns what the function was called with."""
    calls = []

    def coverage(cases, *, backends, n_seeds, progress, **options):
        calls.append({"cases": [case.name for case in cases], "n_seeds": n_seeds, **options})
        for case in cases:
            for backend in backends:
                covered = 20 if backend == "bf16" else n_seeds
                progress(made_up_row(case.name, backend, n_seeds, covered))

    monkeypatch.setattr(heston, "coverage", coverage, raising=False)
    return calls


def test_a_real_row_covers_and_is_stored(call, tmp_path):
    arguments = ("--case", "lewis_K100", "--backend", "fp32", "--seeds", 4, "--tolerance", "5%")
    code, out, err = call("dev", "coverage", *GIVEN, *arguments, "--out", tmp_path, "--json")
    assert (code, err) == (GOOD, "")
    content = json.loads(out)
    (row,) = content["rows"]
    assert (row["case"], row["backend"], row["n_seeds"]) == ("lewis_K100", "fp32", 4)
    assert row["covered"] >= row["required"] and row["passed"]
    assert row["share"] == row["covered"] / 4 and row["width"] > 1
    assert 0 < row["mean_bound"] <= 0.05
    assert content["page"] == str(tmp_path / "index.html")
    assert content["command"].startswith("sciprec dev coverage --seeds ")
    assert json.loads((tmp_path / "coverage.json").read_text())["rows"] == content["rows"]
    assert "--case lewis_K100" in content["command"] and "--seeds 4" in content["command"]


def test_a_row_that_does_not_cover_is_1_and_red(call, stand_in, tmp_path):
    code, out, err = call("dev", "coverage", *GIVEN, "--small", "--out", tmp_path)
    assert code == NOT_MET
    lines = [line.split() for line in out.splitlines() if line.startswith("lewis_K100")]
    assert [(line[1], line[2]) for line in lines] == [
        (name, "fails" if name == "bf16" else "holds") for name in BACKENDS
    ]
    assert re.search(r"andersen_3_r5_K100 +bf16 +fails +40 +20 ", out) and err == ""
    text = " ".join((tmp_path / "index.html").read_text(encoding="utf-8").split())
    assert "The bound holds in 9 of 12 rows" in text
    assert text.count('<span class="chip beyond">fails</span>') == 3
    assert text.count("<svg") == 2 and "<script" not in text
    addresses = set(re.findall(r"https?://[^\s\"'<>)]+", text))
    assert addresses == {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    code, *_ = call("dev", "coverage", *GIVEN, "--small", "--out", tmp_path, "--backend", "fp32")
    assert code == GOOD


def test_the_page_is_made_from_the_stored_results(call, stand_in, tmp_path):
    call("dev", "coverage", *GIVEN, "--small", "--out", tmp_path)
    before = (tmp_path / "index.html").read_bytes()
    (tmp_path / "index.html").unlink()
    code, out, err = call("report", tmp_path)
    assert (code, err) == (GOOD, "") and "lewis_K100" in out
    assert (tmp_path / "index.html").read_bytes() == before
    content = json.loads(call("report", tmp_path, "--json")[1])
    assert len(content["rows"]) == 12 and content["page"] == str(tmp_path / "index.html")
    with pytest.raises(InputError, match="holds no coverage run: there is no coverage.json"):
        write_coverage_page(tmp_path.parent)


@pytest.mark.parametrize(
    ("n_rows", "words"), [(0, "no row was finished"), (2, "writes their page")]
)
def test_an_interrupted_run_keeps_its_rows(call, monkeypatch, tmp_path, n_rows, words):
    def coverage(cases, *, backends, n_seeds, progress, **options):
        for backend in backends[:n_rows]:
            progress(made_up_row(cases[0].name, backend, n_seeds, n_seeds))
        raise KeyboardInterrupt

    left = []
    monkeypatch.setattr(heston, "coverage", coverage, raising=False)
    monkeypatch.setattr(cli, "_leave_at_once", lambda message: left.append(message))
    call("dev", "coverage", *GIVEN, "--small", "--out", tmp_path)
    assert words in left[0]
    if n_rows:
        code, out, _ = call("report", tmp_path)
        assert code == GOOD and "lewis_K100" in out and (tmp_path / "index.html").is_file()
