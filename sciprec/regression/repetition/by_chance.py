"""Lines that explain why runs differ from one to the next: memory, clocks, random states."""

from __future__ import annotations

import ast
import re

from sciprec.regression.repetition.parallel_loops import is_compiled
from sciprec.regression.repetition.rules import DRAWN, Seen, explains
from sciprec.regression.repetition.sources import Scope

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


