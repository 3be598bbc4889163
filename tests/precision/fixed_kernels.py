"""Kernels for the tests of fixed point."""

import math

from sciprec.precision.reduce import accumulate, fma, product


def every_operation(a, b, c, total, difference, multiple, quotient, root, negative, size, fused):
    """Each operation into an array of its own, and so into a unit of its own."""
    for i in range(a.size):
        total[i] = a[i] + b[i]
        difference[i] = a[i] - b[i]
        multiple[i] = a[i] * b[i]
        quotient[i] = a[i] / b[i]
        root[i] = math.sqrt(a[i])
        negative[i] = -a[i]
        size[i] = abs(a[i])
        fused[i] = fma(a[i], b[i], c[i])


def accumulated(a, b, out):
    for i in range(out.size):
        out[i] = accumulate(a[i], b[i])


def dot(a, b, out):
    total = 0.0
    for i in range(a.size):
        total = accumulate(total, product(a[i], b[i]))
    out[0] = total
