"""Small stand-ins for the models, so that the shell is tested without computing anything."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
import textwrap
import time
from collections import UserDict
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from sciprec.climate.running.perturbation import Perturbation
from sciprec.foundation.errors import InputError
from sciprec.foundation.timing import Timing
from sciprec.precision.formats.backend import resolve_backend
from sciprec.report.stored.batch import read_batch
from sciprec.results.output.dataset import prices_dataset, timing_attributes, trajectory_dataset
from sciprec.workbench.batch import perform, workflow
from sciprec.workbench.kinds import kind, kinds
from sciprec.workbench.kinds.climate import ClimateRun

SHIPPED = sorted((Path(__file__).parents[2] / "scenarios").glob("*.toml"))
CLIMATE = """
name = "little_climate"
title = "A little flow"
source = "nobody (2000), case 1"
kind = "climate"
backends = ["fp32", "fp16"]

[climate]
case = "williamson_5"
truncation = 21
days = 3.0

[[tolerance]]
variable = "height"
metric = "relative_l2"
at_most = 1.0e-4
reason = "made up"
"""

HESTON = """
name = "little_heston"
title = "A little smile"
source = "nobody (2000), table 1"
kind = "heston"
backends = ["fp32", "fp16"]
compensation = ["none"]

[heston.model]
spot = 100.0
v0 = 0.04
kappa = 1.5
theta = 0.04
sigma = 0.5
rho = -0.7
rate = 0.02

[heston.payoffs]
kind = "call"
strikes = [90.0, 100.0, 110.0]
maturities_years = [0.5, 1.0]

[heston.simulation]
n_paths = 1024
steps_per_year = 4

[[tolerance]]
variable = "price"
metric = "standard_errors"
at_most = 0.5
reason = "half the sampling error"
"""

BOUNDED = """
name = "little_surface"
title = "A little surface"
source = "nobody (2000), table 1"
kind = "heston"
backends = ["mlu370", "bf16"]

[heston.model]
spot = 100.0
v0 = 0.04
kappa = 4.0
theta = 0.25
sigma = 1.0
rho = -0.5
rate = 0.01
dividend_yield = 0.02

[heston.payoffs]
kind = "call"
strikes = [90.0, 110.0]
maturities_years = [0.5, 1.0]

[heston.simulation]
tolerance = "2%"
seed = 1

[[tolerance]]
variable = "relative_rounding"
metric = "max_abs"
at_most = 1.0e-3
reason = "made up"
"""

KERNEL = """
import numpy as np

def kernel(x, out):
    s, t = 0.0, np.empty(1)
    for i in range(x.size):
        s += x[i] * x[i]
        t[0] = s / 3.0
        out[i] = t[0]

def given():
    return {"x": np.linspace(0.1, 1.0, 20), "out": np.zeros(20)}

def others():
    return {"x": np.linspace(0.2, 2.0, 20), "out": np.zeros(20)}
"""
"""The file of a kernel: what one test has compiled, others find."""

SUM = {
    "name": "little_sum", "title": "A little sum", "source": "nobody (2000), case 2",
    "kind": "accumulation", "backends": ["fp32", "mlu370"],
    "accumulation": {"updates": 20_000, "members": 8, "smallest": 1e-7, "largest": 1e-5},
}  # fmt: skip


def little_trajectory(unit_roundoff=0.0, *, nlat=8, nlon=16, times=4, blow_up=None):
    """A made-up trajectory whose error grows from a unit roundoff."""
    lat, lon = np.linspace(-80.0, 80.0, nlat), np.arange(nlon) * 360.0 / nlon
    days = np.arange(times, dtype=float)
    wave = np.sin(np.radians(lon))[None, None, :] * np.cos(np.radians(lat))[None, :, None]
    growth = unit_roundoff * 10.0 ** days[:, None, None]
    height = 5000.0 + 100.0 * wave * np.cos(days)[:, None, None] * (1.0 + growth * wave)
    fields = {"height": height, "u": 20.0 * wave * np.ones_like(height) * (1.0 + growth)}
    budgets = {"mass": height.mean(axis=(1, 2))}
    return SimpleNamespace(
        time_days=days, lat=lat, lon=lon, fields=fields, budgets=budgets,
        step_seconds=600.0, steps=432, blow_up=blow_up, timing=Timing(0.5, 0.45, 0.6),
        fixed_point=None, units={}, vertical={}, radius_m=6.37122e6,
    )  # fmt: skip


def unit_roundoff(backend):
    """0 for the truth, else the format's own."""
    return 0.0 if backend == "fp64" else resolve_backend(backend).compute.format.unit_roundoff


def little_climate(given, backend, compensation=None):
    """Stands for the climate model."""
    return trajectory_dataset(little_trajectory(unit_roundoff(backend)))


def little_heston(given, backend, compensation=None):
    """Stands for the option pricer."""
    strikes, maturities = given.payoffs.strikes, given.payoffs.maturities_years
    analytic = np.maximum(100.0 - np.asarray(strikes), 0.0)[None, :] + np.ones((len(maturities), 1))
    price = (analytic + 0.01) * (1.0 + 2.0 * unit_roundoff(backend))
    values = {"price": price, "standard_error": 0.05 + 0 * price, "analytic_price": analytic}
    return prices_dataset(strikes, maturities, values, n_paths=1024, blow_up="",
                          **timing_attributes(Timing(0.25, 0.2, 0.3)))  # fmt: skip


@pytest.fixture
def models(monkeypatch):
    """The models of kinds with both stand-ins in place; a test may put in another."""
    return stand_in(monkeypatch)


@pytest.fixture
def scenario_files(tmp_path):
    """Paths of a climate and a Heston scenario."""
    return write_scenarios(tmp_path / "scenarios")


@pytest.fixture
def undrawn(monkeypatch):
    """Pages are not drawn, which takes longest; other tests look at them."""
    monkeypatch.setattr("sciprec.report.page.write_page", lambda batch: batch.folder / "index.html")


@pytest.fixture(scope="session")
def little_batch(tmp_path_factory):
    """The batch of both stand-ins, made once for tests that only read it."""
    folder = tmp_path_factory.mktemp("little")
    with pytest.MonkeyPatch.context() as patch:
        stand_in(patch)
        return workflow.run(write_scenarios(folder / "scenarios"), out=folder / "out")


@pytest.fixture(scope="session")
def stored_batch(little_batch):
    """The batch as pages read it."""
    return read_batch(little_batch.folder)


@pytest.fixture
def own_batch(little_batch, tmp_path):
    """A copy of that batch, for tests that change it."""
    folder = Path(shutil.copytree(little_batch.folder, tmp_path / "out"))
    files = tuple(folder / file.name for file in little_batch.files)
    return replace(little_batch, folder=folder, page=folder / little_batch.page.name, files=files)


def stand_in(patch: pytest.MonkeyPatch) -> Models:
    """Put the stand-ins into the registry of kinds."""
    patch.setattr(perform, "remember", lambda run: None)  # nothing is compiled
    models = Models(patch)
    models.update(climate=little_climate, heston=little_heston)
    return models


@contextlib.contextmanager
def dask_cluster(folder: Path, host: str = "127.0.0.1", preload: str = ""):
    """A scheduler and a worker, which loads a text first: the address and both processes."""
    told, loaded, started = folder / "scheduler.json", folder / "preload.py", []
    loaded.write_text(textwrap.dedent(preload))

    def start(verb, *options):
        command = [sys.executable, "-m", "dask", verb, *map(str, options), "--host", host]
        nowhere = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        started.append(subprocess.Popen([*command, "--no-dashboard"], **nowhere))

    try:
        start("scheduler", "--port", "0", "--scheduler-file", told)
        end = time.monotonic() + 120
        while not (address := _address_in(told)):
            assert time.monotonic() < end, "it takes too long"
            time.sleep(0.05)
        start("worker", address, "--nthreads", "1", "--no-nanny", "--preload", loaded)
        yield address, started
    finally:
        for process in started:
            process.kill()
            process.wait(timeout=30)


def _address_in(file: Path) -> str | None:
    try:
        return json.loads(file.read_text())["address"]
    except (OSError, ValueError):  # not there, or half written
        return None


class Models(UserDict):
    """Models in place of those of registered kinds, by name of the kind, put back by a patch."""

    def __init__(self, patch: pytest.MonkeyPatch | None = None):
        self.patch = patch
        super().__init__()

    def __setitem__(self, name, model):
        """Let a model stand in: a function of table, backend, compensation, and of stages and
        perturbation where there are such.
        """
        put_in(self.patch, replace(kinds()[name], run=partial(_told, model)))
        super().__setitem__(name, model)


def put_in(patch: pytest.MonkeyPatch | None, changed) -> None:
    """Register a kind in place of the one of its name; a patch puts that back. No process compiles
    the kernels of its runs ahead of them: it would compile those of the usual ones.
    """
    changed = replace(changed, brief=None)
    if patch is None:
        kind._KINDS[changed.name] = changed
    else:
        patch.setitem(kind._KINDS, changed.name, changed)


def _told(model, table, variant, around):
    """The arguments of a stand-in of a variant and its surroundings."""
    further = {}
    if (stages := variant.stages.resolved()) is not None:
        further["stages"] = stages
    if around.member is not None and isinstance(table, ClimateRun):
        further["perturbation"] = Perturbation(*vars(around.member).values())
    return model(table, variant.backend, variant.compensation.resolved(), **further)


def write_scenarios(folder: Path) -> list[Path]:
    """The files of a climate and a Heston scenario."""
    folder.mkdir()
    paths = []
    for name, text in (("climate", CLIMATE), ("heston", HESTON)):
        paths.append(folder / f"{name}.toml")
        paths[-1].write_text(textwrap.dedent(text), encoding="utf-8")
    return paths


class Reached(InputError):
    """Stands for the computation."""


def stop(*_, **__):
    raise Reached("the computation")


@pytest.fixture
def nothing_is_computed(monkeypatch, tmp_path):
    """Every door ends where its computation would begin; paths are in an empty folder."""
    monkeypatch.setattr("sciprec.climate.running.integration.Integration.__init__", stop)
    monkeypatch.setattr("sciprec.heston.bounds.pricing.run", stop)
    monkeypatch.setattr("sciprec.heston.sensitivities.greek_pricing.run_greeks", stop)
    monkeypatch.setattr("sciprec.workbench.batch.workflow.execute", stop)
    monkeypatch.chdir(tmp_path)
