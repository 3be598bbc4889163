"""Lewis's integral for a spot with a known characteristic function.

For a price P = F exp(Y), phi(u) = E[exp(i u Y)], and x = log(F / K),

    E[min(P, K)] = sqrt(F K) I,  I = (1/pi) int_0^inf Re[exp(i u x) phi(u - i/2)] du / (u^2 + 1/4)

along the line that runs halfway between the two poles of the payoff. The substitution
u = sinh(t + i y) / 2 puts the poles u = +-i/2, the nearest singularities of every Heston model, at
t + i y = +-i pi/2, so that the plain trapezoidal rule in t converges exponentially, in every model
at about the same number of nodes. Derivatives of the integral are the same integral with a factor
under it.

Source: Lewis (2000), ch. 2, eq. (2.10); Boyarchenko and Levendorskii (2019) for the
sinh-deformation.
"""

import numpy as np

from sciprec.foundation.errors import InputError

TILT = 0.35  # radians by which the contour leans towards faster decay, where it oscillates
LESS_TILTS = (0.1, 0.02, 0.002, 1e-4)  # where that does not converge, beside the end of all spots
NODES = 48  # first number of nodes
MOST_NODES = 2**15
NEGLIGIBLE = 1e-18  # size of an integrand that ends the contour
CONVERGED = 1e-12  # change on doubling; the error squares on doubling, so what is left is rounding
FAR = 1e6  # a u at which every characteristic function has its limiting slope


def unit_factor(u):
    """The factor of the plain integral."""
    return np.ones_like(u)


def lewis_integrals(exponent, moneyness, factors=(unit_factor,), about=""):
    """Return (1/pi) int_0^inf Re[f(u) exp(i u x) phi(u - i/2)] du / (u^2 + 1/4).

    Args:
        exponent: function of complex u, log phi(u).
        moneyness: x, any shape.
        factors: functions f of complex u.
        about: the model, for the message.

    Returns:
        Binary64, shape (factors, *moneyness.shape).

    Raises:
        InputError: too many nodes would be needed.
    """
    moneyness = np.asarray(moneyness, dtype=float)
    flat = moneyness.ravel()
    integrals = np.empty((len(factors), flat.size))
    angles = contour_angles(exponent, flat)
    for angle in np.unique(angles):
        chosen = angles == angle
        integrals[:, chosen] = _integrated(exponent, flat[chosen], factors, angle, about)
    return integrals.reshape(len(factors), *moneyness.shape)


def _integrated(exponent, moneyness, factors, angle, about):
    """Return the integrals at an angle or, where they do not converge, strike by strike at others:
    where rho is -1 or 1 log-spots have an end, and at a strike there the integrand neither decays
    nor oscillates.
    """
    try:
        with np.errstate(all="ignore"):  # where a contour leans too far, nothing converges
            return integrate(exponent, moneyness, factors, angle, about)
    except InputError as error:
        if moneyness.size > 1:
            columns = [
                _integrated(exponent, x[None], factors, angle, about) for x in moneyness
            ]
            return np.concatenate(columns, axis=1)
        for other in (sign * tilt for tilt in LESS_TILTS for sign in (1.0, -1.0)):
            try:
                with np.errstate(all="ignore"):
                    result = integrate(exponent, moneyness, factors, other, about)
            except InputError:
                continue
            if np.isfinite(result).all():
                return result
        raise error from None


def contour_angles(exponent, moneyness):
    """Return the angle of each strike's contour, against the oscillation of its integrand.

    For large u the integrand behaves as exp(-(decay - i frequency) u), for moderate u as a
    Gaussian times exp(i x u). Leaning towards the sign of both frequencies turns oscillation into
    decay; where the signs differ the contour stays straight.

    Args:
        exponent: as for lewis_integrals.
        moneyness: x, shape (strikes,).
    """
    near, far = exponent(np.array([FAR, 2 * FAR]) - 0.5j)
    decay, turning = -(far - near).real / FAR, (far - near).imag / FAR
    frequency = moneyness + turning
    leaning = (np.abs(frequency) > 0.5 * decay) & (frequency * moneyness >= 0)
    return np.where(leaning, np.sign(frequency) * TILT, 0.0)


def integrate(exponent, moneyness, factors, angle, about=""):
    """Return the integrals at one angle, doubling the nodes until nothing changes.

    Args:
        exponent, factors, about: as for lewis_integrals.
        moneyness: x, shape (strikes,).
        angle: radians.

    Returns:
        Shape (factors, strikes).
    """
    ends = np.array([moneyness.min(), moneyness.max()])
    t, step = np.linspace(0.0, _end(exponent, ends, factors, angle), NODES + 1, retstep=True)
    total = _sums(exponent, moneyness, factors, angle, t, first=0.5)
    nodes = NODES
    while nodes < MOST_NODES:
        between = (np.arange(nodes) + 0.5) * step
        addition = _sums(exponent, moneyness, factors, angle, between)
        change, total = step * (addition - total), total + addition
        nodes, step = 2 * nodes, 0.5 * step
        if np.all(np.abs(change) < CONVERGED * np.maximum(1.0, np.abs(step * total))):
            return total * (step / np.pi)
    raise InputError(
        f"the price of {about} did not converge with {MOST_NODES} nodes; accepted: parameters, "
        "strikes and maturities of less extreme ratios"
    )


def _end(exponent, moneyness, factors, angle):
    """Return the t beyond which the integrand is negligible for the given moneyness."""
    t = np.linspace(0.0, 60.0, 121)
    with np.errstate(all="ignore"):  # far beyond the end nothing has to be representable
        u, weights = _weights(exponent, angle, t)
        scale = np.max([np.abs(factor(u)) for factor in factors], axis=0)
        size = np.exp(-moneyness[:, None] * u.imag).max(axis=0) * np.abs(weights) * scale
    below = ~(size > NEGLIGIBLE * max(1.0, size[0]))
    below[-1] = True
    return t[max(np.argmax(below), 1)]


def _sums(exponent, moneyness, factors, angle, t, first=1.0):
    """Return the sums of the real integrands over the nodes t, shape (factors, strikes).

    The first node has the weight `first`, one half where it is the end of the contour.

    Re[exp(i u x) w] = exp(-x Im u) (cos(x Re u) Re w - sin(x Re u) Im w), all in real numbers.
    """
    u, weights = _weights(exponent, angle, t)
    weights[0] *= first
    weighted = np.stack([weights * factor(u) for factor in factors])
    phase = np.outer(u.real, moneyness)
    cosine, sine = np.cos(phase), np.sin(phase)
    if angle:
        damping = np.exp(-np.outer(u.imag, moneyness))
        cosine *= damping
        sine *= damping
    return weighted.real @ cosine - weighted.imag @ sine


def _weights(exponent, angle, t):
    """Return u and w = phi(u - i/2) (du/dt) / (u^2 + 1/4) at the nodes t.

    With u = sinh(s) / 2, s = t + i angle: (du/dt) / (u^2 + 1/4) = 2 / cosh(s).
    """
    s = t + 1j * angle
    u = 0.5 * np.sinh(s)
    return u, np.exp(exponent(u - 0.5j)) * (2.0 / np.cosh(s))
