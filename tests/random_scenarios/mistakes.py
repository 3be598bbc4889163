"""One mistake in a scenario that is good otherwise, and a word that the sentence about it holds."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

FREE = ("parameters", "variables", "alerts", "scales")
"""Tables whose keys are names of something else."""
LIMITS = {
    "truncation": (0, 1024, -1), "days": (0.0, 1e5, -1.0), "step_seconds": (0.5, 1e6),
    "output_hours": (0.0, 1e9), "members": (0, 10**9), "perturbation": (0.0, 0.2, -1e-9),
    "seed": (-1, 2**63), "spot": (0.0, -5.0, 1e13), "v0": (-0.1, 101.0), "kappa": (0.0, 1001.0),
    "theta": (0.0, -1.0), "sigma": (0.0, 1e3), "rho": (1.5, -2.0), "rate": (11.0, -11.0),
    "dividend_yield": (20.0,), "fixings": (0, 10**7), "barrier": (0.0, -1.0),
    "confidence": (0.0, 1.0), "max_paths": (1000, 10**12), "n_paths": (1, 10**10),
    "steps_per_year": (0, 10**6), "block_paths": (0, 10**8), "updates": (0, 10**10),
    "smallest": (0.0, -1.0, 1.0), "largest": (1e13, 1e-9), "start": (-1.0, 1e13),
    "outputs": (0, 10**6), "at_most": (-1e-9,), "kept_orders": (-1,), "alpha": (-0.1, 1e9),
    "beta": (-1.0,), "reset_every": (0,), "strikes": ([], [-1.0, 2.0], [2.0, 1.0], [1e13]),
    "maturities_years": ([], [0.0, 1.0], [101.0], [1.0, 1.0]),
    "tolerance": ("0%", "200%", "much", "-1abs"), "checkpoints": ("../away", "/tmp/away", ""),
    "name": ("", "Upper", "a b", "x" * 61, "../x"), "title": ("",), "variables": ([],),
    "backends": ([],),
}  # fmt: skip
"""Values out of the range of a key, by its name."""
UNKNOWN = ("kind", "case", "time_scheme", "scheme", "stored", "variable", "metric", "legendre",
           "narrow", "wide")  # fmt: skip
"""Keys that hold a name of something."""
LISTS = ("backends", "compensation", "stages", "variables", "policy", "allow", "deny")
"""Keys that hold such names."""


def mistakes(content: dict[str, Any], rng: random.Random) -> Iterator[tuple[dict[str, Any], str]]:
    """Scenarios with one mistake each: a misspelt key, a wrong type, NaN, a number out of range, a
    name of nothing, the same name twice, and a required key left out, everywhere in the tables.
    """
    for path, value in places(content):
        key = path[-1]
        free = any(part in FREE for part in path[:-1])
        if not free and isinstance(key, str):
            yield changed(content, (*path[:-1], f"{key}{key[-1]}"), value), f"{key}{key[-1]}"
        for wrong in other_types(value, free, key):
            yield changed(content, path, wrong), "" if free else str(key)
        if isinstance(value, float) or free and isinstance(value, int):
            yield changed(content, path, rng.choice([float("nan"), float("inf")])), ""
        if key in LIMITS and not free and _is_ranged(content, path, value):
            for beyond in LIMITS[key]:
                yield changed(content, path, beyond), ""
        if key == "variable" and content["kind"] == "decay":
            continue  # whose variables nobody knows before it has run
        if key in UNKNOWN or len(path) > 1 and path[-2] in LISTS and isinstance(value, str):
            yield changed(content, path, "nothing-of-that-name"), "nothing-of-that-name"
        if key in LISTS and isinstance(value, list) and key != "variables":
            yield changed(content, path, [*value, value[0]]), "twice"
    if content["kind"] != "decay":
        nowhere = {"variable": "nowhere", "metric": "rms", "at_most": 1.0, "reason": "drawn"}
        yield changed(content, ("tolerance",), [*content.get("tolerance", []), nowhere]), "nowhere"
    for required in ("name", "title", "source", "kind", content["kind"]):
        less = copy.deepcopy(content)
        del less[required]
        yield less, required


def _is_ranged(content: dict[str, Any], path: tuple, value: Any) -> bool:
    """Whether values of LIMITS are out of range for this key, which several kinds have."""
    decay = content["kind"] == "decay" and path[0] == "decay"
    return not decay and not isinstance(value, dict)


def places(content: Any, path: tuple = ()) -> Iterator[tuple[tuple, Any]]:
    """All keys and places of lists, with what stands there."""
    inner = content.items() if isinstance(content, dict) else enumerate(content)
    for key, value in inner:
        yield (*path, key), value
        if isinstance(value, (dict, list)):
            yield from places(value, (*path, key))


def other_types(value: Any, free: bool, key: Any) -> list[Any]:
    """Values of types that are not accepted in place of a value."""
    if key == "truncation":  # a number or a name
        return ["3", True, [1], 3.5]
    if isinstance(value, str):
        return [[1.0]] if free or isinstance(key, int) else [3, True, [1.0]]
    if isinstance(value, bool):
        return [3, "true"]
    if isinstance(value, (int, float)):
        return [["x"], {"x": 1.0}] if free else ["3", True, [1]]
    if isinstance(value, list):
        return ["x" * 3, 3]
    return [3, "x", [1.0]]


def changed(content: dict[str, Any], path: tuple, value: Any) -> dict[str, Any]:
    """The scenario with another value at a place."""
    found = copy.deepcopy(content)
    table: Any = found
    for part in path[:-1]:
        table = table[part]
    table[path[-1]] = value
    return found
