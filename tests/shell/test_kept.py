"""Parts of pages that are kept: nothing is drawn twice, and nothing is shown that is not so."""

import os
from dataclasses import replace

import pytest

from sciprec.drawing import svg
from sciprec.report import kept, section
from sciprec.report.page import render, write_page
from sciprec.report.stored.batch import read_batch
from sciprec.results.comparison.verdicts import Verdict
from sciprec.results.output.digests import ROOT


@pytest.fixture
def batch(stored_batch, monkeypatch, tmp_path):
    """The batch of both stand-ins, and a cache folder of its own."""
    monkeypatch.setenv("SCIPREC_CACHE_DIR", str(tmp_path / "cache"))
    return stored_batch


@pytest.fixture
def drawn(monkeypatch):
    """Counts the figures that are drawn, and draws a number in their place."""
    count = []

    def written(canvas, buffer, **_):
        count.append(canvas)
        buffer.write('<svg viewBox="0 0 1 1"></svg>')

    monkeypatch.setattr(svg.FigureCanvasSVG, "print_svg", written)
    return count


def files(tmp_path):
    return sorted((tmp_path / "cache").glob("page_*.zlib"))


def test_a_page_that_was_made_is_not_drawn_again_and_has_the_same_bytes(batch, drawn, tmp_path):
    first, once = render(batch, keep=True), len(drawn)
    assert once > 8 and len(files(tmp_path)) == 4
    assert render(batch, keep=True) == first and len(drawn) == once
    assert render(batch) == first and len(drawn) == 2 * once  # nothing is kept unless it is asked


def test_what_shows_something_else_is_drawn_anew(batch, drawn, monkeypatch):
    def drawn_for(batch):
        before = len(drawn)
        render(batch, keep=True)
        return len(drawn) - before

    every = drawn_for(batch)
    assert drawn_for(batch) == 0
    run = batch.runs[-1]
    judged = replace(run, verdict=Verdict("beyond", "another tolerance", 3.0))
    assert 0 < drawn_for(replace(batch, runs=(*batch.runs[:-1], judged))) < every
    other = replace(run, dataset=run.dataset.assign_attrs({ROOT: "0" * 64}))
    assert 0 < drawn_for(replace(batch, runs=(*batch.runs[:-1], other))) < every
    assert drawn_for(replace(batch, runs=batch.runs[::-1])) > 0  # other colours
    with monkeypatch.context() as patch:
        patch.setitem(kept.matplotlib.rcParams, "font.serif", ["A"])
        assert drawn_for(batch) == every


def test_files_without_digests_and_damaged_parts_are_drawn(batch, drawn, tmp_path):
    bare = [replace(run, dataset=run.dataset.drop_attrs(deep=False)) for run in batch.runs]
    unsealed = replace(batch, runs=tuple(bare))
    assert kept.key_of(unsealed, "little_climate", "s0", ["pictures"]) == ""
    first, once = render(batch, keep=True), len(drawn)
    for path in files(tmp_path):
        path.write_bytes(path.read_bytes()[:-9])
    assert render(batch, keep=True) == first and len(drawn) == 2 * once
    assert render(batch, keep=True) == first and len(drawn) == 2 * once


def test_a_section_of_ones_own_is_made_each_time(batch, drawn, monkeypatch):
    told = iter(("first", "second"))
    added = section.PageSection("mine", lambda of: next(told), "{{ data }}")
    only = replace(batch, runs=batch.of_scenario("little_climate"))
    monkeypatch.setattr(section, "_ADDED", {"mine": added})
    assert "first" in render(only, keep=True) and "second" in render(only, keep=True)


def test_the_oldest_parts_make_room(batch, tmp_path, drawn):
    render(batch, keep=True)
    for age, path in enumerate(files(tmp_path)):
        os.utime(path, (1e9 - age, 1e9 - age))
    newest, *older = files(tmp_path)
    kept.make_room(newest.stat().st_size)
    assert files(tmp_path) == [newest]
    kept.make_room(0)
    assert files(tmp_path) == []


def test_a_cache_that_cannot_be_used_is_done_without(drawn, monkeypatch, tmp_path, own_batch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SCIPREC_CACHE_DIR", str(tmp_path / "file"))
    page = write_page(read_batch(own_batch.folder))
    assert page.is_file() and drawn
