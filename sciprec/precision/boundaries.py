"""Where numbers enter and leave a lifted kernel, its functions and its chunks."""

from __future__ import annotations

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic

from sciprec.precision import arrays, keys
from sciprec.precision.backend import Arithmetic
from sciprec.precision.evaluation import Evaluation
from sciprec.precision.fixed_rounding import SATURATED, add_marks, marks_slot, word_at
from sciprec.precision.formats import FORMATS
from sciprec.precision.kinds import (
    has_float,
    identity,
    is_float,
    is_numeric_array,
    is_whole,
    refuse_complex,
)
from sciprec.precision.sticky import Sticky
from sciprec.precision.words import F32, F64, I32, I64, V64, View, call, opaque

BOUNDARIES = (
    "enter", "trusted", "viewed", "leave", "returned", "cast", "whole", "filling", "closed",
    "opened", "kept", "stored",
)  # fmt: skip


class Boundaries(Evaluation):
    """Intrinsics that bring numbers into the backend's formats, and let them out again."""

    def _enter(self):
        """Numbers from outside (arguments, array elements) into the format; everything else as it
        is.
        """

        def resolve(typingctx, key, x):
            refuse_complex([x])
            kind = types.unliteral(x)
            if not has_float(kind):
                return identity(x, key)

            def codegen(context, b, signature, args):
                word, (value,) = keys.split(key, args)
                entered = self._entered(context, b, kind, value, word)
                return impl_ret_borrowed(context, b, signature.return_type, entered)

            return self._entered_type(kind)(*keys.join(key, [x])), codegen

        return self._intrinsic(1, resolve)

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

        return self._intrinsic(1, resolve)

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
            noted = self.variant.notes
            if not is_float(kind) or kind == self.carrier and not noted:
                return identity(x, key)

            def codegen(context, b, signature, args):
                value = context.cast(b, args[-1], kind, self.carrier)
                return self.storage.noted(b, value, args[0]) if noted else value

            return self.carrier(*keys.join(key, [x])), codegen

        return self._intrinsic(1, resolve)

    def _viewed(self):
        """Operands of comparisons and of data movement: arrays of floats are rounded, the rest is
        as it is.
        """

        def resolve(typingctx, key, x):
            refuse_complex([x])
            if isinstance(x, types.Array) and is_float(x.dtype):
                return arrays.mapped(self.careful, x, key)
            return identity(x, key)

        return self._intrinsic(1, resolve)

    def _stored(self):
        """stored(target, value): like leave, of a value that is in the array's unit already."""
        return self._leave(in_unit=not self.variant.notes)

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
            narrow = self._narrow_store(dtype)
            if dtype is not None and not is_float(dtype) or not (is_float(kind) or is_whole(kind)):
                if is_numeric_array(kind) and (dtype is None or is_float(dtype)):
                    return arrays.stored(self.careful, target, kind, key)
                return identity(x, key, before=[target])
            if kind == self.carrier and same and narrow is None:
                return identity(x, key, before=[target])

            def codegen(context, b, signature, args):
                word, (_, value) = keys.split(key, args)
                if kind != self.carrier or not same:
                    value = self._rounded(b, kind, value, self.storage, word, 0)
                if self.storage.placed and is_whole(kind):
                    draw = self._draw(b, self.storage, word)
                    value = self.storage.from_binary64(b, value, **draw)
                value = self._noisy(b, value, word)
                return value if narrow is None else narrow.from_binary64(b, value)

            return self.carrier(*keys.join(key, [target, x])), codegen

        return self._intrinsic(2, resolve)

    def _narrow_store(self, dtype):
        """What rounds numbers of a wide carrier for an array of float32 in the storage's direction;
        None where the processor does it by converting them.
        """
        storage = self.backend.storage
        usual = storage.fixed or storage.rule.usual
        if dtype != types.float32 or self.carrier == types.float32 or usual or self.word:
            return None
        return Sticky(Arithmetic(FORMATS["binary32"], storage.rounding), F64, F64, None)

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
            return identity(x, key)

        return self._intrinsic(1, resolve)

    def _filling(self):
        """What np.full fills with, in NumPy's type: binary64 (exactly) for floats."""

        def resolve(typingctx, key, x):
            kind = types.unliteral(x)
            if not is_float(kind):
                return identity(x, key)

            def codegen(context, b, signature, args):
                return context.cast(b, args[-1], kind, types.float64)

            return types.float64(*keys.join(key, [x])), codegen

        return self._intrinsic(1, resolve)

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
