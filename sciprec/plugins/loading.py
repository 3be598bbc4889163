"""Packages that extend sciprec: an entry point of the group `sciprec.plugins` names a module, and
what that module registers when it is imported is known from then on.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from importlib.metadata import entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from sciprec.checks.arguments import path
from sciprec.errors import InputError, why_no_file

GROUP = "sciprec.plugins"
_NAME = "sciprec_plugin_{}"
"""Name of the module that a file becomes."""


@functools.cache
def load_plugins() -> None:
    """Import the modules that installed packages name, once.

    Raises:
        InputError: one of them cannot be imported.
    """
    for point in entry_points(group=GROUP):
        try:
            point.load()
        except Exception as error:
            raise InputError(
                f"the plugin '{point.name}' ({point.value}) of another package cannot be loaded "
                f"({type(error).__name__}: {error}); mend or uninstall that package"
            ) from None


def load_files(files: str | Path | Sequence[str | Path]) -> tuple[str, ...]:
    """Import Python files, each once.

    Args:
        files: one or several.

    Returns:
        Their absolute paths, for workers to import them, too.

    Raises:
        InputError: a file is no Python file or cannot be imported, or two have the same name.
    """
    given = [files] if isinstance(files, (str, Path)) else files
    return tuple(_load(Path(path("a plugin", one))) for one in given)


def _load(file: Path) -> str:
    """Import a file under a name of its own; its absolute path."""
    whole = str(file.resolve())
    why = why_no_file(file) or ("" if file.suffix == ".py" else "is no Python file")
    if why:
        raise InputError(f"the plugin '{file}' {why}; give the path of a file such as mymodel.py")
    name = _NAME.format(file.stem)
    if name in sys.modules:
        if sys.modules[name].__file__ == whole:
            return whole
        raise InputError(
            f"the plugins '{sys.modules[name].__file__}' and '{whole}' have the same name; rename "
            "one of them"
        )
    spec = spec_from_file_location(name, whole)
    sys.modules[name] = module = module_from_spec(spec)
    try:
        exec(spec.loader.source_to_code(file.read_bytes(), whole), vars(module))  # as it is now
    except Exception as error:
        del sys.modules[name]
        raise InputError(
            f"the plugin '{file}' cannot be loaded ({type(error).__name__}: {error}); correct it"
        ) from None
    return whole
