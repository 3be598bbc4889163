"""Damaged files are named, with the way to make them again, and no verdict is made of them."""

import json
import re

import netCDF4
import pytest

import sciprec
from sciprec.cli.console import GOOD, NOT_MET, USAGE
from sciprec.foundation.errors import InputError
from sciprec.report.stored.batch import MANIFEST, read_batch
from sciprec.results.output import files

FP32 = "little_climate__fp32.nc"


def edited(path, variable="height", record=2):
    """Another number in a record, with checksums that fit."""
    with netCDF4.Dataset(path, "a") as file:
        file[variable][record] = file[variable][record] + 1.0
    return path


@pytest.mark.slow
def test_a_batch_is_verified_and_its_page_states_the_digest_that_is_printed(
    own_batch, call, tmp_path
):
    code, out, err = call("report", own_batch.folder, "--verify")
    assert (code, err) == (GOOD, "") and out.count(" verified") == 2 + 6
    digest = re.search(r"digest of the batch: ([0-9a-f]{64})\n", out)[1]
    assert f'<code id="digest">{digest}</code>' in own_batch.page.read_text(encoding="utf-8")
    code, out, _ = call("report", own_batch.folder, "--verify", "--json")
    said = json.loads(out)
    assert code == GOOD and said["good"] and said["digest"] == digest
    assert [row["file"] for row in said["files"]][:2] == [MANIFEST, "little_climate__fp64.nc"]
    assert "8 files of the batch in" in repr(sciprec.verify(str(own_batch.folder)))
    code, _, err = call("report", tmp_path, "--verify")
    assert code == USAGE and "holds no batch: there is no batch.json in it" in err
    edited(own_batch.folder / "little_climate__fp64.nc")  # the truth: nothing is judged
    runs = read_batch(own_batch.folder).of_scenario("little_climate")
    assert [run.verdict.status for run in runs] == ["failed"] * 3
    assert all(run.comparison is None for run in runs)


def test_a_damaged_file_is_named_and_no_verdict_is_made_of_it(own_batch, call, blank_figures):
    before = {row["file"]: row for row in own_batch.table}
    path = edited(own_batch.folder / FP32)
    again = re.escape(json.loads((own_batch.folder / MANIFEST).read_text())["command"])
    said = rf"'{re.escape(str(path))}' is damaged: it has changed since it was written, in "
    said += rf"'height' \(record 2\); make it again with `{again}`"
    code, out, _ = call("report", own_batch.folder, "--json")
    rows = {row["label"]: row for row in json.loads(out)["runs"] if "climate" in row["scenario"]}
    assert code == NOT_MET and rows["fp32"]["status"] == "failed"
    assert re.fullmatch(said, rows["fp32"]["reason"])
    assert rows["fp16"]["reason"] == before["little_climate__fp16.nc"]["reason"]
    assert re.search(said, path.with_name("index.html").read_text("utf-8").replace("&#39;", "'"))
    truth = path.with_name("little_climate__fp64.nc")
    for pair in ((truth, path), (path, truth)):
        code, out, err = call("compare", *pair)
        assert (code, out) == (USAGE, "") and re.fullmatch(rf"sciprec: {said}\n", err)
        with pytest.raises(InputError, match=said):
            sciprec.compare(*pair)
    code, out, _ = call("report", own_batch.folder, "--verify")
    assert code == NOT_MET and out.count(" verified") == 7
    assert re.search(rf"{FP32} +damaged +'.*height' \(record 2\)", out)
    assert re.search(f"to make again what is damaged or missing: `{again}`\n", out)


def test_without_its_list_each_file_is_held_against_its_own_digests(own_batch, call):
    manifest = own_batch.folder / MANIFEST
    manifest.write_text(manifest.read_text("utf-8").replace("fp32", "fp33"), "utf-8")
    edited(own_batch.folder / FP32)
    code, out, _ = call("report", own_batch.folder, "--verify")
    assert code == NOT_MET and re.search(rf"{MANIFEST} +damaged +'.*' is damaged", out)
    assert out.count(" verified") == 5 and "`sciprec run`" not in out.splitlines()[1]
    assert "to make again what is damaged or missing: its `sciprec run` again" in out
    code, _, err = call("report", own_batch.folder)
    assert code == USAGE and "is damaged" in err and "run the batch again" in err


def test_folders_of_earlier_versions_are_kept_and_said_to_be_unproven(own_batch, call):
    for path in own_batch.files:
        with netCDF4.Dataset(path, "a") as file:
            for owner in (file, *file.variables.values()):
                for name in [n for n in owner.ncattrs() if n.startswith("sciprec_digest")]:
                    owner.delncattr(name)
            made_by = json.loads(file.sciprec_provenance) | {"sciprec": "0.1.0"}
            file.sciprec_provenance = json.dumps(made_by)
    manifest = own_batch.folder / MANIFEST
    content = json.loads(manifest.read_text()) | {"version": 2}
    content.pop("sealed")
    for entry in content["runs"]:
        entry.pop("run"), entry.pop("digest"), entry.pop("judged")
    manifest.write_text(json.dumps(content))
    code, out, _ = call("report", own_batch.folder, "--verify")
    assert code == GOOD and out.count(f"not verified  made before {files.SEALED_SINCE}") == 8
    assert "digest of the batch" not in out
    assert [run.verdict.status for run in read_batch(own_batch.folder).runs] == [
        row["status"] for row in own_batch.table
    ]
