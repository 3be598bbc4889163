"""The compiled loops that go once over pairs of values and count, sum and sort their errors.

Everything here is a count, a maximum, or a sum that is exact: adding blocks in another order, or
cut in other places, gives the same bits. Only profiles, sums along an axis, are plain binary64.
The loops that call each other stand in one file: one on disk does not see edits of another file.

Source of the exact sums: the terms are cut into slices of 48 bits on a fixed grid, as in Demmel
and Nguyen (2013), 10.1109/ARITH.2013.9, and the slices are added as integers; unlike there, slices
are cut until nothing is left, so that the sum is exact and not only reproducible.
"""

import numpy as np

from sciprec.precision.compiled.disk_cache import kept
from sciprec.precision.compiled.lowering import helper
from sciprec.precision.elementary.bits import bits, fabs, from_bits, scale, select

_loop = helper(nogil=True, error_model="numpy")

TILE = 1024
"""Pairs that are worked on together: their buffers stay in the nearest cache."""
WIDTH, PLACES, ORIGIN = 48, 96, 48
"""A sum is sum over j of places[j] * 2^(WIDTH * (j - ORIGIN)) with integers places[j]."""
BIN_SHIFT = 46
BINS = 1 << (63 - BIN_SHIFT)
"""Logarithmic bins: the exponent and the first six bits of the significand, 64 to an octave."""
CLASSES = ("zero", "subnormal", "normal", "saturated", "inf", "-inf", "nan")
ZERO, SUBNORMAL, NORMAL, SATURATED, INF, MINUS_INF, NAN = range(7)
HISTOGRAMS = ("absolute", "relative", "ulp")
SUMS = ("w", "we", "w|e|", "wee", "wg", "wgg", "wge", "r", "rr", "u")
"""Summed: w weight, e error, g truth, r relative error, u error in units in the last place."""

_MAGNITUDE = 0x7FFFFFFFFFFFFFFF
_INFINITY = 0x7FF0000000000000
_LARGEST = 1.7976931348623157e308
_NEGLIGIBLE = 15 << 52  # bits of 2^-1008; no term of a scaled tile has a place below it
_SMALL, _LARGE = (1023 - 120) << 52, (1023 + 120) << 52  # bits of 2^-120 and 2^120
_LOG_UNIT = 20
_LOG_OF_FRACTION = np.rint(np.log2(1.0 + (np.arange(64) + 0.5) / 64) * 2**_LOG_UNIT).astype(int)


@kept(nogil=True, error_model="numpy")
def scan(golden, actual, weights, limits, threshold, state):
    """Add a block of pairs to the state.

    Args:
        golden, actual: contiguous binary64 vectors (n,).
        weights: of the pairs (n,), or nothing (0,) where all weigh 1.
        limits: of the run's format.
        threshold: no error below it belongs to the worst.
        state: is added to.
    """
    work = np.empty((11, TILE))
    where = np.empty(TILE, np.int64)
    work[9] = 1.0
    for start in range(0, golden.size, TILE):
        stop = min(start + TILE, golden.size)
        g, a = golden[start:stop], actual[start:stop]
        w = weights[start:stop] if weights.size else work[9, : stop - start]
        plain = _count_plain(g, a, limits, state)
        if not plain:
            n_finite = _gather(g, a, w, limits, start, state, work, where)
            if not n_finite:
                continue
            g, a, w = work[0, :n_finite], work[1, :n_finite], work[2, :n_finite]
        largest = _differences(g, a, work[3], work[4])
        error, size = work[3, : g.size], work[4, : g.size]
        relative, ulps = work[5, : g.size], work[6, : g.size]
        most, most_truth = _relative(size, g, relative)
        state.largest[0] = max(state.largest[0], largest)
        state.largest[1] = max(state.largest[1], most)
        state.largest[3] = max(state.largest[3], most_truth)
        _fill(size, state.histograms[0])
        _fill(relative, state.histograms[1])
        _add_magnitudes(g, size, state.magnitudes)
        if limits.significand_bits:
            state.largest[2] = max(state.largest[2], _ulps(size, g, limits, ulps))
            _fill(ulps, state.histograms[2])
            _add_sums_of(ulps, work, state.sums[9], state.sums[9], 1)
        if from_bits(largest) >= threshold and largest:
            _keep_worst(size, where, start, plain, threshold, state)
        _add_sums_of(relative, work, state.sums[7], state.sums[8], 2)
        _add_weighted(g, error, w, weights.size > 0, work, state.sums)


@_loop
def _count_plain(g, a, limits, state):
    """Whether all of a tile is normal or zero in the run's format; if so, it is counted."""
    good, zeros_g, zeros_a, zeros_both, differing = 1, 0, 0, 0, 0
    low, high = limits.normal, limits.saturated
    for i in range(g.size):
        golden_bits, actual_bits = bits(g[i]), bits(a[i])
        differing += golden_bits != actual_bits
        golden_bits &= _MAGNITUDE
        actual_bits &= _MAGNITUDE
        good &= ((golden_bits == 0) | ((golden_bits >= low) & (golden_bits < high))) & (
            (actual_bits == 0) | ((actual_bits >= low) & (actual_bits < high))
        )
        zeros_g += golden_bits == 0
        zeros_a += actual_bits == 0
        zeros_both += (golden_bits | actual_bits) == 0
    if good:
        state.differing[0] += differing
        state.matrix[ZERO, ZERO] += zeros_both
        state.matrix[ZERO, NORMAL] += zeros_g - zeros_both
        state.matrix[NORMAL, ZERO] += zeros_a - zeros_both
        state.matrix[NORMAL, NORMAL] += g.size - zeros_g - zeros_a + zeros_both
    return good


@_loop
def _class(pattern, limits):
    """The class of a number by its bits."""
    magnitude = pattern & _MAGNITUDE
    if magnitude == 0:
        return ZERO
    if magnitude < limits.normal:
        return SUBNORMAL
    if magnitude < limits.saturated:
        return NORMAL
    if magnitude < _INFINITY:
        return SATURATED
    if magnitude > _INFINITY:
        return NAN
    return INF if pattern > 0 else MINUS_INF


@_loop
def _gather(g, a, w, limits, start, state, work, where):
    """Count any tile, pair by pair, and put the finite pairs side by side; returns how many."""
    n_finite = 0
    for i in range(g.size):
        golden_bits, actual_bits = bits(g[i]), bits(a[i])
        first, second = _class(golden_bits, limits), _class(actual_bits, limits)
        state.matrix[first, second] += 1
        state.differing[0] += golden_bits != actual_bits and not (first == NAN and second == NAN)
        if first <= SATURATED and second <= SATURATED:
            work[0, n_finite], work[1, n_finite], work[2, n_finite] = g[i], a[i], w[i]
            where[n_finite] = start + i
            n_finite += 1
        elif first != second and state.changed_place[0] < 0:
            state.changed_place[0] = start + i
    return n_finite


@_loop
def _differences(g, a, error, size):
    """error = a - g, at most the largest number, and its size; returns the bits of the largest."""
    largest = 0
    for i in range(g.size):
        difference = a[i] - g[i]
        difference = select(difference > _LARGEST, _LARGEST, difference)
        difference = select(difference < -_LARGEST, -_LARGEST, difference)
        error[i] = difference
        size[i] = fabs(difference)
        pattern = bits(fabs(difference))
        if pattern > largest:
            largest = pattern
    return largest


@_loop
def _relative(size, g, relative):
    """relative = size / |g|; nothing of nothing is 0, something of nothing is infinite.

    Returns the bits of the largest, and of the largest |g|.
    """
    largest, largest_truth = 0, 0
    for i in range(g.size):
        truth = fabs(g[i])
        share = select(size[i] == 0.0, 0.0, size[i] / truth)
        relative[i] = share
        if bits(share) > largest:
            largest = bits(share)
        if bits(truth) > largest_truth:
            largest_truth = bits(truth)
    return largest, largest_truth


@_loop
def _ulps(size, g, limits, ulps):
    """ulps = size / 2^(max(exponent of g, emin) - p + 1); returns the bits of the largest."""
    lowest, last, largest = limits.emin, limits.significand_bits - 1, 0
    for i in range(g.size):
        exponent = ((bits(g[i]) & _MAGNITUDE) >> 52) - 1023
        exponent = select(exponent > lowest, exponent, lowest)
        ulps[i] = scale(size[i], last - exponent)
        if bits(ulps[i]) > largest:
            largest = bits(ulps[i])
    return largest


@_loop
def _fill(values, histogram):
    """Count non-negative values in their bins."""
    for i in range(values.size):
        histogram[bits(values[i]) >> BIN_SHIFT] += 1


@_loop
def _add_magnitudes(g, size, magnitudes):
    """Count errors by the exponent of the truth."""
    for i in range(g.size):
        row = (bits(g[i]) & _MAGNITUDE) >> 52
        pattern = bits(size[i])
        magnitudes[row, 0] += 1
        if pattern == 0:
            magnitudes[row, 1] += 1
        else:
            if pattern > magnitudes[row, 2]:
                magnitudes[row, 2] = pattern
            fraction = _LOG_OF_FRACTION[(pattern >> BIN_SHIFT) & 63]
            magnitudes[row, 3] += (((pattern >> 52) - 1023) << _LOG_UNIT) + fraction


@_loop
def _keep_worst(size, where, start, plain, threshold, state):
    """Insert the errors of a tile into the descending list; the earlier of equal ones stays."""
    worst, place = state.worst, state.worst_place
    last = worst.size - 1
    for i in range(size.size):
        if size[i] > worst[last] and size[i] >= threshold:
            k = last
            while k > 0 and worst[k - 1] < size[i]:
                worst[k], place[k] = worst[k - 1], place[k - 1]
                k -= 1
            worst[k] = size[i]
            place[k] = start + i if plain else where[i]


@_loop
def _extreme(x):
    """Whether some finite number but 0 lies outside of 2^-120 to 2^120.

    Within, products of three numbers that are scaled together stay far from underflow.
    """
    extreme = False
    for i in range(x.size):
        pattern = bits(x[i]) & _MAGNITUDE
        outside = (pattern < _SMALL) | (pattern >= _LARGE)
        extreme |= outside & (pattern != 0) & (pattern < _INFINITY)
    return extreme


@_loop
def _scaled(x, out):
    """out = x / 2^(WIDTH k), infinite values left out; returns k."""
    largest = 0
    for i in range(x.size):
        pattern = bits(x[i]) & _MAGNITUDE
        pattern = select(pattern < _INFINITY, pattern, 0)
        if pattern > largest:
            largest = pattern
    steps = min(max(((largest >> 52) - 1023) // WIDTH, -21), 21)
    factor = from_bits((1023 - WIDTH * steps) << 52)
    for i in range(x.size):
        out[i] = select(fabs(x[i]) <= _LARGEST, x[i] * factor, 0.0)
    return steps


@_loop
def _add_sums_of(x, work, linear, square, powers):
    """Add the finite x, and their squares where powers is 2, to sums without weights."""
    together = 1 if _extreme(x) else x.size
    for i in range(0, x.size, together):
        n = min(together, x.size - i)
        ones, terms, scaled = work[9, :n], work[7, :n], work[8, :n]
        steps = _scaled(x[i : i + n], scaled)
        _add_products(scaled, ones, ones, terms, steps, linear)
        if powers == 2:
            _add_products(scaled, scaled, ones, terms, 2 * steps, square)


@_loop
def _add_weighted(g, error, w, weighted, work, sums):
    """Add the weighted sums of a tile, one by one where its numbers differ too much in size."""
    apart = _extreme(g) or _extreme(error) or (weighted and _extreme(w))
    together = 1 if apart else g.size
    for i in range(0, g.size, together):
        part = slice(i, min(i + together, g.size))
        _add_weighted_part(g[part], error[part], w[part], weighted, work, sums)


@_loop
def _add_weighted_part(g, error, w, weighted, work, sums):
    """Add the weighted sums of numbers that are scaled together."""
    ones, terms = work[9, : g.size], work[7, : g.size]
    e, t, u = work[5, : g.size], work[8, : g.size], ones
    of_e, of_g, of_w = _scaled(error, e), _scaled(g, t), 0
    if weighted:
        u = work[10, : g.size]
        of_w = _scaled(w, u)
        _add_products(u, ones, ones, terms, of_w, sums[0])
    _add_products(e, ones, u, terms, of_e + of_w, sums[1])
    _add_products(e, e, u, terms, 2 * of_e + of_w, sums[3])
    _add_products(t, ones, u, terms, of_g + of_w, sums[4])
    _add_products(t, t, u, terms, 2 * of_g + of_w, sums[5])
    _add_products(t, e, u, terms, of_g + of_e + of_w, sums[6])
    for i in range(g.size):
        e[i] = fabs(e[i])
    _add_products(e, ones, u, terms, of_e + of_w, sums[2])


@_loop
def _add_products(x, y, w, terms, steps, places):
    """Add sum w (x y), each term rounded twice to binary64, times 2^(WIDTH steps), exactly."""
    largest = 0
    for i in range(x.size):
        term = w[i] * (x[i] * y[i])
        terms[i] = term
        pattern = bits(fabs(term))
        if pattern > largest:
            largest = pattern
    while largest >= _NEGLIGIBLE:
        place = -((1022 - (largest >> 52)) // WIDTH) - 1
        total, largest = _cut_slice(terms, place)
        _carry(places, ORIGIN + steps + place, total)


@_loop
def _cut_slice(terms, place):
    """Take from each term its nearest multiple of 2^(WIDTH place).

    Returns the sum of the multiples and the bits of the largest that is left.
    """
    shifter = from_bits(((1075 + WIDTH * place) << 52) | (1 << 51))
    base, total, largest = bits(shifter), 0, 0
    for i in range(terms.size):
        moved = terms[i] + shifter
        total += bits(moved) - base
        terms[i] -= moved - shifter
        pattern = bits(fabs(terms[i]))
        if pattern > largest:
            largest = pattern
    return total, largest


@_loop
def _carry(places, place, total):
    """Add an integer to a place, and carry to the next."""
    places[place] += total
    while abs(places[place]) >= 1 << 61:
        above = places[place] >> WIDTH
        places[place] -= above << WIDTH
        place += 1
        places[place] += above
