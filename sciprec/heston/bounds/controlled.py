"""Payments of any payoffs along the paths, with controls whose prices are known."""

import numpy as np

from sciprec.heston.options.european_payoffs import Put, Spot
from sciprec.heston.schemes.moments import may_control
from sciprec.heston.semianalytic import analytic
from sciprec.heston.simulation.monitoring import observed_payments


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
