"""Batches of many scenarios: an index and a page of each, linked both ways."""

import json
from dataclasses import replace

import pytest

from sciprec.cli.console import GOOD, NOT_MET, USAGE
from sciprec.report.page import render, write_page
from sciprec.report.stored.batch import read_batch
from sciprec.results.output.folders import PAGE
from sciprec.workbench.batch import workflow
from tests.conftest import without_figures
from tests.shell.conftest import stand_in, write_scenarios
from tests.shell.test_report import checked

MANY = 4
NAMES = [f"flow_{n}" for n in range(MANY)]


@pytest.fixture(scope="module")
def batch(tmp_path_factory):
    """A batch of small flows, in its folder; fewer are many than usual, since pages take long."""
    folder = tmp_path_factory.mktemp("many")
    flow = write_scenarios(folder / "made")[0].read_text()
    files = []
    for name in NAMES:
        files.append(folder / f"{name}.toml")
        files[-1].write_text(flow.replace('"little_climate"', f'"{name}"'))
    with pytest.MonkeyPatch.context() as patch:
        stand_in(patch)
        patch.setattr("sciprec.results.output.folders.INDEXED", MANY - 1)
        without_figures(patch)
        yield workflow.run(files, out=folder / "out")


@pytest.mark.slow
def test_an_index_and_the_pages_of_scenarios_are_linked_both_ways(batch, call):
    index = checked(batch.folder / PAGE)
    pages = {f"scenario_{name}.html" for name in NAMES}
    assert pages <= set(index.links) and len(set(index.ids)) == len(index.ids)
    assert {path.name for path in batch.folder.glob("*.html")} == pages | {PAGE}
    text = (batch.folder / PAGE).read_text(encoding="utf-8")
    assert "<svg" not in text and 'id="matrix"' in text and len(text) < 300_000
    for name in NAMES:
        page = checked(batch.folder / f"scenario_{name}.html")
        assert PAGE in page.links and len(set(page.ids)) == len(page.ids)
        assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)
        shown = (batch.folder / f"scenario_{name}.html").read_text(encoding="utf-8")
        assert f"scenario-{name}" in page.ids
        assert not [other for other in NAMES if f"{other}__" in shown and other != name]
    code, said, _ = call("report", batch.folder, "--verify", "--json")
    found = {row["file"]: row["state"] for row in json.loads(said)["files"]}
    assert code == GOOD and {found[page] for page in (*pages, PAGE)} == {"verified"}


@pytest.mark.slow
def test_pages_made_again_have_the_same_bytes_and_those_of_no_scenario_go(batch):
    files = sorted(batch.folder.glob("*.html"))
    before = [path.read_bytes() for path in files]
    stored = read_batch(batch.folder)
    own, foreign = batch.folder / "scenario_old.html", batch.folder / "scenario_mine.html"
    own.write_bytes(before[1])
    foreign.write_text("<title>mine</title>")
    write_page(stored)
    assert [path.read_bytes() for path in files] == before
    assert not own.exists() and foreign.exists()
    foreign.unlink()
    fewer = tuple(run for run in stored.runs if run.scenario != NAMES[0])
    write_page(replace(stored, runs=fewer))
    left = {path.name for path in batch.folder.glob("scenario_*.html")}
    assert left == {f"scenario_{name}.html" for name in NAMES[1:]}
    few = tuple(run for run in stored.runs if run.scenario in NAMES[:2])
    write_page(replace(stored, runs=few))
    assert [path.name for path in batch.folder.glob("*.html")] == [PAGE]
    assert f"scenario-{NAMES[1]}" in checked(batch.folder / PAGE).ids
    write_page(stored)
    assert [path.read_bytes() for path in files] == before
    assert render(stored).count('<section id="scenario-') == MANY  # the gallery's, in one file


@pytest.mark.slow
def test_a_foreign_page_of_a_scenario_is_not_overwritten(batch, call):
    page = batch.folder / f"scenario_{NAMES[3]}.html"
    kept, index = page.read_bytes(), (batch.folder / PAGE).read_bytes()
    page.write_text("<title>mine</title>")
    code, _, err = call("report", batch.folder)
    assert code == USAGE and f"'{page}' cannot be written" in err and "Traceback" not in err
    assert page.read_text() == "<title>mine</title>"
    assert (batch.folder / PAGE).read_bytes() == index
    page.write_bytes(kept.replace(b'<code id="digest">', b'<code id="digest">0'))
    assert call("report", batch.folder, "--verify")[0] == NOT_MET
    assert call("report", batch.folder)[0] == GOOD and page.read_bytes() == kept
