"""`sciprec repeat`: seeded faults are found with answer and line, clean programs are not blamed.

All kinds, each for three seeds, with their mended twins:
`python -m tests.repetition.faults FOLDER 0 3`.
"""

import datetime
import pickle

import numpy as np
import pytest
import xarray as xr

from sciprec.regression.repetition.circumstances import (
    A_THIRD_ORDER,
    AGAIN,
    ANOTHER,
    BLOCKS,
    ELSEWHERE,
    FIRST,
    ORDER,
    THREADS,
    CallSettings,
    Circumstance,
    threaded,
)
from sciprec.regression.repetition.judging import judged
from sciprec.regression.repetition.kernel_process import Asked, answers
from sciprec.regression.repetition.leavings import files_below, first_difference
from sciprec.regression.repetition.sources import behind_command
from sciprec.regression.repetition.suspects import explained
from tests.repetition.faults import KINDS, missed, repeated, written
from tests.repetition.spellings import SPELLINGS, program, unnamed

SEED = (datetime.date(2026, 11, 24).toordinal() * 7919) % 1000
FOUND = ("a count that is kept", pytest.param("the order of a set", marks=pytest.mark.slow))


def kind_of(name):
    return next(kind for kind in KINDS if kind.name == name)


@pytest.mark.slow
@pytest.mark.parametrize("name", FOUND)
def test_a_seeded_fault_is_found(name, tmp_path):
    program = written(kind_of(name), SEED, tmp_path)
    assert missed(program, repeated(program, runs=5)) == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "runs"),
    [("a sum in prange", 3), ("a border never written", 2), ("memory of an array", 6)],
)
def test_a_seeded_fault_is_found_by_processes(name, runs, tmp_path):
    program = written(kind_of(name), SEED, tmp_path)
    assert missed(program, repeated(program, runs=runs)) == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "runs"), [("as many parts as threads", 3), ("files as the system lists them", 5)]
)
def test_a_mended_program_is_not_blamed(name, runs, tmp_path):
    program = written(kind_of(name), SEED, tmp_path, clean=True)
    assert missed(program, repeated(program, runs=runs)) == ""


@pytest.mark.parametrize("seed", range(len(SPELLINGS)))
def test_the_line_is_named_however_it_is_spelt(seed, tmp_path):
    """By the source alone; whether runs differ is seen by `spellings` with `run`."""
    assert unnamed(program(seed + SEED * len(SPELLINGS), tmp_path)) == ""


def answered(asked, numbers):
    """The findings of runs that leave these numbers, one after another."""
    left = iter(numbers)

    def run(circumstances):
        for number, _ in enumerate(circumstances):
            yield number, {"a": np.array(next(left))}

    _, found = judged(asked, run)
    assert next(left, None) is None
    return [(one.aspect, one.words) for one in found]


def test_a_difference_is_put_down_to_what_makes_it():
    """Runs: the first one, those that are asked for, parts of them or calls by themselves, and four
    like the first.
    """
    two, once_more = threaded(2), [FIRST, ANOTHER]
    assert answered([*once_more, two], [1, 1, 1]) == []
    assert answered([*once_more, two], [1, 1, 2, 1, 1, 1, 1]) == [(THREADS, "2 threads")]
    chance = [(AGAIN, "again, in another process")]
    assert answered([*once_more, two], [1, 2, 2]) == chance
    assert answered([*once_more, two], [1, 1, 2, 1, 1, 3, 1]) == chance
    parts = [1, 1, 2, 1, 2, 1, 1, 1, 1, 1]  # of three parts the second differs
    assert answered([*once_more, ELSEWHERE], parts) == [(ORDER, "lists of files backwards")]
    together = [1, 1, 2, 1, 1, 1, 1, 1, 1, 1]  # none of them by itself
    assert answered([*once_more, ELSEWHERE], together) == [(ORDER, ELSEWHERE.words)]
    mixed = [1, 1, 2, 1, 2, 1, 1, 1, 1]
    assert answered([*once_more, A_THIRD_ORDER], mixed) == [(ORDER, "lists of files mixed")]
    second = Circumstance(("a second call",), "a second call", later=True)
    chunks = Circumstance(("chunks",), "chunks", call=CallSettings(chunk=3), later=True)
    alone = [1, 1, 2, 2, 1, 1, 1, 1, 1]  # chunks once more, as a first call
    assert answered([*once_more, second, chunks], alone) == [(ORDER, "a second call")]
    both = [1, 1, 2, 2, 2, 1, 1, 1, 1]
    found = answered([*once_more, second, chunks], both)
    assert found == [(ORDER, "a second call"), (BLOCKS, "chunks")]


@pytest.mark.parametrize("seed", range(12))
def test_the_first_difference_is_where_it_was_made(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 5, rng.integers(0, 4)))
    dtype = rng.choice(["f8", "f4", "i4", "u1", "c16", "?", "U3"])
    then = rng.integers(0, 2, shape).astype(dtype)
    left = {"a": np.zeros(3), "b": then, "c": np.ones(2)}
    assert first_difference(left, {k: v.copy() for k, v in left.items()}) is None
    now = then.copy()
    places = sorted(rng.choice(then.size, rng.integers(1, then.size + 1), replace=False))
    now.reshape(-1)[places] = rng.integers(5, 9, len(places)).astype(dtype)
    changed = [p for p in places if now.reshape(-1)[p] != then.reshape(-1)[p]]
    found = first_difference(left, left | {"b": now, "c": np.zeros(2)})
    if not changed:
        assert found.name == "c"
        return
    assert (found.name, found.count, found.of) == ("b", len(changed), then.size)
    assert found.index == tuple(int(i) for i in np.unravel_index(changed[0], shape))
    assert found.first == repr(then.reshape(-1)[changed[0]].item())
    assert found.other == repr(now.reshape(-1)[changed[0]].item())


def test_bits_count_and_nan_is_nan():
    def differs(a, b, dtype="f8"):
        return first_difference({"a": np.array([a], dtype)}, {"a": np.array([b], dtype)})

    assert differs(0.0, -0.0) and differs(1.0, np.nextafter(1.0, 2.0)) and differs(1.0, np.nan)
    other_nan = np.array([0x7FF8000000000001], "u8").view("f8")[0]
    assert differs(np.nan, other_nan) is None
    assert "was float64 2 and is float64 3" in first_difference(
        {"a": np.zeros(2)}, {"a": np.zeros(3)}
    ).words
    assert first_difference({"a": np.zeros(2)}, {}).words == "'a' is not there"
    assert first_difference({}, {"a": np.zeros(2)}).words == "'a' is there, too"


def test_files_are_compared_by_what_is_in_them(tmp_path):
    """Dates, durations and paths in attributes do not count; units, and all else, do."""

    def made(folder, **changes):
        path = tmp_path / folder
        path.mkdir()
        data = xr.Dataset(
            {"t": ("x", changes.get("t", np.arange(3.0)), {"units": changes.get("units", "K")})},
            attrs={"history": changes.get("date", "2026-01-01 10:00:00 made"),
                   "note": changes.get("note", "at 2026-01-01 in /tmp/one/place within 3.1 s"),
                   "title": changes.get("title", "a run")},
        )  # fmt: skip
        data.to_netcdf(path / "a.nc")
        np.savez(path / "b.npz", u=changes.get("u", np.ones(2)))
        (path / "c.txt").write_bytes(changes.get("text", b"abc"))
        return files_below(path, changes.get("ignored", ()))[0]

    then = made("then")
    later = {"date": "2027-02-02 now", "note": "at 2027-02-02 in /home/two/b within 4.25 seconds"}
    assert first_difference(then, made("later", **later)) is None
    for n, (change, name) in enumerate((
        ({"t": np.array([0.0, 1.0, 3.0])}, "a.nc: t"),
        ({"units": "degC"}, "a.nc: attribute t.units"),
        ({"title": "another"}, "a.nc: attribute title"), ({"u": np.zeros(2)}, "b.npz: u"),
        ({"text": b"ab\xff"}, "c.txt"),
    )):  # fmt: skip
        found = first_difference(then, made(f"other{n}", **change))
        assert found.name == name
        ignored = (name.rpartition(": ")[2],)
        kept = files_below(tmp_path / "then", ignored)[0]
        assert first_difference(kept, files_below(tmp_path / f"other{n}", ignored)[0]) is None
    assert found.index == (2,) and (found.first, found.other) == ("99", "255")


LIFTED = """
from concurrent.futures import ThreadPoolExecutor
import sciprec

def kernel(x, n):
    for i in range(n):
        x += 0.01 * (1.0 - x)
    return x

def run():
    lifted = sciprec.lift(kernel, "BACKEND")
    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(lambda n: lifted(0.3, n), range(20)))
"""


@pytest.mark.filterwarnings("ignore:.*its units follow the order")
@pytest.mark.parametrize("backend", ["bf16,round=sr", "mlu370-noise", "fixed32", "fp16"])
def test_a_lifted_kernel_is_called_on_threads_by_streams(backend, tmp_path):
    (tmp_path / "lifted.py").write_text(LIFTED)
    asked = Asked(
        str(tmp_path / "lifted.py"), "kernel", "kernel file", (), (),
        pickle.dumps({"x": 0.3, "n": 40}), backend, False, 0, False,
        (CallSettings(), CallSettings(threads=4), CallSettings(threads=2),
         CallSettings(arguments=(("n", 3),), threads=3)),
    )  # fmt: skip
    first, *others, of_three = answers(asked)
    assert all(first_difference(first, other) is None for other in others)
    assert first_difference(first, of_three) is not None


@pytest.mark.parametrize(
    ("backend", "words"),
    [
        ("bf16,round=sr", "call lifted.stream(n) with"),
        ("fp64,round=random", "call lifted.stream(n) with"),
        ("mlu370-noise", "call lifted.stream(n)"),
        ("fixed16", "lifted.freeze()"), ("fp16", "at the same time has no order"),
    ],
)  # fmt: skip
def test_a_program_that_lifts_beside_a_pool_is_told(backend, words, tmp_path):
    script = tmp_path / "lifted.py"
    script.write_text(LIFTED.replace("BACKEND", backend))
    scopes = behind_command([str(script)])
    place, *_ = explained(("another process",), scopes)
    assert words in place.reason
    assert place.line == (12 if backend == "fp16" else 11)
    assert explained(("memory",), scopes) == (() if backend == "fp16" else (place,))
