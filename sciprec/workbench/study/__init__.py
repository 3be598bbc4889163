"""Studies of a user's kernel: its scenario, its runs, its fewest bits.

    subjects      what is studied: a kernel, its inputs, and which results count
    kernel_kind   the kind of scenario that a study is run as
    traced_kind   the kind that traces of its kernel are run as
    kernel_page   `sciprec.study`: the door to all of this
"""

from typing import TYPE_CHECKING

from sciprec.foundation.later import names_of

if TYPE_CHECKING:
    from sciprec.workbench.study.kernel_page import Study as Study

__all__, __getattr__, __dir__ = names_of("sciprec.workbench.study")
