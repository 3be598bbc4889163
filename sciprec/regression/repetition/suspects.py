"""Lines of source that explain why runs differ: clues, each looked for in every node."""

from __future__ import annotations

import ast
import builtins
import functools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sciprec.precision.formats.rounding_rules import ROUNDINGS
from sciprec.regression.repetition import parallel_loops
from sciprec.regression.repetition.circumstances import WAYS
from sciprec.regression.repetition.findings import SourceLine
from sciprec.regression.repetition.sources import Scope

MOST = 3
"""Places that are named."""


@dataclass(frozen=True)
class Clue:
    """A clue that finds lines on which results may depend.

    Args:
        ways: of WAYS, in which runs differ by what it finds.
        reason: in words.
        calls: a pattern for the full name of what a node calls.
        test: what else is to hold of the node, in its scope.
        last: whether it is asked only where none before it has found a line.
        in_file: whether it is asked of all that stands in the file of a scope.
        line: the line that is named for a node.
    """

    ways: tuple[str, ...]
    reason: str
    calls: str = ".*"
    test: Callable[[Any, Scope], Any] = lambda node, scope: True
    last: bool = False
    in_file: bool = False
    line: Callable[[Any, Scope], int] = lambda node, scope: node.lineno


def explained(
    ways: Iterable[str], scopes: Sequence[Scope], blocks: Iterable[str] = ()
) -> tuple[SourceLine, ...]:
    """The lines that explain that runs differ in some ways.

    Args:
        ways: of WAYS.
        scopes: the source behind the runs.
        blocks: names of arguments that say how many at a time.
    """
    scopes = [replace(scope, blocks=tuple(blocks)) for scope in scopes]
    places: dict[tuple[str, int], SourceLine] = {}
    for clue in CLUES:
        if set(ways).isdisjoint(clue.ways) or (clue.last and places):
            continue
        for scope in scopes:
            for node in ast.walk(scope.module if clue.in_file else scope.node):
                if re.fullmatch(clue.calls, _called(node, scope)) and clue.test(node, scope):
                    line = clue.line(node, scope)
                    place = SourceLine(Path(scope.file).name, line, scope.text(line), clue.reason)
                    places.setdefault((scope.file, line), place)
    return tuple(places.values())[:MOST]


def _called(node: ast.AST, scope: Scope) -> str:
    """The full name of what a node calls, of operators that of their function; else ""."""
    if isinstance(node, ast.Subscript):
        return f"{scope.qualified(node.value)}.__getitem__"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        return "operator.matmul"
    return scope.calls(node)


def _gives(call: ast.AST | None, *names: str) -> bool:
    """Whether a call gives one of these keywords a value other than None."""
    keywords = getattr(call, "keywords", ())
    return any(k.arg in names and ast.unparse(k.value) != "None" for k in keywords)


def _draws_unseeded(node: ast.AST, scope: Scope) -> bool:
    """Whether nothing seeds the state that a call draws from; compiled code has one of its own."""
    compiled = parallel_loops.is_compiled(node, scope)
    tree = scope.node if compiled else scope.module
    seeds = [n for n in ast.walk(tree) if scope.calls(n).endswith("random.seed") and n.args]
    return not any(not compiled or parallel_loops.is_compiled(n, scope) for n in seeds)


def _is_in_order(node: ast.AST, scope: Scope) -> bool:
    """Whether a node is in a call that gives the same for any order of its arguments."""
    exact = r"sorted|len|min|max|any|all|(frozen)?set|math\.fsum"
    return any(  # with a key, elements of equal key stay in the order in which they come
        re.fullmatch(exact, scope.calls(outer)) and not _gives(outer, "key")
        for outer in scope.around(node)
    )


def _is_set(node: ast.AST, scope: Scope, by_name: bool = True) -> bool:
    """Whether a node is a set: a new one, the result of an operation, or one with a name."""
    if isinstance(node, ast.BinOp):
        return any(
            _is_set(side, scope, by_name) or re.fullmatch(r".*\.(keys|items)", scope.calls(side))
            for side in (node.left, node.right)
        )
    if isinstance(node, ast.IfExp):
        return _is_set(node.body, scope, by_name) or _is_set(node.orelse, scope, by_name)
    if re.fullmatch(r".*\.(union|intersection|(symmetric_)?difference|copy)", scope.calls(node)):
        return _is_set(node.func.value, scope, by_name)
    if by_name and isinstance(node, ast.Name):
        return any(_is_set(n, scope, False) for n in _values(node.id, _assignments(scope.module)))
    return isinstance(node, (ast.Set, ast.SetComp)) or scope.calls(node) in ("set", "frozenset")


@functools.lru_cache(4)
def _assignments(module: ast.Module) -> tuple[ast.AST, ...]:
    return tuple(n for n in ast.walk(module) if isinstance(n, (ast.Assign, ast.AnnAssign)))


def _values(name: str, statements: Iterable[ast.AST]) -> list[ast.expr]:
    """Values that a name is assigned."""
    return [
        n.value for n in statements if isinstance(n, (ast.Assign, ast.AnnAssign)) and n.value
        and name in [getattr(t, "id", "") for t in getattr(n, "targets", None) or [n.target]]
    ]  # fmt: skip


def _root(node: ast.AST) -> str:
    """The name before all dots and brackets; "" where none is."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _sets_an_order(node: ast.AST, scope: Scope) -> bool:
    """Whether a node is a set, and something follows the order of its elements."""
    user = next(scope.around(node), None)
    follows = (
        isinstance(user, ast.Starred)
        or (isinstance(user, (ast.For, ast.comprehension)) and user.iter is node)
        or (isinstance(user, ast.Assign) and isinstance(user.targets[0], (ast.Tuple, ast.List)))
        or (isinstance(user, ast.Attribute) and user.attr == "pop")
        or _gives(user, "key") or re.fullmatch(_FOLLOWING, scope.calls(user))
    )
    return bool(follows) and not _is_in_order(node, scope) and _is_set(node, scope)


def _changes_a_state(node: ast.AST, scope: Scope) -> bool:
    """Whether a node of a function changes an object that outlives its calls."""
    functions = [n for n in scope.around(node) if isinstance(n, ast.FunctionDef)]
    changed = [node] if isinstance(getattr(node, "ctx", None), ast.Store) else []
    if isinstance(node, ast.Call):
        states = _values(_root(node.func), scope.module.body)
        draws = any(re.fullmatch(_STATES, scope.calls(state)) for state in states)
        methods = r".*\.(append|extend|update|add|pop|insert|setdefault|clear|fill)"
        changed = [node.func] if draws or re.fullmatch(methods, scope.calls(node)) else []
        changed += node.args[:1] if scope.calls(node) == "next" else []
        changed += [keyword.value for keyword in node.keywords if keyword.arg == "out"]
    inner = {function.name for function in functions[:-1]}
    names = set(map(_root, changed))
    return bool(functions and names - (_local_names(functions[-1], tuple(scope.imported)) - inner))


@functools.lru_cache
def _local_names(function: ast.FunctionDef, imported: tuple[str, ...]) -> set[str]:
    """Names in a function that do not stand for objects that outlive its calls."""
    args = function.args
    parameters = [*args.posonlyargs, *args.args, *args.kwonlyargs][::-1]
    defaults = zip([*args.defaults, *args.kw_defaults][::-1], parameters, strict=False)
    lasting = [arg for value, arg in defaults if value and not isinstance(value, ast.Constant)]
    names, declared = {"", *imported, *dir(builtins)}, set()
    for node in ast.walk(function):
        if isinstance(node, ast.arg) and node not in lasting:
            names.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            declared.update(node.names)
        elif node is not function:
            names.add(getattr(node, "name", ""))
    return names - declared


def _works_on_blocks(node: ast.AST, scope: Scope) -> bool:
    """Whether a node is a comprehension by blocks, or adds up or collects in a loop by blocks."""
    loops = getattr(node, "generators", ())
    if parallel_loops.adds_up(node) or re.fullmatch(r".*\.(append|extend)", scope.calls(node)):
        loops = scope.around(node)
    return any(
        _goes_by_blocks(loop, scope) for loop in loops
        if not isinstance(loop, ast.While) or not _counts_blocks(node)
    )  # fmt: skip


def _goes_by_blocks(loop: ast.AST, scope: Scope) -> bool:
    """Whether a loop is over a range whose step has a name, or counts by a number with a name."""
    if isinstance(loop, ast.While):
        return any(map(_counts_blocks, ast.walk(loop)))
    is_range = scope.calls(getattr(loop, "iter", None)) in ("range", "numba.prange", "numpy.arange")
    return is_range and any(re.search(r"[^\W\d]", ast.unparse(n)) for n in loop.iter.args[2:3])


def _counts_blocks(node: ast.AST) -> bool:
    """Whether a statement is `first += block`."""
    return isinstance(node, ast.AugAssign) and isinstance(node.value, (ast.Name, ast.Attribute))


def _lifts_beside_pool(call: ast.Call, scope: Scope, arithmetics: str) -> bool:
    """Whether a call names such an arithmetic where threads or processes are started."""
    return bool(re.search(rf"'[\w,=.-]*({arithmetics})", ast.unparse(call))) and any(
        re.fullmatch(_POOLS, scope.calls(node)) for node in ast.walk(scope.node)
    )


_MAKERS = "seed|default_rng|RandomState|Random|Generator|SeedSequence|PCG64|Philox|SFC64|MT19937"
_STATES = rf"(numpy\.)?random\.({_MAKERS})"
_DRAWS = rf"(numpy\.)?random\.(?!({_MAKERS}|SystemRandom|[gs]et_?state)$)\w+"
"""Functions that draw from a state which they share."""
_FOLLOWING = r"sum|list|tuple|iter|enumerate|zip|map|reversed|(.*\.)?(fromiter|reduce|join)"
"""Functions whose result depends on the order of their arguments."""
_POOLS = r"(.*\.)?(ThreadPoolExecutor|ProcessPoolExecutor|Thread|Pool|ThreadPool)"
_RANDOM = "|".join(["noise", *(f"round={rule.name}" for rule in ROUNDINGS.values() if rule.random)])
_AGAIN = ("another process",)
_HASHES = ("hash seed", "another process", "empty cache", "processes")
_CALLS = ("a second call", "order of runs")

CLUES = (
    Clue(("memory",), "an array without values", r"numpy\.empty(_like)?"),
    Clue(("memory",), "an array without values", r"numpy\.ndarray",
         lambda call, scope: len(call.args) < 3 and not _gives(call, "buffer")),
    Clue(("memory",), "without `out`, elements that `where` leaves out have no value",
         r"numpy\..+", lambda call, scope: _gives(call, "where") and not _gives(call, "out")),
    Clue(_AGAIN, "the time of day, or of a clock",
         r"time\.((perf_counter|monotonic|(process_|thread_)?time)(_ns)?|(c|asc|local|gm)time|strftime)"
         r"|(datetime\.(datetime|date)|pandas\.Timestamp)\.(now|utcnow|today)"),
    Clue(_AGAIN, "the time of day, or of a clock", r"numpy\.datetime64",
         lambda call, scope: "'now'" in ast.unparse(call)),
    Clue(_AGAIN, "the system's noise", r"os\.urandom|secrets\..+|random\.SystemRandom"),
    Clue(_AGAIN, "the number of the process, or an address in memory", r"os\.getpid|id"),
    Clue(_AGAIN, "a random name", r"uuid\.uuid[14]|tempfile\.mkd?temp"),
    Clue(_AGAIN, "a random state without a seed", _STATES,
         lambda call, scope: re.search(r"\((\w+=)?(None)?\)$", ast.unparse(call)), in_file=True),
    Clue(_AGAIN, "random numbers whose state has no seed", r".*\.rvs|scipy\.stats\.qmc\.\w+",
         lambda call, scope: not _gives(call, "random_state", "seed", "rng")),
    Clue(_AGAIN, "random numbers whose state has no seed; Numba has states of its own", _DRAWS,
         _draws_unseeded),
    Clue(("order of files", "order of runs"), "files in the system's order: put sorted() around it",
         r"os\.(listdir|scandir|walk)|glob\.i?glob|.*\.(iterdir|r?glob)",
         lambda node, scope: not _is_in_order(node, scope)),
    Clue(_HASHES, "a set has no order: put sorted() around it", test=_sets_an_order),
    Clue(_HASHES, "hashes of texts are other ones in every process", "hash"),
    Clue(_CALLS, "a state that is kept between calls changes", test=_changes_a_state),
    Clue(_CALLS, "a state that is kept between calls changes", _DRAWS),
    Clue(("threads", "chunks", "another process"), "iterations of prange share what is written",
         test=parallel_loops.is_raced),
    Clue(("threads", "chunks"), "with parallel=True each thread sums a part",
         r".*\.(sum|mean|std|var|prod|v?dot)", parallel_loops.is_parallel),
    Clue(("threads", "chunks", "block size"), "asks for the number of threads, or for their share",
         r"(.*\.)?(get_num_threads|get_thread_id|(process_)?cpu_count|sched_getaffinity"
         r"|active_count|get_parallel_chunksize)"),
    Clue(("threads", "block size"), "a variable of the environment is part of the computation",
         r"os\.(getenv|environ\.(get|__getitem__))"),
    Clue(("block size", "chunks"), "each block is worked on by itself", test=_works_on_blocks),
    Clue(("another process", "threads"), "results in the order in which they come",
         r"(.*\.)?(as_completed|imap_unordered)"),
    Clue(("threads", "vectors", "chunks", "strict form"),
         "fastmath lets the compiler reorder operations, and leave out tests for NaN and infinity",
         test=lambda node, scope: parallel_loops.option(node, scope, "fastmath"),
         line=lambda node, scope: parallel_loops.option(node, scope, "fastmath")),
    # results that these make differ now and then, whichever way was another one
    Clue(tuple(WAYS), "calls on threads draw random bits in the order in which they come; call "
         "lifted.stream(n) with the number n of each task",
         r"(.*\.)?lift", lambda call, scope: _lifts_beside_pool(call, scope, _RANDOM)),
    Clue(tuple(WAYS), "units of fixed point follow the order in which threads call; call the "
         "kernel with representative arguments first, and then lifted.freeze()",
         r"(.*\.)?lift", lambda call, scope: _lifts_beside_pool(call, scope, "fix")),
    Clue(_HASHES, "a set is made here, and has no order", last=True,
         test=lambda node, scope: _is_set(node, scope, by_name=False)),
    Clue(("block size",), "so many are worked on at a time", ".+", last=True,
         test=lambda node, scope: any(getattr(n, "id", 0) in scope.blocks for n in ast.walk(node))),
    Clue(("threads",), "linear algebra whose threads sum parts",
         r"numpy\.(v?dot|matmul|inner|tensordot|einsum|linalg\.\w+)|operator\.matmul", last=True),
    Clue(("threads", "another process"),
         "what threads or processes do at the same time has no order", _POOLS, last=True),
    Clue(("threads", "chunks"), "what its iterations share is written at the same time",
         test=lambda node, scope: parallel_loops.loop_on_threads(node, scope) is node, last=True),
)  # fmt: skip
"""In the order in which they are asked."""
