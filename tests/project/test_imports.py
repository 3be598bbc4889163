"""Whatever is imported first, in whatever order: no circle, no warning, and nobody's plugins."""

import json
import pkgutil
import random
import subprocess
import sys
import textwrap

import pytest

import sciprec

MODULES = sorted(
    name
    for _, name, _ in pkgutil.walk_packages(sciprec.__path__, "sciprec.")
    if not name.startswith(("sciprec.bench", "sciprec.__main__"))
)
ROOMS = [name for name in MODULES if name.count(".") == 1]
LIBRARIES = ("numpy", "numba", "xarray", "dask", "dask.array", "distributed", "netCDF4", "pydantic")

FORKS = """
    import gc, importlib, json, os, sys, traceback
    import dask.array, distributed, jinja2, matplotlib.figure, netCDF4, numba, numpy, pydantic
    import scipy.linalg, scipy.special, scipy.stats, typer, xarray

    def alone(name):
        importlib.import_module(name)
        loading = sys.modules.get("sciprec.plugins.loading")
        assert loading is None or loading.load_plugins.cache_info().misses == 0, "plugins"

    gc.disable()  # children that look at all objects copy their memory
    for name in json.loads(sys.argv[1]):
        child = os.fork()
        if child == 0:
            try:
                alone(name)
            except BaseException:
                print(name, traceback.format_exc(), flush=True)
            finally:
                os._exit(0)
        os.waitpid(child, 0)
"""
ORDER = """
    import importlib, json, sys

    for name in json.loads(sys.argv[1]):
        library, _, public = name.partition(":")
        module = importlib.import_module(library)
        assert not public or getattr(module, public) is not None
    import sciprec.accessor, xarray

    assert hasattr(xarray.Dataset, "sciprec") and hasattr(xarray.DataArray, "sciprec")
"""


def said(script, names):
    """What a fresh interpreter says, in which warnings are errors."""
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(script), json.dumps(names)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    return done.stdout + done.stderr


def sample(seed, names, size):
    """Some of them, in some order."""
    return random.Random(seed).sample(names, min(size, len(names)))


@pytest.mark.slow
def test_every_module_can_be_the_first():
    """Each room and a sample of the modules, in an interpreter that has imported other people's
    libraries alone.
    """
    names = [*ROOMS, *sample(1, [name for name in MODULES if name not in ROOMS], 15)]
    assert said(FORKS, names) == ""


@pytest.mark.slow
def test_any_order_of_libraries_rooms_and_public_names():
    public = [f"sciprec:{name}" for name in sciprec.__all__]
    names = sample(1, [*LIBRARIES, *ROOMS, *public], 1000)
    assert said(ORDER, names) == ""


def test_policies_lifting_and_pricing_wait_for_no_files_and_no_batches():
    """They start in a second: half of another one would be xarray's, and what comes with it."""
    names = ["sciprec:lift", "sciprec.cli.pricing.price_request", "sciprec.heston:price"]
    script = """
        import importlib, json, sys
        from sciprec.precision import resolve_backend

        assert "sciprec.climate" not in sys.modules
        assert resolve_backend("policy:O2,narrow=fp16,wide=fp32").assignment.places
        assert not {"pydantic", "sciprec.kinds"} & set(sys.modules)
        for name in json.loads(sys.argv[1]):
            library, _, public = name.partition(":")
            getattr(importlib.import_module(library), public, None)
        print(*{"xarray", "pandas", "netCDF4", "dask", "matplotlib"} & set(sys.modules), end="")
    """
    assert said(script, names) == ""


def test_xarray_asks_for_dask_without_importing_it():
    """And knows its arrays, masked ones too, as soon as somebody has made one."""
    script = """
        import json, sys
        import numpy as np
        from sciprec.output.dataset import prices_dataset

        grid = prices_dataset(np.arange(3.0), np.arange(2.0), {"price": np.ones((2, 3))})
        assert float((grid + grid.mean()).price[0, 0]) == 2.0
        print(*{"dask", "dask.array", "jinja2"} & set(sys.modules), end="")

        import dask.array as da
        import xarray as xr
        from xarray.namedarray.pycompat import array_type, mod_version

        masked = xr.Variable("x", da.ma.masked_greater(da.arange(4.0, chunks=2), 2))
        assert masked.chunks == ((2, 2),) and str(masked.values) == "[ 0.  1.  2. nan]"
        assert grid.chunk({}).price.chunks == ((2,), (3,)) and grid.chunk({}).equals(grid)
        assert array_type("dask") == (da.Array,) and mod_version("dask").major > 2000
    """
    assert said(script, []) == ""


def test_a_run_and_its_page_wait_for_no_clusters_and_no_statistics(tmp_path):
    """Half of SciPy and dask's clusters were a second of every run."""
    script = """
        import json, sys
        from pathlib import Path
        from tests.shell.conftest import Models, little_climate, write_scenarios
        from sciprec.batch import workflow

        (folder,) = map(Path, json.loads(sys.argv[1]))
        Models()["climate"] = little_climate
        result = workflow.run(write_scenarios(folder / "s")[0], out=folder / "out")
        assert len(result.files) == 3 and result.page.is_file()
        print(*{"scipy.stats", "scipy.optimize", "distributed", "dask.array"} & set(sys.modules))
    """
    assert said(script, [str(tmp_path)]).strip() == ""
