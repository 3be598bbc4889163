"""Files to go on with: damaged, of failed runs, and of runs that nobody asks for now."""

import errno
import os
import random
import re

import pytest

from sciprec.results.output import netcdf
from sciprec.workbench.batch import workflow
from sciprec.workbench.batch.resume import INTERRUPTED
from sciprec.workbench.kinds import parse_scenario
from tests.writing.damages import DAMAGES

SCENARIO = parse_scenario({
    "name": "flow", "title": "A little flow", "source": "Williamson et al. (1992), case 5",
    "kind": "climate", "backends": ["fp32"],
    "climate": {"case": "williamson_5", "truncation": 7, "days": 0.125, "output_hours": 1.0},
})  # fmt: skip


@pytest.fixture
def batch(tmp_path, monkeypatch):
    """A function that runs the scenario without its page, checkpoints at every output time."""
    monkeypatch.setattr("sciprec.report.page.write_page", lambda batch: batch.folder / "index.html")
    monkeypatch.setattr("sciprec.climate.running.checkpoint._MOST_SHARE_OF_TIME", float("inf"))
    return lambda **how: workflow.run(SCENARIO, out=tmp_path / "out", threads=1, **how)


def refused(error):
    """A function that raises an exception in place of writing a file."""

    def write(dataset, path):
        raise error

    return write


def left_in(folder):
    """The files that runs have left to go on with."""
    return sorted(path.suffix for path in folder.glob(f"{INTERRUPTED}/*/*"))


def test_a_run_that_found_no_room_goes_on_and_no_other_failure_leaves_anything(
    batch, tmp_path, monkeypatch
):
    with monkeypatch.context() as patch:
        patch.setattr(netcdf, "write", refused(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))))
        assert len(batch().failures) == 2
        assert left_in(tmp_path / "out") == [".npz", ".npz", ".states", ".states"]
        patch.setattr(netcdf, "write", refused(ValueError("a bug")))
        assert len(batch().failures) == 2
    assert not (tmp_path / "out" / INTERRUPTED).exists()


def test_the_user_is_told_of_a_damaged_checkpoint_and_the_run_is_right(
    batch, tmp_path, monkeypatch
):
    with monkeypatch.context() as patch:
        patch.setattr(netcdf, "write", refused(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))))
        batch()
    for path in (tmp_path / "out").glob(f"{INTERRUPTED}/*fp32*/*.npz"):
        path.write_bytes(DAMAGES[0](path.read_bytes(), random.Random(3)))
    told = []
    made = batch(on_done=told.append)
    (note,) = made.notes
    assert note.startswith("flow in fp32: the checkpoint 'williamson_5-")
    assert note.endswith("(it is damaged, or of another run): the run began anew")
    assert [one.notes for one in told if one.notes] == [(note.removeprefix("flow in fp32: "),)]
    again = workflow.run(SCENARIO, out=tmp_path / "other", threads=1)
    for one, other in zip(made.files, again.files, strict=True):
        assert netcdf.read(one).drop_attrs().equals(netcdf.read(other).drop_attrs())
    assert not (tmp_path / "out" / INTERRUPTED).exists()


def test_what_others_could_go_on_from_is_named(batch, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(netcdf, "write", refused(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))))
        batch()
    other = SCENARIO.model_copy(update={"name": "other"})
    (note,) = workflow.run(other, out=tmp_path / "out", threads=1).notes
    assert re.fullmatch(
        rf"'{tmp_path}/out/.interrupted' holds [0-9.]+ MB from which 2 runs that nobody asked for "
        "now can go on; ask for the same again, or remove it", note,
    )  # fmt: skip
    assert not batch().failures and not (tmp_path / "out" / INTERRUPTED).exists()
