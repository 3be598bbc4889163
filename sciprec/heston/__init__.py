"""Heston's stochastic volatility model: semi-analytic prices and Monte Carlo in any arithmetic.

What others add is a class derived from Payoff or European, decorated by `payoff`, or a kernel
decorated by `path_scheme`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from sciprec.heston import analytic, black, observations
from sciprec.heston.model import Model
from sciprec.heston.payoffs import (
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
from sciprec.heston.registry import path_scheme

if TYPE_CHECKING:
    from sciprec.heston.bound_coverage import coverage, random_coverage, reference_cases
    from sciprec.heston.pricing import PriceResult, price
    from sciprec.heston.sensitivities import GreeksResult, greeks

_LAZY = {  # what compiles kernels is imported when it is asked for
    "price": "sciprec.heston.pricing",
    "PriceResult": "sciprec.heston.pricing",
    "greeks": "sciprec.heston.sensitivities",
    "GreeksResult": "sciprec.heston.sensitivities",
    "coverage": "sciprec.heston.bound_coverage",
    "random_coverage": "sciprec.heston.bound_coverage",
    "reference_cases": "sciprec.heston.bound_coverage",
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
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'sciprec.heston' has no attribute '{name}'")
