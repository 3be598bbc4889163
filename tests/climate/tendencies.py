"""The tendency of a state in an arithmetic, for tests of equation sets."""

from __future__ import annotations

import numpy as np

from sciprec.climate.catalogue import EQUATIONS
from sciprec.climate.equations.tendency import in_one_kernel, make_tendency_work
from sciprec.climate.transform.compiled import compiled
from sciprec.climate.transform.spectral import make_tables, rounded
from sciprec.precision import resolve_backend


def tendency(name, convert, state, backend="fp64", constants=None):
    """The right-hand side of a set's equations, as float64; constants: other than `convert`'s."""
    equations, resolved = EQUATIONS[name], resolve_backend(backend)
    constants = convert.constants if constants is None else constants
    tables = make_tables(convert.transform.truncation)
    state, constants, tables = (rounded(x, resolved) for x in (state, constants, tables))
    work, out = make_tendency_work(equations, convert, resolved.carrier), np.zeros_like(state)
    kernel = compiled(in_one_kernel(*equations.kernels), resolved)
    kernel(state, out, constants, tables, work)
    return out.astype(float)
