"""Generated modules: written once into the cache folder, named by everything they depend on."""

from __future__ import annotations

import ast
import hashlib
import sys
import threading
import types
from collections.abc import Mapping
from typing import Any

import numba

from sciprec.foundation import cache_files
from sciprec.foundation.cache_files import cache_folder
from sciprec.precision.compiled import disk_cache
from sciprec.precision.rewriting.program import Program
from sciprec.precision.rewriting.syntax import compiled_tree, parse

__all__ = ["cache_folder", "module_of", "run_text"]

_import_lock = threading.RLock()


def module_of(program: Program) -> types.ModuleType:
    """The generated module; its file is named by a hash of everything that it depends on.

    The module is made of the program's own text: the file is for people and for messages.
    """
    text = program.text()
    outside = "".join(map(disk_cache.outside_digest, program.named_functions()))
    content = f"{disk_cache.engine_digest()}{outside}\n{text}"
    digest = hashlib.sha256(content.encode()).hexdigest()[:24]
    stem = f"{program.kernel.__name__}_{digest}"
    qualified = f"sciprec_lifted.{stem}"
    with _import_lock:
        if qualified in sys.modules:
            return sys.modules[qualified]
        path = cache_folder() / f"{stem}.py"
        _store(path, text.encode())
        module = types.ModuleType(qualified)
        module.__file__ = str(path)
        sys.modules[qualified] = module
        try:
            run_text(text, module)
        except BaseException:
            del sys.modules[qualified]
            raise
        if program.parallel:
            numba.np.ufunc.parallel._launch_threads()
        return module


def run_text(
    text: str, module: types.ModuleType, replacements: Mapping[str, Any] | None = None
) -> None:
    """Run a generated module's text in a module; what the text imports under a name of
    `replacements` is the replacement.
    """
    tree, replaced = parse(text), replacements or {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            node.names = [a for a in node.names if (a.asname or a.name) not in replaced]
    tree.body = [n for n in tree.body if not isinstance(n, ast.ImportFrom) or n.names]
    vars(module).update(replaced)
    exec(compiled_tree(tree, module.__file__ or module.__name__), vars(module))


def _store(path, content: bytes) -> None:
    """Write a generated module unless it is there."""
    stored = cache_files.read(path)
    if stored == content:
        return
    if stored is not None:
        cache_files.discard(path, "it is damaged")
    cache_files.write(path, content)
