"""Branches: `start_from` goes on from a checkpoint or an output file of another run."""

import re
from dataclasses import replace

import numpy as np
import pytest

from sciprec import InputError, climate
from sciprec.climate.running.perturbation import Perturbation
from sciprec.results.output import files
from sciprec.workbench.batch.perform import run_dataset
from sciprec.workbench.batch.plan import plan
from sciprec.workbench.batch.resume import run_digest
from sciprec.workbench.kinds import kind_of, parse_scenario
from tests.climate.small_models import Stopped, stop_at

WAYS = {
    "two levels": ("williamson_5", {"time_scheme": "semi_implicit_leapfrog"}),
    "residuals": ("williamson_5", {"backend": "mlu370", "compensation": {"vorticity": "carry"}}),
    "random bits": ("williamson_1", {"backend": "mlu370-noise", "time_scheme": "rk4"}),
    "a member": ("williamson_1", {"backend": "mlu370-noise", "time_scheme": "rk4",
                                  "perturbation": Perturbation(3, 1e-3)}),
    "air": ("held_suarez", {"levels": 3, "calendar": "noleap", "start_date": "1999-02-28",
                            "tracers": {"dust": 0.3}}),
}  # fmt: skip
STEP = {"truncation": "T10", "output_hours": 1.0, "step_seconds": 1200.0}


def run(case, days, **options):
    return climate.run(case, days=days, **STEP | options)


def parent_of(case, days, folder, **options):
    """The checkpoint of a run, and the run."""
    made = run(case, days, checkpoints=folder, **options)
    return next(folder.glob("*.npz")), made


def undated(options):
    return {name: x for name, x in options.items() if name not in ("calendar", "start_date")}


def require_part(branch, whole, hours):
    """The branch is what the whole run has from an hour on."""
    rest = whole.isel(time=slice(hours, None))
    assert branch["time"].values.tolist() == rest["time"].values.tolist()
    for name in whole.data_vars:
        np.testing.assert_array_equal(branch[name], rest[name], err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_branch_with_nothing_changed_has_the_bits_of_the_run_that_was_not_stopped(way, tmp_path):
    case, options = WAYS[way]
    hours = int(np.random.default_rng(len(way)).integers(1, 6))
    whole = run(case, 7 / 24, **options)
    file, _ = parent_of(case, hours / 24, tmp_path, **options)
    branch = run(case, (7 - hours) / 24, start_from=file, **undated(options))
    require_part(branch, whole, hours)
    assert "with the bits of the run that was not stopped" in branch.attrs["initial_state"]
    assert branch.attrs["steps"] == 3 * (7 - hours)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backend", "scales"),
    [("fp16", {"scaling": "dynamic"}),
     ("fp16", {"scaling": "static", "scales": {"vorticity": 64.0}})],
)  # fmt: skip
def test_a_branch_with_scales_has_them_from_its_checkpoint(backend, scales, tmp_path):
    """Static ones and dynamic ones, which have changed by then, to the last bit; another scaling
    starts from fields, and says why.
    """
    options = {"backend": backend, "time_scheme": "semi_implicit_leapfrog", **scales}
    hours = 3
    whole = run("williamson_5", 6 / 24, **options)
    file, _ = parent_of("williamson_5", hours / 24, tmp_path, **options)
    branch = run("williamson_5", (6 - hours) / 24, start_from=file, **options)
    require_part(branch, whole, hours)
    assert "with the bits of the run that was not stopped" in branch.attrs["initial_state"]
    assert branch.attrs["sciprec_scaling"] == whole.attrs["sciprec_scaling"]
    other = options | {"scaling": "static", "scales": {"vorticity": 2.0}}
    changed = run("williamson_5", 1 / 24, start_from=file, **other)
    assert "whose scales are others" in changed.attrs["initial_state"]


@pytest.mark.slow
@pytest.mark.parametrize("way", ["residuals", "random bits"])
def test_a_branch_that_is_killed_goes_on_with_the_same_bits(way, tmp_path, written_each_time):
    case, options = WAYS[way]
    file, _ = parent_of(case, 2 / 24, tmp_path / "parent", **options)
    whole = run(case, 6 / 24, start_from=file, **options)
    for killed in np.random.default_rng(7).uniform(0.05, 0.2, 2):
        again = {"checkpoints": tmp_path / f"{killed}", "start_from": file, **options}
        with pytest.raises(Stopped):
            run(case, 6 / 24, progress=stop_at(killed), **again)
        seen = []
        require_part(run(case, 6 / 24, progress=seen.append, **again), whole, 0)
        assert seen[0] > killed - 1 / 12


@pytest.mark.parametrize(
    ("changes", "words", "close"),
    [
        ({"backend": "fp64"}, r"\(mlu370, here fp64\); dropped: the residuals", 1e-3),
        ({"compensation": None}, "dropped: the residuals of its compensation$", 1e-3),
        ({"time_scheme": "rk4"}, "dropped: the residuals|at day 0.083", 1e-2),
        ({"step_seconds": 600.0}, "from one level: .*run has step_seconds 1200; on the", 1e-2),
        ({"formulation": "naive"}, "whose run has formulation careful; on", 1e-2),
        ({"truncation": "T15"}, "whose run has truncation T10; bilinear from 16 latitudes", None),
    ],
)  # fmt: skip
def test_what_a_branch_drops_or_interpolates_is_told(changes, words, close, tmp_path):
    given = {"backend": "mlu370", "compensation": "carry",
             "time_scheme": "semi_implicit_leapfrog"}  # fmt: skip
    file, parent = parent_of("williamson_5", 2 / 24, tmp_path, **given)
    branch = run("williamson_5", 1 / 24, start_from=file, **given | changes)
    assert re.search(words, branch.attrs["initial_state"])
    if close is not None:
        start = parent["height"][-1].values
        np.testing.assert_allclose(branch["height"][0], start, rtol=close)


@pytest.mark.parametrize("ending", ["nc", "zarr"])
def test_a_branch_from_an_output_file_measures_what_its_first_step_makes(ending, tmp_path):
    options = {"time_scheme": "semi_implicit_leapfrog"}
    whole = run("williamson_5", 4 / 24, **options)
    file = files.write(whole, tmp_path / f"whole.{ending}")
    branch = run("williamson_5", 2 / 24, start_from=f"{file}@2000-01-01T02", **options)
    assert branch["time"].values.tolist() == whole["time"].values[2:].tolist()
    words = branch.attrs["initial_state"]
    assert "the first step is a start from one level" in words
    told = float(words.split("height is ")[1].split(" ")[0])
    weights = branch["cell_area"].values
    its = whole["height"][3].values
    apart = np.sqrt((weights * (branch["height"][1].values - its) ** 2).sum()
                    / (weights * its**2).sum())  # fmt: skip
    assert told == pytest.approx(apart, rel=0.06) and 0.0 < told < 1e-4
    state = run("williamson_5", 1 / 24, initial=f"{file}@2000-01-01T02", **options)
    np.testing.assert_array_equal(state["height"][0], branch["height"][0])
    last = run("williamson_5", 1 / 24, start_from=f"{file}@last", **options)
    assert "height is" not in last.attrs["initial_state"]


def test_a_scenario_branches_and_the_file_is_part_of_its_key(tmp_path):
    file, _ = parent_of("williamson_5", 2 / 24, tmp_path / "one")
    other, _ = parent_of("williamson_5", 3 / 24, tmp_path / "other")
    keys = set()
    for path in (None, file, other):
        table = STEP | {"case": "williamson_5", "truncation": 10, "days": 1 / 24}
        content = {
            "name": "branch", "title": "Branch", "source": "nobody", "kind": "climate",
            "backends": ["fp64"], "ensemble": {"members": 2, "perturbation": 1e-6},
            "climate": table | ({"start_from": str(path)} if path else {}),
        }  # fmt: skip
        scenario = parse_scenario(content)
        first, second = plan([scenario])
        keys.add(run_digest(replace(first, state=kind_of(scenario).state(scenario.table))))
        if path == file:
            made, member = (run_dataset(each) for each in (first, second))
            same = run("williamson_5", 1 / 24, start_from=file)
            np.testing.assert_array_equal(made["height"], same["height"])
            apart = np.abs(member["height"] - made["height"]).isel(time=0).max()
            assert 0.0 < apart < 1e-2
    assert len(keys) == 3


@pytest.mark.parametrize(
    ("case", "options", "words"),
    [
        ("held_suarez", {}, "of the equations 'shallow_water', and case 'held_suarez' has"),
        ("williamson_5", {"start_from": "{npz}@1"}, "has no time '1': a checkpoint holds one time "
         "only, 2000-01-01T02:00:00"),
        ("williamson_5", {"start_from": "{nc}@0.07"}, "no time '0.07'; .*the nearest is "
         "'2000-01-01T02:00:00'"),
        ("williamson_5", {"start_from": "{nc}@2000-01-01T01:10"}, "nearest is '2000-01-01T01:00"),
        ("williamson_5", {"start_from": "{nc}"}, "holds 3 times"),
        ("williamson_5", {"start_from": "no.npz"}, "'no.npz' cannot be read .No such file"),
        ("williamson_5", {"start_from": 3}, "start_from is 3; accepted: the path"),
        ("williamson_5", {"start_date": "2000-01-01"}, "start_date is given with start_from"),
        ("williamson_5", {"start_from": "{nc}@last", "step_seconds": 960.0, "output_hours": 0.8,
                          "days": 1 / 30}, "is 7200 s after .* no whole number of steps of 960 s"),
        ("williamson_5", {"start_from": "{nc}@last", "initial": "{nc}@last"}, "initial is given "
         "with start_from"),
        ("held_suarez", {"start_from": "{nc}@last"}, "whole.nc' has no"),
    ],
)  # fmt: skip
def test_files_that_are_no_start_are_refused(case, options, words, tmp_path):
    npz, made = parent_of("williamson_5", 2 / 24, tmp_path)
    nc = files.write(made, tmp_path / "whole.nc")
    places = {"npz": npz, "nc": nc}
    given = {"start_from": "{npz}", "days": 1 / 24} | options
    given = {k: x.format(**places) if isinstance(x, str) else x for k, x in given.items()}
    with pytest.raises(InputError, match=words):
        climate.run(case, **STEP | given)
