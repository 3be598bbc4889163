"""Lost updates of paths: every step is seen, faults are named, and what moves is not."""

import json

import numpy as np
import pytest

from sciprec import load_scenario
from sciprec.heston import Model
from sciprec.heston.simulation.block import Simulation
from sciprec.heston.simulation.observing import FOLLOWED, STATES, PathLosses, observed_paths
from sciprec.heston.simulation.paths import Block
from sciprec.results.output.stated import MONITOR
from sciprec.tools.monitor.plan import checked_plan
from sciprec.workbench.kinds import heston_grid
from tests.heston.lost_survey import FAULT, HARMLESS, judged

MODEL = Model(spot=100, v0=0.04, kappa=0.5, theta=0.06, sigma=0.05, rho=-0.5)
STILL = Model(spot=100, v0=0.04, kappa=0.5, theta=0.04, sigma=0.001, rho=-0.5)
EULER, MARTINGALE = "full_truncation_euler", "quadratic_exponential_martingale"


class Followed:
    """Paths that are looked at, and the sums over their steps."""

    def __init__(self, watched, scheme, carried, backend="bf16"):
        self.run = Simulation(
            MODEL, Block(0, 70), step_years=0.01, backend=backend, scheme=scheme, seed=3,
            carried=carried, watched=self.note if watched else None,
        )  # fmt: skip
        self.losses = PathLosses(self.run)
        self.start = self.states()
        self.run.advance(77)

    def note(self, draws, state):
        self.losses.note(draws, state)

    def states(self):
        values, carries = np.array(self.run._arrays[::2]), np.array(self.run._arrays[1::2])
        return values.astype(float) + carries


@pytest.mark.parametrize("carried", [True, False])
@pytest.mark.parametrize("scheme", [EULER, MARTINGALE])
def test_every_step_of_a_path_is_seen_and_none_is_changed(scheme, carried):
    """The change that a state was to have, less the loss, is what it has changed by."""
    plain, looked = (Followed(watched, scheme, carried) for watched in (False, True))
    assert np.array_equal(plain.states(), looked.states())
    totals = [looked.losses.totals(number) for number in range(3)]
    assert all(of.additions == 77 * 70 and of.asked > 0.0 for of in totals)
    sums = looked.losses._sums
    moved = (looked.states() - looked.start).ravel()
    assert np.allclose(sums.d - sums.r, moved, 0.0, 1e-12)
    exact = Followed(True, scheme, carried, "fp64").losses
    assert all(of.lost <= 1e-12 * of.asked for of in map(exact.totals, range(3)))


def test_faults_of_random_models_are_named_and_what_moves_is_not():
    drawn = [judged(np.random.default_rng(seed), 2000, ["bf16"]) for seed in range(7)]
    found = [row for rows, _ in drawn for row in rows]
    kinds = [row[1] for row in found]
    assert kinds.count(FAULT) >= 2 and kinds.count(HARMLESS) >= 10
    assert not [row for row in found if row[1] in (FAULT, HARMLESS) and row[0] != (row[1] == FAULT)]


def observed(model, scheme=EULER, backend="bf16", n_steps=300, alerts=None, **more):
    plan = checked_plan(STATES, every=100, alerts=alerts)
    how = {"n_paths": 1000, "seed": 3, "backend": backend, "scheme": scheme, "n_steps": n_steps}
    return observed_paths(model, 1.0, plan, **how, **more)


def test_a_variance_that_stands_still_is_named_though_its_increments_have_either_sign():
    """Its increments are a random walk's, whose sum is small beside that of their sizes."""
    done = observed(STILL, carried=False)
    _, variance, _ = done.sums
    assert variance.net < 0.1 and variance.lost == 1.0 and variance.zeroed == 1.0
    (alert,) = [str(alert) for alert in done.alerts if alert.variable == "variance"]
    assert f"all {300 * FOLLOWED:,} increments of variance are below half a unit" in alert
    assert alert.endswith("bf16 keeps 8 bits; a carry gives 16")
    carried = observed(STILL).sums[1]
    assert carried.lost < 0.1 and carried.carries
    assert not observed(STILL, carried=False, alerts={"lost": False}).sums


SCENARIO = """
name = "calm"
title = "A calm variance"
source = "made up"
kind = "heston"
backends = ["bf16"]
compensation = ["none"]

[heston.model]
spot = 100.0
v0 = 0.04
kappa = 0.5
theta = 0.04
sigma = 0.001
rho = -0.5

[heston.payoffs]
kind = "call"
strikes = [100.0]
maturities_years = [0.1, 1.0]

[heston.simulation]
{simulation}
scheme = "full_truncation_euler"

[monitor]
watch = ["{watch}"]
every = 100
"""


def test_a_scenario_tells_them_while_it_runs_and_on_its_page(tmp_path, call, blank_figures):
    file, out = tmp_path / "calm.toml", tmp_path / "out"
    table = "n_paths = 500\nsteps_per_year = 300"
    file.write_text(SCENARIO.format(simulation=table, watch="variance"))
    code, _, err = call("run", file, "--out", out)
    alert = "all 19,200 increments of variance are below half a unit"
    assert code == 0 and f"ALERT: variance: {alert}" in err
    page = (out / "index.html").read_text("utf-8")
    assert "integrated_variance" not in page and alert in page
    states = json.loads(call("monitor", out, "--once", "--json")[1])
    (run,) = [run for run in states["runs"] if run["alerts"]]
    assert run["step"] == 300 and alert in run["alerts"][0]
    file.write_text(SCENARIO.format(simulation=table, watch="spot"))
    code, _, err = call("run", file, "--out", out)
    assert code == 2 and "known: log_spot, variance, integrated_variance; did you mean" in err


def test_prices_with_a_bound_are_looked_at_with_the_integral_that_they_read(tmp_path):
    file = tmp_path / "calm.toml"
    file.write_text(SCENARIO.format(simulation='tolerance = "20%"', watch="log_spot"))
    given = load_scenario(file).table
    dataset = heston_grid.run(given, "bf16", "none", monitor=checked_plan("log_spot"))
    sums = json.loads(dataset.attrs[MONITOR])["sums"]
    assert [one["name"] for one in sums] == list(STATES)
    steps, rest = divmod(sums[0]["additions"], FOLLOWED)
    assert steps > 1 and not rest and f'"n_steps": {steps}' in dataset.attrs["levels"]
