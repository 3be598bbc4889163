"""One lift: the kernel, the kernels it calls, their constants, and the module that is generated
from them.
"""

from __future__ import annotations

import ast
import copy
import inspect
from collections import ChainMap
from dataclasses import replace
from functools import lru_cache
from types import CodeType, FunctionType
from typing import final

import numpy as np

from sciprec.precision.compiled.disk_cache import of_engine, outside_digest
from sciprec.precision.formats.backend import Arithmetic, Backend
from sciprec.precision.formats.literal import round_literal
from sciprec.precision.operations.keys import site_number
from sciprec.precision.operations.operation import NOTHING, OPERATIONS, Operation
from sciprec.precision.operations.shared import can_share
from sciprec.precision.operations.shared_rows import can_share_rows
from sciprec.precision.rewriting.build import AS_LIFTED, Build
from sciprec.precision.rewriting.identity import Identities
from sciprec.precision.rewriting.imported import place_of_object
from sciprec.precision.rewriting.layout import Frame, Layout
from sciprec.precision.rewriting.observer import Hooks
from sciprec.precision.rewriting.own_names import as_written, own_name, set_apart
from sciprec.precision.rewriting.parallel import rewrite_parallel_loop
from sciprec.precision.rewriting.raising import Sentences
from sciprec.precision.rewriting.rewrite import Rewriter
from sciprec.precision.rewriting.sources import place_of, source_tree
from sciprec.precision.rewriting.syntax import LiftError, Origin, Site, Source, name, nodes
from sciprec.precision.rounding.technique import processor_word
from sciprec.precision.rounding.variant import FLOATS, RowVariant, name_of

_LARGEST_CONSTANT = 1 << 20
_HEADER = '''"""Generated: {title}. Do not edit."""

import math

import numpy as np
from numba import njit
from numba import prange as sp_prange

from sciprec.precision.formats.backend import Arithmetic, Backend
from sciprec.precision.rewriting.chunks import results as sp_results
from sciprec.precision.rewriting.chunks import start_of_product as sp_start_of_product
from sciprec.precision.rewriting.chunks import start_of_sum as sp_start_of_sum
from sciprec.precision.formats.fixed_format import FixedFormat
from sciprec.precision.formats.float_format import Format
from sciprec.precision.library.places import fraction_of_rank as sp_fraction_of_rank
from sciprec.precision.library.places import index_of_rank as sp_index_of_rank
from sciprec.precision.library.places import number_of_steps as sp_number_of_steps
from sciprec.precision.operations.keys import at_site as sp_at
from sciprec.precision.operations.keys import descend as sp_descend
from sciprec.precision.operations.intrinsics import operations
{sharing}from sciprec.precision.rewriting.imported import imported as sp_imported
from sciprec.precision.operations.by_type import sum_block as sp_sum_block
from sciprec.precision.operations.by_type import zeros_for as sp_zeros_for
from sciprec.precision.operations.meeting import compiled_meet as sp_meet
from sciprec.precision.operations.views import swapped as sp_swapped
from sciprec.precision.compiled.parts import inlined_part as sp_inlined
from sciprec.precision.compiled.parts import part as sp_linked

sp_lesser, sp_greater = min, max
sp_ops = {arithmetic}
sp_row = sp_ops.row
sp_carrier = np.{carrier}
sp_complex = np.{pairs}
'''
_SHARING = """from sciprec.precision.operations.shared import shared_operations
from sciprec.precision.operations.shared_rows import shared_row_operations
"""
_OF_ENGINE = ("sciprec.precision.operations.", "sciprec.precision.library.")
_SERIAL = '@njit(nogil=True, error_model="numpy")'
_PART = "@sp_linked"
_INLINED = "@sp_inlined"
_PARALLEL = (
    '@njit(nogil=True, error_model="numpy", parallel={"prange": True, "numpy": False, '
    '"reduction": False, "comprehension": False, "setitem": False, "stencil": False})'
)


@final
class Program:
    """One lift: collects everything that it needs.

    Attributes:
        numbers: contents of its variables.
        variant: what operations do with rows of a table.
        kept: whether compiled code is kept on disk, and shared.
        one_thread: whether `prange` is `range`.
        grouped: whether what an operation gives is stored as it is into an array, by a row.
        rounds_ahead: whether numbers of its text depend on the arithmetic.
        tree: the kernel's own definition.
        loops: how many there are so far.
        around: numbers of those around the parallel loop that is being rewritten.
        passes: number of a loop -> the site where its passes begin, where these are noted.
        loop_variables: such a site -> the loop's variable, where that is a whole number.
        entry_text: of the compiled function with the kernel's signature, "" until it is written.
        formats: of operations in other formats than the backend's, see `assigning.specialised`.
        operations: generated name -> operation.
        definitions: the finished functions, and whether they are parallel.
        entered: names of functions that are called in the processor mode.

    Args:
        kernel: the plain Python function.
        backend: the arithmetic.
        build: what else tells it from other programs.
    """

    def __init__(self, kernel, backend: Backend, build: Build = AS_LIFTED) -> None:
        self.kernel, self.backend, self.build = kernel, backend, build
        self.numbers, self.variant, may_share = build.numbers, build.variant, build.may_share
        self.imports, self.kept = self.numbers.imports(backend), True
        self.one_thread = bool(build.observers) or self.variant.own
        if self.one_thread:
            self.kept = may_share = False
            self.imports += "".join(o.imports for o in build.observers) + "\nsp_prange = range\n"
        self._forms_sums = (build.roles or backend).forms_sums
        self.rounds_results = not build.trust_inputs or backend.mixed
        self.rows = self.variant.row_bytes > 0
        self.grouped = self.rows and not self.variant.own
        self.word = 0 if self.rows else processor_word(backend, build.path)
        self.random = backend.random and not self.rows
        self.keyed = self.random or self.rows
        has_rows = can_share_rows(backend, self.variant) if self.rows else can_share(backend)
        self.neutral = may_share and has_rows and (self.rows or self.variant == FLOATS)
        self.hides = bool(self.word) or self.neutral and not self.rows
        self.frames: dict[str, Frame] = {}
        self.sites: list[Site] = []
        self.loops, self.around = 0, ()
        self.passes: dict[int, int] = {}
        self.loop_variables: dict[int, str] = {}
        self._noted: dict[int, tuple] = {}
        self._origins: dict[int, Origin] = {}
        self.sentences = Sentences()
        self.parallel = self.rounds_ahead = False
        self.formats: tuple[Arithmetic, ...] = ()
        self._text = self.entry_text = ""
        self._names: dict[object, str] = {}
        self._queue: list = []
        self.sources: dict[CodeType, str] = {}
        self._sources: dict[object, list[bytes]] = {}
        self._taken: set[str] = set()
        self.operations: dict[str, str] = {}
        self._own: dict[str, str] = {}  # those of the arithmetic itself, where others are shared
        self._arrays: dict[str, np.ndarray] = {}
        self._known_arrays: dict[int, str] = {}
        self._imported: dict[str, str] = {}
        self.definitions: list[tuple[ast.FunctionDef, bool]] = []
        self.mentions: dict[str, set[str]] = {}  # what each definition mentions
        self.entered = {self.callee(kernel)}
        while self._queue:
            self._define(self._queue.pop(0))
        self.signature = _signature(kernel)

    @property
    def proves(self) -> bool:
        """Whether loads may be left out where arguments are found to be in the format."""
        return not (self.build.trust_inputs or self.rows or self.build.observers)

    def words(self) -> set[str]:
        """Return the names and attributes that its functions mention."""
        every = [node for tree, _ in self.definitions for node in nodes(tree)]
        return {getattr(node, "attr", getattr(node, "id", "")) for node in every}

    @property
    def holder(self) -> str:
        """Return what has rows of a table, in messages."""
        return "rows of operations" if self.variant.own else self.numbers.holder

    # ---- what the rewriter asks for ------------------------------------------------------------

    @property
    def watching(self) -> tuple[str, ...]:
        """The prefixes in the names of functions that observers call."""
        return tuple(observer.prefix for observer in self.build.observers)

    def hooks(self, rewriter: Rewriter) -> tuple[Hooks, ...]:
        """Return what its numbers put into a function, and observers: into the engine's own only as
        the kernel.
        """
        of_numbers = self.numbers.hooks(rewriter)
        if of_engine(rewriter.function) and rewriter.function is not self.kernel:
            return of_numbers
        return (*of_numbers, *(observer.hooks(rewriter) for observer in self.build.observers))

    def contracts(self, function) -> bool:
        """Whether sums of products that a kernel writes as loops are formed by the roles of sums:
        where these are others than `compute`. The package's own kernels name them.
        """
        return self._forms_sums and not (function.__module__ or "").startswith("sciprec.")

    def place_of_sum(self, label: str, at: ast.AST, operation: str) -> str:
        """Return a name of what shares rows with an operation of a sum of products: the whole sum,
        unless operations have a row each.
        """
        apart = f"{label}: {operation} in {at.lineno}, {at.col_offset}"  # type: ignore[attr-defined]
        return apart if self.numbers.sums_apart else label

    def source_text(self, function, node) -> str:
        """The source of an expression that stands on one line, else ""."""
        if not self.rows or getattr(node, "end_lineno", 0) != getattr(node, "lineno", -1):
            return ""
        if function not in self._sources:
            text = self.sources[function.__code__]
            self._sources[function] = text.encode().split(b"\n")
        line = self._sources[function][node.lineno - 1]
        return line[node.col_offset : node.end_col_offset].decode()

    def places(self) -> dict[str, str]:
        """Generated name -> "kernel 'f' (file.py, line 12)", the line of its def; without the
        engine's own kernels, which nobody has written.
        """
        return {
            identifier: "kernel '{}' ({}, line {})".format(function.__name__, *place_of(function))
            for function, identifier in self._names.items()
            if is_users(function)
        }

    def unique(self, stem: str) -> str:
        """A new module-level name."""
        identifier, n = f"sp_{stem}", 1
        while identifier in self._taken:
            n += 1
            identifier = f"sp_{stem}_{n}"
        self._taken.add(identifier)
        return identifier

    def callee(self, function) -> str:
        """The generated name of a kernel; it is rewritten once."""
        if function not in self._names:
            self._names[function] = self.unique(f"k_{function.__name__}")
            self._queue.append(function)
        return self._names[function]

    def note_call(self, function, rewriter: Rewriter, node) -> None:
        """Keep where a function is called, for what it may raise."""
        caller = rewriter.function
        self.sentences.add_call(function, caller, rewriter.where(node), is_users(caller))

    def note_raise(self, text: str, function) -> None:
        """Keep what a function of the engine's raises."""
        if not is_users(function):
            self.sentences.add_raise(text, function)

    def callee_before(self, function) -> str:
        """Like `callee`, but emit the callee's definition before the current one."""
        called = self.callee(function)
        if function in self._queue:
            self._queue.remove(function)
            self._define(function)
        return called

    def operation(self, operation: str) -> str:
        """The generated name of an operation of the backend."""
        generated = f"sp_{_stem(operation)}"
        self.operations[generated] = operation
        return generated

    def _at_entry(self, operation: str) -> str:
        """The generated name of an operation at the kernel's entry, in the arithmetic itself."""
        if not self.shares:
            return self.operation(operation)
        generated = f"sp_own_{_stem(operation)}"
        self._own[generated] = operation
        return generated

    def operation_behind(self, generated: str) -> Operation:
        """The row of an operation by its generated name."""
        return OPERATIONS.get(self.operations.get(generated, ""), NOTHING)

    def named_functions(self) -> list[FunctionType]:
        """Functions that the generated module depends on and names by a row of a table only."""
        names = [o.rpartition(".")[2] for o in self.operations.values()]
        used = [OPERATIONS[o] for o in names if o in OPERATIONS]
        rules = [a.rule.up for a in (*self.backend.roles, *self.formats)]
        return rules + [row.evaluate.py_func for row in used if row.evaluate is not None]

    @property
    def literals(self) -> tuple[float, ...]:
        """The floating-point constants of the program, rounded as it uses them."""
        values = []
        for operation in self.operations.values():
            kind, _, text = operation.partition("('")
            if kind in ("constant", "literal"):
                value = float.fromhex(text.removesuffix("')"))
                rounded = kind == "constant"
                values.append(value if rounded else round_literal(value, self.backend.compute))
        return tuple(values)

    def number(self, value: float) -> ast.expr:
        """A floating-point constant of the carrier's type."""
        return ast.Call(name(self.operation(f"constant({value.hex()!r})")), [], [])

    def array(self, value: np.ndarray) -> str:
        """The generated name of a constant array, rounded to the storage format."""
        source = value
        if id(value) in self._known_arrays:
            return self._known_arrays[id(value)]
        if value.nbytes > _LARGEST_CONSTANT:
            raise LiftError(
                f"kernel '{self.kernel.__name__}': a constant array of {value.nbytes} bytes cannot "
                f"be lifted; up to {_LARGEST_CONSTANT} bytes are: pass it as an argument"
            )
        identifier = self.unique("array")
        if value.dtype.kind in "fc":
            value = self.numbers.array(self, value)
        value = value.astype(value.dtype.newbyteorder("="), copy=False)
        self._arrays[identifier] = value
        self._known_arrays[id(source)] = identifier
        return identifier

    def imported(self, value, *facts: str) -> str | None:
        """The generated name of an object that other processes find, too; None where they cannot.
        Code that names one of `__main__` is not kept: another process has another one.
        """
        place = place_of_object(value)
        if place is None:
            return None
        identifier = f"sp_of_{'_'.join(place).replace('.', '_')}"
        self._imported[identifier] = f"sp_imported{(*place, *facts)!r}"
        self.kept = self.kept and place[0] != "__main__"
        return identifier

    def add_site(self, site: Site) -> int:
        """Register an operation site; its number is its index."""
        self.sites.append(site)
        return len(self.sites) - 1

    def note_origin(self, number: int, rewriter: Rewriter) -> None:
        """Note where a site is."""
        self._noted[number] = (
            rewriter.function, rewriter.label, rewriter.variable, rewriter.loops, rewriter.carried
        )  # fmt: skip

    @property
    def origins(self) -> dict[int, Origin]:
        """The origins of sites, but of those where the kernel is entered: made when asked for."""
        for number, (function, label, *statement) in self._noted.items():
            line = self.sites[number].line
            lines = [text.strip() for text in self.sources[function.__code__].splitlines()]
            place = line - function.__code__.co_firstlineno
            text = lines[place] if 0 <= place < len(lines) else ""
            variable, loops, carried = statement
            self._origins[number] = Origin(
                as_written(label), function.__code__.co_filename, line, text, variable,
                of_engine(function) and function is not self.kernel, loops, carried,
                lines[: place + 1].count(text), lines.count(text),
            )  # fmt: skip
        self._noted.clear()
        return self._origins

    def functions(self) -> list[Source]:
        """The functions as they are written."""
        return [
            Source(code.co_name, code.co_filename, code.co_firstlineno, tuple(text.splitlines()))
            for code, text in self.sources.items()
        ]

    def frame(self, function: str) -> Frame:
        """The rows of a generated function."""
        if function not in self.frames:
            self.frames[function] = self.numbers.frame(self)
        return self.frames[function]

    def add_definition(self, tree: ast.FunctionDef, parallel: bool = False) -> None:
        """A finished function of the generated module."""
        tree = self.numbers.definition(tree)
        self.definitions.append((tree, parallel))
        mentioned = self.mentions[tree.name] = set()
        for node in nodes(tree):
            if isinstance(node, ast.Name):
                mentioned.add(node.id)
            elif isinstance(node, ast.stmt):
                node.lineno = 0  # `ast.unparse` asks for one

    def _decorator(self, tree: ast.FunctionDef, parallel: bool) -> str:
        """Called kernels without loops of their own are inlined, so that the loops around them
        vectorise.
        """
        if parallel and not self.one_thread:
            return _PARALLEL
        if self._is_recursive(tree):
            return _SERIAL
        return _PART if tree.name in self.entered or _has_long_loop(tree) else _INLINED

    def _decorated(self, bindings: dict[str, str]) -> list[str]:
        """The text of every definition; parts are told from others by an identity."""
        outside = filter(None, map(outside_digest, self.named_functions()))
        arithmetic = "\n".join([self._arithmetic(), self.imports, *outside])
        identities = Identities(self.kept, arithmetic, bindings)
        for tree, parallel in self.definitions:
            decorator = self._decorator(tree, parallel)
            text = ast.unparse(tree)
            is_part = decorator in (_PART, _INLINED)
            identities.add(tree.name, decorator, text, self.mentions[tree.name], is_part)
        return identities.texts()

    @property
    def shares(self) -> bool:
        """Whether its functions are compiled once for several arithmetics (see `operations.asked`):
        where all of them are parts of the entry.
        """
        apart = self.parallel or any(self._is_recursive(tree) for tree, _ in self.definitions)
        return self.neutral and self.kept and not apart

    def _arithmetic(self) -> str:
        """The operations that the module's functions use, as an expression."""
        if expression := self.numbers.operations(self):
            return expression
        if not self.shares:
            return self._own_arithmetic()
        return "shared_row_operations()" if self.rows else "shared_operations()"

    def _own_arithmetic(self) -> str:
        """The operations of the arithmetic, as an expression."""
        return f"operations({self.backend!r}, {self.word}, {name_of(self.variant)!r})"

    def _is_recursive(self, tree: ast.FunctionDef) -> bool:
        """Whether a function calls itself, directly or not."""
        reached, waiting = set[str](), [tree.name]
        while waiting and tree.name not in reached:
            mentioned = self.mentions.get(waiting.pop(), set())
            called = (mentioned & self.mentions.keys()) - reached
            reached |= called
            waiting += called
        return tree.name in reached

    def called_by(self, operation: str, function: str, arguments: list[str]) -> str:
        """The text of a call in the processor mode of the backend, or, by `call_normally`, in the
        normal one.
        """
        called = self.operation(f"{operation}({len(arguments)})")
        return f"{called}({', '.join([function, *arguments])})"

    def add_entered(self, tree: ast.FunctionDef) -> None:
        """A finished function that is called in the processor mode (never inlined)."""
        self.entered.add(tree.name)
        self.add_definition(tree)

    def parallel_loop(self, rewriter: Rewriter, node: ast.For):
        """Replace a prange loop; the function it stands in is compiled for parallel execution."""
        self.parallel = True
        return rewrite_parallel_loop(rewriter, node)

    # ---- the generated module ------------------------------------------------------------------

    def _define(self, function) -> None:
        tree, self.sources[function.__code__] = source_tree(function)
        _signature(function)
        set_apart(tree)
        if function is self.kernel:
            self.tree = tree
        rewriter = Rewriter(self, function, tree, _namespace(function))
        definition = rewriter.definition(self._names[function], function.__defaults__ or ())
        self.add_definition(definition)

    def text(self) -> str:
        """The generated module."""
        self._text = self._text or self._written()
        return self._text

    def in_variant(self, variant: RowVariant, backend: Backend) -> Program | None:
        """Return the kernel as a program of another variant, or of another backend with rows; None
        where more than the arithmetic of its entry is another one, and it has to be made.
        """
        same = self.rows and self.shares and can_share_rows(backend, variant)
        if not same or self.rounds_ahead and backend != self.backend:
            return None
        text = self.text()  # which lays out the table
        program = copy.copy(self)
        program.backend, program.variant = backend, variant
        program.build = replace(self.build, variant=variant)
        for before, after in ((self._title(), program._title()),
                              (self._own_arithmetic(), program._own_arithmetic())):  # fmt: skip
            text = text.replace(before, after, 1)
        program._text = text
        return program

    def _title(self) -> str:
        return f"kernel '{self.kernel.__name__}' in the arithmetic '{self.backend.name}'"

    def _written(self) -> str:
        parts = [
            _HEADER.format(
                title=self._title(),
                arithmetic=self._arithmetic(),
                carrier=self.backend.carrier.name,
                sharing=_SHARING if self.shares else "",
                pairs=np.result_type(self.backend.carrier, np.complex64).name,
            )
            + self.imports
        ]
        self.entry_text = self.entry_text or self._entry()
        bindings = self._bindings()
        parts += [f"{identifier} = {text}" for identifier, text in bindings.items()]
        return "\n".join([*parts, "", *self._decorated(bindings), self.entry_text])

    def _bindings(self) -> dict[str, str]:
        """The names of the generated module as expressions, without its definitions."""
        bindings: dict[str, str] = {"sp_own": self._own_arithmetic()} if self.shares else {}
        if self.rows:
            self.lay_out()
            bindings |= {n: str(first) for n, first in sorted(self.layout.constants.items())}
        bindings |= {n: f"sp_ops.{o}" for n, o in sorted(self.operations.items())}
        bindings |= {n: f"sp_own.{o}" for n, o in sorted(self._own.items())}
        bindings |= self._imported
        for identifier, value in self._arrays.items():
            raw = np.ascontiguousarray(value)
            bindings[identifier] = self.numbers.constant.format(
                f"np.frombuffer(bytes.fromhex({raw.tobytes().hex()!r}), "
                f"dtype={raw.dtype.str!r}).reshape({raw.shape!r})"
            )
        return bindings

    def lay_out(self) -> None:
        """Write the entry, and lay out the rows of all functions, the entry's first."""
        self.entry_text = self.entry_text or self._entry()
        self.layout = Layout(self.frames, "sp_entry", self.holder)

    def drop_rows(self) -> None:
        """Forget about rows: its functions take none any more."""
        self.variant, self.rows, self.keyed = FLOATS, False, False

    def _entry(self) -> str:
        """The compiled function with the kernel's signature: round the arguments and call.

        Numba cannot load a cached function that calls a recursive one: such kernels compile in
        each process.
        """
        parameters = self.signature.parameters.values()
        names = [own_name(parameter.name) for parameter in parameters]
        stars = ["*" * (parameter.kind is parameter.VAR_POSITIONAL) for parameter in parameters]
        key = ["sp_key"] if self.keyed else []
        entered = [
            f"{stars[number]}{self._argument(number, self.numbers.given.format(parameter))}"
            for number, parameter in enumerate(names)
        ]
        listed = ", ".join([*key, *names])
        function = self._names[self.kernel]
        inner = key
        if self.rows:
            self.frame("sp_entry").add_call(function, self._entry_site("call", ""), "sp_part_entry")
            inner = ["sp_row(sp_key, sp_part_entry)"]
        body = f"{function}({', '.join([*inner, *entered])})"
        if self.rows:
            body = f"{self.operation('opened')}({body})"
        if self.rounds_results:
            prefix = self._entry_key("returned", -1) if self.keyed else ""
            body = f"{self._at_entry('returned')}({prefix}{body})"
        if self.rows:
            body = f"{self.operation('closed')}({body})"
        return self.numbers.entry(self, listed, self.numbers.given_back.format(body))

    def _argument(self, number: int, expression: str) -> str:
        """The text of an argument, by its number, as it enters the kernel."""
        prefix = self._entry_key("enter", number) if self.keyed else ""
        text, narrowing = f"{self._at_entry('enter')}({prefix}{expression})", self.numbers.narrowing
        if not narrowing:
            return text
        return f"{self.operation(narrowing)}({self._entry_key(narrowing, number)}{text})"

    def entry_of(self, listed: str, body: str) -> str:
        """The text of the compiled function with the kernel's signature.

        Args:
            listed: its parameters.
            body: what it returns.
        """
        recursive = any(self._is_recursive(tree) for tree, _ in self.definitions)
        decorator = f"{'sp_own' if self.shares else 'sp_ops'}.entry({self.kept and not recursive})"
        return f"@{decorator}\ndef sp_entry({listed}):\n    return {body}\n"

    def _entry_site(self, operation: str, text: str) -> int:
        """The site of something that happens where the kernel is entered; where an argument has a
        format, that is on the first line.
        """
        line, code = place_of(self.kernel)[1], self.kernel.__code__
        number = self.add_site(Site(self.kernel.__name__, line, 0, operation, text))
        if operation == self.numbers.narrowing:
            first = self.sources[code].splitlines()[0].strip()
            self.origins[number] = Origin(
                self.kernel.__name__, code.co_filename, code.co_firstlineno, first, text, False
            )
        return number

    def _entry_key(self, operation: str, number: int) -> str:
        """The key of a parameter (number >= 0) or of the result (-1), and a comma."""
        if self.random:
            return "sp_key, " if number < 0 else f"sp_at(sp_key, {site_number(-1 - number)}), "
        text = list(self.signature.parameters)[number] if number >= 0 else "return"
        row = self.frame("sp_entry").add(self._entry_site(operation, text), operation, 1)
        return f"sp_key, {row}, "


@lru_cache(4096)
def _stem(operation: str) -> str:
    """An operation as part of a name."""
    stem = operation.replace("-", "m").replace("+", "")
    return "".join(c if c.isalnum() else "_" for c in stem).rstrip("_")


def is_users(function) -> bool:
    """Whether a kernel is none of the engine's own."""
    return not (function.__module__ or "").startswith(_OF_ENGINE)


def _has_long_loop(tree: ast.FunctionDef) -> bool:
    """Whether a function has a loop other than `for ... in range(LITERAL)`."""
    for node in nodes(tree):
        if isinstance(node, ast.While):
            return True
        if isinstance(node, ast.For):
            ends = node.iter.args if isinstance(node.iter, ast.Call) else []
            if not ends or not all(isinstance(e, ast.Constant) for e in ends):
                return True
    return False


def _namespace(function) -> ChainMap:
    closure = {}
    for variable, cell in zip(
        function.__code__.co_freevars, function.__closure__ or (), strict=True
    ):
        try:
            closure[variable] = cell.cell_contents
        except ValueError:
            continue
    return ChainMap(closure, function.__globals__)


def _signature(kernel) -> inspect.Signature:
    signature = inspect.signature(kernel, follow_wrapped=False)
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            raise LiftError(
                f"kernel '{kernel.__name__}' takes '**{parameter.name}'; Numba takes arguments by "
                "position: name each one"
            )
        if parameter.kind is parameter.KEYWORD_ONLY:
            raise LiftError(
                f"kernel '{kernel.__name__}' takes '{parameter.name}' by keyword only; Numba takes "
                "arguments by position: leave out the bare * before it"
            )
    return signature
