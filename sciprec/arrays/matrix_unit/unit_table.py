"""Tables of a matrix unit: numbers clipped, pruned, scaled, rounded once, and stored."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context

import numpy as np

from sciprec.arrays.integers.fixed_point import round_rows
from sciprec.arrays.integers.scale_groups import ScaleTiles
from sciprec.arrays.matrix_unit.slicing import Allocator, sliced
from sciprec.arrays.matrix_unit.unit import INTEGER_BITS, ROWS, MatrixUnit
from sciprec.arrays.quantization import rounding_into
from sciprec.foundation.errors import InputError
from sciprec.precision.compiled.disk_cache import kept as compiled
from sciprec.precision.formats.backend import resolve_backend

SCALE_BYTES = 4
"""Of a scale: it is a number of binary32."""
ALONG = ("rows", "columns")


@dataclass(frozen=True)
class UnitTable:
    """Matrices as a unit keeps them, in blocks whose scales go before the sums or after them.

    A channel is a row (its scale goes into the field before that is rounded) or a column (its scale
    multiplies what is summed). Groups divide channels of rows into blocks of columns, and channels
    of columns into blocks of rows, whose sums are added.

    Attributes:
        unit: how.
        along: "rows" or "columns", what a channel is.
        slices: the numbers of each slice, (blocks, rows, columns): int8 or binary32.
        scales: (matrices, groups, channels of a block).
        rows: (matrices groups,), how many of each block's rows count.
        shape: matrices, groups, rows and columns of a block.
        count, scales_kept: numbers and scales in all, without what fills blocks up.
        error: of the table, relative to it, root of the sums of squares.
    """

    unit: MatrixUnit
    along: str
    slices: tuple[np.ndarray, ...]
    scales: np.ndarray
    rows: np.ndarray
    shape: tuple[int, int, int, int]
    count: int
    scales_kept: int
    error: float

    @classmethod
    def of(
        cls, matrices: np.ndarray, unit: MatrixUnit, along: str, there: np.ndarray | None = None
    ) -> UnitTable:
        """The table of matrices (matrices, rows, columns); products sum over rows.

        Args:
            matrices: in binary64; rows a multiple of 8.
            unit: how they are kept.
            along: "rows" or "columns".
            there: (matrices, rows, columns), which numbers there are; the others fill matrices up,
                and are zero. Left out, all.

        Raises:
            InputError: numbers that the format does not hold, sums that the accumulator does not,
                groups that do not divide, rows that do not fill bytes, or no three dimensions.
        """
        if matrices.ndim != 3:
            raise InputError(
                f"the table has the shape {matrices.shape}; a matrix unit takes three dimensions: "
                "matrices, rows and columns"
            )
        size = matrices.shape[1]
        if size % ROWS:
            raise InputError(
                f"the table has {size} rows; a matrix unit takes a multiple of {ROWS}: fill up "
                "with zeros"
            )
        there = np.ones(matrices.shape, bool) if there is None else there
        counted = -(-_reach(there.any(axis=2)) // ROWS) * ROWS
        exact = _cut(matrices, unit, along)
        blocks = _in_blocks(exact, unit, along)
        unit.require_sums(blocks.shape[2])
        numbers, scales = _numbers(blocks, unit, along)
        table = cls(
            unit, along, tuple(numbers), scales, _rows_of(counted, blocks.shape, along),
            blocks.shape, int(there.sum()), _scales_of(there, unit, along), 0.0,
        )  # fmt: skip
        size_of = np.sqrt((matrices**2).sum())
        error = np.sqrt(((table.values() - matrices) ** 2).sum()) / (size_of if size_of else 1.0)
        object.__setattr__(table, "error", float(error))
        return table

    @property
    def bytes(self) -> float:
        """The bytes that a unit stores: numbers of all slices, scales, and of two numbers in four
        two bits each for their places.
        """
        bits = _bits(self.unit.table)
        bits_of_one = (bits + 2) / 2 if self.unit.sparse else bits
        return len(self.slices) * self.count * bits_of_one / 8 + SCALE_BYTES * self.scales_kept

    def values(self) -> np.ndarray:
        """The numbers that are kept times their scales, (matrices, rows, columns), in binary64."""
        fine, total = 1.0, 0.0
        for numbers in self.slices:
            total = total + numbers.astype(np.float64) * fine
            fine *= 2.0**-self.unit.slice_bits if len(self.slices) > 1 else 1.0
        axis = 3 if self.along == "rows" else 2
        blocks = total.reshape(self.shape) * np.expand_dims(self.scales, axis)
        count, groups, rows, columns = self.shape
        divided = (rows, columns * groups) if self.along == "rows" else (rows * groups, columns)
        layout = ScaleTiles((count, *divided), (1, rows, columns))
        return layout.restored(blocks.reshape(count * groups, -1))


def real_scales(largest: np.ndarray, name: str, room: Allocator = np.empty) -> np.ndarray:
    """The scale of numbers up to these in a format: of integers the binary32 number, rounded up,
    that makes the largest 2^(bits - 1) - 1; of floats a power of two, see `MatrixUnit.top`.

    NaN where a largest number is not finite, 1 where it is zero.

    Args:
        largest: (n,).
        name: of the format.
        room: makes the array (n,) of scales.
    """
    scales = room(largest.shape)
    if name in INTEGER_BITS:
        _scales_of_integers(largest, float(2 ** (INTEGER_BITS[name] - 1) - 1), scales)
    else:
        _scales_of_floats(largest, 1.0 / MatrixUnit.top(name), scales)
    return scales


@compiled(nogil=True, error_model="numpy")
def _scales_of_integers(largest, ends, scales):
    for i in range(largest.size):
        made = np.float32(largest[i] / ends)
        if np.float64(made) * ends < largest[i]:
            made = np.nextafter(made, np.float32(np.inf))
        usable = np.isfinite(largest[i]) and np.isfinite(made)
        scales[i] = 1.0 if largest[i] == 0.0 else np.float64(made) if usable else np.nan


@compiled(nogil=True, error_model="numpy")
def _scales_of_floats(largest, one, scales):
    for i in range(largest.size):
        fraction, power = math.frexp(largest[i])
        made = math.ldexp(one, power - 1 if fraction == 0.5 else power)
        usable = np.isfinite(largest[i]) and np.isfinite(made)
        scales[i] = 1.0 if largest[i] == 0.0 else made if usable else np.nan


def rounded_to(
    x: np.ndarray, scales: np.ndarray, name: str, room: Allocator = np.empty
) -> np.ndarray:
    """The numbers of rows (rows, n) over the rows' scales in a format, each rounded once.

    Integers as int8, floats in binary32; where a scale is NaN, whatever.

    Args:
        x, scales: (rows, n), (rows,).
        name: of the format.
        room: makes the arrays.
    """
    if name in INTEGER_BITS:
        integers = room(x.shape, np.int8)
        round_rows(x, scales, 1 << (INTEGER_BITS[name] - 1), integers)
        return integers
    over, result = room(x.shape), room(x.shape, np.float32)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        _divide(x, scales, over)
        rounding_into(resolve_backend(name))(over.reshape(-1), over.reshape(-1))
        result[...] = over
    return result


@compiled(nogil=True, error_model="numpy")
def _divide(x, scales, out):
    for g in range(x.shape[0]):
        for i in range(x.shape[1]):
            out[g, i] = x[g, i] / scales[g]


def _bits(name: str) -> int:
    if name in INTEGER_BITS:
        return INTEGER_BITS[name]
    fmt = resolve_backend(name).storage.format
    return {"tf32": 32}.get(fmt.name, 8 if fmt.significand_bits < 8 else 16)


def _channel_axis(along: str) -> int:
    """The axis of (..., rows, columns) over which the numbers of a channel lie."""
    if along not in ALONG:
        raise InputError(f"channels along {along!r}; accepted: {', '.join(ALONG)}")
    return -1 if along == "rows" else -2


def _cut(matrices: np.ndarray, unit: MatrixUnit, along: str) -> np.ndarray:
    """The numbers clipped and pruned by their channels, then two in four."""
    axis = _channel_axis(along)
    if not np.isfinite(matrices).all():
        raise InputError("the table has numbers that are not finite; a matrix unit takes none")
    largest = np.abs(matrices).max(axis=axis, keepdims=True, initial=0.0)
    result = np.clip(matrices, -unit.clip * largest, unit.clip * largest)
    result = np.where(np.abs(matrices) < unit.prune * largest, 0.0, result)
    return pruned_to_two(result) if unit.sparse else result


def pruned_to_two(matrices: np.ndarray) -> np.ndarray:
    """Keep of every four rows of a column the two largest numbers, of equals the first; the other
    ones become zero.
    """
    fours = matrices.reshape(matrices.shape[0], -1, 4, matrices.shape[2])
    order = np.argsort(-np.abs(fours), axis=2, kind="stable")
    largest = np.zeros(fours.shape, bool)
    np.put_along_axis(largest, order[:, :, :2], True, axis=2)
    return np.where(largest, fours, 0.0).reshape(matrices.shape)


def _in_blocks(matrices: np.ndarray, unit: MatrixUnit, along: str) -> np.ndarray:
    """(matrices, groups, rows, columns) of blocks that have one scale for each channel."""
    count, rows, columns = matrices.shape
    if unit.scale != "group":
        return matrices[:, None]
    divided = columns if along == "rows" else rows
    group = unit.step
    if divided % group:
        short = -(-divided // group) * group
        raise InputError(
            f"groups of {group} do not divide channels of {divided} numbers; fill up with "
            f"zeros to {short}, or take a group that divides them"
        )
    tile = (rows, group) if along == "rows" else (group, columns)
    layout = ScaleTiles(matrices.shape, (1, *tile))
    return layout.grouped(matrices).reshape(count, divided // group, *tile)


def _reach(rows: np.ndarray) -> np.ndarray:
    """Return the number of rows of each matrix (matrices, rows) up to its last present one."""
    last = rows.shape[1] - np.argmax(rows[:, ::-1], axis=1)
    return np.where(rows.any(axis=1), last, 0)


def _scales_of(present: np.ndarray, unit: MatrixUnit, along: str) -> int:
    """Return the number of scales of the numbers that are present."""
    if unit.scale == "none":
        return 0
    if unit.scale == "tensor" or isinstance(unit.scale, float):
        return 1
    return int(_in_blocks(present, unit, along).any(axis=_channel_axis(along)).sum())


def _rows_of(counted: np.ndarray, shape: tuple[int, ...], along: str) -> np.ndarray:
    """Rows of every block that count."""
    _, groups, rows, _ = shape
    if along == "rows":
        return np.repeat(counted, groups)
    started = counted[:, None] - rows * np.arange(groups)
    return np.clip(started, 0, rows).reshape(-1)


def _numbers(
    blocks: np.ndarray, unit: MatrixUnit, along: str
) -> tuple[list[np.ndarray], np.ndarray]:
    """Numbers of each slice, (blocks, rows, columns), and the scales of the blocks' channels."""
    axis = _channel_axis(along)
    channels = np.ascontiguousarray(blocks if axis == -1 else blocks.swapaxes(2, 3))
    flat = channels.reshape(-1, channels.shape[3])
    if unit.scale == "tensor":
        flat = flat.reshape(1, -1)
    if unit.slices > 1:
        parts, scales = sliced(flat, INTEGER_BITS[unit.table], unit.slices)
    else:
        scales = _scales(flat, unit)
        parts = [rounded_to(flat, scales, unit.table)]
        _require_held(flat, scales, parts[0], unit)
    shape = channels.shape
    back = [
        part.reshape(shape) if axis == -1 else part.reshape(shape).swapaxes(2, 3) for part in parts
    ]
    numbers = [np.ascontiguousarray(x).reshape(-1, *blocks.shape[2:]) for x in back]
    return numbers, np.broadcast_to(
        scales.reshape(-1, 1), (scales.size, int(np.prod(shape[:3])) // scales.size)
    ).reshape(shape[:3])


def _scales(flat: np.ndarray, unit: MatrixUnit) -> np.ndarray:
    if unit.scale == "none":
        return np.ones(flat.shape[0])
    if isinstance(unit.scale, float):
        return np.full(flat.shape[0], np.float64(np.float32(unit.scale)))  # as units keep it
    return real_scales(np.abs(flat).max(axis=1, initial=0.0), unit.table)


def _require_held(flat: np.ndarray, scales: np.ndarray, cast: np.ndarray, unit: MatrixUnit) -> None:
    """Make sure that no number saturates or overflows."""
    if unit.table in INTEGER_BITS:
        end = unit.largest("table")
        beyond = np.abs(flat) > (end + 0.5) * scales[:, None]
    else:
        end = resolve_backend(unit.table).storage.format.max_finite
        beyond = ~np.isfinite(cast)
    if not beyond.any():
        return
    most = float(np.abs(flat).max())
    advice = (
        f"give a scale of {_rounded_up(most / end)} at least" if isinstance(unit.scale, float)
        else "give a scale: tensor, channel or group"
    )  # fmt: skip
    ends = end * float(scales[0])
    raise InputError(
        f"{int(beyond.sum())} of {flat.size} numbers of the table are beyond {ends:.3g}, where "
        f"'{unit.table}' ends at this scale; the largest is {most:.3g}: {advice}, or clip"
    )


def _rounded_up(x: float) -> str:
    """A number in three digits, no smaller one."""
    return f"{float(Context(prec=3, rounding=ROUND_CEILING).create_decimal_from_float(x)):.3g}"
