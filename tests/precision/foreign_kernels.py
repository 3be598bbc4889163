"""Kernels as other people write them: nothing here was written with this project's rules in mind.
"""

import math

import numpy as np
from numba import njit, prange

GRAVITY = 9.80665
SOFTENING = np.float64(1e-3)
WEIGHTS = np.array([1.0, 4.0, 2.0, 4.0, 1.0])
STAGES = (0.5, 0.5, 1.0)


@njit
def lorenz(t, y):
    out = np.empty_like(y)
    out[0] = 10.0 * (y[1] - y[0])
    out[1] = y[0] * (28.0 - y[2]) - y[1]
    out[2] = y[0] * y[1] - 8.0 / 3.0 * y[2]
    return out


def runge_kutta(y, dt, steps):
    """Classical RK4 with whole-array expressions and a right-hand side from the module."""
    t = 0.0
    for _ in range(steps):
        k1 = lorenz(t, y)
        k2 = lorenz(t + dt / 2, y + dt / 2 * k1)
        k3 = lorenz(t + dt / 2, y + dt / 2 * k2)
        k4 = lorenz(t + dt, y + dt * k3)
        y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t += dt
    return y


def decay(t, y):
    return -0.5 * y + math.sin(t)


def heun(f, y, t, dt, steps):
    """The right-hand side is an argument."""
    for _ in range(steps):
        slope = f(t, y)
        y += 0.5 * dt * (slope + f(t + dt, y + dt * slope))
        t = t + dt
    return y


@njit(cache=False)
def heat(u, out, alpha):
    """Five-point stencil on a 2-D array, an existing njit function."""
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            lap = u[i + 1, j] + u[i - 1, j] + u[i, j + 1] + u[i, j - 1] - 4 * u[i, j]
            out[i, j] = u[i, j] + alpha * lap
    out[0, :] = u[0, :]
    out[-1, :] = u[-1, :]


def n_body(position, velocity, mass, dt):
    n = position.shape[0]
    for i in range(n):
        ax, ay, az = 0.0, 0.0, 0.0
        for j in range(n):
            if i != j:
                dx = position[j, 0] - position[i, 0]
                dy = position[j, 1] - position[i, 1]
                dz = position[j, 2] - position[i, 2]
                r2 = dx**2 + dy**2 + dz**2 + SOFTENING
                inv = mass[j] / (r2 * np.sqrt(r2))
                ax += dx * inv
                ay += dy * inv
                az += dz * inv
        velocity[i, 0] += dt * ax
        velocity[i, 1] += dt * ay
        velocity[i, 2] += dt * az
    for i in range(n):
        for k in range(3):
            position[i, k] += dt * velocity[i, k]


def newton_root(x, tolerance):
    """A while loop with two exits and a chained comparison."""
    guess = x if x > 1 else 1.0
    count = 0
    while True:
        better = 0.5 * (guess + x / guess)
        count += 1
        if abs(better - guess) <= tolerance * better or not 0 < count < 60:
            return better, count
        guess = better


@njit
def halves(a, low, high):
    """Recursion over an array."""
    if high - low < 3:
        s = 0.0
        for i in range(low, high):
            s += a[i]
        return s
    middle = (low + high) // 2
    return halves(a, low, middle) + halves(a, middle, high)


def horner(coefficients, x):
    result = coefficients[-1]
    for c in coefficients[-2::-1]:
        result = result * x + c
    return result


def fall(height, drag):
    """Module constants, np and math spellings, conditional expressions, tuples."""
    v = np.sqrt(2 * GRAVITY * height)
    limit = math.inf if drag == 0 else math.sqrt(GRAVITY / drag)
    pair = (v, limit)
    fastest = min(pair[0], pair[1])
    return fastest, -fastest if drag > 0.5 else fastest / math.pi


def simpson(values, h):
    """A module array and a module tuple."""
    s = 0.0
    for i, w in enumerate(WEIGHTS):
        s += w * values[i]
    for stage in STAGES:
        s *= stage
    return s * h / 3


@njit(parallel=True)
def parallel_statistics(x, out):
    """prange with two reductions and a private variable."""
    total = 0.0
    peak = -1.0
    for i in prange(x.size):
        y = x[i] * x[i]
        total += y
        peak = max(peak, y)
        out[i] = y - 1.0
    return total / x.size, peak


def normalise(x):
    """Reductions, slices, whole-array updates."""
    y = x - np.mean(x)
    y /= np.sqrt(np.dot(y, y))
    y[1:-1] *= 2.0
    y[::2] -= 0.25
    return y, np.sum(y), y.max(), np.abs(y).min()


def tridiagonal(a, b, c, d, x):
    """Thomas algorithm: loop-carried values, negative steps."""
    n = d.size
    cp = np.zeros(n)
    dp = np.zeros(n)
    cp[0] = c[0] / b[0]
    dp[0] = d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * cp[i - 1]
        cp[i] = c[i] / m
        dp[i] = (d[i] - a[i] * dp[i - 1]) / m
    x[n - 1] = dp[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = dp[i] - cp[i] * x[i + 1]


def make_scaled(factor):
    """A closure over a constant."""

    def scaled(x, out):
        for i in range(len(x)):
            out[i] = factor * x[i] ** 3 + 1 / (i + 1)

    return scaled


scaled = make_scaled(0.3)


def logistic(x, r, steps):
    def step(v):
        return r * v * (1 - v)

    for _ in range(steps):
        x = step(x)
    return x


def _r(seed):
    return np.random.default_rng(seed)


EXAMPLES = {
    runge_kutta: lambda: (np.array([1.0, 1.0, 1.0]), 0.01, 10),
    heat: lambda: (_r(0).random((9, 11)), np.zeros((9, 11)), 0.1),
    n_body: lambda: (_r(1).random((5, 3)), _r(2).random((5, 3)), _r(3).random(5), 0.01),
    newton_root: lambda: (7.3, 1e-2),
    halves: lambda: (_r(4).random(37), 0, 37),
    horner: lambda: (_r(5).random(6), 0.7),
    fall: lambda: (12.5, 0.7),
    simpson: lambda: (_r(6).random(5), 0.1),
    parallel_statistics: lambda: (_r(9).random(40), np.zeros(40)),
    normalise: lambda: (_r(10).random(12),),
    tridiagonal: lambda: (
        _r(11).random(8), 3 + _r(12).random(8), _r(13).random(8), _r(14).random(8), np.zeros(8)
    ),
    scaled: lambda: (_r(18).random(10), np.zeros(10)),
    logistic: lambda: (0.3, 3.7, 12),
}  # fmt: skip
"""kernel -> a maker of its arguments."""
