"""The nearly exact scheme of Glasserman and Kim: a truth for payoffs that watch the path.

Over a stretch of time t from v to v' the log spot needs the integral I of the variance, whose law
given both ends is that of an infinite sum of gamma variates,

    I = sum over n >= 1 of Gamma(N_n + delta / 2 + 2 eta) / gamma_n,
    N_n ~ Poisson((v + v') lambda_n),  eta ~ Bessel(delta / 2 - 1, z)
    delta = 4 kappa theta / sigma^2,  z = 2 kappa sqrt(v v') / (sigma^2 sinh(kappa t / 2))
    lambda_n = 16 pi^2 n^2 / (sigma^2 t (kappa^2 t^2 + 4 pi^2 n^2))
    gamma_n = (kappa^2 t^2 + 4 pi^2 n^2) / (2 sigma^2 t^2)

cut after TERMS terms, whose tail is replaced by one gamma variate of its mean and variance. The
length of a step is free: one step from date to date is enough.

This scheme is no arithmetic under test: it rejects, counts and takes log-gamma functions, so that
it is compiled as it stands in binary64 and is not lifted to other backends.
"""

import math

import numpy as np
from numba import njit

from sciprec.heston.schemes.registry import path_scheme
from sciprec.heston.variates import draws

TERMS = 20
TAIL_TERMS = 100_000  # terms of the tail's moments that are added one by one
SCALARS = 14  # constants before the arrays of rates


def expansion_constants(model, step_years, units):
    """Return the constants of gamma_expansion in binary64, scalars first, then lambda_n, 1/gamma_n.

    The tail's moments: sums over n > TERMS of lambda_n / gamma_n and 2 lambda_n / gamma_n^2, per
    v + v', and of 1 / gamma_n and 1 / gamma_n^2, per unit of the gammas' shape. Beyond TAIL_TERMS
    the sums of terms falling as 1 / n^2 are completed by the midpoint rule's integral.
    """
    reversion = -math.expm1(-model.kappa * step_years)
    scale = model.sigma**2 * reversion / (4 * model.kappa)  # v' = scale chi^2
    n = np.arange(1, TAIL_TERMS + 1, dtype=float)
    bracket = (model.kappa * step_years) ** 2 + (2 * math.pi * n) ** 2
    rates = 16 * (math.pi * n) ** 2 / (model.sigma**2 * step_years * bracket)
    widths = 2 * (model.sigma * step_years) ** 2 / bracket  # 1 / gamma_n
    beyond = 1 / (TAIL_TERMS + 0.5)
    tail = slice(TERMS, None)
    moments = (
        np.sum(rates[tail] * widths[tail]) + 2 * step_years / math.pi**2 * beyond,
        np.sum(2 * rates[tail] * widths[tail] ** 2),
        np.sum(widths[tail]) + (model.sigma * step_years / math.pi) ** 2 / 2 * beyond,
        np.sum(widths[tail] ** 2),
    )
    lever = model.rho / model.sigma
    scalars = (
        units.variance_unit,
        1 / units.log_spot_unit,
        2 * scale,
        0.5 * (1 - reversion) / scale,  # lambda / (2 v)
        2 * model.kappa * model.theta / model.sigma**2,  # delta / 2
        *moments,
        lever,
        -lever * model.kappa * model.theta * step_years,
        lever * model.kappa - 0.5,
        1 - model.rho**2,
        1 / (step_years * units.variance_unit),
    )
    return np.array([*scalars, *rates[:TERMS], *widths[:TERMS]])


@njit(nogil=True)
def integrated_variance(ends, shape, constants, cursor):
    """Draw the integral of the variance over a step.

    Args:
        ends: v + v'.
        shape: delta / 2 + 2 eta.
        constants: of expansion_constants.
        cursor: of sciprec.heston.variates.draws.
    """
    total = 0.0
    for n in range(TERMS):
        count = draws.poisson(ends * constants[SCALARS + n], cursor)
        total += draws.gamma(count + shape, cursor) * constants[SCALARS + TERMS + n]
    mean = ends * constants[5] + shape * constants[7]
    spread = ends * constants[6] + shape * constants[8]
    return total + draws.gamma(mean * mean / spread, cursor) * spread / mean


@path_scheme(
    constants=expansion_constants,
    source="Glasserman and Kim (2011), theorem 2.2 and sec. 3",
    lifts=False,
)
@njit(nogil=True)
def gamma_expansion(
    first_path, first_step, n_steps, key_0, key_1, constants,
    log_spot, log_spot_carry, variance, variance_carry, integral, integral_carry,
):  # fmt: skip
    """Advance a block of paths by the gamma expansion, exact but for the tail of the series.

    v' = s chi^2(delta + 2 eta), eta ~ Poisson(lambda / 2)
    log(S'/F') - log(S/F) = -I/2 + rho/sigma (v' - v - kappa theta t + kappa I)
                            + sqrt((1 - rho^2) I) Z

    Differs from the source: the Poisson number by which the non-central chi-square v' is drawn,
        given v', has the law of the Bessel number eta of the expansion (both weights are
        (z^2 / 4)^n / (n! Gamma(n + delta / 2))), so that it serves as eta and no Bessel variate is
        drawn; gamma variates of one width are drawn as one; one gamma variate in place of three
        makes up for the tails.
    """
    unit = constants[0]
    per_unit = constants[1]
    cursor = np.zeros(draws.CURSOR, dtype=np.int64)
    for step in range(first_step, first_step + n_steps):
        for i in range(log_spot.shape[0]):
            draws.point_at(cursor, first_path + i, step, key_0, key_1)
            v = (variance[i] + variance_carry[i]) * unit
            eta = draws.poisson(v * constants[3], cursor)
            v_next = constants[2] * draws.gamma(constants[4] + eta, cursor)
            area = integrated_variance(v + v_next, constants[4] + 2.0 * eta, constants, cursor)
            drift = constants[9] * (v_next - v) + constants[10] + constants[11] * area
            shock = math.sqrt(constants[12] * area) * draws.normal(cursor)
            log_spot[i] += (drift + shock) * per_unit
            variance[i] = v_next / unit
            variance_carry[i] = 0.0
            integral[i] += area * constants[13]
