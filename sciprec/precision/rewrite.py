"""Rewriting of a kernel's source: every arithmetic construct becomes a call of the backend's
operation.

The rewriter works on Python's syntax tree and decides by names alone; what is an integer and what
a float is decided later, by type, in `operations`. What it cannot rewrite operation by operation
it refuses, naming the construct, the line, and what to write instead: nothing stays silently
native.
"""

from __future__ import annotations

import ast
import types as python_types

import numba
import numpy as np

from sciprec.precision import keys, reduce, symbols
from sciprec.precision.calls import Calls
from sciprec.precision.literal import round_literal
from sciprec.precision.syntax import (
    LiftError,
    Site,
    assign,
    is_known,
    name,
    plain_function,
    static_value,
    stored_names,
)

_BINARY = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Mod: "mod",
    ast.FloorDiv: "floordiv", ast.Pow: "pow",
}  # fmt: skip
_INTEGER_ONLY = (ast.LShift, ast.RShift, ast.BitAnd, ast.BitOr, ast.BitXor)
_REFUSED = {
    ast.Yield: "yield", ast.YieldFrom: "yield from", ast.Await: "await", ast.Global: "global",
    ast.Nonlocal: "nonlocal", ast.Import: "import", ast.ImportFrom: "import", ast.With: "with",
    ast.Starred: "a starred expression", ast.ClassDef: "a class",
    ast.AsyncFunctionDef: "an async function", ast.Dict: "a dictionary", ast.Set: "a set",
    ast.DictComp: "a dictionary comprehension", ast.SetComp: "a set comprehension",
    ast.NamedExpr: "an assignment expression", ast.JoinedStr: "an f-string", ast.Match: "match",
    ast.Delete: "del",
}  # fmt: skip
_PLAIN = ("shape", "size", "ndim", "strides")


class Rewriter(Calls, ast.NodeTransformer):
    """Rewrites the body of one kernel.

    Args:
        program: the lift that collects callees, constants, operations and sites.
        function: the kernel's plain Python function (its namespace, file and defaults).
        tree: its definition.
    """

    def __init__(self, program, function, tree: ast.FunctionDef, namespace: dict):
        self.program, self.function, self.tree = program, function, tree
        self.namespace = namespace
        self.file, self.first = program.place(function)
        self.local = {a.arg for a in _arguments(tree.args)} | stored_names(tree.body)
        self.label = tree.name
        self.key = "sp_key"
        self.frame_name = ""
        self.counter = 0
        self.parallel = False

    # ---- words ---------------------------------------------------------------------------------

    def where(self, node) -> str:
        """'kernel f (file.py, line 12)' for messages."""
        line = self.first + getattr(node, "lineno", 1) - 1
        return f"kernel '{self.label}' ({self.file}, line {line})"

    def refuse(self, node, construct: str, advice: str):
        """Raise the error that names the construct, the place and what to write instead."""
        raise LiftError(f"{self.where(node)}: {construct} cannot be lifted; {advice}")

    def fresh(self, stem: str) -> str:
        """A new local name."""
        self.counter += 1
        return f"sp_{stem}{self.counter}"

    def op(self, operation: str, node, *operands: ast.expr, array: str = "") -> ast.Call:
        """A call of the backend's operation at this site; `array` names the array whose elements
        are loaded or stored.
        """
        site = self.add_site(node, operation)
        prefix = []
        if self.program.random:
            prefix = [self.at_site(site)]
        if self.program.rows:
            frame = self.program.frame(self.frame_name)
            row = frame.add(site, operation, self.program.arity(operation), array)
            prefix = [self.at_row(ast.Constant(row))]
        return ast.Call(name(self.program.operation(operation)), [*prefix, *operands], [])

    def add_site(self, node, operation: str) -> int:
        """The number of a new site."""
        line = self.first + getattr(node, "lineno", 1) - 1
        column = getattr(node, "col_offset", 0)
        text = self.program.source_text(self.function, node)
        return self.program.add_site(Site(self.label, line, column, operation, text))

    def at_site(self, site: int) -> ast.Call:
        """The key of an operation or loop, in a random backend."""
        return ast.Call(name("sp_at"), [name(self.key), ast.Constant(keys.site_number(site))], [])

    def at_row(self, row: ast.expr) -> ast.Call:
        """The address of a row, in a backend with a table."""
        return ast.Call(name("sp_row"), [name("sp_key"), row], [])

    def key_of_call(self, called: str, node) -> ast.expr:
        """The key that a called kernel gets."""
        site = self.add_site(node, "call")
        if self.program.random:
            return self.descended(name(self.key), ast.Constant(keys.site_number(site)))
        constant = self.program.unique("part")
        self.program.frame(self.frame_name).add_call(called, site, constant)
        return self.at_row(name(constant))

    def descended(self, key: ast.expr, counter: ast.expr) -> ast.Call:
        """The key of one iteration or call."""
        return ast.Call(name("sp_descend"), [key, counter], [])

    # ---- literals and names --------------------------------------------------------------------

    def visit_Constant(self, node):
        if isinstance(node.value, float):
            return self.literal(node.value)
        if isinstance(node.value, complex):
            self.refuse(node, f"the complex literal {node.value}", symbols.ADVICE["complex"])
        return node

    def literal(self, value: float) -> ast.expr:
        """A floating-point constant, rounded once to the compute format, typed as the carrier."""
        rounded = round_literal(float(value), self.program.backend.compute)
        return self.program.number(rounded)

    def visit_Name(self, node):
        if not isinstance(node.ctx, ast.Load) or node.id in self.local:
            return node
        return self.constant(node, static_value(node, self.namespace, self.local), node.id)

    def visit_Attribute(self, node):
        value = static_value(node, self.namespace, self.local)
        if is_known(value):
            return self.constant(node, value, ast.unparse(node))
        self.check_module(node)
        owner = self.visit(node.value)
        if isinstance(owner, ast.Name) and isinstance(node.value, ast.Name):
            known = static_value(node.value, self.namespace, self.local)
            if is_known(known) and not isinstance(known, np.ndarray):
                self.refuse(node, f"'{ast.unparse(node)}'", "pass it as an argument of the kernel")
        read = ast.Attribute(owner, node.attr, node.ctx)
        if node.attr in _PLAIN or node.attr in ("T", "dtype", "flat"):
            return read
        return self.op("enter", node, read)

    def check_module(self, node: ast.Attribute) -> None:
        """Refuse a name that a module does not have."""
        owner = static_value(node.value, self.namespace, self.local)
        if isinstance(owner, python_types.ModuleType):
            self.refuse(node, f"the unknown name '{ast.unparse(node)}'", "look up how it is spelt")

    def constant(self, node, value, text: str) -> ast.expr:
        """A module constant, closure variable, function or type as an expression of the generated
        module.
        """
        if not is_known(value):
            self.refuse(
                node, f"the unknown name '{text}'", "define it before lifting, or pass it in"
            )
        embedded = self.embed(value)
        if embedded is None:
            self.refuse(
                node,
                f"'{text}', a {type(value).__name__},",
                "constants may be numbers, strings, tuples and arrays: pass it as an argument",
            )
        return embedded

    def embed(self, value) -> ast.expr | None:
        """The expression for a constant's value, or None where there is none."""
        if isinstance(value, (bool, type(None))):
            return ast.Constant(value)
        if isinstance(value, (int, str)):
            return ast.Constant(int(value) if isinstance(value, int) else str(value))
        if isinstance(value, (float, np.floating)):
            return self.literal(float(value))
        if isinstance(value, (np.integer, np.bool_)):
            return ast.Constant(value.item())
        if isinstance(value, tuple):
            items = [self.embed(v) for v in value]
            return None if None in items else ast.Tuple(items, ast.Load())
        if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
            return self.held(name(self.program.array(value)))
        if value in (float, int, bool) or isinstance(value, type) and issubclass(value, np.generic):
            return self.dtype(value)
        function = plain_function(value)
        if function is not None:
            return name(self.program.callee(function))
        return None

    def held(self, value: ast.expr) -> ast.expr:
        """A constant from the module, out of the compiler's sight under a processor mode."""
        if not self.program.word:
            return value
        return ast.Call(name(self.program.operation("held")), [value], [])

    def default(self, value) -> ast.expr:
        """A parameter's default value, in Python, when the generated module is imported."""
        if isinstance(value, (float, np.floating)):
            rounded = round_literal(float(value), self.program.backend.storage)
            text = ast.Constant(rounded.hex())
            number = ast.Call(ast.Attribute(name("float"), "fromhex", ast.Load()), [text], [])
            return ast.Call(name("sp_carrier"), [number], [])
        if isinstance(value, tuple):
            return ast.Tuple([self.default(v) for v in value], ast.Load())
        if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
            return name(self.program.array(value))
        return self.constant(self.tree, value, "a default value")

    def dtype(self, kind) -> ast.expr:
        """A type used as a value (a dtype argument); arrays have to hold the backend's numbers."""
        if isinstance(kind, type) and issubclass(kind, np.floating) and kind is not np.float64:
            return name("sp_carrier")
        kind = {float: np.float64, int: np.int64, bool: np.bool_}.get(kind, kind)
        return ast.Attribute(name("np"), kind.__name__, ast.Load())

    # ---- operators -----------------------------------------------------------------------------

    def visit_BinOp(self, node):
        if isinstance(node.op, _INTEGER_ONLY):
            return self.generic_visit(node)
        if isinstance(node.op, ast.MatMult):
            return self.call_kernel(
                reduce.dot, node, [self.visit(node.left), self.visit(node.right)]
            )
        left = self.visit(node.left)
        if isinstance(node.op, ast.Pow):
            exponent = self.literal_integer(node.right)
            if exponent is not None and abs(exponent) <= 64:
                return self.op(f"power({exponent})", node, left)
        return self.op(_BINARY[type(node.op)], node, left, self.visit(node.right))

    def literal_integer(self, node) -> int | None:
        """The value of a literal or module-constant integer exponent."""
        sign = 1
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            node, sign = node.operand, -1
        value = node.value if isinstance(node, ast.Constant) else None
        if isinstance(node, ast.Name):
            value = static_value(node, self.namespace, self.local)
        whole = isinstance(value, int) and not isinstance(value, bool)
        return sign * value if whole else None

    def visit_UnaryOp(self, node):
        if isinstance(node.op, (ast.USub, ast.UAdd)):
            if isinstance(node.operand, ast.Constant) and isinstance(node.operand.value, int):
                return node
            operation = "neg" if isinstance(node.op, ast.USub) else "pos"
            return self.op(operation, node, self.visit(node.operand))
        return self.generic_visit(node)

    def visit_Compare(self, node):
        if any(isinstance(o, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for o in node.ops):
            return self.generic_visit(node)
        operands = [self.seen(x) for x in (node.left, *node.comparators)]
        return ast.Compare(operands[0], node.ops, operands[1:])

    def seen(self, node) -> ast.expr:
        """An operand that is compared or moved: arrays are rounded, numbers are as they are."""
        visited = self.visit(node)
        plain = (
            isinstance(node, ast.Constant)
            or isinstance(node, ast.Attribute)
            and node.attr in _PLAIN
        )
        return visited if plain else self.op("viewed", node, visited)

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
        operation = "trusted" if self.program.trust_inputs else "enter"
        return self.op(operation, node, read, array=ast.unparse(array))

    def container(self, node: ast.Subscript) -> tuple[ast.expr, ast.expr]:
        """The array (or tuple) and the index of an element, neither rounded."""
        value = node.value
        if isinstance(value, ast.Subscript):
            value = ast.Subscript(*self.container(value), ast.Load())
        else:
            value = self.visit(value)
        return value, self.visit(node.slice)

    def visit_Assign(self, node):
        value = self.visit(node.value)
        if len(node.targets) > 1:
            temporary = self.fresh("value")
            out = [assign(temporary, value)]
            for target in node.targets:
                out += self.assigned(target, name(temporary), node)
            return out
        return self.assigned(node.targets[0], value, node)

    def visit_AnnAssign(self, node):
        if node.value is None:
            return None
        return self.assigned(node.target, self.visit(node.value), node)

    def assigned(self, target, value: ast.expr, node) -> list[ast.stmt]:
        """target = value, with values stored into arrays rounded to the storage format."""
        if isinstance(target, ast.Name):
            return [ast.Assign([target], value)]
        if isinstance(target, ast.Subscript):
            container, index = self.container(target)
            stored = self.stored(target, container, value)
            return [ast.Assign([ast.Subscript(container, index, ast.Store())], stored)]
        if isinstance(target, (ast.Tuple, ast.List)):
            temporaries = [self.fresh("item") for _ in target.elts]
            unpacked = ast.Tuple([ast.Name(t, ast.Store()) for t in temporaries], ast.Store())
            out: list[ast.stmt] = [ast.Assign([unpacked], value)]
            for item, temporary in zip(target.elts, temporaries, strict=True):
                out += self.assigned(item, self.op("enter", target, name(temporary)), node)
            return out
        self.refuse(node, f"assignment to '{ast.unparse(target)}'", "write into an array element")

    def stored(self, target: ast.Subscript, container: ast.expr, value: ast.expr) -> ast.Call:
        """What is stored into an element: rounded to the storage format. In fixed point the result
        of an operation is formed in the array's unit.
        """
        array = ast.unparse(target.value)
        first = self.rows_of_result(value)
        if first is not None:
            self.program.frame(self.frame_name).regroup(first, array)
            return self.op("stored", target, container, value, array=array)
        return self.op("leave", target, container, value, array=array)

    def rows_of_result(self, value: ast.expr) -> int | None:
        """The first row of an operation on numbers, if that is what makes a value."""
        if not self.program.rows or not isinstance(value, ast.Call):
            return None
        operation = getattr(value.func, "id", "")
        if operation not in self.program.numeric_operations() or len(value.args) < 2:
            return None
        return value.args[0].args[1].value

    def visit_AugAssign(self, node):
        if isinstance(node.op, _INTEGER_ONLY):
            return self.generic_visit(node)
        if isinstance(node.op, ast.MatMult):
            self.refuse(node, "the operator @=", "write x = x @ y")
        operation = _BINARY[type(node.op)]
        exponent = self.literal_integer(node.value) if isinstance(node.op, ast.Pow) else None
        if exponent is not None and abs(exponent) <= 64:
            operation = f"power_of({exponent})"
        value = self.visit(node.value)
        if isinstance(node.target, ast.Name):
            updated = self.op(f"i{operation}", node, name(node.target.id), value)
            return ast.Assign([node.target], updated)
        if not isinstance(node.target, ast.Subscript):
            self.refuse(node, f"'{ast.unparse(node)}'", "write into a name or an array element")
        container, index = self.container(node.target)
        out: list[ast.stmt] = []
        if any(isinstance(n, ast.Call) for n in ast.walk(index)) and not isinstance(
            index, ast.Slice
        ):
            temporary = self.fresh("index")
            out.append(assign(temporary, index))
            index = name(temporary)
        read = ast.Subscript(container, index, ast.Load())
        updated = self.op(operation, node, self.loaded(node, read, node.target.value), value)
        stored = self.stored(node.target, container, updated)
        out.append(ast.Assign([ast.Subscript(container, index, ast.Store())], stored))
        return out

    # ---- loops ---------------------------------------------------------------------------------

    def visit_For(self, node):
        if not isinstance(node.target, (ast.Name, ast.Tuple)):
            self.refuse(node, f"the loop variable '{ast.unparse(node.target)}'", "give it a name")
        called = node.iter.func if isinstance(node.iter, ast.Call) else None
        function = static_value(called, self.namespace, self.local) if called else None
        if function is numba.prange and not self.parallel:
            return self.program.parallel_loop(self, node)
        ranged = function in (range, numba.prange)
        if ranged:
            arguments = [self.visit(a) for a in node.iter.args]
            iterated: ast.expr = ast.Call(name("range"), arguments, [])
        else:
            iterated = self.visit(node.iter)
        before, prologue, outer = self.loop_key(node, ranged)
        if not ranged:
            for target in sorted(stored_names([ast.Expr(node.target)])):
                prologue.append(assign(target, self.op("enter", node, name(target))))
        body = prologue + self.statements(node.body)
        self.key = outer
        loop = ast.For(node.target, iterated, body, self.statements(node.orelse))
        return [*before, loop]

    def visit_While(self, node):
        before, prologue, outer = self.loop_key(node, False)
        test = self.visit(node.test)
        if prologue:  # the test draws its random bits anew in each iteration
            leave = ast.If(ast.UnaryOp(ast.Not(), test), [ast.Break()], [])
            prologue, test = [*prologue, leave], ast.Constant(True)
            if node.orelse:
                self.refuse(node, "while ... else in a stochastic arithmetic", "use a flag")
        loop = ast.While(test, prologue + self.statements(node.body), [])
        self.key = outer
        loop.orelse = self.statements(node.orelse)
        return [*before, loop]

    def loop_key(self, node, ranged: bool) -> tuple[list[ast.stmt], list[ast.stmt], str]:
        """Statements before the loop and at the start of its body that give each iteration its
        key.
        """
        outer = self.key
        if not self.program.random:
            return [], [], outer
        site = self.add_site(node, "loop")
        inner = self.fresh("key")
        if ranged and isinstance(node.target, ast.Name):
            step = assign(inner, self.descended(self.at_site(site), name(node.target.id)))
            self.key = inner
            return [], [step], outer
        counter = self.fresh("count")
        more = ast.BinOp(name(counter), ast.Add(), ast.Constant(1))
        prologue = [
            assign(counter, more),
            assign(inner, self.descended(self.at_site(site), name(counter))),
        ]
        self.key = inner
        return [assign(counter, ast.Constant(0))], prologue, outer

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

    def visit_ListComp(self, node):
        inner = Rewriter.__new__(Rewriter)
        inner.__dict__ = dict(self.__dict__)
        inner.local = self.local | stored_names([ast.Expr(g.target) for g in node.generators])
        generators = [g for given in node.generators for g in inner.generators(given)]
        made = ast.ListComp(inner.visit(node.elt), generators)
        self.counter = inner.counter
        return made

    def generators(self, given: ast.comprehension) -> list[ast.comprehension]:
        """One `for` of a comprehension, followed by `for x in (value,)` for what an ordinary loop
        assigns at the start of its body: the iteration's key, and the elements, rounded.
        """
        target, iterated = given.target, self.seen(given.iter)
        function = given.iter.func if isinstance(given.iter, ast.Call) else None
        ranged = function and static_value(function, self.namespace, self.local) is range
        made = []
        if self.program.random:
            site = self.add_site(target, "loop")
            counter, key = self.fresh("count"), self.fresh("key")
            made.append((key, self.descended(self.at_site(site), name(counter))))
            target = ast.Tuple([ast.Name(counter, ast.Store()), target], ast.Store())
            iterated, self.key = ast.Call(name("enumerate"), [iterated], []), key
        for element in [] if ranged else sorted(stored_names([ast.Expr(given.target)])):
            made.append((element, self.op("enter", given.target, name(element))))
        out = [ast.comprehension(target, iterated, [], 0)]
        for identifier, value in made:
            once = ast.Tuple([value], ast.Load())
            out.append(ast.comprehension(ast.Name(identifier, ast.Store()), once, [], 0))
        out[-1].ifs = [self.visit(condition) for condition in given.ifs]
        return out

    def visit_GeneratorExp(self, node):
        self.refuse(node, "a generator expression", "write a list comprehension, or the loop")

    # ---- definitions ---------------------------------------------------------------------------

    def visit_FunctionDef(self, node):
        """A function defined inside the kernel."""
        arguments = node.args
        if arguments.defaults or arguments.kwonlyargs or arguments.vararg or arguments.kwarg:
            self.refuse(
                node,
                f"the function '{node.name}' with default values, * or ** inside a kernel",
                "give every argument in the call, or define it outside the kernel",
            )
        inner = Rewriter(self.program, self.function, node, self.namespace)
        inner.local |= self.local
        inner.counter = self.counter + 1000
        inner.frame_name = f"{self.frame_name}.{node.name}"
        return inner.definition(node.name)

    def visit_Lambda(self, node):
        self.refuse(node, "a lambda", "define a function with def")

    def visit_Return(self, node):
        value = self.visit(node.value) if node.value is not None else None
        return ast.Return(self.closed(value))

    def closed(self, value: ast.expr | None) -> ast.expr | None:
        """What a function gives back: in a backend with a table, its marks too."""
        if not self.program.rows:
            return value
        value = ast.Constant(None) if value is None else value
        return ast.Call(name(self.program.operation("closed")), [value], [])

    def opened(self, call: ast.expr) -> ast.expr:
        """What a call gave, its marks taken over."""
        if not self.program.rows:
            return call
        return ast.Call(name(self.program.operation("opened")), [call], [])

    def visit_Raise(self, node):
        made = node.exc
        kind = made.func if isinstance(made, ast.Call) else made
        known = made and static_value(kind, self.namespace, self.local)
        builtin = isinstance(known, type) and known.__module__ == "builtins"
        arguments = made.args if isinstance(made, ast.Call) else []
        if made and not (builtin and all(isinstance(a, ast.Constant) for a in arguments)):
            self.refuse(
                node,
                f"'{ast.unparse(node)}'",
                'raise an exception of Python with a fixed text, as in raise ValueError("...")',
            )
        return node

    def visit_ExceptHandler(self, node):
        caught = node.type and static_value(node.type, self.namespace, self.local)
        if node.name or node.type and caught is not Exception:
            self.refuse(
                node, f"'except {ast.unparse(node.type)}'", "write `except Exception:`, as in Numba"
            )
        return ast.ExceptHandler(node.type, None, self.statements(node.body) or [ast.Pass()])

    def visit_Assert(self, node):
        if node.msg is not None and not isinstance(node.msg, ast.Constant):
            self.refuse(node, "a computed message of assert", "give a fixed text")
        return ast.Assert(self.visit(node.test), node.msg)

    def generic_visit(self, node):
        construct = _REFUSED.get(type(node))
        if construct is not None:
            self.refuse(node, construct, "write plain loops, arrays and functions")
        return super().generic_visit(node)

    def definition(self, identifier: str, defaults: tuple = ()) -> ast.FunctionDef:
        """The rewritten function, named `identifier`, its key first in a backend with keys."""
        self.frame_name = self.frame_name or identifier
        body = self.tree.body
        if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            body = body[1:]
        arguments = _bare(self.tree.args)
        arguments.defaults = [self.default(value) for value in defaults]
        if self.program.keyed:
            arguments.args.insert(0, ast.arg("sp_key"))
        given = [a.arg for a in arguments.args[len(arguments.args) - len(defaults) :]]
        hidden = [assign(a, self.held(name(a))) for a in given if self.program.word]
        statements = hidden + self.statements(body) or [ast.Pass()]
        if self.program.rows and not isinstance(statements[-1], ast.Return):
            statements.append(ast.Return(self.closed(None)))
        return ast.FunctionDef(identifier, arguments, statements, [])


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return every + [a for a in (arguments.vararg, arguments.kwarg) if a]


def _bare(arguments: ast.arguments) -> ast.arguments:
    """The parameters without annotations."""
    named = [ast.arg(a.arg) for a in (*arguments.posonlyargs, *arguments.args)]
    variable = ast.arg(arguments.vararg.arg) if arguments.vararg else None
    keyword_only = [ast.arg(a.arg) for a in arguments.kwonlyargs]
    return ast.arguments(
        [], named, variable, keyword_only, arguments.kw_defaults, None, arguments.defaults
    )
