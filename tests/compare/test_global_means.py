"""Global means of stored flows, against sums by hand."""

import numpy as np
import pytest
import xarray as xr

from sciprec.foundation.errors import InputError
from sciprec.results.comparison.evidence.global_means import global_means, table_of_means

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


def test_tables_hold_what_there_is():
    whole, early = run(), run((0.0,))
    table = table_of_means(iter([whole, early]), 1.0)
    assert table.dims == ("run", "variable")
    assert dict(zip(table["variable"].values, table.values[0], strict=True)) == global_means(whole)
    assert np.isnan(table.values[1]).all()
    named = table_of_means([whole], 1.0, ["mass", "q"])
    assert named.values[0, 0] == 8.0 and np.isnan(named.values[0, 1])
    assert table_of_means([], 1.0, ["mass"]).shape == (0, 1)


def test_what_is_on_no_sphere_is_averaged_over_all_its_axes():
    x, e = RNG.normal(size=(2, 3, 4)), RNG.normal(size=2)
    data = xr.Dataset(
        {"x": (("time", "row", "column"), x), "e": (("time",), e)}, {"time": [0.0, 1.0]}
    )
    expected = {"x": x[1].mean(), "x*x": x[1].var(), "e": e[1]}
    found = global_means(data)
    assert found.keys() == expected.keys()
    assert all(np.isclose(found[name], value, rtol=1e-14) for name, value in expected.items())
    assert global_means(data.drop_vars("x")) == {"e": e[1]}


def test_wrong_data_are_a_sentence():
    with pytest.raises(InputError, match="accepted: fields with the axes time, lat and lon, and"):
        global_means(run().drop_vars("cell_area"))
    with pytest.raises(InputError, match="accepted: fields with the axes time, lat and lon, and"):
        global_means(xr.Dataset({"k": ((), 1.0)}, {"time": [0.0]}))
    with pytest.raises(InputError, match="none of 1 runs has stored day 5"):
        table_of_means([run()], 5.0)
