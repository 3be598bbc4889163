"""Andersen's martingale-corrected scheme as printed, and what its increments gain in few bits.

`python -m data.heston.as_printed` prints the table of docs/lab/heston.md: the rounding error of a
price with the formulas as they stand in the source, and with those of
sciprec.heston.schemes.quadratic_exponential, on the same random numbers.
"""

import argparse
import math
from dataclasses import dataclass

import numpy as np

from data.heston.bias import andersen_cases
from sciprec.heston.options.european_payoffs import Call
from sciprec.heston.parameters import Model
from sciprec.heston.schemes.quadratic_exponential import SWITCH
from sciprec.heston.semianalytic import analytic
from sciprec.heston.simulation.block import Simulation, lifted
from sciprec.heston.simulation.paths import blocks
from sciprec.heston.variates.random_numbers import PhiloxVariates
from sciprec.precision import resolve_backend
from sciprec.precision.registry import kernel

BACKENDS = ("fp32", "mlu370", "fp16", "bf16")
SCHEME = "quadratic_exponential_martingale"
LEWIS = Model(
    spot=100, v0=0.04, kappa=4, theta=0.25, sigma=1, rho=-0.5, rate=0.01, dividend_yield=0.02
)
EXAMPLE = Model(spot=100, v0=0.04, kappa=0.5, theta=0.04, sigma=1, rho=-0.9)


@dataclass(frozen=True)
class RoundingRow:
    """Mean payment in binary64 less that in a backend, on the same paths, as shares of the truth.

    Attributes:
        case, backend: what was simulated, and in which arithmetic.
        printed, increments: of the formulas as printed and of those in increments.
        printed_error, increments_error: their standard errors.
    """

    case: str
    backend: str
    printed: float
    printed_error: float
    increments: float
    increments_error: float


def printed_constants(model, step_years):
    """Return exp(-kappa dt), theta, slope and offset of s^2, and K1, K2, K3 in binary64.

    Args:
        model: a Model.
        step_years: dt.

    Source: Andersen (2008), eqs (17), (18) and (33), gamma1 = gamma2 = 1/2.
    """
    kappa, sigma, rho = model.kappa, model.sigma, model.rho
    fade = math.exp(-kappa * step_years)
    slope = sigma**2 * fade / kappa * (1 - fade)
    offset = model.theta * sigma**2 / (2 * kappa) * (1 - fade) ** 2
    drift = 0.5 * step_years * (kappa * rho / sigma - 0.5)
    across = 0.5 * step_years * (1 - rho**2)
    given = fade, model.theta, slope, offset, drift - rho / sigma, drift + rho / sigma, across
    return np.array(given)


def _example():
    """Return arguments of the kernel: two steps of three paths."""
    draws = np.array([[0.3, -1.2, 0.7], [-0.4, 0.1, 1.9], [0.48, 0.12, 1.42]])
    state = np.zeros(3), np.full(3, 0.04)
    return printed_constants(EXAMPLE, 0.25), np.stack([draws, -0.7 * draws[::-1]]), *state


@kernel(example=_example)
def printed_steps(constants, draws, log_ratio, variance):
    """Advance paths by the scheme as printed.

    Args:
        constants: of printed_constants.
        draws: per step a normal of the variance, one across, and the exponential of the first
            one's word, shape (steps, 3, n_paths).
        log_ratio, variance: log(S_t / F_t) and v, shape (n_paths,); written.

    Source: Andersen (2008), sec. 3.2.4 and eqs (33) to (38).
    """
    fade, theta, slope, offset = constants[0], constants[1], constants[2], constants[3]
    k1, k2, k3 = constants[4], constants[5], constants[6]
    tilt = k2 + 0.5 * k3
    for step in range(draws.shape[0]):
        for i in range(variance.size):
            v = variance[i]
            mean = theta + (v - theta) * fade  # eq. 17
            spread = v * slope + offset  # eq. 18
            psi = spread / (mean * mean)
            if psi <= SWITCH:
                inverse = 2.0 / psi
                b2 = inverse - 1.0 + math.sqrt(inverse) * math.sqrt(inverse - 1.0)  # eq. 27
                a = mean / (1.0 + b2)  # eq. 28
                root = math.sqrt(b2) + draws[step, 0, i]
                following = a * root * root  # eq. 23
                fall = 1.0 - 2.0 * tilt * a
                k0 = 0.5 * math.log(fall) - tilt * b2 * a / fall  # eq. 37
            else:
                p = (psi - 1.0) / (psi + 1.0)  # eq. 29
                beta = (1.0 - p) / mean  # eq. 30
                following = max(0.0, (math.log(1.0 - p) + draws[step, 2, i]) / beta)  # eq. 25
                k0 = -math.log(p + beta * (1.0 - p) / (beta - tilt))  # eq. 38
            k0 -= (k1 + 0.5 * k3) * v
            across = math.sqrt(k3 * v + k3 * following)
            log_ratio[i] += k0 + k1 * v + k2 * following + across * draws[step, 1, i]  # eq. 33
            variance[i] = following


def printed_log_ratio(model, block, *, step_years, n_steps, backend, seed):
    """Return log(S_t / F_t) after n_steps of the scheme as printed, binary64, shape (n_paths,).

    Args: as for sciprec.heston.simulation.block.Simulation.
    """
    resolved = resolve_backend(backend)
    draws = np.empty((n_steps, 3, block.n_paths), dtype=resolved.carrier)
    PhiloxVariates(seed, block.first_path).fill(0, 0, draws)
    state = (np.full(block.n_paths, start, resolved.carrier) for start in (0.0, model.v0))
    log_ratio, variance = state
    constants = printed_constants(model, step_years).astype(resolved.carrier)
    lifted(printed_steps, resolved)(constants, draws, log_ratio, variance)
    return log_ratio.astype(np.float64)


def increments_log_ratio(model, block, *, step_years, n_steps, backend, seed):
    """Return the same by the registered scheme."""
    simulation = Simulation(
        model, block, step_years=step_years, backend=backend, scheme=SCHEME, seed=seed
    )
    simulation.advance(n_steps)
    return simulation.log_ratio()


def rounding_row(case, model, option, backend, *, n_steps, n_paths, seed=0):
    """Measure one RoundingRow.

    Args:
        case: a name.
        model: a Model.
        option: a European payoff.
        backend: name of an arithmetic.
        n_steps, n_paths: integers.
        seed: of the random numbers.
    """
    given = {"step_years": option.maturity / n_steps, "n_steps": n_steps, "seed": seed}
    truth = analytic.price(model, option) / model.discount(option.maturity)
    found = []
    for simulate in (printed_log_ratio, increments_log_ratio):
        lost = np.concatenate(
            [_lost(simulate, model, option, block, backend, given) for block in blocks(n_paths)]
        )
        found += [float(lost.mean() / truth), float(lost.std() / math.sqrt(n_paths) / truth)]
    return RoundingRow(case, backend, *found)


def _lost(simulate, model, option, block, backend, given):
    """Return payments in binary64 less those in a backend, shape (n_paths,)."""
    forward = model.forward(option.maturity)
    with np.errstate(over="ignore", invalid="ignore"):  # nonfinite payments stay so
        exact, cheap = (
            option.at_maturity(forward * np.exp(simulate(model, block, backend=name, **given)))
            for name in ("fp64", backend)
        )
        return exact - cheap


def cases():
    """Return {name: (model, call with strike 100, steps)}: 32 steps a year, and 256."""
    found = {
        f"Lewis, {n_steps} steps": (LEWIS, Call(strike=100, maturity=1), n_steps)
        for n_steps in (32, 256)
    }
    for case in ("III", "I"):
        model, years = andersen_cases()[case]
        name = f"Andersen {case}, {32 * years} steps"
        found[name] = model, Call(strike=100, maturity=years), 32 * years
    return found


def markdown(rows):
    """Return the rows as a Markdown table, in per cent of the price."""
    lines = ["| case | arithmetic | as printed | in increments |", "|---|---|---|---|"]
    for row in rows:
        cells = (
            f"{100 * mean:+.2g} ± {100 * error:.1g} %"
            for mean, error in (
                (row.printed, row.printed_error), (row.increments, row.increments_error),
            )
        )  # fmt: skip
        lines.append(f"| {row.case} | `{row.backend}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main(arguments=None):
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m data.heston.as_printed")
    parser.add_argument("--paths", type=int, default=2**14, help="paths of every measurement")
    n_paths = parser.parse_args(arguments).paths
    rows = [
        rounding_row(name, model, option, backend, n_steps=n_steps, n_paths=n_paths)
        for name, (model, option, n_steps) in cases().items()
        for backend in BACKENDS
    ]
    print(markdown(rows))


if __name__ == "__main__":
    main()
