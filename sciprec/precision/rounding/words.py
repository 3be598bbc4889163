"""LLVM values that all roundings are written in: types, calls, the bits of a number."""

from __future__ import annotations

from llvmlite import ir

BIT, I32, I64 = ir.IntType(1), ir.IntType(32), ir.IntType(64)
F16, F32, F64 = ir.HalfType(), ir.FloatType(), ir.DoubleType()


def call(b: ir.IRBuilder, name: str, *args: ir.Value) -> ir.Value:
    """An LLVM intrinsic (llvm.fma, llvm.floor, ...) on operands of one floating type."""
    kind = args[0].type
    signature = ir.FunctionType(kind, [kind] * len(args))
    return b.call(b.module.declare_intrinsic(f"llvm.{name}", [kind], signature), args)


def nan_of(b: ir.IRBuilder, x: ir.Value, rounded: ir.Value) -> ir.Value:
    """x rounded on its bits, NaN where x is: the largest payload would be carried into the sign."""
    nan = b.fcmp_unordered("uno", x, x)
    return b.select(nan, ir.Constant(rounded.type, float("nan")), rounded)


def apart(b: ir.IRBuilder, identifier: str, result: ir.Type, emit, *args: ir.Value) -> ir.Value:
    """A call of a function of the module that stands apart from the operations that call it, so
    that these stay small where they are many and rarely run.

    Args:
        identifier: names everything that the function depends on.
        emit: (builder, *arguments) -> the result; writes the body when the function is first used.
        args: of the call.
    """
    existing = b.module.globals.get(identifier)
    if existing is not None:
        return b.call(existing, args)
    function = ir.Function(b.module, ir.FunctionType(result, [x.type for x in args]), identifier)
    function.linkage = "linkonce_odr"
    for attribute in ("noinline", "nounwind"):
        function.attributes.add(attribute)
    body = ir.IRBuilder(function.append_basic_block("entry"))
    body.ret(emit(body, *function.args))
    return b.call(function, args)


def invariant(b: ir.IRBuilder, pointer: ir.Value, align: int | None = None) -> ir.Value:
    """The value in memory that no kernel changes: its load may leave a loop."""
    loaded = b.load(pointer, align=align)
    loaded.set_metadata("invariant.load", b.module.add_metadata([]))
    return loaded


def opaque(b: ir.IRBuilder, identifier: str, value: ir.Constant) -> ir.Value:
    """A constant that the compiler cannot compute with: loaded from a variable of its own.

    LLVM folds constant expressions to nearest; the load may leave a loop, but not be folded.
    """
    module = b.module
    variable = module.globals.get(identifier)
    if variable is None:
        variable = ir.GlobalVariable(module, value.type, identifier)
        variable.linkage, variable.initializer = "weak", value
    return invariant(b, variable)


class View:
    """Bit patterns of an evaluation type: masks, casts and the usual predicates."""

    def __init__(self, kind: ir.Type):
        self.kind = kind
        self.bits = 24 if kind == F32 else 53
        self.integer = I32 if kind == F32 else I64
        self.width = 32 if kind == F32 else 64
        self.sign = 1 << (self.width - 1)
        self.exponent = (0xFF << 23) if kind == F32 else (0x7FF << 52)
        self.quiet = 1 << (self.bits - 2)

    def constant(self, value: float) -> ir.Constant:
        """A number."""
        return ir.Constant(self.kind, value)

    def word(self, value: int) -> ir.Constant:
        """A bit pattern."""
        return ir.Constant(self.integer, value)

    def to_word(self, b, x):
        """The bits of a number."""
        return b.bitcast(x, self.integer)

    def to_float(self, b, word):
        """The number with these bits."""
        return b.bitcast(word, self.kind)

    def masked(self, b, x, mask: int):
        """A number without the bits that the mask does not have."""
        return self.to_float(b, b.and_(self.to_word(b, x), self.word(mask)))

    def sign_word(self, b, x):
        """The sign bit alone."""
        return b.and_(self.to_word(b, x), self.word(self.sign))

    def with_sign(self, b, magnitude, sign_word):
        """The magnitude (sign bit clear, or equal to the wanted one) with a sign bit set where
        wanted.
        """
        return self.to_float(b, b.or_(self.to_word(b, magnitude), sign_word))

    def inverse(self, b, power_of_two):
        """1 / 2^k, exactly, by the exponent bits (2^k normal and its inverse too)."""
        twice_bias = (2 * 127) << 23 if self.kind == F32 else (2 * 1023) << 52
        return self.to_float(b, b.sub(self.word(twice_bias), self.to_word(b, power_of_two)))

    def power(self, b, x, low: float | None):
        """2^floor(log2 |x|), read off the exponent bits, not below `low`; infinite where x is not
        finite.
        """
        e = self.masked(b, x, self.exponent)
        if low is None:
            return e
        return b.select(b.fcmp_ordered(">", e, self.constant(low)), e, self.constant(low))


V32, V64 = View(F32), View(F64)
ZERO, ONE = V64.constant(0.0), V64.constant(1.0)


def jammed(b, i, signed: bool):
    """A 64-bit integer as binary64 whose last bit is sticky, so that one later rounding is right
    (p <= 51).
    """
    mask, sign = ir.Constant(I64, ~0x7FF), None
    if signed:
        sign = b.icmp_signed("<", i, ir.Constant(I64, 0))
        i = b.select(sign, b.neg(i), i)
    low = b.and_(i, ir.Constant(I64, 0x7FF))
    sticky = b.shl(
        b.zext(b.icmp_unsigned("!=", low, ir.Constant(I64, 0)), I64), ir.Constant(I64, 11)
    )
    large = b.icmp_unsigned(">=", i, ir.Constant(I64, 1 << 53))
    x = b.uitofp(b.select(large, b.or_(b.and_(i, mask), sticky), i), F64)
    return b.select(sign, b.fneg(x), x) if signed else x


def in_two_parts(b, i, signed: bool):
    """A 64-bit integer as two binary64 numbers, its upper bits and the last 11."""
    high = (b.sitofp if signed else b.uitofp)(b.and_(i, ir.Constant(I64, ~0x7FF)), F64)
    return high, b.uitofp(b.and_(i, ir.Constant(I64, 0x7FF)), F64)
