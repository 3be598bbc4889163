"""The search that set the aims of `tune` for bits, by itself: a closed form with one offset, then
single groups trimmed. It shares no code with `sciprec.tools.tune.search`.
"""

import numpy as np

PROBED, FEWEST, MOST = 12, 2, 25


def closed_form_then_trimmed(problem, tolerance):
    """The choice of p_i = log2(s_i sum(c) / (tolerance c_i)) + offset, trimmed bit by bit."""
    count = len(problem.groups)
    problem.truth()

    def error(bits):
        return problem.error(tuple(int(b) - FEWEST if b <= MOST else MOST - 1 for b in bits))

    def alone(group, bits):
        return error([bits if n == group else 53 for n in range(count)])

    sizes = np.array([alone(n, PROBED) for n in range(count)]) * 2.0**PROBED
    runs = np.array([group.runs for group in problem.groups], float)
    exact = sizes == 0.0
    least = [
        next(b for b in range(FEWEST, PROBED + 1) if alone(n, b) == 0.0) if exact[n] else FEWEST
        for n in range(count)
    ]

    def closed(offset):
        share = np.where(exact, 1.0, sizes) * runs[~exact].sum() / (tolerance * runs)
        bits = np.ceil(np.log2(share) + offset)
        return np.clip(np.where(exact, least, bits), FEWEST, MOST).astype(int)

    low, high = -6.0, 3.0
    found = closed(high)
    while high - low > 0.25:
        middle = (low + high) / 2
        if error(closed(middle)) <= tolerance:
            high, found = middle, closed(middle)
        else:
            low = middle
    for n in np.argsort(-runs / np.maximum(sizes * 2.0**-found, 1e-300), kind="stable"):
        while found[n] > FEWEST and error(found - (np.arange(count) == n)) <= tolerance:
            found[n] -= 1
    return tuple(int(b) - FEWEST for b in found)
