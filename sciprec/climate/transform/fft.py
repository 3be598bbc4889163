"""The Fourier stage as a fast transform: real series of N longitudes by complex ones of N / 2.

Sixteen latitudes are transformed together, lane by lane, in buffers that the first cache holds: an
element of a buffer is a row of 16 real and 16 imaginary parts. Stages have radix 4, a 2 where the
length asks for one, and at last 3, 4 or 5. Each reads rows that lie a share of the length apart and
writes rows side by side; the result is in digit-reversed order, which a table undoes.
The inverse transform is the forward one with real and imaginary parts exchanged.

Source: Cooley and Tukey (1965); Pease (1968) for stages of equal geometry.
"""

from __future__ import annotations

import numpy as np

from sciprec.climate.transform.fourier import circle
from sciprec.climate.transform.legendre_stage import LANES, PAIR
from sciprec.precision.registry import kernel


def radices(length: int) -> list[int]:
    """The radices of the stages of a complex transform, in order."""
    factors, rest = [], length
    while rest > 5:
        factors.append(2 if rest % 16 == 8 else 4)
        rest //= factors[-1]
    return [*factors, rest]


def is_supported(nlon: int) -> bool:
    """Whether nlon / 2 is 1, 3 or 5 times a power of two, and a multiple of 4."""
    rest = nlon // 2
    if nlon < 8 or nlon % 8:
        return False
    while rest % 2 == 0:
        rest //= 2
    return rest in (1, 3, 5)


def smallest_length(least: int) -> int:
    """The smallest number of longitudes, at least `least`, that the transform takes."""
    nlon = max(8, -(-least // 8) * 8)
    while not is_supported(nlon):
        nlon += 8
    return nlon


def _random(*shape):
    return np.random.default_rng(13).uniform(-1.0, 1.0, shape)


def turned_butterfly_4(x, b, step, y, wave):
    """A radix-4 butterfly of rows b + n step of x, its results turned by the waves.

    Args:
        x: (rows, 32).
        b, step: which rows.
        y: (128,), written: four rows.
        wave: (6,): cosine and sine of one, two and three angles.
    """
    x0 = x[b]
    x1 = x[b + step]
    x2 = x[b + 2 * step]
    x3 = x[b + 3 * step]
    cos1 = wave[0]
    sin1 = wave[1]
    cos2 = wave[2]
    sin2 = wave[3]
    cos3 = wave[4]
    sin3 = wave[5]
    for c in range(LANES):
        even_re = x0[c] + x2[c]
        even_im = x0[LANES + c] + x2[LANES + c]
        apart_re = x0[c] - x2[c]
        apart_im = x0[LANES + c] - x2[LANES + c]
        odd_re = x1[c] + x3[c]
        odd_im = x1[LANES + c] + x3[LANES + c]
        across_re = x1[c] - x3[c]
        across_im = x1[LANES + c] - x3[LANES + c]
        y[c] = even_re + odd_re
        y[LANES + c] = even_im + odd_im
        re1 = apart_re + across_im
        im1 = apart_im - across_re
        y[2 * LANES + c] = cos1 * re1 + sin1 * im1
        y[3 * LANES + c] = cos1 * im1 - sin1 * re1
        re2 = even_re - odd_re
        im2 = even_im - odd_im
        y[4 * LANES + c] = cos2 * re2 + sin2 * im2
        y[5 * LANES + c] = cos2 * im2 - sin2 * re2
        re3 = apart_re - across_im
        im3 = apart_im + across_re
        y[6 * LANES + c] = cos3 * re3 + sin3 * im3
        y[7 * LANES + c] = cos3 * im3 - sin3 * re3


def butterfly_4(x, b, step, y):
    """`turned_butterfly_4` with all angles zero."""
    x0 = x[b]
    x1 = x[b + step]
    x2 = x[b + 2 * step]
    x3 = x[b + 3 * step]
    for c in range(LANES):
        even_re = x0[c] + x2[c]
        even_im = x0[LANES + c] + x2[LANES + c]
        apart_re = x0[c] - x2[c]
        apart_im = x0[LANES + c] - x2[LANES + c]
        odd_re = x1[c] + x3[c]
        odd_im = x1[LANES + c] + x3[LANES + c]
        across_re = x1[c] - x3[c]
        across_im = x1[LANES + c] - x3[LANES + c]
        y[c] = even_re + odd_re
        y[LANES + c] = even_im + odd_im
        y[2 * LANES + c] = apart_re + across_im
        y[3 * LANES + c] = apart_im - across_re
        y[4 * LANES + c] = even_re - odd_re
        y[5 * LANES + c] = even_im - odd_im
        y[6 * LANES + c] = apart_re - across_im
        y[7 * LANES + c] = apart_im + across_re


def turned_butterfly_2(x, b, step, y, wave):
    """A radix-2 butterfly of rows b and b + step of x, its second result turned by wave[:2].

    Args:
        x, b, step, wave: as in `turned_butterfly_4`.
        y: (64,), written: two rows.
    """
    x0 = x[b]
    x1 = x[b + step]
    cosine = wave[0]
    sine = wave[1]
    for c in range(LANES):
        y[c] = x0[c] + x1[c]
        y[LANES + c] = x0[LANES + c] + x1[LANES + c]
        re = x0[c] - x1[c]
        im = x0[LANES + c] - x1[LANES + c]
        y[2 * LANES + c] = cosine * re + sine * im
        y[3 * LANES + c] = cosine * im - sine * re


COS_120 = -0.5
SIN_120 = 0.8660254037844386467637231707529362


def butterfly_3(x, b, step, y):
    """A radix-3 butterfly of rows b + n step of x; y: (96,), written: three rows."""
    x0 = x[b]
    x1 = x[b + step]
    x2 = x[b + 2 * step]
    for c in range(LANES):
        sum_re = x1[c] + x2[c]
        sum_im = x1[LANES + c] + x2[LANES + c]
        apart_re = SIN_120 * (x1[c] - x2[c])
        apart_im = SIN_120 * (x1[LANES + c] - x2[LANES + c])
        re = x0[c] + COS_120 * sum_re
        im = x0[LANES + c] + COS_120 * sum_im
        y[c] = x0[c] + sum_re
        y[LANES + c] = x0[LANES + c] + sum_im
        y[2 * LANES + c] = re + apart_im
        y[3 * LANES + c] = im - apart_re
        y[4 * LANES + c] = re - apart_im
        y[5 * LANES + c] = im + apart_re


COS_72 = 0.3090169943749474241022934171828191
COS_144 = -0.8090169943749474241022934171828191
SIN_72 = 0.9510565162951535721164393333793821
SIN_144 = 0.5877852522924731291687059546390728


@kernel(example=lambda: (_random(5, PAIR), 0, 1, np.zeros(5 * PAIR)))
def butterfly_5(x, b, step, y):
    """A radix-5 butterfly of rows b + n step of x; y: (160,), written: five rows."""
    x0 = x[b]
    x1 = x[b + step]
    x2 = x[b + 2 * step]
    x3 = x[b + 3 * step]
    x4 = x[b + 4 * step]
    for c in range(LANES):
        near_re = x1[c] + x4[c]
        near_im = x1[LANES + c] + x4[LANES + c]
        far_re = x2[c] + x3[c]
        far_im = x2[LANES + c] + x3[LANES + c]
        y[c] = x0[c] + (near_re + far_re)
        y[LANES + c] = x0[LANES + c] + (near_im + far_im)
        re1 = x0[c] + (COS_72 * near_re + COS_144 * far_re)
        im1 = x0[LANES + c] + (COS_72 * near_im + COS_144 * far_im)
        re2 = x0[c] + (COS_144 * near_re + COS_72 * far_re)
        im2 = x0[LANES + c] + (COS_144 * near_im + COS_72 * far_im)
        across_re = x1[c] - x4[c]
        across_im = x1[LANES + c] - x4[LANES + c]
        aside_re = x2[c] - x3[c]
        aside_im = x2[LANES + c] - x3[LANES + c]
        turn1_re = SIN_72 * across_re + SIN_144 * aside_re
        turn1_im = SIN_72 * across_im + SIN_144 * aside_im
        turn2_re = SIN_144 * across_re - SIN_72 * aside_re
        turn2_im = SIN_144 * across_im - SIN_72 * aside_im
        y[2 * LANES + c] = re1 + turn1_im
        y[3 * LANES + c] = im1 - turn1_re
        y[4 * LANES + c] = re2 + turn2_im
        y[5 * LANES + c] = im2 - turn2_re
        y[6 * LANES + c] = re2 - turn2_im
        y[7 * LANES + c] = im2 + turn2_re
        y[8 * LANES + c] = re1 - turn1_im
        y[9 * LANES + c] = im1 + turn1_re


def last_stage(x, y):
    """The stage without turns, whose radix is what the others have left: 3, 4 or 5.

    Returns:
        Its radix.
    """
    rows = x.shape[0]
    flat = y.ravel()
    radix = 4
    if rows % 3 == 0:
        radix = 3
        for b in range(rows // 3):
            butterfly_3(x, b, rows // 3, flat[3 * PAIR * b : 3 * PAIR * (b + 1)])
    elif rows % 5 == 0:
        radix = 5
        for b in range(rows // 5):
            butterfly_5(x, b, rows // 5, flat[5 * PAIR * b : 5 * PAIR * (b + 1)])
    else:
        for b in range(rows // 4):
            butterfly_4(x, b, rows // 4, flat[4 * PAIR * b : 4 * PAIR * (b + 1)])
    return radix


def stage_4(x, y, done, first, waves):
    """A radix-4 stage after `done`, the product of the radices before it.

    Args:
        x: (rows, 32).
        y: (rows, 32), written.
        done: product of the radices so far.
        first: the stage's first row of waves.
        waves: (rows, 6), from `stage_waves`.
    """
    step = x.shape[0] // 4
    flat = y.ravel()
    for b in range(done):
        butterfly_4(x, b, step, flat[4 * PAIR * b : 4 * PAIR * (b + 1)])
    for b in range(done, step):
        wave = waves[first + b // done]
        turned_butterfly_4(x, b, step, flat[4 * PAIR * b : 4 * PAIR * (b + 1)], wave)


def stage_2(x, y, done, first, waves):
    """A radix-2 stage; see `stage_4`."""
    step = x.shape[0] // 2
    flat = y.ravel()
    for b in range(step):
        wave = waves[first + b // done]
        turned_butterfly_2(x, b, step, flat[2 * PAIR * b : 2 * PAIR * (b + 1)], wave)


@kernel(example=lambda: (_random(2, 24, PAIR), stage_waves(24)))
def fast_fourier(buffers, waves):
    """z[k] = sum over n of x[n] exp(-2 pi i k n / M) in 16 lanes.

    Args:
        buffers: (2, M, 32): x in the first, overwritten.
        waves: from `stage_waves`.

    Returns:
        Which of the buffers holds z, in the order of `digit_reversed`.

    Precision: each result of a stage is a sum of two to five terms, turned by one complex product;
        the relative error grows like the number of stages.
    """
    rest = buffers.shape[1]
    done = 1
    first = 0
    stages = 0
    while rest > 5:
        x = buffers[stages % 2]
        y = buffers[(stages + 1) % 2]
        if rest % 16 == 8:
            stage_2(x, y, done, first, waves)
            first = first + rest // 2
            done = 2 * done
            rest = rest // 2
        else:
            stage_4(x, y, done, first, waves)
            first = first + rest // 4
            done = 4 * done
            rest = rest // 4
        stages = stages + 1
    last_stage(buffers[stages % 2], buffers[(stages + 1) % 2])
    return (stages + 1) % 2


def stage_waves(length: int) -> np.ndarray:
    """cos and sin of the angles 2 pi i n / rest of each stage but the last, (rows, 6).

    A stage of radix r that has `rest` still to do has rest / r rows n, with i = 1 ... r - 1.
    """
    waves, rest = [np.zeros((0, 6))], length
    for radix in radices(length)[:-1]:
        turns = np.outer(np.arange(rest // radix), np.arange(1, 4)) * (2 * length // rest)
        waves.append(np.stack(circle(turns, 2 * length), axis=-1).reshape(-1, 6))
        rest //= radix
    return np.concatenate(waves)


def digit_reversed(length: int) -> np.ndarray:
    """Return the row in which `fast_fourier` leaves z[k], for each k."""
    position, rest, place = np.zeros(length, np.int64), np.arange(length), length
    for radix in radices(length):
        place //= radix
        position += rest % radix * place
        rest = rest // radix
    return position
