"""The files that come with sciprec: scenarios, models, reference prices, examples, docs.

In a checkout they lie in its root; an installed package has them in a folder of its own, into which
pyproject.toml puts them.
"""

from __future__ import annotations

import functools
import os
import re
import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from sciprec.foundation.errors import InputError, meant

SCENARIOS, PRICES, EXAMPLES, DOCS = "scenarios", "data/heston", "examples", "docs"
_EXAMPLE = "examples:"
"""Before the name of an example, in the place of a file's path."""
_OWN = "shipped"


def shipped(folder: str) -> Path:
    """The path of a folder of shipped files.

    Args:
        folder: SCENARIOS, PRICES, EXAMPLES or DOCS, a path in the root of a checkout.
    """
    package = Path(str(resources.files("sciprec")))
    root = package / _OWN
    return (root if root.is_dir() else package.parent) / folder


def names(folder: str) -> tuple[str, ...]:
    """The names of the TOML files in a folder of shipped files."""
    return tuple(sorted(path.stem for path in shipped(folder).glob("*.toml")))


def named(path: str | Path, folder: str) -> Path:
    """The file that is meant: an example, what is at that path, or the shipped one of that name."""
    if is_example(path):
        return example(path, ".toml")
    if not os.path.exists(path) and str(path) in names(folder):
        return shipped(folder) / f"{path}.toml"
    return Path(path)


def is_example(path: str | Path) -> bool:
    """Whether a path is `examples:NAME`."""
    return str(path).startswith(_EXAMPLE)


def example(path: str | Path, suffix: str) -> Path:
    """The path of a file; of `examples:NAME` that of the example.

    Args:
        path: behind `examples:` the suffix may be left out.
        suffix: ".toml" of scenarios, ".py" of kernels and models.

    Raises:
        InputError: there is no such example.
    """
    if not is_example(path):
        return Path(path)
    name = str(path).removeprefix(_EXAMPLE).removesuffix(suffix)
    folder = shipped(EXAMPLES)
    stems = sorted(path.stem for path in folder.glob(f"*{suffix}"))
    if name in stems:
        return folder / f"{name}{suffix}"
    sort = "scenario" if suffix == ".toml" else "Python file"
    kernels = (
        f"; kernels of its Python file are '{_EXAMPLE}{name}.py:FUNCTION'"
        if suffix == ".toml" and (folder / f"{name}.py").is_file() else ""
    )  # fmt: skip
    raise InputError(
        f"'{path}' names no {sort} of the examples{kernels}; accepted: "
        f"{', '.join(f'{_EXAMPLE}{each}' for each in stems)}"
        f"{'' if kernels else meant(f'{_EXAMPLE}{name}', [_EXAMPLE + each for each in stems])}"
    )


@functools.cache
def example_models() -> Mapping[str, Path]:
    """The kinds of scenario that examples define, and their files, which have the same names."""
    files = {path.stem: path for path in sorted(shipped(EXAMPLES).glob("*.py"))}
    return {
        name: path for name, path in files.items()
        if re.search(rf'@sciprec\.model\(\s*"{name}"', path.read_text(encoding="utf-8"))
    }  # fmt: skip


def example_rows() -> list[dict[str, str]]:
    """The examples as plain data: the name of each, its sort, and its own sentence on itself."""
    rows = []
    for path in sorted(shipped(EXAMPLES).iterdir()):
        if path.suffix not in (".toml", ".py"):
            continue
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".toml":
            title, sort, name = tomllib.loads(text)["title"], "scenario", path.stem
        else:
            title = text.partition('"""')[2].partition("\n")[0]
            sort, name = "Python file", path.name
        rows.append({"name": f"{_EXAMPLE}{name}", "sort": sort, "title": title.removesuffix(".")})
    return rows
