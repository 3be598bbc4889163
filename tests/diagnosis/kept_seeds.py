"""Findings of a survey on every seed, kept in a folder as soon as a seed is complete."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any


def kept(
    folder: Path, seeds: Iterable[int], surveyed: Callable[[int], dict], more: str = ""
) -> list[dict[str, Any]]:
    """Survey the seeds that the folder does not hold yet; give what it holds.

    Args:
        folder: has a file seed_N.json for each.
        seeds: of the kernels.
        surveyed: seed -> what is kept.
        more: of the name of a file, before its ending.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for seed in seeds:
        path = folder / f"seed_{seed:06d}{more}.json"
        if not path.exists():
            part = path.with_suffix(f".part{os.getpid()}")
            part.write_text(json.dumps({"seed": seed} | surveyed(seed)))
            os.replace(part, path)
    return [json.loads(path.read_text()) for path in sorted(folder.glob("seed_*.json"))]
