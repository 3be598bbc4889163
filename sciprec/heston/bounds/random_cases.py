"""Random models and payoffs whose true prices are known: what a bound has to hold for.

A case is made of two numbers, the seed of the sets and its own, so that anyone can draw it again.
Three sets divide the range of kappa T, how many times the variance forgets itself until maturity;
the fourth holds payments that few paths make.
"""

import math
from dataclasses import dataclass

import numpy as np

from sciprec.heston.bounds.levels import derived_seed
from sciprec.heston.options.european_payoffs import Call, Digital, Put
from sciprec.heston.options.path_payoffs import AsianArithmetic, AsianGeometric
from sciprec.heston.parameters import Model
from sciprec.heston.semianalytic import analytic
from sciprec.heston.simulation.monitoring import observed_payments
from sciprec.heston.simulation.paths import Block

KAPPA, MATURITY, THETA = (0.3, 100.0), (0.02, 15.0), (0.01, 0.5)
FELLER, SIGMA = (0.05, 20.0), (0.05, 3.0)
RHO, V0_OVER_THETA = 0.99, (0.25, 4.0)
DEVIATIONS = (-1.0, 1.0)  # of the log strike from the forward, in those of the log spot
RARE_DEVIATIONS, DEEPEST = (1.5, 2.5), 0.01  # of rare payments; strike of deep calls over spot
MOST_FIXINGS = 8
THIRDS = (0.006, 0.378, 23.8, 1500.0)  # of log(kappa T), from the least to the largest
RARE = "rare payments"
TRUTH_PATHS, MOST_TRUTH_PATHS = 2**13, 2**18


@dataclass(frozen=True)
class RandomCase:
    """A payoff in a model, with its true price.

    Attributes:
        model, payoff: as drawn.
        truth: semi-analytic, or by the nearly exact scheme for arithmetic Asians.
        error: standard error of the truth; zero where it is semi-analytic.
        seed: for its pricing.
    """

    model: Model
    payoff: object
    truth: float
    error: float
    seed: int


def set_names():
    """Return the names of the sets: the thirds of the range of kappa T, and rare payments."""
    thirds = [f"kappa T {low:g} to {high:g}" for low, high in zip(THIRDS, THIRDS[1:], strict=False)]
    return (*thirds, RARE)


def random_case(name, seed, number, exact=0.001):
    """Return a case of a set.

    Args:
        name: of set_names().
        seed: of the sets; number: of the case, from 0.
        exact: share of the price that three standard errors of the truth may reach.
    """
    place = set_names().index(name)
    rng = np.random.default_rng([int(seed), place, int(number)])
    rare = name == RARE
    low, high = (THIRDS[0], THIRDS[-1]) if rare else THIRDS[place : place + 2]
    model, maturity = _model(rng, low, high)
    payoff = _rare_payoff(rng, model, maturity) if rare else _payoff(rng, model, maturity)
    case_seed = derived_seed(int(seed), f"{name} {number}")
    truth, error = true_price(model, payoff, exact, case_seed)
    return RandomCase(model, payoff, truth, error, case_seed)


def true_price(model, payoff, exact, seed):
    """Return a price and its standard error.

    Arithmetic Asians are the geometric ones and the mean difference along paths of the
    gamma-expansion scheme, which needs no steps between the fixings, doubled until it is exact.

    Args:
        exact: share of the price that three standard errors may reach.
        seed: of the paths.
    """
    if analytic.has_price(payoff):
        return analytic.price(model, payoff), 0.0
    twin = AsianGeometric(
        strike=payoff.strike, maturity=payoff.maturity, fixings=payoff.fixings, kind=payoff.kind
    )
    expected, discount = analytic.price(model, twin), model.discount(payoff.maturity)
    values, first = np.empty(0), 0
    while True:
        block = Block(first, max(first, TRUTH_PATHS))
        paid = observed_payments(
            model, [payoff, twin], block, scheme="gamma_expansion", n_steps=payoff.fixings,
            seed=derived_seed(seed, "truth"),
        )  # fmt: skip
        values = np.append(values, discount * (paid[0] - paid[1]))
        first = values.size
        truth, error = expected + values.mean(), values.std() / math.sqrt(first)
        if 3 * error <= exact * truth or first >= MOST_TRUTH_PATHS:
            return float(truth), float(error)


def _model(rng, low, high):
    """Return a model and a maturity with kappa T between low and high."""
    while True:
        kappa, maturity, theta, feller = (
            _log_uniform(rng, span) for span in (KAPPA, MATURITY, THETA, FELLER)
        )
        sigma = math.sqrt(2 * kappa * theta / feller)
        if low <= kappa * maturity <= high and SIGMA[0] <= sigma <= SIGMA[1]:
            break
    model = Model(
        spot=100.0, v0=theta * _log_uniform(rng, V0_OVER_THETA), kappa=kappa, theta=theta,
        sigma=sigma, rho=float(rng.uniform(-RHO, RHO)), rate=float(rng.uniform(0, 0.05)),
        dividend_yield=float(rng.uniform(0, 0.03)),
    )  # fmt: skip
    return model, maturity


def _payoff(rng, model, maturity):
    """Return a European or an Asian, its strike near the forward."""
    strike = _strike(rng, model, maturity, DEVIATIONS)
    fixings = int(rng.integers(2, MOST_FIXINGS + 1))
    kind = ("call", "put")[rng.integers(2)]
    at = {"strike": strike, "maturity": maturity}
    return (
        lambda: Call(**at),
        lambda: Put(**at),
        lambda: Digital(**at, kind=kind),
        lambda: AsianGeometric(**at, fixings=fixings, kind=kind),
        lambda: AsianArithmetic(**at, fixings=fixings, kind=kind),
    )[rng.integers(5)]()


def _rare_payoff(rng, model, maturity):
    """Return a European far out of the money, or a call with a strike next to nothing."""
    maturity = min(maturity, 1.0)
    above = _strike(rng, model, maturity, RARE_DEVIATIONS)
    below = model.forward(maturity) ** 2 / above
    return (
        lambda: Call(strike=above, maturity=maturity),
        lambda: Put(strike=below, maturity=maturity),
        lambda: Digital(strike=above, maturity=maturity),
        lambda: AsianGeometric(strike=above, maturity=maturity, fixings=3),
        lambda: Call(strike=DEEPEST * model.spot, maturity=maturity),
    )[rng.integers(5)]()


def _strike(rng, model, maturity, deviations):
    """Return a strike some deviations of the log spot from the forward."""
    remembered = -math.expm1(-model.kappa * maturity) / model.kappa
    spread = model.theta * maturity + (model.v0 - model.theta) * remembered
    return model.forward(maturity) * math.exp(float(rng.uniform(*deviations)) * math.sqrt(spread))


def _log_uniform(rng, span):
    """Return a number whose logarithm is uniform over a span."""
    return float(np.exp(rng.uniform(*np.log(span))))
