"""Characteristic functions: Heston's model is affine, so that each is the exponential of A + B v0.

Along one stretch of time h, with X = log(S / F),

    E[exp(i u (X' - X) + B' v') | v] = exp(a + B v),  a, B = affine_step(model, u, B', h)

and any sum of log spots at any dates is a backward recursion over its stretches.
"""

import numpy as np


def affine_step(model, u, after, years):
    """Return a and B of E[exp(i u (X' - X) + B' v') | v] = exp(a + B v) over one stretch.

    B solves dB/dt = sigma^2 B^2 / 2 - b B - q / 2 from B', a is kappa theta times its integral:
    with q = u^2 + i u, b = kappa - i rho sigma u, d = sqrt(b^2 + sigma^2 q), e = exp(-d t),
    E = B' + q / (b + d), z = sigma^2 E (1 - e) / (2 d),
    B = B' - E (b + d - sigma^2 B') (1 - e) / (2 d (1 - z)),
    a = -kappa theta (q t / (b + d) + 2 log(1 - z) / sigma^2).

    Args:
        model: a Model.
        u: complex numbers of any shape with -1 <= Im u <= 0.
        after: B' at the end of the stretch, complex, of u's shape or a number; Re B' <= 0.
        years: t, the length of the stretch.

    Returns:
        (a, B), complex arrays of the shape of u.

    Source: Heston (1993), eq. (17), in the form of Albrecher, Mayer, Schoutens and Tistaert
        (2007), eq. (4), whose logarithm is continuous with its principal branch.
    Differs from the source: any B' in place of 0; b - d is replaced by -sigma^2 q / (b + d) and
        the quotient of logarithms by one log(1 - z), so that nothing cancels as sigma goes to
        zero; d^2 is multiplied out, so that nothing cancels as rho goes to -1 or 1; where Re b is
        negative b + d is sigma^2 q / (d - b), so that nothing cancels where rho sigma > kappa.
    """
    sigma2 = model.sigma**2
    q, b, d = _riccati(model, u)
    root, plus = _lower_root(sigma2, q, b, d)
    gap = after + root  # E
    half = _half_fading(d, years)  # (1 - e) / (2 d)
    z = sigma2 * gap * half
    rest = 1 - z
    if np.any(np.real(b) < 0):  # where 1 and z may nearly cancel
        ended = (plus + sigma2 * root * np.exp(-d * years)) / np.where(d == 0, 1.0, 2 * d)
        rest = np.where(np.abs(rest) > 0.1, rest, ended - sigma2 * after * half)
    logarithm = _log_beside_one(z, rest) / sigma2
    constant = -model.kappa * model.theta * (root * years + 2 * logarithm)
    return constant, after - gap * (plus - sigma2 * after) * half / rest


def log_characteristic_function(model, u, maturity):
    """Return log phi(u), phi(u) = E[exp(i u X)], of X = log(S_T / F).

    Args:
        model: a Model.
        u: complex numbers of any shape, as for affine_step.
        maturity: years.

    Returns:
        Complex numbers of the shape of u.
    """
    constant, slope = affine_step(model, np.asarray(u, dtype=complex), 0.0, maturity)
    return constant + slope * model.v0


def maturity_slope(model, u, slope):
    """Return the derivative of log phi(u) to the maturity, kappa theta B + v0 dB/dt.

    Args:
        model: a Model.
        u: complex numbers of any shape.
        slope: B(u) at the maturity, from affine_step with B' = 0.
    """
    q, b, _ = _riccati(model, u)
    change = 0.5 * model.sigma**2 * slope * slope - b * slope - 0.5 * q
    return model.kappa * model.theta * slope + model.v0 * change


def average_log_characteristic_function(model, u, maturity, fixings):
    """Return log E[exp(i u Y)] of Y, the mean of log(S_t / F_t) at t = k maturity / fixings.

    Y is the sum over the stretches between fixings of X' - X times the share of fixings still to
    come: 1, (n - 1)/n, ..., 1/n.

    Args:
        model, u: as for affine_step.
        maturity: years.
        fixings: n.

    Source: Kim and Wee (2014), "Pricing of geometric Asian options under Heston's stochastic
        volatility model", whose sums the recursion replaces.
    """
    u = np.asarray(u, dtype=complex)
    total, slope = np.zeros_like(u), np.zeros_like(u)
    for share in range(1, fixings + 1):
        constant, slope = affine_step(model, u * (share / fixings), slope, maturity / fixings)
        total = total + constant
    return total + slope * model.v0


def forward_log_characteristic_function(model, u, start, maturity):
    """Return log E[S_start / F_start exp(i u (X_maturity - X_start))].

    The later stretch gives exp(a + B v_start); weighted by the spot, v reverts at the speed
    b = kappa - rho sigma, and with l(t) = (1 - exp(-b t)) / b, c = 1 - sigma^2 B l(start) / 2,
    E[exp(B v_start)] = exp(B exp(-b start) v0 / c) c^(-2 kappa theta / sigma^2).

    Args:
        model, u: as for affine_step.
        start, maturity: years.

    Source: Kruse and Noegel (2005), "On the pricing of forward starting options in Heston's model
        on stochastic volatility", sec. 3.
    """
    constant, slope = affine_step(model, np.asarray(u, dtype=complex), 0.0, maturity - start)
    speed = model.kappa - model.rho * model.sigma
    run = -np.expm1(-speed * start) / speed if speed else start
    z = 0.5 * model.sigma**2 * slope * run
    logarithm = _log_beside_one(z, 1 - z) / model.sigma**2
    later = slope * np.exp(-speed * start) * model.v0 / (1 - z)
    return constant + later - 2 * model.kappa * model.theta * logarithm


def _riccati(model, u):
    """Return q, b and d of affine_step."""
    q = u * (u + 1j)
    b = model.kappa - 1j * model.rho * model.sigma * u
    linear = 1j * model.sigma * (model.sigma - 2 * model.kappa * model.rho)
    squared = model.kappa**2 + u * (model.sigma**2 * (1 - model.rho**2) * u + linear)
    return q, b, np.sqrt(squared)


def _lower_root(sigma2, q, b, d):
    """Return q / (b + d) and b + d without cancellation; (b + d) (d - b) = sigma^2 q.

    Args:
        sigma2: sigma^2.
        q, b, d: of affine_step, Re d >= 0.
    """
    falling = np.real(b) <= 0
    if not np.any(falling):
        return q / (b + d), b + d
    wide = np.where(falling, d - b, d + b)
    narrow = q / np.where(wide == 0, 1.0, wide)
    return np.where(falling, wide / sigma2, narrow), np.where(falling, sigma2 * narrow, wide)


def _half_fading(d, years):
    """Return (1 - exp(-d t)) / (2 d), t / 2 where d is zero."""
    if np.all(d):
        return _expm1(-d * years) / (-2 * d)
    still = d == 0
    return np.where(still, 0.5 * years, _expm1(-d * years) / np.where(still, 1.0, -2 * d))


def _expm1(z):
    """Return exp(z) - 1 of complex z without cancellation near zero."""
    half = np.sin(0.5 * z.imag)
    growth = np.exp(z.real)
    return (np.expm1(z.real) - 2 * growth * half * half) + 1j * growth * np.sin(z.imag)


def _log_beside_one(z, rest):
    """Return the logarithm of rest = 1 - z, without cancellation where z is small."""
    x, y = z.real, z.imag
    near = 0.5 * np.log1p(np.maximum(x * (x - 2) + y * y, -0.75))
    size = np.where(np.abs(z) < 0.5, near, np.log(np.abs(rest)))
    return size + 1j * np.arctan2(rest.imag, rest.real)
