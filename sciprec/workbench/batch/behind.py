"""Dependencies of a scenario: the code that it names, as a digest, and the initial state."""

from __future__ import annotations

from sciprec.foundation.definitions import digest_of
from sciprec.scenario.loading import Scenario
from sciprec.workbench.kinds import kind_of


def code_behind(scenario: Scenario) -> str:
    """A digest of the registered case, equations, schemes and payoffs that a scenario names, or of
    the model itself where that is a user's.
    """
    kind = kind_of(scenario)
    return digest_of(*((kind.run,) if kind.sources is None else kind.sources(scenario.table)))


def state_behind(scenario: Scenario) -> str:
    """A digest of an initial state that comes from a file or an array; "" where code makes it."""
    return kind_of(scenario).state(scenario.table)
