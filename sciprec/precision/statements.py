"""Rewriting of statements: assignments, loops, branches and comprehensions."""

from __future__ import annotations

import ast
import copy

import numba

from sciprec.precision import symbols
from sciprec.precision.own_names import as_written
from sciprec.precision.syntax import assign, name, static_value, stored_names


class Statements:
    """The part of the rewriter that follows loops and stores; `Rewriter` gives it the rest."""

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
            return ast.Pass()
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
            self.program.frame(self.frame_name).regroup(first, as_written(array))
            return self.op("stored", target, container, value, array=array)
        return self.op("leave", target, container, value, array=array)

    def rows_of_result(self, value: ast.expr) -> int | None:
        """The first row of an operation on numbers, if that is what makes a value."""
        if not self.program.rows or not isinstance(value, ast.Call):
            return None
        operation = getattr(value.func, "id", "")
        if operation not in self.program.numeric_operations() or len(value.args) < 3:
            return None
        return value.args[1].value

    def visit_AugAssign(self, node):
        if not isinstance(node.target, (ast.Name, ast.Subscript)):
            self.refuse(node, f"'{ast.unparse(node)}'", "write into a name or an array element")
        if isinstance(node.op, symbols.INTEGER_OPERATORS):
            target = node.target
            if isinstance(target, ast.Subscript):
                target = ast.Subscript(*self.container(target), ast.Store())
            return ast.AugAssign(target, node.op, self.visit(node.value))
        if isinstance(node.op, ast.MatMult):
            self.refuse(node, "the operator @=", "write x = x @ y")
        operation = symbols.BINARY_OPERATORS[type(node.op)]
        exponent = self.literal_integer(node.value) if isinstance(node.op, ast.Pow) else None
        if exponent is not None and abs(exponent) <= 64:
            operation = f"power_of({exponent})"
        value = self.visit(node.value)
        if isinstance(node.target, ast.Name):
            updated = self.op(f"i{operation}", node, name(node.target.id), value)
            return ast.Assign([node.target], updated)
        out: list[ast.stmt] = []
        container, index = (self.once(part, out) for part in self.container(node.target))
        read = ast.Subscript(container, index, ast.Load())
        updated = self.op(operation, node, self.loaded(node, read, node.target.value), value)
        stored = self.stored(node.target, container, updated)
        out.append(ast.Assign([ast.Subscript(container, index, ast.Store())], stored))
        return out

    def once(self, part: ast.expr, before: list[ast.stmt]) -> ast.expr:
        """An array or an index that is read and then written: its calls are made once, in
        statements before.
        """
        if not any(isinstance(n, ast.Call) for n in ast.walk(part)):
            return part
        if isinstance(part, ast.Subscript):
            return ast.Subscript(
                self.once(part.value, before), self.once(part.slice, before), ast.Load()
            )
        if isinstance(part, ast.Tuple):
            return ast.Tuple([self.once(item, before) for item in part.elts], ast.Load())
        if isinstance(part, ast.Slice):
            ends = (part.lower, part.upper, part.step)
            return ast.Slice(*(end and self.once(end, before) for end in ends))
        temporary = self.fresh("index")
        before.append(assign(temporary, part))
        return name(temporary)

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
        inner = copy.copy(self)
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
