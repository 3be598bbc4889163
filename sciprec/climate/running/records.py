"""Stored states of a run: fields in memory, or records of one size that are appended to a file.

A record holds the fields of one stored state one after another, in binary64 or binary32. The file
grows by a record for each state, and nothing that is written in it is written again: what a
checkpoint says of it is how many records count, and a digest of every variable of each, by which it
is checked when it is read. Arrays over time are read when they are asked for, so that a run needs
the memory of one state however many it stores.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from errno import EIO
from pathlib import Path
from typing import Any, Protocol

import numpy as np

_DIGITS = 64


class States(Protocol):
    """The store for the fields of the states that a run keeps."""

    def append(self, fields: Mapping[str, np.ndarray]) -> None: ...

    def arrays(self) -> dict[str, Any]: ...


class InMemory:
    """Stored fields in memory: room for all of them is taken at the first, and filled as they come.

    Args:
        expected: how many states the run stores if it reaches its end.
        dtype: of their numbers.
    """

    def __init__(self, expected: int, dtype: str = "float64") -> None:
        self._expected, self._count, self._dtype = expected, 0, dtype
        self._arrays: dict[str, np.ndarray] = {}

    def append(self, fields: Mapping[str, np.ndarray]) -> None:
        """Keep the fields of one more state."""
        for name, values in fields.items():
            if name not in self._arrays:
                self._arrays[name] = np.empty((self._expected, *values.shape), self._dtype)
            self._arrays[name][self._count] = values
        self._count += 1

    def arrays(self) -> dict[str, np.ndarray]:
        """Variable -> (states, ...)."""
        if self._count == self._expected:
            return self._arrays
        return {name: x[: self._count].copy() for name, x in self._arrays.items()}


class Records:
    """Stored fields in a file beside a checkpoint.

    Args:
        path: of the file, which is made at the first record.
        dtype: of its numbers.

    Attributes:
        places: of each stored state, the number of its record.
    """

    def __init__(self, path: Path, dtype: str = "float64") -> None:
        self.path, self.dtype = path, np.dtype(dtype)
        self.places: list[int] = []
        self._layout: dict[str, tuple[int, ...]] = {}
        self._digests: list[list[bytes]] = []
        self._written = 0

    def append(self, fields: Mapping[str, np.ndarray]) -> None:
        """Write the fields of one more state behind the others.

        Raises:
            OSError: the system does not take them; its file name says where.
        """
        self._layout = self._layout or {name: x.shape for name, x in fields.items()}
        parts = [np.ascontiguousarray(x, self.dtype).tobytes() for x in fields.values()]
        if sum(map(len, parts)) != self._bytes or tuple(fields) != tuple(self._layout):
            raise ValueError("a stored state has other fields than those before")
        place = self._written
        try:
            with open(self.path, "r+b" if self.path.exists() else "wb") as stream:
                stream.seek(place * self._bytes)
                stream.write(b"".join(parts))
        except OSError as error:
            error.filename = error.filename or str(self.path)
            raise
        self._digests.append([_digest(part) for part in parts])
        self.places.append(place)
        self._written += 1

    def arrays(self) -> dict[str, Recorded]:
        """Variable -> (states, ...), read when it is asked for."""
        result, before = {}, 0
        for k, (name, shape) in enumerate(self._layout.items()):
            starts = [place * self._bytes + before for place in self.places]
            digests = [values[k] for values in self._digests]
            places = tuple(zip(starts, digests, strict=True))
            result[name] = Recorded(self.path, places, shape, self.dtype)
            before += self.dtype.itemsize * math.prod(shape)
        return result

    def state(self) -> dict[str, np.ndarray]:
        """The facts about the file for a checkpoint, once all that was written is on the disk."""
        if self.path.exists():
            with open(self.path, "r+b") as stream:
                os.fsync(stream.fileno())
        shape = len(self.places), len(self._layout)
        return {
            "layout": np.array(json.dumps(self._layout)),
            "places": np.array(self.places, np.int64),
            "digests": np.array(self._digests, f"S{_DIGITS}").reshape(shape),
        }

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Go on behind the records that such a state speaks of.

        Raises:
            ValueError: it is no such state.
        """
        layout = json.loads(str(state["layout"]))
        self._layout = {str(name): tuple(map(int, shape)) for name, shape in layout.items()}
        self._digests = state["digests"].tolist()
        self.places = [int(x) for x in state["places"]]
        self._written = max(self.places, default=-1) + 1
        if state["digests"].shape != (len(self.places), len(layout)):
            raise ValueError("its records have no digests")

    def require_whole(self) -> None:
        """Make sure that the file holds what was written.

        Raises:
            OSError: it does not.
        """
        for variable in self.arrays().values():
            for k in range(len(variable)):
                variable[k]

    def keep(self, which: list[bool]) -> None:
        """Leave out those stored states that are no output times of a longer run. Their records
        stay as they are, since the last checkpoint speaks of them.
        """
        indices = np.flatnonzero(which)
        self.places = [self.places[k] for k in indices]
        self._digests = [self._digests[k] for k in indices]

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the fields of a record, by name."""
        return dict(self._layout)

    @property
    def _bytes(self) -> int:
        """Bytes of one record."""
        return self.dtype.itemsize * sum(math.prod(shape) for shape in self._layout.values())


class Recorded:
    """A variable over the stored states of a file of records; indexing reads what is asked for.

    Args:
        path: of the file.
        places: of each state, where the variable begins in the file, and the digest of its bytes.
        shape: of the variable in one state.
        dtype: of its numbers.
    """

    def __init__(
        self, path: Path, places: tuple[tuple[int, bytes], ...], shape: tuple[int, ...],
        dtype: np.dtype,
    ) -> None:  # fmt: skip
        self._path, self._places, self.dtype = path, places, dtype
        self.shape = (len(places), *shape)
        self.ndim = len(self.shape)

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, key: Any) -> np.ndarray:
        """The part that integers, slices and an ellipsis say, as an array in memory.

        Raises:
            OSError: the file does not hold what was written.
        """
        key = key if isinstance(key, tuple) else (key,)
        if Ellipsis in key:
            at = key.index(Ellipsis)
            filled = (slice(None),) * (self.ndim - len(key) + 1)
            key = (*key[:at], *filled, *key[at + 1 :])
        first, rest = (key or (slice(None),))[0], key[1:]
        if not isinstance(first, slice):
            return self._read(*self._places[first])[rest]
        places = self._places[first]
        like = np.empty(self.shape[1:], self.dtype)[rest] if not places else None
        rows = [self._read(*place)[rest] for place in places[:1]]
        result = np.empty((len(places), *(rows[0] if rows else like).shape), self.dtype)
        for k, place in enumerate(places):
            result[k] = rows[0] if k == 0 else self._read(*place)[rest]
        return result

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """All of it in memory."""
        return self[:].astype(dtype or self.dtype, copy=False)

    def _read(self, start: int, digest: bytes) -> np.ndarray:
        values = np.empty(self.shape[1:], self.dtype)
        with open(self._path, "rb", buffering=0) as stream:
            stream.seek(start)
            if values.nbytes and stream.readinto(values.reshape(-1).view(np.uint8)) < values.nbytes:
                raise OSError(EIO, "a stored state is gone from the file", str(self._path))
        if _digest(values) != digest:
            raise OSError(EIO, "a stored state was changed in the file", str(self._path))
        return values


def _digest(content: Any) -> bytes:
    """SHA-256 of bytes, or of an array's, in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest().encode()
