"""All payoffs by name; a new one is a class derived from Payoff, decorated by `payoff`.

A payoff says what it observes (`observation`, see sciprec.heston.observations), what it then pays
at its maturity (`payment`), and which formulas are known for it.
"""

from sciprec.heston.options.european_payoffs import Call, Digital, European, Put, Spot
from sciprec.heston.options.path_payoffs import (
    AsianArithmetic,
    AsianGeometric,
    Barrier,
    ForwardStart,
    LookbackFixed,
    LookbackFloating,
)
from sciprec.heston.payoff_registry import (
    Payoff,
    PayoffEntry,
    parameter,
    payoff,
    payoff_grid,
    payoff_named,
    payoffs,
)

__all__ = [
    "AsianArithmetic",
    "AsianGeometric",
    "Barrier",
    "Call",
    "Digital",
    "European",
    "ForwardStart",
    "LookbackFixed",
    "LookbackFloating",
    "Payoff",
    "PayoffEntry",
    "Put",
    "Spot",
    "parameter",
    "payoff",
    "payoff_grid",
    "payoff_named",
    "payoffs",
]
