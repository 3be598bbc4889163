"""Digests of stored datasets: the same before writing and after reading, and every damage told."""

import random

import numpy as np
import pytest
import xarray as xr

from sciprec.results.output import digests, files, pieces
from tests.writing.damages import DAMAGES

SUFFIXES = (".nc", ".zarr")
NUMBERS = "f8 f4 >f8 >f4 i8 i4 i2 i1 u8 u1 ? >i4".split()
TEXTS = ["", "a", "b c", "Ωmega", "line\nline", "x" * 40]
ATTRIBUTES = [
    0, -3, 2**40, 0.1, -0.0, np.nan, np.inf, "", "text", "Ωmega", [1], [1, 2], [1, 2.5], [0.5],
    np.float32(0.1), np.int8(3), np.array([4]), np.array([1.5, np.nan]), np.arange(5, dtype="i2"),
    ["a", "b"], ["a"], "a; b\nc", (1, 2),
]  # fmt: skip


@pytest.fixture(params=SUFFIXES)
def suffix(request):
    """The ending of either format."""
    if request.param == ".zarr":
        pytest.importorskip("zarr", reason="the optional package zarr is not installed")
    return request.param


def values(shape, draw, numbers):
    """An array of any type that both formats hold."""
    if 0 not in shape and draw.random() < 0.15:  # empty ones are of floats in files
        array = np.array([draw.choice(TEXTS) for _ in range(int(np.prod(shape)))], dtype=str)
        return array.reshape(shape).astype(draw.choice(["U", "O"]))
    kind = np.dtype(draw.choice(NUMBERS))
    if kind.kind != "f":
        raw = numbers.integers(0, 256, (*shape, kind.itemsize), dtype=np.uint8)
        raw = raw % 2 if kind.kind == "b" else raw
        return np.ascontiguousarray(raw).view(kind).reshape(shape)
    array = (numbers.normal(size=shape) * 10.0 ** draw.randint(-40, 30)).astype(kind)
    special = [np.nan, np.inf, -np.inf, -0.0, 0.0, np.finfo(kind).tiny / 8]
    for _ in range(draw.randint(0, 3) if array.size else 0):
        array.reshape(-1)[draw.randrange(array.size)] = draw.choice(special)
    if array.size and draw.random() < 0.2:  # a NaN that carries bits of its own
        array.reshape(-1).view(f"{kind.str[0]}u{kind.itemsize}")[0] |= 0x7FC0_0001 << (
            32 if kind.itemsize == 8 else 0
        )
    return array


def drawn(seed):
    """A dataset of any axes, types, values and attributes."""
    draw, numbers = random.Random(seed), np.random.default_rng(seed)
    sizes = {"time": draw.choice([1, 2, 9, 40]), "lat": 3, "lon": draw.choice([0, 1, 5]), "b": 2}
    made, axes = {}, {}
    for k in range(draw.randint(1, 7)):
        dims = [dim for dim in sizes if draw.random() < 0.5]
        draw.shuffle(dims)
        about = {f"a{n}": draw.choice(ATTRIBUTES) for n in range(draw.randint(0, 3))}
        made[f"v{k}"] = (dims, values([sizes[d] for d in dims], draw, numbers), about)
    for dim in sizes:
        if draw.random() < 0.5:
            axes[dim] = (dim, np.arange(sizes[dim]) / 3, {"units": "1", "bounds": f"{dim}_bnds"})
            made[f"{dim}_bnds"] = ((dim, "edge"), np.zeros((sizes[dim], 2)), {"units": "1"})
    if draw.random() < 0.3:
        made["circle"], made["shown"] = ((), 180.0), ((), 1.0, {"coordinates": "circle"})
    many = draw.choice([0, 3, 60])
    return xr.Dataset(made, axes, {f"g{n}": draw.choice(ATTRIBUTES) for n in range(many)})


def shapes(draw, dataset, monkeypatch, path):
    """The dataset as others hold it: dask's, read from a file, large, or as it is."""
    texts = [v for v in dataset.variables.values() if v.dtype.kind in "OU" and "time" in v.dims]
    way = draw.choice(["plain", "dask", "stored", "plain" if texts else "large"])
    if way == "dask":
        return dataset.chunk({dim: draw.randint(1, max(1, n)) for dim, n in dataset.sizes.items()})
    if way == "large":
        monkeypatch.setattr(pieces, "WHOLE_BYTES", 0)
        monkeypatch.setattr(pieces, "PIECE_BYTES", draw.choice([1, 100, 700]))
    return files.available(files.write(dataset, path)) if way == "stored" else dataset


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(8), pytest.param(range(100, 107), marks=pytest.mark.slow)])
def test_the_roots_before_writing_are_those_after_reading(seeds, suffix, tmp_path):
    for seed in seeds:
        with pytest.MonkeyPatch.context() as patch:
            is_as_written(seed, suffix, tmp_path, patch)


def is_as_written(seed, suffix, folder, monkeypatch):
    """A dataset's digests do not depend on what it went through."""
    draw, dataset = random.Random(seed), drawn(seed)
    usual = digests.seal(dataset)
    other = suffix if draw.random() < 0.5 else ".nc"
    held = shapes(draw, dataset, monkeypatch, folder / f"before{other}")
    sealed = digests.seal(held)
    path = files.write(sealed.compute(), folder / f"run{suffix}")
    seen = files.verify(path, usual.attrs[digests.OF_RUN])
    assert seen.proven, (seed, str(seen))
    assert seen.attributes[digests.ROOT] == usual.attrs[digests.ROOT], seed
    read = files.read(path)
    assert digests.seal(read).attrs[digests.ROOT] == usual.attrs[digests.ROOT], seed
    for name, variable in read.variables.items():
        assert records(variable.attrs) == records(usual[name].attrs), (seed, name)


def records(attributes):
    said = attributes.get(digests.RECORDS) or attributes[digests.OF_BOUNDS]
    size = digests.DIGITS
    return [said[k : k + size] for k in range(0, len(said), size)]


@pytest.mark.parametrize(("kind", "dims"), [
    ("f8", ("time", "x")), ("f4", ("x", "time")), ("i2", ("x", "y")), ("u8", ("x", "time")),
])  # fmt: skip
def test_every_bit_of_every_value_counts(kind, dims):
    array = np.arange(1, 7).reshape(2, 3).astype(kind)
    dataset, size = digests.seal(xr.Dataset({"v": (dims, array)})), 8 * array.itemsize
    bits = array.view(f"u{array.itemsize}")
    for place in np.ndindex(array.shape):
        for bit in range(size):
            changed = bits.copy()
            changed[place] ^= np.array(1 << bit, bits.dtype)
            other = dataset.assign(v=(dims, changed.view(kind), dataset["v"].attrs))
            which = f" (record {place[dims.index('time')]})" if "time" in dims else ""
            assert digests.damage(other) == f"has changed since it was written, in 'v'{which}"


def test_every_nan_is_alike_and_zeros_of_both_signs_are_not():
    bits = np.array([0x7FF8_0000_0000_0000, 0xFFF8_0000_0000_0000, 0x7FF0_0000_0000_0001], "u8")
    told = [digests.seal(xr.Dataset({"v": ((), one)})).attrs for one in bits.view("f8")]
    assert told[0] == told[1] == told[2]
    zeros = [digests.seal(xr.Dataset({"v": ((), one)})).attrs for one in (0.0, -0.0)]
    assert zeros[0] != zeros[1]


@pytest.fixture
def written(suffix, tmp_path):
    """A sealed file of three variables along time, and one without it."""
    height = np.random.default_rng(1).normal(size=(6, 40, 50))
    dataset = xr.Dataset(
        {
            "height": (("time", "lat", "lon"), height),
            "mass": ("time", np.arange(6.0)),
            "nothing": (("time", "lat", "lon"), np.full((6, 40, 50), np.nan)),
            "area": (("lat", "lon"), height[0]),
        },
        {"time": np.arange(6.0)}, {"sciprec_seconds": 1.5, "about": "a run"},
    )  # fmt: skip
    return files.write(digests.seal(dataset), tmp_path / f"run{suffix}")


def stored(path):
    """The files of a store, or the file."""
    return sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]


def test_a_lost_piece_of_a_store_is_told_and_no_zero_is_read(tmp_path):
    pytest.importorskip("zarr", reason="the optional package zarr is not installed")
    path = files.write(
        digests.seal(xr.Dataset({"u": (("time", "x"), np.ones((3, 2)))})), tmp_path / "run.zarr"
    )
    (path / "u" / "0.0").unlink()
    assert np.isnan(files.read(path)["u"]).all()
    seen = files.verify(path)
    words = "has changed since it was written, in 'u' (record 0 and 2 more of 3)"
    assert (seen.damage, seen.sealed, seen.proven) == (words, True, False)
    assert str(seen) == f"'{path}' {words}"


def test_pieces_that_hold_no_number_may_be_there_or_not(written):
    if written.is_dir():
        for chunk in (written / "nothing").glob("[0-9]*"):
            chunk.unlink()
    assert files.verify(written).proven
    assert np.isnan(files.read(written)["nothing"]).all()


@pytest.mark.parametrize("seed", range(3))
def test_a_damaged_file_is_told_or_holds_what_was_written(seed, written):
    """Whatever its bytes are, nothing is raised."""
    draw, whole = random.Random(seed), files.read(written)
    path = draw.choice(stored(written))
    path.write_bytes(draw.choice(DAMAGES)(path.read_bytes(), draw))
    seen = files.verify(written)
    assert not seen.proven or files.read(written).identical(whole), seen


def test_attributes_are_covered_and_circumstances_are_not_of_the_run(written, suffix):
    before = files.verify(written)
    dataset = files.read(written)
    files.write(dataset.assign_attrs(about="another"), written)
    words = "has other names, axes, types or attributes than were written"
    assert files.verify(written).damage == words
    files.write(dataset.assign_attrs(sciprec_seconds=2.5), written)
    assert files.verify(written).damage == words
    files.write(digests.seal(dataset.assign_attrs(sciprec_seconds=2.5)), written)
    again = files.verify(written, before.digest)
    assert again.proven and again.digest == before.digest
    files.write(digests.seal(dataset.assign_attrs(about="another")), written)
    assert files.verify(written).proven
    assert (
        files.verify(written, before.digest).damage
        == "holds other results than the list of runs says"
    )


@pytest.mark.slow
def test_digests_that_were_cut_out_are_missed(written):
    dataset, bare = files.read(written), files.read(written)
    for owner, name in (
        (dataset, digests.ROOT), (dataset, digests.OF_RUN), (dataset["mass"], digests.RECORDS),
    ):  # fmt: skip
        kept = owner.attrs.pop(name)
        files.write(dataset, written)
        assert files.verify(written).damage.startswith("has lost the digest"), name
        owner.attrs[name] = kept
    for owner in (bare, *bare.variables.values()):
        owner.attrs = {n: a for n, a in owner.attrs.items() if not n.startswith("sciprec_digest")}
    files.write(bare, written)
    assert str(files.verify(written)) == f"'{written}' is not verified: made before 0.2"
    lost = "has lost the digests that it was written with"
    assert files.verify(written, "0" * 64).damage == lost
    for version, damage in (("0.1.9", ""), ("0.2.0", lost), ("1.0", lost), ("unknown", "")):
        said = {"sciprec_provenance": f'{{"sciprec": "{version}"}}'}
        files.write(bare.assign_attrs(said), written)
        assert files.verify(written).damage == damage, version


def test_very_many_records_have_one_digest_together(tmp_path):
    count = 3 * digests.MOST_RECORDS - 4
    dataset = digests.seal(xr.Dataset({"mass": ("time", np.arange(float(count)))}))
    assert len(records(dataset["mass"].attrs)) == count // 3 + 1 <= digests.MOST_RECORDS
    path = files.write(dataset, tmp_path / "run.nc")
    assert files.verify(path).proven
    dataset["mass"][[4, count - 1]] = 0.0
    assert files.verify(files.write(dataset, path)).damage == (
        "has changed since it was written, in 'mass' (records 3 to 5 and 1 more of 4095)"
    )
