"""The identity of a request: the code that it names, and the initial state."""

from __future__ import annotations

from sciprec.climate.running.request import Request
from sciprec.climate.running.start import initial_state
from sciprec.climate.transform.grid import GaussianGrid
from sciprec.foundation.definitions import digest_of, is_own


def code_behind(request: Request) -> str:
    """A digest of the case, equations, time scheme and forcing of a request, code and values."""
    behind = request.case, request.equations, request.scheme
    return digest_of(*behind, *([] if request.forcing is None else [forcing_behind(request)]))


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
    rows = [x for each in request.tracers if each.given for x in each.given.rows_of(each.name)]
    return digest_of(initial_state(request, GaussianGrid(request.truncation)), *rows)


def forcing_behind(request: Request) -> str:
    """A digest of the forcing of a request, its code and its parameters; empty without one."""
    if request.forcing is None:
        return ""
    forcing = request.forcing
    return digest_of(forcing.kernel, forcing.tracers, forcing.values(request.forcing_parameters))


def parts_of(request: Request) -> dict[str, str]:
    """Digests of the parts of a request that a branch of its run may change or not.

    frame: what coefficients of its state mean; scheme: which levels there are; format: of levels
    and residuals; streams: what kernels remember; forcing: of a user, with its clock; damping: what
    else changes its numbers.
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
        "forcing": (forcing_behind(request), request.forcing and repr(request.since)),
        "damping": (parameters.diffusion, parameters.filter),
    }  # fmt: skip
    return {name: digest_of(*values) for name, values in parts.items()}
