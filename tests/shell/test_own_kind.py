"""A kind of scenario from outside the package, from its file to its page: Lorenz (1996)."""

from dataclasses import replace
from typing import Literal

import numpy as np
import pytest
import xarray as xr

import sciprec
from sciprec.cli.commands import main
from sciprec.extend import Estimate, Kind, Scenario, Section, key, stated
from sciprec.foundation.errors import InputError
from sciprec.report.page import write_page
from sciprec.report.stored.batch import read_batch
from sciprec.results.output import files
from sciprec.workbench.batch.plan import variants_of
from sciprec.workbench.kinds import kinds, load_scenario
from sciprec.workbench.kinds.programs import first_variant
from tests.shell.conftest import put_in

TEXT = """
name = "ring"
title = "Waves on a ring"
source = "Lorenz (1996)"
kind = "lorenz"
backends = ["fp32"]

[lorenz]
sites = 12
steps = 40

[ensemble]
members = 2

[[tolerance]]
variable = "wave"
metric = "relative_l2"
at_most = 1.0e-4
reason = "made up"
"""


class Lorenz(Section):
    sites: int = key("a whole number of sites >= 4", "sites = 40", ge=4)
    steps: int = key("a whole number of steps >= 1", "steps = 100", ge=1)


class LorenzScenario(Scenario):
    kind: Literal["lorenz"] = key('"lorenz"', 'kind = "lorenz"')
    lorenz: Lorenz = key("the table [lorenz]", "[lorenz]")


def step(x, h, forcing, out):
    """Euler's step of dx_i/dt = (x_{i+1} - x_{i-2}) x_{i-1} - x_i + F."""
    n = x.size
    for i in range(n):
        slope = (x[(i + 1) % n] - x[i - 2]) * x[i - 1] - x[i] + forcing
        out[i] = x[i] + h * slope


def run(table, variant, around):
    advance = sciprec.lift(step, variant.backend)
    x = 8.0 + np.sin(np.arange(table.sites, dtype=float))
    if around.member is not None:
        x *= 1.0 + around.member.amplitude * around.member.member
    states = [x.copy()]
    for _ in range(table.steps):
        advance(states[-1], 0.01, 8.0, x)
        states.append(x.copy())
    waves = xr.DataArray(states, dims=("time", "site"), attrs={"units": "m s-1"})
    dataset = xr.Dataset(
        {"mean": waves.mean("site"), "wave": waves, "place": ("site", np.arange(table.sites))},
        coords={"time": 0.01 * np.arange(table.steps + 1)},
    )
    dataset["time"].attrs = {"units": "days since 2000-01-01", "long_name": "time"}
    return dataset.assign_attrs(steps=table.steps, blow_up="")


LORENZ = Kind(
    "lorenz",
    LorenzScenario,
    run,
    attributes=stated(primary="wave", auxiliary="place", drawn="growth lines",
                      rounded="Every operation of a step is rounded{residuals}."),
    variables=lambda table: ("mean", "wave", "place"),
    estimate=lambda table, variant, slowness: Estimate(
        f"{table.steps} steps", table.steps * slowness, 0.1
    ),
    ensembles=True,
)  # fmt: skip


@pytest.fixture
def path(tmp_path, monkeypatch):
    """A scenario's file, its kind being known."""
    put_in(monkeypatch, LORENZ)
    file = tmp_path / "ring.toml"
    file.write_text(TEXT)
    return file


@pytest.mark.slow
def test_a_kind_of_ones_own_goes_from_its_file_to_its_page(path, tmp_path):
    result = sciprec.run(path, out=tmp_path / "out", threads=1)
    assert [(row["label"], row["status"]) for row in result.table] == [
        ("fp64", "truth"), ("fp32", "good"),
    ]  # fmt: skip
    assert {file.name for file in result.files} == {
        "ring__fp64.nc", "ring__fp32.nc", "ring__fp64__m0001.nc", "ring__fp32__m0001.nc",
    }  # fmt: skip
    truth, fp32, member, _ = (files.read(tmp_path / "out" / file.name) for file in result.files)
    assert truth.attrs["sciprec_primary"] == "wave" and fp32.attrs["sciprec_backend"] == "fp32"
    assert not truth["wave"].equals(member["wave"])
    compared = sciprec.compare(truth, fp32)
    assert [row.variable for row in compared.rows] == ["mean", "wave"]
    assert compared.main == "wave" and result.table[1]["variable"] == "wave"
    page = result.page.read_text(encoding="utf-8")
    for said in ("Error of wave against fp64", "wave at the last time", "operation of a step is r"):
        assert said in page


def test_a_kind_that_says_it_has_no_choices_runs_in_its_arithmetics(path, monkeypatch):
    """As kinds of version 0.2 could; they are traced and tuned, too."""
    monkeypatch.setattr(LorenzScenario, "choices", lambda self: ())
    monkeypatch.setattr(LorenzScenario, "stage_choices", lambda self: ())
    scenario = load_scenario(path)
    assert [v.file_part for v in variants_of(scenario, ["fp64", "fp32"])] == ["fp64", "fp32"]
    assert first_variant(scenario, "fp32").file_part == "fp32"


@pytest.mark.parametrize(
    ("length", "told"),
    [
        (lambda table: (0.4, "hour"), "ring in fp32: hour 0.2 of 0.4 ("),
        (lambda table: None, "ring in fp32: at 0.2 ("),
    ],
)
def test_a_kind_of_ones_own_tells_the_shell_how_far_it_is(
    path, tmp_path, monkeypatch, undrawn, length, told
):
    def telling(table, variant, around):
        for time in (0.1, 0.2):
            around.listening(time)
        return run(table, variant, around)

    put_in(monkeypatch, replace(LORENZ, run=telling, length=length))
    shown = []
    monkeypatch.setattr("sciprec.cli.progress.Waiting.show", lambda _, words: shown.append(words))
    with pytest.raises(SystemExit) as ended:
        main(["run", str(path), "--out", str(tmp_path / "out")])
    assert ended.value.code == 0
    assert any(told in words for words in shown)


@pytest.mark.slow
def test_stored_files_are_shown_without_the_code_of_their_kind(path, tmp_path, monkeypatch):
    result = sciprec.run(path, out=tmp_path / "out", threads=1)
    page = result.page.read_bytes()
    monkeypatch.undo()
    assert "lorenz" not in kinds()
    assert write_page(read_batch(tmp_path / "out")).read_bytes() == page
    with pytest.raises(InputError, match="'kind' was given 'lorenz'; accepted: climate, heston"):
        load_scenario(path)
