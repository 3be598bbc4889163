"""The operations of a backend as Numba intrinsics that decide by type.

Integers stay integers and keep Numba's own operators; as soon as a floating-point number takes
part, every operand is brought to the backend's format and the result is rounded once. Arrays are
handled element by element. In a backend with random bits or rows of a table each operation takes a
key first (see `keys`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import cache, cached_property, lru_cache
from typing import final

import numpy as np
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.np.arrayobj import make_array

from sciprec.precision.compiled.entries import entry
from sciprec.precision.compiled.lowering import helper
from sciprec.precision.elementary.bits import distinct
from sciprec.precision.formats.backend import Backend
from sciprec.precision.operations import (
    arrays,
    asked,
    boundaries,
    casts,
    complex_numbers,
    keys,
    vectorized,
)
from sciprec.precision.operations.complex_algorithms import (
    COMPLEX_OPERATIONS,
    ComplexOperation,
    raised,
    scaled,
    shared,
)
from sciprec.precision.operations.evaluation import Evaluation
from sciprec.precision.operations.fusing import fusible, quiet
from sciprec.precision.operations.number_types import (
    is_complex,
    is_float,
    is_inexact,
    is_number,
    is_numeric_array,
    is_whole,
    passing,
)
from sciprec.precision.operations.operation import NOTHING, OPERATIONS, Operation
from sciprec.precision.rounding.mode import NORMAL, call_in_mode, put_caller_in_mode
from sciprec.precision.rounding.native import Native
from sciprec.precision.rounding.variant import VARIANTS, of_arrays

_sum = helper(distinct(lambda a: np.sum(a), "sum"))
_product = helper(distinct(lambda a: np.prod(a), "product"))
_running_sum = helper(distinct(lambda a: np.cumsum(a), "running_sum"))
_range = helper(distinct(lambda start, stop, step: np.arange(start, stop, step), "range"))


@cache
def _to_the_power(exponent: int):
    return helper(distinct(lambda x: x**exponent, f"to_{exponent}"))


@cache
def _multiplied_by(factor: int):
    return helper(distinct(lambda x: x * factor, f"times_{factor}"))


def _is_of_pairs(kind) -> bool:
    return is_complex(getattr(kind, "dtype", kind))


@final
class Operations(Evaluation):
    """The operations of one backend under one processor control word; attributes are made when
    first used. Its arguments are those of `Evaluation`. It has no subclasses: other operations have
    other techniques in their roles, and makers.
    """

    @cached_property
    def careful(self) -> Operations:
        """The operations for arrays: they enforce the ends of a range where these are met."""
        variant = of_arrays(self.variant)
        same = variant == self.variant
        return self if same else operations(self.backend, self.word, variant.name)

    def __getattr__(self, name: str):
        make = self.makers.get(name) or MAKERS.get(name)
        operation = self._of_row(name) if make is None else make(self)
        operation.of = lambda ops: getattr(ops, name)
        if OPERATIONS.get(name, NOTHING).quiet:
            quiet(operation)
        if name == "leave":
            fusible(operation, self)
        setattr(self, name, operation)
        return operation

    def _of_row(self, name: str):
        """The intrinsic that a row of the table gives for an operation on numbers."""
        row = OPERATIONS.get(name)
        if row is None:
            row = OPERATIONS.get(name.removeprefix("i"), NOTHING)
            if row.infix is None:
                raise AttributeError(f"no operation '{name}'")
            return self._in_place(getattr(self, row.name))
        if row.of_bits:
            return self._from_bits(row)
        if row.promotes:
            return self._operation(row.arity, None, None, name, promotes=True)
        if row.role:
            emit, role = self.emit_of_sum(name), self._role(row)
            return self._operation(row.arity, emit, None, name, role=role)
        emit, brings_in = self.emit(name, self.compute), row.exact is not None
        return self._operation(row.arity, emit, row.whole, name, brings_in)

    def _role(self, row: Operation) -> Native:
        return getattr(self, f"{row.role}_role")

    def _operand(self, b, kind, value, key, salt: int, role=None):
        """An operand in the carrier; carrier values are in the format already. Of a variable that
        begins with an integer they are not: they have the format of the role that made them.
        """
        if role is None or not (is_float(kind) or self.compute.takes):
            role = self.compute
        return value if kind == self.carrier else self.rounded(b, kind, value, role, key, salt)

    def _operation(
        self, arity: int, emit: Callable | None, native: Callable | None, name: str,
        brings_in=False, role=None, of_complex: ComplexOperation | None = None, promotes=False,
        made_by=None,
    ):  # fmt: skip
        """An intrinsic of `arity` operands (after the key, in a random backend).

        Args:
            emit: its code of real operands.
            native: Numba's own function for integers and the like.
            name: in messages, and of the operation of complex operands.
            brings_in: whether an integer among the operands may be the result as it is.
            role: whose rounding an operation of complex operands has; `compute` unless said.
            of_complex: that operation, where it is not the one with this name.
            promotes: whether real operands are complex ones, too.
            made_by: the role that has made floating-point operands; `compute` unless said.
        """
        of_complex = of_complex or COMPLEX_OPERATIONS.get(name)

        def resolve(typingctx, key, *operands):
            kinds = [types.unliteral(k) for k in operands]
            complex_numbers.refuse(self, name if of_complex is None else "", kinds)
            scalar, pairs = all(map(is_number, kinds)), promotes or any(map(_is_of_pairs, kinds))
            if scalar and pairs:
                role_of_steps = role or self.compute
                return complex_numbers.evaluation(self, of_complex, role_of_steps, kinds, key)
            if scalar and (native is None or any(is_float(k) for k in kinds)):
                has_integer = brings_in and any(is_whole(k) for k in kinds)
                return self._scalar(
                    emit, kinds, key, has_integer and self.compute.in_units, made_by
                )
            if any(is_numeric_array(k) for k in kinds) and (
                native is None or any(is_inexact(getattr(k, "dtype", k)) for k in kinds)
            ):
                careful, gives = self.careful, of_complex.gives if pairs else "real"
                return arrays.elementwise(careful, operation.of(careful), kinds, key, gives)
            if native is None:
                names = ", ".join(str(k) for k in kinds)
                raise TypingError(
                    f"an operation on numbers is given {names}; it takes numbers and arrays"
                )
            return self._pass_to(typingctx, native, operands, key)

        operation, row = self.intrinsic(arity, resolve), OPERATIONS.get(name, NOTHING)
        return fusible(operation, self, elementary=row.evaluate is not None)

    def _scalar(self, emit, kinds, key, places: bool, made_by=None):
        exactly = self.compute.own or getattr(emit, "copies", False)
        made_by = self.storage if exactly else made_by

        def codegen(context, b, signature, args):
            word, values = keys.split(key, args)
            operands = [
                self._operand(b, kind, value, word, 1 + salt, made_by)
                for salt, (kind, value) in enumerate(zip(kinds, values, strict=True))
            ]
            result = emit(context, b, operands, word)
            if places:
                result = self.compute.from_binary64(b, result, **self.draw(b, self.compute, word))
            return result

        return self.carrier(*keys.join(key, kinds)), codegen

    def _pass_to(self, typingctx, native, operands, key):
        """Integers, booleans, tuples, strings: Numba's own operator."""
        result, passed = passing(typingctx, native, operands)

        def codegen(context, b, signature, args):
            return passed(context, b, keys.split(key, args)[1])

        return result(*keys.join(key, operands)), codegen

    def _reduction(self, native):
        """reduction(kernel, array): the lifted kernel; of integers, Numba's own function."""

        def resolve(typingctx, key, function, x):
            of_integers = isinstance(x, types.Array) and is_whole(x.dtype)
            return self._kernel_or(typingctx, native if of_integers else None, function, key, [x])

        return self.intrinsic(2, resolve)

    @property
    def arange(self):
        """arange(kernel, start, stop, step): Numba's own where all of them are integers."""

        def resolve(typingctx, key, function, *ends):
            integral = all(is_whole(types.unliteral(x)) for x in ends)
            return self._kernel_or(typingctx, _range if integral else None, function, key, [*ends])

        return self.intrinsic(4, resolve)

    def total_along(self, axis: int):
        """total_along(kernel, array): np.sum along an axis; of integers, Numba's own."""
        return self._along(axis, lambda a: np.sum(a, axis), keeps_axis=False)

    def running_sum_along(self, axis: int):
        """running_sum_along(kernel, array): np.cumsum along an axis; of integers, Numba's own."""
        return self._along(axis, lambda a: np.cumsum(a, axis), keeps_axis=True)

    def _along(self, axis: int, native, keeps_axis: bool):
        """reduction(kernel, array) along an axis: kernel(array, axis), or, with the shape that is
        left, kernel(array, shape, axis).
        """
        native_one = helper(distinct(native, f"along_{axis}"))

        def resolve(typingctx, key, function, x):
            if not isinstance(x, types.Array) or not -x.ndim <= axis < x.ndim:
                raise TypingError(f"a sum along axis {axis} takes an array that has it, not {x}")
            position = axis % x.ndim
            place = [lambda context, b, value: context.get_constant(types.intp, position)]
            kinds = [x, types.intp]
            if not keeps_axis:
                place.insert(
                    0, lambda context, b, value: _shape_without(context, b, x, value, position)
                )
                kinds.insert(1, types.UniTuple(types.intp, x.ndim - 1))
            of_integers = native_one if is_whole(x.dtype) else None
            return self._kernel_or(typingctx, of_integers, function, key, [x], kinds, place)

        return self.intrinsic(2, resolve)

    def _kernel_or(self, typingctx, native, function, key, operands, kinds=None, more=()):
        """A call of the lifted kernel `function` with the operands, or of the jitted function
        `native` if there is one; `more` makes the kernel's further arguments from the first
        operand, and `kinds` are the types of all.
        """
        passed_kinds = keys.join(key, kinds or operands) if native is None else operands
        returned, passed = passing(typingctx, native or function, passed_kinds)
        opens = self.variant.row_bytes and native is None

        def codegen(context, b, signature, args):
            word, (_, *values) = keys.split(key, args)
            if native is None:
                values += [further(context, b, values[0]) for further in more]
                values = keys.join(word, values)
            result = passed(context, b, values)
            return boundaries.take_marks(b, result) if opens else result

        opened = returned[0] if opens else returned
        return opened(*keys.join(key, [function, *operands])), codegen

    entry, answered = entry, asked.answered
    chosen, result_type = vectorized.chosen, vectorized.result_type
    on_integers = staticmethod(vectorized.on_integers)
    of_method = staticmethod(vectorized.of_method)
    of_dimensions = staticmethod(vectorized.of_dimensions)

    def constant(self, text: str):
        """An intrinsic without operands: a number of the carrier, given by its hexadecimal text."""
        return quiet(boundaries.constant(self, text))

    def call(self, arity: int):
        """call(function, x1, ..., x_arity): a jitted function called in the backend's processor
        mode.
        """
        return call_in_mode(self.word, arity)

    def put_in_mode(self, module, kind, name: str, caller: str) -> None:
        """Write a function that calls one of the same type in the processor mode."""
        put_caller_in_mode(module, kind, name, caller, self.word)

    def call_normally(self, arity: int):
        """Call in the processor's normal mode, for functions that start threads."""
        return call_in_mode(NORMAL if self.word else 0, arity)

    def contracting(self, name: str):
        """An operation of a sum of products that a loop forms: "product", "accumulate" or
        "subtract"; of integers Numba's own.
        """
        row = OPERATIONS[name]
        mixed_sum = self.backend.mixed and name != "product"
        operation = self._operation(
            row.arity, self.emit_of_sum(name), OPERATIONS[row.like].whole, name,
            role=self._role(row), of_complex=COMPLEX_OPERATIONS[row.like],
            made_by=self.accumulate_role if mixed_sum else None,
        )  # fmt: skip
        operation.of = lambda ops: ops.contracting(name)
        return operation

    def emit_of_sum(self, name: str) -> Callable:
        """emit(context, builder, values, key) -> value of such an operation."""
        role = self.accumulate_role
        if name == "product":
            return self.emit_product()
        if role.placed and hasattr(role, "accumulate"):
            return self.emit(name, role) if name == "accumulate" else self._less
        return self.emit_in_role(name)

    def emit_in_role(self, name: str) -> Callable:
        """Emit an operation of a sum that has no place of its own."""
        row = OPERATIONS[name]
        return self.emit(row.like, self._role(row))

    def icontracting(self, name: str):
        """An operation of a sum of products on an array, in its place."""
        return self._in_place(self.contracting(name))

    def _less(self, context, b, values, key):
        """A sum in its place less a term."""
        total, term = values
        less = b.fneg(term)
        less.place = getattr(term, "place", None)
        role = self.accumulate_role
        return role.accumulate(b, total, less, **self.draw(b, role, key))

    def power(self, exponent: int, operands: int = 1):
        """x ** n with a literal integer n: repeated multiplication in the order of Numba's own
        operator.
        """

        def emit(context, b, values, key):
            return self.repeated(b, values[0], exponent, key)

        emit = self.rounding_what_is_exact(emit, self.compute) if exponent == 1 else emit
        native = _to_the_power(exponent) if operands == 1 else operator.pow
        operation = self._operation(operands, emit, native, "power", of_complex=raised(exponent))
        operation.of = lambda ops: ops.power(exponent, operands)
        return operation

    def power_of(self, exponent: int):
        """`power` with two operands, the second of them this exponent, for x **= n."""
        return self.power(exponent, 2)

    def times(self, factor: float | int):
        """x times a literal power of two; an integer times an integer stays one."""
        return self._by_power(factor, scaled(factor), lambda o: o.times(factor))

    def over(self, divisor: float | int):
        """x over a literal power of two."""
        return self._by_power(1.0 / divisor, shared(divisor), lambda o: o.over(divisor))

    def _by_power(self, factor, of_complex: ComplexOperation, of: Callable):
        def emit(context, b, values, key):
            operand = self._taken(b, values[0], self.compute, key)
            return self.compute.times(b, operand, float(factor))

        native = _multiplied_by(factor) if isinstance(factor, int) else None
        operation = self._operation(1, emit, native, "mul", of_complex=of_complex)
        operation.of = of
        return operation

    def ipower_of(self, exponent: int):
        """x **= n with a literal integer n."""
        return self._in_place(self.power_of(exponent))

    def _from_bits(self, row: Operation):
        """A function of a 32-bit integer (uniform, normal, exponential variates): rounded once."""

        def resolve(typingctx, key, u):
            if not isinstance(types.unliteral(u), types.Integer):
                raise TypingError(f"{row.name} takes a 32-bit integer, not {u}")

            def codegen(context, b, signature, args):
                word, (value,) = keys.split(key, args)
                wide = context.cast(b, value, types.unliteral(u), types.int64)
                return self._emitted(row.name, self.compute)(context, b, [wide], word)

            return self.carrier(*keys.join(key, [u])), codegen

        return self.intrinsic(1, resolve)

    def _in_place(self, op):
        """y += x on arrays writes into y; on everything else it is the operation."""

        def resolve(typingctx, key, x, y):
            if is_numeric_array(x):
                careful = self.careful
                return arrays.in_place(careful, op.of(careful), x, y, key)
            result, emit = self.passing(typingctx, op, key, [x, y])

            def codegen(context, b, signature, args):
                return emit(context, b, *keys.split(key, args))

            return result(*keys.join(key, [x, y])), codegen

        return self.intrinsic(2, resolve)


MAKERS: Mapping[str, Callable] = {
    **boundaries.BOUNDARIES, **complex_numbers.OWN, "cast_to": casts.cast_to,
    "closed": lambda _: boundaries.closed, "opened": lambda _: boundaries.opened,
    "kept": lambda _: boundaries.kept,
    "cast": lambda ops: ops._operation(1, ops.emit("pos", ops.compute), None, "float", True),
    "conj": lambda ops: ops._operation(1, ops.emit("pos", ops.compute), operator.pos, "conj"),
    "literal": lambda ops: lambda text: quiet(boundaries.literal(ops, text)),
    "total": lambda ops: ops._reduction(_sum),
    "running_product": lambda ops: ops._reduction(_product),
    "running_sum": lambda ops: ops._reduction(_running_sum),
}  # fmt: skip
"""Operation -> what makes it for operations, where that does not follow from its row."""


def _shape_without(context, b, kind, array, axis: int):
    """The shape of an array, one axis left out."""
    sizes = cgutils.unpack_tuple(b, make_array(kind)(context, b, array).shape)
    remaining = [*sizes[:axis], *sizes[axis + 1 :]]
    return context.make_tuple(b, types.UniTuple(types.intp, len(remaining)), remaining)


@lru_cache(maxsize=128)
def operations(backend: Backend, word: int, variant: str = "") -> Operations:
    """The (shared) operations of a backend under a control word, in the variant of that name."""
    return Operations(backend, word, VARIANTS[variant])
