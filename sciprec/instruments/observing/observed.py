"""Kernels lifted as ever, with the calls that observers put into them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from sciprec.foundation.errors import InputError
from sciprec.instruments.assigning.assigned_backend import AssignedBackend
from sciprec.precision.formats.backend import HandedBackend
from sciprec.precision.lifting.compiling import module_of
from sciprec.precision.lifting.fixed_lifting import FixedLifted
from sciprec.precision.lifting.lifted import Lifted
from sciprec.precision.rewriting.observer import Observer
from sciprec.precision.rewriting.program import Program
from sciprec.precision.rounding.variant import FLOATS, Variant


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
    if isinstance(backend, HandedBackend):  # says itself what is to be given
        handed: Lifted = backend.maker.lifted(kernel, backend, False)
        return handed
    again = lambda other, **_: lift_observed(other, backend, observers)  # noqa: E731
    program = partial(Program, observers=observers)

    def compiled(variant: Variant):
        made = program(kernel, backend, "auto", False, variant)
        return made, module_of(made)

    if not backend.fixed:
        return Lifted(kernel, backend, *compiled(FLOATS), seed, again, program)
    return FixedLifted(kernel, backend, compiled, again, programs=program)
