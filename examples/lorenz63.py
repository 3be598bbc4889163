"""Convection after Lorenz (1963), 10.1175/1520-0469(1963)020<0130:DNF>2.0.CO;2, equations 25 to 27.

    sciprec study examples/lorenz63.py:lorenz63 --inputs examples/lorenz63.py:start \
        --backend fp32 --backend mlu370 --tolerance path=1e-3 --axes path=time,component \
        --out reports/lorenz63
"""

import numpy as np

STEP = 0.01
STEPS = 500


def slopes(s, out):
    """dX/dt = sigma (Y - X), dY/dt = r X - Y - X Z, dZ/dt = X Y - b Z."""
    out[0] = 10.0 * (s[1] - s[0])
    out[1] = 28.0 * s[0] - s[1] - s[0] * s[2]
    out[2] = s[0] * s[1] - 8.0 / 3.0 * s[2]


def lorenz63(s, h, path):
    """Runge and Kutta's scheme of fourth order: `path` (steps, 3) gets the state after each."""
    k1, k2, k3, k4, x = np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3)
    for n in range(path.shape[0]):
        slopes(s, k1)
        for i in range(3):
            x[i] = s[i] + 0.5 * h * k1[i]
        slopes(x, k2)
        for i in range(3):
            x[i] = s[i] + 0.5 * h * k2[i]
        slopes(x, k3)
        for i in range(3):
            x[i] = s[i] + h * k3[i]
        slopes(x, k4)
        for i in range(3):
            s[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i])
            path[n, i] = s[i]


def start():
    """Lorenz's own start, (0, 1, 0), and room for five units of time."""
    return {"s": np.array([0.0, 1.0, 0.0]), "h": STEP, "path": np.zeros((STEPS, 3))}


def on_the_attractor():
    """A state that lies near the attractor."""
    return {"s": np.array([-9.5, -3.1, 34.0]), "h": STEP, "path": np.zeros((STEPS, 3))}
