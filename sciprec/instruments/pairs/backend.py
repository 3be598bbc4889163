"""The backend `dd` among others."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from sciprec.foundation.errors import InputError
from sciprec.precision.formats.backend import (
    Arithmetic,
    Backend,
    HandedBackend,
    copied,
    resolve_backend,
)
from sciprec.precision.formats.float_format import FORMATS, Format

NAME = "dd"


class PairFormat(Format):
    """Numbers of two binary64 numbers; all of their bits are there from 2^emin on."""

    def __post_init__(self) -> None:
        """Take more bits than are emulated."""


FORMAT = PairFormat(NAME, 106, -969, 1023, largest=sys.float_info.max)


class _PairMaker:
    """A maker of kernels of pairs."""

    carrier = np.dtype(np.float64)

    def __repr__(self) -> str:
        """The words by which a baseline tells makers apart: there is one."""
        return NAME

    def lifted(self, kernel: Callable[..., Any], backend: Backend, trust_inputs: bool):
        """The kernel in pairs."""
        from sciprec.instruments.pairs.lifted import PairLifted

        if (kernel.__module__ or "").startswith("sciprec."):
            backend.require_taken_by(f"sciprec's own kernel '{kernel.__name__}'")
        return PairLifted(kernel, backend)

    def rounding(self, backend: Backend) -> Callable[[np.ndarray, np.ndarray], None]:
        """Numbers as they are: every binary64 number is a pair."""
        return copied


class PairBackend(HandedBackend):
    """The backend of pairs; there is one."""

    def require_taken_by(self, user: str) -> None:
        """Refuse what has no pairs.

        Raises:
            InputError: it is none of the verbs that run kernels of a user's own.
        """
        raise InputError(
            f"backend '{self.name}' is given to {user}, which has no pairs of numbers; it is for "
            "`lift`, `study` and baselines of kernels of your own: give 'fp64' here"
        )

    def __reduce__(self):
        return resolve_backend, (self.name,)


@lru_cache(maxsize=1)
def pair_backend() -> PairBackend:
    """The backend, always the same object; outside of kernels its arrays are binary64's."""
    about = "sums of two binary64 numbers, for kernels: every variable is one"
    outside, pairs = Arithmetic(FORMATS["binary64"]), Arithmetic(FORMAT)
    return PairBackend(NAME, outside, pairs, pairs, pairs, about=about, maker=_PairMaker())
