"""Checkpoints: what a run needs to go on with the same bits, in files named after what it is.

One, written again from time to time, holds the state; the other the stored fields, a record for
each stored state, to which the run appends (`records`). Both are sealed by digests, that of the
state over what the run is, too: what was damaged, or is of another run, is never gone on from.
"""

from __future__ import annotations

import hashlib
import io
import json
import time
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from sciprec.climate.constants import SECONDS_PER_DAY
from sciprec.climate.running.identity import code_behind, parts_of, state_behind
from sciprec.climate.running.records import Records
from sciprec.climate.running.request import Request, Restart
from sciprec.climate.running.time_statistics import TimeStatistics
from sciprec.climate.stepping.levels import Level
from sciprec.foundation import whole
from sciprec.foundation.arguments import path
from sciprec.foundation.dates import USUAL_START, StartDate
from sciprec.foundation.definitions import code_digest
from sciprec.foundation.errors import InputError
from sciprec.foundation.limits import OUTPUT_TYPES
from sciprec.instruments.assigning.scaling import ScaledBackend

_SEAL_BYTES = hashlib.sha256().digest_size
_MOST_SHARE_OF_TIME = 0.05


@dataclass
class Saved:
    """The content of a checkpoint.

    Args:
        steps: made so far.
        levels: of the time scheme, newest first, with their residuals.
        stored: for each stored state its number of steps, ascending.
        budgets: what was stored: name -> (states,).
        kernels: from `compiled.kernel_states`.
        timed: (n, 2), steps and processor seconds of the sections of these steps.
        seen: what a monitor has seen, as arrays of an `observing.Observer`.
        ladder: of an adaptive run, arrays of its `Control`.
        statistics: of the interval since the last stored state, of its `TimeStatistics`.
        forced: tendencies of a forcing that the next step uses, or None.
    """

    steps: int
    levels: list[Level]
    stored: list[int]
    budgets: dict[str, np.ndarray]
    kernels: dict[str, np.ndarray] = field(default_factory=dict)
    timed: np.ndarray = field(default_factory=lambda: np.empty((0, 2)))
    seen: dict[str, np.ndarray] = field(default_factory=dict)
    ladder: dict[str, np.ndarray] = field(default_factory=dict)
    statistics: dict[str, np.ndarray] = field(default_factory=dict)
    forced: np.ndarray | None = None


class Checkpoints:
    """The checkpoint of one run in a folder, written again from time to time.

    The name is made of a digest of everything but the length of the run, so that a run finds its
    own file and no other's, and a longer one goes on where a shorter one ended.

    Args:
        folder: made where it is missing; or a Restart, which names it.
        request: the run.

    Attributes:
        identity: the digest.
        path: of the file of the state.
        records: the stored fields.
        in_their_file: whether these stay there when the run has ended.

    Raises:
        InputError: the folder cannot be made.
    """

    def __init__(self, folder: str | Path | Restart, request: Request) -> None:
        self._written, self._cost, self._at_the_end = -np.inf, 0.0, True
        self._tell = Restart.told
        self.in_their_file = isinstance(folder, Restart)
        if isinstance(folder, Restart):
            self._at_the_end, self._tell = folder.lasting, folder.told
            if not folder.lasting:
                self._written = time.perf_counter()
                self._cost = folder.after_seconds * _MOST_SHARE_OF_TIME
            folder = folder.folder
        path("checkpoints", folder)
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"the folder '{folder}' of checkpoints cannot be made ({error.strerror}); give one "
                "that you may write into"
            ) from None
        self.identity = digest(request)
        self.about = {"identity": self.identity, **description(request)}
        self.path = Path(folder) / f"{request.case.name}-{self.identity[:16]}.npz"
        whole.tidy(self.path.parent, self.path.name)
        self.records = Records(self.path.with_suffix(".states"), request.output_type)
        self.request = request

    def load(self, like: Level, statistics: TimeStatistics) -> Saved | None:
        """The saved run, records included; None where the run has not begun yet, or begins anew
        because the file of a Restart that does not last is damaged.

        Args:
            like: the level that the run would begin with, whose shapes and types the saved ones
                have.
            statistics: of the run, which go on from the saved ones.

        Raises:
            InputError: the file cannot be read, is damaged, or is not of this run.
        """
        if not self.path.exists():
            return None
        try:
            arrays = self._read()
            saved = _unpacked(arrays)
            if isinstance(self.request.backend, ScaledBackend):  # older ones are in binary32
                saved.levels[:] = [level.in_dtype(like.values.dtype) for level in saved.levels]
            self.records.restore(_named(arrays, "record_"))
            _require_fit(saved, like, self.request, self.records)
            self.records.require_whole()
            statistics.restore(saved.statistics, self.records.shapes)
            return saved
        except (OSError, ValueError) as error:
            why = str(error)
            if isinstance(error, OSError):
                why = f"{error.strerror}: '{Path(error.filename or self.path).name}'"
        self.records = Records(self.records.path, self.request.output_type)
        statistics.begin()
        if self._at_the_end:
            raise InputError(
                f"the checkpoint '{self.path}' cannot be read ({why}); get both of its files back, "
                f"or remove it to begin again"
            )
        self._tell(
            f"the checkpoint '{self.path.name}' of an interruption cannot be gone on from ({why}): "
            "the run began anew"
        )
        return None

    def _read(self) -> dict[str, np.ndarray]:
        """The arrays of the file.

        Raises:
            OSError, ValueError: it cannot be read, or is not what this run has written.
        """
        content = self.path.read_bytes()
        if _seal(self.identity, content[:-_SEAL_BYTES]) != content[-_SEAL_BYTES:]:
            raise ValueError("it is damaged, or of another run")
        with np.load(io.BytesIO(content[:-_SEAL_BYTES])) as file:
            return {name: file[name] for name in file.files}

    def save(self, saved: Saved, last: bool) -> None:
        """Write the file, unless the last writing is too short ago for what it took.

        Args:
            saved: the content.
            last: whether the run ends here; then it is written in any case, or in none for a
                Restart.
        """
        start = time.perf_counter()
        if last and not self._at_the_end:
            return
        if not last and start - self._written < self._cost / _MOST_SHARE_OF_TIME:
            return
        stream = io.BytesIO()
        records = {f"record_{name}": x for name, x in self.records.state().items()}
        about = np.array(json.dumps(self.about))
        np.savez(stream, **_packed(saved), **records, about=about)
        content = stream.getvalue()
        whole.write_bytes(self.path, content + _seal(self.identity, content), lasting=True)
        self._written = time.perf_counter()
        self._cost = self._written - start


@dataclass(frozen=True)
class FileOfState:
    """A checkpoint that is read by its path, whatever run it is of.

    Args:
        source: its name and time, in words.
        digest: its seal, in hexadecimal digits.
        about: from `description`.
        saved: its content.
    """

    source: str
    digest: str
    about: dict[str, Any]
    saved: Saved

    @property
    def since(self) -> StartDate:
        """The date from which the run's days count."""
        return StartDate(*self.about["since"])


def read_checkpoint(path: str | Path) -> FileOfState:
    """Read the state of a run's checkpoint.

    Args:
        path: of the file NAME.npz; that of its stored states is not needed.

    Raises:
        InputError: there is no such file, it is damaged, or of an earlier version.
    """
    path = Path(path)
    try:
        about = path.stat()
    except OSError as error:
        raise InputError(
            f"start_from: the checkpoint '{path}' cannot be read ({error.strerror}); give the path "
            "of a file NAME.npz in a folder of checkpoints, or of a netCDF file that a run wrote"
        ) from None
    return _file_of_state(path, (about.st_mtime_ns, about.st_size, about.st_ino))


@lru_cache(maxsize=2)
def _file_of_state(path: Path, stamp: tuple[int, ...]) -> FileOfState:
    """The state, held until others have been read: a scenario is checked many times."""
    try:
        content = path.read_bytes()
        arrays, seal = content[:-_SEAL_BYTES], content[-_SEAL_BYTES:]
        with np.load(io.BytesIO(arrays)) as file:
            read = {name: file[name] for name in file.files}
        about = json.loads(str(read["about"])) if "about" in read else None
        if about is not None and _seal(about["identity"], arrays) != seal:
            raise ValueError("its digest is another one")
        saved = _unpacked(read)
    except Exception as error:  # whatever the libraries say of damaged bytes
        why = getattr(error, "strerror", "") or "it is damaged, or no checkpoint"
        raise InputError(
            f"start_from: the checkpoint '{path}' cannot be read ({why}); take another one, or a "
            "netCDF file that the run wrote"
        ) from None
    if about is None:
        raise InputError(
            f"start_from: the checkpoint '{path}' is of an earlier version, which does not say "
            "what run it is of; let its run go on for another output time, and take the new one"
        )
    days = saved.steps * about["step_seconds"] / SECONDS_PER_DAY
    return FileOfState(f"the checkpoint '{path}' at day {days:.12g}", seal.hex(), about, saved)


def description(request: Request) -> dict[str, Any]:
    """Facts about a run that its branches have to know, as plain data."""
    sets = request.parameters
    parameters = sets.case | sets.equations | sets.diffusion | {"fourier": sets.fourier}
    return {
        "case": request.case.name, "equations": request.equations.name,
        "truncation": [request.truncation.name, repr(request.truncation)],
        "arithmetic": request.backend.name, "step_seconds": request.step_seconds,
        "since": [request.since.date, request.since.calendar],
        "own_start": request.initial is None, "parts": parts_of(request),
        "parameters": {n: x for n, x in parameters.items() if isinstance(x, str | int | float)},
        "tracers": [tracer.name for tracer in request.tracers],
        "tracer_units": [tracer.unit for tracer in request.tracers],
        "forcing": "none" if request.forcing is None else request.forcing.name,
    }  # fmt: skip


def _seal(identity: str, arrays: bytes) -> bytes:
    """The digest that stands behind the arrays in the file of a run."""
    return hashlib.sha256(identity.encode() + arrays).digest()


def digest(request: Request) -> str:
    """Hexadecimal digits that differ for runs that differ in more than their length: the code that
    they name and their initial states included.
    """
    parts = (
        code_digest(), code_behind(request), state_behind(request),
        request.case.name, request.equations.name, request.scheme.name,
        repr(request.truncation), repr(request.backend), repr(request.stored),
        repr(request.step_seconds), request.every, repr(request.parameters),
        sorted((name, repr(c)) for name, c in request.compensation.items()), request.variables,
        repr(request.perturbation), repr(request.stages),
        request.monitor and repr(request.monitor.identity()),
        request.adaptive and repr((request.adaptive, request.stops)),  # its shares are of the whole
        *([] if request.since == USUAL_START else [repr(request.since)]),
        *([] if not request.tracers else [repr(request.tracers)]),
        *([] if request.sample_every == 1 else [request.sample_every]),
        *([] if not request.period else [f"period {request.period}"]),
        *([] if request.output_type == OUTPUT_TYPES[0] else [request.output_type]),
    )  # fmt: skip
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _require_fit(saved: Saved, like: Level, request: Request, records: Records) -> None:
    """Make sure that every array has the shape and type with which the kernels are called.

    Raises:
        ValueError: one has not.
    """
    count, fits = len(saved.stored), True
    for level in saved.levels:
        for expected, stored in ((like.values, level.values), (like.residual, level.residual)):
            fits &= (expected is None) == (stored is None)
            if expected is not None and stored is not None:
                fits &= (stored.shape, stored.dtype) == (expected.shape, expected.dtype)
    fits &= 1 <= len(saved.levels) <= request.scheme.levels
    fits &= records.shapes.keys() == set(request.variables)
    fits &= len(records.places) == count
    rows = saved.budgets.values()
    fits &= all(x.shape == (count,) and x.dtype == np.float64 for x in rows)
    fits &= saved.stored == sorted(set(saved.stored)) and 0 <= count <= saved.steps + 1
    if saved.seen:
        watched = [
            x for name, x in saved.seen.items()
            if name != "exponents" and not name.startswith(("drift_", "lost_"))
        ]  # fmt: skip
        fits &= "exponents" in saved.seen and len({len(x) for x in watched}) <= 1
    if not fits:
        raise ValueError("its arrays are not those of this run")


def _packed(saved: Saved) -> dict[str, np.ndarray]:
    """The arrays of a file."""
    arrays = {
        "steps": np.array(saved.steps),
        "stored": np.array(saved.stored),
        "timed": saved.timed,
    }
    for i, level in enumerate(saved.levels):
        arrays[f"level_{i}"] = level.values
        if level.residual is not None:
            arrays[f"residual_{i}"] = level.residual
    if saved.forced is not None:
        arrays["forced"] = saved.forced
    groups = {
        "budget": saved.budgets, "kernel": saved.kernels, "seen": saved.seen,
        "ladder": saved.ladder, "statistic": saved.statistics,
    }  # fmt: skip
    for kind, rows in groups.items():
        arrays |= {f"{kind}_{name}": values for name, values in rows.items()}
    return arrays


def _unpacked(arrays: dict[str, np.ndarray]) -> Saved:
    """The content of a file's arrays."""
    count = sum(name.startswith("level_") for name in arrays)
    return Saved(
        steps=int(arrays["steps"]),
        levels=[Level(arrays[f"level_{i}"], arrays.get(f"residual_{i}")) for i in range(count)],
        stored=arrays["stored"].tolist(),
        budgets=_named(arrays, "budget_"),
        kernels=_named(arrays, "kernel_"),
        timed=arrays["timed"],
        seen=_named(arrays, "seen_"),
        ladder=_named(arrays, "ladder_"),
        statistics=_named(arrays, "statistic_"),
        forced=arrays.get("forced"),
    )


def _named(arrays: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    return {name[len(prefix) :]: x for name, x in arrays.items() if name.startswith(prefix)}
