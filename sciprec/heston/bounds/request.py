"""The arguments of a pricing: each in its domain, or refused in a sentence."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sciprec.foundation.arguments import Range, flag, integer, share
from sciprec.foundation.errors import InputError
from sciprec.foundation.limits import CONFIDENCE, PATHS, THREADS
from sciprec.heston.parameters import Model, require_model
from sciprec.heston.payoff_registry import Payoff, check_payoffs
from sciprec.heston.schemes.catalogue import scheme_named
from sciprec.heston.simulation.monitoring import payoff_tuple
from sciprec.heston.simulation.paths import resolve_residuals
from sciprec.instruments.assigning.policies import require_stages
from sciprec.precision import Backend, resolve_backend
from sciprec.precision.streams import seed_words

Accepted = Callable[[np.ndarray], np.ndarray]
"""A function from prices to their largest accepted bounds."""

_SHARE = Range("a share > 0, at most 1, such as 0.001 or '0.1%'", above=0, most=1)
_AMOUNT = Range("an amount > 0", above=0)
_SECONDS = Range("a number of seconds > 0, or None", above=0)


@dataclass(frozen=True)
class PricingRequest:
    """Arguments of `price` or `greeks`, checked; those of sciprec.heston.price, and:

    Attributes:
        several: whether a sequence of payoffs was given.
        start, deadline: of time.perf_counter; infinite without a budget of time.
    """

    model: Model
    payoffs: tuple[Payoff, ...]
    several: bool
    backend: Backend
    tolerance: float
    relative: bool
    confidence: float
    seed: int
    scheme: str
    max_paths: int
    compensation: str
    variance_reduction: str
    threads: int
    start: float
    deadline: float

    @classmethod
    def of(
        cls, model: Model, payoffs: Payoff | Sequence[Payoff], *, backend: str | Backend,
        tolerance: float | str, confidence: float | str, seed: int, scheme: str, max_paths: int,
        max_seconds: float | None, compensation: str, threads: int, relative: bool = True,
        variance_reduction: str = "auto",
    ) -> PricingRequest:  # fmt: skip
        """Return the request, checked; the choice of a sampler checks variance_reduction.

        Raises:
            InputError: an argument outside its domain.
        """
        start = time.perf_counter()
        require_model(model)
        several, payoffs = isinstance(payoffs, list | tuple), payoff_tuple(payoffs)
        check_payoffs(payoffs, model)
        seed_words(seed)
        if not scheme_named(scheme).lifts:
            raise InputError(
                f"scheme {scheme!r} draws as many random numbers as it needs, so that paths of "
                "different steps have nothing in common; accepted: a scheme that lifts, such as "
                "'quadratic_exponential_martingale'"
            )
        backend = resolve_backend(backend)
        require_stages(backend, "heston")
        confidence = CONFIDENCE.number("confidence", confidence)
        compensation = resolve_residuals(compensation)
        max_paths = integer("max_paths", max_paths, *PATHS)
        threads = integer("threads", threads, *THREADS)
        seconds = math.inf if max_seconds is None else _SECONDS.number("max_seconds", max_seconds)
        relative = flag("relative", relative)
        if relative and isinstance(tolerance, str):
            with contextlib.suppress(ValueError):
                tolerance = share(tolerance)
        tolerance = (_SHARE if relative else _AMOUNT).number("tolerance", tolerance)
        return cls(
            model, payoffs, several, backend, tolerance, relative, confidence, int(seed), scheme,
            max_paths, compensation, variance_reduction, threads, start, start + seconds,
        )  # fmt: skip

    @property
    def risk(self) -> float:
        """The probability with which the stated bound may miss."""
        return 1 - self.confidence

    @property
    def carried(self) -> bool:
        """Whether states carry the rounding errors of their additions along."""
        return self.compensation != "none"

    @property
    def correction(self) -> bool:
        """Whether the mean rounding error is removed from the price."""
        return self.compensation == "correction"

    def accepted(self, prices: np.ndarray) -> np.ndarray:
        """Return the largest accepted bounds of prices."""
        if self.relative:
            return self.tolerance * np.abs(prices)
        return np.full(np.shape(prices), self.tolerance)
