"""The page: self-contained, repeatable, made from stored files, honest about failed runs."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from sciprec.cli.console import GOOD, NOT_MET
from sciprec.foundation.errors import InputError
from sciprec.foundation.sealed import sealed
from sciprec.report.stored import batch as stored
from sciprec.report.stored.batch import MANIFEST, read_batch
from sciprec.results.output import files
from sciprec.workbench.batch import workflow

VOID = {"meta", "link", "br", "wbr", "img", "hr", "input"}


class Checker(HTMLParser):
    """Collects identifiers and links, and notices tags that do not match."""

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links, self.sources = [], [], [], []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids += [attrs["id"]] if "id" in attrs else []
        self.links += [v for k, v in attrs.items() if k in ("href", "xlink:href")]
        self.sources += [v for k, v in attrs.items() if k == "src"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def checked(page):
    """A page after parsing."""
    checker = Checker()
    checker.feed(page.read_text(encoding="utf-8"))
    assert checker.open == []
    return checker


def test_page_is_one_well_formed_file_that_needs_no_network(little_batch):
    text = little_batch.page.read_text(encoding="utf-8")
    assert len(text) < 1_000_000
    found = checked(little_batch.page)
    assert len(set(found.ids)) == len(found.ids)
    assert found.sources == []
    for link in found.links:
        if link.startswith("#"):
            assert link[1:] in found.ids
        elif not link.startswith("data:"):
            assert (little_batch.folder / link).is_file(), link
    assert text.count("<script>") == 1 and "@import" not in text
    addresses = set(re.findall(r"https?://[^\s\"'<>)]+", text))
    assert addresses == {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


def test_page_says_per_arithmetic_what_it_is_good_for(little_batch):
    text = " ".join(little_batch.page.read_text(encoding="utf-8").split())
    assert "little_climate</a>: fp32, 24 bits, is the smallest that suffices." in text
    assert "little_heston</a>: fp16, 11 bits, is the smallest that suffices." in text
    # growth, field, two maps, parts, distribution; two of prices, parts, distribution
    assert text.count("<svg") == 10
    assert "Error of height against fp64" in text
    for file in little_batch.files:
        assert f'href="{file.name}"' in text


@pytest.mark.slow
def test_every_file_is_read_compared_and_judged_once(
    models, blank_figures, scenario_files, call, monkeypatch, tmp_path
):
    counts = dict.fromkeys(("read_batch", "available", "compare", "judge", "evidence"), 0)

    def counted(where, name):
        usual = getattr(where, name)

        def count(*given, **further):
            counts[name] += 1
            return usual(*given, **further)

        monkeypatch.setattr(where, name, count)

    counted(files, "available")
    for name in ("compare", "judge", "read_batch", "evidence"):
        counted(stored, name)
    runs = ("run", *scenario_files, "--out", tmp_path / "out")
    once = {"read_batch": 1, "available": 6, "compare": 6, "judge": 6, "evidence": 4}
    again = once | {"judge": 0, "evidence": 0}  # blank figures are not kept, and drawn again
    for command, expected in ((runs, once), (runs, again), (("report", tmp_path / "out"), again)):
        assert call(*command)[0] == GOOD
        assert counts == expected
        counts = dict.fromkeys(counts, 0)


def test_failed_runs_and_blow_ups_are_rows_with_their_sentences(
    models, blank_figures, scenario_files, tmp_path
):
    """Without its truth nothing is compared."""
    usual = models["climate"]

    def failing(given, backend, compensation=None):
        if backend == "fp16":
            raise InputError("the step of 600 s is <too> long; use 300 s")
        dataset = usual(given, backend, compensation=None)
        if backend == "bf16":
            dataset = dataset.isel(time=slice(0, 3)).copy(deep=True)
            dataset["height"][2, 1:3] = np.nan
            dataset.attrs["blow_up"] = "day 2: height is not finite at 40 N"
        return dataset

    def without_truth(given, backend, compensation=None):
        if backend == "fp64":
            raise MemoryError

    models.update(climate=failing, heston=without_truth)
    batch = workflow.run(scenario_files, out=tmp_path, backends=["fp32", "fp16", "bf16"])
    page, stopped = checked(batch.page), "stopped early: day 2: height is not finite at 40 N"
    text = batch.page.read_text(encoding="utf-8")
    failures = {(o.scenario, o.backend): o.failure for o in batch.failures}
    assert failures["little_climate", "bf16"] == stopped and len(failures) == 6
    assert "the step of 600 s is &lt;too&gt; long; use 300 s" in text and stopped in text
    assert "ran out of memory" in text and 'class="chip failed"' in text and page.ids
    rows = {(row["scenario"], row["label"].partition("+")[0]): row for row in batch.table}
    assert [row["status"] for row in rows.values()] == ["truth", "good", *["failed"] * 6]
    row = rows["little_climate", "bf16"]
    assert (row["errors"], row["file"]) == ({}, "little_climate__bf16.nc")
    assert [path.stem for path in batch.files] == ["little_climate__fp64", "little_climate__fp32"]
    assert 'scope="col" title="bf16"' in text and "Error map of height in bf16" not in text


def test_a_blow_up_is_a_failed_run_with_a_dash_also_when_it_is_kept(
    models, undrawn, scenario_files, call
):
    """Its last errors, such as those of day 0, say nothing of an arithmetic."""
    usual = models["climate"]

    def exploding(given, backend, compensation=None, perturbation=None):
        dataset = usual(given, backend)
        if backend == "fp16" or (backend, perturbation and perturbation.member) == ("fp32", 1):
            dataset = dataset.isel(time=slice(0, 1))
            dataset.attrs["blow_up"] = "day 0: height is not finite"
        return dataset

    models["climate"] = exploding
    text = scenario_files[0].read_text()
    scenario_files[0].write_text(text + "\n[ensemble]\nmembers = 2\n")
    for again in (False, True):
        code, out, said = call("run", scenario_files[0], "--out", scenario_files[0].parent / "out")
        assert code == NOT_MET
        assert said.count("failed: stopped early: day 0") == 3
        assert ("6 of 6 runs kept, computed before" in said) == again
        line = next(one for one in out.splitlines() if one.split()[1:3] == ["fp16", "failed"])
        assert line.split()[3:7] == ["–"] * 4
        assert "fp32 in little_climate: member 1: stopped early: day 0" in out
    code, _, _ = call("report", scenario_files[0].parent / "out")
    assert code == NOT_MET


def test_messages_for_folders_that_hold_no_batch(own_batch, tmp_path):
    with pytest.raises(InputError, match="holds no batch: there is no batch.json"):
        read_batch(tmp_path)
    manifest = own_batch.folder / MANIFEST
    content = json.loads(manifest.read_text())
    content["runs"][0]["file"] = "../outside.nc"
    manifest.write_text(json.dumps(sealed(content)))
    said = r"is damaged \(in an entry of its 'runs' its 'file' is '../outside.nc'\), so that .*"
    with pytest.raises(InputError, match=said + "run the batch again: what is done is kept"):
        read_batch(own_batch.folder)
    manifest.write_text(json.dumps(content | {"version": 99}))
    with pytest.raises(InputError, match="of version 99, and this sciprec reads .*; use the"):
        read_batch(own_batch.folder)
    content["runs"][0]["file"] = "little_climate__fp64.nc"
    bare = {key: value for key, value in content.items() if key != "sealed"}
    for damaged in (bare, bare | {"sealed": "0" * 64}):
        manifest.write_text(json.dumps(damaged))
        with pytest.raises(InputError, match=r"is damaged \(its seal does not fit: it was edited"):
            read_batch(own_batch.folder)
    manifest.write_text("{")
    with pytest.raises(InputError, match=r"is damaged \(it holds no JSON\)"):
        read_batch(own_batch.folder)
