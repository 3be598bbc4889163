"""Prices and their derivatives along paths, one row of numbers for each.

In a smooth group (simulation.monitoring) the level of the spot at the first date is integrated
out (options.level_payments): delta and gamma are derivatives of that, path by path, and the
smooth payment is differenced in the rate, the variance and the time. In other groups payments are
differenced in the spot, too. Differences are central, but for a v0 near zero, and their paths share
all random numbers.
"""

from dataclasses import replace

import numpy as np

from sciprec.heston.options.level_payments import mean_payments
from sciprec.heston.schemes.moments import mean_integrated_variance
from sciprec.heston.sensitivities.bumps import central_difference

ROWS = ("price", "delta", "gamma", "vega_v0", "rho", "theta")
LEVEL_ROWS = 6  # forward and variance of the level: themselves, differenced in v0, in the time


def estimates(group, model, bumps, run):
    """Return the rows of every payoff of a group, and the level's own rows.

    Args:
        group: a Group.
        model: a Model.
        bumps: Bumps.
        run: watch without group: (model, views, nearer=) -> Watched.

    Returns:
        {payoff: discounted prices and derivatives, shape (len(ROWS), n_paths)}, and for a smooth
        group an array (LEVEL_ROWS, n_paths), else None.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        views = [_shifted(model, rate=offset) for offset, _ in _rate_stencil(group, bumps)]
        if not group.smooth:
            views += [_scaled(model, 1 + bumps.spot), _scaled(model, 1 - bumps.spot)]
        base = run(model, [model, *views])
        nearer = _time_stencil(group, bumps)
        moved = [
            [(base if not offset else run(_shifted(model, v0=offset), [model]), weight)
             for offset, weight in bumps.v0_stencil],
            [(run(model, [model], nearer=offset), weight) for offset, weight in nearer],
        ]  # fmt: skip
        rows = {
            payoff: _payoff_rows(group, payoff, model, views, base, moved, bumps, nearer)
            for payoff in group.payoffs
        }
        return rows, _level_rows(group, model, base, moved, nearer) if group.smooth else None


def level_means(group, model, bumps, step):
    """Return the means of the level's rows, shape (LEVEL_ROWS,).

    Args:
        group, model, bumps: as for `estimates`.
        step: number of steps to the group's first date.

    Precision: the variance's mean is that of the quadratic-exponential schemes, which keep the
        model's at every step.
    """

    def spread(shifted, years):
        return (1 - model.rho**2) * mean_integrated_variance(shifted, years, step)

    first, nearer = group.first_years, _time_stencil(group, bumps)
    return np.array(
        [
            model.forward(first),
            spread(model, first),
            0.0,
            sum(w * spread(_shifted(model, v0=offset), first) for offset, w in bumps.v0_stencil),
            sum(w * model.forward(first - offset) for offset, w in nearer),
            sum(w * spread(model, first - offset) for offset, w in nearer),
        ]
    )


def amplification(group, model, bumps):
    """Return the sums of the sizes of the weights of prices in every row, shape (len(ROWS),).

    Args:
        group, model, bumps: as for `estimates`.
    """

    def size(stencil):
        return sum(abs(weight) for _, weight in stencil)

    width = bumps.spot * model.spot
    in_spot = (0.0, 0.0) if group.smooth else (1 / width, 4 / width**2)
    stencils = (bumps.v0_stencil, _rate_stencil(group, bumps), _time_stencil(group, bumps))
    return np.array([0.0, *in_spot, *(size(stencil) for stencil in stencils)])


def _payoff_rows(group, payoff, model, views, base, moved, bumps, nearer):
    """Return the rows of one payoff."""

    def paid(watched, k, view, years_gone=0.0):
        discount = view.discount(payoff.maturity - years_gone)
        return discount * _payment(group, payoff, watched, k)

    plain = paid(base, 0, model)
    price = plain[0]
    if group.smooth:
        delta, gamma = plain[1] / model.spot, (plain[2] - plain[1]) / model.spot**2
    else:
        up, down = (paid(base, k, model)[0] for k in (len(views) - 1, len(views)))
        width = bumps.spot * model.spot
        delta, gamma = (up - down) / (2 * width), (up - 2 * price + down) / width**2
    vega = sum(weight * paid(watched, 0, model)[0] for watched, weight in moved[0])
    rates = _rate_stencil(group, bumps)
    rho = sum(weight * paid(base, k + 1, views[k])[0] for k, (_, weight) in enumerate(rates))
    theta = sum(
        weight * paid(watched, 0, model, offset)[0]
        for (watched, weight), (offset, _) in zip(moved[1], nearer, strict=True)
    )
    return np.stack([price, delta, gamma, vega, rho, theta])


def _payment(group, payoff, watched, k):
    """Return undiscounted payments of a view, with two derivatives where the group is smooth."""
    rows = watched.rows[k][payoff.observation]
    if not group.smooth:
        return payoff.payment(rows)[None]
    return mean_payments(payoff.level_piece(rows), watched.mean, watched.spread)


def _level_rows(group, model, base, moved, nearer):
    """Return forward and variance of the level, and their differences."""

    def level(watched, years_gone=0.0):
        forward = model.forward(group.first_years - years_gone)
        return np.stack([forward * np.exp(watched.mean + 0.5 * watched.spread), watched.spread])

    by_v0 = sum(weight * level(watched) for watched, weight in moved[0])
    by_time = sum(
        weight * level(watched, offset)
        for (watched, weight), (offset, _) in zip(moved[1], nearer, strict=True)
    )
    return np.concatenate([level(base), by_v0, by_time])


def _time_stencil(group, bumps):
    """Return offsets in years by which dates come nearer, and weights."""
    return central_difference(bumps.time * group.first_years)


def _rate_stencil(group, bumps):
    """Return offsets of the rate and weights; the last forward moves as the spot does."""
    longest = max(payoff.maturity for payoff in group.payoffs)
    return central_difference((bumps.rate if group.smooth else bumps.spot) / longest)


def _shifted(model, **offsets):
    """Return a model with parameters shifted."""
    return replace(model, **{name: getattr(model, name) + by for name, by in offsets.items()})


def _scaled(model, factor):
    """Return a model with its spot multiplied."""
    return replace(model, spot=model.spot * factor)
