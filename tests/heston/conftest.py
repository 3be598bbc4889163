"""The reference cases of data/heston."""

import json
from pathlib import Path

import pytest

from sciprec.heston.parameters import Model
from sciprec.heston.payoff_registry import payoff_named

REFERENCES = Path(__file__).parents[2] / "data" / "heston" / "europeans.json"
PARAMETERS = ("spot", "v0", "kappa", "theta", "sigma", "rho", "rate", "dividend_yield")


@pytest.fixture(scope="session")
def references():
    """Return {name: (model, strike, maturity, call)} of every reference case."""
    cases = json.loads(REFERENCES.read_text())["cases"]
    return {
        case["name"]: (
            Model(**{name: case[name] for name in PARAMETERS}),
            case["strike"],
            case["maturity_years"],
            float(case["call"]),
        )
        for case in cases
    }


@pytest.fixture(scope="session")
def path_references():
    """Return {name: (model, payoff, price, error)} of data/heston/asians_and_barriers.json."""
    cases = json.loads((REFERENCES.parent / "asians_and_barriers.json").read_text())["cases"]
    found = {}
    for case in cases:
        entry = payoff_named(case["payoff"])
        given = {key: case[key] for key in ("strike", "barrier", "fixings") if key in case}
        payoff = entry(maturity=case["maturity_years"], **given)
        model = Model(**{name: case[name] for name in PARAMETERS})
        found[case["name"]] = (model, payoff, case["price"], case["error"])
    return found
