"""A batch that is run again computes only what is missing, and keeps the rest to the last byte."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sciprec.foundation.errors import InputError
from sciprec.foundation.sealed import sealed
from sciprec.report.stored.batch import MANIFEST, read_manifest, verified
from sciprec.results.output import digests, files, netcdf
from sciprec.workbench.batch import resume, workflow
from tests.shell.conftest import little_climate, stand_in, write_scenarios

ALL = ["fp16", "fp32", "fp64"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of a batch in three arithmetics, made once, and what is said of each run."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        stand_in(patch)
        patch.setattr("sciprec.report.page.write_page", lambda batch: batch.folder / "index.html")
        result = workflow.run(write_scenarios(folder / "scenarios")[0], out=folder / "out")
    return result.folder, judged(result)


@pytest.fixture
def folder(made, tmp_path):
    """A copy of it."""
    return Path(shutil.copytree(made[0], tmp_path / "out"))


@pytest.fixture
def computed(models, undrawn):
    """The arithmetics in which the little climate was computed, in order."""
    found = []

    def counted(given, backend, compensation=None):
        found.append(backend)
        return little_climate(given, backend, compensation)

    models["climate"] = counted
    return found


@pytest.fixture
def batch(computed, scenario_files, tmp_path):
    """A function that runs the climate scenario again, its text changed, in the folder."""
    text = scenario_files[0].read_text()

    def run(old="", new="", **how):
        scenario_files[0].write_text(text.replace(old, new))
        return workflow.run(scenario_files[0], out=tmp_path / "out", **how)

    return run


def judged(result):
    """The judgement of each run."""
    return [(row["label"], row["status"], row["errors"]) for row in result.table]


def of(folder, backend):
    return folder / f"little_climate__{backend}.nc"


def test_nothing_is_computed_twice_and_no_byte_changes(made, folder, batch, computed):
    before = {path: path.read_bytes() for path in folder.glob("*.nc")}
    outcomes = []
    again = batch(on_done=outcomes.append)
    assert computed == [] and {path: path.read_bytes() for path in again.files} == before
    assert [o.kept for o in outcomes] == [True] * 3 and judged(again) == made[1]
    assert judged(batch(fresh=True)) == made[1] and sorted(computed) == ALL


def test_what_was_added_is_all_that_is_computed(folder, batch, computed):
    result = batch('["fp32", "fp16"]', '["fp32", "bf16", "fp16"]')
    assert computed == ["bf16"]
    assert [row["label"] for row in result.table] == ["fp64", "fp32", "bf16", "fp16"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new"), [("days = 3.0", "days = 4.0"), ("truncation = 21", "truncation = 31"), ("", "")]
)
def test_another_model_and_other_code_are_computed(folder, batch, computed, monkeypatch, old, new):
    if not old:
        monkeypatch.setattr(resume, "code_digest", lambda: "other")
    batch(old, new)
    assert sorted(computed) == ALL


def zeroed(path):
    """The bytes of a file, with 512 bytes of a variable lost: its attributes can be read."""
    whole = path.read_bytes()
    for at in range(0, len(whole), 512):
        path.write_bytes(whole[:at] + bytes(512) + whole[at + 512 :])
        seen = files.verify(path)
        if seen.sealed and "has changed since it was written" in seen.damage:
            return path.read_bytes()
    raise AssertionError("no such block")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backend", "damage"),
    [("fp16", lambda path: path.read_bytes()[:2000]), ("fp32", lambda path: b""), ("fp64", zeroed)],
)
def test_a_damaged_file_is_made_again_and_named(
    made, folder, batch, computed, call, scenario_files, backend, damage
):
    """A truth, too, so that everything else can be compared again; the plan says so before."""
    path = of(folder, backend)
    whole = netcdf.read(path)
    path.write_bytes(damage(path))
    command = "run", scenario_files[0], "--out", folder, "--plan"
    rows = json.loads(call(*command, "--json")[1])
    assert {row["label"]: row["kept"] for row in rows} == {n: n != backend for n in ALL}
    (planned,) = (row["note"] for row in rows if row["note"])
    assert planned in " ".join("".join(call(*command)[1:]).split())
    told = []
    again = batch(on_done=told.append)
    assert computed == [backend] and netcdf.read(path).equals(whole)
    (note,) = (one.notes[0] for one in told if one.notes)
    assert note == planned
    assert note.startswith(f"'{path.name}' ") and note.endswith("; it is made again")
    assert again.notes == (f"little_climate in {backend}: {note}",)
    assert judged(again) == made[1]


def damages(folder):
    """The state of each file in the list of runs."""
    return [verified(folder, entry).damage for entry in read_manifest(folder)["runs"]]


@pytest.mark.slow
def test_files_are_held_against_the_list_of_runs(folder, batch, computed):
    assert damages(folder) == ["", "", ""]
    one, other = of(folder, "fp32"), of(folder, "fp16")
    content = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(content)
    assert damages(folder)[1] == "holds other results than the list of runs says"
    words = "is of another run than the list of runs says; it is made again"
    assert batch().notes == (
        f"little_climate in fp32: '{one.name}' {words}",
        f"little_climate in fp16: '{other.name}' {words}",
    )
    assert sorted(computed) == ["fp16", "fp32"] and damages(folder) == ["", "", ""]
    changed = files.read(one)
    changed["height"][0, 0, 0] += 1.0
    files.write(digests.seal(changed), one)  # whole, by its own digests
    words = "holds other results than the list of runs says; it is made again"
    assert batch().notes == (f"little_climate in fp32: '{one.name}' {words}",)


def test_runs_that_were_exchanged_with_their_entries_are_told(folder, batch, computed):
    content = read_manifest(folder)
    _, one, other = content["runs"]
    for key in ("file", "run", "digest"):
        one[key], other[key] = other[key], one[key]
    (folder / MANIFEST).write_text(json.dumps(sealed(content)))
    assert damages(folder) == [
        "", "holds another run than little_climate in fp32",
        "holds another run than little_climate in fp16",
    ]  # fmt: skip
    assert not batch().notes and not computed  # files are right, and the list is written anew


def test_a_fresh_batch_that_is_killed_half_way_looks_damaged_to_nobody(folder, batch, computed):
    """Files of the new batch stand beside the list of the old one then."""
    old = (folder / MANIFEST).read_bytes()
    batch(fresh=True)
    (folder / MANIFEST).write_bytes(old)
    of(folder, "fp16").unlink()
    computed.clear()
    assert batch().notes == () and computed == ["fp16"]


def test_a_list_of_an_earlier_version_is_read(folder, batch, computed):
    content = read_manifest(folder)
    for entry in content["runs"]:
        del entry["run"], entry["digest"]
    del content["sealed"]
    (folder / MANIFEST).write_text(json.dumps(content | {"version": 2}))
    assert all(verified(folder, entry).proven for entry in read_manifest(folder)["runs"])
    assert batch().notes == () and computed == []
    assert read_manifest(folder)["version"] == 3


@pytest.mark.slow
@pytest.mark.parametrize("format", ["netcdf", "zarr"])
def test_another_tolerance_judges_the_files_that_are_there(batch, computed, format):
    """They state the scenario as it is judged, and are whole."""
    if format == "zarr":
        pytest.importorskip("zarr", reason="the optional package zarr is not installed")
    first = batch(format=format)
    before = [entry["digest"] for entry in read_manifest(first.folder)["runs"]]
    computed.clear()
    result = batch("at_most = 1.0e-4", "at_most = 1.0e4", format=format)
    assert first.beyond and not result.beyond and computed == [] and result.notes == ()
    assert [entry["digest"] for entry in read_manifest(first.folder)["runs"]] == before
    for path in result.files:
        assert files.verify(path).proven and "10000.0" in files.attributes(path)["sciprec_scenario"]


def test_files_that_another_scenario_of_the_same_name_has_left_are_named(
    folder, batch, scenario_files, call
):
    text = scenario_files[0].read_text().replace('["fp32", "fp16"]', '["bf16"]')
    scenario_files[0].write_text(text.replace("days = 3.0", "days = 4.0"))
    code, out, _ = call("run", scenario_files[0], "--out", folder)
    assert code == 0 and " ".join(out.split()).count("2 of the files in") == 1
    assert "not on the page: little_climate__fp16.nc, little_climate__fp32.nc; they are of" in out
    (note,) = json.loads(call("run", scenario_files[0], "--out", folder, "--json")[1])["notes"]
    assert note in out
    of(folder, "bf16").unlink()
    assert batch().notes == ()


def test_a_failed_run_is_tried_again_and_the_others_are_kept(batch, models, computed):
    counted = models["climate"]

    def failing(given, backend, compensation=None):
        if backend == "fp32":
            raise InputError("out of luck")
        return counted(given, backend, compensation)

    models["climate"] = failing
    assert [o.failure for o in batch().failures] == ["out of luck"]
    computed.clear()
    models["climate"] = counted
    assert not batch().failures and computed == ["fp32"]


def gone():
    """The number of a process that has ended."""
    process = subprocess.Popen(["true"] if os.name == "posix" else [sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_leftovers_of_killed_writers_are_removed(folder, batch):
    path = of(folder, "fp64")
    left = [folder / f".{path.name}.{number}-1.part" for number in (gone(), os.getppid())]
    for part in left:
        part.write_bytes(b"CDF half")
    path.unlink()
    batch()
    assert list(folder.glob(".*")) == left[1:]  # of a process that is at work


def test_the_command_says_what_it_kept(folder, computed, scenario_files, call):
    """And its plan, without computing anything."""
    command = "run", scenario_files[0], "--out", folder
    code, _, said = call(*command)
    assert code == 0 and said == "3 of 3 runs kept, computed before\n"
    assert "kept" not in call(*command, "--fresh")[2]
    manifest = json.loads((folder / MANIFEST).read_text())
    assert [run["label"] for run in manifest["runs"]] == ["fp64", "fp32", "fp16"]
    assert not list(folder.glob(".*"))
    computed.clear()
    command = "run", *scenario_files, "--plan", "--json"
    rows = json.loads(call(*command, "--out", folder)[1])
    assert [row["kept"] for row in rows] == [True] * 3 + [False] * 3
    assert rows[3]["work"] == "1,024 paths of 4 steps" and rows[3]["seconds"] > 0
    rows = json.loads(call(*command, "--out", folder, "--fresh")[1])
    assert not any(row["kept"] for row in rows)
    elsewhere = folder.with_name("elsewhere")
    code, out, _ = call(*command[:-1], "--out", elsewhere)
    assert code == 0 and computed == [] and not elsewhere.exists()
    assert "6 of 6 runs to compute: roughly" in out and "216 steps of rk4 at T21" in out
