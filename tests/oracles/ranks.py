"""How many elements, and which: Python's floats, to nearest, as `sciprec.precision.library.places`
says.
"""

import math


def _rank(n, q, percent):
    """1 + (n - 1) q percent / 100, as NumPy and Numba count."""
    return 1 + (n - 1) * (float(q) * percent / 100.0)


def index_of_rank(n, q, percent):
    if not 0.0 <= float(q) * percent <= 100.0:
        return -1
    return n - 1 if float(q) * percent == 100.0 else math.floor(_rank(n, q, percent)) - 1


def fraction_of_rank(n, q, percent):
    return math.modf(_rank(n, q, percent))[0]


def number_of_steps(start, stop, step):
    if step == 0:
        raise ValueError("a step of zero in np.arange")
    return max(math.ceil((float(stop) - float(start)) / step), 0)
