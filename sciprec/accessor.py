"""`import sciprec.accessor` gives xarray's objects `.sciprec`, in any order of imports."""

import sciprec.results.accessor  # noqa: F401
