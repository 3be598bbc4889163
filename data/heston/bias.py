"""Discretisation bias of every path scheme against the semi-analytic price.

`python -m data.heston.bias` prints the table of docs/lab/heston.md.
"""

import argparse
import math
from dataclasses import dataclass

import numpy as np

from sciprec.heston.options.european_payoffs import Call, Spot
from sciprec.heston.parameters import Model
from sciprec.heston.schemes.catalogue import schemes
from sciprec.heston.semianalytic import analytic
from sciprec.heston.simulation.monitoring import observed_payments
from sciprec.heston.simulation.paths import blocks

_ANDERSEN = {
    "I": (Model(spot=100, v0=0.04, kappa=0.5, theta=0.04, sigma=1, rho=-0.9), 10),
    "II": (Model(spot=100, v0=0.04, kappa=0.3, theta=0.04, sigma=0.9, rho=-0.5), 15),
    "III": (Model(spot=100, v0=0.09, kappa=1, theta=0.09, sigma=1, rho=-0.3, rate=0.05), 5),
}
_STEPS_PER_YEAR = (1, 2, 4, 8, 16, 32)


@dataclass(frozen=True)
class Bias:
    """One measurement: price - truth, and the standard error of its Monte Carlo."""

    scheme: str
    steps_per_year: int
    strike: float
    truth: float
    bias: float
    standard_error: float


def andersen_cases():
    """Return {name: (model, maturity in years)} of Andersen's three cases.

    Source: Andersen (2008), table 1; case III with the rate of its second variant.
    """
    return dict(_ANDERSEN)


def measured_bias(model, strikes, maturity, *, scheme, n_steps, n_paths, seed=0):
    """Measure the bias of European calls, controlled by the spot at maturity.

    bias = D mean(payment - c (S - E[S])) - truth, c the least-squares slope of the sample.

    Args:
        model: a Model.
        strikes: numbers above zero.
        maturity: years.
        scheme: name of a registered path scheme, run in binary64.
        n_steps, n_paths, seed: as for sciprec.heston.simulation.paths.estimate.

    Returns:
        (bias, standard error), each of shape (strikes,).

    Precision: the control's own bias (0 for a martingale scheme) goes into the bias c-fold, as a
        scheme whose forward is wrong deserves.
    """
    options = [Call(strike=strike, maturity=maturity) for strike in strikes]
    parts = [
        observed_payments(
            model, [*options, Spot(maturity=maturity)], block,
            scheme=scheme, n_steps=n_steps, seed=seed,
        )
        for block in blocks(n_paths, 2**13)
    ]  # fmt: skip
    values = np.concatenate(parts, axis=1)
    payments, spot = values[:-1], values[-1]
    slopes = (payments @ (spot - spot.mean())) / (n_paths * spot.var())
    residuals = payments - slopes[:, None] * (spot - model.forward(maturity))
    truth = analytic.call_prices(model, np.array(strikes, dtype=float), maturity)
    discount = model.discount(maturity)
    error = discount * residuals.std(axis=1) / math.sqrt(n_paths)
    return discount * residuals.mean(axis=1) - truth, error


def bias_table(model, strikes, maturity, *, n_paths, steps_per_year=_STEPS_PER_YEAR, seed=0):
    """Measure every scheme at several step sizes; the exact one at one step for each year.

    Args:
        model, strikes, maturity, n_paths, seed: as for measured_bias.
        steps_per_year: integers.

    Returns:
        A list of Bias.
    """
    rows = []
    for scheme, entry in schemes().items():
        for per_year in steps_per_year if entry.lifts else steps_per_year[:1]:
            n_steps = math.ceil(per_year * maturity)
            given = {"scheme": scheme, "n_steps": n_steps, "n_paths": n_paths, "seed": seed}
            measured = measured_bias(model, strikes, maturity, **given)
            truths = analytic.call_prices(model, np.array(strikes, dtype=float), maturity)
            for strike, truth, bias, error in zip(strikes, truths, *measured, strict=True):
                rows.append(Bias(scheme, per_year, strike, float(truth), float(bias), float(error)))
    return rows


def markdown(rows):
    """Return one case's rows as a Markdown table: a line for each scheme and step size."""
    strikes = sorted({row.strike for row in rows})
    truths = {row.strike: row.truth for row in rows}
    head = [f"K = {strike:g} ({truths[strike]:.4f})" for strike in strikes]
    lines = [
        "| scheme | steps / year | " + " | ".join(head) + " |",
        "|---|---|" + "---|" * len(head),
    ]
    for scheme, per_year in dict.fromkeys((row.scheme, row.steps_per_year) for row in rows):
        cells = [
            f"{row.bias:+.4f} ± {row.standard_error:.4f}"
            for row in sorted(rows, key=lambda row: row.strike)
            if (row.scheme, row.steps_per_year) == (scheme, per_year)
        ]
        lines.append(f"| `{scheme}` | {per_year} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main(arguments=None):
    """Print the tables of Andersen's cases."""
    parser = argparse.ArgumentParser(prog="python -m data.heston.bias", description=__doc__)
    parser.add_argument("--paths", type=int, default=2**20, help="paths of every measurement")
    parser.add_argument("--cases", nargs="+", choices=_ANDERSEN, default=list(_ANDERSEN))
    given = parser.parse_args(arguments)
    for name in given.cases:
        model, maturity = _ANDERSEN[name]
        print(f"\nAndersen's case {name}, {maturity} years, {given.paths} paths\n")
        print(markdown(bias_table(model, (60, 100, 140), maturity, n_paths=given.paths)))


if __name__ == "__main__":
    main()
