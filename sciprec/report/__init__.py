"""Pages: of a batch, made from stored files only, of a comparison, of a trace."""

from typing import TYPE_CHECKING

from sciprec.foundation.later import names_of

if TYPE_CHECKING:
    from sciprec.report.page import write_page as write_page
    from sciprec.report.section import page_section as page_section
    from sciprec.report.stored.verification import VerifiedBatch as VerifiedBatch

__all__, __getattr__, __dir__ = names_of("sciprec.report")
