"""Andersen's quadratic-exponential schemes, in increments.

Over one step the variance v has the conditional mean m and variance s^2, psi = s^2 / m^2. Where
psi <= 3/2 the next variance is a (b + Z)^2, otherwise it is zero or exponentially distributed
(Andersen 2008, sec. 3.2). The textbook formulas subtract nearly equal numbers: b^2 is large,
rho/sigma (v' - v) is a small difference of large terms, and the martingale correction is the
difference of two nearly equal logarithms. The same quantities without cancellation:

    a = r / (2 + sqrt(4 - 2 psi)),  r = s^2 / m             and  a b^2 = m - a
    noise = v' - m = 2 sqrt(a (m - a)) Z + a (Z^2 - 1)
    v' - v = (theta - v) (1 - exp(-kappa dt)) + noise

State and increments are added with the rounding error of the last addition carried along
(Kahan 1965). All variances are in Units.variance_unit, log_spot in Units.log_spot_unit.
"""

import math

import numpy as np

from sciprec.errors import InputError
from sciprec.heston.model import Model
from sciprec.heston.registry import Units, carried, kernel_example, path_scheme
from sciprec.precision.registry import kernel

SWITCH = 1.5  # psi_c of Andersen 2008, sec. 3.2.3
EXAMPLE = Model(spot=100, v0=0.04, kappa=0.5, theta=0.04, sigma=1, rho=-0.9)


def qe_noise(variance, level, reversion, slope, offset, normal):
    """Draw the noise of one variance step, v' - m, by the quadratic branch.

    Args:
        variance: v; level: theta, in the same unit.
        reversion: 1 - exp(-kappa dt).
        slope, offset: s^2 = slope v + offset (Andersen 2008, eq. 18).
        normal: a standard normal variate.

    Returns:
        noise, m, s^2 / m, psi and a.

    Source: Andersen (2008), eqs (17), (18), (23), (27), (28).
    """
    mean = variance + (level - variance) * reversion  # (17)
    inverse = 1.0 / mean
    spread = (variance * slope + offset) * inverse  # s^2 / m, (18)
    psi = spread * inverse
    width = spread / (2.0 + math.sqrt(max(0.0, 4.0 - 2.0 * psi)))  # a, (27), (28)
    swing = math.sqrt(width * max(0.0, mean - width))  # a b
    noise = max(-mean, 2.0 * swing * normal + width * (normal * normal - 1.0))  # (23)
    return noise, mean, spread, psi, width


def qe_jump(mean, spread, psi, exponential):
    """Draw the noise of one variance step, v' - m, by the exponential branch.

    Returns:
        noise and 1 / beta.

    Source: Andersen (2008), eqs (25), (29), (30); with L = -log(1 - p) = log((psi + 1) / 2) and an
        exponential variate E of the word of the quadratic branch, v' = max(0, (E - L) / beta).
    """
    fall = 0.5 * (mean + spread)  # 1 / beta, (30)
    excess = exponential - math.log(0.5 * (psi + 1.0))  # E - L, (29)
    return max(0.0, excess * fall) - mean, fall  # (25)


def log1p_quotient(x, z, far):
    """Return q(x) = -(log(1 - x) + x) / x^2 = 1/2 + x/3 + x^2/4 + ..., for x < 1.

    With y = x z: q = z + 2 z^2 y (1/3 + y^2/5 + y^4/7 + ...), used for |x| < 1/4, where it is short
    by 1e-12 of q at most; the definition elsewhere.

    Args:
        x: a number below one.
        z: 1 / (2 - x).
        far: whether |x| may be 1/4 or more.
    """
    y = x * z
    y2 = y * y
    tail = 1.0 / 9.0 + y2 * (1.0 / 11.0 + y2 * (1.0 / 13.0))
    quotient = z + 2.0 * z * z * y * (1.0 / 3.0 + y2 * (0.2 + y2 * (1.0 / 7.0 + y2 * tail)))
    if far:
        direct = -(math.log(1.0 - x) + x) / (x * x)
        quotient = quotient if abs(x) < 0.25 else direct
    return quotient


def qe_cumulant(mean, width, tilt, leverage, per_unit, far):
    """Return log E[exp(A noise) | v] of the quadratic branch, in log_spot units.

    With x = 2 A a:  (m - a) A x / (1 - x) + x^2 q(x) / 2.

    Args:
        mean, width: m and a of qe_noise.
        tilt: A (Andersen 2008, eq. 34: A = K2 + K4 / 2), per variance unit.
        leverage: A in log_spot units per variance unit.
        per_unit: 1 / log_spot_unit.
        far: see log1p_quotient.

    Source: Andersen (2008), prop. 9 with eq. (37), written for noise in place of v'. Both
        1 / (1 - x) and 1 / (2 - x) come from one division.
    """
    x = 2.0 * tilt * width
    rest = 1.0 - x
    both = 2.0 - x
    inverse = 1.0 / (rest * both)
    quotient = log1p_quotient(x, inverse * rest, far)
    first = leverage * (mean - width) * x * (inverse * both)
    return first + 0.5 * (x * per_unit * x * quotient)


def qe_jump_cumulant(mean, fall, tilt, leverage, per_unit, far):
    """Return log E[exp(A noise) | v] of the exponential branch, in log_spot units.

    With y = A m / (1 - A / beta):  y A / beta - y^2 q(-y).

    Args:
        fall: 1 / beta of qe_jump; the others: see qe_cumulant.

    Source: Andersen (2008), prop. 9 with eq. (38), written for noise in place of v'. Both
        1 / (1 - A / beta) and 1 / (2 + y) come from one division.
    """
    push = tilt * mean
    rest = 1.0 - tilt * fall
    both = 2.0 * rest + push
    inverse = 1.0 / (rest * both)
    y = push * (inverse * both)
    quotient = log1p_quotient(-y, inverse * rest * rest, far)
    return leverage * fall * y - y * per_unit * y * quotient


def qe_constants(model, step_years, units):
    """Return the constants of quadratic_exponential in binary64.

    K0 to K4 of Andersen (2008), eq. (33), with gamma1 = gamma2 = 1/2, in increments: the drift is
    rho/sigma ((1 + h/2) noise + (theta - v) ((1 + h/2) (1 - e^-h) - h)) - dt vbar / 2, with
    h = kappa dt, vbar = (v + v') / 2.
    """
    level, reversion, slope, offset = _variance_constants(model, step_years, units)
    h = model.kappa * step_years
    per_unit = 1.0 / units.log_spot_unit
    lever = model.rho / model.sigma * units.variance_unit * per_unit
    residual = (1 + 0.5 * h) * reversion - h
    diffusion = (1 - model.rho**2) * step_years * units.variance_unit
    return np.array(
        [
            level,
            reversion,
            slope,
            offset,
            lever * (1 + 0.5 * h),
            lever * residual,
            diffusion * per_unit**2,
            0.5 * step_years * units.variance_unit * per_unit,
        ]
    )


def qem_constants(model, step_years, units):
    """Return the constants of quadratic_exponential_martingale in binary64.

    A = K2 + K4 / 2 = rho/sigma (1 + kappa dt / 2) - rho^2 dt / 4 (Andersen 2008, eqs 33 and 34).

    Raises:
        InputError: rho > 0 and steps so long that E[exp(A v')] is infinite for some v.
    """
    level, reversion, slope, offset = _variance_constants(model, step_years, units)
    h = model.kappa * step_years
    tilt = model.rho / model.sigma * (1 + 0.5 * h) - 0.25 * model.rho**2 * step_years
    reach = tilt * model.sigma**2 * reversion / model.kappa  # bounds 2 A a and A / beta
    largest = abs(reach)  # and, over 1 - reach, the arguments x and y of the cumulants
    if reach >= 1:
        raise InputError(
            f"a step of {step_years:.6g} years is too long for the martingale correction with "
            f"rho = {model.rho}, sigma = {model.sigma}; accepted: steps below "
            f"{1 / (model.rho * model.sigma):.3g} years: take more steps"
        )
    tilt *= units.variance_unit
    per_unit = 1.0 / units.log_spot_unit
    diffusion = (1 - model.rho**2) * step_years * units.variance_unit
    return np.array(
        [
            level,
            reversion,
            slope,
            offset,
            tilt,
            tilt * per_unit,
            per_unit,
            diffusion * per_unit**2,
            0.5 * diffusion * per_unit,
            float(largest / (1 - max(0.0, reach)) >= 0.25),
        ]
    )


def _variance_constants(model, step_years, units):
    """Return theta, 1 - exp(-kappa dt), and s^2's slope and offset (eq. 18), in variance units."""
    reversion = -math.expm1(-model.kappa * step_years)
    level = model.theta / units.variance_unit
    noise = model.sigma**2 * reversion / model.kappa / units.variance_unit
    return level, reversion, noise * (1 - reversion), 0.5 * noise * level * reversion


def qe_jumps(model, step_years):
    """Whether the exponential branch is ever taken: psi is largest, 1 / feller_ratio, at v = 0."""
    return model.feller_ratio * SWITCH < 1


def qem_jumps(model, step_years):
    """Whether the exponential branch is ever taken, or the martingale correction has long steps."""
    far = qem_constants(model, step_years, Units(1.0, 1.0))[-1] > 0
    return bool(far) or qe_jumps(model, step_years)


def qe_variance(v, carry, normal, exponential, terms, jumps):
    """Return the next variance and its carry, the noise, and what the correction needs of it.

    Args:
        v, carry: the variance and the rounding error of its last addition.
        normal, exponential: variates of one word.
        terms: level, reversion, slope and offset of qe_noise.
        jumps: whether the exponential branch may be taken.

    Returns:
        v', carry, noise, m, a, 1 / beta, and whether the exponential branch was taken.
    """
    level, reversion, slope, offset = terms
    noise, mean, spread, psi, width = qe_noise(v, level, reversion, slope, offset, normal)
    change = carry + ((level - v) * reversion + noise)
    v_next = max(0.0, v + change)
    carry = change - (v_next - v)
    fall = width
    above = False
    if jumps:
        jump, fall = qe_jump(mean, spread, psi, exponential)
        above = psi > SWITCH
        v_next = mean + jump if above else v_next
        carry = 0.0 if above else carry
        noise = jump if above else noise
    return v_next, carry, noise, mean, width, fall, above


def qe_step(v, carry, normal, across, exponential, terms, others, jumps):
    """Return v', its carry, vbar and the step of log(S / F) of QE (Andersen 2008, eq. 33)."""
    leverage, residual, diffusion, convexity = others
    v_next, carry, noise, _, _, _, _ = qe_variance(v, carry, normal, exponential, terms, jumps)
    vbar = 0.5 * (v + v_next)
    drift = leverage * noise + (residual * (terms[0] - v) - convexity * vbar)
    return v_next, carry, vbar, drift + math.sqrt(diffusion * vbar) * across


def qem_step(v, carry, normal, across, exponential, terms, others, jumps, far):
    """Return v', its carry, vbar and the step of log(S / F) of QE-M (Andersen 2008, eqs 33, 35)."""
    tilt, leverage, per_unit, diffusion, convexity = others
    v_next, carry, noise, mean, width, fall, above = qe_variance(
        v, carry, normal, exponential, terms, jumps
    )
    cumulant = qe_cumulant(mean, width, tilt, leverage, per_unit, far)
    if jumps:
        other = qe_jump_cumulant(mean, fall, tilt, leverage, per_unit, far)
        cumulant = other if above else cumulant
    vbar = 0.5 * (v + v_next)
    drift = leverage * noise - (cumulant + convexity * vbar)
    return v_next, carry, vbar, drift + math.sqrt(diffusion * vbar) * across


@kernel(example=lambda: kernel_example(EXAMPLE, 0.25, qe_constants))
@path_scheme(
    constants=qe_constants, source="Andersen (2008), eqs (17) to (33)", exponential=qe_jumps
)
def quadratic_exponential(
    constants, draws, log_spot, log_spot_carry, variance, variance_carry, integral, integral_carry
):
    """Advance a block of paths by the quadratic-exponential scheme (QE), without correction.

    Without a row of exponential variates the exponential branch is left out.
    """
    terms = (constants[0], constants[1], constants[2], constants[3])
    others = (constants[4], constants[5], constants[6], constants[7])
    jumps = draws.shape[1] > 2
    for step in range(draws.shape[0]):
        if jumps:
            for i in range(log_spot.shape[0]):
                variance[i], variance_carry[i], vbar, gain = qe_step(
                    variance[i], variance_carry[i], draws[step, 0, i], draws[step, 1, i],
                    draws[step, 2, i], terms, others, True,
                )  # fmt: skip
                log_spot[i], log_spot_carry[i] = carried(log_spot[i], log_spot_carry[i], gain)
                integral[i], integral_carry[i] = carried(integral[i], integral_carry[i], vbar)
        else:
            for i in range(log_spot.shape[0]):
                variance[i], variance_carry[i], vbar, gain = qe_step(
                    variance[i], variance_carry[i], draws[step, 0, i], draws[step, 1, i],
                    0.0, terms, others, False,
                )  # fmt: skip
                log_spot[i], log_spot_carry[i] = carried(log_spot[i], log_spot_carry[i], gain)
                integral[i], integral_carry[i] = carried(integral[i], integral_carry[i], vbar)


@kernel(example=lambda: kernel_example(EXAMPLE, 0.25, qem_constants))
@path_scheme(
    constants=qem_constants, source="Andersen (2008), eqs (17) to (38)", exponential=qem_jumps
)
def quadratic_exponential_martingale(
    constants, draws, log_spot, log_spot_carry, variance, variance_carry, integral, integral_carry
):
    """Advance a block of paths by the martingale-corrected quadratic-exponential scheme (QE-M).

    With V = (1 - rho^2) dt (v + v') / 2 the step of log(S / F) is
    A noise - log E[exp(A noise) | v] + sqrt(V) Z - V / 2, whose exponential has mean one.
    Without a row of exponential variates the exponential branch and long steps are left out.
    """
    terms = (constants[0], constants[1], constants[2], constants[3])
    others = (constants[4], constants[5], constants[6], constants[7], constants[8])
    far = constants[9] > 0.5
    jumps = draws.shape[1] > 2
    for step in range(draws.shape[0]):
        if jumps and far:
            for i in range(log_spot.shape[0]):
                variance[i], variance_carry[i], vbar, gain = qem_step(
                    variance[i], variance_carry[i], draws[step, 0, i], draws[step, 1, i],
                    draws[step, 2, i], terms, others, True, True,
                )  # fmt: skip
                log_spot[i], log_spot_carry[i] = carried(log_spot[i], log_spot_carry[i], gain)
                integral[i], integral_carry[i] = carried(integral[i], integral_carry[i], vbar)
        elif jumps:
            for i in range(log_spot.shape[0]):
                variance[i], variance_carry[i], vbar, gain = qem_step(
                    variance[i], variance_carry[i], draws[step, 0, i], draws[step, 1, i],
                    draws[step, 2, i], terms, others, True, False,
                )  # fmt: skip
                log_spot[i], log_spot_carry[i] = carried(log_spot[i], log_spot_carry[i], gain)
                integral[i], integral_carry[i] = carried(integral[i], integral_carry[i], vbar)
        else:
            for i in range(log_spot.shape[0]):
                variance[i], variance_carry[i], vbar, gain = qem_step(
                    variance[i], variance_carry[i], draws[step, 0, i], draws[step, 1, i],
                    0.0, terms, others, False, False,
                )  # fmt: skip
                log_spot[i], log_spot_carry[i] = carried(log_spot[i], log_spot_carry[i], gain)
                integral[i], integral_carry[i] = carried(integral[i], integral_carry[i], vbar)
