"""`prange` in lifted kernels: a fixed number of chunks, each a serial call in the backend's
processor mode.

The loop's body becomes a kernel of its own over a range of iterations. Reductions (`s += x`,
`s = s - x`, `s *= x`, `s /= x`, `s = max(s, x)`, `s = min(s, x, y)`, on numbers, and the first four
on arrays) are formed per chunk and combined in the chunks' order, so that no result depends on the
number of threads.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from sciprec.precision.operations.operation import NOTHING
from sciprec.precision.rewriting import contractions
from sciprec.precision.rewriting.rewrite import Rewriter
from sciprec.precision.rewriting.symbols import BINARY_OPERATORS
from sciprec.precision.rewriting.syntax import assign, name, parse, stored_names, targets_of

CHUNKS = 64
_START = {"add": "sp_start_of_sum", "mul": "sp_start_of_product"}


@dataclass(frozen=True)
class Reduction:
    """A variable that a parallel loop reduces into: how chunks combine ("add", "mul", "max",
    "min"), where that is written, and where the loop's body reads it (None in `s += x`, which
    writes an array in place).
    """

    variable: str
    operation: str
    at: ast.AST
    read: ast.Name | None = None

    @property
    def combining(self) -> str:
        """The operation that takes in the result of a chunk."""
        return self.operation if self.read else f"i{self.operation}"


def rewrite_parallel_loop(rewriter: Rewriter, node: ast.For) -> list[ast.stmt]:
    """The statements that replace `for i in prange(...)`; the chunk kernel is added to the
    program.
    """
    _check(rewriter, node)
    program = rewriter.program
    reductions = _reductions(rewriter, node)
    captured = _captured(rewriter, node, {r.variable for r in reductions})
    chunk = _chunk(rewriter, node, reductions, captured)
    ends = [ast.unparse(rewriter.visit(a)) for a in node.iter.args]
    start, stop, step = ("0", *ends, "1") if len(ends) == 1 else (*ends, "1")[:3]
    stem = rewriter.fresh("p")
    head = parse(
        f"{stem}_start = {start}\n{stem}_step = {step}\n"
        f"{stem}_total = sp_greater(0, (({stop}) - {stem}_start + {stem}_step"
        f" - (1 if {stem}_step > 0 else -1)) // {stem}_step)\n"
        f"{stem}_count = sp_lesser({stem}_total, {CHUNKS})\n"
    ).body
    key = ["sp_key"] if program.keyed else []
    if program.random:
        site = rewriter.add_site(node, "prange")
        head.append(assign(f"{stem}_key", rewriter.at_site(site)))
    if program.rows:
        head.append(assign(f"{stem}_key", rewriter.key_of_call(chunk, node)))
    bounds = [f"{stem}_{part}" for part in ("total", "count", "start", "step")]

    def call(keys: list[str], index: str) -> str:
        low, high = (f"{stem}_total * {i} // {stem}_count" for i in (index, f"({index} + 1)"))
        return program.called_by("call", chunk, [*keys, low, high, *bounds[2:], *captured])

    parts = [f"{stem}_part{i}" for i in range(len(reductions))]
    region = _region(
        rewriter, [*key, *bounds, *parts, *captured], parts, stem, call(key, f"{stem}_c")
    )
    own_key = [f"{stem}_key"] if program.keyed else []
    spread = program.called_by("call_normally", region, [*own_key, *bounds, *parts, *captured])
    if not reductions:
        return head + parse(spread).body
    first = ast.unparse(rewriter.opened(parse(call(own_key, "0"), mode="eval").body))
    lines = [f"if {stem}_count > 0:", f"    {stem}_first = {first}"]
    for i, part in enumerate(parts):
        lines.append(f"    {part} = sp_results({stem}_count, {stem}_first[{i}])")
    lines += [f"    {spread}", f"    for {stem}_c in range({stem}_count):", "        pass"]
    block = parse("\n".join(lines)).body
    outer, draws = rewriter.key, []
    if program.random:  # each combination draws its own bits
        rewriter.key = rewriter.fresh("key")
        draws = [assign(rewriter.key, rewriter.descended(name(f"{stem}_key"), name(f"{stem}_c")))]
    block[0].body[-1].body = draws + [
        assign(r.variable, _combined(rewriter, r, parse(f"{part}[{stem}_c]", mode="eval").body))
        for r, part in zip(reductions, parts, strict=True)
    ]
    rewriter.key = outer
    return head + block


def _combined(rewriter, reduction: Reduction, part: ast.expr) -> ast.expr:
    """A reduction that takes in the result of a chunk."""
    total, contraction = name(reduction.variable), rewriter.contractions.get(reduction.at)
    if contraction is None:
        return rewriter.op(reduction.combining, reduction.at, total, part)
    in_place = reduction.read is None
    return contractions.joined(rewriter, reduction.at, total, part, contraction, in_place)


def _region(rewriter, parameters: list[str], parts: list[str], stem: str, call: str) -> str:
    """Add the function that runs the chunks on the threads; returns its name.

    It is called in the processor's normal mode: threads that start inherit the mode of the thread
    that starts them, and would keep it.
    """
    program = rewriter.program
    identifier = program.unique(f"region_{rewriter.tree.name}")
    if program.rows:
        call = f"{program.operation('kept')}(sp_key, {call})"
    lines = [f"def {identifier}({', '.join(parameters)}):"]
    if parts:
        lines += [f"    for {stem}_c in sp_prange(1, {stem}_count):", f"        {stem}_r = {call}"]
        lines += [f"        {part}[{stem}_c] = {stem}_r[{i}]" for i, part in enumerate(parts)]
    else:
        lines += [f"    for {stem}_c in sp_prange({stem}_count):", f"        {call}"]
    program.add_definition(parse("\n".join(lines)).body[0], parallel=True)
    return identifier


def _check(rewriter, node) -> None:
    if not isinstance(node.target, ast.Name) or node.orelse:
        rewriter.refuse(node, "this form of prange", "write `for i in prange(n):` without else")
    for inner in ast.walk(node):
        if isinstance(inner, ast.FunctionDef):
            rewriter.refuse(
                inner,
                f"the function '{inner.name}', defined within prange,",
                "define it outside the kernel",
            )
        if isinstance(inner, ast.Return) or isinstance(inner, ast.Break) and _leaves(node, inner):
            rewriter.refuse(inner, "leaving a prange loop early", "use range, or a flag array")
        if isinstance(inner, (ast.Raise, ast.Assert)):
            rewriter.refuse(
                inner,
                "an exception within prange",
                "write a status into an array and raise after the loop",
            )


def _leaves(loop, statement: ast.Break) -> bool:
    """Whether a break belongs to this loop, not to one inside it."""
    inside = [n for n in ast.walk(loop) if isinstance(n, (ast.For, ast.While)) and n is not loop]
    return not any(statement is n for inner in inside for n in ast.walk(inner))


def _reductions(rewriter, node) -> list[Reduction]:
    outside = _names_outside(rewriter, node)
    first: dict[str, str] = {}
    for statement in node.body:
        _first_uses(statement, first)
    reductions: dict[str, Reduction] = {}
    own_reads: set[int] = set()
    for statement in ast.walk(node):
        for reduction in _updates(rewriter, statement):
            if reduction.variable not in outside or first.get(reduction.variable) != "read":
                continue
            earlier = reductions.setdefault(reduction.variable, reduction)
            if earlier.operation != reduction.operation:
                rewriter.refuse(
                    statement, f"two reductions into '{reduction.variable}'", "use two variables"
                )
            own_reads.add(id(reduction.read))
    _check_reads(rewriter, node, reductions, own_reads)
    return [reductions[v] for v in sorted(reductions)]


def _updates(rewriter, statement) -> list[Reduction]:
    """The reductions that a statement makes, if that is what it is: `s += x`, `s = s + x`, `s, t =
    s + x, max(t, y)`.
    """
    if isinstance(statement, ast.AugAssign):
        operation = BINARY_OPERATORS.get(type(statement.op), NOTHING).joins
        if not operation or not isinstance(statement.target, ast.Name):
            return []
        return [Reduction(statement.target.id, operation, statement)]
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or statement.value is None:
        return []
    targets, values = targets_of(statement), [statement.value]
    if isinstance(targets[0], ast.Tuple) and isinstance(values[0], ast.Tuple):
        targets, values = targets[0].elts, values[0].elts
    if len(targets) != len(values):
        return []
    pairs = zip(targets, values, strict=True)
    candidates = [_carried(rewriter, v, t.id) for t, v in pairs if isinstance(t, ast.Name)]
    return [reduction for reduction in candidates if reduction]


def _carried(rewriter, value: ast.expr, variable: str) -> Reduction | None:
    """The reduction of `variable = value`: the variable is an operand of a sum, a product, or a
    max or min, or of such an operand of it (`s + x - y`); else None.
    """
    operation = _operation_of(rewriter, value)
    if not operation:
        return None
    todo = _operands(value)
    while todo:
        operand = todo.pop()
        if isinstance(operand, ast.Name) and operand.id == variable:
            return Reduction(variable, operation, value, operand)
        if _operation_of(rewriter, operand) == operation:
            todo += _operands(operand)
    return None


def _operation_of(rewriter, value: ast.expr) -> str:
    if isinstance(value, ast.BinOp):
        return BINARY_OPERATORS.get(type(value.op), NOTHING).joins
    if isinstance(value, ast.Call) and len(value.args) > 1:
        function = rewriter.value_of(value.func)
        return {max: "max", min: "min"}.get(function, "") if function in (max, min) else ""
    return ""


def _operands(value: ast.BinOp | ast.Call) -> list[ast.expr]:
    """Places where the reduced variable may stand: not behind a minus or a division."""
    if isinstance(value, ast.Call):
        return list(value.args)
    alike = isinstance(value.op, (ast.Add, ast.Mult))
    return [value.left, value.right] if alike else [value.left]


def _check_reads(rewriter, node, reductions: dict[str, Reduction], own_reads: set[int]) -> None:
    """Refuse a partial result that is read within the loop (besides the reads `own_reads`), and a
    variable of one iteration that is read after it.
    """
    for read in (n for n in ast.walk(node) if isinstance(n, ast.Name)):
        if read.id in reductions and isinstance(read.ctx, ast.Load) and id(read) not in own_reads:
            rewriter.refuse(
                read,
                f"'{read.id}', which a prange loop reduces into and reads,",
                "read it after the loop",
            )
    private = stored_names([node]) - reductions.keys()
    end, after = (node.end_lineno, node.end_col_offset), []
    for statement in ast.walk(rewriter.tree):
        if not hasattr(statement, "lineno"):
            continue
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            after.append((statement.lineno, statement.col_offset, statement.target.id, True))
        if isinstance(statement, ast.Name):
            read = isinstance(statement.ctx, ast.Load)
            after.append((statement.lineno, statement.col_offset, statement.id, read))
    visited: set[str] = set()
    for *_, variable, read in sorted(a for a in after if a[:2] >= end):
        if read and variable in private - visited:
            rewriter.refuse(
                node,
                f"'{variable}', of one iteration of prange, read after the loop,",
                "write per-iteration results into an array",
            )
        visited.add(variable)


def _names_outside(rewriter, node) -> set[str]:
    """Names used in the function outside this loop, its parameters included."""
    inside = {id(n) for n in ast.walk(node)}
    used = {
        n.id for n in ast.walk(rewriter.tree) if isinstance(n, ast.Name) and id(n) not in inside
    }
    return used | {a.arg for a in rewriter.tree.args.args}


def _captured(rewriter, node, reduced: set[str]) -> list[str]:
    """Local names that the body reads from outside, in a fixed order; refuses what iterations
    would share.
    """
    assigned = stored_names(node.body)
    first: dict[str, str] = {}
    for statement in node.body:
        _first_uses(statement, first)
    captured = []
    for variable, use in first.items():
        if variable == node.target.id or variable not in rewriter.local or variable in reduced:
            continue
        if variable not in assigned:
            captured.append(variable)
        elif use == "read":
            rewriter.refuse(
                node,
                f"'{variable}', which one iteration of prange passes to the next,",
                "use range, write per-iteration results into an array, or reduce in one statement, "
                "as in s += x",
            )
    return sorted(captured)


def _first_uses(node, first: dict[str, str]) -> None:
    """Record for each name whether its first use, in the order of execution, reads or writes it."""
    if isinstance(node, ast.Name):
        first.setdefault(node.id, "read" if isinstance(node.ctx, ast.Load) else "write")
        return
    if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            first.setdefault(node.target.id, "read")
        if node.value is not None:
            _first_uses(node.value, first)
        for target in targets_of(node):
            _first_uses(target, first)
        return
    if isinstance(node, ast.For):
        _first_uses(node.iter, first)
        _first_uses(node.target, first)
        for statement in [*node.body, *node.orelse]:
            _first_uses(statement, first)
        return
    for child in ast.iter_child_nodes(node):
        _first_uses(child, first)


def _chunk(rewriter, node, reductions, captured) -> str:
    """Add the serial kernel over iterations low..high to the program; returns its name."""
    identifier = rewriter.program.unique(f"chunk_{rewriter.tree.name}")
    captured += [r.variable for r in reductions]
    parameters = ["sp_low", "sp_high", "sp_start", "sp_step", *captured]
    single = len(node.iter.args) < 3
    text = f"def {identifier}({', '.join(parameters)}):\n"
    target = node.target.id
    if single:
        text += f"    for {target} in range(sp_start + sp_low, sp_start + sp_high):\n        pass\n"
    else:
        text += "    for sp_n in range(sp_low, sp_high):\n"
        text += f"        {target} = sp_start + sp_n * sp_step\n"
    if reductions:
        text += f"    return ({', '.join(r.variable for r in reductions)},)\n"
    tree = parse(text).body[0]
    loop = next(s for s in tree.body if isinstance(s, ast.For))
    loop.body = (loop.body if not single else []) + node.body
    for generated in ast.walk(tree):
        if isinstance(generated, (ast.stmt, ast.expr)) and not hasattr(generated, "end_lineno"):
            ast.copy_location(generated, node)
    inner = Rewriter(rewriter.program, rewriter.function, tree, rewriter.namespace)
    inner.parallel, inner.contractions = True, rewriter.contractions
    inner.label, inner.types = rewriter.label, inner.types | rewriter.types & {*captured}
    if rewriter.program.rows:  # a row that takes the marks of all chunks
        rewriter.program.frame(identifier).add(rewriter.add_site(node, "prange"), "prange", 1)
    function = inner.definition(identifier)
    starts = [(r.variable, _START.get(r.operation)) for r in reductions]
    function.body[:0] = [
        assign(variable, ast.Call(name(start), [name(variable)], []))
        for variable, start in starts
        if start
    ]
    rewriter.program.add_entered(function)
    return identifier
