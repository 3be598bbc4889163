"""xarray asks of every array whether it is dask's, and imports dask's arrays to ask: with what they
need (SciPy's transforms, jinja2) a quarter of a short process. While nobody has imported dask, no
array is dask's, so the answer needs no import.
"""

from __future__ import annotations

import sys
from functools import cached_property
from typing import Any

from xarray.namedarray import pycompat, utils


class _DaskArrays:
    """xarray's record of `dask.array`, looked up when asked for."""

    @cached_property
    def _module(self) -> pycompat.DuckArrayModule:
        return pycompat.DuckArrayModule("dask")

    def __getattr__(self, name: str) -> Any:
        if name == "type" and not hasattr(sys.modules.get("dask.array"), "Array"):
            return ()
        return getattr(self._module, name)


def ask_without_importing() -> None:
    """Replace xarray's two questions by ones that import nothing; a version of xarray that has
    other ones keeps them.
    """
    modules = getattr(pycompat, "_cached_duck_array_modules", None)
    if isinstance(modules, dict):
        modules.setdefault("dask", _DaskArrays())  # type: ignore[arg-type]  # it has what is asked for
    usual = getattr(utils, "is_dask_collection", None)
    if usual is not None:
        utils.is_dask_collection = lambda x: "dask.base" in sys.modules and usual(x)
