"""Global means of stored flows, against sums by hand."""

import numpy as np
import pytest
import xarray as xr

from sciprec.results.comparison.evidence.global_means import global_means

AREA = np.array([[1.0, 1.0], [3.0, 3.0]])
RNG = np.random.default_rng(2)


def run(times=(0.0, 1.0)):
    """Two fields with levels, one without, and a budget."""
    axes = ("time", "sigma", "lat", "lon")
    nt = len(times)
    return xr.Dataset(
        {
            "u": (axes, RNG.normal(size=(nt, 3, 2, 2))),
            "v": (axes, RNG.normal(size=(nt, 3, 2, 2))),
            "surface_pressure": (("time", "lat", "lon"), 1e5 + RNG.normal(size=(nt, 2, 2))),
            "mass": (("time",), np.arange(nt) + 7.0),
            "zonal_mean_u": (("time", "sigma", "lat"), np.zeros((nt, 3, 2))),
            "cell_area": (("lat", "lon"), AREA),
        },
        coords={"time": list(times)},
    )


def test_means_and_covariances_by_hand():
    data = run()
    u, v = (data[n].values[1] for n in ("u", "v"))
    w = [(i, j, AREA[i, j] / 8.0) for i in range(2) for j in range(2)]
    means = {k: [sum(a * x[s, i, j] for i, j, a in w) for s in range(3)]
             for k, x in (("u", u), ("v", v))}  # fmt: skip
    cross = [
        sum(a * (u[s, i, j] - means["u"][s]) * (v[s, i, j] - means["v"][s]) for i, j, a in w)
        for s in range(3)
    ]
    found = global_means(data)
    assert set(found) == {
        "u", "v", "surface_pressure", "u*u", "u*v", "v*v", "surface_pressure*surface_pressure",
        "mass",
    }  # fmt: skip
    assert found["u"] == pytest.approx(sum(means["u"]) / 3)
    assert found["u*v"] == pytest.approx(sum(cross) / 3)
    assert found["mass"] == 8.0 and global_means(data, 0)["mass"] == 7.0
