"""Thousands of spoilt scenarios and files: a sentence each, no traceback, nothing computed."""

import copy
import random
import tomllib
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from sciprec.batch.perform import check
from sciprec.batch.plan import plan
from sciprec.compare.comparison import compare
from sciprec.errors import InputError
from sciprec.output import netcdf
from sciprec.output.dataset import prices_dataset, trajectory_dataset
from sciprec.scenario import load_scenario, parse_scenario
from tests.shell.conftest import little_trajectory

SHIPPED = [
    tomllib.loads(p.read_text(encoding="utf-8"))
    for p in sorted(Path(__file__).parents[2].glob("scenarios/*.toml"))
]
VALUES = [
    None, True, False, 0, -1, 1, 7, 10**30, -(10**30), 0.0, -0.0, 1e-320, 1e308, -2.5, float("nan"),
    float("inf"), -float("inf"), "", " ", "fp16", "mlu370", "float:p=11,round=rz", "float:p=-3",
    "fixed:bits=24", "fixed:bits=99", "../../etc/passwd", "a\x00b", "williamson_2", "T42", "carry",
    "0.1%", "-5%", "x" * 5000, [], {}, [[]], [1, "a"], [0.0], {"a": 1}, [{}], [{"name": "x"}],
    "2026-11-21", "__import__('os').system('true')", "{{7*7}}", "\u202e", [1e400], 2**63,
]  # fmt: skip


def spoilt(content, rng):
    """A scenario with one to four places changed, removed, added, doubled or swapped."""
    content = copy.deepcopy(content)
    for _ in range(rng.randint(1, 4)):
        table = content
        while True:
            inner = [v for v in table.values() if isinstance(v, dict) and v]
            if not inner or rng.random() < 0.3:
                break
            table = rng.choice(inner)
        if not table:
            continue
        key, act = rng.choice(list(table)), rng.randrange(5)
        if act == 0:
            del table[key]
        elif act == 1:
            table[rng.choice(["days", "kind", "strikes", "tolerance", "x", ""])] = rng.choice(
                VALUES
            )
        elif act == 2:
            table[key], other = table[rng.choice(list(table))], table[key]
            table[rng.choice(list(table))] = other
        elif act == 3 and isinstance(table[key], (int, float)):
            table[key] = table[key] * rng.choice([-1, 0, 1e-30, 1e30, 0.5, 3])
        else:
            table[key] = rng.choice(VALUES)
    return content


def sentences(action):
    """The message where input was refused; anything else that is raised is a fault."""
    try:
        action()
    except InputError as error:
        assert str(error).strip()
        return str(error)
    return None


def planned(content):
    scenario = parse_scenario(content)
    plan([scenario])
    check(scenario)


@pytest.mark.parametrize("seed", [0, *(pytest.param(s, marks=pytest.mark.slow) for s in (1, 2, 3))])
def test_spoilt_scenarios_are_planned_or_refused_with_a_sentence(seed):
    rng = random.Random(seed)
    refused = 0
    for _ in range(2700 if seed else 500):
        content = spoilt(rng.choice(SHIPPED), rng)
        said = sentences(lambda content=content: planned(content))
        refused += said is not None
        for line in (said or "").splitlines():
            assert "Traceback" not in line and len(line) < 1200, content
    assert refused > 300


def test_files_of_any_bytes_are_refused_with_a_sentence(tmp_path):
    rng = random.Random(5)
    path = tmp_path / "scenario.toml"
    whole = (Path(__file__).parents[2] / "scenarios" / "heston_surface.toml").read_bytes()
    for n in range(500):
        noise = bytearray(whole)
        for _ in range(rng.randint(1, 30)):
            noise[rng.randrange(len(noise))] = rng.randrange(256)
        path.write_bytes(noise[: rng.randrange(len(noise))] if n % 2 else noise)
        sentences(lambda: load_scenario(path))


def small_files():
    """A climate and a Heston dataset."""
    ones = np.ones((1, 2))
    prices = prices_dataset((90.0, 100.0), (0.5,), {"price": ones, "standard_error": 0.1 * ones})
    return trajectory_dataset(little_trajectory()), prices


def spoilt_dataset(dataset, rng):
    """Axes swapped, attributes missing or wrong, variables gone, sizes and types changed."""
    act = rng.randrange(8)
    name = rng.choice([str(n) for n in dataset.variables])
    if act == 0:
        return dataset.transpose()
    if act == 1:
        dataset[name].attrs = {}
    elif act == 2:
        dataset.attrs = {k: rng.choice([1, "", "no json", 2.5]) for k in dataset.attrs}
    elif act == 3:
        return dataset.drop_vars(name, errors="ignore")
    elif act == 4:
        dimension = rng.choice([str(d) for d in dataset.sizes])
        return dataset.isel({dimension: slice(0, rng.choice([0, 1]))})
    elif act == 5 and name not in dataset.dims:
        dataset[name] = dataset[name].astype(rng.choice(["S4", "i1", "f4", "u8"]))
    elif act == 6:
        return dataset.rename({name: f"{name}_"})
    else:
        dataset.attrs |= {"sciprec_scenario": rng.choice(["{", "[]", '{"tolerance": 3}', "1"])}
    return dataset


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_spoilt_files_are_compared_or_refused_with_a_sentence(tmp_path, seed):
    rng = random.Random(seed)
    path = tmp_path / "spoilt.nc"
    for _ in range(600 if seed else 60):
        golden = rng.choice(small_files())
        netcdf.write(spoilt_dataset(golden.copy(deep=True), rng), path)
        sentences(lambda golden=golden: compare(golden, netcdf.read(path)))


def test_truncated_and_flipped_files_are_read_or_refused_with_a_sentence(tmp_path):
    rng = random.Random(2)
    whole = netcdf.write(small_files()[0], tmp_path / "whole.nc").read_bytes()
    path = tmp_path / "spoilt.nc"
    refused = 0
    for n in range(300):
        noise = bytearray(whole)
        for _ in range(rng.randint(1, 20)):
            noise[rng.randrange(len(noise))] = rng.randrange(256)
        path.write_bytes(noise[: rng.randrange(len(noise))] if n % 3 else noise)
        refused += sentences(lambda: netcdf.read(path)) is not None
    assert refused > 150
    path.write_bytes(b"")
    assert "cannot be read" in sentences(lambda: netcdf.read(path))


@pytest.mark.filterwarnings("ignore")
def test_a_file_from_elsewhere_is_no_batch_of_ours(tmp_path):
    strange = xr.Dataset({"price": ("x", np.arange(3.0))})
    netcdf.write(strange, tmp_path / "a.nc")
    compared = sentences(lambda: compare(netcdf.read(tmp_path / "a.nc"), small_files()[1]))
    assert compared is not None


def test_long_words_are_shown_by_their_beginning():
    said = str(InputError(f"unknown case '{'x' * 5000}'; known: williamson_2\nsecond line"))
    assert said.startswith(f"unknown case '{'x' * 199}… (5003 characters) known: williamson_2\n")
    assert said.endswith("\nsecond line")
    assert str(InputError("short")) == "short"
    assert len(str(InputError("much " * 1000))) < 1100
