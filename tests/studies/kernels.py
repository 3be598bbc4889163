"""Kernels that are studied in tests."""

import numpy as np


def diffuse(u, alpha, steps, path):
    """Explicit diffusion on a line: `u` ends as the last row of `path`; returns the sum."""
    n = u.size
    for t in range(steps):
        left = u[0]
        for i in range(1, n - 1):
            here = u[i]
            u[i] = here + alpha * (left - 2.0 * here + u[i + 1])
            left = here
        for i in range(n):
            path[t, i] = u[i]
    return np.sum(u)


def inputs(n=17, steps=6, power=1):
    """The arguments of `diffuse`."""
    u = np.sin(np.pi * np.arange(n) / (n - 1)) ** power
    return {"u": u, "alpha": 0.4, "steps": steps, "path": np.zeros((steps, n))}


def moved(x, y):
    """Nothing but roundings: y = x."""
    for i in range(x.size):
        y[i] = x[i]


def pair(x, y):
    """Two results; `y` is only read."""
    return x * y[0], y.size


def failing(x, y):
    """Ends with an error where x is large."""
    y[0] = x
    if x > 2.0:
        raise ValueError("x is too large")


def reads(x):
    """Returns nothing and writes nothing."""
    s = 0.0
    for i in range(x.size):
        s += x[i]


def titled(health):
    """Writes an array whose name every file has."""
    health[0] = 1.0


def divided(x, y):
    """Other shapes than given."""
    return x[: int(y[0])] / 3.0


made = "no function"


def newton(a, tolerance):
    """The root of a by Newton's iteration, and its corrections."""
    corrections = np.zeros(60)
    x, n = a, 0
    while n < 60:
        new = 0.5 * (x + a / x)
        corrections[n] = abs(new - x)
        n += 1
        if abs(new - x) <= tolerance * abs(new):
            break
        x = new
    return x, corrections[:n]


def moved_there_and_back(x, out):
    for i in range(x.size):
        out[i] = (x[i] + 1e4) - 1e4
