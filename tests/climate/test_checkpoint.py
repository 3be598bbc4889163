"""Checkpoints: an interrupted run ends with the bits of one that was not."""

import errno
import io
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sciprec.climate.running.checkpoint import Checkpoints, Restart, Saved
from sciprec.climate.running.integration import integrate
from sciprec.climate.running.request import check_request
from sciprec.climate.stepping.schemes import TIME_SCHEMES, stage_state
from sciprec.climate.transform.compiled import compiled, kernel_states, restore_kernels
from sciprec.climate.transform.grid import Truncation
from sciprec.errors import InputError
from sciprec.precision import resolve_backend
from tests.climate.damaged_checkpoints import damaged_run, files_of, older_records, prepared

SMALL = Truncation(10, 16, 32, 1200.0)
RUN = {"output_hours": 6.0, "step_seconds": 1200.0}


class Stopped(Exception):
    """Raised by a progress function."""


def stop_at(days):
    def progress(now):
        if now > days:
            raise Stopped

    return progress


def assert_same(first, second):
    np.testing.assert_array_equal(first.time_days, second.time_days)
    for kind in ("fields", "budgets"):
        for name, values in getattr(first, kind).items():
            np.testing.assert_array_equal(values, getattr(second, kind)[name], err_msg=name)


@pytest.mark.parametrize("compensation", [None, {"vorticity": "carry", "geopotential": "carry"}])
@pytest.mark.parametrize("scheme", TIME_SCHEMES)
def test_an_interrupted_run_goes_on_with_the_same_bits(
    scheme, compensation, tmp_path, written_each_time
):
    given = RUN | {"time_scheme": scheme, "compensation": compensation, "backend": "mlu370"}
    whole = integrate("williamson_5", SMALL, 1.0, **given)
    with pytest.raises(Stopped):
        integrate("williamson_5", SMALL, 1.0, checkpoints=tmp_path, progress=stop_at(0.7), **given)
    seen = []
    again = integrate(
        "williamson_5", SMALL, 1.0, checkpoints=tmp_path, progress=seen.append, **given
    )
    assert seen[0] > 0.25
    assert_same(whole, again)
    assert whole.steps == again.steps == 72


@pytest.mark.parametrize(
    ("case", "given"),
    [
        pytest.param("williamson_1", {"backend": "mlu370-noise"}, id="random bits"),
        pytest.param(
            "williamson_6", {"backend": "fixed32"}, id="fixed point", marks=pytest.mark.slow
        ),
    ],
)
def test_kernels_with_a_state_go_on_with_the_same_bits(case, given, tmp_path):
    """Numbers of calls and units are in the checkpoint: the same random bits, the same rounding."""
    given = {"output_hours": 1.0, "step_seconds": 900.0, "time_scheme": "rk4"} | given
    whole = integrate(case, SMALL, 0.125, **given)
    integrate(case, SMALL, 1 / 24, checkpoints=tmp_path, **given)
    seen = []
    again = integrate(case, SMALL, 0.125, checkpoints=tmp_path, progress=seen.append, **given)
    assert seen[0] > 1 / 24
    assert_same(whole, again)
    assert again.fixed_point == whole.fixed_point


@pytest.mark.parametrize("backend", ["mlu370-noise", "fixed16"])
def test_states_of_kernels_go_from_one_to_another(backend):
    """The third call of one kernel is the first of another that is put into its state."""
    numbers = np.random.default_rng(2).integers(-256, 256, (2, 2, 500)) / 256
    numbers[1] *= 16
    carrier = resolve_backend(backend).carrier
    first, second, untouched = (compiled(stage_state, backend) for _ in range(3))

    def call(kernel, k):
        out = np.zeros(500, carrier)
        state, slope = numbers[k].astype(carrier)
        kernel(state, slope, 0.3, out)
        return out

    early = call(first, 0)
    call(first, 1)
    states = kernel_states([first])
    late = call(first, 0)
    assert (early != late).any()
    for kernel in (second, untouched):
        call(kernel, 0)
    restore_kernels([second], states)
    np.testing.assert_array_equal(call(second, 0), late)
    assert (call(untouched, 0) != late).any()
    if backend == "fixed16":
        assert second.report() == first.report() != untouched.report()


def test_numbers_that_never_fit_are_counted_on_by_the_kernel_that_goes_on():
    """A NaN becomes zero in every call, and is counted in each."""
    first, second = (compiled(stage_state, "fixed16") for _ in range(2))
    state, slope = np.linspace(0.0, 1.0, 2 * 50).reshape(2, 50)
    for kernel in (first, second):
        kernel(state, slope, 0.3, np.zeros(50))
    spoilt = np.where(np.arange(50) == 7, np.nan, state)
    first(spoilt, slope, 0.3, np.zeros(50))
    assert (before := first.report()).invalid > 0
    restore_kernels([second], kernel_states([first]))
    assert second.report() == before
    first(spoilt, slope, 0.3, np.zeros(50))
    second(spoilt, slope, 0.3, np.zeros(50))
    assert second.report() == first.report() and first.report().invalid > before.invalid


def test_a_kernel_that_met_nothing_but_zeros_still_has_to_find_its_units():
    """In the state of one that has found them it has not, and the other way round."""
    zero, other, found = np.zeros(50), np.zeros(50), np.linspace(0.1, 1.0, 50)
    first, second = (compiled(stage_state, "fixed16") for _ in range(2))
    first(zero, zero, 0.0, other)
    second(found, found, 0.3, other)
    restore_kernels([second], kernel_states([first]))
    results = [np.zeros(50), np.zeros(50)]
    for kernel, out in zip((first, second), results, strict=True):
        kernel(found / 64, found, 0.3, out)
    np.testing.assert_array_equal(*results)
    assert second.report() == first.report()


def test_units_of_another_version_of_a_kernel_get_a_sentence():
    kernel = compiled(stage_state, "fixed16")
    kernel(np.ones(50), np.ones(50), 0.3, np.zeros(50))
    states = kernel_states([kernel])
    for other in (
        states | {"0_largest": states["0_largest"][:-1]},
        {name: x for name, x in states.items() if name != "0_counts"},
    ):
        with pytest.raises(InputError, match="another version of kernel 'stage_state'; remove it"):
            restore_kernels([kernel], other)


def test_plain_floats_have_no_state():
    assert kernel_states([compiled(stage_state, "fp64")]) == {}


def test_a_longer_run_goes_on_from_the_end_of_a_shorter_one(tmp_path):
    integrate("williamson_6", SMALL, 0.625, checkpoints=tmp_path, **RUN)
    seen = []
    longer = integrate("williamson_6", SMALL, 1.0, checkpoints=tmp_path, progress=seen.append,
                       **RUN)  # fmt: skip
    assert seen[0] > 0.625
    assert_same(longer, integrate("williamson_6", SMALL, 1.0, **RUN))
    with pytest.raises(InputError, match="is at day 1, beyond the end of this run at day 0.5"):
        integrate("williamson_6", SMALL, 0.5, checkpoints=tmp_path, **RUN)


def test_other_runs_have_other_files(tmp_path):
    base = {"days": 0.25, **RUN}
    others = (
        {}, {"step_seconds": 600.0}, {"backend": "fp32"}, {"time_scheme": "imex_ars443"},
        {"compensation": "carry"}, {"parameters": {"diffusion_m4_per_s": 1e16}},
        {"variables": ["u"]},
    )  # fmt: skip
    requests = [check_request("williamson_5", SMALL, **(base | options)) for options in others]
    assert len({Checkpoints(tmp_path, request).path for request in requests}) == len(others)
    integrate("williamson_5", SMALL, checkpoints=tmp_path, **base)
    own = Checkpoints(tmp_path, requests[0])
    assert set(tmp_path.iterdir()) == {own.path, own.records.path}


def test_a_finished_run_makes_no_step_again(tmp_path):
    first = integrate("williamson_5", SMALL, 0.25, checkpoints=tmp_path, **RUN)
    again = integrate("williamson_5", SMALL, 0.25, checkpoints=tmp_path, **RUN)
    assert_same(first, again)
    assert first.timing.seconds > 0 and again.timing == first.timing


def test_what_cannot_be_kept_or_read_gets_a_sentence(tmp_path):
    (tmp_path / "file").write_text("taken")
    with pytest.raises(InputError, match="of checkpoints cannot be made"):
        integrate("williamson_5", SMALL, 0.25, checkpoints=tmp_path / "file", **RUN)
    integrate("williamson_5", SMALL, 0.25, checkpoints=tmp_path, **RUN)
    (path,) = tmp_path.glob("*.npz")
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(InputError, match="cannot be read .*; get both .* or remove it to"):
        integrate("williamson_5", SMALL, 0.25, checkpoints=tmp_path, **RUN)


def saved_at(seconds, monkeypatch, kept, count):
    """How often a checkpoint is written in so many savings, each so many seconds of a clock after
    the last look at it.
    """
    clock = itertools.count(0.0, seconds)
    monkeypatch.setattr("sciprec.climate.running.checkpoint.time.perf_counter", lambda: next(clock))
    written = []
    for k in range(count):
        kept.save(Saved(k, [], [], {}), last=False)
        if kept.path.exists() and (found := kept._read()["steps"]) not in written:
            written.append(found)
    return len(written)


def test_writing_takes_a_small_share_of_the_time(tmp_path, monkeypatch):
    kept = Checkpoints(tmp_path, check_request("williamson_5", SMALL, 1.0, **RUN))
    assert 2 <= saved_at(0.5, monkeypatch, kept, 60) <= 4
    kept.save(Saved(60, [], [], {}), last=True)
    assert kept._read()["steps"] == 60


def test_a_restart_is_written_after_a_while_and_not_at_the_end(tmp_path, monkeypatch):
    request = check_request("williamson_5", SMALL, 1.0, **RUN)
    monkeypatch.setattr("sciprec.climate.running.checkpoint.time.perf_counter", lambda: 0.0)
    kept = Checkpoints(Restart(Path(tmp_path), after_seconds=60.0), request)
    assert not saved_at(5.0, monkeypatch, kept, 12)
    assert saved_at(61.0, monkeypatch, kept, 2) == 1
    kept.save(Saved(60, [], [], {}), last=True)
    assert kept._read()["steps"] != 60


def half_of(arrays):
    return arrays | {"level_0": arrays["level_0"][::2]}


MISFITS = [
    half_of,
    lambda arrays: arrays | {"level_0": arrays["level_0"].astype(np.float32)},
    lambda arrays: arrays | {f"level_{i}": arrays["level_0"] for i in range(9)},
    lambda arrays: arrays | {"record_layout": np.array(json.dumps({"u": [16, 32]}))},
    lambda arrays: arrays | {"budget_mass": arrays["budget_mass"][:1]},
    lambda arrays: arrays | {"stored": arrays["stored"][::-1]},
    lambda arrays: arrays | {"residual_0": arrays["level_0"]},
]


@pytest.mark.parametrize("change", MISFITS)
def test_arrays_of_other_shapes_and_types_never_reach_a_kernel(change, tmp_path):
    """Not even of a file whose seal fits, as where a user's equations have another layout today."""
    integrate("williamson_5", SMALL, 0.25, checkpoints=tmp_path, **RUN)
    kept = Checkpoints(tmp_path, check_request("williamson_5", SMALL, 0.25, **RUN))
    stream = io.BytesIO()
    np.savez(stream, **change(kept._read()))
    kept.path.write_bytes(stream.getvalue() + kept._seal(stream.getvalue()))
    with pytest.raises(InputError, match="cannot be read .*(are not those of this|no digests)"):
        integrate("williamson_5", SMALL, 0.25, checkpoints=tmp_path, **RUN)
    again = integrate("williamson_5", SMALL, 0.25, checkpoints=Restart(tmp_path), **RUN)
    assert again.steps == 18


# ---- damage ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """An uninterrupted run, and checkpoints of some that were not."""
    return prepared(tmp_path_factory.mktemp("stopped"))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("lasting", [False, True], ids=["interrupted", "lasting"])
def test_what_is_damaged_is_never_gone_on_from(lasting, seed, stopped, tmp_path):
    """A sentence where checkpoints last; for an interruption the run begins anew, and says so."""
    damaged_run(random.Random(seed), stopped, tmp_path / "run", lasting)


def test_the_sentence_names_what_is_damaged(stopped, tmp_path):
    shutil.copytree(stopped[1], tmp_path / "run")
    state, records = files_of(tmp_path / "run")
    older_records(tmp_path / "run", *stopped[1:])
    with pytest.raises(InputError) as raised:
        integrate("williamson_5", SMALL, 1.0, checkpoints=tmp_path / "run", **RUN)
    assert str(raised.value) == (
        f"the checkpoint '{state}' cannot be read (a stored state is gone from the file: "
        f"'{records.name}'); get both of its files back, or remove it to begin again"
    )
    state.unlink()
    again = integrate("williamson_5", SMALL, 1.0, checkpoints=tmp_path / "run", **RUN)
    assert_same(again, stopped[0])


def test_a_checkpoint_that_could_not_be_read_for_once_is_gone_on_from_later(
    stopped, tmp_path, monkeypatch
):
    """The run that began anew meanwhile has written the same records."""
    shutil.copytree(stopped[1], tmp_path / "run")
    told, restart = [], Restart(tmp_path / "run", told=lambda words: told.append(words))
    with monkeypatch.context() as patch, pytest.raises(Stopped):
        patch.setattr(Checkpoints, "_read", unreadable)
        integrate("williamson_5", SMALL, 1.0, checkpoints=restart, progress=stop_at(0.3), **RUN)
    assert "(Input/output error: 'williamson_5-" in told[0] and told[0].endswith("began anew")
    seen = []
    again = integrate("williamson_5", SMALL, 1.0, checkpoints=restart, progress=seen.append, **RUN)
    assert len(told) == 1 and seen[0] > 0.5
    assert_same(again, stopped[0])


def unreadable(self):
    raise OSError(errno.EIO, os.strerror(errno.EIO), str(self.path))


def test_parts_of_killed_processes_go_and_those_of_others_stay(tmp_path):
    request = check_request("williamson_5", SMALL, 1.0, **RUN)
    name = Checkpoints(tmp_path, request).path.name
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    stay = [f".{name}.{os.getppid()}-1.part", f".other.npz.{gone.pid}-1.part", f".{name}.x.part"]
    for one in (*stay, f".{name}.{gone.pid}-{gone.pid}.part"):
        (tmp_path / one).touch()
    Checkpoints(tmp_path, request)
    assert sorted(os.listdir(tmp_path)) == sorted(stay)
