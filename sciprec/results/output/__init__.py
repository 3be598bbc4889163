"""Output of runs: labelled datasets with CF metadata, and their netCDF files."""

# whoever gets a dataset gets `.sciprec` with it
import sciprec.results.accessor as _accessor  # noqa: F401
from sciprec.results.output.dask_later import ask_without_importing

ask_without_importing()
