"""Observations of a run as it goes: summaries of watched variables, their errors, and alerts."""

from typing import TYPE_CHECKING

from sciprec.foundation.later import names_of

if TYPE_CHECKING:
    from sciprec.tools.monitor.monitored import Monitored as Monitored

__all__, __getattr__, __dir__ = names_of("sciprec.tools.monitor")
