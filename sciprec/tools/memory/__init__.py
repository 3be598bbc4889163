"""`check_memory`: accesses of a kernel outside of its arrays, and reads of unwritten memory."""

from typing import TYPE_CHECKING

from sciprec.foundation.later import names_of

if TYPE_CHECKING:
    from sciprec.tools.memory.memory import MemoryFinding as MemoryFinding
    from sciprec.tools.memory.memory import MemoryReport as MemoryReport

__all__, __getattr__, __dir__ = names_of("sciprec.tools.memory")
