"""Packages that extend sciprec: an entry point of the group `sciprec.plugins` names a module, and
what that module registers when it is imported is known from then on.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import sys
import threading
from collections.abc import Iterator, Sequence
from importlib.metadata import entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from sciprec.foundation.arguments import path
from sciprec.foundation.errors import InputError, why_no_file
from sciprec.foundation.shipped import example

GROUP = "sciprec.plugins"
_NAME = "sciprec_plugin_{}"
"""Name of the module that a file becomes."""
_ONE_AT_A_TIME = threading.RLock()


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
    paths = [files] if isinstance(files, (str, Path)) else files
    return tuple(str(loaded_file(item, "plugin").__file__) for item in paths)


def loaded_file(file: str | Path, sort: str, *, registers: bool = True) -> ModuleType:
    """The module that a Python file becomes, under a name of its own; a file is imported once.

    Args:
        file: its path, or `examples:NAME`.
        sort: its name in messages, such as "plugin".
        registers: whether it registers things, so that no other file may have its name; else an
            edited file, and one of that name elsewhere, is another module.

    Raises:
        InputError: it is no Python file or cannot be imported, or another one of its name has been.
    """
    file = example(path(f"a {sort}", file), ".py")
    where = str(file.resolve())
    why = why_no_file(file) or ("" if file.suffix == ".py" else "is no Python file")
    if why:
        raise InputError(f"the {sort} '{file}' {why}; give the path of a file such as mymodel.py")
    name = _NAME.format(file.stem)
    if not registers:
        content = where.encode() + b"\0" + file.read_bytes()
        name += f"_{hashlib.sha256(content).hexdigest()[:16]}"
    with _ONE_AT_A_TIME:  # another thread would have a module that has not run to its end
        if name in sys.modules:
            if sys.modules[name].__file__ == where:
                return sys.modules[name]
            raise InputError(
                f"the {sort}s '{sys.modules[name].__file__}' and '{where}' have the same name; "
                "rename one of them"
            )
        spec = spec_from_file_location(name, where)
        sys.modules[name] = module = module_from_spec(spec)
        try:
            with beside(file):  # the source as it is now
                exec(spec.loader.source_to_code(file.read_bytes(), where), vars(module))
        except Exception as error:
            del sys.modules[name]
            raise InputError(
                f"the {sort} '{file}' cannot be loaded ({type(error).__name__}: {error}); correct "
                "it"
            ) from None
        return module


def by_path(module: str) -> bool:
    """Whether a module is a file that was given by its path, wherever that lies."""
    return module.startswith(_NAME.format(""))


@contextlib.contextmanager
def beside(file: Path) -> Iterator[None]:
    """Let a file's code import the modules of its own folder, as those of scripts do."""
    folder = str(file.resolve().parent)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
