"""The reference cases of data/heston/europeans.json."""

import json
from pathlib import Path

import pytest

from sciprec.heston.model import Model

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
