"""`lift`: a user's Numba kernel, unchanged, in another arithmetic."""

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
import numpy as np
from numba.core import errors

from sciprec.precision import keys
from sciprec.precision.backend import Backend, resolve_backend
from sciprec.precision.program import Program
from sciprec.precision.syntax import LiftError, Site, plain_function

_NAMED_ERROR = re.compile(r"\w*Error: (.+)")
_SENTENCES = (
    "Cannot", "Can't", "Unknown attribute", "Illegal IR", "Invalid", "Untyped", "Unsupported",
    "Use of", "cannot", "non-precise",
)  # fmt: skip
_IMPORT = re.compile(r"^from sciprec\.precision(?:\.(\w+)| import ([\w, ]+))", re.M)
_DATA = frozenset((np.ndarray, float, int, bool, tuple, np.float64, np.float32, np.int64))
_parallel_lock = threading.RLock()
_import_lock = threading.RLock()


class Lifted:
    """A kernel compiled in the arithmetic of a backend; call it like the kernel.

    Attributes:
        kernel: the plain Python function that was lifted.
        backend: the arithmetic.
        dispatcher: the compiled entry function, callable from other jitted code (in a backend with
            random bits it takes a 32-bit key first).
        inner: the compiled kernel without the entry's rounding of arguments and processor mode.
        sites: every operation of the source: function, line, column, operation.
        path: the generated module.
        uses_processor_mode: whether the processor's rounding mode is set during a call.
    """

    def __init__(self, kernel, backend: Backend, program: Program, module, seed: int):
        self.kernel, self.backend, self.seed = kernel, backend, seed
        self.dispatcher = module.sp_entry
        self.inner = getattr(module, program.callee(kernel))
        self.sites: tuple[Site, ...] = tuple(program.sites)
        self.path = Path(module.__file__)
        self.uses_processor_mode = program.word != 0
        self._parallel, self._signature = program.parallel, program.signature
        self._places = program.places()
        self._arity = len(program.signature.parameters)
        self._options = {"path": "auto" if program.word else "software"}
        self._calls = 0
        self._lock = threading.Lock()
        functools.update_wrapper(self, kernel)

    def __call__(self, *args, **kwargs):
        """Run the kernel. In a backend with random bits the n-th call of this object draws the
        n-th stream.
        """
        if kwargs or len(args) != self._arity:
            args = self._bound(args, kwargs)
        for argument in args:
            if argument.__class__ not in _DATA:
                args = tuple(self._prepared(a) for a in args)
                break
        if self.backend.random:
            args = (self._next_key(), *args)
        try:
            if self._parallel:
                with _parallel_lock:
                    return self.dispatcher(*args)
            return self.dispatcher(*args)
        except errors.NumbaError as error:
            raise self._explained(error, args) from None
        except NotImplementedError:
            self._refuse_half(args)
            raise

    def __repr__(self) -> str:
        return f"<{self.kernel.__name__} lifted to {self.backend.name}>"

    def _bound(self, args, kwargs) -> tuple:
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise LiftError(
                f"kernel '{self.kernel.__name__}' called wrongly: {error}; it takes "
                f"{self.kernel.__name__}{self._signature}"
            ) from None
        bound.apply_defaults()
        return tuple(bound.arguments.values())

    def _prepared(self, argument):
        """A function lifted too; anything else as it is, lists and the like refused."""
        if isinstance(argument, (list, set, dict)):
            raise LiftError(
                f"kernel '{self.kernel.__name__}' is given a {type(argument).__name__}; it takes "
                "numbers, NumPy arrays and tuples: make an array with np.array(x)"
            )
        return self._function(argument) if callable(argument) else argument

    def _refuse_half(self, args) -> None:
        """Numba has no binary16 on processors: say so where an argument is of that type."""
        if any(getattr(a, "dtype", None) == np.float16 for a in args):
            raise LiftError(
                f"kernel '{self.kernel.__name__}' is given float16 data; it takes float32 and "
                "float64: convert with x.astype(np.float32), which is exact"
            ) from None

    def _function(self, function):
        """A function given as an argument, lifted to the same backend."""
        if isinstance(function, type):
            return function
        if isinstance(function, Lifted):
            return function.inner
        return lift(function, self.backend, **self._options).inner

    def _next_key(self):
        with self._lock:
            number, self._calls = self._calls, self._calls + 1
        return np.uint32(keys.mix(keys.mix(self.seed + 0x51ED2700) + number * 0x9E3779B9))

    def _explained(self, error, args) -> LiftError:
        names = ["key"] * self.backend.random + list(self._signature.parameters)
        given = ", ".join(
            f"{n}: {_described(a)}" for n, a in zip(names, args, strict=False) if n != "key"
        )
        inner = re.search(r"def (sp_k_\w+)\(", str(error))
        place = self._places.get(inner[1] if inner else "", f"kernel '{self.kernel.__name__}'")
        return LiftError(
            f"{place} cannot run in '{self.backend.name}' on ({given}): "
            f"{_last_reason(str(error))}; it takes the arguments that Numba accepts for it, "
            "real numbers and arrays of them"
        )


@numba.extending.typeof_impl.register(Lifted)
def _typeof_lifted(value, context):
    return numba.typeof(value.dispatcher)


def lift(
    kernel, backend="fp64", *, seed: int = 0, path: str = "auto", trust_inputs: bool = False
) -> Lifted:
    """Compile a kernel so that every floating-point operation is rounded in another arithmetic.

    Args:
        kernel: a plain Python function in Numba's subset, or an existing `@njit` function. The
        kernels
            that it calls are lifted with it.
        backend: a name (`sciprec.backends()`), a spec string, or a Backend.
        seed: chooses the random bits of stochastic rounding and noise.
        path: "auto" uses the processor's rounding mode where it serves; "software" never does (same
            bits, slower).
        trust_inputs: promise that floating-point array elements are in the storage format already
        (made
            by `quantize`); their rounding on loading is then left out.

    Returns:
        A callable with the same signature.

    Raises:
        LiftError: a construct that cannot be lifted, with its place and what to write instead.
        InputError: unknown backend.

    Precision:
        Literals, arguments, array elements and integers are rounded to the format where they meet
        a floating-point operation; each + - * / sqrt fma is rounded once; elementary functions are
        evaluated in binary64 (relative error below 2^-49) and rounded once, in fp64 they are the
        platform's. Stores round to the storage format. Comparisons are exact. `x ** n` with a
        literal integer n is repeated multiplication, as in Numba. np.sum is pairwise, @ and np.dot
        are sequential (see `reduce`).

    Differs from plain Numba:
        Lifted to "fp32", `0.5 * x`, `s = 0.0` and integer operands stay binary32, where Numba
        promotes to binary64. Division by zero gives infinity or NaN (error_model="numpy").
    """
    resolved = resolve_backend(backend)
    if path not in ("auto", "software"):
        raise LiftError(f"path '{path}' is unknown; give 'auto' or 'software'")
    function = kernel.kernel if isinstance(kernel, Lifted) else plain_function(kernel)
    if function is None:
        raise LiftError(
            f"{kernel!r} is a {type(kernel).__name__}; lift takes a Python function or an @njit "
            "function: define the kernel with `def`"
        )
    program = Program(function, resolved, path, trust_inputs)
    return Lifted(function, resolved, program, _module(program), seed)


def cache_folder() -> Path:
    """Where generated modules and their compiled code are kept: SCIPREC_CACHE_DIR, or the user's
    cache.
    """
    chosen = os.environ.get("SCIPREC_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(base) if base else Path.home() / ".cache") / "sciprec"


def _module(program: Program):
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
    todo, seen = ["operations", "keys"], set()
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


def _described(value) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.ndim}-D array of {value.dtype}"
    return type(value).__name__


def _last_reason(text: str) -> str:
    """The sentence in Numba's long message that says what is wrong: the first named error, the
    first sentence of a known kind, or the operation that has no implementation.
    """
    lines = [line.strip() for line in text.splitlines()]
    named = [_NAMED_ERROR.match(line) for line in lines]
    found = [m[1] for m in named if m and not m[1].startswith(("Failed in", "No implementation"))]
    found += [line for line in lines if line.startswith(_SENTENCES)]
    found += [
        f"there is no {line[4:]}"
        for line in lines
        if line.startswith(">>> ") and not line.startswith(">>> <lambda>")
    ]
    return (found or ["it cannot be typed"])[0].split(", defined at")[0].rstrip(".;:")
