"""A price by Monte Carlo whose stated bound holds, in any arithmetic."""

import time
from dataclasses import astuple, dataclass

import numpy as np

from sciprec.arguments import flag, whole
from sciprec.heston.fixed_counts import added
from sciprec.heston.model import require_model
from sciprec.heston.monitoring import payoff_tuple
from sciprec.heston.plan import Pricing
from sciprec.heston.pricing_arguments import (
    check_scheme,
    probability,
    resolve_residuals,
    seconds_allowed,
    tolerance_function,
)
from sciprec.heston.rare import LEAST_SIZE, Rare
from sciprec.heston.variance_reduction import choose_sampler
from sciprec.limits import PATHS, THREADS
from sciprec.precision import resolve_backend
from sciprec.precision.streams import seed_words
from sciprec.timing import timing_of


@dataclass(frozen=True)
class LevelRow:
    """A row of the levels' table.

    Attributes:
        level: "base", "rounding" or "steps".
        backend: arithmetics of its paths.
        n_steps: of its longest paths.
        n_paths: of the level; each is simulated once, twice and three times.
        mean: of the first payoff's base price, rounding error or step difference.
        variance: of one path, first payoff.
        cost: modelled, of one path in steps of binary64.
        seconds, seconds_low, seconds_high: processor time with its range, a Timing.
    """

    level: str
    backend: str
    n_steps: int
    n_paths: int
    mean: float
    variance: float
    cost: float
    seconds: float
    seconds_low: float
    seconds_high: float


@dataclass(frozen=True)
class BoundedResult:
    """How a result with a bound was made.

    Attributes:
        payoffs: as given, a tuple.
        met: whether every bound is within its tolerance.
        n_paths: simulated paths of all levels and the pilot; of greeks, one for each model and
            step length.
        n_steps: of the finest paths.
        seconds: wall-clock.
        levels: tuple of LevelRows; of greeks, mean and variance are the first payoff's price's.
        backend, scheme, confidence, seed: as asked for.
        variance_reduction: what was chosen, and why.
        sentences: what the reader has to know: a tolerance missed, a fall-back, a lost coupling.
        fixed_point: saturations and places short of bits in all levels, as plain data (see
            sciprec.precision.fixed_lifting.fixed_point_summary); None in floats.
    """

    payoffs: tuple
    met: bool
    n_paths: int
    n_steps: int
    seconds: float
    levels: tuple
    backend: str
    scheme: str
    confidence: float
    seed: int
    variance_reduction: str
    sentences: tuple
    fixed_point: dict | None


@dataclass(frozen=True)
class PriceResult(BoundedResult):
    """A price with its bound; numbers for one payoff, arrays (n_payoffs,) for several.

    Attributes:
        price: in units of currency.
        bound: |price - true price| exceeds it with probability 1 - confidence at most.
        statistical, discretisation, rounding: its parts, which add up to it.
        rounding_error: measured, of prices in binary64 less those in the backend; removed from
            the price with the correction.
        tolerance: the largest bound that was accepted, in units of currency.
        extrapolation: per payoff "order 2", "order 1" or "larger difference".

    The rest is as in BoundedResult.
    """

    price: object
    bound: object
    statistical: object
    discretisation: object
    rounding: object
    rounding_error: object
    tolerance: object
    extrapolation: tuple

    def to_dataset(self):
        """Return an xarray Dataset with dimensions payoff, maturity, strike and backend."""
        from sciprec import price_dataset

        return price_dataset(self)


def price(
    model,
    payoffs,
    *,
    backend="fp32",
    tolerance=0.001,
    relative=True,
    confidence=0.95,
    seed=0,
    scheme="quadratic_exponential_martingale",
    max_paths=2**24,
    max_seconds=None,
    compensation="correction",
    variance_reduction="auto",
    n_threads=1,
):
    """Price payoffs by Monte Carlo until the stated bound of the whole error meets a tolerance.

    price = mean of cheap paths + mean rounding error + mean step differences,
    bound = statistical + discretisation + rounding: sciprec.heston.bound derives it.

    Args:
        model: a Model.
        payoffs: one payoff or a sequence, priced from the same paths.
        backend: arithmetic of the cheap paths, a name, a spec string or a Backend.
        tolerance: of the total bound: a share of the price, or an amount where relative is False.
        confidence: probability, between 0 and 1, with which the bound holds.
        seed: integer in [0, 2**64). The same seed gives the same bits on any number of threads,
            unless max_seconds cuts the run.
        scheme: name of a path scheme.
        max_paths: simulated paths of all levels together.
        max_seconds: None, or the time after which no more paths are started.
        compensation: "none" (states forget the rounding errors of their additions), "carry" (they
            carry them along) or "correction" (they do, and the mean rounding error that is left,
            measured by few paths in fp64, is removed from the price).
        variance_reduction: "auto", "conditional", "antithetic", "control" or "none".
        n_threads: blocks of paths that are simulated at a time.

    Returns:
        A PriceResult.

    Raises:
        InputError: an argument outside its domain.

    Precision: every operation of the cheap paths is rounded in the backend; random numbers,
        payments, means and bounds are binary64, in a fixed order.
    """
    start = time.perf_counter()
    require_model(model)
    given = payoff_tuple(payoffs)
    for payoff in given:
        payoff.check(model)
    seed_words(seed)
    check_scheme(scheme)
    risk = 1 - probability(confidence)
    limit = tolerance_function(tolerance, flag("relative", relative))
    carried = resolve_residuals(compensation) != "none"
    pricing = Pricing(
        sampler=choose_sampler(model, given, scheme, variance_reduction, int(seed), carried),
        backend=resolve_backend(backend),
        tolerance=limit,
        risk=risk,
        seed=int(seed),
        correction=compensation == "correction",
        n_threads=whole("n_threads", n_threads, *THREADS),
        max_paths=whole("max_paths", max_paths, *PATHS),
        deadline=start + seconds_allowed(max_seconds),
        rare=Rare(model, given, risk),
    )
    bound = pricing.run()
    accepted = limit(bound.price)
    met = bool(np.all(bound.total <= accepted))
    sentences = list(pricing.notes)
    if not met:
        sentences.append(_missed(bound, accepted, pricing))

    def shaped(values):
        return np.array(values) if isinstance(payoffs, list | tuple) else float(values[0])

    return PriceResult(
        payoffs=given,
        price=shaped(bound.price),
        bound=shaped(bound.total),
        statistical=shaped(bound.statistical),
        discretisation=shaped(bound.discretisation),
        rounding=shaped(bound.rounding),
        rounding_error=shaped(bound.rounding_error),
        tolerance=shaped(accepted),
        met=met,
        n_paths=pricing.n_paths,
        n_steps=pricing.steps.n_steps,
        seconds=time.perf_counter() - start,
        levels=level_rows(pricing),
        backend=resolve_backend(backend).name,
        scheme=scheme,
        confidence=float(confidence),
        seed=int(seed),
        variance_reduction=pricing.sampler.sentence,
        extrapolation=bound.bias.rule,
        sentences=tuple(sentences),
        fixed_point=fixed_point_of(pricing),
    )


def fixed_point_of(pricing):
    """Return what fixed point did in all levels; None in floats."""
    return added(one.fixed_point for one in _levels(pricing))


def level_rows(pricing):
    """Return the levels' table."""
    return tuple(
        LevelRow(
            one.name, one.backend, one.n_steps, one.moments.paths, float(one.moments.mean[0, 0]),
            float(one.variance()[0]), one.cost, *astuple(timing_of(one.timed)),
        )
        for one in _levels(pricing)
    )  # fmt: skip


def _levels(pricing):
    """Return the levels that a price is made of."""
    return [one for one in (pricing.base, pricing.rounding, pricing.steps) if one is not None]


def _missed(bound, accepted, pricing):
    """Say that, and by how much, the tolerance was missed."""
    ratio = bound.total / np.maximum(accepted, LEAST_SIZE)
    worst = int(np.argmax(np.where(np.isfinite(bound.total), ratio, np.inf)))
    text = (
        f"the bound {bound.total[worst]:.4g} misses the tolerance {accepted[worst]:.4g} after "
        f"{pricing.n_paths} paths with {pricing.steps.n_steps} steps: statistical "
        f"{bound.statistical[worst]:.2g}, discretisation {bound.discretisation[worst]:.2g}, "
        f"rounding {bound.rounding[worst]:.2g}; "
    )
    if pricing.rounding is not None and not pricing.correction:
        if bound.rounding[worst] > 0.5 * accepted[worst]:
            return text + "switch the correction on"
    return text + "allow more paths or a larger tolerance"
