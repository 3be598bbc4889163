"""Tools, a folder each: trace, mend, digits, tune, monitor, adapt, bound and memory, for kernels
and some for models.
"""

from typing import TYPE_CHECKING

from sciprec.foundation.later import names_of

if TYPE_CHECKING:
    from sciprec.tools import bound as bound
    from sciprec.tools import digits as digits
    from sciprec.tools import memory as memory
    from sciprec.tools import mend as mend
    from sciprec.tools import monitor as monitor
    from sciprec.tools import trace as trace
    from sciprec.tools import tune as tune

_, __getattr__, __dir__ = names_of("sciprec.tools")
