"""Marks every operation of a kernel's source with its place, so that a twin can look up its unit.

The place of an operation is (function, line, column, name of the operation, n): the n-th of that
name that starts there, operands before operations. The marked source calls the methods of `_twin`,
a `tests.oracles.fixed_twin.FixedTwin`; `_chain` holds the calls that led to the running function.
"""

from __future__ import annotations

import ast
import copy
import inspect
import textwrap
import types

import numba
import numpy as np

from tests.oracles import parallel_loops
from tests.oracles.contracted import contracted

NAMES = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Mod: "mod",
    ast.FloorDiv: "floordiv", ast.Pow: "pow",
}  # fmt: skip
NAMED = {
    np.add: "add", np.subtract: "sub", np.multiply: "mul", np.divide: "div", np.mod: "mod",
    np.floor_divide: "floordiv", pow: "pow",
}  # fmt: skip
"""Functions that are operations of an operator's name."""
PLAIN_ATTRIBUTES = {"shape", "size", "ndim", "strides", "T", "dtype", "flat"}


def marked(function: types.FunctionType) -> types.CodeType:
    """The code of a function's marked source; its first parameter is the chain of calls."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function.__code__))).body[0]
    first = function.__code__.co_firstlineno
    named = inspect.getclosurevars(function)
    known = {**named.builtins, **named.globals, **named.nonlocals}
    users = not (function.__module__ or "").startswith("sciprec.")
    tree = Marker(tree, first, known, users).definition(tree)
    module = ast.fix_missing_locations(ast.Module([tree], []))
    code = compile(module, inspect.getfile(function), "exec")
    return next(c for c in code.co_consts if isinstance(c, types.CodeType))


def _read(identifier: str) -> ast.Name:
    return ast.Name(identifier, ast.Load())


def _do(method: str, *operands: ast.expr) -> ast.Call:
    return ast.Call(ast.Attribute(_read("_twin"), method, ast.Load()), list(operands), [])


def _let(identifier: str, value: ast.expr) -> ast.Assign:
    return ast.Assign([ast.Name(identifier, ast.Store())], value)


class Marker(ast.NodeTransformer):
    """Marks one function.

    Args:
        tree: its definition.
        first: line of the file that its source starts in.
        known: what its global names stand for.
        users: whether it is none of the package's kernels, which name the roles of sums themselves.
    """

    def __init__(self, tree: ast.FunctionDef, first: int, known: dict, users: bool):
        self.label, self.first, self.known, self.tree = tree.name, first, known, tree
        self.users, self.of_sums = users, contracted(tree) if users else {}
        self.inner = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
        self.met: dict[tuple, int] = {}
        self.loads: dict[str, list[tuple]] = {}
        self.fresh = 0

    # ---- places ---------------------------------------------------------------------------------

    def key(self, node, operation: str) -> tuple:
        line = self.first + node.lineno - 1
        key = (self.label, line, node.col_offset, operation)
        self.met[key] = self.met.get(key, -1) + 1
        return (*key, self.met[key])

    def at(self, node, operation: str) -> ast.expr:
        """(chain, place): the first argument of a method of the twin."""
        return ast.Tuple([_read("_chain"), ast.Constant(self.key(node, operation))], ast.Load())

    def temporary(self) -> str:
        self.fresh += 1
        return f"_made{self.fresh}"

    # ---- expressions ----------------------------------------------------------------------------

    def visit_Constant(self, node):
        return _do("literal", node) if isinstance(node.value, float) else node

    def of_sum(self, node, kind: str, number: int, *operands: ast.expr) -> ast.Call:
        """An operation of a sum of products; all of one sum have one place."""
        name = "product" if kind == "product" else "accumulate"
        self.loads.setdefault(f"sum {number}", []).append(self.key(node, name))
        where = [_read("_chain"), _read("_loads"), ast.Constant(f"sum {number}")]
        return _do("of_sum", *where, ast.Constant(kind), *operands)

    def visit_BinOp(self, node):
        if node in self.of_sums:
            operands = self.visit(node.left), self.visit(node.right)
            return self.of_sum(node, *self.of_sums[node], *operands)
        left, exponent = self.visit(node.left), self.whole(node.right)
        if isinstance(node.op, ast.Pow) and exponent is not None:
            return _do("power", self.at(node, f"power({exponent})"), left, ast.Constant(exponent))
        right = self.visit(node.right)
        if isinstance(node.op, ast.MatMult):
            return _do("invoke", self.at(node, "call"), ast.Constant("dot"), left, right)
        if type(node.op) not in NAMES:
            return ast.BinOp(left, node.op, right)
        return _do("operate", self.at(node, NAMES[type(node.op)]), left, right)

    def whole(self, node) -> int | None:
        """The value of an exponent that is a literal integer, or names one."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self.whole(node.operand)
            return None if value is None else -value
        value = getattr(node, "value", None)
        if isinstance(node, ast.Name):
            value = self.known.get(node.id)
        return value if type(value) is int and abs(value) <= 64 else None

    def visit_UnaryOp(self, node):
        negated = isinstance(node.op, ast.USub)
        integer = isinstance(node.operand, ast.Constant) and isinstance(node.operand.value, int)
        if not negated or integer:
            return self.generic_visit(node)
        return _do("operate", self.at(node, "neg"), self.visit(node.operand))

    def visit_Compare(self, node):
        seen = [self.viewed(x, self.visit(x)) for x in (node.left, *node.comparators)]
        return ast.Compare(seen[0], node.ops, seen[1:])

    def viewed(self, node, value: ast.expr) -> ast.Call:
        """What is compared or copied: an array is rounded first."""
        return _do("viewed", self.at(node, "viewed"), value)

    def visit_Attribute(self, node):
        if node.attr in PLAIN_ATTRIBUTES:
            return self.generic_visit(node)
        return _do("field", self.at(node, "enter"), self.visit(node.value), ast.Constant(node.attr))

    def visit_Subscript(self, node):
        read = ast.Subscript(*self.container(node), ast.Load())
        base = node.value
        if isinstance(base, ast.Attribute) and base.attr in ("shape", "strides"):
            return read
        return self.loaded(node, read, ast.unparse(base))

    def loaded(self, node, read: ast.expr, array: str) -> ast.Call:
        """A load; all loads from one array of a function have one place, that of one of them."""
        self.loads.setdefault(array, []).append(self.key(node, "enter"))
        return _do("loaded", _read("_chain"), _read("_loads"), ast.Constant(array), read)

    def container(self, node: ast.Subscript) -> tuple[ast.expr, ast.expr]:
        value = node.value
        if isinstance(value, ast.Subscript):
            return ast.Subscript(*self.container(value), ast.Load()), self.visit(node.slice)
        return self.visit(value), self.visit(node.slice)

    def visit_Call(self, node):
        arguments = [self.visit(a) for a in node.args]
        if node in self.of_sums:
            number = self.of_sums[node][1]
            product = self.of_sum(node, "product", number, *arguments[:2])
            return self.of_sum(node, "accumulate", number, arguments[2], product)
        keywords = [ast.keyword(k.arg, self.visit(k.value)) for k in node.keywords]
        if isinstance(node.func, ast.Attribute):
            owner, name = self.visit(node.func.value), node.func.attr
            called = getattr(self.known.get(ast.unparse(node.func.value)), name, None)
            if called is np.copy:
                arguments = [self.viewed(node.args[0], arguments[0])]
            elif name == "copy":
                owner = self.viewed(node, owner)
            target = [owner, ast.Constant(name)]
            call = _do("method", self.at(node, "call"), *target, *arguments)
        else:
            call = _do("invoke", self.at(node, "call"), node.func, *arguments)
            called = self.known.get(ast.unparse(node.func))
        if callable(called) and called in NAMED:
            self.key(node, NAMED[called])  # the first of its name here: operators come after
        call.keywords = keywords
        return call

    def visit_ListComp(self, node):
        generators = [g for given in node.generators for g in self.generators(given)]
        return ast.ListComp(self.visit(node.elt), generators)

    def generators(self, given: ast.comprehension) -> list[ast.comprehension]:
        """`for x in a` with the elements in the place where they are taken."""
        called = given.iter.func if isinstance(given.iter, ast.Call) else None
        iterated = self.viewed(given.iter, self.visit(given.iter))
        out = [ast.comprehension(given.target, iterated, [], 0)]
        found = {n.id for n in ast.walk(given.target) if isinstance(n, ast.Name)}
        if called is None or ast.unparse(called) != "range":
            for x in sorted(found):
                once = _do("entered", self.at(given.target, "enter"), _read(x))
                target = ast.Name(x, ast.Store())
                out.append(ast.comprehension(target, ast.Tuple([once], ast.Load()), [], 0))
        out[-1].ifs = [self.visit(condition) for condition in given.ifs]
        return out

    # ---- statements -----------------------------------------------------------------------------

    def visit_Assign(self, node):
        value = self.visit(node.value)
        if len(node.targets) == 1:
            return self.assigned(node.targets[0], value, self.operation_of(node.value))
        held = self.temporary()
        stores = [s for target in node.targets for s in self.assigned(target, _read(held))]
        return [_let(held, value), *stores]

    def visit_AnnAssign(self, node):
        return self.assigned(
            node.target, self.visit(node.value), self.operation_of(node.value)
        )

    def operation_of(self, node) -> str:
        """The name of the operation that makes a value."""
        return "accumulate" if node in self.of_sums else _operation_of(node)

    def assigned(self, target, value: ast.expr, operation: str = "") -> list[ast.stmt]:
        """target = value; `operation` made the value: its name, or 'call' where only the run can
        tell."""
        if isinstance(target, ast.Name):
            return [ast.Assign([target], value)]
        if isinstance(target, ast.Subscript):
            place = ast.Tuple([self.at(target, name) for name in ("leave", "stored")], ast.Load())
            index = target.slice
            container, index = self.container(target)
            if isinstance(target.slice, ast.Slice):
                index = _sliced(index)
            elif isinstance(target.slice, ast.Tuple):
                index.elts = [_sliced(i) if isinstance(i, ast.Slice) else i for i in index.elts]
            known = ast.Constant(operation) if operation != "call" else _do("latest")
            store = _do("store", place, value, known, container, index)
            return [ast.Expr(store)]
        if isinstance(target, ast.Attribute):
            owner, place = self.visit(target.value), self.at(target, "put")
            return [ast.Expr(_do("put", place, value, owner, ast.Constant(target.attr)))]
        held = self.temporary()
        items = [_do("entered", self.at(target, "enter"),
                     ast.Subscript(_read(held), ast.Constant(n), ast.Load()))
                 for n in range(len(target.elts))]  # fmt: skip
        names = [self.temporary() for _ in items]
        out = [_let(held, value)] + [_let(n, i) for n, i in zip(names, items, strict=True)]
        for item, identifier in zip(target.elts, names, strict=True):
            out += self.assigned(item, _read(identifier))
        return out

    def visit_AugAssign(self, node):
        value, exponent = self.visit(node.value), self.whole(node.value)
        if type(node.op) not in NAMES:
            return ast.AugAssign(node.target, node.op, value)
        name = NAMES[type(node.op)]
        power = isinstance(node.op, ast.Pow) and exponent is not None
        name = f"power_of({exponent})" if power else name
        if isinstance(node.target, ast.Name) and node in self.of_sums:
            read = _read(node.target.id)
            return _let(node.target.id, self.of_sum(node, *self.of_sums[node], read, value))
        if isinstance(node.target, ast.Name):
            place = self.at(node, f"i{name}")
            return _let(node.target.id, _do("updated", place, _read(node.target.id), value))
        if isinstance(node.target, ast.Attribute):
            owner = self.visit(node.target.value)
            field = ast.Constant(node.target.attr)
            read = _do("field", self.at(node, "enter"), owner, field)
            updated = _do("updated", self.at(node, f"i{name}"), read, value)
            return self.assigned(node.target, updated)
        read = copy.deepcopy(node.target)
        read.ctx = ast.Load()
        load = self.loaded(
            node, ast.Subscript(*self.container(read), ast.Load()), ast.unparse(read.value)
        )
        if node in self.of_sums:
            result = self.of_sum(node, *self.of_sums[node], load, value)
            return self.assigned(node.target, result, "accumulate")
        result = _do("operate", self.at(node, name), load, value)
        return self.assigned(node.target, result, name)

    def visit_For(self, node):
        called = node.iter.func if isinstance(node.iter, ast.Call) else None
        name = ast.unparse(called).rpartition(".")[2] if called else ""
        if name == "prange" and self.known.get(name, numba.prange) is numba.prange:
            return self.parallel(node)
        iterated = self.visit(node.iter)
        body = []
        if name != "range":
            found = {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)}
            body = [
                _let(x, _do("entered", self.at(node, "enter"), _read(x))) for x in sorted(found)
            ]
        body += self.block(node.body)
        return ast.For(node.target, iterated, body, self.block(node.orelse))

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for statement in statements:
            made = self.visit(statement)
            out += made if isinstance(made, list) else [made]
        return out

    def parallel(self, node) -> list[ast.stmt]:
        """At most 64 chunks, each from neutral values; their results are combined in order."""
        outside = parallel_loops.names_outside(self.tree, node)
        reductions = parallel_loops.reductions(node, outside)
        outer, parts = self.temporary(), self.temporary()
        arguments = [self.visit(a) for a in node.iter.args]
        deeper = _do("chain_of", self.at(node, "call"))
        body = self.block(node.body)
        names = [r[0] for r in reductions]
        start = [
            _let(n, before if neutral is None else _do("begun", before, ast.Constant(neutral)))
            for n, _, neutral, _ in reductions
            for before in [_read(f"_{n}_before")]
        ]
        chunk = f"{outer}_chunk"
        inner = ast.For(node.target, _read(chunk), body, [])
        kept = ast.Tuple([_read(n) for n in names], ast.Load())
        append = ast.Expr(ast.Call(ast.Attribute(_read(parts), "append", ast.Load()), [kept], []))
        loop = ast.For(ast.Name(chunk, ast.Store()), _do("chunks", *arguments),
                       [*start, inner, append], [])  # fmt: skip
        combined: list[ast.stmt] = []
        for n, (name, operation, _, at) in enumerate(reductions):
            part = ast.Subscript(_read(f"{outer}_part"), ast.Constant(n), ast.Load())
            method = "updated" if operation[0] == "i" else "operate"
            if at in self.of_sums:
                made = self.of_sum(at, "accumulate", self.of_sums[at][1], _read(name), part)
                combined.append(_let(name, made))
                continue
            combined.append(_let(name, _do(method, self.at(at, operation), _read(name), part)))
        part = ast.Name(f"{outer}_part", ast.Store())
        return [
            *[_let(f"_{n}_before", _read(n)) for n in names],
            _let(outer, _read("_chain")),
            _let("_chain", deeper),
            _let(parts, ast.List([], ast.Load())),
            loop,
            _let("_chain", _read(outer)),
            *[_let(n, _read(f"_{n}_before")) for n in names],
            ast.For(part, _read(parts), combined or [ast.Pass()], []),
        ]

    def visit_FunctionDef(self, node):
        inner = Marker(node, self.first, self.known, self.users)
        return inner.definition(node)

    def definition(self, node) -> ast.FunctionDef:
        """The marked definition, its parameters without annotations, `chain` before them."""
        node.decorator_list, node.returns = [], None
        for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            argument.annotation = None
        body = self.block(node.body)
        node.args.defaults = [ast.Constant(None) for _ in node.args.defaults]
        node.args.args.insert(0, ast.arg("_chain"))
        node.body = [_let("_loads", ast.Constant(_frozen(self.loads))), *body]
        return node


def _sliced(index: ast.Slice) -> ast.Call:
    parts = [p or ast.Constant(None) for p in (index.lower, index.upper, index.step)]
    return ast.Call(_read("_slice"), parts, [])


def _frozen(loads: dict) -> tuple:
    return tuple((array, tuple(keys)) for array, keys in loads.items())


def _operation_of(node) -> str:
    if isinstance(node, ast.BinOp) and type(node.op) in (ast.Add, ast.Sub, ast.Mult, ast.Div):
        return NAMES[type(node.op)]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return "" if isinstance(node.operand, ast.Constant) and isinstance(
            node.operand.value, int) else "neg"  # fmt: skip
    return "call" if isinstance(node, ast.Call) else ""
