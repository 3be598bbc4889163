"""The operations of a backend as Numba intrinsics that decide by type.

Integers stay integers and keep Numba's own operators; as soon as a floating-point number takes
part, every operand is brought to the backend's format and the result is rounded once. Arrays are
handled element by element. In a backend with random bits or rows of a table each operation takes a
key first (see `keys`).
"""

from __future__ import annotations

import hashlib
import math
import operator
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from llvmlite import ir
from numba import njit
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic

from sciprec.precision import arrays, keys, recording
from sciprec.precision.backend import Arithmetic, Backend
from sciprec.precision.bits import distinct
from sciprec.precision.elementary import ELEMENTARY, NARROW
from sciprec.precision.fixed_rounding import (
    ROW_BYTES,
    SATURATED,
    Fixed,
    add_marks,
    marks_slot,
    word_at,
)
from sciprec.precision.mode import NORMAL, call_in_mode
from sciprec.precision.recording import Recording
from sciprec.precision.rounding import (
    F32,
    F64,
    I32,
    I64,
    V64,
    Native,
    Sticky,
    View,
    call,
    opaque,
    rounder,
)

_LIBM = {  # in more than 24 bits, where our own function is off by more than an ulp of binary64
    "expm1": math.expm1, "log1p": math.log1p, "log10": math.log10, "sin": math.sin, "cos": math.cos,
    "tan": math.tan, "asin": math.asin, "acos": math.acos, "atan": math.atan, "atan2": math.atan2,
    "sinh": math.sinh, "cosh": math.cosh, "tanh": math.tanh, "asinh": math.asinh,
    "acosh": math.acosh, "atanh": math.atanh, "pow": math.pow, "erf": math.erf, "erfc": math.erfc,
    "hypot": math.hypot,
}  # fmt: skip


@njit
def _smaller(x, y):
    return min(x, y)


@njit
def _larger(x, y):
    return max(x, y)


@njit
def _sum(a):
    return np.sum(a)


@njit
def _product(a):
    return np.prod(a)


@njit
def _running_sum(a):
    return np.cumsum(a)


_OPERATORS = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "mod": operator.mod,
    "floordiv": operator.floordiv, "pow": operator.pow, "neg": operator.neg, "pos": operator.pos,
    "abs": abs, "min": _smaller, "max": _larger, "minimum": np.minimum, "maximum": np.maximum,
    "fmin": np.fmin, "fmax": np.fmax, "square": np.square, "sign": np.sign,
}  # fmt: skip
_EXACT = {  # results are operands, or need no more bits than they have
    "min": _smaller, "max": _larger, "minimum": np.minimum, "maximum": np.maximum, "fmin": np.fmin,
    "fmax": np.fmax, "copysign": math.copysign,
}  # fmt: skip
_ROUNDED_TO_INTEGER = {"floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "roundeven"}
_REDUCTIONS = {"total": _sum, "running_product": _product, "running_sum": _running_sum}
_BOUNDARIES = (
    "enter", "trusted", "viewed", "leave", "returned", "cast", "whole", "filling", "closed",
    "opened", "kept", "stored",
)  # fmt: skip
_IN_PLACE = {f"i{name}": name for name in ("add", "sub", "mul", "div", "mod", "floordiv", "pow")}
UNARY = ("neg", "pos", "abs", "fabs", "sqrt", "square", "reciprocal", "sign", *_ROUNDED_TO_INTEGER)
BINARY = ("add", "sub", "mul", "div", "mod", "floordiv", "fmod", *_EXACT)


def is_float(kind: types.Type) -> bool:
    """Whether values of this Numba type are real floating-point numbers."""
    return isinstance(kind, types.Float)


def is_whole(kind: types.Type) -> bool:
    """Whether values of this Numba type are integers or booleans."""
    return isinstance(kind, (types.Integer, types.Boolean))


def is_numeric_array(kind: types.Type) -> bool:
    """Whether this is the Numba type of an array of floats, integers or booleans."""
    return isinstance(kind, types.Array) and (is_float(kind.dtype) or is_whole(kind.dtype))


class Operations:
    """The operations of one backend under one processor control word; attributes are made when
    first used.

    Args:
        backend: what each role computes in.
        word: the MXCSR value under which kernels will run, 0 for the normal mode.
        variant: of operations that have rows of a table: of fixed point (see `fixed_rounding`),
            or "profile"; else "".
    """

    def __init__(self, backend: Backend, word: int, variant: str = ""):
        self.backend, self.word, self.variant = backend, word, variant
        self.key_type = types.uint32 if backend.random else None
        if variant:
            self.key_type = types.int64
        self.label = hashlib.sha256(f"{backend!r} {word} {variant}".encode()).hexdigest()[:12]
        self.carrier = types.float32 if backend.carrier == np.float32 else types.float64
        self.kind = F32 if backend.carrier == np.float32 else F64
        self.storage = self._rounder(backend.storage)
        self.compute = self._rounder(backend.compute)
        self.accumulate_role = self._rounder(backend.accumulate)
        self.matmul_role = self._rounder(backend.matmul)

    def _rounder(self, arithmetic: Arithmetic) -> Native:
        if self.variant == "profile":
            return Recording(arithmetic)
        if arithmetic.fixed:
            return Fixed(arithmetic, self.variant)
        return rounder(arithmetic, self.kind, self.word)

    @property
    def row(self):
        """row(key, n): the address n rows further in the table."""
        return keys.row_step(self.row_bytes)

    @property
    def row_bytes(self) -> int:
        """Size of a row of the variant's table."""
        return recording.ROW_BYTES if self.variant == "profile" else ROW_BYTES

    @property
    def careful(self) -> Operations:
        """What operations on arrays use: ends of a range are enforced where they are met."""
        if self.variant in ("plain", "wide"):
            return operations(self.backend, self.word, "careful")
        return self

    def __getattr__(self, name: str):
        made = self._make(name)
        made.label, made.of = name, lambda ops: getattr(ops, name)
        setattr(self, name, made)
        return made

    def _make(self, name: str):
        if name in _IN_PLACE:
            return self._in_place(getattr(self, _IN_PLACE[name]))
        if name in _BOUNDARIES:
            return getattr(self, f"_{name}")()
        if name in _REDUCTIONS:
            return self._reduction(_REDUCTIONS[name])
        if name == "accumulate":
            operation = "accumulate" if self.accumulate_role.placed else "add"
            return self._operation(2, self._emit(operation, self.accumulate_role), None)
        if name == "product":
            if self.variant and not self.backend.accumulate.fixed:
                return self._operation(2, self._product_of_integers, None)
            return self._operation(2, self._emit("mul", self.matmul_role), None)
        if name == "fma":
            return self._operation(3, self._emit("fma", self.compute), None)
        if name in ELEMENTARY and name.endswith("_from_bits"):
            return self._from_bits(name)
        if name in ELEMENTARY or name in UNARY or name in BINARY:
            arity = 2 if name in BINARY or name in ("atan2", "pow", "hypot") else 1
            emit, native = self._emit(name, self.compute), _OPERATORS.get(name)
            return self._operation(arity, emit, native, brings_in=name in _EXACT)
        raise AttributeError(f"no operation '{name}'")

    # ---- how each operation is evaluated on carrier values --------------------------------------

    def _emit(self, name: str, role: Native) -> Callable:
        """emit(context, builder, values, key) -> value, all in the carrier."""
        if name in ("add", "sub", "mul", "div", "sqrt", "fma", "accumulate"):
            return lambda c, b, v, key: getattr(role, name)(b, *v, **self._draw(b, role, key))
        if name in ("neg", "pos", "abs", "fabs"):
            return lambda c, b, v, key: self._signs(b, role, name, v[0], key)
        if name in _ROUNDED_TO_INTEGER:
            function = _ROUNDED_TO_INTEGER[name]
            return lambda c, b, v, key: self._reround(b, role, call(b, function, v[0]), key)
        if name == "fmod":
            return lambda c, b, v, key: b.frem(*v)
        if name in _EXACT:
            return lambda c, b, v, key: self._native(c, b, _EXACT[name], v)
        if name == "mod" and role.arithmetic.native is None:
            return lambda c, b, v, key: self._modulus(c, b, role, v, key)
        if name in ("mod", "floordiv"):
            return lambda c, b, v, key: self._by_binary64(c, b, role, _OPERATORS[name], v, key)
        if name == "square":
            return lambda c, b, v, key: role.mul(b, v[0], v[0], **self._draw(b, role, key))
        if name == "reciprocal":
            one = ir.Constant(self.kind, 1.0)
            return lambda c, b, v, key: role.div(b, one, v[0], **self._draw(b, role, key))
        if name == "sign":
            return lambda c, b, v, key: self._native(c, b, np.sign, v)
        return lambda c, b, v, key: self._elementary(c, b, name, v, role, key)

    def _signs(self, b, role: Native, name, x, key):
        place = self._draw(b, role, key) if role.placed else {}
        if name == "neg":
            return role.negated(b, x, **place)
        return x if name == "pos" else role.magnitude(b, x, **place)

    def _product_of_integers(self, context, b, values, key):
        """The product of a floating-point accumulator: factors to integers of their own units,
        multiplied exactly, rounded to the accumulator.
        """
        role, factors = self.matmul_role, []
        for number, value in enumerate(values, 1):
            wide = b.fpext(value, F64) if self.kind == F32 else value
            factors.append(role.from_binary64(b, wide, **self._draw(b, role, key, number)))
        if self.variant == "profile":
            return role.mul(b, *factors, **self._draw(b, role, key))
        if self.backend.matmul.format.bits <= 26:
            return self.accumulate_role.from_binary64(b, b.fmul(*factors))
        return Sticky(self.backend.accumulate, self.kind, F64, None).mul(b, *factors)

    def _draw(self, b, role: Native, key, salt: int = 0) -> dict:
        """What a rounder takes besides operands: the 24 random bits of a stochastic rounding, or
        the address of a row (`salt` numbers further draws and rows; 1 to 3 are the operands').
        """
        if role.placed:
            part = salt if salt < 4 else salt - 10
            step = ir.Constant(I64, part * self.row_bytes)
            return {"row": b.add(key, step) if part else key}
        if role.arithmetic.rounding != "sr":
            return {}
        return {"draw": b.lshr(keys.emit_hash(b, key, salt), ir.Constant(I32, 8))}

    def _reround(self, b, role, value, key):
        convert = role.from_binary32 if self.kind == F32 else role.from_binary64
        return convert(b, value, **self._draw(b, role, key))

    def _native(self, context, b, function, values, kind=None):
        """Numba's own function on values of one floating type (the carrier unless said)."""
        kind = kind or self.carrier
        known = context.typing_context.resolve_value_type(function)
        resolved = known.get_call_type(context.typing_context, (kind,) * len(values), {})
        result = _forward(known, resolved)(context, b, kind(*(kind,) * len(values)), values)
        return context.cast(b, result, resolved.return_type, kind)

    def _by_binary64(self, context, b, role, function, values, key):
        wide = [b.fpext(v, F64) if self.kind == F32 else v for v in values]
        result = self._native(context, b, function, wide, types.float64)
        return role.from_binary64(b, result, **self._draw(b, role, key))

    def _modulus(self, context, b, role, values, key):
        """Python's x % y: the exact remainder, or its sum with y, rounded once."""
        x, y = (b.fpext(v, F64) if self.kind == F32 else v for v in values)
        draw, zero = self._draw(b, role, key), V64.constant(0.0)
        rest = b.frem(x, y)
        other = b.xor(b.fcmp_ordered("<", rest, zero), b.fcmp_ordered("<", y, zero))
        if role.placed:  # one rounding, since each is counted; exact, whatever y is
            moves = b.and_(other, b.fcmp_ordered("!=", rest, zero))
            return role.fma(b, rest, V64.constant(1.0), b.select(moves, y, zero), **draw)
        if role.mode or role.arithmetic.rounding in ("rn", "sr"):
            moved = role.from_binary64(b, b.fadd(rest, y), **draw)
        else:
            moved = Sticky(role.arithmetic, self.kind, F64, None).add(b, rest, y)
        result = b.select(other, moved, role.from_binary64(b, rest, **draw))
        signed_zero = call(b, "copysign", ir.Constant(self.kind, 0.0), values[1])
        return b.select(b.fcmp_ordered("==", rest, zero), signed_zero, result)

    def _elementary(self, context, b, name, values, role, key):
        """Evaluated in binary64 and rounded once; in wide formats the platform's function where
        ours is worse.
        """
        narrow = role.arithmetic.format.significand_bits <= 24
        if not (narrow or self.word) and name in _LIBM:
            return self._by_binary64(context, b, role, _LIBM[name], values, key)
        wide = [b.fpext(v, F64) if self.kind == F32 else v for v in values]
        function = (NARROW if narrow else ELEMENTARY)[name]
        result = call_inlined(context, b, function, (types.float64,) * len(wide), wide)
        return role.from_binary64(b, result, **self._draw(b, role, key))

    # ---- operands -------------------------------------------------------------------------------

    def _rounded(self, b, kind, value, role: Native, key, salt: int):
        """A number of any real type, rounded into the role's format (carrier values included)."""
        draw = self._draw(b, role, key, salt)
        if isinstance(kind, types.Boolean):
            return role.from_integer(b, b.zext(value, I64), False, **draw)
        if isinstance(kind, types.Integer):
            if kind.bitwidth < 64:
                value = b.sext(value, I64) if kind.signed else b.zext(value, I64)
            return role.from_integer(b, value, kind.signed, **draw)
        if kind == types.float32:
            return role.from_binary32(b, value, **draw)
        return role.from_binary64(b, value, **draw)

    def _operand(self, b, kind, value, key, salt: int):
        """An operand in the carrier; carrier values are in the format already."""
        return (
            value
            if kind == self.carrier
            else self._rounded(b, kind, value, self.compute, key, salt)
        )

    def _operation(self, arity: int, emit: Callable, native: Callable | None, brings_in=False):
        """An intrinsic of `arity` operands (after the key, in a random backend); `brings_in` says
        that an integer among them may be the result as it is.
        """

        def resolve(typingctx, key, *operands):
            kinds = [types.unliteral(k) for k in operands]
            refuse_complex(kinds)
            scalar = all(is_float(k) or is_whole(k) for k in kinds)
            if scalar and (native is None or any(is_float(k) for k in kinds)):
                whole = brings_in and any(is_whole(k) for k in kinds)
                return self._scalar(emit, kinds, key, whole and self.compute.placed)
            if any(is_numeric_array(k) for k in kinds) and (
                native is None or any(is_float(getattr(k, "dtype", k)) for k in kinds)
            ):
                careful = self.careful
                return arrays.elementwise(careful, made.of(careful), kinds, key)
            if native is None:
                names = ", ".join(str(k) for k in kinds)
                raise TypingError(
                    f"an operation on numbers is given {names}; it takes numbers and arrays"
                )
            return self._pass_to(typingctx, native, operands, key)

        made = keys.intrinsic_of(arity, self.key_type, resolve)
        return made

    def _scalar(self, emit, kinds, key, places: bool):
        def codegen(context, b, signature, args):
            word, values = keys.split(key, args)
            operands = [
                self._operand(b, kind, value, word, 1 + salt)
                for salt, (kind, value) in enumerate(zip(kinds, values, strict=True))
            ]
            result = emit(context, b, operands, word)
            if places:
                result = self.compute.from_binary64(b, result, **self._draw(b, self.compute, word))
            return result

        return self.carrier(*keys.join(key, kinds)), codegen

    def _pass_to(self, typingctx, native, operands, key):
        """Integers, booleans, tuples, strings: Numba's own operator."""
        function = typingctx.resolve_value_type(native)
        resolved = function.get_call_type(typingctx, tuple(operands), {})
        forward = _forward(function, resolved)

        def codegen(context, b, signature, args):
            return forward(context, b, resolved.return_type(*operands), keys.split(key, args)[1])

        return resolved.return_type(*keys.join(key, operands)), codegen

    # ---- entering, leaving, casting -------------------------------------------------------------

    def _enter(self):
        """Numbers from outside (arguments, array elements) into the format; everything else as it
        is.
        """

        def resolve(typingctx, key, x):
            refuse_complex([x])
            kind = types.unliteral(x)
            if not _has_float(kind):
                return _identity(x, key)

            def codegen(context, b, signature, args):
                word, (value,) = keys.split(key, args)
                entered = self._entered(context, b, kind, value, word)
                return impl_ret_borrowed(context, b, signature.return_type, entered)

            return self._entered_type(kind)(*keys.join(key, [x])), codegen

        return keys.intrinsic_of(1, self.key_type, resolve)

    def _entered_type(self, kind):
        if is_float(kind):
            return self.carrier
        if isinstance(kind, types.BaseTuple) and not isinstance(kind, types.BaseNamedTuple):
            return types.Tuple([self._entered_type(k) for k in kind])
        return kind

    def _entered(self, context, b, kind, value, key):
        if is_float(kind):
            return self._rounded(b, kind, value, self.storage, key, 0)
        if isinstance(kind, types.BaseTuple) and not isinstance(kind, types.BaseNamedTuple):
            items = cgutils.unpack_tuple(b, value)
            entered = [
                self._entered(context, b, k, item, key) for k, item in zip(kind, items, strict=True)
            ]
            return context.make_tuple(b, self._entered_type(kind), entered)
        return value

    def _returned(self):
        """Results of the entry: numbers and arrays that the kernel passes on without an operation
        are rounded here (arrays into new ones); arrays that can hold no other number are left.
        """

        def resolve(typingctx, key, x):
            refuse_complex([x])
            kind = types.unliteral(x)

            def codegen(context, b, signature, args):
                word, (value,) = keys.split(key, args)
                return self._let_out(context, b, kind, value, word)

            return self._let_out_type(kind)(*keys.join(key, [x])), codegen

        return keys.intrinsic_of(1, self.key_type, resolve)

    def _holds_more(self, kind) -> bool:
        """Whether an array of this type may hold numbers that are not in the storage format."""
        if not isinstance(kind, types.Array) or not is_float(kind.dtype):
            return False
        storage = self.backend.storage.format
        narrow = kind.dtype == types.float32
        return not (storage.is_binary64 or narrow and storage.is_binary32)

    def _let_out_type(self, kind):
        if isinstance(kind, types.BaseNamedTuple):
            items = [self._let_out_type(k) for k in kind]
            return types.NamedTuple(items, kind.instance_class)
        if isinstance(kind, types.BaseTuple):
            return types.Tuple([self._let_out_type(k) for k in kind])
        if self._holds_more(kind):
            return arrays.mapped(self.careful, kind, None)[0].return_type
        return self._entered_type(kind)

    def _let_out(self, context, b, kind, value, key):
        if isinstance(kind, types.BaseTuple):
            items = cgutils.unpack_tuple(b, value)
            out = [self._let_out(context, b, k, x, key) for k, x in zip(kind, items, strict=True)]
            return context.make_tuple(b, self._let_out_type(kind), out)
        if self._holds_more(kind):
            given = None if key is None else self.key_type
            signature, codegen = arrays.mapped(self.careful, kind, given)
            return codegen(context, b, signature, [value] if key is None else [key, value])
        entered = self._entered(context, b, kind, value, key)
        return impl_ret_borrowed(context, b, self._entered_type(kind), entered)

    def _trusted(self):
        """Array elements that the caller guarantees to be in the format, in the carrier."""

        def resolve(typingctx, key, x):
            kind = types.unliteral(x)
            noted = self.variant == "profile"
            if not is_float(kind) or kind == self.carrier and not noted:
                return _identity(x, key)

            def codegen(context, b, signature, args):
                value = context.cast(b, args[-1], kind, self.carrier)
                return self.storage.noted(b, value, args[0]) if noted else value

            return self.carrier(*keys.join(key, [x])), codegen

        return keys.intrinsic_of(1, self.key_type, resolve)

    def _viewed(self):
        """Operands of comparisons and of data movement: arrays of floats are rounded, the rest is
        as it is.
        """

        def resolve(typingctx, key, x):
            refuse_complex([x])
            if isinstance(x, types.Array) and is_float(x.dtype):
                return arrays.mapped(self.careful, x, key)
            return _identity(x, key)

        return keys.intrinsic_of(1, self.key_type, resolve)

    def _stored(self):
        """stored(target, value): like leave, of a value that is in the array's unit already."""
        return self._leave(in_unit=self.variant != "profile")

    def _leave(self, in_unit: bool = False):
        """leave(target, value): what is stored into target: rounded to the storage format, with
        its noise.
        """
        same = self.backend.storage == self.backend.compute and self.backend.noise is None
        same = same and (in_unit or not self.storage.placed)

        def resolve(typingctx, key, target, x):
            refuse_complex([x])
            kind = types.unliteral(x)
            dtype = getattr(target, "dtype", None)
            if dtype is not None and not is_float(dtype) or not (is_float(kind) or is_whole(kind)):
                if is_numeric_array(kind) and (dtype is None or is_float(dtype)):
                    return arrays.stored(self.careful, target, kind, key)
                return _identity(x, key, before=[target])
            if kind == self.carrier and same:
                return _identity(x, key, before=[target])

            def codegen(context, b, signature, args):
                word, (_, value) = keys.split(key, args)
                if kind != self.carrier or not same:
                    value = self._rounded(b, kind, value, self.storage, word, 0)
                if self.storage.placed and is_whole(kind):
                    draw = self._draw(b, self.storage, word)
                    value = self.storage.from_binary64(b, value, **draw)
                return self._noisy(b, value, word)

            return self.carrier(*keys.join(key, [target, x])), codegen

        return keys.intrinsic_of(2, self.key_type, resolve)

    def _noisy(self, b, value, key):
        """value * (1 + eps), eps = n * 2^-31 uniform in the backend's interval: exact in binary64,
        rounded once.
        """
        if self.backend.noise is None:
            return value
        low, high = (round(edge * 2**31) for edge in self.backend.noise)
        draw = b.lshr(keys.emit_hash(b, key, 7), ir.Constant(I32, 16))
        span = b.mul(draw, ir.Constant(I32, high - low + 1))
        n = b.add(b.lshr(span, ir.Constant(I32, 16)), ir.Constant(I32, low))
        if self.word and self.kind == F32:
            eps = b.fmul(b.sitofp(n, F32), ir.Constant(F32, 2.0**-31))
            return self.storage.round(b, call(b, "fma", value, eps, value))
        factor = b.fadd(b.fmul(b.sitofp(n, F64), V64.constant(2.0**-31)), V64.constant(1.0))
        wide = b.fpext(value, F64) if self.kind == F32 else value
        return self.storage.from_binary64(
            b, b.fmul(wide, factor), **self._draw(b, self.storage, key)
        )

    def _cast(self):
        """float(x), np.float64(x), np.float32(x): a number in the backend's format, whatever it
        was.
        """
        emit = lambda context, b, values, key: values[0]  # noqa: E731
        return self._operation(1, emit, None, brings_in=True)

    def _filling(self):
        """What np.full fills with, in NumPy's type: binary64 (exactly) for floats."""

        def resolve(typingctx, key, x):
            kind = types.unliteral(x)
            if not is_float(kind):
                return _identity(x, key)

            def codegen(context, b, signature, args):
                return context.cast(b, args[-1], kind, types.float64)

            return types.float64(*keys.join(key, [x])), codegen

        return keys.intrinsic_of(1, self.key_type, resolve)

    def _reduction(self, native):
        """reduction(kernel, array): the lifted kernel; of integers, Numba's own function."""

        def resolve(typingctx, key, function, x):
            if isinstance(x, types.Array) and is_whole(x.dtype):
                known, given = typingctx.resolve_value_type(native), [x]
            else:
                known, given = function, keys.join(key, [x])
            resolved = known.get_call_type(typingctx, tuple(given), {})
            forward = _forward(known, resolved)

            def codegen(context, b, signature, args):
                word, (_, value) = keys.split(key, args)
                values = [value] if known is not function or key is None else [word, value]
                result = forward(context, b, resolved.return_type(*given), values)
                opens = self.variant and known is function
                return self._take_marks(b, result) if opens else result

            opened = resolved.return_type
            if self.variant and known is function:
                opened = opened[0]
            return opened(*keys.join(key, [function, x])), codegen

        return keys.intrinsic_of(2, self.key_type, resolve)

    def _closed(self):
        """closed(x): what a function of a program with a table gives back: (x, its marks)."""

        @intrinsic
        def closed(typingctx, x):
            kind = types.unliteral(x)
            pair = types.Tuple([kind, types.int64])

            def codegen(context, b, signature, args):
                value = context.cast(b, args[0], signature.args[0], kind)
                made = context.make_tuple(b, pair, [value, b.load(marks_slot(b))])
                return impl_ret_borrowed(context, b, pair, made)

            return pair(x), codegen

        return closed

    def _opened(self):
        """opened(pair): the value that a call gave; its marks become the caller's."""

        @intrinsic
        def opened(typingctx, pair):
            def codegen(context, b, signature, args):
                value = self._take_marks(b, args[0])
                return impl_ret_borrowed(context, b, pair[0], value)

            return pair[0](pair), codegen

        return opened

    def _take_marks(self, b, value):
        """The first of (value, marks); the marks become those of the function being compiled."""
        add_marks(b, b.extract_value(value, 1))
        return b.extract_value(value, 0)

    def _kept(self):
        """kept(key, pair): the value that a chunk of a parallel loop gave, as a tuple; its marks go
        into the row at key.
        """

        @intrinsic
        def kept(typingctx, key, pair):
            def codegen(context, b, signature, args):
                marks = b.extract_value(args[1], 1)
                b.atomic_rmw("or", word_at(b, args[0], SATURATED, I64), marks, "monotonic")
                value = b.extract_value(args[1], 0)
                return impl_ret_borrowed(context, b, pair[0], value)

            return pair[0](key, pair), codegen

        return kept

    def _whole(self):
        """An operand that has to be an integer (np.arange), as it is."""

        def resolve(typingctx, key, x):
            if not is_whole(types.unliteral(x)):
                raise TypingError(
                    f"np.arange of {x} is given; it takes integers: write start + i * step"
                )
            return _identity(x, key)

        return keys.intrinsic_of(1, self.key_type, resolve)

    def constant(self, text: str):
        """An intrinsic without operands: a number of the carrier, given by its hexadecimal text.

        Under a directed processor mode it is loaded from memory: the compiler would compute with a
        constant beforehand, to nearest.
        """
        value = float.fromhex(text)

        @intrinsic
        def number(typingctx):
            def codegen(context, b, signature, args):
                held = ir.Constant(self.kind, value)
                return opaque(b, f"sciprec.{self.kind}.{text}", held) if self.word else held

            return self.carrier(), codegen

        return number

    @property
    def held(self):
        """held(x): a number of the carrier or a constant array, out of the compiler's sight.

        Under a directed processor mode the compiler would compute with what it can see, to nearest.
        """

        @intrinsic
        def unseen(typingctx, x):
            kind = types.unliteral(x)

            def codegen(context, b, signature, args):
                zero = opaque(b, "sciprec.zero", ir.Constant(I64, 0))
                if kind == self.carrier:
                    view = View(self.kind)
                    word = b.add(view.to_word(b, args[0]), b.trunc(zero, view.integer))
                    return view.to_float(b, word)
                if isinstance(kind, types.Array):
                    array = context.make_array(kind)(context, b, args[0])
                    array.data = b.gep(array.data, [zero])
                    return impl_ret_borrowed(context, b, kind, array._getvalue())
                return impl_ret_borrowed(context, b, kind, args[0])

            return kind(x), codegen

        return unseen

    def call(self, arity: int):
        """call(function, x1, ..., x_arity): a jitted function called in the backend's processor
        mode.
        """
        return call_in_mode(self.word, arity)

    def call_normally(self, arity: int):
        """The same in the processor's normal mode, for what starts threads."""
        return call_in_mode(NORMAL if self.word else 0, arity)

    def power(self, exponent: int):
        """x ** n with a literal integer n: repeated multiplication in the order of Numba's own
        operator.
        """

        def raised(x):
            return x**exponent

        def emit(context, b, values, key):
            return self._repeated(b, values[0], exponent, key)

        made = self._operation(1, emit, njit(distinct(raised, f"to_{exponent}")))
        made.label, made.of = f"power_{exponent}", lambda ops: ops.power(exponent)
        return made

    def power_of(self, exponent: int):
        """The same of two operands, the second of them this exponent, for x **= n."""

        def emit(context, b, values, key):
            return self._repeated(b, values[0], exponent, key)

        made = self._operation(2, emit, operator.pow)
        made.label, made.of = f"power_of_{exponent}", lambda ops: ops.power_of(exponent)
        return made

    def ipower_of(self, exponent: int):
        """x **= n with a literal integer n."""
        return self._in_place(self.power_of(exponent))

    def _repeated(self, b, x, exponent: int, key):
        result, square, left, salt = None, x, abs(exponent), 11
        while left:
            if left & 1:
                draw = self._draw(b, self.compute, key, salt)
                result = square if result is None else self.compute.mul(b, result, square, **draw)
            left >>= 1
            if left:
                draw = self._draw(b, self.compute, key, salt + 1)
                square = self.compute.mul(b, square, square, **draw)
            salt += 2
        one = ir.Constant(self.kind, 1.0)
        result = one if result is None else result
        if exponent < 0:
            result = self.compute.div(b, one, result, **self._draw(b, self.compute, key, salt))
        return result

    def _from_bits(self, name):
        """A function of a 32-bit integer (uniform, normal, exponential variates): rounded once."""

        def resolve(typingctx, key, u):
            if not isinstance(types.unliteral(u), types.Integer):
                raise TypingError(f"{name} takes a 32-bit integer, not {u}")

            def codegen(context, b, signature, args):
                word, (value,) = keys.split(key, args)
                wide = context.cast(b, value, types.unliteral(u), types.int64)
                role = self.compute
                narrow = role.arithmetic.format.significand_bits <= 24
                function = (NARROW if narrow else ELEMENTARY)[name]
                result = call_inlined(context, b, function, (types.int64,), [wide])
                return role.from_binary64(b, result, **self._draw(b, role, word))

            return self.carrier(*keys.join(key, [u])), codegen

        return keys.intrinsic_of(1, self.key_type, resolve)

    def _in_place(self, op):
        """y += x on arrays writes into y; on everything else it is the operation."""

        def resolve(typingctx, key, x, y):
            if is_numeric_array(x):
                careful = self.careful
                return arrays.in_place(careful, op.of(careful), x, y, key)
            kinds = keys.join(key, [x, y])
            function = typingctx.resolve_value_type(op)
            resolved = function.get_call_type(typingctx, tuple(kinds), {})
            return resolved.return_type(*kinds), _forward(function, resolved)

        return keys.intrinsic_of(2, self.key_type, resolve)


@lru_cache(maxsize=128)
def operations(backend: Backend, word: int, variant: str = "") -> Operations:
    """The (shared) operations of a backend under a control word, in a variant."""
    return Operations(backend, word, variant)


def refuse_complex(kinds) -> None:
    """Complex numbers have no place in the formats: say so."""
    for kind in kinds:
        if isinstance(getattr(kind, "dtype", kind), types.Complex):
            raise TypingError(
                f"{kind} is complex; lifted kernels take real numbers: keep real and "
                "imaginary parts in separate variables or arrays"
            )


def call_inlined(context, b, dispatcher, kinds, values):
    """Call a jitted function so that LLVM inlines it (and can vectorise the loop around it)."""
    resolved = types.Dispatcher(dispatcher).get_call_type(context.typing_context, kinds, {})
    compiled = dispatcher.overloads[tuple(resolved.args)]
    context.add_linking_libs([compiled.library])
    callee = context.declare_function(b.module, compiled.fndesc)
    _, result = context.call_conv.call_function(
        b, callee, resolved.return_type, resolved.args, values, attrs=("alwaysinline",)
    )
    return result


def _has_float(kind) -> bool:
    if isinstance(kind, types.BaseTuple):
        return any(_has_float(k) for k in kind)
    return is_float(kind)


def _identity(kind, key, before=()):
    """The last operand, as it is."""

    def codegen(context, b, signature, args):
        return impl_ret_borrowed(context, b, signature.return_type, args[-1])

    return kind(*keys.join(key, [*before, kind])), codegen


def _forward(function, resolved):
    """Codegen that calls a resolved Numba function with its arguments cast to what it takes."""

    def codegen(context, b, signature, args):
        cast = [
            context.cast(b, value, given, wanted)
            for value, given, wanted in zip(args, signature.args, resolved.args, strict=True)
        ]
        return context.get_function(function, resolved)(b, cast)

    return codegen
