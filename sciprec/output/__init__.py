"""What a run leaves behind: labelled datasets with CF metadata, and their netCDF files."""

import sciprec.accessor as _accessor  # noqa: F401  whoever gets a dataset gets `.sciprec` with it
from sciprec.output.dask_later import ask_without_importing

ask_without_importing()
