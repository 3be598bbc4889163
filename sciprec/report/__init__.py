"""The page of a batch, made from stored files only."""

from sciprec.report.page import write_page

__all__ = ["write_page"]
