"""Arguments for a kernel that nobody describes: by the names of its parameters, and by trial."""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

SIZE, TRIALS = 6, 20
_WHOLE = re.compile(
    r"^(n|k|i|j|m|p|ndim|n_.*|num.*|.*size|.*window|.*lag|degree|ddof|order|step|seed|index|idx"
    r"|axis|n\w{0,4}|max.*|min_?count|rank|dim|level|.*_i)$"
)
_INDICES = re.compile(
    r"^(ind.*|indptr.*|.*indices.*|idxs?|idx_.*|edges|rows?|cols?|labels|parents?|.*_ds|rank.*)$"
)
_MATRIX = re.compile(r"^([A-Z]|mat.*|img.*|image.*|grid|data|table|.*matrix|.*_2d|points)$")
_VECTOR = re.compile(r"^(x|y|z|a|b|c|u|v|w|r|arr.*|vec.*|values?|out.*|res.*|ts.*|.*data.*|.*s)$")
KINDS = "svmiq"
"""A number, a vector, a matrix, an integer, a vector of indices."""


def made(kind: str, seed: int) -> Any:
    """An argument of a kind, another one for each seed."""
    rng = np.random.default_rng(seed)
    if kind == "s":
        return float(rng.uniform(0.25, 0.75))
    if kind == "v":
        return rng.uniform(0.5, 1.5, SIZE)
    if kind == "m":
        return rng.uniform(0.5, 1.5, (SIZE, SIZE))
    return 2 if kind == "i" else np.arange(SIZE)


def likely(name: str) -> str:
    """The kinds of an argument, the likeliest first, judged by its name."""
    first = ""
    for pattern, kind in ((_INDICES, "q"), (_WHOLE, "i"), (_MATRIX, "m"), (_VECTOR, "v")):
        if pattern.match(name) and kind not in first:
            first += kind
    return first + "".join(k for k in KINDS if k not in first)


def candidates(function) -> Iterator[list[Any]]:
    """Lists of arguments to try, the likeliest first; parameters with defaults keep these."""
    parameters = list(inspect.signature(function).parameters.values())
    if any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in parameters):
        return
    needed = [p for p in parameters if p.default is p.empty]
    ranked = [likely(p.name) for p in needed]
    places = itertools.product(range(len(KINDS)), repeat=len(needed)) if len(needed) < 7 else (
        [rank] * len(needed) for rank in range(len(KINDS)))  # fmt: skip
    likeliest = sorted(places, key=lambda p: (sum(p), max(p, default=0)))
    for choice in likeliest[:TRIALS]:
        yield [made(ranked[i][r], i) for i, r in enumerate(choice)]
