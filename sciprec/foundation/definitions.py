"""Digests of code and values that change when something behind a result changes.

sciprec's own code is one digest of all its sources. What users register (cases, equations, schemes,
payoffs) is followed from there: the code of a function, of what it calls, the values that it
reads, closes over and has as defaults. Packages that are installed beside it stand for their
version.
"""

from __future__ import annotations

import dataclasses
import dis
import functools
import hashlib
import importlib
import io
import pickle
import re
import sys
import threading
import types
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

_OWN = __name__.partition(".")[0]
_NUMBERS = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), range, slice)
_CONTAINERS = (np.ndarray, tuple, list, dict, set, frozenset)
_LOCKS = (type(threading.Lock()), type(threading.RLock()))
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_CODE = (
    "co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_argcount",
    "co_posonlyargcount", "co_kwonlyargcount",
)  # fmt: skip


@functools.cache
def code_digest() -> str:
    """Everything of the code that results may depend on: sciprec's sources, and the versions of
    what computes with them.
    """
    digest = hashlib.sha256()
    package = Path(__file__).resolve().parents[1]
    for path in sorted(package.rglob("*.py")):
        digest.update(f"{path.relative_to(package).as_posix()}\0".encode())
        digest.update(path.read_bytes())
    digest.update(" ".join(version_of(name) for name in ("numpy", "scipy", "llvmlite")).encode())
    return digest.hexdigest()


@functools.cache
def version_of(package: str) -> str:
    """The installed version of a package."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def digest_of(*things: Any) -> str:
    """Digest functions, classes and values, as 64 hexadecimal digits.

    Args:
        things: functions (plain, compiled or lifted), classes, arrays, dataclasses, containers and
            numbers. Of objects of other types the class and the attributes count.

    Returns:
        The same digits in every process that loads the same code with the same values. Comments and
        places in a file do not count, names and texts do. sciprec's own functions stand for their
        names: see `code_digest`.
    """
    reader = _Reader({_top(getattr(part, "__module__", "")) for part in _parts(things)})
    reader.read(things)
    return reader.digest.hexdigest()


def is_own(function: Any) -> bool:
    """Whether a function or class is one of sciprec's."""
    return _top(getattr(function, "__module__", "")) == _OWN


def is_installed(function: Any) -> bool:
    """Whether a function or class is of a package that is installed for use, or of Python's."""
    return _installed(_top(getattr(function, "__module__", "")))


class _Reader:
    """Goes through a graph of objects, each once, and digests all it meets.

    Args:
        followed: top-level packages whose code is read although they are installed.
    """

    def __init__(self, followed: set[str]) -> None:
        self.digest = hashlib.sha256()
        self.followed = followed
        self.seen: dict[int, int] = {}
        self.alive: list[Any] = []  # so that no other object gets the identity of one that is gone

    def say(self, *words: Any) -> None:
        """Digest some words, separated from all others."""
        for word in words:
            content = word if isinstance(word, bytes) else str(word).encode()
            self.digest.update(b"%d:" % len(content) + content)

    def read(self, thing: Any) -> None:
        """Digest an object with the code and values behind it."""
        if isinstance(thing, _NUMBERS):
            return self.say(type(thing).__name__, repr(thing))
        if id(thing) in self.seen:
            return self.say("again", self.seen[id(thing)])
        self.seen[id(thing)] = len(self.seen)
        self.alive.append(thing)
        self.say(type(thing).__qualname__)
        for kinds, reads in _READERS:
            if isinstance(thing, kinds):
                reads(self, thing)
                return self._extended(thing)
        if dataclasses.is_dataclass(thing):
            self.read(type(thing))
            return self.read({f.name: getattr(thing, f.name) for f in dataclasses.fields(thing)})
        return self._object(thing)

    def _extended(self, thing: Any) -> None:
        """Attributes of a function, and those that a class adds to the container it extends."""
        if isinstance(thing, types.FunctionType):
            if thing.__dict__ and not self._stands_for_its_name(thing.__module__):
                self.read(thing.__dict__)
        elif isinstance(thing, _CONTAINERS) and type(thing) not in _CONTAINERS:
            self.read(type(thing))
            if _installed(_top(type(thing).__module__)):
                self._foreign(thing)
            else:
                self.read(_state(thing))

    def _array(self, array: np.ndarray | np.generic) -> None:
        array = np.asarray(array)
        self.say(array.dtype.str, array.shape)
        self.read(array.tolist()) if array.dtype.hasobject else self.say(array.tobytes())

    def _sequence(self, things: Iterable[Any]) -> None:
        things = list(things)
        self.say(len(things))
        for thing in things:
            self.read(thing)

    def _mapping(self, things: Mapping) -> None:
        self._sequence(things.items())

    def _set(self, things: Iterable[Any]) -> None:
        self._sequence(sorted(digest_of(thing) for thing in things))

    def _function(self, function: types.FunctionType) -> None:
        self.say(function.__qualname__)
        self.read(function.__defaults__)
        self.read(function.__kwdefaults__)
        for cell in function.__closure__ or ():
            try:
                self.read(cell.cell_contents)
            except ValueError:  # a name that has no value yet
                self.say("empty")
        if not self._stands_for_its_name(function.__module__):
            self.read(function.__code__)
            for name, value in _globals_of(function):
                self.say(name)
                self._global(value, function.__code__)

    def _global(self, value: Any, code: types.CodeType) -> None:
        """Read what a function reads under a global name; of modules, what it reads in them."""
        if not isinstance(value, types.ModuleType):
            return self.read(value)
        self.say("module", value.__name__)
        if not self._stands_for_its_name(value.__name__):
            for name in _names_in(code):
                if name in vars(value):
                    self.say(name)
                    self._global(vars(value)[name], code)

    def _code(self, code: types.CodeType) -> None:
        self.say(*(getattr(code, name) for name in _CODE))
        self.read(code.co_consts)

    def _class(self, cls: type) -> None:
        self.say(cls.__qualname__)
        if self._stands_for_its_name(cls.__module__):
            return
        self.read(cls.__bases__)
        for name, value in vars(cls).items():
            if _is_dunder(name) and (not callable(value) or _is_generated(cls, value)):
                continue  # Python's own, and what dataclasses and named tuples write
            self.say(name)
            self.read(value)
        for field in vars(cls).get("__dataclass_fields__", {}).values():
            for value in (field.default, field.default_factory):
                self.read(None if value is dataclasses.MISSING else value)

    def _wrapped(self, thing: Any) -> None:
        """A function in another's clothes: compiled, lifted, cached."""
        self.read(getattr(thing, "py_func", None) or thing.__wrapped__)
        self.read(getattr(thing, "backend", None))

    def _object(self, thing: Any) -> None:
        top = _top(type(thing).__module__)
        foreign = top == _OWN or _installed(top)
        if hasattr(thing, "py_func") or (foreign and hasattr(thing, "__wrapped__")):
            return self._wrapped(thing)
        self.read(type(thing))
        if not _installed(top):
            return self.read(_state(thing))
        return self._foreign(thing)

    def _foreign(self, thing: Any) -> None:
        """Read an object of another package: only the code in it that is of no package."""
        content = io.BytesIO()
        try:
            _Inside(content, self).dump(thing)
        except Exception:  # an open file: packages raise what they like
            return self.say(_ADDRESS.sub("", repr(thing)))
        return self.say(content.getvalue())

    def _stands_for_its_name(self, module: str | None) -> bool:
        """Whether a module's code is not read: sciprec's, and that of installed packages."""
        top = _top(module)
        self.say("of", top if top == _OWN or _installed(top) else "here")
        if top == _OWN:
            return True
        if top in self.followed or not _installed(top):
            return False
        self.say(version_of(top))
        return True


class _Inside(pickle.Pickler):
    """Writes an object of an installed package, in whose place users' code in it is read.

    Args:
        file: written to.
        reader: reads functions and classes.
    """

    def __init__(self, file: io.BytesIO, reader: _Reader) -> None:
        super().__init__(file, protocol=5)
        self.reader = reader

    def persistent_id(self, thing: Any) -> Any:
        """The text in place of a lock, a function or a class that is not installed; else None."""
        if isinstance(thing, _LOCKS):
            return type(thing).__name__
        is_code = isinstance(thing, (types.FunctionType, type)) or hasattr(thing, "py_func")
        top = _top(getattr(thing, "__module__", "")) if is_code else _OWN
        if top == _OWN or (_installed(top) and top not in self.reader.followed):
            return None
        self.reader.read(thing)
        return self.reader.seen[id(thing)]


_READERS: tuple[tuple[Any, Any], ...] = (
    ((np.ndarray, np.generic), _Reader._array),
    ((tuple, list), _Reader._sequence),
    ((dict, types.MappingProxyType), _Reader._mapping),
    ((set, frozenset), _Reader._set),
    (types.FunctionType, _Reader._function),
    (types.CodeType, _Reader._code),
    (type, _Reader._class),
    ((staticmethod, classmethod), lambda self, x: self.read(x.__func__)),
    (property, lambda self, x: self.read((x.fget, x.fset, x.fdel))),
    (functools.partial, lambda self, x: self.read((x.func, x.args, x.keywords))),
    (types.MethodType, lambda self, x: self.read((x.__self__, x.__func__))),
    (types.ModuleType, lambda self, x: self.say(x.__name__)),
    (types.BuiltinFunctionType, lambda self, x: self.say(x.__module__, x.__qualname__)),
)


def _globals_of(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """Names that a function reads, and the values that they have; modules that it imports, too. A
    text in it may be a name, as in `globals()["HEIGHT"]`.
    """
    namespace, package = function.__globals__, function.__globals__.get("__package__") or ""
    texts = (c for part in _codes_in(function.__code__) for c in part.co_consts)
    names = [*_names_in(function.__code__), *(c for c in texts if isinstance(c, str))]
    for name in dict.fromkeys(names):
        if name in namespace:
            yield name, namespace[name]
    for name in _imports_in(function.__code__):
        for module in (name, f"{package}.{name}"):
            try:
                yield name, importlib.import_module(module)
                break
            except (ImportError, ValueError):
                continue


def _codes_in(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code of a function and of the functions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes_in(constant)


def _names_in(code: types.CodeType) -> tuple[str, ...]:
    """Names of globals and attributes in a function, each once."""
    return tuple(dict.fromkeys(name for part in _codes_in(code) for name in part.co_names))


def _imports_in(code: types.CodeType) -> tuple[str, ...]:
    """Names of modules that a function imports when it is called."""
    modules = (
        step.argval
        for part in _codes_in(code)
        for step in dis.get_instructions(part)
        if step.opname == "IMPORT_NAME"
    )
    return tuple(dict.fromkeys(modules))


def _state(thing: Any) -> dict[str, Any]:
    """The attributes of an object."""
    slots = {n: getattr(thing, n) for n in _slots(type(thing)) if hasattr(thing, n)}
    return dict(getattr(thing, "__dict__", {})) | slots


def _slots(cls: type) -> Iterator[str]:
    """Names of attributes in the slots of a class and its bases."""
    for base in cls.__mro__:
        slots = vars(base).get("__slots__", ())
        yield from (slots,) if isinstance(slots, str) else slots


def _is_generated(cls: type, value: Any) -> bool:
    """Whether a method of a class was written by `dataclass` or `namedtuple`."""
    generated = getattr(getattr(value, "__code__", None), "co_filename", "") == "<string>"
    return generated and (dataclasses.is_dataclass(cls) or hasattr(cls, "_fields"))


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _parts(things: Iterable[Any]) -> Iterator[Any]:
    """Objects, and the fields of those that are dataclasses."""
    for thing in things:
        yield thing
        if dataclasses.is_dataclass(thing):
            yield from (getattr(thing, f.name, None) for f in dataclasses.fields(thing))


def _top(module: str | None) -> str:
    """The top-level package of a module; empty where there is none."""
    return (module or "").partition(".")[0]


@functools.cache
def _installed(top: str) -> bool:
    """Whether a top-level package is one of Python's own, or installed for use."""
    if top in sys.builtin_module_names or top in sys.stdlib_module_names:
        return top != "__main__"
    file = getattr(sys.modules.get(top), "__file__", None)
    return file is not None and not {"site-packages", "dist-packages"}.isdisjoint(Path(file).parts)
