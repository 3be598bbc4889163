"""Rewriting of a kernel's source: every arithmetic construct becomes a call of the backend's
operation.

The rewriter works on Python's syntax tree and decides by names alone; what is an integer and what
a float is decided later, by type, in `operations`. What it cannot rewrite operation by operation
it refuses, naming the construct, the line, and what to write instead: nothing stays silently
native.
"""

from __future__ import annotations

import ast
import math
import types as python_types
from functools import partial
from typing import Any, final

import numpy as np

from sciprec.precision.formats.literal import round_literal
from sciprec.precision.operations import keys, reduce
from sciprec.precision.rewriting import (
    calls,
    casts,
    complex_calls,
    constants,
    contractions,
    raising,
    statements,
    symbols,
)
from sciprec.precision.rewriting.advice import CONSTRUCTS
from sciprec.precision.rewriting.own_names import as_written
from sciprec.precision.rewriting.sources import place_of
from sciprec.precision.rewriting.syntax import (
    LiftError,
    Site,
    arguments_of,
    assign,
    is_known,
    name,
    nodes,
    root_of,
    static_value,
    stored_names,
    targets_of,
)

_PLAIN = ("shape", "size", "ndim", "strides")


@final
class Rewriter(ast.NodeTransformer):
    """Rewrites the body of one kernel; calls, assignments and loops by functions of modules of
    their own, which take the rewriter. Each `visit_X` gives what a node X of the source becomes, or
    refuses it with a sentence that names the line.

    Args:
        program: the lift that collects callees, constants, operations and sites.
        function: the kernel's plain Python function (its namespace, file and defaults).
        tree: its definition.

    Attributes:
        parallel: whether this is a chunk of a `prange` loop.
        proven: names of arrays whose elements are known to be in the storage format.
        at: the node that is being rewritten.
        variable, carried, loops: see `Origin`.
        serial: whether `prange` is `range` in this kernel.
    """

    visit_Call = calls.call
    visit_Assign = statements.assignment
    visit_AnnAssign = statements.annotated_assignment
    visit_AugAssign = statements.update
    visit_Delete = statements.deletion
    visit_For = visit_While = statements.loop
    visit_ListComp = statements.comprehension
    visit_Raise = raising.raised
    visit_Assert = raising.asserted
    is_parallel = statements.is_parallel

    variable, carried = "", False
    loops: tuple[int, ...] = ()

    def __init__(self, program, function, tree: ast.FunctionDef, namespace: dict):
        self.program, self.function, self.tree = program, function, tree
        self.namespace = namespace
        self.file, self.first = place_of(function)
        self.local = {a.arg for a in arguments_of(tree)} | stored_names(tree.body)
        self.counts = statements.counts(tree)
        self.types = casts.local_types(tree, namespace, self.local)
        self.contractions: dict[ast.AST, contractions.Contraction] = {}
        if program.contracts(function):
            is_fma = partial(contractions.is_fma, self)
            self.contractions = contractions.contractions(tree, is_fma)
        self.at: Any = tree
        self.label = tree.name
        self.key = "sp_key"
        self.frame_name = ""
        self.counter = 0
        self.parallel = False
        self.serial = statements.is_serial(tree, namespace)
        self.proven = _proven(program, function, tree) if program.build.loads == "proven" else set()
        self.hooks = program.hooks(self)

    def visit(self, node):
        """Any node, observers around it; what it is part of is noted."""
        if hasattr(node, "lineno"):
            self.at = node
        if isinstance(node, ast.stmt):
            self.variable, self.carried = _variable(node), False
        rewrite = super().visit
        for hooks in self.hooks:
            around = hooks.around.get(type(node))
            if around is not None:
                rewrite = partial(around, self, rewrite=rewrite)
        return rewrite(node)

    # ---- words ---------------------------------------------------------------------------------

    def where(self, node) -> str:
        """'kernel f (file.py, line 12)' for messages."""
        line = self.first + getattr(node, "lineno", 1) - 1
        return f"kernel '{as_written(self.label)}' ({self.file}, line {line})"

    def refuse(self, node, construct: str, advice: str):
        """Raise the error that names the construct, the place and what to write instead."""
        construct = as_written(construct)
        raise LiftError(f"{self.where(node)}: {construct} cannot be lifted; {advice}")

    def value_of(self, node: ast.expr):
        """The object that a name stands for when the kernel is lifted, see `static_value`."""
        return static_value(node, self.namespace, self.local)

    def fresh(self, stem: str) -> str:
        """A new local name."""
        self.counter += 1
        return f"sp_{stem}{self.counter}"

    def op(
        self, operation: str, node, *operands: ast.expr, array: str = "", named: str = ""
    ) -> ast.Call:
        """A call of the backend's operation at this site.

        Args:
            array: the array whose elements are loaded or stored; the sum that a loop forms.
            named: the operation as the generated module asks for it, where that is not its name.
        """
        arity = len(operands)
        operands = self.observed(operation, node, operands, named)
        site = self.add_site(node, operation)
        prefix = []
        if self.program.random:
            prefix = [self.at_site(site)]
        if self.program.rows:
            frame = self.program.frame(self.frame_name)
            row = frame.add(site, operation, arity, as_written(array))
            prefix = [name("sp_key"), ast.Constant(row)]
        called = name(self.program.operation(named or operation))
        result = ast.Call(called, [*prefix, *operands], [])
        for hooks in self.hooks:
            result = hooks.result(self, operation, node, result)
        return result

    def observed(self, operation: str, node, operands, named: str = ""):
        """The operands of an operation, with the calls that hooks put around them."""
        operands = inside = list(operands)
        count = len(operands)
        for hooks in self.hooks:
            inside[:count] = seen = hooks.operands(self, operation, node, inside[:count], named)
            if len(seen) < count:  # a starred call, which is given them before anything else
                inside = seen[0].value.args
        return operands

    def add_site(self, node, operation: str) -> int:
        """The number of a new site."""
        line = self.first + getattr(node, "lineno", 1) - 1
        column = getattr(node, "col_offset", 0)
        text = self.program.source_text(self.function, node)
        number = self.program.add_site(Site(self.label, line, column, operation, text))
        self.program.note_origin(number, self)
        return number

    def at_site(self, site: int) -> ast.Call:
        """The key of an operation or loop, in a random backend."""
        return ast.Call(name("sp_at"), [name(self.key), ast.Constant(keys.site_number(site))], [])

    def key_of_call(self, called: str, node) -> ast.expr:
        """The key that a called kernel gets."""
        site = self.add_site(node, "call")
        if self.program.random:
            return self.descended(name(self.key), ast.Constant(keys.site_number(site)))
        frame = self.program.frame(self.frame_name)
        stem = self.frame_name.removeprefix("sp_").replace(".", "_")
        constant = self.program.unique(f"part_{stem}_{len(frame.calls)}")  # as in every module
        frame.add_call(called, site, constant)
        return ast.Call(name("sp_row"), [name("sp_key"), name(constant)], [])

    def descended(self, key: ast.expr, counter: ast.expr) -> ast.Call:
        """The key of one iteration or call."""
        return ast.Call(name("sp_descend"), [key, counter], [])

    def imported(self, node, value, *facts: str) -> str:
        """The generated name of an object that stays as it is."""
        identifier = self.program.imported(value, *facts)
        if identifier is None:
            self.refuse(
                node, f"'{ast.unparse(node)}', whose module does not have it by its own name,",
                "define it at the top of a module",
            )  # fmt: skip
        return identifier

    # ---- literals and names --------------------------------------------------------------------

    def visit_Constant(self, node):
        if isinstance(node.value, float):
            return self.literal(node.value)
        if isinstance(node.value, complex):
            return complex_calls.literal(self, node, node.value)
        return node

    def literal(self, value: float) -> ast.expr:
        """A floating-point constant, rounded once to the compute format, typed as the carrier."""
        return self.program.numbers.literal(self, float(value))

    def visit_Name(self, node):
        if not isinstance(node.ctx, ast.Load) or node.id in self.local:
            return node
        return constants.constant(self, node, self.value_of(node), node.id)

    def visit_Attribute(self, node):
        """A dotted name: a constant, a property of an array, or a field as an operand."""
        value = self.value_of(node)
        if is_known(value):
            return constants.constant(self, node, value, ast.unparse(node))
        self.check_module(node)
        owner = self.visit(node.value)
        if isinstance(owner, ast.Name) and isinstance(node.value, ast.Name):
            base = self.value_of(node.value)
            if is_known(base) and not isinstance(base, np.ndarray):
                self.refuse(node, f"'{ast.unparse(node)}'", "pass it as an argument of the kernel")
        read = ast.Attribute(owner, node.attr, node.ctx)
        if node.attr in _PLAIN or node.attr in ("T", "dtype", "flat") or casts.is_type(self, node):
            return read
        if node.attr in complex_calls.PARTS and not self.program.rows:
            return self.op(node.attr, node, owner)
        return self.op("enter", node, read)

    def check_module(self, node: ast.Attribute) -> None:
        """Refuse a name that a module does not have."""
        owner = self.value_of(node.value)
        if isinstance(owner, python_types.ModuleType):
            self.refuse(node, f"the unknown name '{ast.unparse(node)}'", "look up how it is spelt")

    # ---- operators -----------------------------------------------------------------------------

    def visit_BinOp(self, node):
        """An operator on numbers or arrays; those on the bits of integers stay."""
        if isinstance(node.op, symbols.INTEGER_OPERATORS):
            return self.generic_visit(node)
        if isinstance(node.op, ast.MatMult):
            operands = [self.visit(node.left), self.visit(node.right)]
            return calls.call_kernel(self, reduce.dot, node, operands)
        exact = self.by_power_of_two(node)
        if exact is not None:
            return exact
        left = self.visit(node.left)
        if isinstance(node.op, ast.Pow):
            exponent = self.literal_integer(node.right)
            if exponent is not None and abs(exponent) <= 64:
                return self.op(f"power({exponent})", node, left)
        operation = symbols.BINARY_OPERATORS[type(node.op)].name
        return self.op(operation, node, left, self.visit(node.right))

    def by_power_of_two(self, node: ast.BinOp) -> ast.Call | None:
        """A product with a literal power of two, or a quotient by one, whose rounding changes
        nothing but what leaves the range; None of anything else, and where a number may come from a
        role with another format: `1.0 * x` rounds it.
        """
        if not self.program.backend.has_one_format:
            return None
        pairs = {ast.Mult: [(node.left, node.right), (node.right, node.left)],
                 ast.Div: [(node.right, node.left)]}.get(type(node.op), [])  # fmt: skip
        for factor, operand in pairs:
            value = self.literal_power(factor)
            if value is None or self.program.keyed:
                continue
            operation = f"times({value!r})"
            if isinstance(node.op, ast.Div):
                operation, value = f"over({value!r})", 1.0 / value
            if round_literal(float(value), self.program.backend.compute) == value:
                self.add_site(node, symbols.BINARY_OPERATORS[type(node.op)].name)
                operands = self.observed(operation, node, [self.visit(operand)])
                return ast.Call(name(self.program.operation(operation)), [*operands], [])
        return None

    def literal_power(self, node) -> float | int | None:
        """The value of a literal number that is a power of two, of either sign."""
        sign = 1
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            node, sign = node.operand, -1
        value = node.value if isinstance(node, ast.Constant) else None
        if type(value) not in (int, float) or not abs(value) < 2.0**62:
            return None
        return sign * value if abs(math.frexp(value)[0]) == 0.5 else None

    def literal_integer(self, node) -> int | None:
        """The value of a literal or module-constant integer exponent."""
        sign = 1
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            node, sign = node.operand, -1
        value = node.value if isinstance(node, ast.Constant) else None
        if isinstance(node, ast.Name):
            value = self.value_of(node)
        is_integer = isinstance(value, int) and not isinstance(value, bool)
        return sign * value if is_integer else None

    def visit_UnaryOp(self, node):
        """A sign; `not` and `~` stay."""
        if isinstance(node.op, (ast.USub, ast.UAdd)):
            if isinstance(node.operand, ast.Constant) and isinstance(node.operand.value, int):
                return node
            operation = "neg" if isinstance(node.op, ast.USub) else "pos"
            return self.op(operation, node, self.visit(node.operand))
        return self.generic_visit(node)

    def visit_Compare(self, node):
        """A comparison: decided by numbers as they are, and arrays rounded."""
        if any(isinstance(o, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for o in node.ops):
            return self.generic_visit(node)
        order = any(isinstance(o, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)) for o in node.ops)
        look = "ordered" if order and not self.program.rows else "viewed"
        operands = [self.seen(x, look) for x in (node.left, *node.comparators)]
        return ast.Compare(operands[0], node.ops, operands[1:])

    def seen(self, node, look: str = "viewed") -> ast.expr:
        """An operand that is compared or moved: arrays are rounded, numbers are as they are."""
        visited = self.visit(node)
        plain = (
            isinstance(node, ast.Constant)
            or isinstance(node, ast.Attribute)
            and node.attr in _PLAIN
        )
        return visited if plain else self.op(look, node, visited)

    # ---- elements ------------------------------------------------------------------------------

    def visit_Subscript(self, node):
        container, index = self.container(node)
        read = ast.Subscript(container, index, ast.Load())
        if isinstance(node.value, ast.Attribute) and node.value.attr in ("shape", "strides"):
            return read
        return self.loaded(node, read, node.value)

    def loaded(self, node, read: ast.expr, array: ast.expr) -> ast.Call:
        """An element as an operand: rounded, unless the caller has promised that it is in the
        format.
        """
        if self.program.build.loads == "compared":
            return self.op("changed", node, read)
        element = read
        for hooks in self.hooks:
            element = hooks.loaded(self, node, element)
        if root_of(array) in self.proven:
            return self.op("trusted", node, element)
        if self.program.backend.mixed and not self.program.build.trust_inputs:
            sliced = any(isinstance(n, ast.Slice) for n in nodes(read.slice))
            if sliced or not self.is_made(read.value):
                return self.taken(node, read.value, element)
            return self.op("item", node, read.value, read.slice)
        operation = "trusted" if self.program.build.trust_inputs else "enter"
        return self.op(operation, node, element, array=ast.unparse(array))

    def is_made(self, container: ast.expr) -> bool:
        """Whether a container is made where it is read, by a call that is to be made once: by one
        that no observer puts in.
        """
        called = [getattr(n.func, "id", "") for n in nodes(container) if isinstance(n, ast.Call)]
        return not all(f.startswith(self.program.watching) for f in called)

    def taken(self, node, container: ast.expr, item: ast.expr) -> ast.Call:
        """Take an item out of a container, be that an array or a tuple of the kernel's own numbers:
        these are rounded where roles have one format, too, since it changes nothing.
        """
        if self.program.backend.mixed:
            return self.op("taken", node, container, item)
        return self.op("enter", node, item)

    def container(self, node: ast.Subscript) -> tuple[ast.expr, ast.expr]:
        """The array (or tuple) and the index of an element, neither rounded."""
        value = node.value
        if isinstance(value, ast.Subscript):
            value = ast.Subscript(*self.container(value), ast.Load())
        else:
            value = self.visit(value)
        index = self.visit(node.slice)
        for hooks in self.hooks:
            value, index = hooks.element(self, node, value, index)
        return value, index

    # ---- blocks --------------------------------------------------------------------------------

    def statements(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """A rewritten block."""
        out: list[ast.stmt] = []
        for statement in body:
            visited = self.visit(statement)
            if isinstance(visited, list):
                out += visited
            elif visited is not None:
                out.append(visited)
        return out

    def visit_If(self, node):
        test = self.visit(node.test)
        return ast.If(
            test, self.statements(node.body) or [ast.Pass()], self.statements(node.orelse)
        )

    # ---- definitions ---------------------------------------------------------------------------

    def visit_FunctionDef(self, node):
        """A function defined inside the kernel."""
        arguments = node.args
        if arguments.defaults or arguments.kwonlyargs or arguments.kwarg:
            self.refuse(
                node,
                f"the function '{node.name}' with default values, a bare * or ** inside a kernel",
                "give every argument in the call, or define it outside the kernel",
            )
        inner = Rewriter(self.program, self.function, node, self.namespace)
        inner.types |= self.types - inner.local
        inner.local |= self.local
        inner.counter = self.counter + 1000
        inner.parallel, inner.serial = self.parallel, self.serial
        inner.frame_name = f"{self.frame_name}.{node.name}"
        return inner.definition(node.name)

    def visit_With(self, node):
        contexts = [ast.unparse(item.context_expr) for item in node.items]
        self.refuse(
            node, f"'with {', '.join(contexts)}'",
            "do it before the call, in Python, and pass in what comes of it",
        )  # fmt: skip

    def visit_Starred(self, node):
        """The items of a tuple as arguments of a call, or in another tuple."""
        return ast.Starred(self.visit(node.value), node.ctx)

    def visit_List(self, node):
        starred = next((item for item in node.elts if isinstance(item, ast.Starred)), None)
        if starred is not None:
            self.refuse(starred, "a starred expression in a list", "write a tuple")
        return super().generic_visit(node)

    def visit_Return(self, node):
        value = self.visit(node.value) if node.value is not None else None
        return ast.Return(self.closed(value))

    def closed(self, value: ast.expr | None) -> ast.expr | None:
        """The value that a function returns: in a backend with a table, its marks too."""
        if not self.program.rows:
            return value
        value = ast.Constant(None) if value is None else value
        return ast.Call(name(self.program.operation("closed")), [value], [])

    def opened(self, call: ast.expr) -> ast.expr:
        """The result of a call, with its marks taken over."""
        if not self.program.rows:
            return call
        return ast.Call(name(self.program.operation("opened")), [call], [])

    def visit_ExceptHandler(self, node):
        """The one form of `except` that Numba has, without a name."""
        caught = node.type and self.value_of(node.type)
        if node.name or node.type and caught is not Exception:
            self.refuse(
                node, f"'except {ast.unparse(node.type)}'", "write `except Exception:`, as in Numba"
            )
        return ast.ExceptHandler(node.type, None, self.statements(node.body) or [ast.Pass()])

    def generic_visit(self, node):
        """Any other node: its parts rewritten, or the construct refused."""
        if type(node) in CONSTRUCTS:
            self.refuse(node, *CONSTRUCTS[type(node)])
        return super().generic_visit(node)

    def definition(self, identifier: str, defaults: tuple = ()) -> ast.FunctionDef:
        """The rewritten function, named `identifier`, its key first in a backend with keys."""
        self.frame_name = self.frame_name or identifier
        body = self.tree.body
        if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            body = body[1:]
        arguments = _bare(self.tree.args)
        arguments.defaults = [constants.default(self, value) for value in defaults]
        if self.program.keyed:
            arguments.args.insert(0, ast.arg("sp_key"))
        hidden = []
        if self.program.hides:  # None stays in sight: branches on it are chosen by type
            with_defaults = arguments.args[len(arguments.args) - len(defaults) :]
            numbers = [a.arg for a, v in zip(with_defaults, defaults, strict=True) if v is not None]
            hidden = [assign(a, constants.held(self, name(a))) for a in numbers]
        statements = hidden + self.statements(body) or [ast.Pass()]
        if self.program.rows and not isinstance(statements[-1], ast.Return):
            statements.append(ast.Return(self.closed(None)))
        function = ast.FunctionDef(identifier, arguments, statements, [])
        for hooks in self.hooks:
            hooks.defined(self, function)
        return function


def _variable(statement: ast.stmt) -> str:
    """The name that a statement gives a value, "return", or "" for none."""
    if isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
        return _assigned_name(targets_of(statement)[0])
    return "return" if isinstance(statement, ast.Return) else ""


def _assigned_name(target) -> str:
    """The name that an assignment's target begins with."""
    while isinstance(target, (ast.Subscript, ast.Attribute, ast.Starred)):
        target = target.value
    if isinstance(target, ast.Tuple) and target.elts:
        return ", ".join(map(_assigned_name, target.elts))
    return as_written(getattr(target, "id", ""))


def _proven(program, function, tree: ast.FunctionDef) -> set[str]:
    """Parameters of the kernel that stand for what it was given, wherever they are read."""
    if function is not program.kernel:
        return set()
    names = {a.arg for a in nodes(tree.args) if isinstance(a, ast.arg)} - stored_names(tree.body)
    inner = [n for n in nodes(tree) if isinstance(n, (ast.FunctionDef, ast.Lambda)) and n != tree]
    return names - {a.arg for n in inner for a in nodes(n.args) if isinstance(a, ast.arg)}


def _bare(arguments: ast.arguments) -> ast.arguments:
    """The parameters without annotations."""
    positional = [ast.arg(a.arg) for a in (*arguments.posonlyargs, *arguments.args)]
    variable = ast.arg(arguments.vararg.arg) if arguments.vararg else None
    keyword_only = [ast.arg(a.arg) for a in arguments.kwonlyargs]
    return ast.arguments(
        [], positional, variable, keyword_only, arguments.kw_defaults, None, arguments.defaults
    )
