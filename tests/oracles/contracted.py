"""Which operations of a kernel belong to a sum of products that a loop forms.

The rule is that of `docs/reference/engine.md`, read from the other end: from where a sum's name
stands in the source, upward.
"""

from __future__ import annotations

import ast
import re

LOOPS = (ast.For, ast.While)
ZERO_ARRAYS = ("zeros", "zeros_like")
CASTS = ("float", "int", "complex", "float32", "float64", "int32", "int64", "complex64",
         "complex128", "type")  # fmt: skip


def contracted(function: ast.FunctionDef) -> dict[ast.AST, tuple[str, int]]:
    """Node of the source -> what it is of which sum: "product", "accumulate" or "subtract" of two
    operands, "fma" of a product and the sum.
    """
    return _Source(function).marks()


def base_of(node: ast.AST) -> str:
    """The name of a variable, or of an element's array."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return getattr(node, "id", "")


def called(node: ast.AST | None) -> str:
    """The last word of what an expression calls."""
    return ast.unparse(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""


def is_zero(node) -> bool:
    if called(node) in ZERO_ARRAYS:
        return True
    if called(node) in ("full", "full_like"):
        words = [k.value for k in node.keywords if k.arg == "fill_value"]
        return any(is_zero(x) for x in [*node.args[1:2], *words])
    if called(node) in CASTS and len(node.args) == 1:
        return is_zero(node.args[0])
    if isinstance(node, ast.UnaryOp):
        return is_zero(node.operand)
    return isinstance(node, ast.Constant) and node.value in (0, 0.0, 0j) and node.value is not False


class _Source:
    def __init__(self, function: ast.FunctionDef) -> None:
        self.function, self.above = function, {}
        for node in ast.walk(function):
            for child in ast.iter_child_nodes(node):
                self.above[id(child)] = node
        self.arguments = {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)}
        self.order = {id(n): i for i, n in enumerate(self._in_order(function))}

    def _in_order(self, node):
        yield node
        for child in ast.iter_child_nodes(node):
            yield from self._in_order(child)

    def chain(self, node) -> list[ast.AST]:
        """The nodes around a node, from the inside."""
        found = []
        while id(node) in self.above:
            node = self.above[id(node)]
            found.append(node)
        return found

    def loops(self, node) -> list[ast.AST]:
        """The loops whose body a node stands in, from the outside."""
        line = [node, *self.chain(node)]
        pairs = zip(line, line[1:], strict=False)
        return [outer for inner, outer in pairs if isinstance(outer, LOOPS) and inner in outer.body
                ][::-1]  # fmt: skip

    def belongs(self, node) -> bool:
        """Whether a node is of this function, not of one inside it."""
        inner = [n for n in self.chain(node) if isinstance(n, ast.FunctionDef)]
        return inner[:1] == [self.function]

    # ---- statements ----------------------------------------------------------------------------

    def update(self, statement) -> dict[ast.AST, str] | None:
        """The parts of `s = s + x * y` and the like."""
        if isinstance(statement, ast.AugAssign):
            kind = {ast.Add: "accumulate", ast.Sub: "subtract"}.get(type(statement.op))
            if kind is None or not _is_product(statement.value):
                return None
            return {statement: kind, statement.value: "product"}
        if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or statement.value is None:
            return None
        if isinstance(statement, ast.Assign) and len(statement.targets) != 1:
            return None
        text = ast.unparse(_target(statement))
        reads = [n for n in ast.walk(statement.value)
                 if isinstance(n, (ast.Name, ast.Subscript)) and ast.unparse(n) == text
                 ]  # fmt: skip
        if len(reads) != 1 or reads[0] is statement.value:
            return None
        found: dict[ast.AST, str] = {}
        node = reads[0]
        while node is not statement.value:
            over = self.above[id(node)]
            if isinstance(over, ast.Call) and called(over) == "fma" and over.args[2] is node:
                found[over] = "fma"
            elif isinstance(over, ast.BinOp) and isinstance(over.op, (ast.Add, ast.Sub)):
                other = over.right if over.left is node else over.left
                minus = isinstance(over.op, ast.Sub)
                if not _is_product(other) or minus and over.right is node:
                    return None
                found |= {over: "subtract" if minus else "accumulate", other: "product"}
            else:
                return None
            node = over
        return found

    def marks(self) -> dict[ast.AST, tuple[str, int]]:
        updates = {}
        for statement in ast.walk(self.function):
            if isinstance(statement, ast.stmt) and self.belongs(statement):
                found = self.update(statement)
                if found and base_of(_target(statement)):
                    updates[statement] = found
        groups: dict[tuple, list] = {}
        for statement in updates:
            text = ast.unparse(_target(statement))
            mine = {id(_target(s)) for s in updates if ast.unparse(_target(s)) == text}
            settings = self.settings(_target(statement), mine)
            free = [loop for loop in self.loops(statement)
                    if not any(loop in self.chain(node) for node in settings)]  # fmt: skip
            if free:
                groups.setdefault((text, free[0]), [statement, settings, []])[2].append(statement)
        made = {}
        for number, ((_, scope), (first, settings, every)) in enumerate(groups.items()):
            if self.is_sum(scope, first, settings, every, updates):
                for statement in every:
                    made |= {node: (kind, number) for node, kind in updates[statement].items()}
        return made

    def settings(self, target, mine: set[int]) -> list[ast.AST]:
        """Where a sum's name, or an element of its array, gets a value but by its updates."""
        base, found = base_of(target), []
        for node in ast.walk(self.function):
            stored = isinstance(getattr(node, "ctx", None), ast.Store)
            if stored and isinstance(node, (ast.Name, ast.Subscript)) and base_of(node) == base:
                found += [node] if id(node) not in mine else []
            if called(node) == "fill" and base_of(getattr(node.func, "value", None)) == base:
                found.append(node)
        return found

    # ---- the rule ------------------------------------------------------------------------------

    def is_sum(self, scope, first, settings, every, updates) -> bool:
        base = base_of(_target(first))
        standing = [n for n in ast.walk(scope) if isinstance(n, ast.Name) and n.id == base]
        expected = sum(2 - isinstance(s, ast.AugAssign) for s in every)
        if len(standing) != expected:
            return False
        if isinstance(_target(first), ast.Subscript) and self.other_names(base) & _names(scope):
            return False
        factors = {s: self.factors(updates[s]) for s in every}
        for statement, given in factors.items():
            loops = self.loops(statement)
            fixed = _index_names(_target(statement))
            inside = loops[loops.index(scope) :]
            if not any(
                not fixed & _moving(loop) and all(self.is_load(x, loop) for x in given)
                for loop in inside
            ):
                return False
        minus = all(kind != "accumulate" and kind != "fma" for s in every
                    for kind in updates[s].values())  # fmt: skip
        return self.begins(scope, first, settings, factors, minus)

    def other_names(self, base: str) -> set[str]:
        """Names that stand for a sum's array, or for a part of it."""
        found = set()
        for node in ast.walk(self.function):
            if not isinstance(node, ast.Assign):
                continue
            text = ast.unparse(node.value)
            same = re.fullmatch(rf"(np\.\w+\()?{base}(\.T|\.\w+\(.*\)|\[.*:.*\])*(, .*)?\)?", text)
            if same and not any(f in text for f in (".sum", ".copy", ".max", "np.copy", "np.sum")):
                found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        return found - {base}

    def factors(self, kinds: dict) -> list[ast.expr]:
        found = []
        for node, kind in kinds.items():
            if kind == "product":
                found += [node.left, node.right]
            elif kind == "fma":
                found += node.args[:2]
        return found

    def is_load(self, node, loop) -> bool:
        """Whether a factor is an element whose index the loop moves, or a name of one."""
        node = _bare(node)
        if isinstance(node, ast.Subscript):
            return bool(_index_names(node) & _moving(loop))
        if not isinstance(node, ast.Name) or node.id in self.arguments:
            return False
        stores = [n for n in ast.walk(self.function)
                  if isinstance(n, ast.Name) and n.id == node.id and isinstance(n.ctx, ast.Store)
                  ]  # fmt: skip
        if len(stores) != 1:
            return False
        over = self.above[id(stores[0])]
        if isinstance(over, ast.Tuple):
            return self.above[id(over)] is loop and _runs_over(loop, over.elts.index(stores[0]))
        if over is loop:
            return isinstance(loop.iter, (ast.Name, ast.Attribute, ast.Subscript))
        return (
            isinstance(over, ast.Assign) and len(over.targets) == 1 and loop in self.chain(over)
            and isinstance(over.value, ast.Subscript)
            and bool(_index_names(over.value) & _moving(loop))
        )  # fmt: skip

    def begins(self, scope, first, settings, factors, minus: bool) -> bool:
        """Whether what a sum begins with is none of a state."""
        target = _target(first)
        base, element = base_of(target), isinstance(target, ast.Subscript)
        around, now = self.chain(scope), self.order[id(scope)]
        sure = [n for n in settings if self.order[id(n)] < now and self.is_sure(n, target, around)]
        last = max(sure, key=lambda n: self.order[id(n)], default=None)
        since = self.order[id(last)] if last is not None else -1
        again = [loop for loop in around if isinstance(loop, LOOPS) and (
            last is None or loop not in self.chain(last))]  # fmt: skip
        reach = [n for n in settings
                 if since <= self.order[id(n)] < now or any(x in self.chain(n) for x in again)
                 ]  # fmt: skip
        if not reach:
            ends = [
                _index_names(_bare(x)) & _index_names(target) for x in sum(factors.values(), [])
            ]
            pairs = zip(ends[::2], ends[1::2], strict=True)
            return base in self.arguments and element and all(a - b and b - a for a, b in pairs)
        if last is None and not element and base in self.arguments:
            return False
        values = [self.value(n) for n in reach]
        others = [v for v in values if not is_zero(v) and called(v) not in ("empty", "empty_like")]
        if not others:
            return any(map(is_zero, values))
        return minus and all(self.is_left(v, base) for v in others)

    def is_sure(self, node, target, around) -> bool:
        statement = next((n for n in self.chain(node) if isinstance(n, ast.stmt)), None)
        if not isinstance(statement, (ast.Assign, ast.AnnAssign)):
            return False
        block = self.above[id(statement)]
        if block not in around:
            return False
        line = [n for n in around if self.above.get(id(n)) is block]
        inner = line[0] if line else None
        for part in ("body", "orelse", "finalbody"):
            there = getattr(block, part, [])
            if statement in there and inner is not None and inner not in there:
                return False
        same = isinstance(node, ast.Name) or ast.unparse(node) == ast.unparse(target)
        return same or _is_all(node)

    def value(self, node):
        """The value of a setting; None where that is not seen."""
        if isinstance(node, ast.Call):
            return node.args[0] if node.args else None
        if isinstance(node, ast.Subscript) and not (_index_names(node) or _is_all(node)):
            return None
        over = self.above[id(node)]
        if isinstance(over, ast.Tuple):
            statement = self.above[id(over)]
            given = getattr(statement, "value", None)
            same = isinstance(given, ast.Tuple) and len(given.elts) == len(over.elts)
            return given.elts[over.elts.index(node)] if same else None
        return over.value if isinstance(over, (ast.Assign, ast.AnnAssign)) else None

    def is_left(self, value, base: str) -> bool:
        """Whether a sum begins at an element of an array that it is not written into."""
        if not isinstance(value, ast.Subscript) or base_of(value) in ("", base):
            return False
        for node in ast.walk(self.function):
            written = isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
            if written and base_of(node) == base_of(value):
                statement = next(n for n in self.chain(node) if isinstance(n, ast.stmt))
                given = getattr(statement, "value", None)
                if given is not None and base in _names(given):
                    return False
        return True


def _target(statement):
    return statement.targets[0] if isinstance(statement, ast.Assign) else statement.target


def _is_product(node) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)


def _bare(node):
    return node.operand if isinstance(node, ast.UnaryOp) else node


def _is_all(node) -> bool:
    """Whether this is a[:] or a[...]."""
    index = getattr(node, "slice", None)
    return isinstance(index, ast.Slice) or getattr(index, "value", None) is ...


def _index_names(node) -> set[str]:
    found = set()
    while isinstance(node, ast.Subscript):
        found |= _names(node.slice)
        node = node.value
    return found


def _moving(loop) -> set[str]:
    """The names that one pass of a loop changes, the variables of loops inside it aside."""
    inner = [n for n in ast.walk(loop) if isinstance(n, ast.For) and n is not loop]
    aside = set().union(*(_names(other.target) for other in inner))
    stored = {n.id for statement in loop.body for n in ast.walk(statement)
              if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}  # fmt: skip
    return stored - aside | (_names(loop.target) if isinstance(loop, ast.For) else set())


def _names(node) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _runs_over(loop, position: int) -> bool:
    """Whether a name in a loop's tuple stands for elements."""
    if called(loop.iter) == "enumerate":
        return position == 1
    if called(loop.iter) != "zip":
        return False
    return called(loop.iter.args[position]) not in ("range", "prange", "ndindex", "pndindex")
