"""`.sciprec` on xarray's objects: the same as the functions, lazily on dask arrays."""

import json
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import xarray as xr

import sciprec
from sciprec.results import accessor


def weather():
    """Two fields on few points."""
    rng = np.random.default_rng(1)
    return xr.Dataset(
        {
            "t": (("time", "x"), 280.0 + rng.normal(size=(6, 10)), {"units": "K"}),
            "n": (("x",), np.arange(10)),
        },
        coords={"x": np.arange(10) / 3.0},
        attrs={"title": "made up"},
    )


def test_compare_takes_the_object_for_the_truth():
    truth = weather()
    run = truth.sciprec.quantize("mlu370")
    found = truth.sciprec.compare(run, rtol="t=1e-6")
    assert repr(found.rows) == repr(sciprec.compare(truth, run, rtol="t=1e-6").rows)
    assert found.within and found.row("t").errors["bias"] < 0.0
    one = truth["t"].sciprec.compare(run["t"].rename("other"))
    assert one.row("t").errors == found.row("t").errors
    assert truth["t"].sciprec.compare(run["t"].drop_vars("x").values).rows[0].variable == "t"


@pytest.mark.parametrize("chunks", [{"time": 4}, {"time": 1, "x": 3}])
def test_dask_arrays_stay_lazy_and_give_the_same(chunks):
    truth = weather()
    lazy = truth.chunk(chunks).sciprec.quantize("mlu370")
    assert lazy["t"].chunks == truth.chunk(chunks)["t"].chunks
    rounded = truth.sciprec.quantize("mlu370")
    assert lazy.compute().identical(rounded)
    assert rounded["t"].attrs == {"units": "K"} and rounded.attrs == truth.attrs
    np.testing.assert_array_equal(rounded["t"], sciprec.quantize(truth["t"].values, "mlu370"))
    np.testing.assert_array_equal(rounded["x"], truth["x"])
    found = truth.chunk(chunks).sciprec.compare(lazy)
    assert found.row("t").errors == truth.sciprec.compare(rounded).row("t").errors


FIRST, LAST = "import sciprec", "import xarray"
ORDERS = {
    ("import sciprec.accessor", LAST): True,
    (FIRST, LAST): False,  # until something of sciprec's is used
    (LAST, FIRST): True,
    (FIRST, LAST, "import sciprec.accessor"): True,
    (FIRST, "sciprec.compare", LAST): True,  # what makes or reads labelled data
    (FIRST, "sciprec.run", LAST): True,
    (FIRST, "sciprec.climate.run", LAST): True,
    ("from sciprec.results.comparison import compare", LAST): True,
    (FIRST, LAST, "sciprec.quantize"): True,  # what takes it if it comes
    (FIRST, LAST, "sciprec.heston.price"): True,
}

FORKS = """
    import json, os, sys, traceback
    import numba, numpy, pandas, pydantic, scipy.linalg, scipy.special

    assert "xarray" not in sys.modules
    for code in json.loads(sys.argv[1]):
        child = os.fork()
        if child == 0:
            try:
                exec(code)
            except BaseException:
                print(repr(traceback.format_exc()))
            finally:
                sys.stdout.flush()
                os._exit(0)
        os.waitpid(child, 0)
"""


@pytest.mark.slow
def test_it_is_registered_in_every_order_of_imports():
    """In interpreters that have imported other people's libraries alone, without xarray."""
    codes = ["; ".join([*lines, "print(hasattr(xarray.Dataset, 'sciprec'))"]) for lines in ORDERS]
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(FORKS), json.dumps(codes)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = dict(zip(ORDERS, done.stdout.splitlines(), strict=True))
    assert found == {lines: str(there) for lines, there in ORDERS.items()}
    assert accessor.SciprecAccessor.__doc__
