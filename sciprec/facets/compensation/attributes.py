"""The compensation of a run with all its coefficients, as an attribute of its file."""

from sciprec.facets.attributes import JsonAttribute

COMPENSATION = JsonAttribute("sciprec_compensation")
