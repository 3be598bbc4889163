"""Instrumented copies of kernels: lifted as ever, on one thread, with calls put into them."""

from __future__ import annotations

from collections.abc import Callable

from sciprec.foundation.errors import InputError
from sciprec.instruments.assigning.assigned_backend import AssignedBackend
from sciprec.precision.compiled.disk_cache import of_engine
from sciprec.precision.formats.backend import HandedBackend
from sciprec.precision.lifting.compiling import module_of
from sciprec.precision.lifting.fixed_lifting import FixedLifted
from sciprec.precision.lifting.lifted import Lifted
from sciprec.precision.rewriting.program import Program
from sciprec.precision.rewriting.rewrite import Rewriter
from sciprec.precision.rounding.variant import FLOATS, Variant


class InstrumentedProgram(Program):
    """A program whose kernels get calls, and run on one thread; the engine's own are left as they
    are.

    Attributes:
        instruments: the rewriter that puts them in.
    """

    kept, may_share, instruments = False, False, Rewriter

    def rewriter(self, program, function, tree, namespace):
        """The engine's own functions are not instrumented, except where one is the kernel."""
        chosen = Rewriter if of_engine(function) and function != self.kernel else self.instruments
        return chosen(program, function, tree, namespace)

    def _decorator(self, tree, parallel):
        return super()._decorator(tree, False)


def lift_instrumented(
    kernel, backend, program: Callable[..., InstrumentedProgram], seed: int = 0
) -> Lifted:
    """A kernel lifted as by `lift`, instrumented. Functions that are given to it are, too.

    Args:
        kernel: the plain function.
        backend: the arithmetic.
        program: makes the program, as `Program`.
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
    again = lambda other, **_: lift_instrumented(other, backend, program)  # noqa: E731

    def compiled(variant: Variant):
        made = program(kernel, backend, "auto", False, variant)
        return made, module_of(made)

    if not backend.fixed:
        return Lifted(kernel, backend, *compiled(FLOATS), seed, again, program)
    return FixedLifted(kernel, backend, compiled, again, programs=program)
