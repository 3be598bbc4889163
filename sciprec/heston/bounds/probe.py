"""How large the rare payments of a user's own payoff are, measured where they are not rare.

The paths of a price do not show what it pays on rarer ones. So the spot is moved by up to FARTHEST
deviations of its logarithm to either side, which is as far as one path in thirty thousand comes:
the largest mean payment of paths that are paid on, wherever the spot is, stands for a rare one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sciprec.foundation.errors import InputError
from sciprec.heston.bounds.controlled import PaymentSampler
from sciprec.heston.bounds.levels import derived_seed
from sciprec.heston.bounds.pilot import coarsest_steps
from sciprec.heston.parameters import Model
from sciprec.heston.payoff_registry import Payoff, spot_deviation
from sciprec.heston.simulation.paths import Block

PATHS = 512
FARTHEST = 4


def is_ours(payoff: Payoff) -> bool:
    """Return whether what a payoff says of its size is known to hold: sciprec's own do."""
    return type(payoff).__module__.startswith("sciprec.heston.")


def measured_scales(
    model: Model, payoffs: Sequence[Payoff], scheme: str, seed: int
) -> np.ndarray:  # fmt: skip
    """Return the sizes of rare payments, discounted, shape (n_payoffs,); 0 where none was made.

    Args:
        model: a Model.
        payoffs: of any kind.
        scheme: name of a path scheme.
        seed: integer in [0, 2**64).
    """
    largest = np.zeros(len(payoffs))
    for k, payoff in enumerate(payoffs):
        deviation = spot_deviation(model, payoff.maturity) / model.forward(payoff.maturity)
        for shift in np.arange(-FARTHEST, FARTHEST + 1) * deviation:
            largest[k] = max(largest[k], _mean_size(model, payoff, scheme, seed, np.exp(shift)))
    return largest


def _mean_size(model: Model, payoff: Payoff, scheme: str, seed: int, factor: float) -> float:
    """Return the mean size of payments that are made with the spot moved by a factor, or 0."""
    try:
        moved = replace(model, spot=model.spot * factor)
        payoff.check(moved)
    except InputError:  # so far away the payoff or the model makes no sense
        return 0.0
    sampler = PaymentSampler(moved, [payoff], scheme, use_controls=False)
    (paid,), _ = sampler.raw(
        Block(0, PATHS), backend="fp64", n_steps=coarsest_steps(sampler), draws_per_step=1,
        seed=derived_seed(seed, "probe"),
    )  # fmt: skip
    sizes = np.abs(paid[np.isfinite(paid) & (paid != 0.0)])
    return float(np.mean(sizes)) if sizes.size else 0.0
