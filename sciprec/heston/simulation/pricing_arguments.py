"""What a pricing is asked for: each argument in its domain, or a sentence."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sciprec.foundation.arguments import Range, whole, word
from sciprec.foundation.errors import InputError
from sciprec.foundation.limits import CONFIDENCE, PATHS, THREADS
from sciprec.heston.parameters import Model, require_model
from sciprec.heston.payoff_registry import Payoff, check_payoffs
from sciprec.heston.schemes.catalogue import scheme_named
from sciprec.heston.simulation.monitoring import payoff_tuple
from sciprec.instruments.assigning.policies import require_stages
from sciprec.precision import Backend, resolve_backend
from sciprec.precision.streams import seed_words

_SHARE = Range("a share > 0, at most 1, such as 0.001", above=0, most=1)
_AMOUNT = Range("an amount > 0", above=0)
_SECONDS = Range("a number of seconds > 0, or None", above=0)

COMPENSATIONS = ("none", "carry", "correction")


class Request:
    """What `price` and `greeks` are both asked for, checked; arguments as sciprec.heston.price's.

    Attributes:
        several: whether a sequence of payoffs was given.
        start, deadline: of time.perf_counter; infinite without a budget of time.

    Raises:
        InputError: an argument outside its domain.
    """

    def __init__(
        self, model: Model, payoffs: Payoff | Sequence[Payoff], *,
        backend: str | Backend, confidence: float, seed: int, scheme: str, max_paths: int,
        max_seconds: float | None, compensation: str, threads: int,
    ) -> None:  # fmt: skip
        self.start = self.deadline = time.perf_counter()
        require_model(model)
        self.model, self.scheme = model, scheme
        self.payoffs, self.several = payoff_tuple(payoffs), isinstance(payoffs, list | tuple)
        check_payoffs(self.payoffs, model)
        seed_words(seed)
        self.seed = int(seed)
        if not scheme_named(scheme).lifts:
            raise InputError(
                f"scheme {scheme!r} draws as many random numbers as it needs, so that paths of "
                "different steps have nothing in common; accepted: a scheme that lifts, such as "
                "'quadratic_exponential_martingale'"
            )
        self.backend = resolve_backend(backend)
        require_stages(self.backend, "heston")
        self.confidence = CONFIDENCE.number("confidence", confidence)
        self.compensation = resolve_residuals(compensation)
        self.max_paths = whole("max_paths", max_paths, *PATHS)
        self.threads = whole("threads", threads, *THREADS)
        seconds = math.inf if max_seconds is None else _SECONDS.number("max_seconds", max_seconds)
        self.deadline += seconds

    @property
    def carried(self) -> bool:
        """Whether states carry the rounding errors of their additions along."""
        return self.compensation != "none"

    def course(self) -> dict[str, Any]:
        """Arguments of a Pricing."""
        names = ("backend", "seed", "threads")
        return {name: getattr(self, name) for name in names} | {
            "risk": 1 - self.confidence,
            "correction": self.compensation == "correction",
        }


def resolve_residuals(compensation: str, known: Sequence[str] = COMPENSATIONS) -> str:
    """Return what is done about rounding errors, one of the known names.

    "none" forgets the rounding errors of additions to the state, "carry" carries them along, and
    "correction" carries them and removes the mean rounding error, measured in fp64, from the price.

    Raises:
        InputError: something else.
    """
    return word("compensation", compensation, known)


def tolerance_function(tolerance: float, relative: bool) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function from prices to the largest accepted bounds.

    Raises:
        InputError: the tolerance is no share, or no amount, above zero.
    """
    value = (_SHARE if relative else _AMOUNT).number("tolerance", tolerance)
    if relative:
        return lambda prices: value * np.abs(prices)
    return lambda prices: np.full(np.shape(prices), value)
