"""Kernels of complex numbers as people write them, for the tests."""

import cmath
import math

import numba
import numpy as np

from sciprec.precision.operations.reduce import accumulate, product

UNIT, ROOTS = 0.6 - 0.8j, np.array([0.6 - 0.8j, 0.1 + 0.3j, -1.1j])


def operators(z, w, x, k, out):
    """Every operator, mixed operands, literals, stores: eight results for each element."""
    for i in range(z.size):
        a, b, r = z[i], w[i], x[i]
        out[i, 0] = a * b + UNIT
        out[i, 1] = a / b - 0.1j
        out[i, 2] = r * a - b * k[i]
        out[i, 3] = b / r + k[i] / a
        out[i, 4] = -a.conjugate() * (0.1 + 2j) + 2.0 * b - a / 4
        out[i, 5] = complex(a.imag, r) * np.conj(b)
        out[i, 6] = a + r
        out[i, 6] -= b
        out[i, 6] *= a
        out[i, 7] = r
        out[i, 7] /= a


def choices(z, x, out):
    """Comparisons, branches and values that are real on one path and complex on the other."""
    s, count = 0.0, 0
    for i in range(z.size):
        if z[i] == x[i]:
            count += 1
        elif z[i] != 0 and abs(z[i]) > 0.5:
            s = s + z[i]
        elif z[i]:
            s = s - x[i] * 1j
        out[i] = s
    return s, count


def sized(z, x, out):
    for i in range(z.size):
        out[i, 0], out[i, 1] = abs(z[i]), np.angle(z[i])
        r, phi = cmath.polar(z[i])
        out[i, 2] = r * phi + cmath.phase(z[i]) - np.abs(z[i])
        turned = cmath.rect(x[i], phi)
        out[i, 3], out[i, 4] = turned.real, turned.imag


def exponentials(z, out):
    for i in range(z.size):
        out[i, 0] = cmath.exp(z[i])
        out[i, 1] = np.log(z[i])
        out[i, 2] = cmath.log10(z[i])
        out[i, 3] = np.sqrt(z[i])
        out[i, 4] = cmath.sqrt(z[i].real)


def circular(z, out):
    for i in range(z.size):
        out[i, 0] = cmath.sin(z[i])
        out[i, 1] = np.cos(z[i])
        out[i, 2] = np.tan(z[i])
        out[i, 3] = cmath.sinh(z[i])
        out[i, 4] = cmath.cosh(z[i])
        out[i, 5] = np.tanh(z[i])


def powers(z, w, x, out):
    for i in range(z.size):
        out[i, 0] = z[i] ** w[i]
        out[i, 1] = z[i] ** x[i]
        out[i, 2] = np.power(x[i], w[i])
        out[i, 3] = z[i] ** 3 - w[i] ** -2
        out[i, 3] **= 2


def whole_arrays(z, w, x):
    """Operators and functions of arrays, in place too."""
    y = z * x
    y[1:] -= w[:-1]
    u = np.zeros(z.size, np.complex128)
    u[:] = x
    return y, u, abs(z)


def more_arrays(z, w, x):
    y = w / z - 0.3j
    y[::2] = np.conj(y[::2])
    return y, x.astype(np.complex64)


def reduced(z, w, x):
    """Reductions: the engine's named orders."""
    return np.sum(z), z @ w, np.vdot(z, w), np.prod(z[:5]), np.cumsum(w[:7])


def matrices(z, w, x):
    table = np.outer(z[:3], w[:2])
    return (table, table @ np.conj(z[:2]), x[:3] @ table, table.T @ table, np.diff(z[:4]),
            np.mean(w), np.dot(x, w))  # fmt: skip


def roles_named(z, w, out):
    for i in range(z.size):
        out[i] = accumulate(product(z[i], w[i]), UNIT)


def helper(z, scale=0.5 - 0.25j):
    return z * scale, ROOTS[1] - z


def tuples_and_calls(z, n):
    both = (z[0], n, 0.1j)
    first, second = helper(both[0] * both[2])
    third, _ = helper(first, second)
    return third, (second, both[1] * z[1]), [x * x for x in z][2]


def parts(z, x):
    """Parts of arrays and numbers are read and written."""
    y = np.empty(z.size, np.complex128)
    y.real[:] = z.imag
    y.imag[:] = x
    y.real[0] *= 0.3
    total = 0.0
    for v in z:
        total += v.real * v.imag + np.real(v) - np.imag(v)
    return y, total, np.imag(z)[1] * np.real(UNIT)


def parts_apart(a, b, x):
    """The same of parts in arrays of their own."""
    real, imag = np.zeros(a.size), np.zeros(a.size)
    real[:] = b
    imag[:] = x
    real[0] *= 0.3
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i] + a[i] - b[i]
    return real, imag, total


def summed(z):
    return np.sum(z)


def parallel(z, x):
    s, p = 0j, 1.0 + 0j
    for i in numba.prange(z.size):
        s += z[i] * x[i]
        p *= z[i]
    return s, p


def fft(z, twiddles):
    """Radix-2, decimation in time, in place; twiddles[k] = exp(-2 pi i k / n), k < n / 2."""
    n = z.size
    j = 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j ^= bit
        if i < j:
            z[i], z[j] = z[j], z[i]
    size = 2
    while size <= n:
        half, step = size // 2, n // size
        for start in range(0, n, size):
            for k in range(half):
                odd = z[start + k + half] * twiddles[k * step]
                z[start + k + half] = z[start + k] - odd
                z[start + k] += odd
        size *= 2


def mandelbrot(c, most, counts):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            z, n = 0j, 0
            while n < most and abs(z) <= 2.0:
                z = z * z + c[i, j]
                n += 1
            counts[i, j] = n


def quaternion_product(p, q):
    """(a + b j)(c + d j) = (a c - b conj(d)) + (a d + b conj(c)) j, of pairs of complex numbers."""
    a, b = p
    c, d = q
    return a * c - b * d.conjugate(), a * d + b * c.conjugate()


def rotations(axes, angles, out):
    """Vectors (0, 0, 1) turned about axes by unit quaternions."""
    for i in range(angles.size):
        half = 0.5 * angles[i]
        c, s = math.cos(half), math.sin(half)
        q = (complex(c, s * axes[i, 0]), complex(s * axes[i, 1], s * axes[i, 2]))
        back = (q[0].conjugate(), -q[1])
        made = quaternion_product(quaternion_product(q, (0j, 1j)), back)
        out[i, 0], out[i, 1], out[i, 2] = made[0].imag, made[1].real, made[1].imag
