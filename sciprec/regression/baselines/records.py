"""The files of a baseline: `baseline.json`, sealed by a digest, and netCDF with the kept values.

    baselines/NAME/baseline.json    what was asked, by what it was made, noise, history
    baselines/NAME/fp16.nc          kept values of a run, compressed

All of a baseline appears at once, or not at all. Baselines of kernels with the names of older
versions are read for ever.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import xarray as xr

from sciprec.foundation import whole
from sciprec.foundation.errors import InputError, meant
from sciprec.foundation.sealed import is_sealed, sealed
from sciprec.regression.baselines.keeping import Fingerprint
from sciprec.results.output import files

SCHEMA = 1
FOLDER = "baselines"
RECORD = "baseline.json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}")
_RESULT = re.compile(r"result(?=$|_\d+($|_axis_)|_axis_)")
"""The name of a kernel's result, or of its axis; no argument has such a name beside it."""


@dataclass(frozen=True)
class KeptRun:
    """The record of a run in a baseline.

    Args:
        name: its label, with the member.
        file: of the batch's folder that it is in, where there is such.
        values: name of the netCDF file beside the record; empty where the run left nothing.
        sealed: SHA-256 of that file.
        failure: empty, or why the run failed.
        variables: fingerprints, those of axes too.
        noise: by variable, the spread of each metric.
        noise_of: of what that is the spread, in words.
        errors: by variable, the relative l2 error of the kept values against fp64's; empty for
            fp64 itself.
        pace: median and least of the processor seconds of this run and those of its noise, as
            ratios to a reference kernel; empty where these are not known.
        room: median and least of the bytes that this run takes, likewise.
    """

    name: str
    file: str
    values: str = ""
    sealed: str = ""
    failure: str = ""
    variables: Mapping[str, Fingerprint] = field(default_factory=dict)
    noise: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    noise_of: str = ""
    errors: Mapping[str, float] = field(default_factory=dict)
    pace: Mapping[str, float] = field(default_factory=dict)
    room: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Record:
    """A baseline.

    Args:
        name: of its folder.
        key: digest of what was asked, the source of kernels included.
        subject, asked, source: as of the request.
        runs: in the order of the plan.
        made_by: commit, processor, SIMD level, versions.
        history: what was saved and blessed, the last one last: at, commit, reason, found, errors.
        folder: where it lies.
    """

    name: str
    key: str
    subject: Mapping[str, Any]
    asked: Mapping[str, Any]
    source: str
    runs: tuple[KeptRun, ...]
    made_by: Mapping[str, str]
    history: tuple[Mapping[str, Any], ...]
    folder: Path = Path(FOLDER)

    def values_of(self, run: KeptRun) -> xr.Dataset | None:
        """The kept values of a run; None where it left nothing.

        Raises:
            InputError: the file is not the one that was saved.
        """
        if not run.values:
            return None
        path = self.folder / self.name / run.values
        if not path.is_file() or _sha(path) != run.sealed:
            was = "was changed after it was saved" if path.is_file() else "is missing"
            raise InputError(
                f"baseline '{self.name}': the file '{path}' {was}; get it back from version "
                "control, or remove the folder and save it anew"
            )
        values = files.read(path)
        names = {str(name) for name in (*values.variables, *values.dims)}
        return values.rename({name: new_name(name, run.variables) for name in names})


def write_record(record: Record, values: Mapping[str, xr.Dataset]) -> Path:
    """Write a baseline in place of the one of its name, if there is one.

    Args:
        record: without seals.
        values: by name of a run, what is kept.

    Raises:
        InputError: it cannot be written; what was there is as it was.
    """
    target = record.folder / record.name
    try:
        record.folder.mkdir(parents=True, exist_ok=True)
        whole.tidy(record.folder, record.name)
        with whole.replacing(target, lasting=True) as part:
            part.mkdir()
            runs: list[dict[str, Any]] = []
            for run in record.runs:
                digest, stem = "", ""
                if run.name in values:
                    stem = _file_name(run.name, [entry["values"] for entry in runs])
                    digest = _sha(files.write(values[run.name], part / stem))
                runs.append(asdict(run) | {"values": stem, "sealed": digest})
            for run, stored in zip(record.runs, runs, strict=True):
                stored["variables"] = {n: v.as_dict() for n, v in run.variables.items()}
            content = {
                "schema": SCHEMA, "name": record.name, "key": record.key,
                "subject": dict(record.subject), "asked": dict(record.asked),
                "source": record.source, "runs": runs, "made_by": dict(record.made_by),
                "history": [dict(entry) for entry in record.history],
            }  # fmt: skip
            text = json.dumps(sealed(content), indent=1) + "\n"
            (part / RECORD).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"the baseline '{target}' cannot be written ({error.strerror or error}); give a "
            "folder that you may write into with --folder"
        ) from None
    return target


def read_record(name: str, folder: str | Path = FOLDER) -> Record:
    """Read a baseline.

    Raises:
        InputError: there is none of this name, it was edited by hand, or another version wrote it.
    """
    folder = Path(folder)
    whole.put_back(folder)
    path = folder / name / RECORD
    if not _NAME.fullmatch(name) or not path.is_file():
        names = record_names(folder)
        raise InputError(
            f"there is no baseline '{name}' in '{folder}'; there: {', '.join(names) or 'none'}"
            f"{meant(name, names)}"
        )
    content = _content(path)
    if content.get("schema") != SCHEMA:
        raise InputError(
            f"'{path}' has schema {content.get('schema')!r}, and this sciprec reads {SCHEMA}; "
            "check with the sciprec that wrote it, then remove the folder and save it anew with "
            "this one"
        )
    if not is_sealed(content):
        raise InputError(
            f"'{path}' was edited by hand, or merged: its seal does not fit; get it back from "
            f"version control, or remove its folder and save it anew (numbers change with `sciprec "
            f"baseline bless {name} --reason ...`)"
        )
    content = in_todays_names(content)
    runs = tuple(_kept_run(run) for run in content["runs"])
    values = {n: content[n] for n in ("key", "subject", "asked", "source", "made_by")}
    return Record(name, **values, runs=runs, history=tuple(content["history"]), folder=folder)


def record_names(folder: str | Path = FOLDER) -> list[str]:
    """Names of the baselines in a folder."""
    if not os.path.isdir(folder):
        return []
    whole.put_back(Path(folder))
    return sorted(path.parent.name for path in Path(folder).glob(f"[!.]*/{RECORD}"))


def require_name(name: str) -> None:
    """Make sure that a name may be a baseline's.

    Raises:
        InputError: it may not.
    """
    if not _NAME.fullmatch(name):
        raise InputError(
            f"a baseline cannot be called '{name}'; accepted: letters, digits, '.', '_', '+' and "
            "'-', beginning with a letter or digit, at most 100"
        )


def require_new(name: str, folder: str | Path) -> None:
    """Make sure that there is no baseline of a name.

    Raises:
        InputError: there is one.
    """
    whole.put_back(Path(folder))
    if (Path(folder) / name).exists():
        raise InputError(
            f"there is a '{name}' in '{folder}' already; accept other numbers with `sciprec "
            f"baseline bless {name} --reason ...`, or give another name with --name"
        )


def _content(path: Path) -> dict[str, Any]:
    """The JSON of a record."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(content, dict):
            return content
        why = "it holds no object"
    except OSError as error:
        raise InputError(
            f"'{path}' cannot be read ({error.strerror}); check its permissions and the disk"
        ) from None
    except ValueError as error:
        why = str(error)
    raise InputError(
        f"'{path}' cannot be read as a baseline ({why:.120}); get it back from version control, or "
        "remove its folder and save it anew"
    )


def _kept_run(stored: Mapping[str, Any]) -> KeptRun:
    variables = {
        name: Fingerprint.read(stored_print) for name, stored_print in stored["variables"].items()
    }
    noise = {name: with_todays_metrics(spread) for name, spread in stored["noise"].items()}
    return KeptRun(**{**stored, "variables": variables, "noise": noise})


def _file_name(name: str, used: Sequence[str]) -> str:
    """The name of a netCDF file, unlike those of others."""
    stem = re.sub(r"[^A-Za-z0-9.+]+", "-", name).strip("-.") or "run"
    candidate, count = f"{stem}.nc", 1
    while candidate in used:
        candidate, count = f"{stem}-{count}.nc", count + 1
    return candidate


def _sha(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def todays_name(name: str) -> str:
    """The name of what a kernel returns: `return`, which was `result` up to version 0.2."""
    return _RESULT.sub("return", name)


def new_name(name: str, names: Collection[str]) -> str:
    """Today's name of a variable or an axis of a file, if that is known and its own is not."""
    stem = name.partition("_axis_")[0]
    return todays_name(name) if stem not in names and todays_name(stem) in names else name


def in_todays_names(content: dict[str, Any]) -> dict[str, Any]:
    """The JSON of a record with today's names of what a kernel returns."""
    if not _has_older_names(content):
        return content
    of_runs = () if content["subject"].get("traced") else ("runs", "history")
    return content | {part: _renamed(content[part]) for part in ("subject", "asked", *of_runs)}


def with_todays_metrics(spread: Mapping[str, float]) -> dict[str, float]:
    """The noise of a variable with today's names of metrics."""
    return {{"largest": "max_abs"}.get(metric, metric): size for metric, size in spread.items()}


def _has_older_names(content: dict[str, Any]) -> bool:
    """Whether the JSON of a record may have `result` where it is `return` today."""
    if content["subject"].get("kind") != "kernel":
        return False
    scenarios = [run["scenario"] for run in content["asked"].values()]
    names = {name for scenario in scenarios for name in scenario[scenario["kind"]]["arguments"]}
    return not any(name.startswith("result") for name in names)


def _renamed(value: Any) -> Any:
    """Names that are keys or stand in lists."""
    if isinstance(value, dict):
        return {todays_name(key): _renamed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [todays_name(item) if isinstance(item, str) else _renamed(item) for item in value]
    return value
