"""Kernels that call the same kernels share what was compiled of these, and nothing else."""

import cmath
import errno
import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from numba import njit, prange
from numba.core import event

import sciprec
from sciprec.foundation import turns
from sciprec.precision.formats.backend import resolve_backend
from sciprec.precision.operations import reduce
from sciprec.precision.rewriting.build import Build
from sciprec.precision.rewriting.program import Program
from sciprec.precision.rounding.variant import CAREFUL, PLAIN, PROFILE, WIDE
from tests.oracles.twin import run_twin
from tests.precision.processes import ROOT
from tests.precision.test_fixed_twins import assert_twin


def shared(x, out):
    for i in range(x.size):
        out[i] = x[i] / 3.0


def first(x, out):
    shared(x, out)
    for i in range(x.size):
        out[i] = out[i] + 1.0


def second(x, out):
    shared(x, out)
    for i in range(x.size):
        out[i] = out[i] * 7.0


class Compiled(event.Listener):
    """Names of the functions that were compiled, without their identities."""

    def __init__(self):
        self.names = []

    def on_start(self, event):
        name = event.data["dispatcher"].py_func.__name__
        self.names += [name] if name.startswith("sp_") else []

    def on_end(self, event):
        pass


def compiled_by(*steps) -> list[str]:
    """The functions that are compiled while others are called."""
    heard = Compiled()
    event.register("numba:compile", heard)
    try:
        for step in steps:
            step()
    finally:
        event.unregister("numba:compile", heard)
    return heard.names


def call(kernel, backend="bf16"):
    x, out = np.linspace(0.1, 1.0, 5), np.zeros(5)
    sciprec.lift(kernel, backend)(x, out)
    return out


def test_what_two_kernels_call_is_compiled_once(tmp_path, monkeypatch):
    monkeypatch.setenv("SCIPREC_CACHE_DIR", str(tmp_path))
    names = compiled_by(lambda: call(first), lambda: call(second))
    assert names.count("sp_k_shared") == 1
    assert names.count("sp_k_first") == names.count("sp_k_second") == 1


def waved(x, out):
    second(x, out)
    out[0] = math.exp(out[0])
    shared(x, out)


@pytest.mark.slow
def test_what_else_a_kernel_calls_makes_no_other_parts(tmp_path, monkeypatch):
    """Elementary functions, and other kernels before: nothing of it is a part's."""
    monkeypatch.setenv("SCIPREC_CACHE_DIR", str(tmp_path))
    call(second, "fixed32")
    names = compiled_by(lambda: call(waved, "fixed32"))
    assert not {"sp_k_shared", "sp_k_second"} & set(names) and "sp_k_waved" in names


def weighed_by(table, weight):
    """A kernel that differs from others of its making by what its names stand for."""

    def weigh(x, out):
        for i in range(x.size):
            out[i] = x[i] * table[i] + weight

    def outer(x, out):
        weigh(x, out)

    return outer


def everything(x, out):
    """Operations of every kind that code without an arithmetic has to ask for."""
    for i in range(x.size):
        v = round(math.exp(x[i]) % 0.3 + x[i] // 0.2, 3) - abs(-x[i]) ** 3 + i
        w = cmath.sqrt(complex(v, 1e-3)) * 0.1j
        out[i] = np.sign(v) * np.copysign(0.1, v) + w.real / 2.0 + math.floor(v) + max(v, 0.1)
    out += np.float32(0.7) * x.sum()


ARITHMETICS = ["bf16", "mlu370"]


@pytest.mark.slow
def test_arithmetics_share_all_but_the_entry(tmp_path, monkeypatch):
    """One carrier: what is compiled for the first one is taken by every other one, with the
    oracle's results.
    """
    monkeypatch.setenv("SCIPREC_CACHE_DIR", str(tmp_path))
    names = compiled_by(lambda: call(everything, ARITHMETICS[0]))
    assert "sp_k_everything" in names
    for name in ARITHMETICS[1:]:
        assert compiled_by(lambda name=name: call(everything, name)) == ["sp_entry"]
    found = [call(everything, name).tolist() for name in ARITHMETICS]
    assert len({tuple(values) for values in found}) == len(ARITHMETICS)
    for name, values in zip(ARITHMETICS, found, strict=True):
        x, out = np.linspace(0.1, 1.0, 5), np.zeros(5)
        run_twin(everything, resolve_backend(name), (x, out))
        assert values == out.tolist(), name


def placed(x, out):
    """Operations of every kind that code with rows of numbers has to ask for."""
    total = 0.0
    for i in range(x.size):
        v = math.exp(x[i]) % 0.3 + x[i] // 0.2 - abs(-x[i]) ** 3 + i
        v = i - v / 3.0 + math.sqrt(abs(v))
        total = reduce.accumulate(total, reduce.product(v, x[i]))
        total = reduce.accumulate(reduce.product(v, v), total)
        out[i] = np.sign(v) * np.copysign(0.1, v) + reduce.fma(v, v, 0.3) + max(v, 0.1) + total
    out += np.float32(0.7) * x.sum()
    out[0] = x[1]
    return math.floor(total) + np.dot(x, out)


FIXED = ["fixed32", "fixed:bits=12,round=ru,saturate=no"]


def called_in_fixed_point(name: str) -> list:
    """Calls and a profile, the oracle's where units are too narrow, and wide apart."""
    given, saturated = (np.linspace(-1.0, 1.0, 5), np.zeros(5)), 0
    for ranges in (0.5, {"*": 4.0, "x": 2.0**-40}):
        saturated += assert_twin(sciprec.lift(placed, name, adapt=None, ranges=ranges), given)
    lifted = sciprec.lift(placed, name)
    lifted(*given)
    profile = lifted.profile(*given)
    return [saturated > 0, *(value.tolist() for value in list(vars(profile).values())[2:])]


@pytest.mark.slow
def test_programs_with_rows_share_all_but_the_entry(tmp_path, monkeypatch):
    """Formats, roundings, and a program's variants: what a profile and the first format make is
    taken by every other one, with the oracle's results.
    """
    monkeypatch.setenv("SCIPREC_CACHE_DIR", str(tmp_path))
    found = []
    for n, name in enumerate(FIXED):
        names = compiled_by(lambda name=name: found.append(called_in_fixed_point(name)))
        assert names.count("sp_k_placed") == (n == 0) and names.count("sp_entry") >= 3
    assert all(saturated for saturated, *_ in found) and repr(found[0]) == repr(found[1])


def scaled_by_default(x, out, scale=0.1):
    for i in range(x.size):
        out[i] = scale * x[i] + 0.3


def test_a_variant_of_a_program_has_the_text_that_it_would_have_alone():
    """Of `in_variant`; a default value and a table are rounded in the text itself."""
    fixed, truth = resolve_backend("fixed16"), resolve_backend("fp64")
    for kernel in (placed, scaled_by_default, weighed_by(np.ones(3) / 3, 0.1)):
        plain = Program(kernel, fixed, Build(variant=PLAIN))
        for variant, backend in ((WIDE, fixed), (CAREFUL, fixed), (PROFILE, truth)):
            found = plain.in_variant(variant, backend)
            if variant == PROFILE and kernel is not placed:
                assert found is None
                continue
            alone = Program(kernel, backend, Build(variant=variant))
            assert found.text() == alone.text() != plain.text()
            assert found.literals == alone.literals and found.layout.rows == alone.layout.rows
    assert Program(placed, truth).in_variant(PROFILE, truth) is None


def test_parallel_and_recursive_kernels_share_nothing():
    """They are no parts of one entry."""

    def summed(x, out):
        for i in prange(x.size):
            out[i] = 0.1 * x[i]

    def falling(x, out):
        if x.size > 1:
            falling(x[1:], out[1:])
        out[0] = 0.1 * x[0]

    x = np.linspace(0.1, 1.0, 5)
    tenth = float(sciprec.quantize(np.array(0.1), "mlu370"))
    wanted = sciprec.quantize(tenth * sciprec.quantize(x, "mlu370"), "mlu370")
    for kernel in (njit(parallel=True)(summed), falling):
        assert "shared_operations" not in sciprec.lift(kernel, "bf16").path.read_text()
        assert np.array_equal(call(kernel, "mlu370"), wanted)


def test_what_names_stand_for_tells_parts_apart():
    """Tables, numbers, arithmetics, variants of a program: the text of the kernel is the same."""
    x, one = np.linspace(0.1, 1.0, 5), np.ones(5)
    for table, weight in [(one, 0.0), (np.arange(5.0), 0.0), (one, 1.0)]:
        for backend in ("mlu370", "fixed32") if weight == 0.0 else ("mlu370",):
            found = call(weighed_by(table, weight), backend)
            assert np.allclose(found, x * table + weight, rtol=2.0**-18, atol=2.0**-18), backend


def counting(x, out):
    place = 0
    for _ in range(3):
        put(x, place, out)
        place = place + 1


def put(x, place, out):
    for i in range(x.size):
        out[place] = out[place] + x[i]


def test_a_count_that_begins_with_a_literal_compiles_a_kernel_once(tmp_path, monkeypatch):
    monkeypatch.setenv("SCIPREC_CACHE_DIR", str(tmp_path))
    names = compiled_by(lambda: call(counting))
    assert names.count("sp_k_put") == 1
    assert np.array_equal(call(counting, "fp64")[:3] > 0, [True] * 3)


PROCESS = """
import json, sys
from tests.precision import test_shared_parts as these
names = these.compiled_by(lambda: these.call(getattr(these, sys.argv[1])))
print(json.dumps([names, these.call(getattr(these, sys.argv[1])).tolist()]))
"""


def begun(kernel: str, cache: Path) -> subprocess.Popen:
    environment = {**os.environ, "SCIPREC_CACHE_DIR": str(cache), "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-c", PROCESS, kernel], cwd=ROOT, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def said(process: subprocess.Popen) -> tuple[list[str], list[float]]:
    out, error = process.communicate(timeout=300)
    assert process.returncode == 0, error
    return tuple(json.loads(out))


@pytest.mark.slow
def test_other_processes_find_the_parts_and_none_compiles_what_another_one_does(tmp_path):
    """Two processes begin at once with an empty cache."""
    racing = [said(process) for process in [begun("first", tmp_path), begun("first", tmp_path)]]
    assert racing[0][1] == racing[1][1] == call(first).tolist()
    compiled = racing[0][0] + racing[1][0]
    assert sorted(compiled) == ["sp_entry", "sp_k_first", "sp_k_shared"]
    assert not list(tmp_path.glob("*.lock"))


def test_a_turn_of_a_process_that_died_is_over(tmp_path):
    """It leaves a file, which nobody holds."""
    wanted = tmp_path / "made"
    (tmp_path / "made.lock").touch()
    with turns.turn(wanted):
        assert (tmp_path / "made.lock").exists()
    assert not (tmp_path / "made.lock").exists()


def test_a_turn_is_waited_for_until_its_file_is_there_or_for_long(tmp_path, monkeypatch):
    monkeypatch.setattr(turns, "LONGEST_WAIT", 0.1)
    wanted = tmp_path / "made"
    with turns.turn(wanted), turns.turn(wanted):  # the second gives up waiting
        wanted.touch()
        with turns.turn(wanted):
            pass
    assert sorted(p.name for p in tmp_path.iterdir()) == ["made"]


def test_nothing_is_waited_for_where_no_file_can_be_locked(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    with turns.turn(tmp_path / "file" / "made"):
        pass

    def unknown(stream):
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(turns, "lock", unknown)
    began = time.monotonic()
    with turns.turn(tmp_path / "made"):
        pass
    assert time.monotonic() - began < turns.LONGEST_WAIT / 4
