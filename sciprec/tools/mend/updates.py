"""Rules of whole statements: an update carries what it loses, a clock counts its steps."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sciprec.tools.mend.catalogue import Rule
from sciprec.tools.mend.definitions import (
    Numbering,
    Update,
    moving_sums,
    plainly_assigned,
    updated,
    written,
)
from sciprec.tools.mend.expressions import called, filled, is_number, key, names_in, parsed
from sciprec.tools.mend.matching import matches, rewritten
from sciprec.tools.mend.sources import Edit, KernelSource


@dataclass(frozen=True)
class Rewritten:
    """The function that a rule of statements makes of another.

    Attributes:
        name, source: of the rule.
        lines: numbers of the lines that it changes.
        edits: of the source.
        caution: what its reader should know; "" for nothing.
        imports: modules that it needs.
        of_range: whether it helps against overflow or underflow alone.
    """

    name: str
    source: str
    lines: tuple[int, ...]
    edits: tuple[Edit, ...]
    caution: str = ""
    imports: tuple[str, ...] = ()
    of_range: bool = False


_LoopStatement = ast.For | ast.While
_UpdateSite = tuple[ast.stmt, Update]
_FASTMATH = "the kernel is compiled with fastmath, which may take the carry away: leave it out"


def kahan(target: str, change: str, low: str, part: str, new: str) -> list[str]:
    """An update with what it loses carried, where changes are smaller than what they change."""
    return [
        f"{part} = {change} + {low}",
        f"{new} = {target} + {part}",
        f"{low} = {part} - ({new} - {target})",
        f"{target} = {new}",
    ]


def two_sum(target: str, change: str, low: str, part: str, new: str) -> list[str]:
    """An update with what it loses carried, whatever the sizes."""
    return [
        f"{part} = {change} + {low}",
        f"{new} = {target} + {part}",
        f"{low} = ({target} - ({new} - ({new} - {target}))) + ({part} - ({new} - {target}))",
        f"{target} = {new}",
    ]


def welford(delta: str, value: str, mean: str, squares: str, count: str) -> list[str]:
    """The mean of the numbers so far, and the sum of their squared distances from it."""
    return [
        f"{delta} = {value} - {mean}",
        f"{mean} += {delta} / ({count})",
        f"{squares} += {delta} * ({value} - {mean})",
    ]


_RUNNING = Rule("Welford's update", "A/N - B/N*(B/N)", "A/N", "Welford (1962)")
"""A variance of running sums, A of squares: what is made of A then is the sum of distances."""

_CARRIES: tuple[tuple[str, str, Callable[..., list[str]]], ...] = (
    ("carry of the update", "Kahan (1965)", kahan),
    ("carry of the update by two-sum", "Knuth (1969)", two_sum),
)


def of_statements(source: KernelSource) -> Iterator[Rewritten]:
    """Everything that rules of statements make of a source, each rule also at all its places."""
    sites = _sites(source)
    for name, author, write in _CARRIES:
        every = [edits for group in sites.values()
                 if (edits := _carried(source, group, write)) is not None]  # fmt: skip
        if len(every) > 1:
            every.append(_together(every))
        caution = _FASTMATH if source.is_fastmath else ""
        for lines, edits in every:
            yield Rewritten(name, author, lines, edits, caution)
    for group in sites.values():
        if (clock := _clock(source, group)) is not None:
            yield Rewritten("clock by a counter", "Higham (2002)", *clock)
        if (anomaly := _anomaly(source, group)) is not None:
            yield Rewritten("state as its distance from the start", "Higham (2002)", *anomaly)
        if (phase := _phase(source, group)) is not None:
            yield Rewritten("clock with its carry, phase by fma", "Dekker (1971)", *phase)
        if (blocks := _blocked(source, group)) is not None:
            yield Rewritten("sum by blocks", "Castaldo, Whaley, Chronopoulos (2008)", *blocks)
    for running in _running(source):
        yield Rewritten(_RUNNING.name, _RUNNING.source, *running)
    for window in _recomputed(source):
        yield Rewritten("window summed anew", "Higham (2002)", *window)
    for shift in _shifted(source):
        yield Rewritten("exponentials shifted by the largest", "Blanchard, Higham, Higham (2021)",
                        *shift, of_range=True)  # fmt: skip


def _sites(source: KernelSource) -> dict[str, list[_UpdateSite]]:
    """Target -> the updates of it in loops, each a statement of its own lines."""
    sites: dict[str, list[_UpdateSite]] = {}
    for loop in _loops(source.tree):
        for statement in ast.walk(loop):
            update = updated(statement) if isinstance(statement, ast.stmt) else None
            if update is None or source.indentation(statement) is None:
                continue
            group = sites.setdefault(ast.unparse(update.target), [])
            if all(statement is not s for s, _ in group) and not _counts(update):
                group.append((statement, update))
    return {target: group for target, group in sites.items() if group}


def _loops(tree: ast.AST) -> list[_LoopStatement]:
    return [n for n in ast.walk(tree) if isinstance(n, (ast.For, ast.While))]


def _counts(update: Update) -> bool:
    return is_number(update.change) and isinstance(update.change.value, int)


def _carried(
    source: KernelSource, group: Sequence[_UpdateSite], write: Callable[..., list[str]]
) -> tuple[tuple[int, ...], tuple[Edit, ...]] | None:
    """The edits that carry what all updates of a target lose."""
    target = group[0][1].target
    base = target.id if isinstance(target, ast.Name) else _base(target)
    if base is None:
        return None
    low_base = source.free_name(f"{base}_low")
    part, new = source.free_name(f"{base}_part"), source.free_name(f"{base}_new")
    edits = []
    for statement, update in group:
        pad = source.indentation(statement)
        change = ast.unparse(update.change)
        if update.sign < 0:
            change = f"-({change})" if isinstance(update.change, ast.BinOp) else f"-{change}"
        where = ast.unparse(update.target)
        lines = write(where, change, low_base + where.removeprefix(base), part, new)
        edits.append(
            Edit(statement.lineno, statement.end_lineno, tuple(pad + line for line in lines))
        )
    starts = _starts(source, base, low_base, [s for s, _ in group], isinstance(target, ast.Name))
    if starts is None:
        return None
    return tuple(s.lineno for s, _ in group), tuple(edits + starts)


def _base(target: ast.expr) -> str | None:
    """The array of an element."""
    if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
        return target.value.id
    return None


def _starts(
    source: KernelSource, base: str, low: str, updates: Sequence[ast.stmt], scalar: bool
) -> list[Edit] | None:
    """Edits that set what is carried to zero where the target gets a value that is no update."""
    numpy = next((n for n, v in source.namespace.items() if v is np), None)
    if not scalar and numpy is None:
        return None
    zero = f"{low} = 0.0" if scalar else f"{low} = {numpy}.zeros_like({base})"
    edits = []
    for statement in (n for n in ast.walk(source.tree) if isinstance(n, ast.stmt)):
        if statement in updates or not isinstance(statement, (ast.Assign, ast.AugAssign)):
            continue
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        parts = [
            t
            for target in targets
            for t in (target.elts if isinstance(target, ast.Tuple) else [target])
        ]
        lines = []
        for part in parts:
            if isinstance(part, ast.Name) and part.id == base:
                lines.append(zero)
            elif _base(part) == base:
                lines.append(f"{low}{ast.unparse(part).removeprefix(base)} = 0.0")
        pad = source.indentation(statement)
        if lines and pad is None:
            return None
        end = statement.end_lineno
        edits += [Edit(end + 1, end, tuple(f"{pad}{line}" for line in lines))] if lines else []
    arguments = {a.arg for a in ast.walk(source.tree.args) if isinstance(a, ast.arg)}
    if base in arguments:
        first = _first(source)
        pad = source.indentation(first)
        if pad is None:
            return None
        edits.append(Edit(first.lineno, first.lineno - 1, (f"{pad}{zero}",)))
    return edits


def _first(source: KernelSource) -> ast.stmt:
    """The first statement that is no docstring."""
    body = source.tree.body
    is_docstring = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    return body[1] if is_docstring and len(body) > 1 else body[0]


def _together(
    every: Sequence[tuple[tuple[int, ...], tuple[Edit, ...]]],
) -> tuple[tuple[int, ...], tuple[Edit, ...]]:
    """All of several changes as one."""
    lines = tuple(sorted(n for numbers, _ in every for n in numbers))
    return lines, tuple(e for _, edits in every for e in edits)


def _clock(
    source: KernelSource, group: Sequence[_UpdateSite]
) -> tuple[tuple[int, ...], tuple[Edit, ...]] | None:
    """The edits that make of `t = t + dt` in each pass a product with the number of steps."""
    (statement, update), rest = group[0], group[1:]
    if rest or not isinstance(update.target, ast.Name):
        return None
    name = update.target.id
    loop = next((n for n in _loops(source.tree) if statement in n.body), None)
    if loop is None or names_in(update.change) & written(loop) or _reads_elements(update.change):
        return None
    pad, outer = source.indentation(statement), source.indentation(loop)
    if pad is None or outer is None:
        return None
    start, steps = source.free_name(f"{name}_start"), source.free_name(f"{name}_steps")
    change = ast.unparse(update.change)
    change = f"({change})" if isinstance(update.change, (ast.BinOp, ast.UnaryOp)) else change
    lines = [f"{pad}{steps} += 1"]
    before = [f"{outer}{steps} = 0"]
    if _starts_at_zero(source, name, loop) and update.sign > 0:
        lines.append(f"{pad}{name} = {steps} * {change}")
    else:
        before.insert(0, f"{outer}{start} = {name}")
        sign = "-" if update.sign < 0 else "+"
        lines.append(f"{pad}{name} = {start} {sign} {steps} * {change}")
    return (statement.lineno,), (
        Edit(statement.lineno, statement.end_lineno, tuple(lines)),
        Edit(loop.lineno, loop.lineno - 1, tuple(before)),
    )


class _Distances(ast.NodeTransformer):
    """`state - start` as the variable that it is."""

    def __init__(self, text: str, name: str):
        self.text, self.name = text, name

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        if ast.unparse(node) == self.text:
            return ast.Name(self.name, ast.Load())
        return self.generic_visit(node)


def _anomaly(source: KernelSource, group: Sequence[_UpdateSite]) -> _UpdateChange | None:
    """The edits that keep of a state which starts at a number its distance from that."""
    (statement, update), rest = group[0], group[1:]
    loop = next((n for n in _loops(source.tree) if statement in n.body), None)
    if rest or loop is None or not isinstance(update.target, ast.Name):
        return None
    name = update.target.id
    start = _start(source, name, loop)
    stores = [n for n in ast.walk(source.tree) if isinstance(n, ast.Name) and n.id == name
              and isinstance(n.ctx, ast.Store)]  # fmt: skip
    if start is None or start.value.value == 0 or len(stores) != 2:
        return None
    pad, outer = source.indentation(statement), source.indentation(start)
    if pad is None or outer is None:
        return None
    away, number = source.free_name(f"{name}_away"), ast.unparse(start.value)
    distances = _Distances(f"{name} - {number}", away)
    change = ast.unparse(distances.visit(copy.deepcopy(update.change)))
    sign, end = "-" if update.sign < 0 else "+", start.end_lineno
    lines = (f"{pad}{away} {sign}= {change}", f"{pad}{name} = {number} + {away}")
    return (statement.lineno,), (
        Edit(statement.lineno, statement.end_lineno, lines),
        Edit(end + 1, end, (f"{outer}{away} = 0.0",)),
    ), "", ()  # fmt: skip


def _running(source: KernelSource) -> Iterator[_UpdateChange]:
    """The edits that make a variance of what a loop has summed so far by its mean so far."""
    numbering = Numbering()
    for before, loop in numbering.loops(source.tree):
        places, sums = numbering.inside(loop, before), {}
        for place in places:
            update = updated(place.statement)
            if place.statement in loop.body and update is not None and update.sign > 0:
                name = ast.unparse(update.target)
                if is_number(before.get(name)) and before[name].value == 0:
                    sums[name] = update.change
        pairs = [(s, q) for s in sums for q in sums
                 if key(sums[q]) == key(ast.BinOp(sums[s], ast.Mult(), sums[s]))]  # fmt: skip
        for place in places:
            statement = place.statement
            pad, outer = source.indentation(statement), source.indentation(loop)
            if statement not in loop.body or updated(statement) or pad is None or outer is None:
                continue
            for s, q in pairs:
                new = [n for n in rewritten(_RUNNING, place.value)
                       if q in names_in(n) and s not in names_in(n)]  # fmt: skip
                letters = {"A": ast.Name(q, ast.Load()), "B": ast.Name(s, ast.Load())}
                matched = [values for node in ast.walk(place.value)
                       for values in matches(parsed(_RUNNING.pattern), node, letters)]  # fmt: skip
                if not new or not matched:
                    continue
                mean, squares = source.free_name("mean_so_far"), source.free_name(f"{q}_away")
                delta, value = source.free_name(f"{s}_delta"), ast.unparse(sums[s])
                lines = welford(delta, value, mean, squares, ast.unparse(matched[0]["N"]))
                text = ast.unparse(filled(new[0], {q: ast.Name(squares, ast.Load())}))
                starts = (f"{outer}{mean} = 0.0", f"{outer}{squares} = 0.0")
                yield (statement.lineno,), (
                    source.with_expression(statement.value, text),
                    Edit(statement.lineno, statement.lineno - 1, tuple(pad + n for n in lines)),
                    Edit(loop.lineno, loop.lineno - 1, starts),
                ), "", ()  # fmt: skip


def _reads_elements(node: ast.expr) -> bool:
    return any(isinstance(n, ast.Subscript) or called(n) for n in ast.walk(node))


def _starts_at_zero(source: KernelSource, name: str, loop: _LoopStatement) -> bool:
    """Whether the variable is zero before the loop, in its block."""
    start = _start(source, name, loop)
    return start is not None and start.value.value == 0


def _start(source: KernelSource, name: str, loop: _LoopStatement) -> ast.Assign | None:
    """The statement that gives a variable a number before a loop, in its block."""
    for block in _blocks(source.tree):
        if loop in block:
            before = block[: block.index(loop)]
            last = next((s for s in reversed(before) if name in written(s)), None)
            plain = last is not None and plainly_assigned(last) == name
            return last if plain and is_number(last.value) else None
    return None


def _blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for part in ("body", "orelse"):
            if isinstance(getattr(node, part, None), list):
                yield getattr(node, part)


_UpdateChange = tuple[tuple[int, ...], tuple[Edit, ...], str, tuple[str, ...]]
"""Lines, edits, caution, modules to import."""


def _phase(source: KernelSource, group: Sequence[_UpdateSite]) -> _UpdateChange | None:
    """A clock that carries what it loses, and sines of its products with what these lose:
    sin(p + e) = sin p + e cos p, where w t = p + e.
    """
    (_, update), rest = group[0], group[1:]
    carried = None if rest else _carried(source, group, two_sum)
    if carried is None or not isinstance(update.target, ast.Name):
        return None
    name, edits, modules = update.target.id, list(carried[1]), set()
    low = edits[0].lines[0].rpartition(" + ")[2]
    for node in ast.walk(source.tree):
        is_wave = called(node) in ("sin", "cos") and isinstance(node.args[0], ast.BinOp)
        if not is_wave or not isinstance(node.args[0].op, ast.Mult):
            continue
        left, right = node.args[0].left, node.args[0].right
        other = right if ast.unparse(left) == name else left
        if name not in (ast.unparse(left), ast.unparse(right)) or name in names_in(other):
            continue
        spelled = {f: source.spelled(f, node) for f in ("sin", "cos", "fma")}
        modules |= {m for _, needed in spelled.values() for m in needed}
        sine, cosine, fma = (spelled[f][0] for f in ("sin", "cos", "fma"))
        factor = ast.unparse(other)
        factor = f"({factor})" if isinstance(other, (ast.BinOp, ast.UnaryOp)) else factor
        phase = f"{factor} * {name}"
        lost = f"({fma}({factor}, {name}, -({phase})) + {factor} * {low})"
        turned = f"{sine}({phase}) + {cosine}({phase}) * {lost}"
        if called(node) == "cos":
            turned = f"{cosine}({phase}) - {sine}({phase}) * {lost}"
        edits.append(source.with_expression(node, f"({turned})"))
    if len(edits) == len(carried[1]) or _overlap(edits):
        return None
    return carried[0], tuple(edits), "", tuple(modules)


def _overlap(edits: Sequence[Edit]) -> bool:
    """Whether two edits replace one line."""
    lines = [n for e in edits for n in range(e.first, e.last + 1)]
    return len(lines) > len(set(lines))


def _blocked(source: KernelSource, group: Sequence[_UpdateSite]) -> _UpdateChange | None:
    """The edits that sum blocks of 32 numbers, and then the blocks."""
    (statement, update), rest = group[0], group[1:]
    loop = next((n for n in _loops(source.tree) if statement in n.body), None)
    if rest or not isinstance(update.target, ast.Name) or not isinstance(loop, ast.For):
        return None
    name, is_range = update.target.id, called(loop.iter) == "range"
    reads = [n for n in ast.walk(loop) if isinstance(n, ast.Name) and n.id == name]
    once = len(reads) == (1 if isinstance(statement, ast.AugAssign) else 2)
    pad, outer = source.indentation(statement), source.indentation(loop)
    if not once or not is_range or loop.orelse or pad is None or outer is None:
        return None
    if not isinstance(loop.target, ast.Name) or name in names_in(update.change):
        return None
    block, sign = source.free_name(f"{name}_block"), "-" if update.sign < 0 else "+"
    lines = (
        f"{pad}{block} {sign}= {ast.unparse(update.change)}",
        f"{pad}if {loop.target.id} % 32 == 31:",
        f"{pad}    {name} += {block}",
        f"{pad}    {block} = 0.0",
    )
    end = loop.end_lineno
    return (
        (statement.lineno,),
        (
            Edit(statement.lineno, statement.end_lineno, lines),
            Edit(loop.lineno, loop.lineno - 1, (f"{outer}{block} = 0.0",)),
            Edit(end + 1, end, (f"{outer}{name} += {block}",)),
        ),
        "",
        (),
    )


def _recomputed(source: KernelSource) -> Iterator[_UpdateChange]:
    """The edits that sum each window anew where it moves with a loop."""
    numbering = Numbering()
    for before, loop in numbering.loops(source.tree):
        for moving in moving_sums(loop, before, numbering.inside(loop, before)):
            name, term, width, _ = moving
            adds = next(s for s in loop.body if (u := updated(s)) and ast.unparse(u.target) == name)
            pad, counter = source.indentation(adds), loop.target.id
            takes = [s for s in ast.walk(loop) if isinstance(s, (ast.Assign, ast.AugAssign))
                     and (u := updated(s)) and u.sign < 0
                     and ast.unparse(u.target) == name]  # fmt: skip
            decision = next(d for d in loop.body if isinstance(d, ast.If) and takes[0] in d.body)
            gone = decision if len(decision.body) == 1 else takes[0]
            back = source.free_name(f"{counter}_back")
            text = ast.unparse(filled(term, {counter: ast.Name(back, ast.Load())}))
            if pad is None or source.indentation(gone) is None:
                continue
            first = f"max({counter} - {ast.unparse(width)} + 1, 0)"
            lines = (f"{pad}{name} = 0.0", f"{pad}for {back} in range({first}, {counter} + 1):",
                     f"{pad}    {name} += {text}")  # fmt: skip
            yield (
                (adds.lineno,),
                (
                    Edit(adds.lineno, adds.end_lineno, lines),
                    Edit(gone.lineno, gone.end_lineno, ()),
                ),
                "",
                (),
            )


def _shifted(source: KernelSource) -> Iterator[_UpdateChange]:
    """The edits that take from each exponent of a loop the largest of them, for quotients."""
    for loop in _loops(source.tree):
        if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name):
            continue
        calls = [n for s in loop.body for n in ast.walk(s) if called(n) == "exp"]
        texts = {ast.unparse(n.args[0]) for n in calls}
        outer, exponent = source.indentation(loop), calls[0].args[0] if calls else None
        if len(texts) != 1 or outer is None or loop.target.id not in names_in(exponent):
            continue
        if names_in(exponent) & (written(loop) - {loop.target.id}):
            continue
        (text,) = texts
        largest = source.free_name("largest")
        inf, needed = source.spelled("inf", calls[0])
        lines = (
            f"{outer}{largest} = -{inf}",
            f"{outer}for {loop.target.id} in {ast.unparse(loop.iter)}:",
            f"{outer}    {largest} = max({largest}, {text})",
        )
        edits = [source.with_expression(n.args[0], f"{text} - {largest}") for n in calls]
        edits.append(Edit(loop.lineno, loop.lineno - 1, lines))
        if not _overlap(edits):
            yield tuple(n.lineno for n in calls), tuple(edits), "", needed
