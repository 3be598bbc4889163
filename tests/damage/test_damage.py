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


@pytest.mark.parametrize(
    "seed", [k if k < 4 else pytest.param(k, marks=pytest.mark.slow) for k in range(20)]
)
def test_damaged_folders_are_named_and_made_again(folders, seed):
    way = sent(*folders, seed=seed, form="netcdf" if seed % 2 else "zarr")
    assert not way.faults, (way.damage, way.effect)


def test_a_damaged_member_fails_the_runs_that_are_judged_with_it(folders):
    way = sent(*folders, seed=0, form="netcdf", kind="edited_member")
    assert not way.faults, (way.damage, way.effect)


def test_the_variable_that_is_shown_first_does_not_depend_on_the_format(folders):
    _, wholes, _ = folders
    for form in ("netcdf", "zarr"):
        run = read_batch(wholes[form]).of_scenario("squall")[1]
        assert main_error(run).variable == "wind"
