"""Damaged files of the cache and of baselines: nothing in them is taken for what it is not."""

from __future__ import annotations

import math
import random
import warnings
from pathlib import Path

import numpy as np
import xarray as xr

from sciprec import Assignment, InputError
from sciprec.foundation import cache_files
from sciprec.instruments.assigning import files
from sciprec.regression.baselines.keeping import fingerprints
from sciprec.regression.baselines.records import KeptRun, Record, read_record, write_record
from sciprec.tools.tune.kept_runs import KeptRuns
from tests.writing.damages import DAMAGES, lengthened


def damaged(path: Path, draw: random.Random) -> None:
    """Damage a file."""
    path.write_bytes(draw.choice([*DAMAGES, lengthened])(path.read_bytes(), draw))


def known(identity: str) -> dict[tuple[int, ...], str]:
    """The knowledge of a new process of the runs of a problem, floats as their bits."""
    return {choice: float(error).hex() for choice, error in KeptRuns(identity)._errors.items()}


def noted(identity: str, draw: random.Random, count: int = 20) -> None:
    """Keep runs of a problem."""
    kept = KeptRuns(identity)
    for number in range(count):
        some = draw.random() * 10.0 ** -draw.randrange(300)
        choice = (number, draw.randrange(3), -1)
        kept.note(choice, draw.choice([0.0, math.inf, math.nan, some]))


def damaged_runs(draw: random.Random) -> str:
    """Lines of `tune` that are damaged are left out, and what is noted later is not."""
    identity = f"{draw.getrandbits(256):064x}"
    noted(identity, draw)
    before = known(identity)
    assert len(before) == 20
    damaged(cache_files.cache_folder() / "tuning" / f"{identity[:24]}.jsonl", draw)
    assert known(identity).items() <= before.items()
    left = len(known(identity))
    KeptRuns(identity).note((9, 9, 9), 0.25)
    assert known(identity)[9, 9, 9] == 0.25.hex()
    return "all lines are left" if left == 20 else "lines are left out"


def damaged_assignment(draw: random.Random) -> str:
    """An assignment of the cache is as if it had not been kept, or what it was."""
    formats = {draw.randrange(1, 40): draw.choice(["bf16", "fp16", "fp32"]) for _ in range(4)}
    made = Assignment(formats, default=draw.choice(["fp64", "fp32"]), name="mine")
    files._texts.clear()
    name = made.as_backend().name
    path = cache_files.cache_folder() / "assignments" / f"{made.digest}.toml"
    damaged(path, draw)
    files._texts.clear()
    cache_files._warned.clear()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            assert Assignment.called(name) == made
            return "the assignment is what it was"
        except InputError as error:
            assert "is not known here; give the file of the assignment" in str(error)
    assert [one.category for one in told] == [cache_files.CacheWarning] and not path.exists()
    made.named("other").as_backend()
    assert Assignment.called(name) == made
    return "the assignment is missing"


def damaged_baseline(draw: random.Random) -> str:
    """A baseline is what it was, or a sentence says what is wrong."""
    folder = cache_files.cache_folder() / "baselines"
    values = xr.Dataset({"x": ("n", np.arange(draw.randint(1, 50)) / 3.0)})
    runs = tuple(KeptRun(n, f"a__{n}.nc", variables=fingerprints(values)) for n in ("fp64", "fp16"))
    about = {"kind": "python"}
    write_record(
        Record("mine", "key", about, {}, "", runs, {}, (), folder),
        dict.fromkeys(("fp64", "fp16"), values),
    )
    before = read_record("mine", folder)
    damaged(draw.choice(sorted((folder / "mine").iterdir())), draw)
    try:
        record = read_record("mine", folder)
        found = [record.values_of(run) for run in record.runs]
    except InputError as error:
        assert "mine" in str(error) and "\n" not in str(error)
        return "the baseline is refused"
    assert record == before and all(one.drop_attrs().equals(values) for one in found)
    return "the baseline is what it was"


STORES = (damaged_runs, damaged_assignment, damaged_baseline)
