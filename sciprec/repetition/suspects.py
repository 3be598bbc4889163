"""Lines of source that explain why runs differ: what each rule looks for, and what it explains."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from sciprec.repetition.findings import Place
from sciprec.repetition.parallel_loops import (
    is_compiled,
    is_parallel,
    loops_in_parallel,
    option,
    raced,
)
from sciprec.repetition.sources import Scope

Seen = Iterator[tuple[int, str]]
"""Lines, each with the reason."""
_rules: list[tuple[frozenset[str], bool, Callable[[Scope], Seen]]] = []
MOST = 3
"""Places that are named."""
_EXACT = {"sorted", "len", "min", "max", "any", "all", "set", "frozenset"}
"""Functions for which the order of what they are given does not count."""
_DRAWN = re.compile(
    r"^(?:numpy\.random|random)\.(?!seed$|default_rng$|Generator$|RandomState$|Random$|get_state$"
    r"|set_state$|getstate$|setstate$|PCG64$|Philox$|MT19937$|SFC64$|SeedSequence$)\w+$"
)
_CLOCKS = re.compile(
    r"^(?:time\.(?:time|perf_counter|monotonic|process_time|thread_time|clock)(?:_ns)?"
    r"|datetime\.(?:datetime|date)\.(?:now|utcnow|today)"
    r"|time\.(?:ctime|localtime|gmtime|asctime))$"
)
_OF_THIS_RUN = {
    "os.urandom": "bytes of the system's noise", "os.getpid": "the number of the process",
    "uuid.uuid4": "a random identifier", "uuid.uuid1": "a random identifier",
    "id": "an address in memory", "tempfile.mkdtemp": "a random name",
    "tempfile.mktemp": "a random name", "secrets.token_bytes": "the system's noise",
    "secrets.randbits": "the system's noise", "secrets.randbelow": "the system's noise",
    "random.SystemRandom": "the system's noise",
}  # fmt: skip
_AS_THEY_END = ("as_completed", "imap_unordered")
_LISTS = {"os.listdir", "os.scandir", "os.walk", "glob.glob", "glob.iglob"}
_LISTING_METHODS = {"iterdir", "glob", "rglob"}
_COUNTS_THREADS = {
    "get_num_threads", "get_thread_id", "cpu_count", "process_cpu_count", "sched_getaffinity",
    "active_count",
}  # fmt: skip
_BLAS = re.compile(r"^numpy\.(?:dot|vdot|matmul|inner|tensordot|einsum|linalg\.\w+)$")
_SUMS = {"sum", "mean", "std", "var", "prod", "dot", "vdot"}


def explained(ways: Iterable[str], scopes: Sequence[Scope]) -> tuple[Place, ...]:
    """The lines that explain that runs differ in some ways.

    Args:
        ways: of WAYS.
        scopes: the source behind the runs.
    """
    asked = set(ways)
    found: dict[tuple[str, int], Place] = {}
    for of_rule, last, rule in _rules:
        if not asked & of_rule or (last and found):
            continue
        for scope in scopes:
            for line, reason in rule(scope):
                at = Path(scope.file).name
                found.setdefault((scope.file, line), Place(at, line, scope.text(line), reason))
    return tuple(found.values())[:MOST]


def _explains(
    *ways: str, last: bool = False
) -> Callable[[Callable[[Scope], Seen]], Callable[[Scope], Seen]]:
    """A rule of these ways; rules are asked in the order of this file.

    Args:
        last: whether it is asked only where none before it has found a line.
    """

    def register(rule: Callable[[Scope], Seen]) -> Callable[[Scope], Seen]:
        _rules.append((frozenset(ways), last, rule))
        return rule

    return register


@_explains("memory")
def _made_empty(scope: Scope) -> Seen:
    for node in ast.walk(scope.node):
        called = scope.calls(node)
        if called in ("numpy.empty", "numpy.empty_like"):
            yield node.lineno, "an array without values"
    for node in ast.walk(scope.node):
        if isinstance(node, ast.Call):
            given = {k.arg for k in node.keywords}
            if "where" in given and "out" not in given and scope.calls(node).startswith("numpy."):
                yield node.lineno, "without `out`, elements that `where` leaves out have no value"


@_explains("threads", "chunks", "another process")
def _shared_by_threads(scope: Scope) -> Seen:
    for function in scope.functions():
        if is_parallel(function, scope):
            for loop in loops_in_parallel(function, scope):
                yield from raced(loop)


@_explains("threads", "chunks")
def _sums_in_parallel(scope: Scope) -> Seen:
    for function in scope.functions():
        if not is_parallel(function, scope):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if node.func.attr in _SUMS:
                    yield node.lineno, "with parallel=True each thread sums a part"


@_explains("threads", "chunks", "block size")
def _counts_threads(scope: Scope) -> Seen:
    for node in ast.walk(scope.node):
        last = scope.calls(node).rpartition(".")[2]
        if last in _COUNTS_THREADS:
            yield node.lineno, "the number of threads is part of the computation"
        if last == "get_parallel_chunksize":
            yield node.lineno, "the size of chunks is part of the computation"


@_explains("block size", "chunks")
def _sums_by_blocks(scope: Scope) -> Seen:
    for loop in ast.walk(scope.node):
        if not isinstance(loop, ast.For) or scope.calls(loop.iter) not in ("range", "numba.prange"):
            continue
        step = loop.iter.args[2:]
        if step and any(isinstance(n, (ast.Name, ast.Attribute)) for n in ast.walk(step[0])):
            for node in ast.walk(loop):
                if isinstance(node, ast.AugAssign):
                    yield node.lineno, "each block is summed up by itself"


@_explains("another process")
def _clocks(scope: Scope) -> Seen:
    for node in ast.walk(scope.node):
        called = scope.calls(node)
        now = called == "numpy.datetime64" and node.args and _is(node.args[0], "now")
        if _CLOCKS.match(called) or now:
            yield node.lineno, "the time of day, or of a clock"
        elif called in _OF_THIS_RUN:
            yield node.lineno, _OF_THIS_RUN[called]


@_explains("another process")
def _unseeded(scope: Scope) -> Seen:
    for node in ast.walk(scope.module):  # a generator may be made where the module begins
        called = scope.calls(node)
        made = called in ("numpy.random.default_rng", "numpy.random.RandomState", "random.Random",
                          "numpy.random.seed", "random.seed", "numpy.random.SeedSequence",
                          "numpy.random.PCG64", "numpy.random.Philox", "numpy.random.SFC64",
                          "numpy.random.MT19937")  # fmt: skip
        if made and all(_is(a, None) for a in (*node.args, *(k.value for k in node.keywords))):
            yield node.lineno, "a random state without a seed"
    compiled = [one for one in scope.functions() if is_compiled(one, scope)]
    in_numba = {id(node) for one in compiled for node in ast.walk(one)}
    for node in ast.walk(scope.node):
        if _DRAWN.match(scope.calls(node)):
            if id(node) in in_numba and not any(_seeds(one, scope) for one in compiled):
                yield node.lineno, "Numba has random states of its own, and this one has no seed"
            elif id(node) not in in_numba and not _seeds(scope.module, scope):
                yield node.lineno, "random numbers whose state has no seed"


def _is(node: ast.AST, value: str | None) -> bool:
    return isinstance(node, ast.Constant) and node.value == value


def _seeds(tree: ast.AST, scope: Scope) -> bool:
    return any(
        scope.calls(node) in ("numpy.random.seed", "random.seed") and node.args
        for node in ast.walk(tree)
    )


@_explains("another process", "threads")
def _as_they_end(scope: Scope) -> Seen:
    for node in ast.walk(scope.node):
        name = node.func.attr if _is_method(node) else scope.calls(node).rpartition(".")[2]
        if name in _AS_THEY_END:
            yield node.lineno, "results in the order in which they come"


def _is_method(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)


@_explains("order of files", "order of runs")
def _lists_of_files(scope: Scope) -> Seen:
    ordered = {
        id(inner) for node in ast.walk(scope.node) if scope.calls(node) in _EXACT
        for inner in ast.walk(node)
    }  # fmt: skip
    for node in ast.walk(scope.node):
        called = scope.calls(node)
        method = _is_method(node) and node.func.attr in _LISTING_METHODS
        if (called in _LISTS or (method and not called.startswith("glob."))) and id(
            node
        ) not in ordered:
            yield node.lineno, "files in the order of the system: put sorted() around it"


@_explains("hash seed", "another process", "empty cache", "processes")
def _sets(scope: Scope) -> Seen:
    names = _names_of_sets(scope)

    def is_set(node: ast.AST) -> bool:
        if isinstance(node, (ast.Set, ast.SetComp)):
            return True
        if isinstance(node, ast.Call):
            method = _is_method(node) and is_set(node.func.value)
            of_sets = ("union", "intersection", "difference", "symmetric_difference", "copy")
            return scope.calls(node) in ("set", "frozenset") or (
                method and node.func.attr in of_sets
            )
        if isinstance(node, ast.BinOp) and isinstance(
            node.op, (ast.BitOr, ast.BitAnd, ast.Sub, ast.BitXor)
        ):
            return is_set(node.left) or is_set(node.right)
        if isinstance(node, ast.IfExp):
            return is_set(node.body) or is_set(node.orelse)
        return isinstance(node, ast.Name) and node.id in names

    def in_order_of(node: ast.AST) -> ast.AST | None:
        """The set whose order something follows."""
        if isinstance(node, (ast.For, ast.comprehension)) and is_set(node.iter):
            return node.iter
        if isinstance(node, ast.Call):
            if _is_method(node) and node.func.attr == "pop" and is_set(node.func.value):
                return node.func.value
            joined = _is_method(node) and node.func.attr == "join"
            follows = scope.calls(node) in (
                "sum", "list", "tuple", "iter", "enumerate", "zip", "map", "math.fsum", "reversed",
                "numpy.fromiter", "functools.reduce",
            )  # fmt: skip
            given = [a for a in node.args if is_set(a)] if joined or follows else []
            return given[0] if given else None
        return None

    ordered = {
        id(inner) for node in ast.walk(scope.node)
        if scope.calls(node) in _EXACT | {"math.fsum"} for inner in ast.walk(node)
    }  # fmt: skip
    for node in ast.walk(scope.node):
        one = in_order_of(node)
        if one is not None and id(node) not in ordered:
            yield one.lineno, "a set has no order: put sorted() around it"
    for node in ast.walk(scope.node):
        if scope.calls(node) == "hash":
            yield node.lineno, "hashes of texts are other ones in every process"


def _names_of_sets(scope: Scope) -> set[str]:
    """Names that are given sets somewhere in the file."""
    found = set()
    for node in ast.walk(scope.module):
        value = getattr(node, "value", None)
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and value is not None:
            made = isinstance(value, (ast.Set, ast.SetComp)) or (
                isinstance(value, ast.Call) and scope.calls(value) in ("set", "frozenset")
            )
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {t.id for t in targets if made and isinstance(t, ast.Name)}
    return found


@_explains("a second call", "order of runs")
def _kept_between_calls(scope: Scope) -> Seen:
    at_top = {
        t.id for node in scope.module.body if isinstance(node, ast.Assign)
        for t in node.targets if isinstance(t, ast.Name)
    }  # fmt: skip
    for function in scope.functions():
        declared = {n for node in ast.walk(function) if isinstance(node, (ast.Global, ast.Nonlocal))
                    for n in node.names}  # fmt: skip
        own = _assigned(function) - declared | {a.arg for a in _parameters(function)}
        yield from _changes(function, (at_top | declared) - own, declared)


@_explains("a second call", "order of runs")
def _drawn_from_a_kept_state(scope: Scope) -> Seen:
    made = ("numpy.random.default_rng", "numpy.random.RandomState", "random.Random")
    states = {
        t.id for node in scope.module.body
        if isinstance(node, ast.Assign) and scope.calls(node.value) in made
        for t in node.targets if isinstance(t, ast.Name)
    }  # fmt: skip
    for node in ast.walk(scope.node):
        drawn = _is_method(node) and isinstance(node.func.value, ast.Name) and (
            node.func.value.id in states
        )
        if drawn or _DRAWN.match(scope.calls(node)):
            yield node.lineno, "random numbers of a state that is kept between calls"


def _parameters(function: ast.FunctionDef) -> list[ast.arg]:
    args = function.args
    return [*args.posonlyargs, *args.args, *args.kwonlyargs]


def _assigned(function: ast.FunctionDef) -> set[str]:
    return {n.id for n in ast.walk(function) if isinstance(n, ast.Name)
            and isinstance(n.ctx, ast.Store)}  # fmt: skip


def _changes(function: ast.FunctionDef, kept: set[str], declared: set[str]) -> Seen:
    """Where a function changes what is kept between its calls."""
    methods = ("append", "extend", "update", "add", "pop", "insert", "setdefault", "clear", "fill")
    reason = "is kept between calls"
    for node in ast.walk(function):
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                inner = target
                while isinstance(inner, (ast.Subscript, ast.Attribute)):
                    inner = inner.value
                stored = inner is not target or getattr(inner, "id", "") in declared
                if isinstance(inner, ast.Name) and stored and inner.id in kept | {function.name}:
                    yield node.lineno, f"'{inner.id}' {reason}"
        elif _is_method(node) and node.func.attr in methods:
            owner = node.func.value
            if isinstance(owner, ast.Name) and owner.id in kept:
                yield node.lineno, f"'{owner.id}' {reason}"


@_explains("threads", "vectors", "chunks")
def _reordered(scope: Scope) -> Seen:
    for function in scope.functions():
        given = option(function, scope, "fastmath")
        if given is not None:
            yield given.lineno, "fastmath lets the compiler put operations into another order"


@_explains("threads", last=True)
def _linear_algebra(scope: Scope) -> Seen:
    for node in ast.walk(scope.node):
        product = isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)
        if product or _BLAS.match(scope.calls(node)):
            yield node.lineno, "linear algebra whose threads sum parts"


@_explains("threads", "another process", last=True)
def _own_threads(scope: Scope) -> Seen:
    names = ("ThreadPoolExecutor", "ProcessPoolExecutor", "Thread", "Pool", "ThreadPool")
    for node in ast.walk(scope.node):
        if scope.calls(node).rpartition(".")[2] in names:
            yield node.lineno, "what threads or processes do at the same time has no order"


@_explains("threads", "chunks", last=True)
def _on_threads(scope: Scope) -> Seen:
    for function in scope.functions():
        if is_parallel(function, scope):
            for loop in loops_in_parallel(function, scope):
                yield loop.lineno, "what its iterations share is written at the same time"
