"""Kinds of scenario, one module each, and the scenarios that files hold."""

from sciprec.workbench.kinds import asked_price, climate, heston
from sciprec.workbench.kinds.files import (
    examined,
    load_scenario,
    load_scenarios,
    parse_scenario,
    parse_scenarios,
)
from sciprec.workbench.kinds.kind import (
    Estimate,
    Kind,
    Member,
    Surroundings,
    kind_of,
    kinds,
    register,
)

for _kind in (climate.CLIMATE, heston.HESTON, asked_price.ASKED_PRICE):
    register(_kind)

__all__ = [
    "Estimate", "Kind", "Member", "Surroundings", "examined", "kind_of", "kinds", "load_scenario",
    "load_scenarios", "parse_scenario", "parse_scenarios", "register",
]  # fmt: skip
