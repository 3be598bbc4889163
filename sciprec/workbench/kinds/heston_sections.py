"""The table [heston] of a scenario."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated

from pydantic import BeforeValidator, ConfigDict, Field, field_validator, model_validator

from sciprec.facets.tables import JsonNumber, Registered, Section, as_tuple, key, limited
from sciprec.foundation.errors import meant
from sciprec.foundation.limits import FIXINGS, PATHS, PAYOFF
from sciprec.scenario.asked_price import ACCEPTED, HestonModel, price_tolerance

MOST_PATH_STEPS = 1_000_000


_Strike = Annotated[float, Field(**PAYOFF["strike"].limits())]
_Maturity = Annotated[float, Field(**PAYOFF["maturity"].limits())]
EUROPEAN = ("call", "put")


def _payoffs() -> Collection[str]:
    from sciprec.heston.payoff_registry import payoffs

    return sorted(payoffs())


def _schemes() -> Collection[str]:
    from sciprec.heston.schemes.catalogue import schemes

    return sorted(schemes())


class HestonPayoffs(Section):
    """A grid of options: one payoff at every strike and maturity."""

    kind: Annotated[str, Registered("payoff", _payoffs)] = key(
        "the name of a registered payoff that has a strike", 'kind = "call"'
    )
    strikes: Annotated[tuple[_Strike, ...], BeforeValidator(as_tuple)] = key(
        "an array of prices > 0, at most 1e12", "strikes = [90.0, 100.0]", unit="currency",
        min_length=1,
    )
    maturities_years: Annotated[tuple[_Maturity, ...], BeforeValidator(as_tuple)] = key(
        "an array of years > 0, at most 100", "maturities_years = [0.5, 1.0]", unit="years",
        min_length=1,
    )
    fixings: int | None = Field(
        default=None, ge=FIXINGS[0], le=FIXINGS[1], examples=["fixings = 5"],
        description="a whole number from 1 to 1e6: of Asians, lookbacks and barriers",
    )  # fmt: skip
    barrier: float | None = limited(PAYOFF["barrier"], "barrier = 90.0", default=None)
    parameters: dict[str, JsonNumber] | None = Field(
        default=None, examples=["parameters = { power = 2.0 }"],
        description="a table of numbers: the payoff's other parameters by name",
    )  # fmt: skip

    @field_validator("strikes", "maturities_years")
    @classmethod
    def _increasing(cls, values: tuple[float, ...]) -> tuple[float, ...]:
        if any(b <= a for a, b in zip(values, values[1:], strict=False)):
            raise ValueError("the numbers must be increasing")
        return values


class HestonSimulation(Section):
    """The drawing of paths: as many as a tolerance needs, or a fixed number."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [{"required": ["n_paths", "steps_per_year"]}, {"required": ["tolerance"]}]
        }
    )
    scheme: Annotated[str, Registered("scheme", _schemes)] = Field(
        default="quadratic_exponential_martingale",
        description="the name of a registered path scheme",
        examples=['scheme = "quadratic_exponential_martingale"'],
    )
    tolerance: str | None = Field(
        default=None, description=f"a text: {ACCEPTED}", examples=['tolerance = "0.1%"']
    )
    confidence: float | None = Field(
        default=None, gt=0, lt=1, examples=["confidence = 0.95"],
        description="a probability above 0 and below 1; needs 'tolerance'; left out, 0.95",
    )  # fmt: skip
    max_paths: int | None = Field(
        default=None, ge=PATHS[0], le=PATHS[1], examples=["max_paths = 16777216"],
        description="a whole number of paths from 65536 to 1e11; needs 'tolerance'",
    )  # fmt: skip
    n_paths: int | None = Field(
        default=None, ge=2, le=10**9, examples=["n_paths = 65536"],
        description="a whole number of paths from 2 to 1e9; more of them give less noise",
    )  # fmt: skip
    steps_per_year: int | None = Field(
        default=None, ge=1, le=10**5, examples=["steps_per_year = 32"],
        description="a whole number from 1 to 100000; more of them err less",
    )  # fmt: skip
    seed: int = Field(
        default=0, ge=0, lt=2**63, examples=["seed = 1"],
        description="a whole number >= 0, which draws the paths",
    )
    block_paths: int = Field(
        default=4096, ge=1, le=10**7, examples=["block_paths = 4096"],
        description="a whole number of paths simulated together, from 1 to 1e7; changes no result",
    )  # fmt: skip

    @field_validator("tolerance")
    @classmethod
    def _readable(cls, text: str | None) -> str | None:
        if text is not None:
            price_tolerance(text)
        return text

    @model_validator(mode="after")
    def _one_of_two_forms(self) -> HestonSimulation:
        fixed, table = (self.n_paths, self.steps_per_year), "table [heston.simulation]"
        accepted = "accepted: 'tolerance' alone, or both 'n_paths' and 'steps_per_year'"
        if self.tolerance is None and None in fixed:
            raise ValueError(f"{table} says neither how many paths nor how exact; {accepted}")
        if self.tolerance is not None and fixed != (None, None):
            raise ValueError(f"{table} has a tolerance and a number of paths or steps; {accepted}")
        if self.tolerance is None and (self.confidence, self.max_paths) != (None, None):
            raise ValueError(f"{table} has 'confidence' or 'max_paths' without 'tolerance'")
        return self


class HestonRun(Section):
    """One Monte Carlo pricing of a grid of options."""

    model: HestonModel = key("the table [heston.model]", "[heston.model]")
    payoffs: HestonPayoffs = key("the table [heston.payoffs]", "[heston.payoffs]")
    simulation: HestonSimulation = key("the table [heston.simulation]", "[heston.simulation]")

    @model_validator(mode="after")
    def _steps_are_reasonable(self) -> HestonRun:
        steps = self.payoffs.maturities_years[-1] * (self.simulation.steps_per_year or 0)
        if steps > MOST_PATH_STEPS:
            raise ValueError(
                f"table [heston] asks for {steps:.0f} steps per path; accepted: at most "
                f"{MOST_PATH_STEPS}; give fewer 'steps_per_year' or shorter 'maturities_years'"
            )
        return self

    @model_validator(mode="after")
    def _along_the_path_with_a_bound(self) -> HestonRun:
        if self.simulation.tolerance is None and self.payoffs.kind not in EUROPEAN:
            raise ValueError(
                f"table [heston] has payoffs of kind '{self.payoffs.kind}' and a number of paths; "
                f"accepted with 'n_paths': {', '.join(EUROPEAN)}"
                f"{meant(self.payoffs.kind, EUROPEAN) or '; give tolerance instead'}"
            )
        return self
