"""Ranges of numbers that users give, the same in Python, in scenarios and on the command line."""

from __future__ import annotations

from sciprec.foundation.arguments import Range
from sciprec.foundation.errors import InputError

_PRICE = Range("a price > 0, at most 1e12", above=0, most=1e12, unit="currency")
_YEARS = Range("years > 0, at most 100", above=0, most=100, unit="years")
_RATE = "per year, continuously compounded, from -10 to 10"
HESTON_MODEL: dict[str, Range] = {
    "spot": _PRICE,
    "v0": Range("an initial variance from 0 to 100", least=0, most=100, unit="1/year"),
    "kappa": Range(
        "a rate of mean reversion > 0 per year, at most 1000", above=0, most=1000, unit="1/year"
    ),
    "theta": Range("a long-run variance > 0, at most 100", above=0, most=100, unit="1/year"),
    "sigma": Range(
        "a volatility of variance > 0, at most 100", above=0, most=100, unit="1/year"
    ),
    "rho": Range("a correlation in [-1, 1]", least=-1, most=1),
    "rate": Range(
        f"an interest rate {_RATE}", least=-10, most=10, unit="1/year", shares=True
    ),
    "dividend_yield": Range(
        f"a dividend yield {_RATE}", least=-10, most=10, unit="1/year", shares=True
    ),
}
PAYOFF: dict[str, Range] = {
    "strike": _PRICE,
    "barrier": _PRICE,
    "maturity": _YEARS,
    "start": _YEARS,
    "moneyness": Range("a share > 0 of the spot, at most 1e12", above=0, most=1e12, shares=True),
}
FIXINGS = (1, 10**6)
"""Fewest and most dates of Asians, lookbacks and barriers."""
PATHS = (2**16, 10**11)
"""Fewest and most simulated paths of a price with a bound."""
THREADS = (1, 4096)
CONFIDENCE = Range(
    "a probability above 0 and below 1, such as 0.95 or '95%'", above=0, most=1 - 2**-53,
    shares=True,
)
CLIMATE: dict[str, Range] = {
    "days": Range("a number of days > 0, from 0.001 to 1000000", least=0.001, most=1_000_000,
                  unit="days"),  # fmt: skip
    "step_seconds": Range(
        "a time step in seconds, from 1 to 86400", least=1, most=86_400, unit="seconds"
    ),
    "output_hours": Range(
        "hours from one stored state to the next, from 0.01 to 24000000",
        least=0.01, most=24_000_000, unit="hours",  # fmt: skip
    ),
}
PERTURBATION = Range("a number above 0, at most 0.1, such as 1.0e-14", above=0, most=0.1)
PARAMETER = Range("a finite number")
MOST_STORED_STATES = 10_000
OUTPUT_TYPES = ("float64", "float32")
"""Types of the numbers of stored fields, the usual one first."""
MOST_SAMPLED_STEPS = 1_000_000
"""Most steps from one state that statistics look at to the next."""


def require_few_states(days: float, output_hours: float) -> None:
    """Refuse a run that would store more states than memory holds.

    Raises:
        InputError: it would.
    """
    states = days * 24 / output_hours
    if states > MOST_STORED_STATES:
        raise InputError(
            f"days = {days:g} with output_hours = {output_hours:g} asks for {states:.0f} stored "
            f"states; accepted: at most {MOST_STORED_STATES}; give a larger 'output_hours'"
        )

SCALES = "scales:"
"""The beginning of a text that gives formats to a state by total wavenumber."""
