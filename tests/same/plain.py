"""Texts and values as they are whatever the place of modules, the machine and the time: digests."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

import sciprec

DIGITS = 8
KEPT = "SCIPREC_SAME_KEPT"
"""Where this environment variable names a folder, a file there holds what each digest is of."""
_PATH = re.compile(r"\bsciprec(?:\.\w+)*\.(\w+)")
_FILE = re.compile(r"(?:/[\w.+-]+)+/([\w.+-]+)")
_DIGEST = re.compile(r"\b[0-9a-f]{16,64}\b")
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b|\b\d{12,}\b")
_IMPORTS = re.compile(r"^(?:from .* import .*\n)+", re.MULTILINE)


def plain(text: str) -> str:
    """A text without what differs between two runs, two folders and two layouts of the package."""
    text = _PATH.sub(r"\1", text)
    return _FILE.sub(r"\1", text)


def plain_module(text: str) -> str:
    """A generated module, its imports in order; it names other ones by digests of their texts."""
    text = _ADDRESS.sub("#", _DIGEST.sub("#", plain(text)))
    return _IMPORTS.sub(lambda found: "".join(sorted(found[0].splitlines(True))), text)


def digest(value: Any) -> str:
    """The first hexadecimal digits of the SHA-256 of a text, or of numbers and what holds them."""
    content = value if isinstance(value, str) else "\n".join(_parts(value))
    found = hashlib.sha256(content.encode()).hexdigest()[:DIGITS]
    if folder := os.environ.get(KEPT):
        (Path(folder) / found).write_text(content, encoding="utf-8")
    return found


def _parts(value: Any):
    """Numbers to the last bit, every NaN alike, and types of arrays."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, Mapping):
        yield "{"
        for key in sorted(value, key=str):
            yield f"{key}:"
            yield from _parts(value[key])
        yield "}"
    elif isinstance(value, (tuple, list)):
        yield "("
        for item in value:
            yield from _parts(item)
        yield ")"
    elif isinstance(value, np.ndarray) and value.dtype.kind in "fciub":
        if value.dtype.kind in "fc":
            value = np.where(np.isnan(value), np.array(np.nan, value.dtype), value)
        bits = np.ascontiguousarray(value, value.dtype.newbyteorder("<")).tobytes()
        yield f"{value.dtype.str[1:]}{value.shape}{hashlib.sha256(bits).hexdigest()}"
    elif isinstance(value, (float, complex, np.floating, np.complexfloating)):
        yield from _parts(np.asarray(value))
    elif isinstance(value, (str, bytes, bool, int, np.integer, np.bool_, type(None))):
        yield repr(value.item() if isinstance(value, np.generic) else value)
    else:
        yield plain(json.dumps(value, default=str))


def outcome(call: Callable[[], Any]) -> str:
    """The digest of what a call gives; behind a "!" that of the sentence by which it is refused."""
    try:
        return digest(call())
    except (sciprec.InputError, ArithmeticError, ValueError, TypeError, IndexError) as error:
        return "!" + digest(plain(f"{type(error).__name__}: {error}"))
