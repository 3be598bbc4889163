"""Generated modules: written once into the cache folder, named by everything they depend on."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import re
import sys
import tempfile
import threading
from pathlib import Path

import llvmlite
import numba

from sciprec.precision.program import Program
from sciprec.precision.syntax import LiftError

_IMPORT = re.compile(r"^from sciprec\.precision(?:\.(\w+)| import ([\w, ]+))", re.M)
_import_lock = threading.RLock()


def cache_folder() -> Path:
    """Where generated modules and their compiled code are kept: SCIPREC_CACHE_DIR, or the user's
    cache.
    """
    chosen = os.environ.get("SCIPREC_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(base) if base else Path.home() / ".cache") / "sciprec"


def module_of(program: Program):
    """The imported generated module; written once, named by a hash of everything it depends on."""
    text = program.text()
    digest = hashlib.sha256(f"{_engine_digest()}\n{text}".encode()).hexdigest()[:24]
    stem = f"{program.kernel.__name__}_{digest}"
    qualified = f"sciprec_lifted.{stem}"
    with _import_lock:
        if qualified in sys.modules:
            return sys.modules[qualified]
        path = _written(stem, text)
        spec = importlib.util.spec_from_file_location(qualified, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[qualified] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[qualified]
            raise
        if program.parallel:
            numba.np.ufunc.parallel._launch_threads()
        return module


def _written(stem: str, text: str) -> Path:
    """The generated module's file, in the cache folder or, where that cannot be written, a
    temporary one.
    """
    for folder in (cache_folder(), Path(tempfile.gettempdir()) / f"sciprec-{os.getpid()}"):
        path = folder / f"{stem}.py"
        try:
            if path.exists() and path.read_text(encoding="utf-8") == text:
                return path
            folder.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=folder, suffix=".tmp")
            with os.fdopen(handle, "w", encoding="utf-8") as out:
                out.write(text)
            os.replace(temporary, path)
            return path
        except OSError:
            continue
    raise LiftError(
        f"the cache folder {cache_folder()} cannot be written; set SCIPREC_CACHE_DIR "
        "to a folder that can"
    )


@functools.cache
def _engine_digest() -> str:
    """A hash of the sources that generated modules import, directly or not, and of the versions
    that compiled code depends on.
    """
    digest = hashlib.sha256(f"{numba.__version__} {llvmlite.__version__} {sys.version}".encode())
    todo, seen = ["operations", "keys", "parts"], set()
    while todo:
        module = todo.pop()
        path = Path(__file__).with_name(f"{module}.py")
        if module in seen or not path.exists():
            continue
        seen.add(module)
        found = _IMPORT.findall(path.read_text(encoding="utf-8"))
        todo += [name for one, many in found for name in (one, *re.findall(r"\w+", many)) if name]
    for module in sorted(seen):
        digest.update(Path(__file__).with_name(f"{module}.py").read_bytes())
    return digest.hexdigest()
