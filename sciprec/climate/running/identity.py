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
    start = "" if request.start is None else f"{request.start.digest} {request.first}"
    return _own_state(request) + start


def _own_state(request: Request) -> str:
    if request.initial is None and is_own(request.case.initial):
        return ""
    return digest_of(initial_state(request, GaussianGrid(request.truncation)))


def parts_of(request: Request) -> dict[str, str]:
    """Digests of the parts of a request that a branch of its run may change or not.

    frame: what coefficients of its state mean; scheme: which levels there are; format: of levels
    and residuals; streams: what kernels remember; damping: what else changes its numbers.
    """
    parameters, layout = request.parameters, request.truncation
    parts: dict[str, tuple] = {
        "frame": (
            request.case.name, request.equations.name, parameters.case, parameters.equations,
            repr(layout), request.step_seconds, _own_state(request), repr(request.tracers),
        ),
        "scheme": (request.scheme.name,),
        "format": (
            repr(request.backend), repr(request.stored),
            sorted((name, repr(each)) for name, each in request.compensation.items()),
        ),
        "streams": (repr(request.stages), parameters.fourier, repr(request.perturbation)),
        "perturbation": (repr(request.perturbation),),
        "damping": (parameters.diffusion, parameters.filter),
    }  # fmt: skip
    return {name: digest_of(*values) for name, values in parts.items()}
