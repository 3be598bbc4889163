"""`sciprec price --greeks`: derivatives with bounds, against semi-analytic ones."""

import json
from pathlib import Path

from sciprec.cli.exit_codes import GOOD
from sciprec.cli.pricing.price_request import asked_grid, read_model
from sciprec.heston.semianalytic import analytic
from sciprec.scenario.asked_price import asked_payoffs

LEWIS = Path(__file__).parents[2] / "data" / "heston" / "lewis.toml"
CALL = ("price", "--model", LEWIS, "--payoff", "call", "--strike", "100", "--maturity", "1")


def test_greeks_have_bounds_that_hold_against_semi_analytic_ones(call):
    code, out, _ = call(*CALL, "--greeks", "--greeks-tolerance", "5%", "--json")
    content = json.loads(out)["greeks"]
    assert code == GOOD
    rows = {row["greek"]: row for row in content["rows"]}
    (option,) = asked_payoffs(asked_grid("call", [100.0], [1.0]))
    exact = analytic.greeks(read_model(LEWIS, {})[0], option)
    assert set(rows) == {"price", *exact}
    for name, value in exact.items():
        assert rows[name]["analytic"] == value
        assert abs(rows[name]["value"] - value) <= rows[name]["bound"] <= rows[name]["tolerance"]
    code, out, _ = call(*CALL, "--greeks", "--greeks-tolerance", "5%")
    heads = [line.split() for line in out.splitlines() if line.startswith("greek ")]
    assert (code, heads[0][:4]) == (GOOD, ["greek", "value", "±", "bound"])
    assert len([line for line in out.splitlines() if line.split()[:1] == ["delta"]]) == 1
