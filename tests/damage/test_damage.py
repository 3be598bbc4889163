"""Whatever damages a folder is named and made again; a crash of a library would be told."""

import pytest

from sciprec.report.stored.batch import read_batch
from sciprec.report.stored.shown import main_error
from tests.damage.folders import made_folders
from tests.damage.journey import sent

pytest.importorskip("zarr", reason="the optional package zarr is not installed")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A place, finished folders in it, and their scenarios."""
    place = tmp_path_factory.mktemp("damaged")
    return place, *made_folders(place)


QUICK = {"edited_attribute": "netcdf", "edited_member": "zarr", "flipped": "netcdf"}
OTHERS = {"changed_list": "zarr", "edited_values": "netcdf", "exchanged_runs": "zarr",
          "old_run": "zarr", "removed": "netcdf", "truncated": "netcdf"}  # fmt: skip
"""Kinds of damage, and forms of the files; the survey has others."""


@pytest.mark.parametrize(
    ("kind", "form"),
    [*QUICK.items(), *(pytest.param(*one, marks=pytest.mark.slow) for one in OTHERS.items())],
)
def test_damaged_folders_are_named_and_made_again(folders, kind, form):
    way = sent(*folders, seed=0, form=form, kind=kind)
    assert not way.faults, (way.damage, way.effect)


def test_the_variable_that_is_shown_first_does_not_depend_on_the_format(folders):
    _, wholes, _ = folders
    for form in ("netcdf", "zarr"):
        run = read_batch(wholes[form]).of_scenario("squall")[1]
        assert main_error(run).variable == "wind"
