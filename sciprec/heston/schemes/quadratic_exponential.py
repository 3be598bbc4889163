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

import functools
import math

import numpy as np

from sciprec.foundation.errors import InputError
from sciprec.heston.parameters import Model
from sciprec.heston.schemes.martingale_correction import qe_cumulant, qe_jump_cumulant
from sciprec.heston.schemes.registry import add_carried, kernel_example, path_scheme
from sciprec.precision.registry import kernel

SWITCH = 1.5  # psi_c of Andersen 2008, sec. 3.2.3
EXAMPLE = Model(spot=100, v0=0.04, kappa=0.5, theta=0.04, sigma=1, rho=-0.9)


def qe_mean(v, terms):
    """Return m, the conditional mean of the next variance (Andersen 2008, eq. 17).

    Args:
        v: the variance.
        terms: theta, 1 - exp(-kappa dt), and the slope and offset of s^2 (eq. 18).
    """
    return v + (terms[0] - v) * terms[1]


def qe_width(spread, psi):
    """Return a of the quadratic branch (Andersen 2008, eqs 27, 28).

    Args:
        spread: s^2 / m, s^2 the conditional variance of the next variance.
        psi: s^2 / m^2.
    """
    return spread / (2.0 + math.sqrt(max(0.0, 4.0 - 2.0 * psi)))


def qe_swing(mean, width, normal):
    """Return the noise v' - m of the quadratic branch (Andersen 2008, eq. 23)."""
    swing = math.sqrt(width * max(0.0, mean - width))  # a b
    return max(-mean, 2.0 * swing * normal + width * (normal * normal - 1.0))


def qe_jump(mean, fall, psi, exponential):
    """Return the noise v' - m of the exponential branch (Andersen 2008, eq. 25).

    With L = -log(1 - p) = log((psi + 1) / 2) and an exponential variate E of the word of the
    quadratic branch, v' = max(0, (E - L) / beta).

    Args:
        fall: 1 / beta = (m + s^2 / m) / 2 (eqs 29, 30).
        exponential: E.
    """
    excess = exponential - math.log(0.5 * (psi + 1.0))
    return max(0.0, excess * fall) - mean


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
    tilt = _tilt(model, step_years)
    if _reach(model, step_years) >= 1:
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


def _tilt(model, step_years):
    """Return A, per unit of the variance per year."""
    slope = model.rho / model.sigma * (1 + 0.5 * model.kappa * step_years)
    return slope - 0.25 * model.rho**2 * step_years


def _reach(model, step_years):
    """Return the bounds of 2 A a and A / beta, whatever the variance."""
    reversion = -math.expm1(-model.kappa * step_years)
    return _tilt(model, step_years) * model.sigma**2 * reversion / model.kappa


def _variance_constants(model, step_years, units):
    """Return theta, 1 - exp(-kappa dt), and s^2's slope and offset (eq. 18), in variance units."""
    reversion = -math.expm1(-model.kappa * step_years)
    level = model.theta / units.variance_unit
    noise = model.sigma**2 * reversion / model.kappa / units.variance_unit
    return level, reversion, noise * (1 - reversion), 0.5 * noise * level * reversion


def qe_jumps(model, step_years):
    """Whether the exponential branch is ever taken: psi is largest, 1 / feller_ratio, at v = 0."""
    return model.feller_ratio * SWITCH < 1


def qem_far(model, step_years):
    """Whether steps are long for log1p_quotient: the arguments x and y of the cumulants, which the
    reach bounds, may be 1/4.
    """
    reach = _reach(model, step_years)
    return reach >= 1 or abs(reach) / (1 - max(0.0, reach)) >= 0.25


def qem_jumps(model, step_years):
    """Whether the exponential branch is ever taken, or the martingale correction has long steps."""
    return qem_far(model, step_years) or qe_jumps(model, step_years)


def qe_paths(
    step, terms, others, draws, log_spot, log_spot_carry, variance, variance_carry,
    integral, integral_carry, jumps,
):  # fmt: skip
    """Advance a block of paths by one step of QE.

    Args:
        step: row of draws.
        terms: of qe_mean; others: the rest of qe_constants.
        jumps: whether the exponential branch may be taken, a literal: each call becomes a loop of
            its own.
    """
    for i in range(log_spot.shape[0]):
        v = variance[i]
        mean = qe_mean(v, terms)
        inverse = 1.0 / mean
        spread = (v * terms[2] + terms[3]) * inverse  # s^2 / m, (18)
        psi = spread * inverse
        noise = qe_swing(mean, qe_width(spread, psi), draws[step, 0, i])
        moved = (terms[0] - v) * terms[1] + noise
        change = variance_carry[i] + moved
        v_next = max(0.0, v + change)
        carry = change - (v_next - v)
        if jumps:
            above = psi > SWITCH
            jump = qe_jump(mean, 0.5 * (mean + spread), psi, draws[step, 2, i])
            noise = jump if above else noise
            v_next = mean + jump if above else v_next
            carry = 0.0 if above else carry
        variance[i] = v_next
        variance_carry[i] = carry
        vbar = 0.5 * (v + v_next)
        drift = others[0] * noise + (others[1] * (terms[0] - v) - others[3] * vbar)
        gain = drift + math.sqrt(others[2] * vbar) * draws[step, 1, i]  # (33)
        add_carried(log_spot, log_spot_carry, i, gain)
        add_carried(integral, integral_carry, i, vbar)


def qem_paths(
    step, terms, others, draws, log_spot, log_spot_carry, variance, variance_carry,
    integral, integral_carry, jumps, far,
):  # fmt: skip
    """Advance a block of paths by one step of QE-M.

    Args:
        step, terms, jumps: as for qe_paths; others: the rest of qem_constants.
        far: whether steps are long, see log1p_quotient; a literal.
    """
    tilt = others[0]
    leverage = others[1]
    per_unit = others[2]
    for i in range(log_spot.shape[0]):
        v = variance[i]
        mean = qe_mean(v, terms)
        inverse = 1.0 / mean
        spread = (v * terms[2] + terms[3]) * inverse  # s^2 / m, (18)
        psi = spread * inverse
        width = qe_width(spread, psi)
        noise = qe_swing(mean, width, draws[step, 0, i])
        cumulant = qe_cumulant(mean, width, tilt, leverage, per_unit, far)
        moved = (terms[0] - v) * terms[1] + noise
        change = variance_carry[i] + moved
        v_next = max(0.0, v + change)
        carry = change - (v_next - v)
        if jumps:
            above = psi > SWITCH
            fall = 0.5 * (mean + spread)
            jump = qe_jump(mean, fall, psi, draws[step, 2, i])
            other = qe_jump_cumulant(mean, fall, tilt, leverage, per_unit, far)
            noise = jump if above else noise
            cumulant = other if above else cumulant
            v_next = mean + jump if above else v_next
            carry = 0.0 if above else carry
        variance[i] = v_next
        variance_carry[i] = carry
        vbar = 0.5 * (v + v_next)
        drift = leverage * noise - (cumulant + others[4] * vbar)
        gain = drift + math.sqrt(others[3] * vbar) * draws[step, 1, i]  # (33), (35)
        add_carried(log_spot, log_spot_carry, i, gain)
        add_carried(integral, integral_carry, i, vbar)


@functools.cache
def qe_kernel(jumps):
    """Return the kernel of QE, with the exponential branch or without.

    Args:
        jumps: whether the branch may be taken; without it no row of exponential variates is read.
            A literal in the kernel, so that nothing is compiled for a branch that no model takes.
    """

    def quadratic_exponential(
        constants, draws, log_spot, log_spot_carry, variance, variance_carry,
        integral, integral_carry,
    ):  # fmt: skip
        """Advance a block of paths by the quadratic-exponential scheme (QE), without correction."""
        terms = (constants[0], constants[1], constants[2], constants[3])
        others = (constants[4], constants[5], constants[6], constants[7])
        for step in range(draws.shape[0]):
            qe_paths(
                step, terms, others, draws, log_spot, log_spot_carry, variance, variance_carry,
                integral, integral_carry, jumps,
            )  # fmt: skip

    return quadratic_exponential


@functools.cache
def qem_kernel(jumps, far):
    """Return the kernel of QE-M, with the branches that are asked for.

    Args:
        jumps: whether the exponential branch may be taken, as for qe_kernel.
        far: whether steps may be long, see log1p_quotient.
    """

    def quadratic_exponential_martingale(
        constants, draws, log_spot, log_spot_carry, variance, variance_carry,
        integral, integral_carry,
    ):  # fmt: skip
        """Advance a block of paths by the martingale-corrected quadratic-exponential scheme (QE-M).

        With V = (1 - rho^2) dt (v + v') / 2 the step of log(S / F) is
        A noise - log E[exp(A noise) | v] + sqrt(V) Z - V / 2, whose exponential has mean one.
        """
        terms = (constants[0], constants[1], constants[2], constants[3])
        others = (constants[4], constants[5], constants[6], constants[7], constants[8])
        for step in range(draws.shape[0]):
            qem_paths(
                step, terms, others, draws, log_spot, log_spot_carry, variance, variance_carry,
                integral, integral_carry, jumps, far,
            )  # fmt: skip

    return quadratic_exponential_martingale


def _every_branch(function):
    """A kernel under the name of this module that it gets below."""
    function.__qualname__ = function.__name__
    return function


quadratic_exponential = _every_branch(qe_kernel(True))
kernel(example=lambda: kernel_example(EXAMPLE, 0.25, qe_constants))(quadratic_exponential)
path_scheme(
    constants=qe_constants, source="Andersen (2008), eqs (17) to (33)", exponential=qe_jumps,
    narrowed=lambda model, step_years: qe_kernel(qe_jumps(model, step_years)),
)(quadratic_exponential)  # fmt: skip

quadratic_exponential_martingale = _every_branch(qem_kernel(True, True))
kernel(example=lambda: kernel_example(EXAMPLE, 0.25, qem_constants))(
    quadratic_exponential_martingale
)
path_scheme(
    constants=qem_constants, source="Andersen (2008), eqs (17) to (38)", exponential=qem_jumps,
    narrowed=lambda model, step_years: qem_kernel(
        qem_jumps(model, step_years), qem_far(model, step_years)
    ),
)(quadratic_exponential_martingale)  # fmt: skip
