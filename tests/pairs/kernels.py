"""Kernels of a few lines that are run in pairs."""

import math

import numpy as np


def add(x, y, out):
    for i in range(x.size):
        out[i] = x[i] + y[i]


def sub(x, y, out):
    for i in range(x.size):
        out[i] = x[i] - y[i]


def mul(x, y, out):
    for i in range(x.size):
        out[i] = x[i] * y[i]


def div(x, y, out):
    for i in range(x.size):
        out[i] = x[i] / y[i]


def mod(x, y, out):
    for i in range(x.size):
        out[i] = x[i] % y[i]


def fmod(x, y, out):
    for i in range(x.size):
        out[i] = math.fmod(x[i], y[i])


def floordiv(x, y, out):
    for i in range(x.size):
        out[i] = x[i] // y[i]


def smaller(x, y, out):
    for i in range(x.size):
        out[i] = min(x[i], y[i])


def larger(x, y, out):
    for i in range(x.size):
        out[i] = np.maximum(x[i], y[i])


def decided(x, y, out):
    """Every comparison of two numbers, as the bits of a number."""
    for i in range(x.size):
        a, b = x[i], y[i]
        bits = 1 * (a < b) + 2 * (a <= b) + 4 * (a > b) + 8 * (a >= b) + 16 * (a == b)
        out[i] = bits + 32 * (a != b) + 64 * (a < b < a + 1.0) + 128 * (a < 3)


def roots(x, y, out):
    for i in range(x.size):
        out[i] = math.sqrt(x[i])


def to_whole(x, y, out):
    for i in range(x.size):
        out[i, 0] = np.floor(x[i])
        out[i, 1] = np.ceil(x[i])
        out[i, 2] = np.trunc(x[i])
        out[i, 3] = np.rint(x[i])
        out[i, 4] = int(x[i])
        out[i, 5] = math.floor(x[i])
        out[i, 6] = math.ceil(x[i])
        out[i, 7] = round(x[i])


def signs(x, y, out):
    for i in range(x.size):
        out[i] = abs(x[i]) + np.sign(x[i]) - math.copysign(y[i], x[i]) + (-y[i])
