"""Operations in an arithmetic that is not known yet: one copy of a kernel's code for all
arithmetics of a carrier.

Numba types and lowers a kernel in Python, which takes most of the time of compiling it, and gives
nearly the same for every arithmetic whose numbers are in the same variables. So the operations of
shared code are calls of functions that it lacks, and the entry of a kernel, compiled for its
arithmetic, brings these (`answered`): LLVM puts them in before anything is optimised, and makes the
code that operations of the arithmetic itself would have made.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from llvmlite import ir

from sciprec.precision.compiled.lowering import lowered
from sciprec.precision.formats.backend import resolve_backend
from sciprec.precision.operations.evaluation import Evaluation
from sciprec.precision.operations.operation import METHODS, Operation
from sciprec.precision.rounding.fixed_rounding import MARKS, marks_slot
from sciprec.precision.rounding.native import Native, by_method
from sciprec.precision.rounding.words import F32, F64, I64

if TYPE_CHECKING:
    from numba.core.codegen import JITCodeLibrary

_PREFIX = "sciprec.asked "
_TYPES = {"float": F32, "double": F64, "i64": I64, "ptr": I64.as_pointer()}


@by_method("made", *METHODS, "from_binary32", "from_binary64", "sum_of_binary64")
class Asking(Native):
    """A technique of rounding whose every operation is asked for.

    Args:
        carrier: of numbers.
        prefix: of questions.
    """

    def __init__(self, carrier: ir.Type = F32, prefix: str = "") -> None:
        super().__init__(resolve_backend("bf16").compute, carrier, carrier, None)
        self.prefix = prefix

    def ask(self, b, question: str, *operands, row=None, result: ir.Type | None = None):
        """The result of an operation."""
        place = () if row is None else (row, marks_slot(b))
        return asked(b, self.prefix + question, *operands, *place, result=result or self.carrier)

    made = ask

    def by_evaluate(self, context, b, row: Operation, values, ops: Evaluation, key):
        """The result of an operation that techniques do not have as a method."""
        return self.ask(b, f"operation {row.name}", *values, **ops.draw(b, self, key))

    by_mod = by_fmod = by_floordiv = by_square = by_reciprocal = by_evaluate
    by_sign = by_toward = by_of_bits = by_evaluate

    def times(self, b, x, factor: float):
        """x times a power of two."""
        return self.ask(b, f"times {factor.hex()}", x)

    def from_integer(self, b, i, signed: bool):
        """Any 64-bit integer."""
        return self.ask(b, f"from_integer {'signed' if signed else 'unsigned'}", i)


def asked(b, question: str, *operands, result: ir.Type):
    """A call of a function that the entry defines."""
    name = _PREFIX + question
    function = b.module.globals.get(name)
    if function is None:
        function = ir.Function(b.module, ir.FunctionType(result, [x.type for x in operands]), name)
    return b.call(function, operands)


def answered(ops: Evaluation, context, module) -> tuple[JITCodeLibrary | None, str]:
    """The library of what code asks for, None where that is nothing, and what symbols of this
    arithmetic alone end in.

    Args:
        ops: the operations of the arithmetic.
        context: Numba's.
        module: of LLVM's, the code.
    """
    asking = [f for f in module.functions if f.is_declaration and f.name.startswith(_PREFIX)]
    if not asking:
        return None, ""

    def write(into) -> None:
        for function in asking:
            kinds = [_TYPES[str(x.type)] for x in function.arguments]
            _define(ops, context, into, function.name, kinds)

    arithmetic = f"{ops.backend.roles} {ops.word} {ops.variant.name}"
    digest = hashlib.sha256(arithmetic.encode()).hexdigest()[:16]
    return lowered(context, f"{module.name}.asked", write), f".{digest}"


def _define(ops: Evaluation, context, module, name: str, kinds) -> None:
    question, role = name.removeprefix(_PREFIX).split(" "), "compute"
    result = I64 if "zero_word" in question else ops.kind
    function = ir.Function(module, ir.FunctionType(result, kinds), name)
    function.linkage = "linkonce_odr"
    for attribute in ("alwaysinline", "nounwind"):
        function.attributes.add(attribute)
    operands, key = list(function.args), None
    if question[0] in ("placed", "careful"):  # of code with rows, see `shared_rows`
        variant, role, *question = question
        ops = ops if variant == "placed" else ops.careful
        if operands:
            *operands, key, marks = operands
            marks.name = MARKS
    b = ir.IRBuilder(function.append_basic_block("entry"))
    b.ret(_value(ops, getattr(ops, role), context, b, question[0], question[-1], operands, key))


def _value(ops: Evaluation, role: Native, context, b, question: str, of: str, operands, key):
    """Emit the answer to a question, in an arithmetic."""
    answers = {
        "operation": lambda: ops.emit(of, role)(context, b, operands, key),
        "product": lambda: ops.emit_product()(context, b, operands, key),
        "literal": lambda: ops.rounded_number(b, float.fromhex(of), role),
        "number": lambda: ops.number(b, float.fromhex(of)),
        "times": lambda: role.times(b, *operands, float.fromhex(of)),
        "from_integer": lambda: role.from_integer(b, *operands, of == "signed"),
        "bound": lambda: ops.bound(b, of, role),
        "zero_word": lambda: ops.zero_word(b),
    }
    if question in answers:
        return answers[question]()
    return getattr(role, question)(b, *operands, **ops.draw(b, role, key))
