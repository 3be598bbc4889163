"""Semi-analytic European prices: the truth that the Monte Carlo is compared with.

With X = log(S_T / F) and its characteristic function phi, Lewis's single integral along the line
that runs halfway between the two poles of the payoff is

    call = D (F - sqrt(F K) I),  I = (1/pi) int_0^inf Re[exp(i u x) phi(u - i/2)] du / (u^2 + 1/4)

with x = log(F / K). The substitution u = sinh(t + i y) / 2 puts the poles u = +-i/2, the nearest
singularities of every Heston model, at t + i y = +-i pi/2, so that the plain trapezoidal rule in t
converges exponentially, in every model at about the same number of nodes.
"""

import numpy as np

from sciprec.errors import InputError
from sciprec.heston.model import finite_number, require_positive

TILT = 0.35  # radians by which the contour leans towards faster decay, where it oscillates
NODES = 48  # first number of nodes
MOST_NODES = 2**15
NEGLIGIBLE = 1e-18  # size of an integrand that ends the contour
CONVERGED = 1e-12  # change on doubling; the error squares on doubling, so what is left is rounding


def price(model, payoff):
    """Return the semi-analytic price of one European call or put.

    Args:
        model: a Model.
        payoff: a Call or a Put.

    Raises:
        InputError: the payoff has no semi-analytic price here.
    """
    name = getattr(payoff, "name", type(payoff).__name__)
    if name not in ("call", "put"):
        raise InputError(f"payoff {name!r} has no semi-analytic price; accepted: call, put")
    function = call_prices if name == "call" else put_prices
    return float(function(model, payoff.strike, payoff.maturity))


def call_prices(model, strikes, maturity):
    """Return European call prices for any array of strikes at one maturity.

    call = D (F - sqrt(F K) I), kept above the intrinsic value max(D (F - K), 0).

    Args:
        model: a Model.
        strikes: numbers above zero, any shape.
        maturity: years.

    Returns:
        Prices of the shape of strikes, binary64.

    Raises:
        InputError: a strike or the maturity is no finite number above zero.

    Source: Lewis (2000), ch. 2, eq. (2.10); the contour is Boyarchenko and Levendorskii's (2019)
        sinh-deformation.
    """
    strikes, covered, forward, discount = _parts(model, strikes, maturity)
    intrinsic = np.maximum(forward - strikes, 0.0)
    return discount * np.maximum(forward - covered, intrinsic)


def put_prices(model, strikes, maturity):
    """Return European put prices for any array of strikes at one maturity.

    put = D (K - sqrt(F K) I), kept above the intrinsic value max(D (K - F), 0).

    Args, Returns, Raises, Source: as call_prices.
    """
    strikes, covered, forward, discount = _parts(model, strikes, maturity)
    intrinsic = np.maximum(strikes - forward, 0.0)
    return discount * np.maximum(strikes - covered, intrinsic)


def log_characteristic_function(model, u, maturity):
    """Return log phi(u), phi(u) = E[exp(i u X)], of X = log(S_T / F).

    With q = u^2 + i u, b = kappa - i rho sigma u, d = sqrt(b^2 + sigma^2 q), e = exp(-d T),
    log phi = -q v0 (1 - e) / ((b + d) (1 - g e)) - kappa theta (q T / (b + d) + 2 l / sigma^2),
    g = (b - d) / (b + d),  l = log(1 - sigma^2 q (1 - e) / (2 d (b + d))).

    Args:
        model: a Model.
        u: complex numbers of any shape with -1 < Im u < 0 (the ends, too, if kappa > rho sigma).
        maturity: years.

    Returns:
        Complex numbers of the shape of u.

    Source: Heston (1993), eq. (17), in the form of Albrecher, Mayer, Schoutens and Tistaert
        (2007), eq. (4), whose logarithm is continuous with its principal branch.
    Differs from the source: b - d is replaced by -sigma^2 q / (b + d) and the quotient of
        logarithms by one log(1 + z), so that nothing cancels as sigma goes to zero; d^2 is
        multiplied out, so that nothing cancels as rho goes to -1 or 1.
    """
    u = np.asarray(u, dtype=complex)
    sigma2 = model.sigma**2
    q = u * (u + 1j)
    b = model.kappa - 1j * model.rho * model.sigma * u
    linear = 1j * model.sigma * (model.sigma - 2 * model.kappa * model.rho)
    d = np.sqrt(model.kappa**2 + u * (sigma2 * (1 - model.rho**2) * u + linear))
    plus = b + d
    fading = -_expm1(-d * maturity)  # 1 - e
    g = -sigma2 * q / (plus * plus)
    logarithm = _log1p(-sigma2 * q * fading / (2 * d * plus)) / sigma2
    exponent = -model.v0 * q * fading / (plus * (1 - g * (1 - fading)))
    exponent -= model.kappa * model.theta * (q * maturity / plus + 2 * logarithm)
    return exponent


def _parts(model, strikes, maturity):
    """Return strikes, min(S, K) payments' undiscounted values sqrt(F K) I, forward, discount."""
    strikes = np.asarray(strikes, dtype=float)
    maturity = finite_number("maturity", maturity)
    require_positive("maturity", maturity)
    bad = ~(np.isfinite(strikes) & (strikes > 0))
    if bad.any():
        raise InputError(f"strike is {strikes[bad].flat[0]}; accepted: a finite number above zero")
    forward = model.forward(maturity)
    moneyness = np.log(forward / strikes.ravel())
    integral = np.empty_like(moneyness)
    angles = _contour_angles(model, moneyness, maturity)
    for angle in np.unique(angles):
        chosen = angles == angle
        integral[chosen] = _lewis_integral(model, moneyness[chosen], maturity, angle)
    covered = np.sqrt(forward * strikes) * integral.reshape(strikes.shape)
    return strikes, covered, forward, model.discount(maturity)


def _contour_angles(model, moneyness, maturity):
    """Return the angle of each strike's contour, against the oscillation of its integrand.

    For large u the integrand behaves as exp(-(decay - i frequency) u) with frequency
    x - rho scale, for moderate u as a Gaussian times exp(i x u). Leaning towards the sign of both
    frequencies turns oscillation into decay; where the signs differ the contour stays straight.
    """
    scale = (model.v0 + model.kappa * model.theta * maturity) / model.sigma
    decay = scale * np.sqrt(1 - model.rho**2)
    frequency = moneyness - model.rho * scale
    leaning = (np.abs(frequency) > 0.5 * decay) & (frequency * moneyness >= 0)
    return np.where(leaning, np.sign(frequency) * TILT, 0.0)


def _lewis_integral(model, moneyness, maturity, angle):
    """Return I for log(F / K) of shape (strikes,), doubling the nodes until nothing changes."""
    end = _contour_end(model, np.array([moneyness.min(), moneyness.max()]), maturity, angle)
    t, step = np.linspace(0.0, end, NODES + 1, retstep=True)
    values = _integrand(model, moneyness, maturity, angle, t)
    total = values.sum(axis=1) - 0.5 * values[:, 0]
    nodes = NODES
    while nodes < MOST_NODES:
        between = (np.arange(nodes) + 0.5) * step
        addition = _integrand(model, moneyness, maturity, angle, between).sum(axis=1)
        change, total = step * (addition - total), total + addition
        nodes, step = 2 * nodes, 0.5 * step
        if np.all(np.abs(change) < CONVERGED):
            return total * (step / np.pi)
    raise InputError(
        f"the price of {model} at maturity {maturity} did not converge with {MOST_NODES} nodes; "
        "accepted: parameters, strikes and maturities of less extreme ratios"
    )


def _contour_end(model, moneyness, maturity, angle):
    """Return the t beyond which the integrand is negligible for the given log(F / K)."""
    t = np.linspace(0.0, 60.0, 121)
    with np.errstate(all="ignore"):  # far beyond the end nothing has to be representable
        size = np.abs(_integrand(model, moneyness, maturity, angle, t, real=False)).max(axis=0)
    below = ~(size > NEGLIGIBLE)
    below[-1] = True
    return t[max(np.argmax(below), 1)]


def _integrand(model, moneyness, maturity, angle, t, real=True):
    """Return exp(i u x) phi(u - i/2) (du/dt) / (u^2 + 1/4), shape (strikes, t).

    With u = sinh(s) / 2, s = t + i angle: (du/dt) / (u^2 + 1/4) = 2 / cosh(s).
    """
    s = t + 1j * angle
    u = 0.5 * np.sinh(s)
    exponent = log_characteristic_function(model, u - 0.5j, maturity)
    values = np.exp(1j * moneyness[:, None] * u + exponent) * (2.0 / np.cosh(s))
    return values.real if real else values


def _expm1(z):
    """Return exp(z) - 1 of complex z without cancellation near zero."""
    half = np.sin(0.5 * z.imag)
    growth = np.exp(z.real)
    return (np.expm1(z.real) - 2 * growth * half * half) + 1j * growth * np.sin(z.imag)


def _log1p(z):
    """Return log(1 + z) of complex z without cancellation near zero."""
    x, y = z.real, z.imag
    near = 0.5 * np.log1p(np.maximum(x * (2 + x) + y * y, -1.0))
    return np.where(np.abs(z) < 0.5, near, np.log(np.abs(1 + z))) + 1j * np.arctan2(y, 1 + x)
