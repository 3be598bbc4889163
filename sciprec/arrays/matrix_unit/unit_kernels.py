"""Products of stored tables with fields: written once, compiled for integers and for floats.

out[b, c, n] = sum over k of field[b, k, c] table[b, k, n], k ascending from zero, for k < rows[b]

Compiled plainly, integers give sums of 32 bits; lifted, products and sums have their formats. What
a kernel takes of a table is what the unit keeps of it: numbers, two integers of 4 bits in a byte,
or two numbers in four with where they stand.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from sciprec.precision.compiled.disk_cache import kept
from sciprec.precision.elementary.bits import distinct, inlined
from sciprec.precision.formats.backend import Arithmetic, Backend
from sciprec.precision.formats.float_format import ALIASES, FORMATS
from sciprec.precision.lifting.lifting import lift
from sciprec.precision.lifting.substitution import substitute
from sciprec.precision.operations.reduce import accumulate, product


def multiply_numbers(field, rows, out, table):
    """The product from a table (blocks, rows, columns) of numbers.

    Args:
        field: (blocks, rows, columns of the field).
        rows: (blocks,), how many count; the others are zero.
        out: (blocks, columns of the field, columns), written.
        table: the numbers.
    """
    for b in range(field.shape[0]):
        for c in range(field.shape[2]):
            sums = out[b, c]
            sums[:] = 0
            for k in range(rows[b]):
                weight = field[b, k, c]
                line = table[b, k]
                for n in range(sums.shape[0]):
                    sums[n] = accumulate(sums[n], product(weight, line[n]))


def multiply_nibbles(field, rows, out, table):
    """The product from a table (blocks, rows / 2, columns) of bytes with integers of 4 bits, that
    of the even row in the lower half; other arguments as in `multiply_numbers`.
    """
    for b in range(field.shape[0]):
        for c in range(field.shape[2]):
            sums = out[b, c]
            sums[:] = 0
            for i in range(rows[b] // 2):
                first = field[b, 2 * i, c]
                second = field[b, 2 * i + 1, c]
                line = table[b, i]
                for n in range(sums.shape[0]):
                    one = accumulate(sums[n], product(first, lower_half(line[n])))
                    sums[n] = accumulate(one, product(second, upper_half(line[n])))


def multiply_two_of_four(field, rows, out, values, places):
    """The product from two numbers of every four rows.

    Args:
        field, rows, out: as in `multiply_numbers`.
        values: (blocks, rows / 2, columns).
        places: (blocks, rows / 8, columns) of bytes: where in their four rows the two numbers of
            the first four stand, lower one first, then those of the next, two bits each.
    """
    each = 4 * values.shape[1] // field.shape[1]  # rows of values for four of the table
    for b in range(field.shape[0]):
        for c in range(field.shape[2]):
            sums = out[b, c]
            sums[:] = 0
            for i in range(rows[b] // 4):
                w0 = field[b, 4 * i, c]
                w1 = field[b, 4 * i + 1, c]
                w2 = field[b, 4 * i + 2, c]
                w3 = field[b, 4 * i + 3, c]
                shift = 4 * (i % 2)
                where = places[b, i // 2]
                lower = values[b, each * i]
                upper = values[b, each * i + each - 1]
                for n in range(sums.shape[0]):
                    four = where[n] >> shift
                    first = chosen(four & 3, w0, w1, w2, w3)
                    second = chosen((four >> 2) & 3, w0, w1, w2, w3)
                    one = accumulate(sums[n], product(first, first_of_two(lower[n])))
                    sums[n] = accumulate(one, product(second, second_of_two(upper[n])))


@inlined
def first_of_two(number):
    """The first of two numbers that are kept of four, each in a row of its own."""
    return number


@inlined
def second_of_two(number):
    """The second one."""
    return number


@inlined
def lower_half(byte):
    """The integer of 4 bits in the lower half of a byte."""
    return ((byte & 15) ^ 8) - 8


@inlined
def upper_half(byte):
    """The integer of 4 bits in the upper half of a byte."""
    return ((byte >> 4) ^ 8) - 8


@inlined
def chosen(place, w0, w1, w2, w3):
    """Return the one of four numbers at a place."""
    low = w0 if place == 0 else w1
    high = w2 if place == 2 else w3
    return low if place < 2 else high


multiply_two_nibbles_of_four = distinct(
    substitute(multiply_two_of_four, {first_of_two: lower_half, second_of_two: upper_half}),
    "nibbles",
)
"""`multiply_two_of_four` from integers of 4 bits, the two of four rows in one byte: values are
(blocks, rows / 4, columns) of bytes."""


@lru_cache(maxsize=64)
def compiled_for(kernel: Callable, accumulator: str) -> Callable:
    """A kernel with sums in this format; products are exact in binary32, or integers.

    Args:
        kernel: of this module.
        accumulator: "int32", or the name of a format.
    """
    if accumulator == "int32":
        return kept(nogil=True)(kernel)
    sums = Arithmetic(FORMATS[ALIASES[accumulator]])
    products = Arithmetic(FORMATS["binary32"])
    backend = Backend(f"sums in {accumulator}", sums, sums, sums, products)
    return lift(kernel, backend, trust_inputs=True)
