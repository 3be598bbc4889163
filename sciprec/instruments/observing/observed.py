"""Kernels lifted as ever, with the calls that observers put into them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from sciprec.foundation.errors import InputError
from sciprec.instruments.assigning.assignment import AssignedBackend
from sciprec.precision.formats.backend import HandedBackend
from sciprec.precision.lifting.compiling import module_of
from sciprec.precision.lifting.fixed_lifting import FixedLifted
from sciprec.precision.lifting.lifted import Lifted
from sciprec.precision.rewriting.build import Build
from sciprec.precision.rewriting.observer import Observer
from sciprec.precision.rewriting.program import Program


def lift_observed(kernel, backend, observers: Sequence[Observer], seed: int = 0) -> Lifted:
    """A kernel lifted as by `lift`, observed. Functions that are given to it are, too.

    Args:
        kernel: the plain function.
        backend: the arithmetic.
        observers: in any order; the first one stands nearest to what is rewritten.
        seed: of random bits.

    Raises:
        InputError: the arithmetic has formats or scales by place.
    """
    if isinstance(backend, AssignedBackend):
        raise InputError(
            f"backend '{backend.name}' has formats by place, and kernels that are watched from "
            "inside take one so far; give the narrowest of them"
        )
    backend.require_taken_by("a verb that watches kernels from inside")
    if isinstance(backend, HandedBackend):  # says itself what is to be given
        handed: Lifted = backend.maker.lifted(kernel, backend, False)
        return handed
    again = partial(_observed_again, backend=backend, observers=observers, seed=seed)
    build = Build(observers=tuple(observers))
    if not backend.fixed:
        program = Program(kernel, backend, build)
        return Lifted(kernel, backend, program, module_of(program), seed, again)
    return FixedLifted(kernel, backend, build, again)


def _observed_again(kernel, backend, observers: Sequence[Observer], seed: int, **_) -> Lifted:
    return lift_observed(kernel, backend, observers, seed)
