"""The kernels of an installed package: every function that it gives to Numba while its modules are
imported.

Numba's decorators are replaced before that: signatures, which compile at once, and `cache`, which
writes into the package's folder, are left out. What a package imports that is not installed
is stood in for, so that packages can be installed without their dependencies.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import io
import pkgutil
import sys
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba

_DROPPED = ("cache", "locals")
_SKIPPED = ("test", "tests", "testing", "conftest", "_tests", "benchmarks", "examples", "__main__")
_OPTIONAL = ("cupy", "torch", "jax", "tensorflow", "numba_scipy", "dask_cuda", "pyarrow")
MADE_LATER = {"numbagg": "func"}
"""Package -> the attribute of its own objects that holds a function it compiles when called."""


class Absent(types.ModuleType):
    """Stands for a module, a class or a function of a package that is not installed."""

    __path__: list[str] = []
    __version__ = "0"

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        made = type(name, (_Standing,), {})
        setattr(self, name, made)
        return made


class _Named(type):
    def __getattr__(cls, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (_Standing,), {})

    def __or__(cls, other):
        return cls

    def __ror__(cls, other):
        return cls

    def __getitem__(cls, item):
        return cls

    def __setitem__(cls, item, value):
        pass

    def __iter__(cls):
        return iter(())


class _Standing(metaclass=_Named):
    """Anything that an absent module has; as a decorator it gives what it is given."""

    def __new__(cls, *args: Any, **options: Any):
        if len(args) == 1 and not options and isinstance(args[0], (types.FunctionType, type)):
            return args[0]
        return super().__new__(cls)

    def __init__(self, *args: Any, **options: Any):
        pass

    def __call__(self, *args: Any, **options: Any):
        return type(self)(*args, **options)

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (_Standing,), {})


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds every module that nobody else does, but those of the package itself."""

    def __init__(self, own: str):
        self.own = own

    def find_spec(self, fullname: str, path=None, target=None):
        top = fullname.split(".")[0]
        if top == self.own or top in sys.stdlib_module_names or fullname in _OPTIONAL:
            return None
        if top != fullname and not isinstance(sys.modules.get(top), Absent):
            return None
        if top == fullname and _importing() != self.own:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec):
        return Absent(spec.name)

    def exec_module(self, module) -> None:
        pass


def _importing() -> str:
    """The package of the module that imports, which may do without what is not installed."""
    frame = sys._getframe(2)
    while frame is not None and "importlib" in frame.f_code.co_filename:
        frame = frame.f_back
    return frame.f_globals.get("__name__", "").split(".")[0] if frame else ""


def kernels_of(package: str) -> Iterator[tuple[str, Any]]:
    """(dotted name and line, jitted object) of every kernel of a package that can be imported.

    Args:
        package: the name by which it is imported; of a folder with files, its path.
    """
    found: list[Any] = []
    _record(found)
    folder = Path(package).resolve() if "/" in package else None
    modules = _files(folder) if folder else _modules(package)
    package = "" if folder else package
    sys.meta_path.append(_Finder(package))
    for module in modules:
        for value in vars(module).values():
            function = getattr(value, MADE_LATER.get(package, ""), None)
            if isinstance(function, types.FunctionType):
                found.append(numba.njit(function))
    seen = set()
    for kernel in found:
        function = function_of(kernel)
        place = (function.__code__.co_filename, function.__code__.co_firstlineno)
        own = place[0].startswith(f"{folder}/") if folder else (
            function.__module__.split(".")[0] == package)  # fmt: skip
        if own and place not in seen:
            seen.add(place)
            yield f"{function.__module__}.{function.__qualname__}:{place[1]}", kernel


def function_of(kernel) -> types.FunctionType:
    """The Python function behind an object that Numba has made."""
    for name in ("", "_dispatcher", "gufunc_builder"):
        owner = getattr(kernel, name, None) if name else kernel
        function = getattr(owner, "py_func", None)
        if isinstance(function, types.FunctionType):
            return function
    raise TypeError(f"{kernel!r} has no Python function")


def _record(found: list[Any]) -> None:
    """Let Numba's decorators note what they are given."""
    for name in ("njit", "jit", "vectorize", "guvectorize", "generated_jit"):
        original = getattr(numba, name, None)
        if original is not None:
            setattr(numba, name, _noting(original, name, found))
    numba.core.decorators.njit, numba.core.decorators.jit = numba.njit, numba.jit


def _noting(original, name: str, found: list[Any]):
    def decorator(*args: Any, **options: Any):
        function = args[0] if args and isinstance(args[0], types.FunctionType) else None
        options = {k: v for k, v in options.items() if k not in _DROPPED}
        layout = ()
        if name == "guvectorize" and function is None:
            given = (*args, options.pop("signature", None), options.pop("layout", None))
            layout = tuple(a for a in given if isinstance(a, str))[-1:]

        def made(function):
            if not isinstance(function, types.FunctionType):
                return function
            if name == "guvectorize":
                options.pop("target", None)
                kernel = original(*layout, **options)(function)
            else:
                options.pop("target", None)
                kernel = original(**options)(function)
            found.append(kernel)
            return kernel

        return made(function) if function is not None else made

    return decorator


def _modules(package: str) -> Iterator[types.ModuleType]:
    """The modules of a package, without its tests, as far as they can be imported."""
    top = _imported(package)
    if top is None:
        return
    yield top
    for info in pkgutil.walk_packages(getattr(top, "__path__", ()), f"{package}.", lambda _: None):
        parts = info.name.split(".")
        if not any(p in _SKIPPED or p.startswith("test_") for p in parts):
            module = _imported(info.name)
            if module is not None:
                yield module


def _files(folder: Path) -> Iterator[types.ModuleType]:
    """Modules of a folder that are no package: NPBench's kernels for Numba, without objects."""
    for path in sorted(folder.rglob("*_numba_n.py")):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        if spec is None or spec.loader is None:
            continue
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            print(f"{path}: {type(error).__name__}: {error}"[:300], file=sys.stderr)
            continue
        yield module


def _imported(name: str) -> types.ModuleType | None:
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    except BaseException as error:  # a foreign module may raise anything, and exit
        if isinstance(error, (KeyboardInterrupt, MemoryError)):
            raise
        print(f"{name}: {type(error).__name__}: {error}"[:300], file=sys.stderr)
        return None
