"""Lifted kernels: what `lift` gives; and the warning that results depend on threads where several
call one at once.
"""

from __future__ import annotations

import contextlib
import functools
import pickle
import re
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import errors, types
from numba.core.serialize import dumps

from sciprec.foundation.arguments import integer
from sciprec.foundation.listing import Listing, Shown, Summary
from sciprec.precision.compiled.addresses import address_of
from sciprec.precision.fixed.profile import Profile, Recorder
from sciprec.precision.formats.backend import Backend, resolve_backend
from sciprec.precision.formats.fixed_format import FixedFormat
from sciprec.precision.formats.float_format import FORMATS
from sciprec.precision.lifting.compiling import module_of
from sciprec.precision.lifting.proof import Proof, loads_matter
from sciprec.precision.lifting.written import filled_arrays, written_arrays
from sciprec.precision.operations import keys
from sciprec.precision.operations.operation import NOTHING, OPERATIONS
from sciprec.precision.rewriting.build import Build
from sciprec.precision.rewriting.copies import HALF, Taking, is_native, native
from sciprec.precision.rewriting.own_names import as_written
from sciprec.precision.rewriting.program import Program
from sciprec.precision.rewriting.sources import carry_sources
from sciprec.precision.rewriting.syntax import LiftError, Site, plain_function
from sciprec.precision.rounding.variant import PROFILE

_NAMED_ERROR = re.compile(r"\w*Error: (.+)")
_SENTENCES = (
    "Cannot", "Can't", "Unknown attribute", "Illegal IR", "Invalid", "Untyped", "Unsupported",
    "Use of", "cannot", "non-precise",
)  # fmt: skip
_COLOUR = re.compile("\x1b\\[[0-9;]*m")
_OF_TWO_FLOATS = re.compile(r"Tuple\((?=.*float32)(?=.*float64)")
_ARRAY = np.ndarray
_NUMBERS = frozenset((float, int, bool, complex, np.float64, np.float32, np.int64))
_SAFE_LAYERS = ("omp", "tbb")
"""Numba's threading layers that several threads may call at once; workqueue ends the process."""
_NUMBA = Path(numba.__file__).parent
_FOUND_IN = {
    "accumulate": "sums (np.sum, `@`, np.dot, loops that sum products of elements)",
    "matmul": "products that are summed (`@`, np.dot, loops that sum products of elements)",
}
_parallel_lock = threading.RLock()
_HERE = str(Path(__file__).parent)


class Lifted(Shown):
    """A kernel compiled in the arithmetic of a backend; call it like the kernel.

    It can be pickled: a copy in another process has the kernel's source with it, is compiled there
    (or comes from the cache), and goes on with the call that would be the next here.

    Attributes:
        kernel: the plain Python function that was lifted.
        backend: the arithmetic.
        dispatcher: the compiled entry function, callable from other jitted code (in a backend with
            random bits it takes a 32-bit key first).
        inner: the compiled kernel without the entry's rounding of arguments and processor mode.
        sites: every operation of the source: function, line, column, operation.
        path: the generated module.
        signature: the kernel's.
        uses_processor_mode: whether the processor's rounding mode is set during a call.

    Args:
        kernel, backend, program, seed: what was lifted, and how.
        module: the imported module of the program.
        lift_again: lifts a function in the same way.
    """

    def __init__(
        self, kernel, backend: Backend, program: Program, module, seed: int, lift_again
    ) -> None:
        self.kernel, self.backend, self.seed = kernel, backend, seed
        self.dispatcher = module.sp_entry
        self._program, self._module = program, module
        self.sites: tuple[Site, ...] = tuple(program.sites)
        self.path = Path(module.__file__)
        self.uses_processor_mode = program.word != 0
        self._parallel, self.signature = program.parallel, program.signature
        self._places, self._raised = program.places(), program.sentences.places()
        self._arity = len(program.signature.parameters)
        self._is_variadic = any(p.kind is p.VAR_POSITIONAL
                                for p in program.signature.parameters.values())  # fmt: skip
        self._lift_again, self._sources = lift_again, program.sources
        self._calls, self._words = 0, keys.entry_words(seed)
        self._lock = threading.RLock()
        self._caller: int | None = None  # the thread that has called
        self._warned = False
        self._recorder: Recorder | None = None
        self._proof = self._made_proof(program)
        functools.update_wrapper(self, kernel)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the kernel. In a backend with random bits calls of this object draw their bits by
        their number, in the order in which they come; those of a `stream` depend on no other calls.
        """
        if kwargs or self._is_variadic or len(args) != self._arity:
            args = self.bound(args, kwargs)
        for argument in args:
            kind = argument.__class__
            if kind is _ARRAY:
                dtype = argument.dtype
                usual = dtype.isnative and dtype.num < HALF
            else:
                usual = kind in _NUMBERS or kind is tuple and is_native(argument)
            if not usual:
                args = tuple(self._prepared(a) for a in args)
                with self._native(args) as converted:
                    return self._run(converted)
        return self._run(args)

    def __reduce__(self):
        carried = dumps((self.kernel, self._sources))
        return _restored, (self._lift_again, carried, self._kept_state())

    def _kept_state(self) -> dict:
        """The attributes that decide the next call, by name."""
        return {"_calls": self._calls}

    def _run(self, args):
        if self.backend.random:
            args = (self._next_key(), *args)
        if self._proof is not None:
            return self._proof.run(self._enter, args)
        return self._enter(self.dispatcher, args)

    def _made_proof(self, program: Program) -> Proof | None:
        """A test for whether loads have to round, where rounding them takes time."""
        backend = self.backend
        if not program.proves or backend.random or backend.fixed or backend.storage.native:
            return None
        if backend.mixed or not loads_matter(self.sites):
            return None
        return Proof(self.dispatcher, self.kernel, backend, program.build.path, len(self.sites))

    def _enter(self, dispatcher, args):
        """Call a compiled entry; what goes wrong is said in the kernel's words."""
        try:
            if self._parallel and numba.threading_layer() not in _SAFE_LAYERS:
                with _parallel_lock:
                    return dispatcher(*args)
            return dispatcher(*args)
        except errors.NumbaError as error:
            raise self._explained(error, args) from None
        except TypeError as error:  # Numba hands no tuple of tuples to the threads of a loop
            if "scalar type Tuple" not in str(error):
                raise
            raise LiftError(
                f"kernel '{self.kernel.__name__}' reads a tuple inside another one in a prange "
                "loop; take out its items before the loop: `inner = pair[0]`"
            ) from None
        except AssertionError as error:
            if not _is_of_compiler(error):
                raise
            raise LiftError(
                f"kernel '{self.kernel.__name__}' has what ends Numba's compiler without a word; "
                "rows of nested lists take numbers of one kind: write 0.0 for 0 among others"
            ) from None
        except Exception as error:  # of a function of the engine's
            place = self._raised.get(str(error))
            if place is None:
                raise
            raise type(error)(f"{place}: {error}") from None

    def address(self, *args: Any) -> int:
        """Address of the compiled entry for arguments like these, for `compiled.addresses.call_at`.

        Raises:
            LiftError: it cannot be compiled for them.
        """
        return self._enter(lambda *arguments: address_of(self.dispatcher, arguments), args)

    def profile(self, *args: Any) -> Profile:
        """Run the kernel in binary64 on copies of the arguments, and note for every operation how
        often it ran and how large its results were.

        Raises:
            LiftError: the kernel calls itself, or calls a function that is given as an argument.
        """
        args = self.bound(args, {})
        recorder = self._made_recorder()
        with native(args, Taking(lambda args: [False] * len(args))) as converted:
            return recorder.run(converted, self._enter)

    def _made_recorder(self) -> Recorder:
        """The recorder that profiles this kernel, made once."""
        with self._lock:
            if self._recorder is None:
                truth, build = resolve_backend("fp64"), self._program.build
                build = Build("auto", build.trust_inputs, variant=PROFILE, roles=self.backend,
                              observers=build.observers)  # fmt: skip
                program = self._program.in_variant(PROFILE, truth) or Program(
                    self.kernel, truth, build
                )
                self._recorder = Recorder(program, module_of(program).sp_entry)
            return self._recorder

    def _summary(self) -> Summary:
        return lifted_summary(self, self.dispatcher.signatures, ())

    def rewind(self) -> None:
        """Let the next call draw the random bits of the first one again."""
        with self._lock:
            self._calls = 0

    def stream(self, n: int) -> Lifted:
        """The n-th stream of random bits: a callable with the same signature and compiled code
        whose results depend on the arguments, the seed and n, and not on threads or other calls.

        Its k-th call draws block k of the stream, so that it goes on from call to call, as a
        generator of random numbers does; another one with the same n begins anew, with the same
        bits. Streams of other numbers, and plain calls of the kernel, draw other bits. Give each
        task one of its own.

        Args:
            n: number of the stream, such as that of a task or member, from 0 to 2**32 - 2. A stream
                has 2**32 calls.

        Returns:
            The stream; the kernel itself where its arithmetic draws no random bits.

        Raises:
            InputError: n is no such integer.
            LiftError: this is a stream already.

        Example:
            with ThreadPoolExecutor() as pool:
                results = list(pool.map(lambda n: lifted.stream(n)(x), range(100)))
        """
        n = integer("n", n, 0, keys.STREAMS - 1, "the number of a stream, from 0 to 2**32 - 2")
        return Stream(self, n) if self.backend.random else self

    def freeze(self, spare_bits: int = 0) -> None:
        """Let the units of fixed point change no more, see `FixedLifted.freeze`; nothing where
        numbers have no units.
        """

    def unfreeze(self) -> None:
        """Let the units of fixed point change again; nothing where they may."""

    def bound(self, args: tuple, kwargs: dict) -> tuple:
        """The arguments of a call in the order of the parameters, defaults filled in."""
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise LiftError(
                f"kernel '{self.kernel.__name__}' called wrongly: {error}; it takes "
                f"{self.kernel.__name__}{self.signature}"
            ) from None
        bound.apply_defaults()
        return tuple(bound.arguments.values())

    def _as_given(self, args: tuple) -> tuple:
        """Bound arguments as they are given in a call: those of `*args` one by one."""
        return (*args[:-1], *args[-1]) if self._is_variadic else args

    def _prepared(self, argument):
        """A function lifted too; anything else as it is, lists and the like refused."""
        if isinstance(argument, (list, set, dict)):
            raise LiftError(
                f"kernel '{self.kernel.__name__}' is given a {type(argument).__name__}; it takes "
                "numbers, NumPy arrays and tuples: make an array with np.array(x)"
            )
        return self._function(argument) if callable(argument) else argument

    @contextlib.contextmanager
    def _native(self, args: tuple) -> Iterator[tuple]:
        """Arguments as compiled code takes them."""
        backend = self.backend
        taking = Taking(self._written, self._filled, backend.carrier, self._keeps)
        try:
            with native(args, taking) as converted:
                yield converted
        except LiftError as error:
            if str(error).startswith("it writes"):
                raise LiftError(
                    f"kernel '{self.kernel.__name__}' cannot run in '{backend.name}' on these "
                    f"arguments: {error}"
                ) from None
            raise

    def _keeps(self, dtype: np.dtype) -> bool:
        """Whether an array of a dtype of 8 or 16 bits keeps every number of the storage format."""
        name = "binary16" if dtype.num == HALF else dtype.name
        storage = self.backend.storage.format
        if isinstance(storage, FixedFormat) or name not in FORMATS:
            return False
        return FORMATS[name].holds(storage)

    def _function(self, function):
        """A function given as an argument, lifted to the same backend."""
        if isinstance(function, type):
            return function
        if isinstance(function, Stream):
            raise LiftError(
                f"kernel '{self.kernel.__name__}' is given stream {function.number} of kernel "
                f"'{function.kernel.__name__}'; inside a kernel bits are those of the call around: "
                f"give it the lifted kernel, and call stream({function.number}) of this one"
            )
        if isinstance(function, Lifted):
            return function.inner
        return self._lift_again(function, trust_inputs=False).inner

    @functools.cached_property
    def inner(self) -> Callable[..., Any]:
        """The compiled function of the kernel, as an argument of others; code that arithmetics
        share asks whoever calls it, and so is none that can be handed on.
        """
        program, module = self._program, self._module
        if program.shares:
            build = replace(program.build, may_share=False)
            program = Program(self.kernel, self.backend, build)
            module = module_of(program)
        return getattr(module, program.callee(self.kernel))

    @functools.cached_property
    def _written(self):
        """The arguments that a call may write, see `written_arrays`."""
        return written_arrays(self.kernel)

    @functools.cached_property
    def _filled(self) -> frozenset[int]:
        """The arguments that a kernel writes and does not read, see `filled_arrays`."""
        return filled_arrays(self.kernel)

    def _next_key(self):
        thread = threading.get_ident()
        if thread != self._caller:
            self._met(thread)
        with self._lock:
            number, self._calls = self._calls, self._calls + 1
        return np.uint64(keys.entry_key(self._words, number))

    def _met(self, thread: int) -> None:
        """Note the thread of a call; warn at the second one."""
        with self._lock:
            warned, first = self._warned, self._caller is None
            self._warned, self._caller = warned or not first, thread
        if not first and not warned:
            warn_of_order(
                self.kernel.__name__, self.backend.name,
                "whose calls draw random bits in the order in which they come; call "
                "lifted.stream(n) with the number n of each task, whose bits depend on no thread",
            )  # fmt: skip

    def _explained(self, error, args) -> LiftError:
        names = list(self.signature.parameters)
        values = args[len(args) - len(names) :]
        listed = ", ".join(f"{n}: {_described(a)}" for n, a in zip(names, values, strict=True))
        message = _COLOUR.sub("", str(error))
        inner = re.findall(r"def (sp_k_\w+)\(", message)
        places = [self._places[name] for name in inner if name in self._places]
        place = places[0] if places else f"kernel '{self.kernel.__name__}'"
        reason = last_reason(message)
        advice = "it takes the arguments that Numba accepts for it, numbers and arrays of them"
        if _OF_TWO_FLOATS.search(reason):
            advice = (
                "a variable that begins with an integer is binary64 to Numba, beside numbers in "
                "binary32: begin it with 0.0 in place of 0"
            )
        return LiftError(
            f"{place} cannot run in '{self.backend.name}' on ({listed}): {reason}; {advice}"
        )


def function_of(kernel: Any, verb: str) -> Callable[..., Any]:
    """Return the Python function of a kernel, or of a lifted one.

    Args:
        kernel: as a user gives it.
        verb: takes it.

    Raises:
        LiftError: it has none.
    """
    function = kernel.kernel if isinstance(kernel, Lifted) else plain_function(kernel)
    if function is None:
        raise LiftError(
            f"the kernel is a {type(kernel).__name__}; {verb} takes a Python function or an @njit "
            "function: define the kernel with `def`"
        )
    return function


class Stream(Lifted):
    """One stream of a lifted kernel's random bits; call it like the kernel. See `Lifted.stream`.

    It can be pickled: a copy in another process goes on with its next block.

    Attributes:
        number: the stream's.
    """

    def __init__(self, lifted: Lifted, number: int) -> None:
        self.__dict__.update(lifted.__dict__)
        self.number, self._of = number, lifted
        self._words = keys.entry_words(self.seed, number)
        self._calls, self._lock, self._warned = 0, threading.RLock(), False
        self._turn = threading.Lock()

    def stream(self, n: int) -> Lifted:
        """Refuse what would be a stream of a stream."""
        raise LiftError(
            f"stream({n}) is asked of stream {self.number} of kernel '{self.kernel.__name__}'; "
            "streams are those of the lifted kernel: call its stream(n), with a number for each"
        )

    def _run(self, args):
        """Run a call; warn where another one has not ended: which is first is chance."""
        is_first = self._turn.acquire(blocking=False)
        try:
            if not is_first and not self._warned:
                self._warned = True
                warn_of_order(
                    self.kernel.__name__, self.backend.name,
                    f"which share stream {self.number} at the same time and draw its blocks in the "
                    "order in which they come; take a stream(n) for each task",
                )  # fmt: skip
            return super()._run(args)
        finally:
            if is_first:
                self._turn.release()

    def _met(self, thread: int) -> None:
        """Take calls from any thread, one after the other."""
        self._caller = thread

    def _summary(self) -> Summary:
        sentences = (f"stream {self.number} of its random bits",)
        return lifted_summary(self, self.dispatcher.signatures, sentences)

    def __reduce__(self):
        return _continued, (self._of, self.number, self._calls)


def _continued(lifted: Lifted, number: int, calls: int) -> Stream:
    """A stream that was pickled."""
    stream = Stream(lifted, number)
    stream._calls = calls
    return stream


def _restored(lift_again, carried: bytes, state: dict) -> Lifted:
    """A lifted kernel that was pickled."""
    kernel, sources = pickle.loads(carried)
    carry_sources(sources)
    lifted = lift_again(kernel)
    lifted.__dict__.update(state)
    return lifted


@numba.extending.typeof_impl.register(Lifted)
def _typeof_lifted(value, context):
    return numba.typeof(value.dispatcher)


def _is_of_compiler(error: BaseException) -> bool:
    """Whether an exception was raised inside Numba."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and Path(trace.tb_frame.f_code.co_filename).is_relative_to(_NUMBA)


def _described(value) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.ndim}-D array of {value.dtype}"
    return type(value).__name__


def last_reason(text: str) -> str:
    """The sentence in Numba's long message that says what is wrong: the first named error, the
    first sentence of a known kind, or the operation that has no implementation. Where colorama is
    installed, Numba writes in colours.
    """
    lines = [line.strip() for line in _COLOUR.sub("", text).splitlines()]
    matches = [_NAMED_ERROR.match(line) for line in lines]
    reasons = [
        m[1] for m in matches if m and not m[1].startswith(("Failed in", "No implementation"))
    ]
    reasons += [line for line in lines if line.startswith(_SENTENCES)]
    reasons += [
        f"there is no {line[4:]}"
        for line in lines
        if line.startswith(">>> ") and not line.startswith(">>> <lambda>")
    ]
    reason = (reasons or ["it cannot be typed"])[0].split(", defined at")[0].rstrip(".;:")
    return as_written(reason)


def idle_roles(kernels: Sequence[Any]) -> str:
    """A sentence about roles of a backend, others than `compute`, that no operation of some
    lifted kernels has; "" where there are none, and where everything is in fixed point.
    """
    kernels = [kernel for kernel in kernels if hasattr(kernel, "sites")]
    backends = {kernel.backend.name: kernel.backend for kernel in kernels}
    if len(backends) != 1:
        return ""
    ((name, backend),) = backends.items()
    if backend.compute.fixed:
        return ""
    sites = (site for kernel in kernels for site in kernel.sites)
    used = {OPERATIONS.get(site.operation, NOTHING).role for site in sites}
    differing = [r for r in _FOUND_IN if getattr(backend, r) != backend.compute]
    idle = [role for role in differing if role not in used]
    if not idle:
        return ""
    operations = " and no ".join(_FOUND_IN[role] for role in idle)
    roles = f"role{'s' * (len(idle) > 1)} {' and '.join(idle)}"
    alike = idle == differing and backend.storage == backend.compute
    as_which = f", and '{name}' is {backend.compute.format.name} here" if alike else ""
    return f"no operation has the {roles}: there are no {operations}{as_which}"


def lifted_summary(lifted: Lifted, kinds: Iterable[tuple], sentences: tuple[str, ...]) -> Summary:
    """Sum up a lifted kernel for a prompt or a notebook; nothing is compiled for it.

    Args:
        lifted: the kernel.
        kinds: Numba's types of the arguments that compiled code is there for; what the engine
            passes before the kernel's own arguments counts for nothing.
        sentences: sentences about the calls so far.
    """
    count, name = len(lifted.signature.parameters), lifted.kernel.__name__
    calls = [f"{name}({', '.join(map(_kind, k[len(k) - count :]))})" for k in kinds]
    rows = [(call,) for call in dict.fromkeys(calls)]
    return Summary(
        f"{name}({', '.join(lifted.signature.parameters)}) lifted to {lifted.backend.name}",
        Listing(("compiled for",), (), rows),
        (*sentences, *filter(None, [idle_roles([lifted])]), *("not compiled yet",) * (not rows)),
        about=lifted.backend.words,
    )


def _kind(kind) -> str:
    """A type of Numba's as short as it can be told."""
    if isinstance(kind, types.Array):
        return f"{kind.dtype}[{', '.join(':' * kind.ndim)}]"
    if isinstance(kind, types.BaseTuple):
        elements: Any = kind
        return f"({', '.join(map(_kind, elements.types))})"
    return "function" if isinstance(kind, types.Callable) else str(kind)


def warn_of_order(kernel: str, backend: str, reason: str) -> None:
    """Warn in the caller's line that results depend on the order of calls.

    Args:
        kernel, backend: their names.
        reason: why, and what to do.
    """
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        level, frame = level + 1, frame.f_back
    text = f"kernel '{kernel}' in '{backend}' is called from several threads, {reason}"
    warnings.warn(text, RuntimeWarning, stacklevel=level + 1)
