"""What is behind a request: the code that it names, and the initial state."""

from __future__ import annotations

from sciprec.climate.running.request import Request
from sciprec.climate.running.start import initial_state
from sciprec.climate.transform.grid import GaussianGrid
from sciprec.foundation.definitions import digest_of, is_own


def code_behind(request: Request) -> str:
    """A digest of the case, equations and time scheme of a request, code and values."""
    return digest_of(request.case, request.equations, request.scheme)


def state_behind(request: Request) -> str:
    """A digest of the bytes of the initial state; empty for cases of sciprec's own, whose
    initial states follow from its code and the request, unless fields were given.

    A case of a user may read files, which no digest of its code knows.
    """
    if request.initial is None and is_own(request.case.initial):
        return ""
    return digest_of(initial_state(request, GaussianGrid(request.truncation)))
