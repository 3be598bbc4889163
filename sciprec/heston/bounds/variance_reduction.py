"""The choice of an estimator."""

import numpy as np

from sciprec.foundation.arguments import word
from sciprec.foundation.errors import InputError
from sciprec.heston.bounds.conditional import ConditionalSampler, integrable
from sciprec.heston.bounds.controlled import PaymentSampler
from sciprec.heston.bounds.levels import Sampler, derived_seed
from sciprec.heston.bounds.pilot import coarsest_steps, regress
from sciprec.heston.bounds.request import PricingRequest
from sciprec.heston.payoff_registry import Payoff
from sciprec.heston.schemes.catalogue import scheme_named
from sciprec.heston.simulation.paths import Block

CHOICES = ("auto", "conditional", "antithetic", "control", "none")
TRIAL_PATHS = 1024
WORTH_WHILE = 0.75  # variance of pairs, at the same cost, below which they are taken


def choose_sampler(request: PricingRequest, payoffs: tuple[Payoff, ...]) -> Sampler:
    """Return the sampler of payments for some payoffs.

    Its variance_reduction is "auto", "conditional" (Europeans only), "antithetic" (pairs of
    payments with controls), "control" (payments with controls) or "none" (payments alone). "auto"
    integrates the spot out where all payoffs are Europeans and the scheme can, and takes payments
    with controls elsewhere, in pairs where a trial of TRIAL_PATHS gains by it.

    Args:
        request: a PricingRequest.
        payoffs: some of its payoffs.

    Raises:
        InputError: an unknown choice, or "conditional" where it is impossible.
    """
    choice = word("variance_reduction", request.variance_reduction, CHOICES)
    possible = integrable(payoffs) and scheme_named(request.scheme).lifts
    if choice == "conditional" and not possible:
        names = ", ".join(sorted({payoff.name for payoff in payoffs}))
        raise InputError(
            f"variance_reduction is 'conditional' with {names} and the scheme {request.scheme!r}; "
            "accepted: calls, puts, digitals and spots, and a scheme that lifts: try 'auto'"
        )
    arguments = request.model, payoffs, request.scheme
    if possible and choice in ("auto", "conditional"):
        return ConditionalSampler(*arguments, request.carried)
    single = PaymentSampler(*arguments, use_controls=choice != "none", carried=request.carried)
    if choice not in ("auto", "antithetic"):
        return single
    pairs = PaymentSampler(*arguments, antithetic=True, carried=request.carried)
    if choice == "antithetic":
        return pairs
    gain = _trial(pairs, request.seed) / _trial(single, request.seed)
    return pairs if np.all(gain < WORTH_WHILE) else single


def _trial(sampler, seed):
    """Return the variance of one price times its cost, shape (n_payoffs,)."""
    values, controls = sampler.raw(
        Block(0, TRIAL_PATHS), backend="fp64", n_steps=coarsest_steps(sampler),
        draws_per_step=1, seed=derived_seed(seed, "trial"),
    )  # fmt: skip
    residual = values - regress(values, controls, sampler.controls) @ controls
    return sampler.width * np.maximum(np.var(residual, axis=1), np.finfo(float).tiny)
