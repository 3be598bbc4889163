"""Heston's stochastic volatility model: semi-analytic prices and Monte Carlo in any arithmetic."""

from sciprec.heston import analytic, black
from sciprec.heston.model import Model
from sciprec.heston.payoffs import Call, Put, payoff_class, payoffs

__all__ = ["Call", "Model", "Put", "analytic", "black", "payoff_class", "payoffs"]
