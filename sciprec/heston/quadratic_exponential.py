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
from sciprec.heston.registry import kernel_example, path_scheme
from sciprec.precision.registry import kernel

SWITCH = 1.5  # psi_c of Andersen 2008, sec. 3.2.3
EXAMPLE = Model(spot=100, v0=0.04, kappa=0.5, theta=0.04, sigma=1, rho=-0.9)


def qe_noise(variance, level, reversion, slope, offset, normal, exponential):
    """Draw the noise of one variance step, v' - m, by both branches, and select.

    Args:
        variance: v; level: theta, in the same unit.
        reversion: 1 - exp(-kappa dt).
        slope, offset: s^2 = slope v + offset (Andersen 2008, eq. 18).
        normal, exponential: a standard normal and an exponential variate of the same word.

    Returns:
        noise, m, scale and whether psi is above SWITCH. scale is a where it is not, and
        the mean of the exponential branch, 1/beta, where it is.

    Source: Andersen (2008), eqs (17), (18), (23), (27), (28) and (25), (29), (30); with
        L = -log(1 - p) = log((psi + 1) / 2) and an exponential variate E,
        v' = max(0, (E - L) / beta).
    """
    mean = variance + (level - variance) * reversion  # (17)
    spread = (variance * slope + offset) / mean  # s^2 / m, (18)
    psi = spread / mean
    width = spread / (2.0 + math.sqrt(max(0.0, 4.0 - 2.0 * psi)))  # a, (27), (28)
    swing = math.sqrt(width * max(0.0, mean - width))  # a b
    quadratic = max(-mean, 2.0 * swing * normal + width * (normal * normal - 1.0))  # (23)
    fall = 0.5 * (mean + spread)  # 1 / beta, (30)
    excess = exponential - math.log(0.5 * (psi + 1.0))  # E - L, (29)
    jump = max(0.0, excess * fall) - mean  # (25)
    above = psi > SWITCH
    noise = jump if above else quadratic
    scale = fall if above else width
    return noise, mean, scale, above


def log1p_quotient(x):
    """Return q(x) = -(log(1 - x) + x) / x^2 = 1/2 + x/3 + x^2/4 + ..., for x < 1.

    With z = 1 / (2 - x) and y = x z: q = z + 2 z^2 y (1/3 + y^2/5 + y^4/7 + ...), used for
    |x| < 1/4, where it is short by 1e-12 of q at most; the definition elsewhere.
    """
    z = 1.0 / (2.0 - x)
    y = x * z
    y2 = y * y
    tail = 1.0 / 9.0 + y2 * (1.0 / 11.0 + y2 * (1.0 / 13.0))
    series = z + 2.0 * z * z * y * (1.0 / 3.0 + y2 * (0.2 + y2 * (1.0 / 7.0 + y2 * tail)))
    direct = -(math.log(1.0 - x) + x) / (x * x)
    return series if abs(x) < 0.25 else direct


def qe_cumulant(mean, scale, above, tilt, leverage, per_unit):
    """Return log E[exp(A noise) | v] in log_spot units: the martingale correction of one step.

    With x = 2 A a below the switch:  (m - a) A x / (1 - x) + x^2 q(x) / 2.
    With y = A m / (1 - A / beta) above it:  y A / beta - y^2 q(-y).

    Args:
        mean, scale, above: of qe_noise.
        tilt: A (Andersen 2008, eq. 34: A = K2 + K4 / 2), per variance unit.
        leverage: A in log_spot units per variance unit.
        per_unit: 1 / log_spot_unit.

    Source: Andersen (2008), prop. 9 with eqs (37) and (38), written for noise in place of v'.
    """
    twist = tilt * scale
    x = 2.0 * twist
    ratio = 1.0 / (1.0 - (twist if above else x))
    y = tilt * mean * ratio
    argument = -y if above else x
    size = argument * per_unit * argument * log1p_quotient(argument)
    quadratic = leverage * (mean - scale) * x * ratio + 0.5 * size
    exponential = leverage * scale * y - size
    return exponential if above else quadratic


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
    if tilt * model.sigma**2 * reversion / model.kappa >= 1:  # bounds 2 A a and A / beta
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
        ]
    )


def _variance_constants(model, step_years, units):
    """Return theta, 1 - exp(-kappa dt), and s^2's slope and offset (eq. 18), in variance units."""
    reversion = -math.expm1(-model.kappa * step_years)
    level = model.theta / units.variance_unit
    noise = model.sigma**2 * reversion / model.kappa / units.variance_unit
    return level, reversion, noise * (1 - reversion), 0.5 * noise * level * reversion


@kernel(example=lambda: kernel_example(EXAMPLE, 0.25, qe_constants))
@path_scheme(constants=qe_constants, source="Andersen (2008), eqs (17) to (33)", exponential=True)
def quadratic_exponential(
    constants, draws, log_spot, log_spot_carry, variance, variance_carry, integral, integral_carry
):
    """Advance a block of paths by the quadratic-exponential scheme (QE), without correction."""
    level = constants[0]
    reversion = constants[1]
    slope = constants[2]
    offset = constants[3]
    leverage = constants[4]
    residual = constants[5]
    diffusion = constants[6]
    convexity = constants[7]
    for step in range(draws.shape[0]):
        for i in range(log_spot.shape[0]):
            v = variance[i]
            noise, mean, scale, above = qe_noise(
                v, level, reversion, slope, offset, draws[step, 0, i], draws[step, 2, i]
            )
            change = variance_carry[i] + ((level - v) * reversion + noise)
            v_next = mean + noise if above else max(0.0, v + change)
            variance_carry[i] = 0.0 if above else change - (v_next - v)
            variance[i] = v_next
            vbar = 0.5 * (v + v_next)
            drift = leverage * noise + (residual * (level - v) - convexity * vbar)
            shock = math.sqrt(diffusion * vbar) * draws[step, 1, i]
            gain = log_spot_carry[i] + (drift + shock)  # (33)
            sum_ = log_spot[i] + gain
            log_spot_carry[i] = gain - (sum_ - log_spot[i])
            log_spot[i] = sum_
            gain = integral_carry[i] + vbar
            sum_ = integral[i] + gain
            integral_carry[i] = gain - (sum_ - integral[i])
            integral[i] = sum_


@kernel(example=lambda: kernel_example(EXAMPLE, 0.25, qem_constants))
@path_scheme(constants=qem_constants, source="Andersen (2008), eqs (17) to (38)", exponential=True)
def quadratic_exponential_martingale(
    constants, draws, log_spot, log_spot_carry, variance, variance_carry, integral, integral_carry
):
    """Advance a block of paths by the martingale-corrected quadratic-exponential scheme (QE-M).

    With V = (1 - rho^2) dt (v + v') / 2 the step of log(S / F) is
    A noise - log E[exp(A noise) | v] + sqrt(V) Z - V / 2, whose exponential has mean one.
    """
    level = constants[0]
    reversion = constants[1]
    slope = constants[2]
    offset = constants[3]
    tilt = constants[4]
    leverage = constants[5]
    per_unit = constants[6]
    diffusion = constants[7]
    convexity = constants[8]
    for step in range(draws.shape[0]):
        for i in range(log_spot.shape[0]):
            v = variance[i]
            noise, mean, scale, above = qe_noise(
                v, level, reversion, slope, offset, draws[step, 0, i], draws[step, 2, i]
            )
            change = variance_carry[i] + ((level - v) * reversion + noise)
            v_next = mean + noise if above else max(0.0, v + change)
            variance_carry[i] = 0.0 if above else change - (v_next - v)
            variance[i] = v_next
            vbar = 0.5 * (v + v_next)
            cumulant = qe_cumulant(mean, scale, above, tilt, leverage, per_unit)
            drift = leverage * noise - (cumulant + convexity * vbar)  # (33), (35)
            shock = math.sqrt(diffusion * vbar) * draws[step, 1, i]
            gain = log_spot_carry[i] + (drift + shock)
            sum_ = log_spot[i] + gain
            log_spot_carry[i] = gain - (sum_ - log_spot[i])
            log_spot[i] = sum_
            gain = integral_carry[i] + vbar
            sum_ = integral[i] + gain
            integral_carry[i] = gain - (sum_ - integral[i])
            integral[i] = sum_
