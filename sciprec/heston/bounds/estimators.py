"""Estimators of prices, and the choice of one: conditional Monte Carlo of Europeans, and payments
of any payoffs along the paths, with controls whose prices are known.

Of Europeans the spot is integrated out. Given the path of the variance, the scheme's log(S_T / F)
is normal with mean M and variance W, both made by the kernel in the backend's arithmetic, so that
the expected payment is Black's formula with the forward f = F exp(M + W / 2) and the deviation
sqrt(W). What is left of the noise is nearly a straight line in f and W, whose means are known: they
are the controls.
"""

from __future__ import annotations

import numpy as np

from sciprec.foundation.arguments import word
from sciprec.foundation.errors import InputError
from sciprec.heston.bounds.levels import Sampler, derived_seed
from sciprec.heston.bounds.pilot import coarsest_steps, regress
from sciprec.heston.bounds.request import PricingRequest
from sciprec.heston.options.european_payoffs import Put, Spot
from sciprec.heston.payoff_registry import Payoff
from sciprec.heston.schemes.catalogue import scheme_named
from sciprec.heston.schemes.moments import FINITE_MOMENT, may_control, mean_integrated_variance
from sciprec.heston.semianalytic import analytic
from sciprec.heston.simulation.block import Simulation
from sciprec.heston.simulation.monitoring import observed_payments
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


class PaymentSampler:
    """Discounted payments, with controls among the payoffs that have a semi-analytic price.

    Args:
        model: a Model.
        payoffs: of any kind.
        scheme: name of a path scheme.
        use_controls: whether there are any.
        antithetic: whether every path is the mean of a pair with opposite normal variates.
        carried: whether states carry their rounding errors along, see Simulation.

    Attributes:
        controls: per payoff the rows of its controls.
        sentence: what was chosen, and why.

    Source: Kemna and Vorst (1990) for the geometric mean as a control of the arithmetic one.
    """

    name = "payments"

    def __init__(
        self, model, payoffs, scheme, use_controls=True, antithetic=False, carried=True
    ):  # fmt: skip
        self.model, self.payoffs, self.scheme = model, tuple(payoffs), scheme
        self.carried = carried
        names = [controls_of(model, p) if use_controls else [] for p in self.payoffs]
        self._extra = list(dict.fromkeys(control for row in names for control in row))
        self.controls = [[self._extra.index(control) for control in row] for row in names]
        self._means = np.array([analytic.price(model, control) for control in self._extra])
        self.width = 2 if antithetic else 1  # simulated paths for each path
        self.sentence = self._why() + ", antithetic pairs" * antithetic

    def raw(self, block, *, backend, n_steps, draws_per_step, seed):
        """Simulate a block; return discounted payments and centred controls.

        Args, Returns: as ConditionalSampler.raw; a control is its discounted payment less its
            semi-analytic price. That is the mean in the model, not in the scheme: the difference
            is part of the discretisation error, and measured with it.
        """
        everything = [*self.payoffs, *self._extra]
        options = {"backend": backend, "scheme": self.scheme, "n_steps": n_steps, "seed": seed}
        options |= {"draws_per_step": draws_per_step, "carried": self.carried}
        paid = observed_payments(self.model, everything, block, **options)
        if self.width == 2:
            paid += observed_payments(self.model, everything, block, mirrored=True, **options)
            paid *= 0.5
        paid *= np.array([[self.model.discount(payoff.maturity)] for payoff in everything])
        count = len(self.payoffs)
        return paid[:count], paid[count:] - self._means[:, None]

    def _why(self):
        """Say what was chosen."""
        if not self._extra:
            return "plain payments, no control"
        names = list(dict.fromkeys(control.name for control in self._extra))
        return f"payments along the path, controlled by payoffs of known price: {', '.join(names)}"


def controls_of(model, payoff):
    """Return payoffs of known price that go with a payoff: the spot, where it has the moment that
    a control needs, the European put, and those that the payoff names."""
    maturity = payoff.maturity
    controls = [Spot(maturity=maturity)] if may_control(model, maturity) else []
    if not payoff.knows("expected"):
        controls.append(Put(strike=getattr(payoff, "strike", model.spot), maturity=maturity))
    return [control for control in (*controls, *payoff.controls()) if control != payoff]
