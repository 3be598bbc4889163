"""Inputs of comparisons: NumPy files and objects, files read by blocks, points in another order."""

import json
import re

import numpy as np
import pytest
import xarray as xr

from sciprec.foundation.errors import InputError
from sciprec.results.comparison import compare
from sciprec.results.comparison.junit import junit_xml
from sciprec.results.comparison.pointwise import blocks
from sciprec.results.comparison.pointwise.blocks import blocks_of
from sciprec.results.comparison.stored_metrics import judge_again
from sciprec.results.output import netcdf


def fields(seed=1):
    """Two fields on a small grid, slightly apart."""
    rng = np.random.default_rng(seed)
    golden = rng.normal(size=(6, 5, 8))
    return golden, golden * (1.0 + 1e-7 * rng.normal(size=golden.shape))


def dataset(values, **attributes):
    """A dataset with coordinates and cell areas."""
    lat, lon = np.linspace(-60.0, 60.0, 5), np.arange(8) * 45.0
    area = np.cos(np.radians(lat))[:, None] * np.ones(8)
    return xr.Dataset(
        {"height": (("time", "lat", "lon"), values), "cell_area": (("lat", "lon"), area)},
        coords={"time": np.arange(6.0), "lat": lat, "lon": lon},
        attrs=attributes,
    )


def numbers(comparison):
    """The metrics of the first row, but the sums of profiles."""
    return comparison.rows[0].errors, comparison.rows[0].statistics.worst


def test_arrays_and_files_of_numpy_are_compared(tmp_path):
    golden, actual = fields()
    for name, values in (("one", golden), ("two", actual)):
        np.save(tmp_path / f"{name}.npy", values)
        np.savez(tmp_path / f"{name}.npz", height=values, level=np.arange(3))
    found = compare(golden, actual)
    files = compare(tmp_path / "one.npy", tmp_path / "two.npy")
    assert found.rows[0].variable == "values" and numbers(found) == numbers(files)
    packed = compare(tmp_path / "one.npz", str(tmp_path / "two.npz"))
    assert packed.row("height").errors == found.rows[0].errors
    assert packed.row("level").verdict == "identical"
    named = compare({"height": golden}, xr.DataArray(actual, name="height", dims=("a", "b", "c")))
    assert named.row("height").errors == found.rows[0].errors
    assert named.row("height").statistics.worst[0]["at"].keys() == {"a", "b", "c"}


def test_what_cannot_be_compared_is_refused(tmp_path):
    np.save(tmp_path / "objects.npy", np.array([{}, []], dtype=object))
    np.save(tmp_path / "complex.npy", np.ones(3) * 1j)
    (tmp_path / "cut.npy").write_bytes((tmp_path / "complex.npy").read_bytes()[:50])
    (tmp_path / "cut.npz").write_bytes(b"PK")
    for name, words in (
        ("objects.npy", "cannot be read as a NumPy file"),
        ("complex.npy", "'values' has dtype complex128, which cannot be compared; real numbers"),
        ("cut.npy", "cannot be read as a NumPy file"),
        ("cut.npz", "is it complete, and without Python objects"),
        ("none.npy", "does not exist; give a .npy or .npz file"),
    ):
        with pytest.raises(InputError, match=words):
            compare(tmp_path / name, np.ones(3))
    with pytest.raises(InputError, match="axis 'values_axis_0' has 3 and 4 points"):
        compare(np.ones(3), np.ones(4))
    with pytest.raises(InputError, match="variables missing from the run: a"):
        compare({"a": np.ones(3)}, {"b": np.ones(3)})
    with pytest.raises(InputError, match="a set cannot be compared; give an xarray Dataset"):
        compare({1.0}, np.ones(3))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("J/kg/K", "J kg-1 K-1", True), ("", "K", True), ("1", "K", False), ("0 kg", "kg", False),
        ("days since 2000-01-01", "months since 2000-01-01", False),
    ],
)  # fmt: skip
def test_units_are_the_same_or_refused(one, other, same):
    """K against degC of the same numbers was called identical."""
    values = fields()[0]
    golden, actual = dataset(values), dataset(values)
    golden["height"].attrs["units"], actual["height"].attrs["units"] = one, other
    if same:
        assert compare(golden, actual).row("height").verdict == "identical"
    else:
        said = f"'height' is in '{one}' and in '{other}': convert one of them first"
        with pytest.raises(InputError, match=re.escape(said)):
            compare(golden, actual)


@pytest.mark.parametrize("values", [np.full((3, 4), np.nan), np.full(5, np.inf), np.zeros((0, 3))])
def test_of_nothing_there_is_no_error_and_no_agreement(values, tmp_path):
    found = compare({"t": values, "u": np.ones(3)}, {"t": values, "u": np.ones(3)})
    row = found.row("t")
    assert (row.verdict, found.row("u").verdict) == ("empty", "identical")
    assert found.within and all(np.isnan(error) for error in row.errors.values())
    for kind in ("absolute", "relative", "ulp", "digits"):
        numbers = getattr(row.statistics, kind)
        assert all(np.isnan(v) for name, v in numbers.items() if name != "of_zero"), kind
    assert row.reason().endswith("nothing was compared")
    assert "2 variables, 1 of them compared, all the same\n" in repr(found)
    alone = compare({"t": values}, {"t": values})
    assert not alone.within
    assert repr(alone).startswith("comparison: 1 variable, nothing was compared")
    assert "<failure" in junit_xml(alone, golden="a", actual="b")
    stored = tmp_path / "metrics.json"
    stored.write_text(json.dumps(found.as_dict(), allow_nan=False))
    assert judge_again(stored, rtol="1.0").row("t").verdict == "empty"
    other = {"t": np.zeros(values.shape), "u": np.ones(3)}
    if values.size:
        broken = compare({"t": values, "u": np.ones(3)}, other)
        assert broken.row("t").verdict == "broken" and not broken.within
        assert all(np.isnan(error) for error in broken.row("t").errors.values())


def test_files_are_read_block_by_block(tmp_path, monkeypatch):
    golden, actual = fields()
    paths = [netcdf.write(dataset(v), tmp_path / f"{i}.nc") for i, v in enumerate((golden, actual))]
    whole = compare(dataset(golden), dataset(actual))
    sizes = []
    monkeypatch.setattr(blocks, "BLOCK", 50)
    usual = blocks.PairBlock

    def watched(start, truth, *rest):
        sizes.append(truth.size)
        return usual(start, truth, *rest)

    monkeypatch.setattr(blocks, "PairBlock", watched)
    found = compare(*paths)
    assert sizes and max(sizes) <= 50
    assert numbers(found) == numbers(whole)


def test_dask_arrays_are_compared_chunk_by_chunk():
    golden, actual = (dataset(v) for v in fields())
    whole = compare(golden, actual)
    chunked = compare(golden.chunk(time=4, lat=2), actual.chunk(time=5, lon=3))
    assert numbers(chunked) == numbers(whole)
    starts = [b.start for b in blocks_of(golden["height"], actual["height"].chunk(lon=3),
                                         np.ones(()), None)]  # fmt: skip
    assert starts == [(0, 0, 0), (0, 0, 3), (0, 0, 6)]


def test_points_in_another_order_are_put_into_order():
    golden, actual = (dataset(v) for v in fields())
    turned = actual.isel(lat=slice(None, None, -1), lon=[3, 1, 2, 0, 7, 6, 5, 4])
    turned = turned.transpose("lon", "time", "lat")
    assert numbers(compare(golden, turned)) == numbers(compare(golden, actual))
    with pytest.raises(InputError, match="the values of axis 'lat' differ"):
        compare(golden, actual.assign_coords(lat=actual["lat"] + 1.0))
