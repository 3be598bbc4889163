"""Files of odd members, drawn at random: arrays of every type that NumPy's and netCDF's libraries
write, among what is no array, ragged, damaged, or declared and never written.
"""

from __future__ import annotations

import io
import warnings
import zipfile
from pathlib import Path
from random import Random

import netCDF4
import numpy as np

LENGTHS = (0, 1, 2, 3, 5)
NUMBERS = ("f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")
NAMES = ("x", "y", "t", "time", "lat", "\u202et", "a b", "naïve", "x_axis_0", "cell_area", "out")
PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
SHAPES = ("(1000000000000000,)", "(-1,)", "('a',)", "(" * 300, f"({2**70},)", f"(0, {10**18})",
          "(1.5,)", "None", "(2,")  # fmt: skip
"""Declared in the heads of .npy files."""


def odd_array(draw: Random) -> np.ndarray:
    """An array of any type, of up to three axes, some of which are empty."""
    shape = tuple(draw.choice(LENGTHS) for _ in range(draw.randrange(4)))
    kind = draw.choice(np.typecodes["All"] + "RSN")
    if kind == "R":
        dtype = np.dtype([("a", draw.choice(NUMBERS)), ("b", "U3"), ("c", "f8", (2,))])
    elif kind in "SUV":
        dtype = np.dtype(f"{kind}{draw.randrange(1, 9)}")
    elif kind in "Mm":
        dtype = np.dtype(f"{kind}8[{draw.choice(('Y', 'D', 's', 'ns'))}]")
    elif kind == "N":
        dtype = np.dtype("i2")
    else:
        dtype = np.dtype(kind)
    if draw.random() < 0.3 and dtype.kind in "fiuc":
        dtype = dtype.newbyteorder()
    size = int(np.prod(shape)) * max(dtype.itemsize, 1)
    if dtype.hasobject:
        return np.full(shape, draw.choice([None, "text", 1.5, {}]), object)
    made = np.frombuffer(draw.randbytes(size), np.uint8).copy()
    made = np.zeros(shape, dtype) if dtype.itemsize == 0 else made.view(dtype).reshape(shape)
    return np.asfortranarray(made) if draw.random() < 0.2 else made


def odd_npz(path: Path, draw: Random) -> None:
    """An archive of arrays, and of what is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that are there twice
        with zipfile.ZipFile(path, "w", draw.choice(PACKINGS)) as file:
            for _ in range(draw.choice((0, 1, 2, 4))):
                name, content = f"{draw.choice(NAMES)}.npy", _as_npy(odd_array(draw))
                odd = draw.random()
                if odd < 0.1:
                    name, content = draw.choice(("readme.txt", "x", "a/b.npy")), b"hello"
                elif odd < 0.2:
                    content = content[: draw.randrange(len(content))]
                elif odd < 0.3:
                    content = _with_shape(draw.choice(SHAPES))
                file.writestr(name, content)
    if draw.random() < 0.3:
        content = bytearray(path.read_bytes())
        for _ in range(draw.randrange(1, 9)):
            content[draw.randrange(len(content))] = draw.randrange(256)
        path.write_bytes(content[: draw.choice((len(content), draw.randrange(len(content) + 1)))])


def _as_npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def _with_shape(shape: str) -> bytes:
    """An .npy file that declares a shape, and holds eight bytes."""
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + bytes(8)


def odd_netcdf(path: Path, draw: Random) -> None:
    """A file of variables of all types, some of which are coordinates."""
    with netCDF4.Dataset(path, "w") as file:
        axes = {}
        for name in draw.sample(("x", "y", "time", "big"), draw.randrange(1, 4)):
            length = draw.choice((10**13, 10**15)) if name == "big" else draw.choice(LENGTHS)
            axes[name] = None if draw.random() < 0.2 else length
            file.createDimension(name, axes[name])
        for name in draw.sample(NAMES, draw.randrange(5)):
            where = file.createGroup("inner") if draw.random() < 0.1 else file
            _add_variable(where, file, name, axes, draw)
        if draw.random() < 0.2:
            file.setncattr(draw.choice(("Conventions", "sciprec_scenario", "\u202e")), "odd")


def _add_variable(group, file, name: str, axes: dict, draw: Random) -> None:
    """A variable of any type, with or without values."""
    some = draw.sample(list(axes), draw.randrange(len(axes) + 1))
    along = (name,) if name in axes else tuple(some)
    kind = draw.choice((*NUMBERS, "vlen", "ragged text", str, "S1", "compound", "enum", "complex"))
    data_type, value = _type_of(kind, name, file, draw)
    chunks = [min(axes[a] or 1, 10**6) or 1 for a in along]
    how = {"chunksizes": chunks} if along and all(axes[a] != 0 for a in along) else {}
    if kind in NUMBERS and draw.random() < 0.3:
        how["fill_value"] = draw.choice((0, 1))
    variable = group.createVariable(name, data_type, along, **how)
    if draw.random() < 0.5 and not any(axes[a] in (None, 10**13, 10**15) for a in along):
        variable[...] = np.full(variable.shape, value, getattr(value, "dtype", None) or object) if (
            kind not in ("vlen", "ragged text")) else _ragged(variable.shape, value)  # fmt: skip
    if kind in NUMBERS:
        for key, values in (
            ("units", ("K", "days since 2000-01-01", 3.0, "\u202e")),
            ("scale_factor", (0.5, "half", [1.0, 2.0])), ("add_offset", (1.0, "one")),
            ("bounds", ("y", "nothing")), ("coordinates", ("x y", "nothing")),
            ("valid_range", ([0.0, 1.0], "all")), ("_Unsigned", ("true", 1)),
            ("ancillary_variables", ("t standard_error",)),
        ):  # fmt: skip
            if draw.random() < 0.1:
                variable.setncattr(key, draw.choice(values))


def _type_of(kind, name: str, file, draw: Random):
    """A type of netCDF's, and a value of it."""
    called = f"type_{len(file.vltypes) + len(file.cmptypes) + len(file.enumtypes)}"
    if kind == "vlen":
        base = draw.choice(NUMBERS)
        return file.createVLType(base, called), np.arange(2, dtype=base)
    if kind == "ragged text":
        return file.createVLType("u1", called), np.arange(3, dtype="u1")
    if kind == "compound":
        dtype = np.dtype([("a", "f8"), ("b", "i4", (2,))])
        return file.createCompoundType(dtype, called), np.zeros((), dtype)[()]
    if kind == "complex":
        dtype = np.dtype([("r", "f8"), ("i", "f8")])
        return file.createCompoundType(dtype, called), np.zeros((), dtype)[()]
    if kind == "enum":
        return file.createEnumType("u1", called, {"no": 0, "yes": 1}), np.uint8(1)
    if kind is str:
        return str, draw.choice(("", "text", "\u202etxet"))
    if kind == "S1":
        return "S1", np.bytes_(b"c")
    return kind, np.dtype(kind).type(draw.choice((0, 1, 99)))


def _ragged(shape, value) -> np.ndarray:
    made = np.empty(shape, object)
    for at in np.ndindex(shape):
        made[at] = value
    return made
