"""Blocked matrix products of packed panels, by the instructions that the processor has for them.

A panel holds `rows` rows of A, or `columns` columns of B, with a group of elements of one lane
side by side: element (k, r) is at k // group * group * rows + r * group + k % group. A tile of
rows x columns sums is kept in registers; what one group contributes to a lane is one step:

| panels         | group | step                                             | sums  |
|----------------|-------|--------------------------------------------------|-------|
| float32/64     | 1     | fused multiply-add                               | float |
| int16          | 2     | vpdpwssd or vpmaddwd: s += a0 b0 + a1 b1         | int32 |
| uint8 x int8   | 4     | vpdpbusd: s += a0 b0 + a1 b1 + a2 b2 + a3 b3     | int32 |
| int64          | 1     | vpmuldq of the low 32 bits, signed               | int64 |

Sums of integers wrap around: they are right whenever the whole sum of a block fits, whatever the
sums on the way. All kernels of this module depend on nothing outside it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from sciprec.precision.compiled.disk_cache import kept
from sciprec.precision.rounding.mode import has_feature

WIDE = has_feature("avx512f") and has_feature("avx512bw")
"""Whether Numba compiles for a processor that has vectors of 512 bits."""

BYTES = WIDE and has_feature("avx512vnni")
"""Whether the processor multiplies and adds bytes (vpdpbusd)."""

VECTORS = 2  # of a tile's columns
VECTOR_BITS = 512 if WIDE else 256
SPLIT_FACTOR = 257
SPLIT_BLOCK = 252
"""Elements of A and B, |a| <= 2^15, are written a = 257 a1 + a0, -128 <= a1 <= 127, |a0| <= 128.
Then |a b - 257^2 a1 b1| <= |257 a1 b0| + |a0 b| <= 257 * 2^7 * 2^7 + 2^7 * 2^15 = 8,404,992, and
252 of them sum to less than 2^31.
"""

I32, I64 = ir.IntType(32), ir.IntType(64)


@dataclass(frozen=True)
class Tile:
    """The shape of a tile of sums.

    Attributes:
        group: elements of a lane in one step.
        lanes: of one vector.
        rows: of the tile.
    """

    group: int
    lanes: int
    rows: int

    @property
    def columns(self) -> int:
        """Columns of the tile."""
        return VECTORS * self.lanes


def tile_of(panel: np.dtype | str, exact: bool = False) -> Tile:
    """The tile for panels of a dtype; `exact` int64 sums take two registers each."""
    size = np.dtype(panel).itemsize
    lane = max(size, 4)
    rows = 12 if WIDE else 6
    return Tile(lane // size, VECTOR_BITS // (8 * lane), rows // 2 if exact else rows)


@kept(nogil=True)
def add_product(panels, bias, c, depth, block, near, far):
    """c += A B, for panels (a, b), or (a1, b1, a, b) of numbers split by 257.

    Args:
        panels: packed; the dtypes choose the step.
        bias: (blocks, columns of c) int32, what a block's byte sums start from; unused otherwise.
        c: (rows, columns), whole tiles: int64 or float. (2, rows, columns) for int64 panels: the
            sums modulo 2^64 and the sums of floor(product / 2^32).
        depth: elements of a panel's row, whole groups.
        block: elements of a block of the sum, whole groups.
        near, far: tiles of A and of B in a block that the caches keep.
    """
    tiles_a, tiles_b = tile_counts(panels, c)
    for j0 in range(0, tiles_b, far):
        for i0 in range(0, tiles_a, near):
            for k in range(0, depth, block):
                count = min(block, depth - k)
                for j in range(j0, min(j0 + far, tiles_b)):
                    for i in range(i0, min(i0 + near, tiles_a)):
                        add_tile(panels, bias, c, i, j, k, count, depth, k // block)


def _tile(panels, c) -> Tile:
    """The tile for Numba's types of the panels and the result."""
    return tile_of(np.dtype(panels[0].dtype.name), c.ndim == 3)


@intrinsic
def tile_counts(typingctx, panels, c):
    """Return the number of tiles of c along its rows and columns."""
    tile = _tile(panels, c)

    def codegen(context, builder, signature, args):
        shape = cgutils.unpack_tuple(
            builder, context.make_array(c)(context, builder, args[1]).shape
        )
        counts = [
            builder.udiv(n, I64(size))
            for n, size in zip(shape[-2:], (tile.rows, tile.columns), strict=True)
        ]
        return context.make_tuple(builder, signature.return_type, counts)

    return types.UniTuple(types.intp, 2)(panels, c), codegen


@intrinsic
def add_tile(typingctx, panels, bias, c, i, j, k, count, depth, q):
    """Add the products of elements k to k + count to tile (i, j) of c; q is the block's number."""
    tile, kinds = _tile(panels, c), tuple(panels.types)

    def codegen(context, builder, signature, args):
        values = cgutils.unpack_tuple(builder, args[0])
        arrays = [
            context.make_array(kind)(context, builder, value).data
            for kind, value in zip(kinds, values, strict=True)
        ]
        target = context.make_array(c)(context, builder, args[2])
        writer = _Writer(builder, tile, target, args[3], args[4])
        sums = writer.zeros(_lane_type(kinds[0]), planes=2 if c.ndim == 3 else 1)
        if str(kinds[0].dtype) == "uint8":
            start = context.make_array(bias)(context, builder, args[1])
            sums = writer.rows_of(start, args[8], sums)
        loop = _Loop(builder, args[3:8])
        sums = loop.run(kinds[0:2], arrays[0:2], tile, sums)
        if len(kinds) == 4:
            factor = SPLIT_FACTOR**2
            writer.add(sums, factor)
            sums = [[_scaled(builder, v, -factor) for v in row] for row in sums]
            sums = loop.run(kinds[2:4], arrays[2:4], tile_of("int16"), sums)
        writer.add(sums)
        return context.get_dummy_value()

    return types.void(panels, bias, c, i, j, k, count, depth, q), codegen


def _lane_type(panel) -> ir.Type:
    """The type of a lane of the sums."""
    kinds = {types.float32: ir.FloatType(), types.float64: ir.DoubleType(), types.int64: I64}
    return kinds.get(panel.dtype, I32)


def _splat(builder, value, lanes: int):
    vector = builder.insert_element(
        ir.Constant(ir.VectorType(value.type, lanes), ir.Undefined), value, I32(0)
    )
    return builder.shuffle_vector(
        vector, vector, ir.Constant(ir.VectorType(I32, lanes), [0] * lanes)
    )


def _scaled(builder, vector, factor: int):
    kind = vector.type
    return builder.mul(vector, ir.Constant(kind, [factor] * kind.count))


class _Writer:
    """The places of a tile's sums: where they start, and where they are added."""

    def __init__(self, builder, tile: Tile, target, i, j):
        self.builder, self.tile = builder, tile
        self.data, self.size = target.data, target.nitems
        self.stride = cgutils.unpack_tuple(builder, target.shape)[-1]
        self.column = builder.mul(j, I64(tile.columns))
        self.start = builder.add(
            builder.mul(builder.mul(i, I64(tile.rows)), self.stride), self.column
        )

    def zeros(self, lane: ir.Type, planes: int) -> list:
        """Sums of zero: for each row the vectors of each plane of the target."""
        zero = ir.Constant(ir.VectorType(lane, self.tile.lanes), None)
        return [[zero] * (VECTORS * planes) for _ in range(self.tile.rows)]

    def rows_of(self, start, q, sums) -> list:
        """Return every row's sums: row q of the array `start`, at the tile's columns."""
        place = self.builder.add(self.builder.mul(q, self.stride), self.column)
        row = [
            _load(self.builder, start.data, place, n * self.tile.lanes, v.type)
            for n, v in enumerate(sums[0])
        ]
        return [row for _ in sums]

    def add(self, sums, factor: int = 1) -> None:
        """target += factor * sums."""
        builder = self.builder
        lane = self.data.type.pointee
        for r, row in enumerate(sums):
            place = builder.add(self.start, builder.mul(self.stride, I64(r)))
            for n, vector in enumerate(row):
                plane, n = divmod(n, VECTORS)
                kind = ir.VectorType(lane, self.tile.lanes)
                at = builder.add(place, builder.udiv(self.size, I64(2))) if plane else place
                pointer = _pointer(builder, self.data, at, n * self.tile.lanes, kind)
                old = builder.load(pointer, align=_align(kind))
                if isinstance(lane, ir.IntType):
                    wide = builder.sext(vector, kind) if vector.type != kind else vector
                    new = builder.add(old, wide if factor == 1 else _scaled(builder, wide, factor))
                else:
                    new = builder.fadd(old, vector)
                builder.store(new, pointer, align=_align(kind))


def _align(kind) -> int:
    return 8 if kind.element in (I64, ir.DoubleType()) else 4


def _pointer(builder, data, place, step: int, kind):
    pointer = builder.gep(data, [builder.add(place, I64(step))])
    return builder.bitcast(pointer, kind.as_pointer())


def _load(builder, data, place, step: int, kind):
    return builder.load(_pointer(builder, data, place, step, kind), align=_align(kind))


class _Loop:
    """The loop over the groups of a block: a tile's sums stay in registers."""

    def __init__(self, builder, place):
        self.builder = builder
        self.i, self.j, self.k, self.count, self.depth = place

    def _start(self, index, lanes: int, group: int):
        """The lane of a tile's panel in which the block begins."""
        builder = self.builder
        element = builder.add(builder.mul(index, self.depth), self.k)
        return builder.mul(builder.udiv(element, I64(group)), I64(lanes))

    def run(self, kinds, arrays, tile: Tile, sums) -> list:
        """The sums after the block of a pair of panels."""
        builder, step = self.builder, _step(kinds, len(sums[0]))
        word = _lane_type(kinds[0])
        a, b = (builder.bitcast(data, word.as_pointer()) for data in arrays)
        starts = (
            self._start(self.i, tile.rows, tile.group),
            self._start(self.j, tile.columns, tile.group),
        )
        steps = builder.udiv(self.count, I64(tile.group))
        before = builder.block
        body, after = (builder.append_basic_block(name) for name in ("groups", "tile"))
        builder.branch(body)
        builder.position_at_end(body)
        n = builder.phi(I64)
        phis = [[builder.phi(v.type) for v in row] for row in sums]
        at_a = builder.add(starts[0], builder.mul(n, I64(tile.rows)))
        at_b = builder.add(starts[1], builder.mul(n, I64(tile.columns)))
        lanes = ir.VectorType(word, tile.lanes)
        columns = [_load(builder, b, at_b, v * tile.lanes, lanes) for v in range(VECTORS)]
        new = []
        for r, row in enumerate(phis):
            element = builder.load(builder.gep(a, [builder.add(at_a, I64(r))]))
            new.append(step(builder, row, _splat(builder, element, tile.lanes), columns))
        following = builder.add(n, I64(1))
        self._close(n, following, phis, sums, new, before)
        builder.cbranch(builder.icmp_unsigned("<", following, steps), body, after)
        builder.position_at_end(after)
        return new

    def _close(self, n, following, phis, first, new, before) -> None:
        """Tell the loop's variables where they come from."""
        n.add_incoming(I64(0), before)
        n.add_incoming(following, self.builder.block)
        for row, starts, ends in zip(phis, first, new, strict=True):
            for phi, start, end in zip(row, starts, ends, strict=True):
                phi.add_incoming(start, before)
                phi.add_incoming(end, self.builder.block)


def _step(kinds, vectors: int):
    """The step of a pair of panels: (builder, sums of a row, a, vectors of b) -> sums."""
    name = str(kinds[0].dtype)
    if name == "int64":
        return _step_exact if vectors > VECTORS else _step_wide
    multiply = {"int16": _pairs, "uint8": _bytes}.get(name, _fused)
    return lambda builder, row, a, columns: [
        multiply(builder, s, a, b) for s, b in zip(row, columns, strict=True)
    ]


def _fused(builder, s, a, b):
    name = f"llvm.fmuladd.v{s.type.count}f{32 if s.type.element == ir.FloatType() else 64}"
    kind = ir.FunctionType(s.type, [s.type] * 3)
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [a, b, s])


def _pairs(builder, s, a, b):
    """s + a0 b0 + a1 b1 in every lane of 32 bits; LLVM makes one or two instructions of it."""
    lanes = s.type.count
    halves = ir.VectorType(ir.IntType(16), 2 * lanes)
    wide = ir.VectorType(I32, 2 * lanes)
    products = builder.mul(*(builder.sext(builder.bitcast(x, halves), wide) for x in (a, b)))
    even, odd = (
        builder.shuffle_vector(
            products,
            products,
            ir.Constant(ir.VectorType(I32, lanes), list(range(first, 2 * lanes, 2))),
        )
        for first in (0, 1)
    )
    return builder.add(s, builder.add(even, odd))


def _bytes(builder, s, a, b):
    """s + a0 b0 + ... + a3 b3 in every lane of 32 bits, a without sign, b with."""
    kind = ir.VectorType(ir.IntType(8), 4 * s.type.count)
    function = cgutils.get_or_insert_function(
        builder.module,
        ir.FunctionType(s.type, [s.type, kind, kind]),
        f"llvm.x86.avx512.vpdpbusd.{VECTOR_BITS}",
    )
    return builder.call(function, [s, builder.bitcast(a, kind), builder.bitcast(b, kind)])


def _low_product(builder, a, b):
    """The 64-bit product of the low 32 bits, which are numbers with a sign."""
    shift = ir.Constant(a.type, [32] * a.type.count)
    return builder.mul(*(builder.ashr(builder.shl(x, shift), shift) for x in (a, b)))


def _step_wide(builder, row, a, columns):
    return [builder.add(s, _low_product(builder, a, b)) for s, b in zip(row, columns, strict=True)]


def _step_exact(builder, row, a, columns):
    """Sums modulo 2^64 of the products, then sums of their upper halves."""
    products = [_low_product(builder, a, b) for b in columns]
    shift = ir.Constant(a.type, [32] * a.type.count)
    upper = [builder.ashr(p, shift) for p in products]
    return [builder.add(s, x) for s, x in zip(row, products + upper, strict=True)]
