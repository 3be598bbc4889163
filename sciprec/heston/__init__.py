"""Heston's stochastic volatility model: semi-analytic prices and Monte Carlo in any arithmetic."""

import importlib

from sciprec.heston import analytic, black
from sciprec.heston.model import Model
from sciprec.heston.payoffs import (
    AsianArithmetic,
    AsianGeometric,
    Barrier,
    Call,
    Digital,
    ForwardStart,
    LookbackFixed,
    LookbackFloating,
    Put,
    Spot,
    payoff_named,
    payoffs,
)

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
    *_LAZY,
    "AsianArithmetic",
    "AsianGeometric",
    "Barrier",
    "Call",
    "Digital",
    "ForwardStart",
    "LookbackFixed",
    "LookbackFloating",
    "Model",
    "Put",
    "Spot",
    "analytic",
    "black",
    "payoff_named",
    "payoffs",
]


def __getattr__(name):
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'sciprec.heston' has no attribute '{name}'")
