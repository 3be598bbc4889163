"""What is kept of pages and comparisons: nothing is read, compared or drawn twice, and nothing is
shown that is not so.
"""

import multiprocessing
import os
import random
from dataclasses import replace

import pytest
import xarray as xr

from sciprec.drawing import svg
from sciprec.foundation.errors import InputError
from sciprec.report import drawing_ahead, kept, section
from sciprec.report.page import render, table, write_page
from sciprec.report.stored.batch import read_batch
from sciprec.results.comparison.verdicts import Verdict
from sciprec.results.output import files as stored_files
from sciprec.results.output import kept_values, proven
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

    def written(figure):
        count.append(figure)
        return '<svg viewBox="0 0 1 1"></svg>'

    monkeypatch.setattr(svg, "_as_text", written)
    return count


def files(tmp_path):
    return sorted((tmp_path / "cache").glob("page_*.zlib"))


def test_a_page_that_was_made_is_not_drawn_again_and_has_the_same_bytes(batch, drawn, tmp_path):
    first, once = render(batch, keep=True), len(drawn)
    assert once > 8 and len(files(tmp_path)) == 6
    assert render(batch, keep=True) == first and len(drawn) == once
    assert render(batch) == first and len(drawn) == 2 * once  # nothing is kept unless it is asked


@pytest.mark.slow
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


@pytest.mark.slow
def test_files_without_digests_and_damaged_parts_are_drawn(batch, drawn, tmp_path):
    bare = [replace(run, dataset=run.dataset.drop_attrs(deep=False)) for run in batch.runs]
    unsealed = replace(batch, runs=tuple(bare))
    assert kept.key_of(unsealed, "little_climate", "s0", ["pictures"]) == ""
    first, once = render(batch, keep=True), len(drawn)
    for path in files(tmp_path):
        path.write_bytes(path.read_bytes()[:-9])
    assert render(batch, keep=True) == first and len(drawn) == 2 * once
    assert render(batch, keep=True) == first and len(drawn) == 2 * once


def test_a_cache_that_cannot_be_used_is_done_without(drawn, monkeypatch, tmp_path, own_batch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SCIPREC_CACHE_DIR", str(tmp_path / "file"))
    page = write_page(read_batch(own_batch.folder))
    assert page.is_file() and drawn


# ---- comparisons -------------------------------------------------------------------------------


@pytest.fixture
def cached(monkeypatch, tmp_path, own_batch):
    """The folder of a batch, an empty cache, and variables that all count as large."""
    monkeypatch.setenv("SCIPREC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(stored_files, "_SMALL_BYTES", 8)
    return own_batch.folder


def shown(folder, keep=True):
    """The page that a reader of the batch sees, without drawing, as text: NaN is like NaN there."""
    batch = read_batch(folder, keep=keep)
    return repr((table(batch, keep=keep), [(r.verdict, r.evidence, r.judged) for r in batch.runs]))


@pytest.mark.slow
def test_kept_comparisons_are_those_that_were_made_and_read_no_file(cached, monkeypatch):
    plain, expected = read_batch(cached), shown(cached, keep=False)
    assert shown(cached) == expected
    batch = read_batch(cached, keep=True)
    assert all(run.later for run in batch.runs)
    for name in batch.scenarios:
        three = (batch.of_scenario(name), batch.loaded(name), plain.of_scenario(name))
        for later, loaded, run in zip(*three, strict=True):
            assert repr(loaded.comparison) == repr(run.comparison) and not loaded.later
            xr.testing.assert_identical(loaded.dataset, run.dataset)
            xr.testing.assert_identical(later.dataset.load(), run.dataset)
    with monkeypatch.context() as patch:
        patch.setattr(stored_files, "_library", lambda path: pytest.fail(f"{path} is opened"))
        assert shown(cached) == expected
        assert all(proven.verify(path).proven for path in cached.glob("*.nc"))
        patch.setattr(kept_values, "_computed_by", lambda: "another version")
        with pytest.raises(pytest.fail.Exception, match="is opened"):
            shown(cached)


@pytest.mark.slow
def test_a_file_that_changes_is_judged_as_without_a_cache(cached):
    """Bits of files are flipped, and files exchanged: what was kept of others does not count."""
    shown(cached)
    draw, paths = random.Random(53), sorted(cached.glob("*.nc"))
    noticed = 0
    for _ in range(4):
        path = draw.choice(paths)
        before = path.read_bytes()
        if draw.random() < 0.25:
            path.write_bytes(draw.choice([p for p in paths if p != path]).read_bytes())
        else:
            place = draw.randrange(len(before))
            flipped = bytes([before[place] ^ 1 << draw.randrange(8)])
            path.write_bytes(before[:place] + flipped + before[place + 1 :])
        expected = shown(cached, keep=False)
        assert shown(cached) == expected and shown(cached) == expected
        for run in (path.name, *(p.name for p in paths[:1])):
            seen, known = stored_files.verify(cached / run), proven.verify(cached / run)
            assert (seen.damage, seen.digest, seen.proven) == (
                known.damage, known.digest, known.proven,
            )  # fmt: skip
        noticed += "'failed'" in expected
        path.write_bytes(before)
    assert noticed >= 2


def test_a_file_that_the_disk_does_not_give_once_is_read_the_next_time(cached, monkeypatch):
    """The verdict "cannot be read" of a disk that failed for a moment stayed for ever."""
    expected, usual, failed = shown(cached, keep=False), stored_files.available, []

    def available(path, look):
        if not failed and path.suffix == ".nc":
            failed.append(path)
            raise InputError(f"'{path}' cannot be read (Input/output error)")
        return usual(path, look)

    with monkeypatch.context() as patch:
        patch.setattr(stored_files, "available", available)
        assert "Input/output error" in shown(cached)
    assert failed and shown(cached) == expected


@pytest.mark.slow
def test_damaged_kept_values_are_computed_again(cached, tmp_path, drawn):
    def everything():
        batch = read_batch(cached, keep=True)
        return render(batch, keep=True), shown(cached)

    expected, draw = everything(), random.Random(54)
    paths = sorted((tmp_path / "cache").glob("*.zlib"))
    sorts = {path.name.partition("_")[0] for path in paths}
    assert sorts == set(kept_values.SORTS)
    for path in paths:
        content = path.read_bytes()
        place = draw.randrange(len(content))
        path.write_bytes(draw.choice((
            content[:place],
            content[:place] + bytes([content[place] ^ 1 << draw.randrange(8)])
            + content[place + 1 :],
            draw.choice(paths).read_bytes(),
        )))  # fmt: skip
    assert everything() == expected


def _use(seed):
    """Keep and recall values under a few keys, and make room."""
    draw = random.Random(seed)
    for _ in range(150):
        key = kept_values.key_of(draw.randrange(4))
        value = kept_values.recalled_or_computed("runs", key, lambda key=key: [key] * 200)
        if value != [key] * 200:
            os._exit(1)
        if draw.random() < 0.1:
            kept_values.make_room(draw.choice((0, 100)))


def test_processes_at_once_see_whole_values(monkeypatch, tmp_path):
    monkeypatch.setenv("SCIPREC_CACHE_DIR", str(tmp_path / "cache"))
    fork = multiprocessing.get_context("fork")
    both = [fork.Process(target=_use, args=(seed,)) for seed in (1, 2)]
    for process in both:
        process.start()
    for process in both:
        process.join(60)
    assert [process.exitcode for process in both] == [0, 0]


# ---- processes ---------------------------------------------------------------------------------


@pytest.fixture
def helped(monkeypatch):
    """Two processors, and a process for each scenario."""
    monkeypatch.setattr(drawing_ahead, "LEAST_SCENARIOS", 1)
    monkeypatch.setattr(drawing_ahead.os, "cpu_count", lambda: 2)


@pytest.mark.slow
def test_helping_processes_draw_the_same_bytes(cached, helped, monkeypatch):
    batch = read_batch(cached, keep=True)
    with monkeypatch.context() as patch:
        patch.setattr(drawing_ahead, "_draw_from", lambda queue, todo: None)
        drawing_ahead.draw_ahead(batch, {})
    assert not any(section.is_undrawn(*task) for task in drawing_ahead.tasks_of(batch, {}))
    with monkeypatch.context() as patch:
        patch.setattr(svg, "_as_text", lambda _: pytest.fail("is drawn"))
        page = render(batch, keep=True)
    assert page == render(read_batch(cached))
