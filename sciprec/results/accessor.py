"""`.sciprec` on xarray's objects: comparing them, and rounding them to another arithmetic.

Importing this module registers the accessor. sciprec imports it wherever it makes or takes labelled
data, and `import sciprec` where xarray is imported already; `import sciprec.accessor` is enough in
any order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import xarray as xr

if TYPE_CHECKING:
    from sciprec.precision import Backend
    from sciprec.results.comparison import Comparison
    from sciprec.results.comparison.inputs import Readable
    from sciprec.results.comparison.tolerances import Limit


@xr.register_dataset_accessor("sciprec")
@xr.register_dataarray_accessor("sciprec")
class SciprecAccessor:
    """sciprec's methods of a Dataset or DataArray: `data.sciprec.compare(run)`.

    Args:
        data: the object.
    """

    def __init__(self, data: xr.Dataset | xr.DataArray) -> None:
        self._data = data

    def compare(
        self, run: Readable, *, rtol: Limit = (), atol: Limit = (), max_ulp: Limit = (), **how: Any
    ) -> Comparison:
        """Compare a run with this one, which is the truth; dask arrays are read chunk by chunk.

        Args:
            run: what `sciprec.compare` takes; a DataArray is compared under this one's name.
            rtol, atol, max_ulp: as for `sciprec.compare`.
            how: select, rename, ignore, coords_atol, coords_rtol, as there.

        Returns:
            A Comparison.

        Raises:
            InputError: the two are not on the same points, or a tolerance is none.
        """
        from sciprec.results.comparison.rows import compare

        if isinstance(run, xr.DataArray) and isinstance(self._data, xr.DataArray):
            run = run.rename(self._data.name)
        return compare(self._data, run, rtol=rtol, atol=atol, max_ulp=max_ulp, **how)

    def quantize(self, backend: str | Backend, *, seed: int = 0) -> xr.Dataset | xr.DataArray:
        """Round the values to the storage format of an arithmetic; dask arrays stay lazy.

        Args:
            backend: name, spec string or Backend.
            seed: chooses the random bits of a stochastic rounding, which begin anew in each chunk
                of a dask array.

        Returns:
            The same object with rounded floating-point variables; coordinates and attributes are
            kept.

        Raises:
            InputError: unknown backend, or values that are no real numbers.
        """
        from sciprec.arrays.quantization import quantize

        return quantize(self._data, backend, seed=seed)
