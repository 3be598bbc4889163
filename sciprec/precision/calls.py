"""Rewriting of calls: which function is an operation, a reduction, another kernel, or refused."""

from __future__ import annotations

import ast
import math

import numba
import numpy as np

from sciprec.precision import reduce, symbols
from sciprec.precision.operation import Operation, operation_called
from sciprec.precision.own_names import own_name
from sciprec.precision.syntax import is_known, name, plain_function, static_value


class Calls:
    """The part of the rewriter that decides about calls; `Rewriter` gives it the rest."""

    def visit_Call(self, node):
        if isinstance(node.func, ast.Attribute):
            function = static_value(node.func, self.namespace, self.local)
            if not is_known(function):
                self.check_module(node.func)
                return self.method(node)
        elif isinstance(node.func, ast.Name) and node.func.id in self.local:
            return self.local_call(node)
        else:
            function = static_value(node.func, self.namespace, self.local)
        if not is_known(function):
            self.refuse(node, f"the unknown function '{ast.unparse(node.func)}'", "define it first")
        return self.known_call(node, function)

    def known_call(self, node, function):
        text = ast.unparse(node.func)
        operation = operation_called(function)
        if operation is not None:
            return self.operation_call(node, operation, text)
        reduction = _lookup(symbols.REDUCTIONS, function)
        if reduction is not None:
            if (
                node.keywords
                or len(node.args) > 2
                or len(node.args) == 2
                and reduction is not reduce.dot
            ):
                self.refuse(
                    node, f"{text} with axis or other options", "write the loop, or sum rows"
                )
            return self.reduction(reduction, node, [self.visit(a) for a in node.args])
        if _lookup(symbols.CREATING, function) is not None:
            return self.creation(node, function)
        if _member(symbols.NATIVE, function) or _member(symbols.VIEWING, function):
            return self.plain_call(node, text, [self.visit(a) for a in node.args])
        if _member(symbols.MOVING, function):
            return self.plain_call(node, text, [self.seen(a) for a in node.args])
        if function is np.arange:
            whole = [self.op("whole", a, self.visit(a)) for a in node.args]
            return self.plain_call(node, text, whole)
        if isinstance(function, type) and issubclass(function, BaseException):
            return node
        callee = plain_function(function)
        if callee is None or getattr(callee, "__module__", "").split(".")[0] in ("numpy", "math"):
            advice = symbols.ADVICE.get(_canonical(text, function), "write it out with operators")
            if "random" in text.split("."):
                advice = "draw the random numbers before, and pass them in as an array"
            self.refuse(node, text, advice)
        return self.call_kernel(callee, node, [self.visit(a) for a in node.args])

    def plain_call(self, node, text: str, arguments: list[ast.expr]) -> ast.Call:
        """A call of a function that does no arithmetic, under its usual name."""
        owner = static_value(node.func, self.namespace, self.local)
        module = {"numpy": "np", "math": "math", "builtins": ""}.get(
            getattr(owner, "__module__", "numpy") or "numpy", "np"
        )
        identifier = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
        identifier = getattr(owner, "__name__", identifier)
        function = (
            ast.Attribute(name(module), identifier, ast.Load()) if module else name(identifier)
        )
        if owner in (numba.uint32, numba.uint64, numba.int32, numba.int64):
            function = ast.Attribute(name("np"), str(owner), ast.Load())
        keywords = [ast.keyword(k.arg, self.visit(k.value)) for k in node.keywords]
        return ast.Call(function, arguments, keywords)

    def operation_call(self, node, row: Operation, text: str):
        if node.keywords:
            self.refuse(node, f"{text} with keywords", "give the operands in order")
        operands, operation = [self.visit(a) for a in node.args], row.name
        if operation in ("min", "max") and len(operands) > 2:
            result = operands[0]
            for operand in operands[1:]:
                result = self.op(operation, node, result, operand)
            return result
        if operation in ("min", "max") and len(operands) == 1:
            reduction = reduce.largest if operation == "max" else reduce.smallest
            return self.call_kernel(reduction, node, operands)
        if operation == "pow" and len(operands) == 2:
            exponent = self.literal_integer(node.args[1])
            if exponent is not None and abs(exponent) <= 64 and text == "pow":
                return self.op(f"power({exponent})", node, operands[0])
        if static_value(node.func, self.namespace, self.local) is math.pow:
            operands = [self.op("cast", node, operand) for operand in operands]
        if len(operands) != row.arity:
            self.refuse(
                node,
                f"{text} with {len(operands)} operands",
                f"it takes {row.arity}; assign the result",
            )
        return self.op(operation, node, *operands)

    def creation(self, node, function):
        position = symbols.CREATING[function]
        arguments = [self.visit(a) for a in node.args]
        keywords = {k.arg: self.visit(k.value) for k in node.keywords}
        if function is np.full and len(arguments) <= position and "dtype" not in keywords:
            if len(arguments) > 1:
                arguments[1] = self.op("filling", node, arguments[1])
            else:
                keywords["fill_value"] = self.op("filling", node, keywords["fill_value"])
        function = ast.Attribute(name("np"), function.__name__, ast.Load())
        return ast.Call(function, arguments, [ast.keyword(k, v) for k, v in keywords.items()])

    def method(self, node):
        """A method of a local value: reductions and data movement; everything else is refused."""
        attribute = node.func.attr
        owner = self.visit(node.func.value)
        arguments = [self.visit(a) for a in node.args]
        if attribute in symbols.METHODS:
            if node.keywords or (arguments and attribute != "dot"):
                self.refuse(node, f".{attribute} with axis", "write the loop, or sum rows")
            reduction = symbols.REDUCTIONS[symbols.METHODS[attribute]]
            return self.reduction(reduction, node, [owner, *arguments])
        if attribute == "fill":
            arguments = [self.op("leave", node, owner, *arguments)]
        elif attribute == "astype":
            kind = static_value(node.args[0], self.namespace, self.local)
            if kind in (float, np.float64, np.float32):
                return self.op("cast", node, owner)
            owner = self.op("viewed", node, owner)
        elif attribute in symbols.DECIDING_METHODS:
            owner = self.op("viewed", node, owner)
        elif attribute not in symbols.QUIET_METHODS:
            self.refuse(node, f"the method .{attribute}()", "write it out with operators")
        called = ast.Call(ast.Attribute(owner, attribute, ast.Load()), arguments, [])
        called.keywords = [ast.keyword(k.arg, self.visit(k.value)) for k in node.keywords]
        return self.op("enter", node, called) if attribute in ("item", "pop", "get") else called

    def reduction(self, function, node, arguments: list[ast.expr]) -> ast.Call:
        """A reduction by the engine's kernel; sums and products of integers stay Numba's."""
        if function in (reduce.total, reduce.running_product, reduce.running_sum):
            called = self.program.callee(function)
            if self.program.rows:
                key = self.key_of_call(called, node)
                operation = name(self.program.operation(function.__name__))
                return ast.Call(operation, [*key.args, name(called), *arguments], [])
            return self.op(function.__name__, node, name(called), *arguments)
        return self.call_kernel(function, node, arguments)

    def call_kernel(self, function, node, arguments: list[ast.expr]) -> ast.Call:
        """A call of another kernel, which is lifted too."""
        called = self.program.callee(function)
        return self._call(name(called), called, node, arguments)

    def local_call(self, node) -> ast.Call:
        """A call of a function that came as an argument, or is defined inside the kernel."""
        inner = f"{self.frame_name}.{node.func.id}"
        defined = {n.name for n in ast.walk(self.tree) if isinstance(n, ast.FunctionDef)}
        if self.program.rows and node.func.id not in defined - {self.tree.name}:
            self.refuse(
                node,
                f"the call of '{node.func.id}', a function that came as an argument, in fixed "
                "point",
                "call the kernel by its own name",
            )
        return self._call(node.func, inner, node, [self.visit(a) for a in node.args])

    def _call(self, function: ast.expr, called: str, node, arguments: list[ast.expr]):
        prefix = [self.key_of_call(called, node)] if self.program.keyed else []
        given = getattr(node, "keywords", [])
        keywords = [ast.keyword(own_name(k.arg), self.visit(k.value)) for k in given]
        return self.opened(ast.Call(function, [*prefix, *arguments], keywords))


def _lookup(table: dict, function):
    try:
        return table.get(function)
    except TypeError:
        return None


def _member(table: set, function) -> bool:
    try:
        return function in table
    except TypeError:
        return False


def _canonical(text: str, function) -> str:
    module = getattr(function, "__module__", "") or ""
    own = getattr(function, "__name__", text)
    if module.startswith("numpy"):
        inner = module.removeprefix("numpy").lstrip(".")
        return f"np.linalg.{own}" if inner.startswith("linalg") else f"np.{own}"
    return f"math.{own}" if module == "math" else own
