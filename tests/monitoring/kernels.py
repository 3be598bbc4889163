"""Kernels that are watched; the tests name their lines by the comments."""

import numpy as np


def flux(a, b):
    return 0.5 * (a + b)  # in flux


def spread(h, steps, rate):
    """Diffusion on a ring; each step is a pass of the outer loop."""
    total = 0.0  # before
    change = np.zeros(h.size)
    for _ in range(steps):
        total = 0.0
        for i in range(h.size):
            near = flux(h[i - 1], h[(i + 1) % h.size])
            change[i] = rate * (near - h[i])  # change
        for i in range(h.size):
            h[i] += change[i]
            total += h[i] * h[i]
        if total < 0.0:
            continue
    mean = total / h.size  # after
    return mean, total  # returned


def faulty(h, steps, kind, when, where):
    """A state that stays as it is but for rounding; from one step on something happens to it."""
    for step in range(1, steps + 1):
        for i in range(h.size):
            h[i] = h[i] + 0.001 * (1.0 - h[i])
        if step == when:
            if kind == 1:
                h[where] = 0.0 * (h[where] / 0.0)
            elif kind == 2:
                h[where] = h[where] / 0.0
            elif kind == 3:
                h[where] = 300.0 * np.sqrt(h.size * 1.0)
        if kind == 4 and step >= when:
            for i in range(h.size):
                h[i] = h[i] + 0.25


def whole(n, x):
    """Integers, branches, an array made in the loop, and a return inside it."""
    count = 0
    y = x
    while count < n:
        count += 1
        y = 2.0 * y - x
        if y[0] > 1e30:
            return y
    return y


def quiet(h, steps, rate, count):
    """Beside numbers what has no digits: integers, a tuple, and a rate that stays."""
    total = 0.0
    for step in range(steps):
        for i in range(h.size):
            total = total + h[i] * rate
            h[i] = h[i] * rate
        both = (total, 2.0 * total)
        count[0] = count[0] + 1 + step
        total = both[1] - both[0]
    return total


def leaving(x, bad, where, out):
    """A sum that is finite whatever the kernel leaves: bad / 0 at a place, and its double."""
    watched = 0.0
    for i in range(x.size):
        watched += x[i]
    for i in range(out.size):
        if i == where:
            out[i] = bad / (x[0] - x[0])
    return 2.0 * (bad / (x[0] - x[0])) if where == out.size else watched
