"""Traces of a kernel: what goes wrong inside it, and where, by runs of an instrumented copy."""

from typing import TYPE_CHECKING

from sciprec.foundation.later import names_of

if TYPE_CHECKING:
    from sciprec.tools.trace.lines import Line as Line
    from sciprec.tools.trace.models.traces import ModelTrace as ModelTrace
    from sciprec.tools.trace.traces import Trace as Trace

__all__, __getattr__, __dir__ = names_of("sciprec.tools.trace")
