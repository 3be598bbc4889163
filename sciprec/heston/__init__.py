"""Heston's stochastic volatility model: semi-analytic prices and Monte Carlo in any arithmetic.

What others add is a class derived from Payoff or European, decorated by `payoff`, or a kernel
decorated by `path_scheme`.
"""

from typing import TYPE_CHECKING

import sciprec.heston.options.path_payoffs as _path_payoffs  # noqa: F401  registers them
from sciprec.foundation.later import names_of
from sciprec.heston import observations
from sciprec.heston.semianalytic import analytic, black

if TYPE_CHECKING:  # what compiles kernels is imported when it is asked for
    from sciprec.heston.bounds.bound_coverage import coverage as coverage
    from sciprec.heston.bounds.bound_coverage import random_coverage as random_coverage
    from sciprec.heston.bounds.bound_coverage import reference_cases as reference_cases
    from sciprec.heston.bounds.pricing import PriceResult as PriceResult
    from sciprec.heston.bounds.pricing import price as price
    from sciprec.heston.options.european_payoffs import Call as Call
    from sciprec.heston.options.european_payoffs import Digital as Digital
    from sciprec.heston.options.european_payoffs import European as European
    from sciprec.heston.options.european_payoffs import Put as Put
    from sciprec.heston.options.european_payoffs import Spot as Spot
    from sciprec.heston.options.path_payoffs import AsianArithmetic as AsianArithmetic
    from sciprec.heston.options.path_payoffs import AsianGeometric as AsianGeometric
    from sciprec.heston.options.path_payoffs import Barrier as Barrier
    from sciprec.heston.options.path_payoffs import ForwardStart as ForwardStart
    from sciprec.heston.options.path_payoffs import LookbackFixed as LookbackFixed
    from sciprec.heston.options.path_payoffs import LookbackFloating as LookbackFloating
    from sciprec.heston.parameters import Model as Model
    from sciprec.heston.payoff_registry import Payoff as Payoff
    from sciprec.heston.payoff_registry import parameter as parameter
    from sciprec.heston.payoff_registry import payoff as payoff
    from sciprec.heston.payoff_registry import payoff_named as payoff_named
    from sciprec.heston.payoff_registry import payoffs as payoffs
    from sciprec.heston.schemes.registry import path_scheme as path_scheme
    from sciprec.heston.sensitivities.greek_pricing import GreeksResult as GreeksResult
    from sciprec.heston.sensitivities.greek_pricing import greeks as greeks

_later, __getattr__, _ = names_of("sciprec.heston")
__all__ = ["analytic", "black", "observations", *_later]


def __dir__() -> list[str]:
    return __all__
