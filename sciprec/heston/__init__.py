"""Heston's stochastic volatility model: semi-analytic prices and Monte Carlo in any arithmetic."""

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

__all__ = [
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
