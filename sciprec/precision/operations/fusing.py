"""Expressions of whole arrays as one loop, `(a * 0.1 + b) / c` without an array for each operation.

Numba's compiler asks this once types are known. An operation whose result is used once, by another
one, becomes a part of it: each element is made by the same operations of the same numbers. Nothing
that writes may stand between the two. Of elementary functions those alone are fused that an
expression ends in: taken of a row beside a matrix they would be computed once for each of its rows.
"""

from __future__ import annotations

from collections import Counter

from numba.core import ir, types
from numba.core.rewrites import Rewrite, register_rewrite

from sciprec.precision.operations import arrays
from sciprec.precision.operations.number_types import is_complex, is_float
from sciprec.precision.operations.placing import Rounded

MOST_OPERATIONS = 24
"""Of one loop."""
_FUSED = "sciprec.fused"
_READING = ("getattr", "getitem", "static_getitem", "build_tuple", "cast", "binop", "unary")


def fusible(intrinsic, ops, elementary: bool = False):
    """Mark an intrinsic as an operation on elements of the backend's operations."""
    intrinsic.of_elements, intrinsic.is_elementary = ops, elementary
    return quiet(intrinsic)


def quiet(intrinsic):
    """Mark an intrinsic as one that writes into no array."""
    intrinsic.is_quiet = True
    return intrinsic


@register_rewrite("after-inference")
class _Fusing(Rewrite):
    """Fuses the operations of a block; Numba gives it one block after the other."""

    def __init__(self, state):
        state.targetctx.special_ops[_FUSED] = _lowered

    def match(self, func_ir, block, typemap, calltypes):
        """Whether there are operations in the block that become parts of others."""
        self.block, self.typemap, self.calltypes = block, typemap, calltypes
        self.found: dict = {}  # operation -> the expression that ends in it
        self.parts: set = set()  # operations that others take in
        if any(map(self._is_whole, block.body)):
            read = (_read(i) for each_block in func_ir.blocks.values() for i in each_block.body)
            self._find(Counter(v.name for variables in read for v in variables))
        return bool(self.parts)

    def apply(self):
        """The block with these expressions."""
        new = self.block.copy()
        new.clear()
        for instruction in self.block.body:
            fused = self.found.get(instruction)
            if instruction in self.parts:
                continue
            if fused is None or fused.node.size == 1:
                new.append(instruction)
                continue
            expression = ir.Expr(
                _FUSED, instruction.loc, node=fused.node, leaves=[*fused.leaves.values()],
                kinds=[kind for _, kind in fused.leaves], made=self._made(instruction),
            )  # fmt: skip
            new.append(ir.Assign(expression, instruction.target, instruction.loc))
        return new

    def _find(self, uses: Counter) -> None:
        waiting: dict = {}  # name of a result that is used once -> its operation
        for instruction in self.block.body:
            if self._is_whole(instruction):
                self.found[instruction] = self._expression(instruction, waiting)
                if uses[instruction.target.name] == 1:
                    waiting[instruction.target.name] = instruction
            elif not self._is_quiet(instruction):
                waiting = {}

    def _expression(self, instruction, waiting: dict) -> _Expression:
        """The expression that ends in an operation, with operands that become parts of it."""
        call, intrinsic = instruction.value, self._called(instruction.value)
        kinds, ops = self.calltypes[call].args, intrinsic.of_elements.careful
        operation = intrinsic.of(ops)
        arguments = list(zip(call.args, kinds, strict=True))
        expression, operands, size = _Expression(), [], 1
        for variable, kind in arguments[operation is ops.leave :]:
            before = waiting.get(variable.name)
            joined = None if before is None else self.found[before]
            if joined is None or not self._fits(before, instruction, size + joined.node.size):
                operands.append(expression.leaf(variable, kind))
                continue
            self.parts.add(before)
            size += joined.node.size
            operands.append(joined.within(expression))
        expression.node = arrays.Node(ops, operation, kinds, tuple(operands))
        return expression

    def _fits(self, part, consumer, size: int) -> bool:
        same = self._made(part).ndim == self._made(consumer).ndim
        elementary = self._called(part.value).is_elementary
        return same and not elementary and size <= MOST_OPERATIONS

    def _made(self, instruction) -> types.Type:
        return self.typemap[instruction.target.name]

    def _called(self, call):
        """The intrinsic that is called; None where something else is."""
        return getattr(self.typemap.get(call.func.name), "typing_key", None)

    def _is_whole(self, instruction) -> bool:
        """Whether this is an operation on arrays of real numbers, without random bits or rows."""
        call = getattr(instruction, "value", None)
        if not (isinstance(call, ir.Expr) and call.op == "call" and call.vararg is None):
            return False
        called, result = self._called(call), self._made(instruction)
        ops = getattr(called, "of_elements", None)
        if ops is None or ops.key_type is not None or not isinstance(result, types.Array):
            return False
        if called is ops.leave and not isinstance(result, Rounded):
            return False
        dtypes = [getattr(k, "dtype", k) for k in self.calltypes[call].args]
        real = any(map(is_float, dtypes)) and not any(map(is_complex, dtypes))
        return is_float(result.dtype) and real

    def _is_quiet(self, instruction) -> bool:
        """Whether an instruction surely writes into no array."""
        if isinstance(instruction, ir.Del):
            return True
        if not isinstance(instruction, ir.Assign):
            return False
        value = instruction.value
        if not isinstance(value, ir.Expr):
            return isinstance(value, (ir.Var, ir.Const, ir.Global, ir.FreeVar, ir.Arg))
        if value.op != "call":
            return value.op in _READING
        called = self._called(value)
        return called is slice or getattr(called, "is_quiet", False)


class _Expression:
    """A node and its leaves: (name of a variable, type as an operand) -> the variable."""

    def __init__(self) -> None:
        self.node: arrays.Node = None
        self.leaves: dict = {}

    def leaf(self, variable, kind) -> int:
        """The number of a leaf."""
        self.leaves.setdefault((variable.name, kind), variable)
        return [*self.leaves].index((variable.name, kind))

    def within(self, enclosing: _Expression) -> arrays.Node:
        """The node with the numbers that its leaves have in another expression."""
        numbers = [enclosing.leaf(v, kind) for (_, kind), v in self.leaves.items()]
        return self.node.renumbered(numbers)


def _read(instruction) -> list:
    """The variables that an instruction reads."""
    if isinstance(instruction, ir.Del):
        return []
    if not isinstance(instruction, ir.Assign):
        return instruction.list_vars()
    value = instruction.value
    return [value] if isinstance(value, ir.Var) else getattr(value, "list_vars", list)()


def _lowered(lower, expression):
    """Numba's call for the instructions of an expression."""
    context, b = lower.context, lower.builder
    values = [
        context.cast(b, lower.loadvar(v.name), lower.typeof(v.name), kind)
        for v, kind in zip(expression.leaves, expression.kinds, strict=True)
    ]
    return arrays.expression(
        context, b, expression.node, expression.made, expression.kinds, values
    )
