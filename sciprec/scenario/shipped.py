"""The files that come with sciprec: scenarios, models, reference prices.

In a checkout they lie in its root; an installed package has them in a folder of its own, into which
pyproject.toml puts them.
"""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path

SCENARIOS, PRICES = "scenarios", "data/heston"
_OWN = "shipped"


def shipped(folder: str) -> Path:
    """The path of a folder of shipped files.

    Args:
        folder: SCENARIOS or PRICES, a path in the root of a checkout.
    """
    package = Path(str(resources.files("sciprec")))
    root = package / _OWN
    return (root if root.is_dir() else package.parent) / folder


def names(folder: str) -> tuple[str, ...]:
    """The names of the TOML files in a folder of shipped files."""
    return tuple(sorted(path.stem for path in shipped(folder).glob("*.toml")))


def named(given: str | Path, folder: str) -> Path:
    """The file that is meant: what is at that path, else the shipped one of that name."""
    if not os.path.exists(given) and str(given) in names(folder):
        return shipped(folder) / f"{given}.toml"
    return Path(given)
