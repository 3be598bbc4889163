"""The full-truncation Euler scheme."""

import math

import numpy as np

from sciprec.heston.parameters import Model
from sciprec.heston.schemes.registry import add_carried, kernel_example, path_scheme
from sciprec.precision.registry import kernel

EXAMPLE = Model(spot=100, v0=0.04, kappa=4, theta=0.25, sigma=1, rho=-0.5)


def euler_constants(model, step_years, units):
    """Return the constants of full_truncation_euler in binary64, in the units of the state."""
    per_unit = 1.0 / units.log_spot_unit
    return np.array(
        [
            model.theta / units.variance_unit,
            model.kappa * step_years,
            model.sigma * math.sqrt(step_years / units.variance_unit),
            model.rho,
            math.sqrt(1 - model.rho**2),
            math.sqrt(step_years * units.variance_unit) * per_unit,
            0.5 * step_years * units.variance_unit * per_unit,
        ]
    )


@kernel(example=lambda: kernel_example(EXAMPLE, 0.25, euler_constants))
@path_scheme(constants=euler_constants, source="Lord, Koekkoek and van Dijk (2010), eq. (14)")
def full_truncation_euler(
    constants, draws, log_spot, log_spot_carry, variance, variance_carry, integral, integral_carry
):
    """Advance a block of paths by Euler's scheme in log(S / F) with full truncation.

    v' = v + kappa (theta - v+) dt + sigma sqrt(v+ dt) Zv,  v+ = max(v, 0)
    log(S'/F') = log(S/F) - v+ dt / 2 + sqrt(v+ dt) (rho Zv + sqrt(1 - rho^2) Z)
    """
    level = constants[0]
    reversion = constants[1]
    volatility = constants[2]
    rho = constants[3]
    rho_across = constants[4]
    diffusion = constants[5]
    convexity = constants[6]
    for step in range(draws.shape[0]):
        for i in range(log_spot.shape[0]):
            v = variance[i]
            v_plus = max(v, 0.0)
            root = math.sqrt(v_plus)
            normal = draws[step, 0, i]
            change = (level - v_plus) * reversion + volatility * root * normal
            add_carried(variance, variance_carry, i, change)
            shock = diffusion * root * (rho * normal + rho_across * draws[step, 1, i])
            gain = shock - convexity * v_plus
            add_carried(log_spot, log_spot_carry, i, gain)
            add_carried(integral, integral_carry, i, v_plus)
