"""Kernels of complex numbers as people write them."""

import cmath

import numba
import numpy as np

from sciprec.precision import FORMATS
from sciprec.precision.operations.reduce import accumulate, product
from tests.precision.corpus import has, kernels_of
from tests.random_kernels.values import numbers

UNIT, ROOTS = 0.6 - 0.8j, np.array([0.6 - 0.8j, 0.1 + 0.3j, -1.1j])


def _complex_numbers(size, fmt, rng, dtype=complex):
    """Numbers whose parts are of two flavours, specials among them."""
    made = np.empty(size, complex)
    made.real, made.imag = numbers(size, fmt, rng), numbers(size, fmt, rng)
    with np.errstate(all="ignore"):
        return made.astype(dtype)


def _signal(n):
    """Random numbers, and the roots of one that turn them."""
    rng = np.random.default_rng(3)
    return rng.normal(size=n) + 1j * rng.normal(size=n), np.exp(-2j * np.pi * np.arange(n // 2) / n)


def _drawn(make, seed, *more):
    return lambda: make(40, FORMATS["binary16"], np.random.default_rng(seed), *more)


ARGUMENTS = {
    "z": _drawn(_complex_numbers, 1), "w": _drawn(_complex_numbers, 2, np.complex64),
    "x": _drawn(numbers, 3), "k": lambda: np.random.default_rng(4).integers(-9, 10, 40),
    "n": lambda: 3, "out": lambda: np.zeros((40, 8), complex), "real": lambda: np.zeros((40, 5)),
    "each": lambda: np.zeros(40, complex), "wave": lambda: _signal(32)[0],
    "twiddles": lambda: _signal(32)[1],
}  # fmt: skip


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


def choices(z, x, each):
    """Comparisons, branches and values that are real on one path and complex on the other."""
    s, count = 0.0, 0
    for i in range(z.size):
        if z[i] == x[i]:
            count += 1
        elif z[i] != 0 and abs(z[i]) > 0.5:
            s = s + z[i]
        elif z[i]:
            s = s - x[i] * 1j
        each[i] = s
    return s, count


@has("elementary")
def sized(z, x, real):
    for i in range(z.size):
        real[i, 0], real[i, 1] = abs(z[i]), np.angle(z[i])
        r, phi = cmath.polar(z[i])
        real[i, 2] = r * phi + cmath.phase(z[i]) - np.abs(z[i])
        turned = cmath.rect(x[i], phi)
        real[i, 3], real[i, 4] = turned.real, turned.imag


@has("elementary")
def exponentials(z, out):
    for i in range(z.size):
        out[i, 0] = cmath.exp(z[i])
        out[i, 1] = np.log(z[i])
        out[i, 2] = cmath.log10(z[i])
        out[i, 3] = np.sqrt(z[i])
        out[i, 4] = cmath.sqrt(z[i].real)


@has("elementary", "one format")
def circular(z, out):
    for i in range(z.size):
        out[i, 0] = cmath.sin(z[i])
        out[i, 1] = np.cos(z[i])
        out[i, 2] = np.tan(z[i])
        out[i, 3] = cmath.sinh(z[i])
        out[i, 4] = cmath.cosh(z[i])
        out[i, 5] = np.tanh(z[i])


@has("elementary")
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


def roles_named(z, w, each):
    for i in range(z.size):
        each[i] = accumulate(product(z[i], w[i]), UNIT)


def _helper(z, scale=0.5 - 0.25j):
    return z * scale, ROOTS[1] - z


def tuples_and_calls(z, n):
    both = (z[0], n, 0.1j)
    first, second = _helper(both[0] * both[2])
    third, _ = _helper(first, second)
    return third, (second, both[1] * z[1]), [x * x for x in z][2]


def _parts_apart(z, x):
    y, total = np.empty(z.size, np.complex128), 0.0
    for i in range(z.size):
        y[i] = complex(z[i].imag * 0.3 if i == 0 else z[i].imag, x[i])
        total += z[i].real * z[i].imag + z[i].real - z[i].imag
    return y, total, z[1].imag * UNIT.real


@has("one format", plain=_parts_apart)
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


def summed(z):
    return np.sum(z)


def parallel(z, x):
    s, p = 0j, 1.0 + 0j
    for i in numba.prange(z.size):
        s += z[i] * x[i]
        p *= z[i]
    return s, p


def fft(wave, twiddles):
    """Radix-2, decimation in time, in place; twiddles[k] = exp(-2 pi i k / n), k < n / 2."""
    n = wave.size
    j = 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j ^= bit
        if i < j:
            wave[i], wave[j] = wave[j], wave[i]
    size = 2
    while size <= n:
        half, step = size // 2, n // size
        for start in range(0, n, size):
            for k in range(half):
                odd = wave[start + k + half] * twiddles[k * step]
                wave[start + k + half] = wave[start + k] - odd
                wave[start + k] += odd
        size *= 2


KERNELS = kernels_of(globals(), ARGUMENTS)
