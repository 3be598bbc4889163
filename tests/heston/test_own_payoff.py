"""The payoff and the path scheme of docs/how_to/add_payoff.md, from outside the package."""

import json
from dataclasses import dataclass

import numpy as np
import pytest

from sciprec import heston
from sciprec.cli import commands as cli
from sciprec.cli.console import GOOD, USAGE
from sciprec.foundation.errors import InputError
from sciprec.heston.bounds.rare import Rare
from sciprec.heston.semianalytic import analytic
from sciprec.heston.simulation import paths
from tests.extending import loading

MODEL = heston.Model(
    spot=100, v0=0.04, kappa=1.5, theta=0.04, sigma=0.5, rho=-0.7, rate=0.02, dividend_yield=0.01
)


def gap_price(model, strike, trigger, maturity):
    """A call struck at the trigger, and trigger - strike of cash."""
    cash = analytic.digital_prices(model, trigger, maturity)
    return float(analytic.call_prices(model, trigger, maturity) + (trigger - strike) * cash)


@pytest.fixture
def load(tmp_path):
    """Loads blocks of the page."""
    with loading(tmp_path) as load:
        yield load


@pytest.fixture
def gap_call(load):
    """The class, registered during a test."""
    return load("payoff").GapCall


def test_a_class_is_enough_for_a_price_and_greeks_with_bounds(gap_call):
    option = gap_call(strike=95, maturity=0.5, trigger=105)
    assert option.name == "gap-call" and not analytic.has_price(option)
    truth = gap_price(MODEL, 95, 105, 0.5)
    for backend in ("fp64", "mlu370"):
        result = heston.price(MODEL, option, backend=backend, tolerance=0.03, seed=4)
        assert result.met and abs(result.price - truth) <= result.bound
    found = heston.greeks(MODEL, option, backend="fp64", tolerance=0.5, seed=4, max_paths=2**17)
    up, down = (
        gap_price(heston.Model(**{**vars(MODEL), "spot": spot}), 95, 105, 0.5)
        for spot in (100.01, 99.99)
    )
    assert abs(found["delta"].value - (up - down) / 0.02) <= found["delta"].bound
    with pytest.raises(InputError, match="payoff 'gap-call' has no semi-analytic price; accepted"):
        analytic.price(MODEL, option)


def test_its_own_parameter_has_a_range_and_has_to_be_given(gap_call):
    with pytest.raises(InputError, match="trigger is 0.5; accepted: a price from 1 to 1e6"):
        gap_call(strike=95, maturity=1, trigger=0.5)
    with pytest.raises(InputError, match="was given strike, maturity; accepted: .*, trigger"):
        heston.payoff_named("gap-call")(strike=95, maturity=1)


def test_what_is_no_payoff_is_refused():
    class Plain(heston.European):
        strike: float
        maturity: float

    for cls in (Plain, dataclass(type("Undated", (heston.Payoff,), {}))):
        with pytest.raises(InputError, match=f"payoff 'own' is given the class {cls.__name__}; ac"):
            heston.payoff("own")(cls)


def test_a_path_scheme_is_a_function(load):
    """Euler's scheme, absorbed at zero, against the semi-analytic price in two arithmetics."""
    load("path scheme")
    option = heston.Call(strike=100, maturity=0.5)
    for backend in ("fp64", "mlu370"):
        given = {"backend": backend, "scheme": "absorbed_euler", "seed": 5}
        found = paths.estimate(MODEL, option, n_paths=2**14, n_steps=64, **given)
        assert abs(found.martingale - 1) < 4 * found.martingale_standard_error
    result = heston.price(MODEL, option, tolerance=0.05, max_paths=2**18, **given)
    assert abs(result.price - analytic.price(MODEL, option)) <= result.bound


@dataclass(frozen=True, kw_only=True)
class Jackpot(heston.European):
    """A payment far beyond the spot, on few paths."""

    maturity: float
    level: float
    prize: float

    def at_maturity(self, spot):
        return np.where(np.asarray(spot) > self.level, self.prize, 0.0)


@pytest.mark.parametrize("level", [150.0, 170.0])
def test_a_payoff_that_pays_more_than_the_spot_moves_is_within_its_bound(level):
    """Unseen payments had counted as much as the spot's deviation, whatever was paid."""
    option = Jackpot(maturity=0.5, level=level, prize=1e6)
    truth = 1e6 * analytic.digital_prices(MODEL, level, 0.5)
    call = heston.Call(strike=100, maturity=0.5)
    scales = Rare(MODEL, (option, call), 0.05).scale
    assert scales.tolist() == [pytest.approx(1e6 * MODEL.discount(0.5)), call.payment_scale(MODEL)]
    results = [
        heston.price(MODEL, option, backend="fp64", tolerance=0.1, max_paths=2**17, seed=seed,
                     variance_reduction="none")
        for seed in range(2)
    ]  # fmt: skip
    assert all(abs(result.price - truth) <= result.bound for result in results)
    assert max(result.bound for result in results) < 1e3


def test_the_command_line_prices_it_with_its_own_parameter(gap_call, capsys):
    model = [f"--{name.replace('_', '-')}={value}" for name, value in vars(MODEL).items()]
    option = ["--payoff", "gap-call", "--strike", "95", "--maturity", "0.5", "--tolerance", "5%"]
    cases = {
        (): "payoff 'gap-call' needs --parameter trigger=; it takes --strike, --maturity",
        ("--parameter", "trigger"): "--parameter is given 'trigger'; it takes a name and a number",
        ("--parameter", "strike=90"): "'strike=90'; write it as the option --strike",
        ("--parameter", "triger=1"): "does not take --parameter triger=; it takes --strike",
    }
    for given, words in cases.items():
        with pytest.raises(SystemExit, match=str(USAGE)):
            cli.main(["price", *model, *option, *given])
        assert words in capsys.readouterr().err
    given = ["--parameter", "trigger=105", "--backend", "fp64", "--json"]
    with pytest.raises(SystemExit, match=str(GOOD)):
        cli.main(["price", *model, *option, *given])
    (row,) = json.loads(capsys.readouterr().out)["prices"]
    error = abs(row["price"] - gap_price(MODEL, 95, 105, 0.5))
    assert row["trigger"] == 105 and error <= row["bound"]
