"""Uniform, normal, gamma and Poisson variates in binary64, addressed by (seed, path, step).

For schemes that draw as many numbers as they happen to need. A cursor is an int64 array: the
address, the number of the next four Philox words, those words, and how many of them are used.
"""

import math

from numba import njit

from sciprec.precision.streams import philox4x32

CURSOR = 11  # path low, path high, step, block, key low, key high, four words, words used
INVERSION_BELOW = 10.0  # Poisson means up to which the distribution function is searched

_philox = njit(inline="never")(philox4x32)


@njit(nogil=True)
def point_at(cursor, path, step, key_0, key_1):
    """Set the cursor to the first word of (seed, path, step)."""
    cursor[0] = path & 0xFFFFFFFF
    cursor[1] = path >> 32
    cursor[2] = step
    cursor[3] = 0
    cursor[4] = key_0
    cursor[5] = key_1
    cursor[10] = 4


@njit(nogil=True)
def uniform(cursor):
    """Return the next uniform in (0, 1): (52 bits of two words + 1/2) / 2^52."""
    if cursor[10] == 4:
        w0, w1, w2, w3 = _philox(
            cursor[0], cursor[1], cursor[2], cursor[3], cursor[4], cursor[5]
        )  # fmt: skip
        cursor[6] = w0
        cursor[7] = w1
        cursor[8] = w2
        cursor[9] = w3
        cursor[3] += 1
        cursor[10] = 0
    at = 6 + cursor[10]
    cursor[10] += 2
    return (float((cursor[at] << 20) | (cursor[at + 1] >> 12)) + 0.5) * 2.0**-52


@njit(nogil=True)
def normal(cursor):
    """Return a standard normal variate by Box and Muller (1958)."""
    radius = math.sqrt(-2.0 * math.log(uniform(cursor)))
    return radius * math.cos(2.0 * math.pi * uniform(cursor))


@njit(nogil=True)
def gamma(shape, cursor):
    """Return a gamma variate of scale 1.

    Source: Marsaglia and Tsang (2000), "A simple method for generating gamma variables", secs 2
        and 6: d (1 + c x)^3 with d = a - 1/3, c = 1 / sqrt(9 d) by rejection; shapes below one by
        gamma(a + 1) U^(1/a).
    """
    boost = 1.0
    if shape < 1.0:
        boost = uniform(cursor) ** (1.0 / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal(cursor)
        v = 1.0 + c * x
        if v > 0.0:
            v = v * v * v
            if math.log(uniform(cursor)) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
                return d * v * boost


@njit(nogil=True)
def poisson(mean, cursor):
    """Return a Poisson variate.

    Below INVERSION_BELOW by searching the distribution function upwards, else by transformed
    rejection with a hat of the form (2 a / (1/2 - |U|) + b) U + mean + 0.43.

    Source: Hoermann (1993), "The transformed rejection method for generating Poisson random
        variables", algorithm PTRS.
    """
    if mean < INVERSION_BELOW:
        return _poisson_by_inversion(mean, cursor)
    b = 0.931 + 2.53 * math.sqrt(mean)
    a = -0.059 + 0.02483 * b
    log_inverse_alpha = math.log(1.1239 + 1.1328 / (b - 3.4))
    quick = 0.9277 - 3.6224 / (b - 2.0)
    while True:
        u = uniform(cursor) - 0.5
        v = uniform(cursor)
        side = 0.5 - abs(u)
        count = math.floor((2.0 * a / side + b) * u + mean + 0.43)
        if side >= 0.07 and v <= quick:
            return count
        if count < 0 or (side < 0.013 and v > side):
            continue
        hat = math.log(v) + log_inverse_alpha - math.log(a / (side * side) + b)
        if hat <= count * math.log(mean) - mean - math.lgamma(count + 1.0):
            return count


@njit(nogil=True)
def _poisson_by_inversion(mean, cursor):
    """Return the smallest n whose distribution function passes a uniform."""
    u = uniform(cursor)
    chance = math.exp(-mean)
    count = 0.0
    while u > chance and chance > 0.0:
        u -= chance
        count += 1.0
        chance *= mean / count
    return count
