"""The scales of a run's places and their changes, as an attribute of its file."""

from sciprec.facets.attributes import JsonAttribute

SCALES = JsonAttribute("sciprec_scaling", sort_keys=False)
