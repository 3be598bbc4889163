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

import numpy as np
import pytest

from sciprec.climate.running.checkpoint import Checkpoints, Restart, Saved, _seal
from sciprec.climate.running.integration import integrate
from sciprec.climate.running.perturbation import Perturbation
from sciprec.climate.running.request import check_request
from sciprec.climate.stepping.schemes import TIME_SCHEMES, stage_state
from sciprec.climate.transform.compiled import compiled, kernel_states, restore_kernels
from sciprec.foundation.errors import InputError
from sciprec.precision import resolve_backend
from tests.climate.damaged_checkpoints import damaged_run, files_of, older_records, prepared
from tests.climate.small_models import SMALL, Stopped, require_same_bits, stirred, stop_at
from tests.draws import few

RUN = {"output_hours": 6.0, "step_seconds": 1200.0}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "compensation"),
    [*((scheme, {"vorticity": "carry", "geopotential": "carry"}) for scheme in TIME_SCHEMES),
     ("semi_implicit_leapfrog", None)],
)  # fmt: skip
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
    require_same_bits(whole, again)
    assert whole.steps == again.steps == 72


@pytest.mark.parametrize(
    ("case", "given"),
    [("williamson_1", {"backend": "mlu370-noise"}),
     pytest.param("rossby_haurwitz", {
         "backend": "fixed32", "forcing": stirred, "tracers": {"dye": "northern", "ones": 1.0},
         "parameters": {"fourier": "matrix"},
     }, marks=pytest.mark.slow)],
    ids=["random bits", "fixed point"],
)  # fmt: skip
def test_kernels_with_a_state_go_on_with_the_same_bits(case, given, tmp_path):
    """Numbers of calls and units are in the checkpoint: the same random bits, the same rounding. In
    fixed point uniform tracers keep their bits, too, and forcings run.
    """
    given = {"output_hours": 1.0, "step_seconds": 900.0, "time_scheme": "rk4"} | given
    whole = integrate(case, SMALL, 0.125, **given)
    integrate(case, SMALL, 1 / 24, checkpoints=tmp_path, **given)
    seen = []
    again = integrate(case, SMALL, 0.125, checkpoints=tmp_path, progress=seen.append, **given)
    assert seen[0] > 1 / 24
    require_same_bits(whole, again)
    assert again.fixed_point == whole.fixed_point
    assert (again.fields.get("ones", np.ones(1)) == 1.0).all()


@pytest.mark.parametrize("backend", ["mlu370-noise", "fixed16"])
def test_a_kernel_goes_on_from_the_state_of_another(backend):
    """Random calls, with zeros alone and numbers that never fit among them: the same results and
    the same counts as those of the kernel whose state it has, and others than its own.
    """
    carrier, lost = resolve_backend(backend).carrier, 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        calls = rng.uniform(-1, 1, (9, 2, 50)) * rng.choice([0.0, 2.0**-6, 1.0, 16.0], (9, 1, 1))
        calls[rng.random(9) < 0.3, 0, 7] = np.nan
        first, second, untouched = (compiled(stage_state, backend) for _ in range(3))

        def call(kernel, k, calls=calls):
            out = np.zeros(50, carrier)
            kernel(*calls[k].astype(carrier), 0.3, out)
            return out

        for k in range(rng.integers(1, 4)):
            call(first, k)
        call(second, 4), call(untouched, 4)
        restore_kernels([second], kernel_states([first]))
        for k in range(5, 9):
            expected = call(first, k)
            np.testing.assert_array_equal(call(second, k), expected)
            lost += not np.array_equal(call(untouched, k), expected, equal_nan=True)
            if backend == "fixed16":
                assert second.report() == first.report() != untouched.report()
    assert lost > 8


def test_a_longer_run_goes_on_from_the_end_of_a_shorter_one(tmp_path):
    integrate("williamson_6", SMALL, 0.625, checkpoints=tmp_path, **RUN)
    seen = []
    longer = integrate("williamson_6", SMALL, 1.0, checkpoints=tmp_path, progress=seen.append,
                       **RUN)  # fmt: skip
    assert seen[0] > 0.625
    require_same_bits(longer, integrate("williamson_6", SMALL, 1.0, **RUN))
    with pytest.raises(InputError, match="is at day 1, beyond the end of this run at day 0.5"):
        integrate("williamson_6", SMALL, 0.5, checkpoints=tmp_path, **RUN)


def test_other_runs_have_other_files(tmp_path):
    base = {"days": 0.25, **RUN}
    others = (
        {}, {"step_seconds": 600.0}, {"backend": "fp32"}, {"time_scheme": "imex_ars443"},
        {"compensation": "carry"}, {"parameters": {"diffusion_m4_per_s": 1e16}},
        {"variables": ["u"]}, {"stages": "mixed-m0"}, {"perturbation": Perturbation(1)},
        {"perturbation": Perturbation(2)}, {"perturbation": Perturbation(1, seed=1)},
        {"stages": "mixed"}, {"stages": {"legendre": "fp16", "sums": "fp32"}},
    )  # fmt: skip
    requests = [check_request("williamson_5", SMALL, **(base | options)) for options in others]
    paths = [Checkpoints(tmp_path, request).path for request in requests]
    assert len(set(paths[:-1])) == len(others) - 1 and paths[-1] == paths[-2]
    integrate("williamson_5", SMALL, checkpoints=tmp_path, **base)
    own = Checkpoints(tmp_path, requests[0])
    assert set(tmp_path.iterdir()) == {own.path, own.records.path}


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
    kept.path.write_bytes(stream.getvalue() + _seal(kept.identity, stream.getvalue()))
    with pytest.raises(InputError, match="cannot be read .*(are not those of this|no digests)"):
        integrate("williamson_5", SMALL, 0.25, checkpoints=tmp_path, **RUN)
    again = integrate("williamson_5", SMALL, 0.25, checkpoints=Restart(tmp_path), **RUN)
    assert again.steps == 18


@pytest.mark.slow
def test_states_with_scales_of_older_checkpoints_are_in_binary32(tmp_path, monkeypatch):
    """Version 0.2 kept those of short formats so: the run goes on with the same bits."""
    how = {"backend": "scaled:dynamic,fp16,good_steps=3", "parameters": {"wavenumber": 2}}
    whole = integrate("rossby_haurwitz", SMALL, 1.0, **RUN | how)
    monkeypatch.setattr("sciprec.climate.running.checkpoint._MOST_SHARE_OF_TIME", np.inf)
    with pytest.raises(Stopped):
        integrate("rossby_haurwitz", SMALL, 1.0, checkpoints=tmp_path, progress=stop_at(0.7),
                  **RUN | how)  # fmt: skip
    kept = Checkpoints(tmp_path, check_request("rossby_haurwitz", SMALL, 1.0, **RUN | how))
    arrays, stream = kept._read(), io.BytesIO()
    np.savez(stream, **arrays | {"level_0": arrays["level_0"].astype(np.float32)})
    kept.path.write_bytes(stream.getvalue() + _seal(kept.identity, stream.getvalue()))
    days = []
    gone_on = integrate("rossby_haurwitz", SMALL, 1.0, checkpoints=tmp_path, progress=days.append,
                        **RUN | how)  # fmt: skip
    assert min(days) > 0.3
    require_same_bits(gone_on, whole)


# ---- damage ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """An uninterrupted run, and checkpoints of some that were not."""
    return prepared(tmp_path_factory.mktemp("stopped"))


@pytest.mark.parametrize("seed", few(range(6), 3))
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
    require_same_bits(again, stopped[0])


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
    require_same_bits(again, stopped[0])


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
