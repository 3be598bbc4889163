"""What is behind a scenario: the code that it names, as a digest, and the initial state."""

from __future__ import annotations

from typing import Any

from sciprec.definitions import digest_of
from sciprec.scenario import Scenario


def code_behind(scenario: Scenario) -> str:
    """A digest of the registered case, equations, schemes and payoffs that a scenario names."""
    given = getattr(scenario, scenario.kind)
    if scenario.kind == "climate":
        from sciprec.climate import identity

        return identity.code_behind(_request(given))
    if scenario.kind == "heston":
        from sciprec.heston.payoffs import payoff_named
        from sciprec.heston.schemes import scheme_named

        return digest_of(payoff_named(given.payoffs.kind), scheme_named(given.simulation.scheme))
    return ""


def state_behind(scenario: Scenario) -> str:
    """A digest of the initial state of a climate whose case is a user's; else nothing."""
    if scenario.kind != "climate":
        return ""
    from sciprec.climate import identity

    return identity.state_behind(_request(scenario.climate))


def _request(given: Any) -> Any:
    """The checked request of a table [climate]."""
    from sciprec.climate.request import check_request

    return check_request(**given.model_dump(exclude={"checkpoints"}))
