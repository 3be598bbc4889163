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
OTHERS = {"changed_list": "netcdf", "exchanged_runs": "zarr", "old_run": "zarr"}
"""Kinds of damage, and forms of the files."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "form"),
    [*QUICK.items(), *(pytest.param(*one, marks=pytest.mark.slow) for one in OTHERS.items())],
)
def test_damaged_folders_are_named_and_made_again(folders, kind, form):
    way = sent(*folders, seed=0, form=form, kind=kind)
    assert not way.faults, (way.damage, way.effect)


@pytest.mark.survey
@pytest.mark.parametrize("seed", range(300))
def test_any_damage_is_named_and_made_again(folders, seed):
    """On 2026-11-28, 242 had an effect on values, attributes or the list, and nothing was wrong."""
    way = sent(*folders, seed=seed, form="netcdf" if seed % 2 else "zarr")
    assert not way.faults, (way.damage, way.effect)
    assert way.named or not way.effect, way.damage


@pytest.mark.slow
def test_the_variable_that_is_shown_first_does_not_depend_on_the_format(folders):
    _, wholes, _ = folders
    for form in ("netcdf", "zarr"):
        run = read_batch(wholes[form]).of_scenario("squall")[1]
        assert main_error(run).variable == "wind"
