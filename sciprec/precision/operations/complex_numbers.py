"""Complex numbers of a backend: pairs of numbers of its carrier.

A complex operation is a formula (`complex_algorithms`) whose steps are the backend's real
operations. In a random backend each step, and each part that is rounded, has a key of its own.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError

from sciprec.precision.operations import keys
from sciprec.precision.operations.complex_algorithms import ComplexOperation, ComplexParts
from sciprec.precision.operations.number_types import is_complex, is_float
from sciprec.precision.rounding.sticky import Condition
from sciprec.precision.rounding.words import I32

_FIRST_STEP = 1 << 20
"""Steps are numbered from here on: beyond every operation site of a kernel."""
_FIRST_PART = 1 << 10
"""Parts that are rounded alone, beyond the steps of every formula."""


def carrier_of(ops) -> types.Complex:
    """The type of a backend's complex numbers."""
    return types.complex64 if ops.carrier == types.float32 else types.complex128


def held_as(ops, kind) -> types.Type:
    """The type in which a kernel holds numbers of a type."""
    if is_complex(kind):
        return carrier_of(ops)
    return ops.carrier if is_float(kind) else kind


def step_key(b: ir.IRBuilder, key, number: int):
    """The key of one step of an operation; none in a backend without keys."""
    if key is None:
        return None
    return keys.emit_at(b, key, ir.Constant(I32, keys.site_number(_FIRST_STEP + number)))


class Number:
    """A number of the carrier in the code that is emitted: operators are steps, rounded once;
    signs (`-x`, `abs(x)`) and comparisons are exact.
    """

    __slots__ = ("steps", "value")
    __hash__ = None

    def __init__(self, steps: Steps, value):
        self.steps, self.value = steps, value

    def __add__(self, other: Number) -> Number:
        return self.steps("add", self, other)

    def __sub__(self, other: Number) -> Number:
        return self.steps("sub", self, other)

    def __mul__(self, other: Number) -> Number:
        return self.steps("mul", self, other)

    def __truediv__(self, other: Number) -> Number:
        return self.steps("div", self, other)

    def __neg__(self) -> Number:
        return Number(self.steps, self.steps.role.negated(self.steps.b, self.value))

    def __abs__(self) -> Number:
        return Number(self.steps, self.steps.role.magnitude(self.steps.b, self.value))

    def _compared(self, sign: str, other: Number) -> Condition:
        b = self.steps.b
        return Condition(b, b.fcmp_ordered(sign, self.value, other.value))

    def __lt__(self, other: Number) -> Condition:
        return self._compared("<", other)

    def __ge__(self, other: Number) -> Condition:
        return self._compared(">=", other)

    def __eq__(self, other: Number) -> Condition:
        return self._compared("==", other)


class Steps:
    """The steps of one operation: `steps("exp", x)` is the backend's operation on numbers.

    Args:
        ops: the backend's operations.
        role: whose rounding they have.
        context, b: Numba's, and the builder of the code.
        key: of the operation, in a random backend.
    """

    def __init__(self, ops, role, context, b, key):
        self.ops, self.role, self.context, self.b, self.key = ops, role, context, b, key
        self.count = 0

    def __call__(self, name: str, *numbers: Number) -> Number:
        self.count += 1
        key = step_key(self.b, self.key, self.count)
        values = [n.value for n in numbers]
        return Number(self, self.ops.emit(name, self.role)(self.context, self.b, values, key))

    def number(self, value: float) -> Number:
        """A constant that is a number of the format, or that numbers are compared with."""
        return Number(self, self.ops.number(self.b, value))

    def literal(self, value: float) -> Number:
        """A constant, rounded to the format of the role."""
        return Number(self, self.ops.rounded_number(self.b, value, self.role))

    def bound(self, name: str) -> Number:
        """A limit to compare numbers with, or to scale them by, in the format: see `BOUNDS`."""
        return Number(self, self.ops.bound(self.b, name, self.role))

    def choose(self, condition: Condition, first: Number, second: Number) -> Number:
        """One of two numbers."""
        return Number(self, self.b.select(condition.value, first.value, second.value))


def evaluation(ops, operation: ComplexOperation, role, kinds, key):
    """Signature and code of an operation on numbers, at least one of which may be complex."""
    result = _result(ops, operation)

    def codegen(context, b, signature, args):
        word, values = keys.split(key, args)
        steps = Steps(ops, role, context, b, word)
        pairs = [
            _operand(ops, steps, kind, value, 2 * place)
            for place, (kind, value) in enumerate(zip(kinds, values, strict=True))
        ]
        outcome = operation.formula(steps, *pairs)
        if operation.gives == "complex":
            return packed(context, b, result, outcome.real.value, outcome.imag.value)
        if operation.gives == "real":
            return outcome.value
        return context.make_tuple(b, result, [n.value for n in outcome])

    return result(*keys.join(key, kinds)), codegen


def _result(ops, operation: ComplexOperation):
    if operation.gives == "complex":
        return carrier_of(ops)
    return ops.carrier if operation.gives == "real" else types.UniTuple(ops.carrier, 2)


def _operand(ops, steps: Steps, kind, value, place: int) -> ComplexParts:
    """An operand as a pair: of real numbers the imaginary part is +0, as in Numba."""
    parts, real = [value], kind
    if is_complex(kind):
        real = kind.underlying_float
        parts = unpacked(steps.context, steps.b, kind, value)
    numbers = []
    for n, part in enumerate(parts):
        if real != ops.carrier:
            part_key = step_key(steps.b, steps.key, -1 - place - n)
            part = ops.rounded(steps.b, real, part, ops.compute, part_key, 0)
        numbers.append(Number(steps, part))
    if len(numbers) == 1:
        numbers.append(steps.number(0.0))
    return ComplexParts(*numbers)


def unpacked(context, b, kind, value) -> list:
    """The parts of a complex number."""
    z = context.make_complex(b, kind, value=value)
    return [z.real, z.imag]


def packed(context, b, kind, real, imag):
    """A complex number of its parts."""
    z = context.make_complex(b, kind)
    z.real, z.imag = real, imag
    return z._getvalue()


def each_part(ops, context, b, kind, value, key, function: Callable):
    """function(type, part, key) of both parts of a complex number, in the carrier."""
    parts = [
        function(kind.underlying_float, part, step_key(b, key, _FIRST_PART + n))
        for n, part in enumerate(unpacked(context, b, kind, value))
    ]
    return packed(context, b, carrier_of(ops), *parts)


def paired(ops):
    """paired(x, y): the complex number of two numbers of the carrier, as they are."""

    def resolve(typingctx, key, x, y):
        carrier = carrier_of(ops)

        def codegen(context, b, signature, args):
            return packed(context, b, carrier, *args[-2:])

        return carrier(*keys.join(key, [x, y])), codegen

    return ops.intrinsic(2, resolve)


def part_of(name: str):
    """Maker of x.real or x.imag: of a complex number its part as it is, of an array the view that
    Numba has, of anything else what it has by that name.
    """

    def make(ops):
        def resolve(typingctx, key, x):
            kind = types.unliteral(x)
            result = typingctx.resolve_getattr(kind, name)
            if result is None:
                raise TypingError(f"Unknown attribute '{name}' of type {kind}")

            def codegen(context, b, signature, args):
                read = context.get_getattr(kind, name)
                return read(context, b, kind, args[-1], name)

            return result(*keys.join(key, [kind])), codegen

        return ops.intrinsic(1, resolve)

    return make


def refuse(ops, operation: str, kinds) -> None:
    """Say so where an operand is complex and the arithmetic, or the operation, has no place for
    that.
    """
    complex_kinds = [k for k in kinds if is_complex(getattr(k, "dtype", k))]
    if not complex_kinds:
        return
    if ops.variant.row_bytes:
        holders = "rows of operations" if ops.variant.own else "fixed point and profiles"
        raise TypingError(
            f"{complex_kinds[0]} is complex; {holders} take real numbers: keep real and imaginary "
            "parts in separate variables or arrays"
        )
    if operation:
        raise TypingError(
            f"{operation} of {complex_kinds[0]} is given; complex numbers have + - * / ** == abs "
            "conj angle exp log sqrt sin cos tan sinh cosh tanh: write it with these, or with "
            "z.real and z.imag"
        )


OWN = {"paired": paired, "real": part_of("real"), "imag": part_of("imag")}
"""Operation -> what makes it for the operations of a backend."""
