"""Files of every kind of scenario follow the CF conventions, to an independent checker."""

import subprocess
import sysconfig
from dataclasses import replace
from pathlib import Path

import pytest

from sciprec.results.comparison.pointwise.pairing import compared_names
from sciprec.results.output import netcdf
from sciprec.workbench.batch.checking import compared_variables
from sciprec.workbench.batch.perform import perform
from sciprec.workbench.batch.plan import plan
from sciprec.workbench.kinds import kinds, parse_scenario
from tests.random_scenarios.stand_ins import made_up_flow
from tests.shell.conftest import put_in

CHECKER = Path(sysconfig.get_path("scripts")) / "compliance-checker"
COMMON = {"title": "A small run", "source": "nobody (2000), case 1", "backends": ["fp32"]}
MODEL = {
    "spot": 100.0, "v0": 0.04, "kappa": 4.0, "theta": 0.25, "sigma": 1.0, "rho": -0.5,
    "rate": 0.01, "dividend_yield": 0.02,
}  # fmt: skip
CALLS = {"kind": "call", "strikes": [90.0, 110.0], "maturities_years": [0.25, 0.5]}
PATHS = {"n_paths": 1024, "steps_per_year": 4}
SMALL = {
    "shallow_water": {"kind": "climate", "compensation": ["carry"], "climate": {
        "case": "williamson_5", "truncation": 21, "days": 0.25, "output_hours": 3.0}},
    "primitive_equations": {"kind": "climate", "backends": ["fp64"], "climate": {
        "case": "held_suarez", "truncation": 21, "days": 0.125, "output_hours": 3.0,
        "parameters": {"levels": 5}}},
    "zonal_means": {"kind": "climate", "backends": ["fp64"], "climate": {
        "case": "williamson_5", "truncation": 21, "days": 0.125, "output_hours": 3.0,
        "variables": ["zonal_mean_u", "kinetic_energy_spectrum"]}},
    "accumulation": {"kind": "accumulation", "backends": ["fixed32", "fp16"], "accumulation": {
        "smallest": 1e-7, "largest": 1e-5, "updates": 1000, "outputs": 4, "members": 3}},
    "prices": {"kind": "heston", "heston": {
        "model": MODEL, "payoffs": CALLS, "simulation": PATHS}},
    "bounded_prices": {"kind": "heston", "heston": {
        "model": MODEL, "payoffs": CALLS, "simulation": {"tolerance": "5%"}}},
}  # fmt: skip


@pytest.mark.slow
def test_files_have_no_finding_but_what_is_planted(tmp_path, monkeypatch):
    """Of flows whose fields are made up."""
    put_in(monkeypatch, replace(kinds()["climate"], run=made_up_flow))
    for kind, given in SMALL.items():
        scenario = parse_scenario({"name": kind, **COMMON, **given})
        for run in plan([scenario]):
            assert not perform(run, str(tmp_path)).failure
        files = sorted(tmp_path.glob(f"{kind}__*.nc"))
        assert len(files) == len(plan([scenario]))
        assert {*compared_names(netcdf.read(files[0]))} == {*compared_variables(scenario)}
    wrong = netcdf.read(tmp_path / "prices__fp64.nc")
    wrong["price"].attrs["units"] = "shells per moon"  # the checker finds what is wrong
    netcdf.write(wrong, tmp_path / "wrong.nc")
    (found,) = findings(*sorted(tmp_path.glob("*.nc")))
    assert "shells per moon" in found


def findings(*files):
    """The complaints of the checker; one thing it complains about is what CF 7.1 asks for."""
    command = [CHECKER, "--test=cf:1.11", "--criteria=strict", *files]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.stdout.count("IOOS Compliance Checker Report") == len(files), done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("* ")]
    assert bool(lines) == (done.returncode != 0)
    bounds_of_formulas = "'sigma_bnds' has attr 'formula_terms' with value 'sigma: sigma_bnds"
    return [line for line in lines if bounds_of_formulas not in line]
