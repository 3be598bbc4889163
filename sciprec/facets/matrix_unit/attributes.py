"""Entries and work of the matrix units of a run's transforms, as an attribute of its file."""

from sciprec.facets.attributes import JsonAttribute

MATRIX_UNITS = JsonAttribute("sciprec_matrix_units")
