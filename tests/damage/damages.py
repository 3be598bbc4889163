"""Random damages of a finished folder, each of one kind, told in words."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.damage.folders import of_file, of_store, run_files
from tests.damage.test_lists import changed
from tests.writing.damages import flipped, truncated, zeroed

Change = Callable[[bytes, random.Random], bytes]
Damage = Callable[[Path, Path, random.Random], str]
"""A function of the folder, of one of the same batch made before, and of a source of randomness; it
says what it has done."""
DAMAGES: dict[str, Damage] = {}
BLOCKS = (512, 4096)


def damage(do: Damage) -> Damage:
    """Register a damage under its name."""
    DAMAGES[do.__name__] = do
    return do


def stored_files(folder: Path) -> list[Path]:
    """All files of runs: those of netCDF, and what Zarr stores consist of."""
    found = (folder / name for name in run_files(folder))
    return sorted(p for one in found for p in ([one] if one.is_file() else one.rglob("*"))
                  if p.is_file())  # fmt: skip


def said(folder: Path, *paths: Path) -> str:
    """Paths inside the folder."""
    return " and ".join(str(path.relative_to(folder)) for path in paths)


def in_one_file(change: Change) -> None:
    """Register a damage of the bytes of one file."""

    def do(folder: Path, before: Path, rng: random.Random) -> str:
        path = rng.choice([path for path in stored_files(folder) if path.stat().st_size])
        path.write_bytes(change(path.read_bytes(), rng))
        return f"{said(folder, path)} {change.__name__}"

    DAMAGES[change.__name__] = do


for one in (flipped, truncated, zeroed):
    in_one_file(one)


@damage
def removed(folder, before, rng):
    path = rng.choice(stored_files(folder))
    path.unlink()
    return f"{said(folder, path)} removed"


@damage
def exchanged_blocks(folder, before, rng):
    """Of one file, or of two."""
    one, two = (rng.choice(stored_files(folder)) for _ in range(2))
    two = rng.choice([one, two])
    size = rng.choice(BLOCKS)
    places = [rng.randrange(1 + max(0, p.stat().st_size - size)) for p in (one, two)]
    blocks = [p.read_bytes()[a : a + size] for p, a in zip((one, two), places, strict=True)]
    for path, place, block in zip((one, two), places, blocks[::-1], strict=True):
        with open(path, "r+b") as stream:
            stream.seek(place)
            stream.write(block)
    return f"{size} bytes of {said(folder, one, two)} at {places} exchanged"


@damage
def exchanged_files(folder, before, rng):
    """Files of two runs, or, of Zarr stores, chunks or metadata."""
    one, two = rng.sample(stored_files(folder), 2)
    _exchange(one, two)
    return f"{said(folder, one, two)} exchanged"


@damage
def exchanged_runs(folder, before, rng):
    """With their entries in the list, or without."""
    one, two = rng.sample(run_files(folder), 2)
    _exchange(folder / one, folder / two)
    words = f"{one} and {two} exchanged"
    if rng.random() < 0.5:
        return words
    path = folder / "batch.json"
    content = json.loads(path.read_text())
    first, second = (next(e for e in content["runs"] if e["file"] == name) for name in (one, two))
    own = {"scenario", "backend", "compensation", "label", "file", "member"}
    for key in {*first, *second} - own:
        first[key], second[key] = second.get(key), first.get(key)
    path.write_text(json.dumps(content, indent=1))
    return words + " with their entries"


@damage
def old_run(folder, before, rng):
    """A file of an earlier batch, in another start, in place of that of this one."""
    name = rng.choice(run_files(before))
    path = folder / name
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    copy = shutil.copytree if path.suffix == ".zarr" else shutil.copyfile
    copy(before / name, path)
    return f"{name} of an earlier batch"


@damage
def changed_list(folder, before, rng):
    path = folder / "batch.json"
    path.write_text(changed(json.loads(path.read_text()), rng, seal=lambda content: content))
    return "batch.json changed"


@damage
def changed_key(folder, before, rng):
    """A key of the list, or of an entry, is cut out; or an entry removed or doubled."""
    path = folder / "batch.json"
    content = json.loads(path.read_text())
    number = rng.randrange(len(content["runs"]))
    table = rng.choice([content, content["runs"][number]])
    match rng.randrange(4):
        case 0:
            del content["runs"][number]
            words = f"entry {number} removed"
        case 1:
            content["runs"].append(content["runs"][number])
            words = f"entry {number} doubled"
        case _:
            key = rng.choice(list(table))
            del table[key]
            words = f"key {key} cut out"
    path.write_text(json.dumps(content, indent=1))
    return f"batch.json: {words}"


@damage
def removed_list(folder, before, rng):
    (folder / "batch.json").unlink()
    return "batch.json removed"


@damage
def edited_attribute(folder, before, rng):
    """By the library of the file, as a user would."""
    name = rng.choice(run_files(folder))
    variable, key, value = rng.choice([
        ("", "blow_up", "stopped"), ("", "blow_up", ""), ("", "sciprec_backend", "fp32"),
        ("", "sciprec_scenario", "tolerance"), ("", "new", 1.0), ("", "sciprec_member", 7),
        ("wind", "units", "km h-1"), ("wind", "scale_factor", 2.0), ("wind", "missing_value", None),
        ("mean", "units", "s"), ("parameter", "units", "2"), ("parameter", "add_offset", 1.0),
    ])  # fmt: skip
    if variable:
        variable = "parameter" if "sums" in name else variable.replace("parameter", "wind")
    if value is None:  # one that is there, and is none any more
        held = (of_file if name.endswith(".nc") else of_store)(folder / name)[variable][2]
        value = float(np.frombuffer(held[2], held[0])[0])
    _edit(folder / name, variable, key, value)
    return f"{name}: attribute {key} of '{variable}' edited"


@damage
def edited_values(folder, before, rng):
    """By the library of the file, which makes its checksums anew."""
    return _edited_values(folder, rng.choice(run_files(folder)))


@damage
def edited_member(folder, before, rng):
    """Of an ensemble, beyond its first one."""
    return _edited_values(folder, rng.choice([n for n in run_files(folder) if "__m0001" in n]))


def _edited_values(folder: Path, name: str) -> str:
    variable = "wind" if "squall" in name else "parameter"
    if name.endswith(".nc"):
        import netCDF4

        with netCDF4.Dataset(folder / name, "a") as file:
            file[variable][3] = file[variable][4]
    else:
        import zarr

        array = zarr.open_group(folder / name, mode="a", zarr_format=2)[variable]
        array[3] = array[4]
    return f"{name}: record 3 of '{variable}' edited"


def _exchange(one: Path, two: Path) -> None:
    aside = one.with_name("aside")
    one.rename(aside)
    two.rename(one)
    aside.rename(two)


def _edit(path: Path, variable: str, key: str, value) -> None:
    """Set an attribute; that of a scenario gets another tolerance."""
    if path.suffix == ".nc":
        import netCDF4

        with netCDF4.Dataset(path, "a") as file:
            target = file[variable] if variable else file
            if key == "sciprec_scenario":
                value = _wider(target.getncattr(key))
            target.setncattr(key, value)
        return
    for place in (path / variable / ".zattrs", path / ".zmetadata"):
        content = json.loads(place.read_text())
        table = content
        if place.name == ".zmetadata":
            table = content["metadata"][f"{variable}/.zattrs" if variable else ".zattrs"]
        table[key] = _wider(table[key]) if key == "sciprec_scenario" else value
        place.write_text(json.dumps(content))


def _wider(scenario: str) -> str:
    content = json.loads(scenario)
    content["tolerance"][0]["at_most"] *= 1e6
    return json.dumps(content, sort_keys=True)
