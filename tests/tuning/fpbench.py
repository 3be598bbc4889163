"""Kernels of the FPBench suite (formulas: Darulova & Kuncak, POPL 2014) and two loops, over arrays
of inputs from the ranges that the suite gives.
"""

import math

import numpy as np


def doppler1(u, v, t, out):
    for i in range(out.size):
        t1 = 331.4 + 0.6 * t[i]
        out[i] = (-t1 * v[i]) / ((t1 + u[i]) * (t1 + u[i]))


def turbine1(v, w, r, out):
    for i in range(out.size):
        rr = r[i] * r[i]
        out[i] = (
            3.0 + 2.0 / rr - 0.125 * (3.0 - 2.0 * v[i]) * (w[i] * w[i] * rr) / (1.0 - v[i]) - 4.5
        )


def jet(x1, x2, out):
    for i in range(out.size):
        a = x1[i]
        t = 3.0 * a * a + 2.0 * x2[i] - a
        tt = 3.0 * a * a - 2.0 * x2[i] - a
        d = a * a + 1.0
        s = t / d
        first = (2.0 * a * s * (s - 3.0) + a * a * (4.0 * s - 6.0)) * d
        out[i] = a + (first + 3.0 * a * a * s + a * a * a + a + 3.0 * (tt / d))


def sqroot(x, out):
    for i in range(out.size):
        y = x[i]
        out[i] = 1.0 + 0.5 * y - 0.125 * y * y + 0.0625 * y * y * y - 0.0390625 * y * y * y * y


def cart_theta(x, y, out):
    for i in range(out.size):
        out[i] = math.atan(y[i] / x[i]) * (180.0 / 3.14159265359)


def kepler0(x1, x2, x3, x4, x5, x6, out):
    for i in range(out.size):
        pairs = x2[i] * x5[i] + x3[i] * x6[i] - x2[i] * x3[i] - x5[i] * x6[i]
        out[i] = pairs + x1[i] * (-x1[i] + x2[i] + x3[i] - x4[i] + x5[i] + x6[i])


def carbongas(v, out):
    for i in range(out.size):
        n = 1000.0
        q = n / v[i]
        pressure = 35000000.0 + 0.401 * (q * q)
        out[i] = pressure * (v[i] - n * 0.0000427) - 1.3806503e-23 * n * 300.0


def verhulst(x, out):
    for i in range(out.size):
        out[i] = (4.0 * x[i]) / (1.0 + x[i] / 1.11)


def predprey(x, out):
    for i in range(out.size):
        q = x[i] / 1.11
        out[i] = (4.0 * x[i] * x[i]) / (1.0 + q * q)


def rigidbody2(x1, x2, x3, out):
    for i in range(out.size):
        a, b, c = x1[i], x2[i], x3[i]
        out[i] = 2.0 * (a * b * c) + 3.0 * c * c - b * (a * b * c) + 3.0 * c * c - b


def logistic(x, out):
    for i in range(out.size):
        y = x[i]
        for _ in range(12):
            y = 3.75 * y * (1.0 - y)
        out[i] = y


def nbody2(px, py, vx, vy, out):
    for i in range(out.size):
        x, y, u, v = px[i], py[i], vx[i], vy[i]
        for _ in range(20):
            r2 = x * x + y * y
            r3 = r2 * math.sqrt(r2)
            u = u - 0.01 * x / r3
            v = v - 0.01 * y / r3
            x = x + 0.01 * u
            y = y + 0.01 * v
        out[i] = x


RANGES = {
    "doppler1": [(-100, 100), (20, 20000), (-30, 50)],
    "turbine1": [(-4.5, -0.3), (0.4, 0.9), (3.8, 7.8)], "jet": [(-5, 5), (-20, 5)],
    "sqroot": [(0, 1)], "cart_theta": [(1, 100), (1, 100)], "kepler0": [(4, 6.36)] * 6,
    "carbongas": [(0.1, 0.5)], "verhulst": [(0.1, 0.3)], "predprey": [(0.1, 0.3)],
    "rigidbody2": [(-15, 15)] * 3, "logistic": [(0.1, 0.9)],
    "nbody2": [(0.9, 1.1), (-0.1, 0.1), (-0.1, 0.1), (0.9, 1.1)],
}  # fmt: skip
KERNELS = {name: globals()[name] for name in RANGES}


def inputs_of(name: str, seed: int, count: int = 2000) -> list[np.ndarray]:
    """Inputs of a kernel, uniform in their ranges."""
    rng = np.random.default_rng(seed)
    return [rng.uniform(low, high, count) for low, high in RANGES[name]]
