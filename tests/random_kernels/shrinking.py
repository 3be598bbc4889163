"""A failing kernel reduced to a few lines: what can be left out while it fails alike is left out.

Works on the source alone, so that any kernel with a `Trial` around it can be reduced.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.random_kernels.cases import Case, Trial
from tests.random_kernels.runner import run_trials
from tests.random_kernels.trials import Outcome

AT_ONCE = 10  # candidates that one process tries


def alike(first: Outcome, second: Outcome) -> bool:
    """Whether two outcomes tell of the same fault, as far as can be told."""
    if first.kind != second.kind:
        return False
    if first.kind in ("refused", "raised", "oracle"):
        texts = [re.sub(r"\d+|'[^']*'", "", o.detail.partition("): ")[2]) for o in (first, second)]
        return texts[0][:60] == texts[1][:60]
    return True


def shrunk(trial: Trial, outcome: Outcome, run: Callable = run_trials, rounds: int = 60) -> Trial:
    """The smallest trial found that fails like the given one.

    Args:
        trial, outcome: what failed, and how.
        run: runs trials and yields each with its outcome.
        rounds: at most so many reductions are made.
    """
    for _ in range(rounds):
        smaller = _smaller(trial, outcome, run)
        if smaller is None:
            return trial
        trial = smaller
    return trial


def _smaller(trial: Trial, outcome: Outcome, run: Callable) -> Trial | None:
    waiting: list[Trial] = []
    for source in candidates(trial.case.source):
        waiting.append(replace(trial, case=_with_source(trial.case, source)))
        if len(waiting) == AT_ONCE:
            if found := _first_alike(waiting, outcome, run):
                return found
            waiting = []
    return _first_alike(waiting, outcome, run)


def _first_alike(trials: list[Trial], outcome: Outcome, run: Callable) -> Trial | None:
    found = [t for t, o in run(trials) if alike(o, outcome)]
    return min(found, key=lambda t: len(t.case.source), default=None)


def _with_source(case: Case, source: str) -> Case:
    """The case with another source, without the arguments that its kernel has no longer."""
    kernel = next(f for f in ast.parse(source).body if getattr(f, "name", "") == "kernel")
    named = {a.arg for a in kernel.args.args}
    return replace(
        case, source=source, arguments=tuple(a for a in case.arguments if a.name in named)
    )


def candidates(source: str) -> Iterator[str]:
    """Every source that is one step smaller: first what removes the most."""
    seen = {source}
    found = [step for step in _steps(ast.parse(source))]
    for step in sorted(found, key=lambda step: ORDER.index(step[0])):
        text = ast.unparse(_applied(ast.parse(source), *step)) + "\n"
        if text not in seen:
            seen.add(text)
            yield text


def _steps(tree: ast.Module) -> Iterator[tuple[str, int, str, int]]:
    """(what to do, number of the node in the order of `ast.walk`, its field, number in there)."""
    for place, node in enumerate(ast.walk(tree)):
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if not isinstance(block, list):
                continue
            if len(block) > 3 and not isinstance(node, ast.Module):
                yield "halve", place, name, 0
            for n, statement in enumerate(block):
                own = getattr(statement, "name", "")
                if own != "kernel" and not isinstance(statement, (ast.Import, ast.Pass)):
                    yield "delete", place, name, n
                if hasattr(statement, "body") and not own:
                    yield "unwrap", place, name, n
        if isinstance(node, ast.FunctionDef) and node.name == "kernel":
            for n in range(len(node.args.args)):
                yield "forget", place, "args", n
        if isinstance(node, ast.expr):
            for n in range(len(_operands(node))):
                yield "replace", place, "", n


ORDER = ("halve", "delete", "unwrap", "forget", "replace")


def _operands(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, (ast.Subscript, ast.Attribute, ast.Tuple)):
        return []
    if isinstance(node, ast.Call):
        return node.args
    return [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]


def _applied(tree: ast.Module, action: str, place: int, name: str, n: int) -> ast.Module:
    node = next(node for number, node in enumerate(ast.walk(tree)) if number == place)
    if action == "replace":
        return _Replaced(node, _operands(node)[n]).visit(tree)
    if action == "forget":
        del node.args.args[n]
        return tree
    block = getattr(node, name)
    if action == "halve":
        del block[: len(block) // 2]
    elif action == "unwrap":
        block[n : n + 1] = [*block[n].body, *getattr(block[n], "orelse", [])]
    else:
        del block[n]
    if not node.body:
        node.body = [ast.Pass()]
    return tree


class _Replaced(ast.NodeTransformer):
    """Puts one node in the place of another."""

    def __init__(self, old: ast.expr, new: ast.expr):
        self.old, self.new = old, new

    def visit(self, node):
        return self.new if node is self.old else self.generic_visit(node)
