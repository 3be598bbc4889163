"""Whatever is imported first, in whatever order, or after an import that Ctrl-C has ended: no
circle, no warning, and nobody's plugins.
"""

import json
import os
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
    if not name.startswith("sciprec.__main__")
)
ROOMS = [name for name in MODULES if name.count(".") == 1]
LIBRARIES = ("numpy", "numba", "xarray", "dask", "dask.array", "distributed", "netCDF4", "pydantic")

FORKS = """
    import gc, importlib, json, os, random, signal, sys, traceback
    import dask.array, distributed, jinja2, matplotlib.figure, netCDF4, numba, numpy, pydantic
    import scipy.linalg, scipy.special, scipy.stats, typer, xarray

    class Insistent:
        '''Ctrl-C twice while some module of sciprec is looked for.'''

        def __init__(self, count):
            self.left = count

        def find_spec(self, name, *_):
            if name.startswith("sciprec."):
                self.left -= 1
                if not self.left:
                    for _ in range(2):
                        signal.raise_signal(signal.SIGINT)

    def take(name):
        library, _, public = name.partition(":")
        module = importlib.import_module(library)
        assert not public or getattr(module, public) is not None

    def attempt(name, seed):
        if seed:
            import sciprec

            finder = Insistent(random.Random(f"{name} {seed}").randint(1, 60))
            sys.meta_path.insert(0, finder)
            try:
                take(name)
            except KeyboardInterrupt:
                assert finder.left <= 0
        take(name)
        loading = sys.modules.get("sciprec.foundation.loading")
        assert loading is None or loading.load_plugins.cache_info().misses == 0, "plugins"

    gc.disable()  # children that look at all objects copy their memory
    names, seeds = json.loads(sys.argv[1])
    for name in names:
        for seed in seeds:
            child = os.fork()
            if child == 0:
                try:
                    attempt(name, seed)
                except BaseException:
                    print(name, seed, traceback.format_exc(), flush=True)
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
WAITING = """
    import importlib, json, sys
    from pathlib import Path
    from sciprec.precision import resolve_backend

    def missing(*names):
        assert not {*names} & set(sys.modules), {*names} & set(sys.modules)

    # policies, lifting and pricing start in a second: half of another one would be xarray's
    missing("sciprec.climate")
    assert resolve_backend("policy:O2,narrow=fp16,wide=fp32").assignment.places
    missing("pydantic", "sciprec.workbench.kinds")
    import sciprec.cli.pricing.price_request
    from sciprec import heston, lift
    assert heston.price and lift
    missing("xarray", "pandas", "netCDF4", "dask", "matplotlib")

    # xarray asks for dask without importing it
    import numpy as np
    from sciprec.results.output.dataset import prices_dataset

    grid = prices_dataset(np.arange(3.0), np.arange(2.0), {"price": np.ones((2, 3))})
    assert float((grid + grid.mean()).price[0, 0]) == 2.0
    missing("dask", "dask.array", "jinja2")

    # half of SciPy and dask's clusters were a second of every run
    from tests.shell.conftest import Models, little_climate, write_scenarios
    from sciprec.workbench.batch import workflow

    folder = Path(json.loads(sys.argv[1]))
    Models()["climate"] = little_climate
    result = workflow.run(write_scenarios(folder / "s")[0], out=folder / "out")
    assert len(result.files) == 3 and result.page.is_file()
    missing("scipy.stats", "scipy.optimize", "distributed", "dask.array")

    # and it knows dask's arrays, masked ones too, as soon as somebody has made one
    import dask.array as da
    import xarray as xr
    from xarray.namedarray.pycompat import array_type, mod_version

    masked = xr.Variable("x", da.ma.masked_greater(da.arange(4.0, chunks=2), 2))
    assert masked.chunks == ((2, 2),) and str(masked.values) == "[ 0.  1.  2. nan]"
    assert grid.chunk({}).price.chunks == ((2,), (3,)) and grid.chunk({}).equals(grid)
    assert array_type("dask") == (da.Array,) and mod_version("dask").major > 2000
"""


def said(script, words):
    """The output of a fresh interpreter, in which warnings are errors."""
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(script), json.dumps(words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    return done.stdout + done.stderr


PUBLIC = [f"sciprec:{name}" for name in sciprec.__all__]
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on Windows")


@pytest.mark.slow
@forks
def test_public_names_come_first_or_after_an_interrupted_import():
    names = ["sciprec:lift", "sciprec:run", "sciprec:heston", "sciprec:study"]
    assert said(FORKS, [names, [0, 1]]) == ""


@forks
@pytest.mark.slow
def test_every_room_can_be_the_first():
    """In an interpreter that has imported other people's libraries alone;
    `tests/project/test_layers.py` looks for circles among all modules.
    """
    assert said(FORKS, [ROOMS, [0]]) == ""


@pytest.mark.slow
def test_any_order_of_libraries_rooms_and_public_names():
    names = [*LIBRARIES, *ROOMS, *PUBLIC]
    random.Random(1).shuffle(names)
    assert said(ORDER, names) == ""


@pytest.mark.slow
def test_libraries_that_a_command_does_not_need_are_not_imported(tmp_path):
    assert said(WAITING, str(tmp_path)) == ""
