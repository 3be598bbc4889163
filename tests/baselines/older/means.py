"""A kernel that returns two numbers, and its arguments."""


def means(x, w):
    total, weighted = 0.0, 0.0
    for i in range(x.size):
        total += x[i]
        weighted += w[i] * x[i]
    return total / x.size, weighted / x.size


def start():
    import numpy as np

    return {"x": 1.0 / np.arange(1.0, 9.0), "w": np.arange(8.0) / 7.0}
