"""Observations of a run as it goes: summaries of watched variables, their errors, and alerts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sciprec.foundation.later import names_of

if TYPE_CHECKING:
    from sciprec.tools.monitor.monitored import Monitored as Monitored

_PUBLIC = {
    "Monitored": "sciprec.tools.monitor.monitored",
}

__all__ = list(_PUBLIC)
__getattr__, __dir__ = names_of("sciprec.tools.monitor", _PUBLIC)
