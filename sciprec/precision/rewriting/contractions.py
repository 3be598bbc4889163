"""Contractions: sums of products that a kernel writes as a loop, as `@` and `np.dot` form them.

Recognised by names alone, in the source. A statement takes products into a sum (`s += x * y`,
`s = s + x * y`, `s = x * y + s`, with `-`, `fma(x, y, s)`, several of them in one line), and

- both factors of each product are loaded, at indices of which one moves with a loop that the sum
  itself does not move with;
- the outermost loop in which the sum is not begun anew has it in such statements alone, an array
  under one name;
- the sum begins there at zero; or, where products are subtracted, at an element that it does not go
  back to (a residual, an elimination); or it is an element of a matrix that the caller gives, and
  each factor has an index of it that the other lacks (`C[i, j] += A[i, k] * B[k, j]`).

A state that is stepped in time is none of this: it begins at what it was, or is read between steps,
or its step is no element. What cannot be told from one stays as it is.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from sciprec.precision.operations.operation import operation_called
from sciprec.precision.rewriting.syntax import (
    Rewriting,
    is_known,
    nodes,
    root_of,
    stored_names,
    targets_of,
)

_RANGES = ("range", "prange", "ndindex", "pndindex")
_ZEROS = ("zeros", "zeros_like")
_CASTS = ("float", "int", "complex", "float32", "float64", "int32", "int64", "complex64",
          "complex128", "type")  # fmt: skip
_VIEWS = ("reshape", "ravel", "transpose", "view", "asarray", "swapaxes", "flip", "expand_dims")
_LOOPS = (ast.For, ast.While)


@dataclass(frozen=True)
class Product:
    """A product that a sum takes: its factors, where it stands, and whether it is subtracted there.

    Args:
        at: the product in the source.
        taken: where the sum takes it.
    """

    x: ast.expr
    y: ast.expr
    at: ast.expr
    taken: ast.AST
    subtracted: bool


@dataclass(eq=False)
class Contraction:
    """A statement that takes products into a sum.

    Args:
        target: the sum.
        products: in the order in which they are taken.
        base: where the statement reads the sum; None in `s += x * y`.
        within: the loops that it stands in, with their blocks, from the outermost.
        number: that of its sum in the kernel.
    """

    target: ast.Name | ast.Subscript
    products: list[Product]
    base: ast.expr | None
    within: list[tuple[list[ast.stmt], int, ast.AST]]
    number: int = 0

    @property
    def text(self) -> str:
        """The sum as it is written."""
        return ast.unparse(self.target)

    @property
    def label(self) -> str:
        """A name of its sum in the kernel."""
        return f"sum {self.number}"

    @property
    def loops(self) -> list[ast.For | ast.While]:
        """The loops around it, from the outermost."""
        return [owner for _, _, owner in self.within if isinstance(owner, _LOOPS)]


def contractions(
    tree: ast.FunctionDef, is_fma: Callable[[ast.expr], bool]
) -> dict[ast.AST, Contraction]:
    """Statement of a kernel that takes products into a sum, and the value that it assigns -> what
    they do.

    Args:
        tree: the kernel's definition; functions inside it have contractions of their own.
        is_fma: whether the function of a call is fma.
    """
    candidates: dict[ast.stmt, Contraction] = {}
    _collect(tree.body, [(tree.body, 0, tree)], is_fma, candidates)
    sums: dict[str, list[Contraction]] = {}
    for contraction in candidates.values():
        sums.setdefault(contraction.text, []).append(contraction)
    kernel, result = _Kernel(tree, candidates), dict[ast.AST, Contraction]()
    scopes: dict[tuple[str, ast.AST], list[Contraction]] = {}
    for text, updates in sums.items():
        for update in updates:
            scope = kernel.scope(update)
            if scope is not None:
                scopes.setdefault((text, scope), []).append(update)
    for number, ((_, scope), updates) in enumerate(scopes.items()):
        if kernel.is_contraction(scope, updates):
            for update in updates:
                update.number = number
            every = {id(update) for update in updates}
            for statement, contraction in candidates.items():
                if id(contraction) in every:
                    result[statement] = result[statement.value] = contraction
    return result


def _collect(block, within, is_fma, candidates: dict[ast.stmt, Contraction]) -> None:
    """Note the statements of a block, and of those inside it, that take products into a sum."""
    for index, statement in enumerate(block):
        path = [*within[:-1], (block, index, within[-1][2])]
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            update = _update(statement, is_fma)
            if update is not None:
                candidates[statement] = Contraction(*update, path)
        elif not isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            for inner, owner in _blocks(statement):
                _collect(inner, [*path, (inner, 0, owner)], is_fma, candidates)


def _blocks(statement: ast.stmt) -> Iterable[tuple[list[ast.stmt], ast.AST]]:
    """The blocks of a statement, each with what it belongs to: a loop's `else` to no loop."""
    for part in ("body", "orelse", "finalbody"):
        block = getattr(statement, part, [])
        if block:
            yield block, statement if part == "body" else ast.Pass()
    for handler in getattr(statement, "handlers", []):
        yield handler.body, handler


def _update(statement, is_fma):
    """(target, products, where it is read) of a statement that takes products into a sum."""
    target = targets_of(statement)[0]
    if isinstance(statement, ast.Assign) and len(statement.targets) > 1 or statement.value is None:
        return None
    if not root_of(target):
        return None
    if isinstance(statement, ast.AugAssign):
        if not isinstance(statement.op, (ast.Add, ast.Sub)):
            return None
        factors = _factors(statement.value)
        if factors is None:
            return None
        subtracted = isinstance(statement.op, ast.Sub)
        product = Product(*factors, statement.value, statement, subtracted)
        return target, [product], None
    products: list[Product] = []
    base = _spine(statement.value, ast.unparse(target), is_fma, products)
    return None if base is None or not products else (target, products, base)


def _spine(value: ast.expr, text: str, is_fma, products: list[Product]) -> ast.expr | None:
    """The read of the sum that an expression takes products into; these are noted in order."""
    if isinstance(value, (ast.Name, ast.Subscript)):
        return value if ast.unparse(value) == text else None
    if isinstance(value, ast.Call) and len(value.args) == 3 and is_fma(value.func):
        x, y, total = value.args
        base = _spine(total, text, is_fma, products)
        products.append(Product(x, y, value, value, False))
        return base
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, (ast.Add, ast.Sub)):
        return None
    sides = [(value.left, value.right)]
    if isinstance(value.op, ast.Add):
        sides.append((value.right, value.left))
    for total, product in sides:
        factors, before = _factors(product), len(products)
        base = _spine(total, text, is_fma, products) if factors else None
        if base is not None:
            subtracted = isinstance(value.op, ast.Sub)
            products.append(Product(*factors, product, value, subtracted))
            return base
        del products[before:]
    return None


def _factors(node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return node.left, node.right
    return None


def _indices(element: ast.expr) -> set[str]:
    """The names in the indices of an element."""
    names: set[str] = set()
    while isinstance(element, ast.Subscript):
        names |= {n.id for n in nodes(element.slice) if isinstance(n, ast.Name)}
        element = element.value
    return names


@dataclass
class _Kernel:
    """A kernel's source, prepared for the questions of the rules."""

    tree: ast.FunctionDef
    updates: dict[ast.stmt, Contraction]
    _moving: dict[ast.AST, set[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        every = nodes(self.tree)
        arguments = self.tree.args
        self.parameters = {a.arg for a in nodes(arguments) if isinstance(a, ast.arg)}
        self.stores: dict[str, list[ast.stmt]] = {}  # name -> statements that assign it
        for statement in every:
            if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For)):
                for stored in stored_names([_targets_of(statement)]):
                    self.stores.setdefault(stored, []).append(statement)

    # ---- where a sum lives ----------------------------------------------------------------------

    def scope(self, update: Contraction) -> ast.For | ast.While | None:
        """The outermost loop around an update in which its sum is not begun anew."""
        for loop in update.loops:
            if not any(map(self._begins(update), nodes(loop))):
                return loop
        return None

    def _begins(self, update: Contraction) -> Callable[[ast.AST], bool]:
        """Whether a node of the source gives a sum, or an element of its array, another value."""
        base = root_of(update.target)
        own_stores = {id(u.target) for u in self.updates.values() if u.text == update.text}

        def begins(node) -> bool:
            if isinstance(node, (ast.Name, ast.Subscript)) and isinstance(node.ctx, ast.Store):
                return root_of(node) == base and id(node) not in own_stores
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                return node.func.attr == "fill" and root_of(node.func.value) == base
            return False

        return begins

    def is_contraction(self, scope: ast.AST, updates: list[Contraction]) -> bool:
        """Whether updates, all of one sum in its scope, are what the rules say."""
        reads = sum(1 + (u.base is not None) for u in updates)
        base = root_of(updates[0].target)
        mentions = [n for n in nodes(scope) if isinstance(n, ast.Name) and n.id == base]
        if len(mentions) != reads:
            return False
        if isinstance(updates[0].target, ast.Subscript) and self._has_another_name(base, scope):
            return False
        if not all(self._moves(scope, update) for update in updates):
            return False
        return self._begins_well(scope, updates)

    def _has_another_name(self, base: str, scope: ast.AST) -> bool:
        """Whether a loop names an array, or a part of it, by another name, too."""
        aliases = set()
        for statement in nodes(self.tree):
            if isinstance(statement, ast.Assign) and _is_view(statement.value, base):
                aliases |= stored_names([_targets_of(statement)])
        within = {n.id for n in nodes(scope) if isinstance(n, ast.Name)}
        return bool((aliases - {base}) & within)

    def _moves(self, scope: ast.AST, update: Contraction) -> bool:
        """Whether the factors of all products move with a loop that the sum does not move with."""
        loops = update.loops
        fixed = _indices(update.target)
        for number in range(loops.index(scope), len(loops)):
            moving = self.moving(loops[number])
            if fixed & moving:
                continue
            around = loops[: number + 1]
            factors = [f for p in update.products for f in (p.x, p.y)]
            if all(self._loaded(f, moving, around) for f in factors):
                return True
        return False

    def moving(self, loop: ast.AST) -> set[str]:
        """Names that a loop changes, but those of the loops inside it."""
        if loop not in self._moving:
            inner: set[str] = set()
            for node in nodes(loop):
                if isinstance(node, ast.For) and node is not loop:
                    inner |= stored_names([ast.Expr(node.target)])
            target = [ast.Expr(loop.target)] if isinstance(loop, ast.For) else []
            self._moving[loop] = stored_names(target) | stored_names(loop.body) - inner
        return self._moving[loop]

    def _loaded(self, factor: ast.expr, moving: set[str], around: list) -> bool:
        """Whether a factor is loaded at an index that moves, or is the name of what was."""
        if isinstance(factor, ast.UnaryOp) and isinstance(factor.op, ast.USub):
            factor = factor.operand
        if isinstance(factor, ast.Subscript):
            return bool(_indices(factor) & moving)
        if not isinstance(factor, ast.Name) or factor.id in self.parameters:
            return False
        statements = self.stores.get(factor.id, [])
        if len(statements) != 1:
            return False
        (statement,) = statements
        if isinstance(statement, ast.For):
            return statement is around[-1] and factor.id in _elements(statement)
        if statement not in nodes(around[-1]) or not isinstance(statement, ast.Assign):
            return False
        single = len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name)
        loads = isinstance(statement.value, ast.Subscript)
        return single and loads and bool(_indices(statement.value) & moving)

    # ---- where a sum begins ---------------------------------------------------------------------

    def _begins_well(self, scope: ast.AST, updates: list[Contraction]) -> bool:
        first = updates[0]
        base, is_element = root_of(first.target), isinstance(first.target, ast.Subscript)
        starts, is_known = self._starts(scope, first)
        if not starts:
            return base in self.parameters and is_element and all(map(_is_of_matrices, updates))
        if not (is_known or is_element) and base in self.parameters:
            return False
        zero = [start for start in starts if _is_zero(start)]
        empty = [start for start in starts if _is_call(start, ("empty", "empty_like"))]
        other_starts = [start for start in starts if start not in zero and start not in empty]
        if not other_starts:
            return bool(zero)
        subtracts = all(p.subtracted for u in updates for p in u.products)
        return subtracts and all(self._is_left(start, base) for start in other_starts)

    def _is_left(self, start: ast.expr | None, base: str) -> bool:
        """Whether a sum that begins at an element leaves its array alone."""
        if not isinstance(start, ast.Subscript) or root_of(start) in ("", base):
            return False
        for statement in self.stores_into(root_of(start)):
            if base in {n.id for n in nodes(statement.value) if isinstance(n, ast.Name)}:
                return False
        return True

    def stores_into(self, array: str) -> list:
        """Statements that write elements of an array."""
        statements = []
        for statement in nodes(self.tree):
            if isinstance(statement, (ast.Assign, ast.AugAssign)):
                parts = [n for n in nodes(_targets_of(statement)) if isinstance(n, ast.Subscript)]
                if any(root_of(n) == array for n in parts):
                    statements.append(statement)
        return statements

    def _starts(self, scope: ast.AST, update: Contraction) -> tuple[list, bool]:
        """The values that a sum may have where its loop begins: those that are assigned to it, None
        for anything else; and whether one of them always is.
        """
        level = next(n for n, (_, _, owner) in enumerate(update.within) if owner is scope)
        begins, values = self._begins(update), list[ast.expr | None]()
        for block, index, owner in reversed(update.within[:level]):
            for statement in reversed(block[:index]):
                if any(map(begins, nodes(statement))):
                    values += self._values(statement, update, begins)
                    if _is_sure(statement, update):
                        return values, True
            if isinstance(owner, _LOOPS):  # an iteration goes on from the one before
                values += self._values(owner, update, begins)
        return values, False

    def _values(self, statement: ast.stmt, update, begins) -> Iterable[ast.expr | None]:
        """Yield the values that a statement may give to a sum."""
        for node in nodes(statement):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    yield from _assigned(target, node.value, update, begins)
            elif isinstance(node, ast.AnnAssign):
                yield from _assigned(node.target, node.value, update, begins)
            elif isinstance(node, (ast.AugAssign, ast.For)) and any(
                map(begins, nodes(_targets_of(node)))
            ):
                yield None
            elif isinstance(node, ast.Call) and begins(node):
                yield node.args[0] if node.args else None


def _assigned(target: ast.expr, value, update: Contraction, begins) -> Iterable[ast.expr | None]:
    """Yield the values that an assignment may give to a sum: an element that is not named by the
    loops' indices says nothing of the others.
    """
    if isinstance(target, (ast.Tuple, ast.List)):
        items = value.elts if isinstance(value, ast.Tuple) else []
        same = len(items) == len(target.elts)
        for number, item in enumerate(target.elts):
            yield from _assigned(item, items[number] if same else None, update, begins)
    elif begins(target):
        single = isinstance(target, ast.Subscript) and not (_indices(target) or _is_whole(target))
        yield None if single else value


def _is_whole(target: ast.expr) -> bool:
    """Whether a target is `a[:]` or `a[...]`."""
    index = target.slice if isinstance(target, ast.Subscript) else None
    return isinstance(index, ast.Slice) or isinstance(index, ast.Constant) and index.value is ...


def _is_sure(statement: ast.stmt, update: Contraction) -> bool:
    """Whether a statement gives a sum its value whenever it runs."""
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return False
    base = root_of(update.target)
    for target in nodes(_targets_of(statement)):
        if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store) and target.id == base:
            return True
        if isinstance(target, ast.Subscript) and root_of(target) == base:
            return ast.unparse(target) == update.text or _is_whole(target)
    return False


def _targets_of(statement) -> ast.stmt:
    """The targets of a statement, as one."""
    return ast.Expr(ast.Tuple(targets_of(statement), ast.Store()))


def _elements(loop: ast.For) -> set[str]:
    """The names of a loop that stand for elements of what it runs over."""
    over, target = loop.iter, loop.target
    if isinstance(over, (ast.Name, ast.Attribute, ast.Subscript)):
        return stored_names([ast.Expr(target)]) if isinstance(target, ast.Name) else set()
    if not isinstance(over, ast.Call) or not isinstance(target, ast.Tuple):
        return set()
    if _is_call(over, ("enumerate",)):
        pairs = list(zip(target.elts[1:], over.args, strict=False))
    elif _is_call(over, ("zip",)):
        pairs = list(zip(target.elts, over.args, strict=False))
    else:
        return set()
    return {
        item.id for item, array in pairs
        if isinstance(item, ast.Name) and not _is_call(array, _RANGES)
    }  # fmt: skip


def _is_view(value: ast.expr, base: str) -> bool:
    """Whether an expression is an array, or shows the same memory."""
    if isinstance(value, ast.Name):
        return value.id == base
    if isinstance(value, ast.Attribute):
        return value.attr in ("T", "flat", "real", "imag") and _is_view(value.value, base)
    if isinstance(value, ast.Subscript):
        slices = any(isinstance(n, ast.Slice) for n in nodes(value.slice))
        return slices and _is_view(value.value, base)
    if _is_call(value, _VIEWS):
        method = isinstance(value.func, ast.Attribute) and _is_view(value.func.value, base)
        return method or any(_is_view(x, base) for x in value.args[:1])
    return False


def _is_call(node: ast.AST | None, functions: tuple[str, ...]) -> bool:
    if not isinstance(node, ast.Call):
        return False
    return getattr(node.func, "id", getattr(node.func, "attr", "")) in functions


def _is_zero(node: ast.expr | None) -> bool:
    """Whether an expression is a zero, or an array of zeros."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (int, float, complex)) and node.value == 0
    if isinstance(node, ast.UnaryOp):
        return _is_zero(node.operand)
    if _is_call(node, _ZEROS):
        return True
    if _is_call(node, ("full", "full_like")):
        values = [k.value for k in node.keywords if k.arg == "fill_value"]
        return any(map(_is_zero, [*node.args[1:2], *values]))
    return _is_call(node, _CASTS) and len(node.args) == 1 and _is_zero(node.args[0])


def _is_of_matrices(update: Contraction) -> bool:
    """Whether each factor has an index of the sum's that the other lacks."""
    fixed = _indices(update.target)
    for product in update.products:
        first, second = (_indices(_signless(f)) & fixed for f in (product.x, product.y))
        if not (first - second and second - first):
            return False
    return True


def _signless(node: ast.expr) -> ast.expr:
    return node.operand if isinstance(node, ast.UnaryOp) else node


# ---- what they become ----------------------------------------------------------------------------


def is_fma(rewriter: Rewriting, function: ast.expr) -> bool:
    """Whether a name stands for a fused product and sum."""
    value = rewriter.value_of(function)
    called = operation_called(value) if is_known(value) else None
    return called is not None and called.name == "fma"


def summed(
    rewriter: Rewriting, total: ast.expr, contraction: Contraction, in_place: bool = False
) -> ast.expr:
    """The sum with the products of a statement, which the roles `matmul` and `accumulate` form.

    Args:
        total: the sum before, rewritten.
        in_place: whether an array is written where it is.
    """
    for product in contraction.products:
        factors = [rewriter.visit(factor) for factor in (product.x, product.y)]
        place = rewriter.program.place_of_sum(contraction.label, product.at, "product")
        term = rewriter.op(
            "product", product.at, *factors, array=place, named="contracting('product')"
        )
        total = joined(rewriter, product.taken, total, term, contraction, in_place,
                       product.subtracted)  # fmt: skip
    return total


def joined(
    rewriter: Rewriting, at: ast.AST, total, term, contraction: Contraction, in_place: bool,
    subtracted: bool = False,
) -> ast.expr:  # fmt: skip
    """A sum and a term of it, in the role `accumulate`."""
    operation = f"{'i' * in_place}contracting('{'subtract' if subtracted else 'accumulate'}')"
    place = rewriter.program.place_of_sum(contraction.label, at, "accumulate")
    return rewriter.op("accumulate", at, total, term, array=place, named=operation)
