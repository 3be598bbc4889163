"""Numbers of paths in each arithmetic: sizes of the levels from variances and modelled costs.

Costs are those of a machine that has the arithmetic, not the time of an emulation, and no clock is
read: a seed gives the same sizes, and so the same bits, wherever and on however many threads.
"""

import math

import numpy as np

from sciprec.heston.schemes.stages import carrier_of, widest
from sciprec.precision import resolve_backend

HALF_UNIT = 2.0**-11  # formats with this unit roundoff or a larger one are stored in 16 bits
ENDING_STEPS = 2.0  # steps of binary64 that take as long as the payment at the end of a path
COMBINING_STEPS = 0.45  # steps of binary64 that take as long as the variates of a short step
LOST_COUPLING = 0.01  # V1/V0 from which on the cheap paths are no longer close to the exact ones


def step_cost(backend):
    """Return the modelled cost of one step in units of one in binary64: the share of its bits.

    1 for formats that need binary64 variables, 1/2 for those that fit binary32, 1/4 for those of
    16 bits: as many more numbers fit a register, a cache line and a second of the memory. A mixture
    costs what its widest format does.

    Args:
        backend: a name, a spec string or a Backend.
    """
    resolved = resolve_backend(backend)
    if resolved.fixed:
        return 0.5 * max(role.format.bits for role in resolved.roles if role.fixed) / 32
    if carrier_of(resolved) == np.float64:
        return 1.0
    return 0.25 if widest(resolved).format.unit_roundoff >= HALF_UNIT else 0.5


def path_cost(backend, n_steps):
    """Return the modelled cost of a path, in steps of binary64."""
    return n_steps * step_cost(backend) + ENDING_STEPS


def coupled_cost(n_steps):
    """Return the modelled cost of a path with n, n/2 and n/4 steps in binary64.

    Each of the longer steps has its variates made of those of the n short ones.
    """
    combined = 2 * COMBINING_STEPS * n_steps
    return sum(path_cost("fp64", n_steps // ratio) for ratio in (1, 2, 4)) + combined


def level_paths(variances, costs, target):
    """Return the numbers of paths of independent levels for the variance `target` of their sum.

    N_i = sqrt(V_i / C_i) sum(sqrt(V_j C_j)) / target has the least sum N_i C_i of all with
    sum V_i / N_i = target; of two levels N1/N0 = sqrt(V1 C0 / (V0 C1)).

    Args:
        variances: V, of one path, shape (m, n_payoffs).
        costs: C, shape (m,).
        target: shape (n_payoffs,).

    Returns:
        Shape (m,): for each level the largest number that any payoff needs.

    Source: Giles (2008), "Multilevel Monte Carlo path simulation", sec. 3.
    """
    variances, costs = np.asarray(variances, float), np.asarray(costs, float)[:, None]
    total = np.sum(np.sqrt(variances * costs), axis=0)
    return np.max(np.sqrt(variances / costs) * total / target, axis=1)


def mixed_gain(variance, rounding_variance, backend, n_steps, aim):
    """Return by what factor a cheap level and its correction cost less than binary64 alone.

    For one payoff C V / (sqrt(C0 V0) + sqrt(C1 V1))^2.

    Args:
        variance: V0 of one path, shape (n_payoffs,).
        rounding_variance: V1, of the difference of one path in binary64 and in the backend.
        backend: the cheap arithmetic.
        n_steps: of both.
        aim: standard errors asked for, shape (n_payoffs,); only their ratios matter.

    Returns:
        The factor; NaN where a path of the pilot was not finite.
    """
    exact = path_cost("fp64", n_steps)
    cheap = path_cost(backend, n_steps)
    costs = np.array([cheap, cheap + exact])
    both = np.sum(costs * level_paths([variance, rounding_variance], costs, aim**2))
    alone = exact * level_paths([variance], [exact], aim**2)[0]
    return float(alone / both) if both > 0 or not both == both else math.inf
