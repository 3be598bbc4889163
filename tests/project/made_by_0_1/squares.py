import numpy as np


def kernel(x, out):
    s = 0.0
    for i in range(x.size):
        s += x[i] * x[i]
        out[i] = s / 3.0


def given():
    return {"x": np.linspace(0.1, 1.0, 20), "out": np.zeros(20)}
