"""Kernels whose every row is one operation, lifted by the tests of operations."""

import math

import numpy as np

from sciprec.precision.elementary.bits import ufp
from sciprec.precision.operations.reduce import fma

ARITHMETIC = ("add", "sub", "mul", "div", "sqrt", "fma")
SELECTION = (
    "minimum", "maximum", "least", "greatest", "fmin", "fmax", "copysign", "neg", "absolute",
    "floor", "ceil", "trunc", "rint", "sign", "square", "reciprocal", "mod", "floordiv",
)  # fmt: skip
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
UNARY_FUNCTIONS = (
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos",
    "atan", "sinh", "cosh", "tanh", "erf", "erfc", "cbrt", "asinh", "acosh", "atanh",
    "gamma", "lgamma", "sinc", "ufp",
)  # fmt: skip
BINARY_FUNCTIONS = ("atan2", "pow", "hypot")


def arithmetic(a, b, c, out):
    for i in range(a.size):
        out[0, i] = a[i] + b[i]
        out[1, i] = a[i] - b[i]
        out[2, i] = a[i] * b[i]
        out[3, i] = a[i] / b[i]
        out[4, i] = math.sqrt(a[i])
        out[5, i] = fma(a[i], b[i], c[i])


def selection(a, b, out):
    for i in range(a.size):
        x, y = a[i], b[i]
        out[0, i] = min(x, y)
        out[1, i] = max(x, y)
        out[2, i] = np.minimum(x, y)
        out[3, i] = np.maximum(x, y)
        out[4, i] = np.fmin(x, y)
        out[5, i] = np.fmax(x, y)
        out[6, i] = math.copysign(x, y)
        out[7, i] = -x
        out[8, i] = abs(x)
        out[9, i] = np.floor(x)
        out[10, i] = np.ceil(x)
        out[11, i] = np.trunc(x)
        out[12, i] = np.rint(x)
        out[13, i] = np.sign(x)
        out[14, i] = np.square(x)
        out[15, i] = np.reciprocal(x)
        out[16, i] = x % y
        out[17, i] = x // y


def comparisons(a, b, out):
    for i in range(a.size):
        out[0, i] = a[i] < b[i]
        out[1, i] = a[i] <= b[i]
        out[2, i] = a[i] > b[i]
        out[3, i] = a[i] >= b[i]
        out[4, i] = a[i] == b[i]
        out[5, i] = a[i] != b[i]


def unary_functions(a, out):
    for i in range(a.size):
        x = a[i]
        out[0, i] = math.exp(x)
        out[1, i] = np.exp2(x)
        out[2, i] = math.expm1(x)
        out[3, i] = math.log(x)
        out[4, i] = math.log2(x)
        out[5, i] = math.log10(x)
        out[6, i] = math.log1p(x)
        out[7, i] = math.sin(x)
        out[8, i] = math.cos(x)
        out[9, i] = math.tan(x)
        out[10, i] = math.asin(x)
        out[11, i] = math.acos(x)
        out[12, i] = math.atan(x)
        out[13, i] = math.sinh(x)
        out[14, i] = math.cosh(x)
        out[15, i] = math.tanh(x)
        out[16, i] = math.erf(x)
        out[17, i] = math.erfc(x)
        out[18, i] = np.cbrt(x)
        out[19, i] = math.asinh(x)
        out[20, i] = math.acosh(x)
        out[21, i] = math.atanh(x)
        out[22, i] = math.gamma(x)
        out[23, i] = math.lgamma(x)
        out[24, i] = np.sinc(x)
        out[25, i] = ufp(x)


def binary_functions(a, b, out):
    for i in range(a.size):
        out[0, i] = math.atan2(a[i], b[i])
        out[1, i] = a[i] ** b[i]
        out[2, i] = math.hypot(a[i], b[i])


def from_integers(whole, out):
    for i in range(whole.size):
        out[i] = 1.0 * whole[i]


def to_integers(a, whole):
    for i in range(a.size):
        whole[i] = int(a[i])


TENTH = 0.1
SEVENTHS = (1.0 / 7.0, -2.0 / 7.0)
TABLE = np.array([0.3, -0.7, 1e-30, 2.0**127 * 1.99])


def constants(out):
    out[0] = 0.1
    out[1] = TENTH
    out[2] = SEVENTHS[0]
    out[3] = SEVENTHS[1]
    out[4] = math.pi
    out[5] = np.e
    out[6] = -1e-45
    out[7] = 1e300
    out[8] = 16777217


CONSTANTS = (0.1, TENTH, *SEVENTHS, math.pi, math.e, -1e-45, 1e300, 16777217.0)


def constant_array(out):
    for i in range(TABLE.size):
        out[i] = TABLE[i]


def constant_expressions(one, out):
    out[0] = 1.0 / 3.0
    out[1] = 0.1 * 0.3
    out[2] = one[0] * 33554431
    out[3] = math.sqrt(2.0)
    out[4] = 2 / 3
    out[5] = 1.0 / TABLE[0]
    out[6] = 7.0 % 0.3
    out[7] = 1e-30 * 1e-30
    out[8] = 0.1**3
    y = 0.1
    for i in range(4):
        y = y * 1.7
        out[9 + i] = 1.0 / (i + 33554431)
    out[13] = y


def copied(a, out):
    for i in range(a.size):
        out[i] = a[i]
