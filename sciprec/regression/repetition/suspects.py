"""Lines of source that explain why runs differ, the first that the rules find: chance (memory,
clocks, random states), order (of sets, of files, of calls), threads and block sizes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sciprec.precision.formats.rounding_rules import ROUNDINGS
from sciprec.regression.repetition.circumstances import WAYS
from sciprec.regression.repetition.findings import SourceLine
from sciprec.regression.repetition.parallel_loops import (
    is_compiled,
    is_parallel,
    loops_in_parallel,
    option,
    raced,
)
from sciprec.regression.repetition.sources import Scope

MOST = 3
"""Places that are named."""
Seen = Iterator[tuple[int, str]]
"""Lines, each with the reason."""
DRAWN = re.compile(
    r"^(?:numpy\.random|random)\.(?!seed$|default_rng$|Generator$|RandomState$|Random$|get_state$"
    r"|set_state$|getstate$|setstate$|PCG64$|Philox$|MT19937$|SFC64$|SeedSequence$)\w+$"
)
"""Names of functions that draw from a state which they share."""


@dataclass(frozen=True)
class SuspectRule:
    """A rule that finds lines on which results may depend.

    Args:
        ways: of WAYS, in which runs differ by what it looks for.
        last: whether it is asked only where none before it has found a line.
        seen: looks through a scope.
    """

    ways: frozenset[str]
    last: bool
    seen: Callable[[Scope], Seen]


RULES: list[SuspectRule] = []


def explains(
    *ways: str, last: bool = False
) -> Callable[[Callable[[Scope], Seen]], Callable[[Scope], Seen]]:
    """A rule of these ways, asked in the order in which rules are registered.

    Args:
        last: whether it is asked only where none before it has found a line.
    """

    def register(rule: Callable[[Scope], Seen]) -> Callable[[Scope], Seen]:
        RULES.append(SuspectRule(frozenset(ways), last, rule))
        return rule

    return register


def is_method(node: ast.AST) -> bool:
    """Whether a node is a call of something with a dot."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)



def explained(
    ways: Iterable[str], scopes: Sequence[Scope], blocks: Iterable[str] = ()
) -> tuple[SourceLine, ...]:
    """The lines that explain that runs differ in some ways.

    Args:
        ways: of WAYS.
        scopes: the source behind the runs.
        blocks: names of arguments that say how many at a time.
    """
    differing, sized = set(ways), tuple(blocks)
    places: dict[tuple[str, int], SourceLine] = {}
    for rule in sorted(RULES, key=lambda each: each.last):
        if not differing & rule.ways or (rule.last and places):
            continue
        for scope in scopes:
            for line, reason in rule.seen(replace(scope, blocks=sized)):
                at = Path(scope.file).name
                places.setdefault(
                    (scope.file, line), SourceLine(at, line, scope.text(line), reason)
                )
    return tuple(places.values())[:MOST]


_CLOCKS = re.compile(
    r"^(?:time\.(?:time|perf_counter|monotonic|process_time|thread_time|clock)(?:_ns)?"
    r"|datetime\.(?:datetime|date)\.(?:now|utcnow|today)"
    r"|time\.(?:ctime|localtime|gmtime|asctime|strftime)"
    r"|pandas\.Timestamp\.(?:now|today|utcnow))$"
)
_OF_THIS_RUN = {
    "os.urandom": "bytes of the system's noise", "os.getpid": "the number of the process",
    "uuid.uuid4": "a random identifier", "uuid.uuid1": "a random identifier",
    "id": "an address in memory", "tempfile.mkdtemp": "a random name",
    "tempfile.mktemp": "a random name",
    "random.SystemRandom": "the system's noise",
}  # fmt: skip


@explains("memory")
def _made_empty(scope: Scope) -> Seen:
    for node in ast.walk(scope.node):
        called = scope.calls(node)
        of_memory = called == "numpy.ndarray" and len(node.args) < 3 and not any(
            keyword.arg == "buffer" for keyword in node.keywords
        )  # fmt: skip
        if called in ("numpy.empty", "numpy.empty_like") or of_memory:
            yield node.lineno, "an array without values"
    for node in ast.walk(scope.node):
        if isinstance(node, ast.Call):
            names = {k.arg for k in node.keywords}
            if "where" in names and "out" not in names and scope.calls(node).startswith("numpy."):
                yield node.lineno, "without `out`, elements that `where` leaves out have no value"


@explains("another process")
def _clocks(scope: Scope) -> Seen:
    for node in ast.walk(scope.node):
        called = scope.calls(node)
        now = called == "numpy.datetime64" and node.args and _is(node.args[0], "now")
        if _CLOCKS.match(called) or now:
            yield node.lineno, "the time of day, or of a clock"
        elif called in _OF_THIS_RUN:
            yield node.lineno, _OF_THIS_RUN[called]
        elif called.startswith("secrets."):
            yield node.lineno, "the system's noise"


@explains("another process")
def _unseeded(scope: Scope) -> Seen:
    for node in ast.walk(scope.module):  # a generator may be made where the module begins
        called = scope.calls(node)
        state = called in ("numpy.random.default_rng", "numpy.random.RandomState", "random.Random",
                           "numpy.random.seed", "random.seed", "numpy.random.SeedSequence",
                           "numpy.random.PCG64", "numpy.random.Philox", "numpy.random.SFC64",
                           "numpy.random.MT19937")  # fmt: skip
        if state and all(_is(a, None) for a in (*node.args, *(k.value for k in node.keywords))):
            yield node.lineno, "a random state without a seed"
    for node in ast.walk(scope.node):
        seeds = {"random_state", "seed", "rng"} & {
            k.arg for k in getattr(node, "keywords", ()) if not _is(k.value, None)
        }
        called = scope.calls(node)
        of_scipy = called.startswith("scipy.stats.") and (
            called.endswith(".rvs") or called.startswith("scipy.stats.qmc.")
        )
        if of_scipy and not seeds:
            yield node.lineno, "random numbers whose state has no seed"
    compiled = [function for function in scope.functions() if is_compiled(function, scope)]
    in_numba = {id(node) for function in compiled for node in ast.walk(function)}
    for node in ast.walk(scope.node):
        if DRAWN.match(scope.calls(node)):
            if id(node) in in_numba and not any(_seeds(function, scope) for function in compiled):
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


_EXACT = {"sorted", "len", "min", "max", "any", "all", "set", "frozenset"}
"""Functions whose result does not depend on the order of their arguments."""
_LISTS = {"os.listdir", "os.scandir", "os.walk", "glob.glob", "glob.iglob"}
_LISTING_METHODS = {"iterdir", "glob", "rglob"}


@explains("order of files", "order of runs")
def _lists_of_files(scope: Scope) -> Seen:
    ordered = _put_in_order(scope)
    for node in ast.walk(scope.node):
        called = scope.calls(node)
        method = is_method(node) and node.func.attr in _LISTING_METHODS
        if (called in _LISTS or (method and not called.startswith("glob."))) and id(
            node
        ) not in ordered:
            yield node.lineno, "files in the order of the system: put sorted() around it"


def _put_in_order(scope: Scope, *functions: str) -> set[int]:
    """The nodes in calls that do not depend on the order of their arguments; with a key, elements
    of equal key stay in that order.
    """
    return {
        id(inner) for node in ast.walk(scope.node)
        if scope.calls(node) in _EXACT.union(functions) and not _has_key(node)
        for inner in ast.walk(node)
    }  # fmt: skip


def _has_key(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and any(keyword.arg == "key" for keyword in node.keywords)


@explains("hash seed", "another process", "empty cache", "processes")
def _sets(scope: Scope) -> Seen:
    names = _names_of_sets(scope)

    def is_set(node: ast.AST) -> bool:
        if isinstance(node, (ast.Set, ast.SetComp)):
            return True
        if isinstance(node, ast.Call):
            method = is_method(node) and is_set(node.func.value)
            of_sets = ("union", "intersection", "difference", "symmetric_difference", "copy")
            return scope.calls(node) in ("set", "frozenset") or (
                method and node.func.attr in of_sets
            )
        if isinstance(node, ast.BinOp) and isinstance(
            node.op, (ast.BitOr, ast.BitAnd, ast.Sub, ast.BitXor)
        ):
            return any(is_set(operand) or _is_view(operand) for operand in (node.left, node.right))
        if isinstance(node, ast.IfExp):
            return is_set(node.body) or is_set(node.orelse)
        return isinstance(node, ast.Name) and node.id in names

    def in_order_of(node: ast.AST) -> ast.AST | None:
        """The set whose order something follows."""
        if isinstance(node, (ast.For, ast.comprehension)) and is_set(node.iter):
            return node.iter
        if isinstance(node, ast.Starred) and is_set(node.value):
            return node.value
        if isinstance(node, ast.Assign) and is_set(node.value):
            return node.value if isinstance(node.targets[0], (ast.Tuple, ast.List)) else None
        if isinstance(node, ast.Call):
            if is_method(node) and node.func.attr == "pop" and is_set(node.func.value):
                return node.func.value
            joined = is_method(node) and node.func.attr == "join"
            follows = scope.calls(node) in (
                "sum", "list", "tuple", "iter", "enumerate", "zip", "map", "math.fsum", "reversed",
                "numpy.fromiter", "functools.reduce",
            ) or _has_key(node)  # fmt: skip
            sets = [a for a in node.args if is_set(a)] if joined or follows else []
            return sets[0] if sets else None
        return None

    ordered = _put_in_order(scope, "math.fsum")
    for node in ast.walk(scope.node):
        unordered = in_order_of(node)
        if unordered is not None and id(node) not in ordered:
            yield unordered.lineno, "a set has no order: put sorted() around it"
    for node in ast.walk(scope.node):
        if scope.calls(node) == "hash":
            yield node.lineno, "hashes of texts are other ones in every process"


def _names_of_sets(scope: Scope) -> set[str]:
    """Names that are given sets somewhere in the file."""
    names = set()
    for node in ast.walk(scope.module):
        value = getattr(node, "value", None)
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and value is not None:
            is_set = isinstance(value, (ast.Set, ast.SetComp)) or (
                isinstance(value, ast.Call) and scope.calls(value) in ("set", "frozenset")
            ) or (isinstance(value, ast.BinOp) and any(map(_is_view, (value.left, value.right))))
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {t.id for t in targets if is_set and isinstance(t, ast.Name)}
    return names


def _is_view(node: ast.AST) -> bool:
    """Whether a node is a view of a table, of which operators make sets."""
    return is_method(node) and node.func.attr in ("keys", "items")


@explains("hash seed", "another process", "empty cache", "processes", last=True)
def _made_sets(scope: Scope) -> Seen:
    for node in ast.walk(scope.node):
        if isinstance(node, (ast.Set, ast.SetComp)) or scope.calls(node) in ("set", "frozenset"):
            yield node.lineno, "a set is made here, and has no order"


@explains("a second call", "order of runs")
def _kept_between_calls(scope: Scope) -> Seen:
    at_top = {
        t.id for node in scope.module.body if isinstance(node, (ast.Assign, ast.AnnAssign))
        for t in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(t, ast.Name)
    } | {node.name for node in scope.module.body if isinstance(node, ast.ClassDef)}  # fmt: skip
    for function in scope.functions():
        declared = {n for node in ast.walk(function) if isinstance(node, (ast.Global, ast.Nonlocal))
                    for n in node.names}  # fmt: skip
        local = _assigned(function) - declared | {a.arg for a in _parameters(function)}
        local -= _made_once(function)
        at_top = at_top | _made_once(function)
        yield from _changes(function, (at_top | declared) - local, declared)


@explains("a second call", "order of runs")
def _drawn_from_a_kept_state(scope: Scope) -> Seen:
    makers = ("numpy.random.default_rng", "numpy.random.RandomState", "random.Random")
    states = {
        t.id for node in scope.module.body
        if isinstance(node, ast.Assign) and scope.calls(node.value) in makers
        for t in node.targets if isinstance(t, ast.Name)
    }  # fmt: skip
    for node in ast.walk(scope.node):
        by_method = is_method(node) and isinstance(node.func.value, ast.Name) and (
            node.func.value.id in states
        )
        if by_method or DRAWN.match(scope.calls(node)):
            yield node.lineno, "random numbers of a state that is kept between calls"


def _parameters(function: ast.FunctionDef) -> list[ast.arg]:
    args = function.args
    return [*args.posonlyargs, *args.args, *args.kwonlyargs]


def _made_once(function: ast.FunctionDef) -> set[str]:
    """Parameters whose default is made when the function is defined, and can be changed."""
    args = function.args
    last = [*args.posonlyargs, *args.args]
    pairs = [*zip(last[len(last) - len(args.defaults) :], args.defaults, strict=True),
             *zip(args.kwonlyargs, args.kw_defaults, strict=True)]  # fmt: skip
    mutable = (ast.List, ast.Dict, ast.Set, ast.Call, ast.ListComp, ast.DictComp)
    return {arg.arg for arg, default in pairs if isinstance(default, mutable)}


def _assigned(function: ast.FunctionDef) -> set[str]:
    return {n.id for n in ast.walk(function) if isinstance(n, ast.Name)
            and isinstance(n.ctx, ast.Store)}  # fmt: skip


def _changes(function: ast.FunctionDef, shared: set[str], declared: set[str]) -> Seen:
    """Yield where a function changes objects that are kept between its calls."""
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
                if isinstance(inner, ast.Name) and stored and inner.id in shared | {function.name}:
                    yield node.lineno, f"'{inner.id}' {reason}"
        elif is_method(node) and node.func.attr in methods:
            owner = node.func.value
            if isinstance(owner, ast.Name) and owner.id in shared:
                yield node.lineno, f"'{owner.id}' {reason}"
        if isinstance(node, ast.Call):
            steps = isinstance(node.func, ast.Name) and node.func.id == "next"
            changed = node.args[:1] if steps else []
            changed += [keyword.value for keyword in node.keywords if keyword.arg == "out"]
            for value in changed:
                if isinstance(value, ast.Name) and value.id in shared:
                    yield node.lineno, f"'{value.id}' {reason}"


_AS_THEY_END = ("as_completed", "imap_unordered")
_COUNTS_THREADS = {
    "get_num_threads", "get_thread_id", "cpu_count", "process_cpu_count", "sched_getaffinity",
    "active_count",
}  # fmt: skip
_BLAS = re.compile(r"^numpy\.(?:dot|vdot|matmul|inner|tensordot|einsum|linalg\.\w+)$")
_SUMS = {"sum", "mean", "std", "var", "prod", "dot", "vdot"}


@explains("threads", "chunks", "another process")
def _shared_by_threads(scope: Scope) -> Seen:
    for function in scope.functions():
        if is_parallel(function, scope):
            for loop in loops_in_parallel(function, scope):
                yield from raced(loop)


@explains("threads", "chunks")
def _sums_in_parallel(scope: Scope) -> Seen:
    for function in scope.functions():
        if not is_parallel(function, scope):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if node.func.attr in _SUMS:
                    yield node.lineno, "with parallel=True each thread sums a part"


@explains("threads", "chunks", "block size")
def _counts_threads(scope: Scope) -> Seen:
    for node in ast.walk(scope.node):
        last = scope.calls(node).rpartition(".")[2]
        if last in _COUNTS_THREADS:
            yield node.lineno, "the number of threads is part of the computation"
        if last == "get_parallel_chunksize":
            yield node.lineno, "the size of chunks is part of the computation"


@explains("threads", "block size")
def _told_by_the_environment(scope: Scope) -> Seen:
    for node in ast.walk(scope.node):
        item = isinstance(node, ast.Subscript) and scope.qualified(node.value) == "os.environ"
        if item or scope.calls(node) in ("os.environ.get", "os.getenv"):
            yield node.lineno, "a variable of the environment is part of the computation"


@explains("block size", "chunks")
def _sums_by_blocks(scope: Scope) -> Seen:
    for loop in ast.walk(scope.node):
        if isinstance(loop, (ast.For, ast.comprehension)) and _goes_by_blocks(loop.iter, scope):
            if isinstance(loop, ast.comprehension):
                yield loop.iter.lineno, "each block is worked on by itself"
        elif not (isinstance(loop, ast.While) and any(map(_counts_blocks, ast.walk(loop)))):
            continue
        for node in ast.walk(loop):
            if _adds_up(node) and not _counts_blocks(node):
                yield node.lineno, "each block is summed up by itself"
            elif is_method(node) and node.func.attr in ("append", "extend"):
                yield node.lineno, "each block is worked on by itself"


def _goes_by_blocks(iterable: ast.expr, scope: Scope) -> bool:
    """Whether a loop is over a range whose step has a name."""
    if scope.calls(iterable) not in ("range", "numba.prange", "numpy.arange"):
        return False
    step = iterable.args[2:]
    return bool(step) and any(isinstance(n, (ast.Name, ast.Attribute)) for n in ast.walk(step[0]))


def _adds_up(node: ast.AST) -> bool:
    """Whether a statement changes a sum."""
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp):
        targets = {ast.unparse(target) for target in node.targets}
        return any(ast.unparse(side) in targets for side in (node.value.left, node.value.right))
    return isinstance(node, ast.AugAssign)


def _counts_blocks(node: ast.AST) -> bool:
    """Whether a statement is `first += block`."""
    return isinstance(node, ast.AugAssign) and isinstance(node.value, (ast.Name, ast.Attribute))


@explains("block size", last=True)
def _takes_blocks(scope: Scope) -> Seen:
    for node in ast.walk(scope.node):
        inside = node.args if isinstance(node, ast.Call) else (
            [node.slice] if isinstance(node, ast.Subscript) else [])  # fmt: skip
        names = {n.id for part in inside for n in ast.walk(part) if isinstance(n, ast.Name)}
        if names & set(scope.blocks):
            yield node.lineno, "so many are worked on at a time"


@explains("another process", "threads")
def _as_they_end(scope: Scope) -> Seen:
    for node in ast.walk(scope.node):
        name = node.func.attr if is_method(node) else scope.calls(node).rpartition(".")[2]
        if name in _AS_THEY_END:
            yield node.lineno, "results in the order in which they come"


@explains("threads", "vectors", "chunks", "strict form")
def _reordered(scope: Scope) -> Seen:
    for function in scope.functions():
        line = option(function, scope, "fastmath")
        if line:
            yield line, (
                "fastmath lets the compiler put operations into another order, and leave out tests "
                "for NaN and infinity"
            )


@explains("threads", last=True)
def _linear_algebra(scope: Scope) -> Seen:
    for node in ast.walk(scope.node):
        product = isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)
        if product or _BLAS.match(scope.calls(node)):
            yield node.lineno, "linear algebra whose threads sum parts"


@explains(*WAYS)  # what differs now and then is put down to whatever was another one then
def _lifted_on_threads(scope: Scope) -> Seen:
    if not [*_pools(scope)]:
        return
    for node in ast.walk(scope.node):
        if scope.calls(node).rpartition(".")[2] != "lift" or not isinstance(node, ast.Call):
            continue
        args = [*node.args[1:], *(k.value for k in node.keywords if k.arg == "backend")]
        names = {a.value for a in args if isinstance(a, ast.Constant) and isinstance(a.value, str)}
        random = [f"round={rule.name}" for rule in ROUNDINGS.values() if rule.random]
        if any(word in name for word in [*random, "noise"] for name in names):
            yield node.lineno, (
                "calls on threads draw random bits in the order in which they come; call "
                "lifted.stream(n) with the number n of each task"
            )
        elif any("fix" in name for name in names):
            yield node.lineno, (
                "units of fixed point follow the order in which threads call; call the kernel with "
                "representative arguments first, and then lifted.freeze()"
            )


@explains("threads", "another process", last=True)
def _own_threads(scope: Scope) -> Seen:
    for node in _pools(scope):
        yield node.lineno, "what threads or processes do at the same time has no order"


def _pools(scope: Scope) -> Iterator[ast.AST]:
    """Yield where threads or processes are started."""
    names = ("ThreadPoolExecutor", "ProcessPoolExecutor", "Thread", "Pool", "ThreadPool")
    for node in ast.walk(scope.node):
        if scope.calls(node).rpartition(".")[2] in names:
            yield node


@explains("threads", "chunks", last=True)
def _on_threads(scope: Scope) -> Seen:
    for function in scope.functions():
        if is_parallel(function, scope):
            for loop in loops_in_parallel(function, scope):
                yield loop.lineno, "what its iterations share is written at the same time"
