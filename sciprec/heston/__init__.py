"""Heston's stochastic volatility model: semi-analytic prices and Monte Carlo in any arithmetic.

What others add is a class derived from Payoff or European, decorated by `payoff`, or a kernel
decorated by `path_scheme`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sciprec.foundation.later import public
from sciprec.heston import observations
from sciprec.heston.options.catalogue import (
    AsianArithmetic,
    AsianGeometric,
    Barrier,
    Call,
    Digital,
    European,
    ForwardStart,
    LookbackFixed,
    LookbackFloating,
    Payoff,
    Put,
    Spot,
    parameter,
    payoff,
    payoff_named,
    payoffs,
)
from sciprec.heston.parameters import Model
from sciprec.heston.schemes.registry import path_scheme
from sciprec.heston.semianalytic import analytic, black

if TYPE_CHECKING:
    from sciprec.heston.bounds.bound_coverage import coverage, random_coverage, reference_cases
    from sciprec.heston.bounds.pricing import PriceResult, price
    from sciprec.heston.sensitivities.greek_pricing import GreeksResult, greeks

_LAZY = {  # what compiles kernels is imported when it is asked for
    "price": "sciprec.heston.bounds.pricing",
    "PriceResult": "sciprec.heston.bounds.pricing",
    "greeks": "sciprec.heston.sensitivities.greek_pricing",
    "GreeksResult": "sciprec.heston.sensitivities.greek_pricing",
    "coverage": "sciprec.heston.bounds.bound_coverage",
    "random_coverage": "sciprec.heston.bounds.bound_coverage",
    "reference_cases": "sciprec.heston.bounds.bound_coverage",
}

__all__ = [
    "AsianArithmetic",
    "AsianGeometric",
    "Barrier",
    "Call",
    "Digital",
    "European",
    "ForwardStart",
    "GreeksResult",
    "LookbackFixed",
    "LookbackFloating",
    "Model",
    "Payoff",
    "PriceResult",
    "Put",
    "Spot",
    "analytic",
    "black",
    "coverage",
    "greeks",
    "observations",
    "parameter",
    "path_scheme",
    "payoff",
    "payoff_named",
    "payoffs",
    "price",
    "random_coverage",
    "reference_cases",
]


def __getattr__(name: str) -> Any:
    return public(name, "sciprec.heston", _LAZY)


def __dir__() -> list[str]:
    return __all__
