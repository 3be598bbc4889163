"""Baselines of kernels with the names of older versions, which are read for ever."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

_RESULT = re.compile(r"result(?=$|_\d+($|_axis_)|_axis_)")
"""The name of a kernel's result, or of its axis; no argument has such a name beside it."""


def todays_name(name: str) -> str:
    """The name of what a kernel returns: `return`, which was `result` up to version 0.2."""
    return _RESULT.sub("return", name)


def new_name(name: str, known: Collection[str]) -> str:
    """Today's name of a variable or an axis of a file, if that is known and its own is not."""
    stem = name.partition("_axis_")[0]
    return todays_name(name) if stem not in known and todays_name(stem) in known else name


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
