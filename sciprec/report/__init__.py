"""Pages: of a batch, made from stored files only, of a comparison, of a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sciprec.foundation.later import names_of

if TYPE_CHECKING:
    from sciprec.report.page import write_page as write_page
    from sciprec.report.section import page_section as page_section
    from sciprec.report.stored.verification import VerifiedBatch as VerifiedBatch

_PUBLIC = {
    "VerifiedBatch": "sciprec.report.stored.verification",
    "page_section": "sciprec.report.section",
    "write_page": "sciprec.report.page",
}

__all__ = list(_PUBLIC)
__getattr__, __dir__ = names_of("sciprec.report", _PUBLIC)
