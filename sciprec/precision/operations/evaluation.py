"""Evaluation of each operation of a backend on numbers of its carrier, rounded once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba.core import types

from sciprec.foundation.errors import InputError
from sciprec.precision.elementary.residuals import (
    BITS,
    LEAST_SEEN,
    MOST_BITS,
    MOST_SEEN,
    RESIDUALS,
)
from sciprec.precision.formats.backend import Arithmetic, Backend
from sciprec.precision.formats.literal import round_literal
from sciprec.precision.operations import keys
from sciprec.precision.operations.complex_algorithms import BOUNDS
from sciprec.precision.operations.number_types import (
    Companioned,
    call_inlined,
    forward,
    passing,
    plainly_called,
    tells_exceptions,
)
from sciprec.precision.operations.operation import OPERATIONS, Operation
from sciprec.precision.rounding.fixed_rounding import Fixed
from sciprec.precision.rounding.native import Native
from sciprec.precision.rounding.sticky import Sticky
from sciprec.precision.rounding.stochastic import Draw
from sciprec.precision.rounding.technique import rounder
from sciprec.precision.rounding.variant import FLOATS, RowVariant
from sciprec.precision.rounding.words import F32, F64, I32, I64, ONE, V64, ZERO, View, call, opaque


class Evaluation:
    """The roles of a backend under one processor control word, and operations on their numbers.

    Args:
        backend: what each role computes in.
        word: the MXCSR value under which kernels will run, 0 for the normal mode.
        variant: what operations do with rows of a table.
        roles: techniques of storing, computing, accumulating and multiplying matrices; left out,
            those of the backend's arithmetics.
        makers: operation -> what makes it for these operations, before that of all.

    Attributes:
        dtypes: types of array elements that stand for binary64 and binary32 numbers.
    """

    def __init__(
        self, backend: Backend, word: int, variant: RowVariant = FLOATS, roles: Sequence[Any] = (),
        makers: Mapping[str, Callable] | None = None,
    ) -> None:  # fmt: skip
        self.backend, self.word, self.variant = backend, word, variant
        self.makers = makers or {}
        self.key_type = keys.KEY if backend.random else None
        if variant.row_bytes:
            self.key_type = types.int64
        self.kind = F32 if backend.carrier == np.float32 else F64
        others = tuple(role.format for role in backend.roles) if backend.mixed else ()
        self.storage, self.compute, self.accumulate_role, self.matmul_role = roles or (
            self._rounder(backend.storage),
            *(self._rounder(arithmetic, others) for arithmetic in backend.roles[1:]),
        )
        self.dtypes = getattr(self.compute, "dtypes", (types.float64, types.float32))
        self.carrier = self.dtypes[self.kind == F32]

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return an operation: `Operations` makes it."""

    def _rounder(self, arithmetic: Arithmetic, others: tuple = ()) -> Native:
        if arithmetic.fixed:
            return Fixed(arithmetic, self.variant)
        technique = rounder(arithmetic, self.kind, self.word, others)
        return self.variant.around(technique) if self.variant.around else technique

    @property
    def row(self):
        """row(key, n): the address n rows further in the table."""
        return keys.row_step(self.variant.row_bytes)

    def intrinsic(self, arity: int, resolve: Callable):
        """An operation of `arity` operands, typed by resolve(typingctx, key, *operands)."""
        return keys.intrinsic_of(arity, self.key_type, resolve, self.variant.row_bytes)

    def passing(self, typingctx, operation, key, kinds):
        """The type of another operation of these on operands of some types, and
        emit(context, builder, key, values), which calls it; with rows, in the first one.
        """
        row_kind, row = [types.int64], [ir.Constant(I64, 0)]
        if not self.variant.row_bytes:
            row_kind = row = []
        result, passed = passing(typingctx, operation, [*keys.join(key, row_kind), *kinds])

        def emit(context, b, word, values):
            return passed(context, b, [*keys.join(word, row), *values])

        return result, emit

    def draw(self, b, role: Native, key, salt: int = 0) -> dict:
        """A rounder's arguments besides operands: the random bits of a stochastic rounding, or
        the address of a row (`salt` numbers further draws and rows; 1 to 3 are the operands').
        """
        if role.placed:
            part = 0 if role.one_row else salt if salt < 4 else salt - 10
            step = ir.Constant(I64, part * self.variant.row_bytes)
            return {"row": b.add(key, step) if part else key}
        if not role.rule.random:
            return {}
        first, few = keys.emit_hash(b, key, salt), role.arithmetic.random_bits
        if few is None:
            further = range(64 + 4 * salt, 67 + 4 * salt) if role.rule.moves_operands else ()
            words = tuple(keys.emit_hash(b, key, n) for n in further)
            return {"draw": Draw(first, keys.emit_second(b, key), words)}
        return {"draw": Draw(b.and_(first, ir.Constant(I32, -(1 << (32 - few)))), None)}

    def emit(self, name: str, role: Native) -> Callable:
        """emit(context, builder, values, key) -> value, all in the carrier."""
        emitted, row = self._emitted(name, role), OPERATIONS[name]
        if not role.takes:
            exact = row.by in ("signed", "exact")
            return self.rounding_what_is_exact(emitted, role) if exact else emitted
        emitted.copies = not row.rounds  # it gives an operand as it is
        if emitted.copies:
            return emitted

        def taking(context, b, values, key):
            if role.counts:
                role.count(b, key, 1)
            return emitted(context, b, [self._taken(b, x, role, key) for x in values], key)

        return taking

    def _taken(self, b, x, role: Native, key):
        """An operand of an operation with a format of its own, in that; others are in it."""
        return role.taken(b, x, **self.draw(b, role, key)) if role.takes else x

    def rounding_what_is_exact(self, emit: Callable, role: Native) -> Callable:
        """Round the result of an operation that gives an operand, or an exact result within one
        format, where its operands may be of another format.
        """
        if not role.wide:
            return emit
        return lambda c, b, v, key: self._reround(b, role, emit(c, b, v, key), key)

    def _emitted(self, name: str, role: Native) -> Callable:
        """Emit an operation by a method of its own, or else by the evaluation of its row: those of
        the technique, or else those here.
        """
        row = OPERATIONS[name]
        ways = [
            (by, other)
            for of, other in ((role, self), (self, role))
            for way in (name, row.by)
            if (by := getattr(of, f"by_{way}", None)) is not None
        ]
        if not ways:
            raise InputError(
                f"operation '{name}' has no evaluation: give its row `evaluate`, `exact` or "
                "`toward`"
            )
        by, other = ways[0]
        return lambda context, b, values, key: by(context, b, row, values, other, key)

    # ---- what evaluates: by_FIELD(context, builder, row of the operation, values, role, key); in a
    # ---- technique, the operations stand in the place of the role

    def by_step(self, context, b, row: Operation, values, role: Native, key):
        """A method of the technique of rounding."""
        return getattr(role, row.name)(b, *values, **self.draw(b, role, key))

    def by_signed(self, context, b, row: Operation, values, role: Native, key):
        """An operand with the same sign or another."""
        place = self.draw(b, role, key) if role.placed else {}
        return getattr(role, row.signed)(b, *values, **place) if row.signed else values[0]

    def by_exact(self, context, b, row: Operation, values, role: Native, key):
        """Numba's own function."""
        return self._native(context, b, row.exact, values)

    def by_toward(self, context, b, row: Operation, values, role: Native, key):
        """A whole number."""
        return self._reround(b, role, call(b, row.toward, *values), key)

    def by_evaluate(self, context, b, row: Operation, values, role: Native, key):
        """An elementary function: evaluated in binary64 and rounded once; in wide formats the
        platform's function where ours is worse.
        """
        narrow = role.arithmetic.format.significand_bits <= 24
        if role.rule.random and not narrow:
            return self._by_residual(context, b, row, values, role, key)
        if not (narrow or self.word) and row.platform is not None:
            return self._by_binary64(context, b, role, row.platform, values, key)
        wide = [b.fpext(v, F64) if self.kind == F32 else v for v in values]
        directed = not (role.rule.nearest or role.rule.random)
        function = (row.directed if directed else row.narrow) if narrow else row.evaluate
        result = call_inlined(context, b, function, (types.float64,) * len(wide), wide)
        if role.rule.noisy:
            return role.sum_of_binary64(b, result, ZERO, **self.draw(b, role, key))
        return role.from_binary64(b, result, **self.draw(b, role, key))

    def _by_residual(self, context, b, row: Operation, values, role: Native, key):
        """A function as its value in binary64 and what that misses; a function whose residual is
        not known, or below the smallest one that is known, counts as its value.
        """
        kinds = (types.float64,) * len(values)
        if row.platform is not None:
            value = self._native(context, b, row.platform, values)
        else:
            value = call_inlined(context, b, row.evaluate, kinds, values)
        residual = RESIDUALS.get(row.evaluate)
        if residual is None:
            return role.from_binary64(b, value, **self.draw(b, role, key))
        missed = call_inlined(context, b, residual, (*kinds, types.float64), [*values, value])
        bits, floor = BITS.get(row.evaluate, (MOST_BITS, 0.0))
        size = call(b, "fabs", value)
        least = call(b, "maxnum", size, V64.constant(floor))
        least = b.fmul(least, V64.constant(2.0 ** (6 - bits)))
        inside = b.and_(
            b.fcmp_ordered(">", size, V64.constant(LEAST_SEEN)),
            b.fcmp_ordered("<", size, V64.constant(MOST_SEEN)),
        )
        usable = b.and_(inside, b.fcmp_ordered(">", call(b, "fabs", missed), least))
        missed = b.select(usable, missed, ZERO)
        return role.sum_of_binary64(b, value, missed, **self.draw(b, role, key))

    def by_square(self, context, b, row: Operation, values, role: Native, key):
        """x x."""
        return role.mul(b, *values, *values, **self.draw(b, role, key))

    def by_reciprocal(self, context, b, row: Operation, values, role: Native, key):
        """1 / x."""
        return role.div(b, self.one(b), *values, **self.draw(b, role, key))

    def by_fmod(self, context, b, row: Operation, values, role: Native, key):
        """The rest of C's division: exact, but where it is flushed."""
        return self._reround(b, role, b.frem(*values), key)

    def by_mod(self, context, b, row: Operation, values, role: Native, key):
        """The rest of Python's division."""
        if role.wide or role.arithmetic.native is None:
            return self._modulus(context, b, role, values, key)
        return self._by_binary64(context, b, role, row.whole, values, key)

    def by_floordiv(self, context, b, row: Operation, values, role: Native, key):
        """The quotient of Python's division."""
        return self._by_binary64(context, b, role, row.whole, values, key)

    def by_sign(self, context, b, row: Operation, values, role: Native, key):
        """-1 or 1; a zero or NaN as it is. The zero that x is compared with is hidden under a
        processor mode: LLVM compares what x was narrowed from, as if that were to nearest.
        """
        (x,), view, zero = values, View(self.kind), ir.Constant(self.kind, 0.0)
        if role.mode:
            zero = opaque(b, f"sciprec.{self.kind}.zero", zero)
        unit = view.with_sign(b, ir.Constant(self.kind, 1.0), view.sign_word(b, x))
        return b.select(b.fcmp_ordered("!=", x, zero), unit, x)

    def by_copysign(self, context, b, row: Operation, values, role: Native, key):
        """|x| with the sign of y, by a hidden mask: LLVM moves the rounding of a copysign that it
        sees to half into its operands, by a function that nobody has.
        """
        (x, y), view = values, View(self.kind)
        sign = opaque(b, f"sciprec.sign{view.width}", view.word(view.sign))
        size = b.and_(view.to_word(b, x), b.not_(sign))
        return view.with_sign(b, view.to_float(b, size), b.and_(view.to_word(b, y), sign))

    def in_unit(self, b, value, key):
        """Note a value that is stored as it is, in the unit of its array."""
        return self.storage.noted(b, value, **self.draw(b, self.storage, key))

    def emit_product(self) -> Callable:
        """emit(context, builder, values, key) -> value of `product`."""
        role = self.matmul_role
        if role.ask:
            return lambda _, b, v, key: role.made(b, "product", *v, **self.draw(b, role, key))
        if role.in_units and not self.backend.accumulate.fixed:
            return self.product_of_integers
        return self.emit("mul", role)

    def product_of_integers(self, context, b, values, key):
        """The product of a floating-point accumulator: factors to integers of their own units,
        multiplied exactly, rounded to the accumulator.
        """
        role, factors = self.matmul_role, []
        for number, value in enumerate(values, 1):
            wide = b.fpext(value, F64) if self.kind == F32 else value
            factors.append(role.from_binary64(b, wide, **self.draw(b, role, key, number)))
        if not role.arithmetic.fixed:  # a profile, of what will be integers
            return role.mul(b, *factors, **self.draw(b, role, key))
        if self.backend.matmul.format.bits <= 26:
            return self.accumulate_role.from_binary64(b, b.fmul(*factors))
        return Sticky(self.backend.accumulate, self.kind, F64, None).mul(b, *factors)

    def _reround(self, b, role, value, key):
        convert = role.from_binary32 if self.kind == F32 else role.from_binary64
        return getattr(role, "again", convert)(b, value, **self.draw(b, role, key))

    def _native(self, context, b, function, values, kind=None):
        """Numba's own function on values of one floating type (the carrier unless said)."""
        kind = kind or self.carrier
        if not tells_exceptions(b.function):
            wrapped = plainly_called(function, len(values))
            return call_inlined(context, b, wrapped, (kind,) * len(values), values)
        function_type = context.typing_context.resolve_value_type(function)
        resolved = function_type.get_call_type(context.typing_context, (kind,) * len(values), {})
        result = forward(function_type, resolved)(context, b, kind(*(kind,) * len(values)), values)
        return context.cast(b, result, resolved.return_type, kind)

    def _by_binary64(self, context, b, role, function, values, key):
        wide = [b.fpext(v, F64) if self.kind == F32 else v for v in values]
        result = self._native(context, b, function, wide, types.float64)
        return role.from_binary64(b, result, **self.draw(b, role, key))

    def _modulus(self, context, b, role, values, key):
        """Python's x % y: the exact remainder, or its sum with y, rounded once."""
        x, y = (b.fpext(v, F64) if self.kind == F32 else v for v in values)
        draw = self.draw(b, role, key)
        remainder = b.frem(x, y)
        signs_differ = b.xor(b.fcmp_ordered("<", remainder, ZERO), b.fcmp_ordered("<", y, ZERO))
        if role.in_units:  # one rounding, since each is counted; exact, whatever y is
            moves = b.and_(signs_differ, b.fcmp_ordered("!=", remainder, ZERO))
            return role.fma(b, remainder, ONE, b.select(moves, y, ZERO), **draw)
        if role.mode or role.rule.usual or role.takes:
            moved = role.sum_of_binary64(b, remainder, y, **draw)
        else:
            moved = Sticky(role.arithmetic, self.kind, F64, None).add(b, remainder, y)
        result = b.select(signs_differ, moved, role.from_binary64(b, remainder, **draw))
        signed_zero = call(b, "copysign", ir.Constant(self.kind, 0.0), values[1])
        return b.select(b.fcmp_ordered("==", remainder, ZERO), signed_zero, result)

    def by_of_bits(self, context, b, row: Operation, values, role: Native, key):
        """A function of a 32-bit integer: evaluated in binary64 and rounded once."""
        narrow = role.arithmetic.format.significand_bits <= 24
        function = row.narrow if narrow else row.evaluate
        result = call_inlined(context, b, function, (types.int64,), values)
        return role.from_binary64(b, result, **self.draw(b, role, key))

    def repeated(self, b, x, exponent: int, key):
        """x^exponent by repeated squaring, every product rounded; a negative power is one over the
        positive one. Each operation draws from a place of its own where the rounding is random.
        """
        result, remaining, salt = None, abs(exponent), 11
        if self.compute.counts and remaining:
            products = remaining.bit_length() + remaining.bit_count() - 2 + (exponent < 0)
            self.compute.count(b, key, products)
        square = self._taken(b, x, self.compute, key)
        while remaining:
            if remaining & 1:
                draw = self.draw(b, self.compute, key, salt)
                result = square if result is None else self.compute.mul(b, result, square, **draw)
            remaining >>= 1
            if remaining:
                draw = self.draw(b, self.compute, key, salt + 1)
                square = self.compute.mul(b, square, square, **draw)
            salt += 2
        result = self.one(b) if result is None else result
        if exponent < 0:
            draw = self.draw(b, self.compute, key, salt)
            result = self.compute.div(b, self.one(b), result, **draw)
        return result

    def one(self, b):
        """The number one."""
        exactly = getattr(self.compute, "exactly", None)
        return exactly(b, ONE) if exactly else ir.Constant(self.kind, 1.0)

    def zero_word(self, b):
        """A zero of 64 bits, out of the compiler's sight under a processor mode."""
        if self.compute.ask:
            return self.compute.ask(b, "zero_word", result=I64)
        zero = ir.Constant(I64, 0)
        return opaque(b, "sciprec.zero", zero) if self.word else zero

    def number(self, b, value: float):
        """A constant of the carrier. Under a processor mode it is loaded from memory: the compiler
        would compute with it beforehand, to nearest.
        """
        if self.compute.ask:
            return self.compute.ask(b, f"number {float(value).hex()}")
        constant = ir.Constant(self.kind, value)
        if not self.word:
            return constant
        return opaque(b, f"sciprec.{self.kind}.{float(value).hex()}", constant)

    def rounded_number(self, b, value: float, role: Native):
        """A constant, rounded to the format of a role."""
        if role.ask:
            return role.ask(b, f"literal {float(value).hex()}")
        return self.number(b, round_literal(value, role.arithmetic))

    def bound(self, b, name: str, role: Native):
        """A number that depends on a role's format, rounded up to the carrier: see `BOUNDS`."""
        if role.ask:
            return role.ask(b, f"bound {name}")
        value = BOUNDS[name](role.format)
        if self.kind == F32 and float(np.float32(value)) < value:
            value = float(np.nextafter(np.float32(value), np.float32(np.inf)))
        return self.number(b, value)

    def rounded(self, b, kind, value, role: Native, key, salt: int):
        """A number of any real type, rounded into the role's format (carrier values included)."""
        if isinstance(kind, Companioned):
            return role.of_kind(b, self, kind, value, key, salt)
        draw = self.draw(b, role, key, salt)
        if isinstance(kind, types.Boolean):
            return role.from_integer(b, b.zext(value, I64), False, **draw)
        if isinstance(kind, types.Integer):
            if kind.bitwidth < 64:
                value = b.sext(value, I64) if kind.signed else b.zext(value, I64)
            return role.from_integer(b, value, kind.signed, **draw)
        if kind == types.float32:
            return role.from_binary32(b, value, **draw)
        return role.from_binary64(b, value, **draw)
