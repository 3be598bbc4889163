"""Results of a run by name: arrays, lines of text and bytes; and where two of them differ."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np

from sciprec.foundation.errors import InputError
from sciprec.results.comparison.inputs import numpy_arrays
from sciprec.results.output import files
from sciprec.results.output.digests import ROOT

Left = Mapping[str, "np.ndarray | tuple[str, ...] | bytes"]
"""The results of a run: numbers and texts in arrays, lines, or bytes, by name."""
PRINTED = "standard output"
_NETCDF = (".nc", ".nc4", ".cdf", ".zarr")
_NUMPY = (".npz", ".npy")
_NAMES = re.compile(
    r"^(?:history|date|time_?stamp|created|creation|modified|processor_seconds)"
    r"|(?:^|_)(?:history|dates?|times?|seconds|clock|host(?:name)?|user|path|files?|folder|uuid"
    r"|pid|machine|elapsed|duration|command|threads|workers|(?:max)?rss)$"
    r"|(?:^|_)(?:peak|most|max(?:imum)?|used|resident)_?memory(?:_(?:used|[kmg]i?b|(?:[kmg]\w*)?bytes))?$",
    re.IGNORECASE,
)
"""Names of attributes that say when, where, by whom, how fast or in how much memory a file was
made.
"""
_MOMENT = re.compile(
    r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?\b"
    r"|\b\d{1,2}:\d\d:\d\d(?:\.\d+)?\b"
    r"|\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\w*,? (?:\w{3} +\d+|\d+ \w{3})\b"
    r"|\b\d+(?:\.\d+)?(?:e-?\d+)? ?(?:s|ms|us|µs|ns|sec|secs|seconds?|minutes?|min)\b"
    r"|\b0x[0-9a-f]{6,}\b"
    r"|\"processors\": \"\d+\"",  # as many as PYTHON_CPU_COUNT says, from Python 3.13 on
    re.IGNORECASE,
)
_SAY_WHAT = ("units", "calendar", "_FillValue")
"""Attributes that are part of the values."""
_SOMEWHERE = re.compile(r"(?:[A-Za-z]:)?(?:/[\w.+~-]+){2,}/?")


@dataclass(frozen=True)
class Difference:
    """The first difference of two runs.

    Args:
        name: of what was left.
        words: a sentence's middle: how many differ, where the first one is, and both values.
        index: of the first element that differs; empty where there is none.
        first, other: its values in the two runs, as text.
        count, of: how many elements differ, of how many; 0 where shapes differ.
    """

    name: str
    words: str
    index: tuple[int, ...] = ()
    first: str = ""
    other: str = ""
    count: int = 0
    of: int = 0


def first_difference(then: Left, now: Left) -> Difference | None:
    """The first thing that differs, in the order in which they were left."""
    for name, value in then.items():
        if name not in now:
            return Difference(name, f"'{name}' is not there")
        if difference := _difference(name, value, now[name]):
            return difference
    added = [name for name in now if name not in then]
    return Difference(added[0], f"'{added[0]}' is there, too") if added else None


def _difference(name: str, then: Any, now: Any) -> Difference | None:
    if isinstance(then, bytes):
        if then == now:
            return None
        texts = [_as_lines(content) for content in (then, now)]
        if texts[0] and texts[1] and texts[0] != texts[1]:
            return _in_lines(name, *texts)
        then, now = (np.frombuffer(side, np.uint8) for side in (then, now))
    if isinstance(then, tuple):
        return _in_lines(name, then, now)
    if then.shape != now.shape or then.dtype != now.dtype:
        was, is_now = (f"{side.dtype} {' x '.join(map(str, side.shape))}" for side in (then, now))
        return Difference(name, f"'{name}' was {was} and is {is_now}", first=was, other=is_now)
    places = np.flatnonzero(_apart(then, now).reshape(-1))
    if not places.size:
        return None
    index = tuple(int(i) for i in np.unravel_index(places[0], then.shape))
    first, second = (_text_of(side.reshape(-1)[places[0]]) for side in (then, now))
    if not then.shape:
        return Difference(name, f"'{name}' was {first} and is {second}", (), first, second, 1, 1)
    words = (
        f"{places.size} of {then.size} elements of '{name}' differ, first "
        f"{list(index)}: {first} and {second}"
    )
    return Difference(name, words, index, first, second, int(places.size), then.size)


def _as_lines(content: bytes) -> tuple[str, ...]:
    """Split a text into lines; bytes that are no text have none."""
    try:
        return () if b"\0" in content else tuple(content.decode("utf-8").splitlines())
    except UnicodeDecodeError:
        return ()


def _in_lines(name: str, then: tuple[str, ...], now: tuple[str, ...]) -> Difference | None:
    """The difference of lines: the first of them, and the first word of it."""
    count = sum(a != b for a, b in zip(then, now, strict=False)) + abs(len(then) - len(now))
    if not count:
        return None
    both = zip(then, now, strict=False)
    line = next((k for k, (a, b) in enumerate(both) if a != b), min(len(then), len(now)))
    of = max(len(then), len(now))
    if line in (len(then), len(now)):
        words = f"'{name}' had {len(then)} lines and has {len(now)}"
        return Difference(name, words, (line,), "", "", count, of)
    a, b = then[line].split(), now[line].split()
    k = next((k for k, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), 0)
    first, second = (f"{parts[k]:.60}" if len(a) == len(b) else f"{' '.join(parts):.60}"
                    for parts in (a, b))  # fmt: skip
    words = (
        f"{count} of {of} lines of '{name}' differ, first line {line + 1}: '{first}' and '{second}'"
    )
    return Difference(name, words, (line,), first, second, count, of)


def _apart(then: np.ndarray, now: np.ndarray) -> np.ndarray:
    """Mark elements that have other bits; any NaN is any other."""
    if then.dtype.kind == "O":
        return np.array([repr(a) != repr(b) for a, b in zip(then.flat, now.flat, strict=True)])
    words = [np.ascontiguousarray(a).reshape(-1).view(f"V{a.itemsize}") for a in (then, now)]
    apart = words[0] != words[1]
    if then.dtype.kind in "fc":
        apart &= ~(np.isnan(then) & np.isnan(now)).reshape(-1)
    return apart


def _text_of(value: Any) -> str:
    return repr(value.item() if isinstance(value, np.generic) else value)


def files_below(
    folder: Path, ignored: tuple[str, ...] = (), only: tuple[str, ...] = ()
) -> tuple[Left, set[str]]:
    """All files of a folder: of netCDF, Zarr and NumPy's files the arrays, and of the former the
    attributes; of others the bytes.

    Args:
        folder: with files in it, and in folders of it.
        ignored: patterns of names of files, or of what is in them, that do not count.
        only: endings of the files that count; empty for all.

    Returns:
        The results, and the attributes that are not counted.
    """
    results: dict[str, Any] = {}
    not_counted: set[str] = set()
    for path in sorted(_files(folder)):
        name = path.relative_to(folder).as_posix()
        if _matches(name, ignored) or (only and path.suffix not in only):
            continue
        content, uncounted = _inside(path, name)
        results |= {n: v for n, v in content.items() if not _matches(n.partition(": ")[2], ignored)}
        not_counted |= uncounted
    return results, not_counted


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return bool(name) and any(fnmatch(name, pattern) for pattern in patterns)


def _files(folder: Path) -> Iterator[Path]:
    """Files, and Zarr stores as one."""
    for path in folder.iterdir():
        if path.is_dir() and path.suffix != ".zarr":
            yield from _files(path)
        else:
            yield path


def _inside(path: Path, name: str) -> tuple[dict[str, Any], set[str]]:
    try:
        if path.suffix in _NUMPY:
            return {f"{name}: {n}": np.array(a) for n, a in numpy_arrays(path).items()}, set()
        if path.suffix in _NETCDF:
            return _variables(path, name)
    except InputError:  # in no file of that kind, whatever it is called
        pass
    return {name: path.read_bytes()}, set()


def _variables(path: Path, name: str) -> tuple[dict[str, Any], set[str]]:
    """Variables and attributes of a netCDF file, in these no dates, times and paths; and the names
    of the attributes that are left out, being of such things alone.
    """
    dataset = files.read(path)
    content: dict[str, Any] = {}
    uncounted = set()
    for n, variable in dataset.variables.items():
        content[f"{name}: {n}"] = np.asarray(variable.values)
    owners = [("", dataset.attrs), *((f"{n}.", v.attrs) for n, v in dataset.variables.items())]
    for owner, attributes in owners:
        for key, value in attributes.items():
            if _NAMES.search(key) or key == ROOT:  # which covers these, too
                uncounted.add(key)
            else:
                text = isinstance(value, str) and key not in _SAY_WHAT
                plain = _SOMEWHERE.sub("…", _MOMENT.sub("…", value)) if text else value
                content[f"{name}: attribute {owner}{key}"] = np.asarray(plain)
    return content, uncounted


def lines_of(text: str, places: Mapping[str, str]) -> tuple[str, ...]:
    """Lines that a run has printed, without dates, times, durations and addresses in memory.

    Args:
        text: what was printed.
        places: folders of this run alone, and what stands for them.
    """
    for place, word in places.items():
        text = text.replace(place, word)
    return tuple(_MOMENT.sub("…", line.rstrip()) for line in text.splitlines())
