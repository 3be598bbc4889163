"""Lines that explain why runs differ with threads and block sizes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sciprec.regression.repetition.circumstances import WAYS
from sciprec.regression.repetition.parallel_loops import (
    is_parallel,
    loops_in_parallel,
    option,
    raced,
)
from sciprec.regression.repetition.rules import Seen, explains, is_method
from sciprec.regression.repetition.sources import Scope

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
        named = {a.value for a in args if isinstance(a, ast.Constant) and isinstance(a.value, str)}
        if any("round=sr" in name or "noise" in name for name in named):
            yield node.lineno, (
                "calls on threads draw random bits in the order in which they come; call "
                "lifted.stream(n) with the number n of each task"
            )
        elif any("fix" in name for name in named):
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
