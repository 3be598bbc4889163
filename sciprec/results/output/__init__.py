"""Output of runs: labelled datasets with CF metadata, and their netCDF files."""

from sciprec.results.output.dask_later import ask_without_importing

ask_without_importing()
