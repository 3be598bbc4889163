"""Europeans with the spot integrated out: conditional Monte Carlo.

Given the path of the variance, the scheme's log(S_T / F) is normal with mean M and variance W,
both made by the kernel in the backend's arithmetic, so that the expected payment is Black's
formula with the forward f = F exp(M + W / 2) and the deviation sqrt(W). What is left of the noise
is nearly a straight line in f and W, whose means are known: they are the controls.
"""

import numpy as np

from sciprec.heston.schemes.moments import FINITE_MOMENT, may_control, mean_integrated_variance
from sciprec.heston.simulation.block import Simulation


class ConditionalSampler:
    """Payments of Europeans, expected given the path of the variance.

    Args:
        model: a Model.
        payoffs: of any maturities, each with the formula `expected`.
        scheme: name of a path scheme that can leave out the independent Brownian motion.
        carried: whether states carry their rounding errors along, see Simulation.

    Attributes:
        controls: per payoff the rows of the controls that may be used for it.
        sentence: what was chosen, and why.

    Source: Willard (1997), "Calculating prices and sensitivities for path-independent derivatives
        securities in multifactor models"; Romano and Touzi (1997), prop. 4.1.
    Differs from the source: exact for the scheme, not only as the steps go to zero. A call is
        the put and its parity, so that all payments are bounded.
    """

    name = "conditional"
    width = 1  # simulated paths for each path

    def __init__(self, model, payoffs, scheme, carried=True):
        self.model, self.payoffs, self.scheme = model, tuple(payoffs), scheme
        self.carried = carried
        self.dates = sorted({payoff.maturity for payoff in payoffs})
        share = model.rho**2
        self._spot_controls = [may_control(model, date, share) for date in self.dates]
        self.controls = [self._rows(payoff) for payoff in payoffs]
        self.sentence = self._why()

    def raw(self, block, *, backend, n_steps, draws_per_step, seed):
        """Simulate a block; return discounted payments and centred controls.

        Args:
            block: a Block.
            backend, seed: as for Simulation.
            n_steps: to the longest maturity.
            draws_per_step: variates of short steps in each step, see Simulation.

        Returns:
            Binary64 arrays (payoffs, paths) and (controls, paths): for every maturity f - F and
            W - E[W], the latter's mean as the quadratic-exponential schemes keep it.
        """
        longest = self.dates[-1]
        simulation = Simulation(
            self.model, block, step_years=longest / n_steps, backend=backend, seed=seed,
            scheme=self.scheme, draws_per_step=draws_per_step, conditional=True,
            carried=self.carried,
        )  # fmt: skip
        values = np.empty((len(self.payoffs), block.n_paths))
        controls = np.empty((2 * len(self.dates), block.n_paths))
        for row, date in enumerate(self.dates):
            step = round(date / longest * n_steps)
            simulation.advance(step - simulation.step)
            forward, spread = self._given_variance(simulation, date)
            controls[2 * row] = forward - self.model.forward(date)
            controls[2 * row + 1] = spread - self._mean_spread(date, step)
            for k, payoff in enumerate(self.payoffs):
                if payoff.maturity == date:
                    expected = payoff.expected(self.model, forward, spread)
                    values[k] = self.model.discount(date) * expected
        return values, controls

    def _given_variance(self, simulation, date):
        """Return f and W of every path."""
        spread = np.maximum(simulation.conditional_variance(), 0.0)
        with np.errstate(over="ignore", invalid="ignore"):
            forward = self.model.forward(date) * np.exp(simulation.log_ratio() + 0.5 * spread)
        return forward, spread

    def _mean_spread(self, date, step):
        """Return E[W]."""
        share = 1 - self.model.rho**2
        return share * mean_integrated_variance(self.model, date, step)

    def _rows(self, payoff):
        """Return the rows of the controls of a payoff's maturity."""
        row = self.dates.index(payoff.maturity)
        return [2 * row] * self._spot_controls[row] + [2 * row + 1]

    def _why(self):
        """Say what was chosen."""
        text = (
            "Europeans: the spot is integrated out given the variance, controlled by the "
            f"integral of the variance (2 kappa theta / sigma^2 = {self.model.feller_ratio:.3g})"
        )
        if all(self._spot_controls):
            return text + " and by the spot"
        return text + f"; not by the spot, whose moment of order {FINITE_MOMENT} is infinite"


def integrable(payoffs):
    """Return whether every payoff is a European whose spot can be integrated out."""
    return all(payoff.knows("expected") for payoff in payoffs)
