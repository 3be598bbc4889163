"""Kernels compiled for an assignment."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from sciprec.instruments.assigning import met
from sciprec.instruments.assigning.matching import Matching
from sciprec.instruments.assigning.specialised import specialised_program
from sciprec.precision.formats.backend import Backend
from sciprec.precision.lifting.compiling import module_of
from sciprec.precision.lifting.lifted import Lifted
from sciprec.precision.lifting.lifting import lift

if TYPE_CHECKING:
    from sciprec.instruments.assigning.assignment import Assignment


def specialised(kernel, backend: Backend, assignment: Assignment) -> Lifted:
    """A kernel whose operations have the formats of an assignment.

    Args:
        kernel: the plain Python function.
        backend: under which the kernel is known.
    """
    found = Matching(assignment, kernel)
    program = specialised_program(kernel, found.arithmetics, assignment.everything)
    module = module_of(program)
    made = Lifted(kernel, backend, program, module, 0, partial(lift, backend=backend))
    met.note_kernel(made, assignment.digest, found)
    return made
