"""Pages: of a batch, made from stored files only, of a comparison, of a trace."""

from sciprec.report.page import write_page
from sciprec.report.section import page_section
from sciprec.report.stored.verification import VerifiedBatch

__all__ = ["VerifiedBatch", "page_section", "write_page"]
