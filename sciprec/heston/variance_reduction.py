"""The choice of an estimator, and its regression on the controls."""

import numpy as np

from sciprec.errors import InputError
from sciprec.heston.conditional import ConditionalSampler, integrable
from sciprec.heston.controlled import PaymentSampler
from sciprec.heston.schemes import scheme_named

CHOICES = ("auto", "conditional", "control", "none")
NEGLIGIBLE = 1e-13  # singular values below this share of the largest one are no controls


def choose_sampler(model, payoffs, scheme, choice="auto"):
    """Return the sampler of payments for some payoffs.

    Args:
        model: a Model.
        payoffs: a tuple of payoffs.
        scheme: name of a path scheme.
        choice: "auto", "conditional" (Europeans only), "control" (payments with controls) or
            "none" (payments alone). "auto" integrates the spot out where all payoffs are
            Europeans and the scheme can, and takes payments with controls elsewhere.

    Returns:
        An object with raw(), controls, name and sentence: see ConditionalSampler.

    Raises:
        InputError: an unknown choice, or "conditional" where it is impossible.
    """
    if choice not in CHOICES:
        raise InputError(
            f"variance_reduction is {choice!r}; accepted: {', '.join(map(repr, CHOICES))}"
        )
    possible = integrable(payoffs) and scheme_named(scheme).lifts
    if choice == "conditional" and not possible:
        names = ", ".join(sorted({payoff.name for payoff in payoffs}))
        raise InputError(
            f"variance_reduction is 'conditional' with {names} and the scheme {scheme!r}; "
            "accepted: calls, puts, digitals and spots, and a scheme that lifts: try 'auto'"
        )
    if possible and choice in ("auto", "conditional"):
        return ConditionalSampler(model, payoffs, scheme)
    return PaymentSampler(model, payoffs, scheme, use_controls=choice != "none")


def regress(values, controls, rows):
    """Return the coefficients b of least squares of values on controls, with an intercept.

    Fixed before the paths that they are used on are drawn, they leave the mean as it is.

    Args:
        values: shape (payoffs, paths); controls: shape (controls, paths).
        rows: per payoff the rows of the controls that may be used.

    Returns:
        Shape (payoffs, controls); zero where a path is not finite.
    """
    coefficients = np.zeros((len(values), len(controls)))
    for k, used in enumerate(rows):
        chosen = controls[used]
        if used and np.isfinite(chosen).all() and np.isfinite(values[k]).all():
            centred = chosen - chosen.mean(axis=1, keepdims=True)
            scale = np.maximum(np.sqrt(np.mean(centred**2, axis=1)), np.finfo(float).tiny)
            left = (centred / scale[:, None]).T
            right = values[k] - values[k].mean()
            solution = np.linalg.lstsq(left, right, rcond=NEGLIGIBLE)[0]
            coefficients[k, used] = solution / scale
    return coefficients
