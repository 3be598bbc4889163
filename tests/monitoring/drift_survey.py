"""How near the estimated drift is to the error against fp64, over cases, arithmetics and carries.

python -m tests.monitoring.drift_survey [--truncation 42] [--days 5]
"""

import argparse
import itertools

import numpy as np

import sciprec
from sciprec.climate.transform.legendre import coefficient_orders
from sciprec.output.drifted import estimates_of

CASES = ("williamson_2", "williamson_5", "williamson_6")
ARITHMETICS = ("fp16", "bf16", "mlu370", "fp32")
WATCHED = ("vorticity", "geopotential")
EVERY = 36


def run(case, truncation, days, backend, compensation, steps):
    """A run whose last state is kept whole."""
    monitor = {"watch": WATCHED, "level": 3, "every": steps, "drift_every": EVERY}
    return sciprec.run_climate(
        case, truncation, days, backend, compensation, monitor=monitor, output_hours=24.0 * days
    )


def l2(values, truncation):
    """The norm on the sphere of a variable's coefficients, as a monitor keeps them."""
    degree, order = coefficient_orders(truncation)
    weights = np.where(order > 0, 2.0, 1.0)[:, None] * np.ones(2)
    held = (degree <= truncation)[:, None] & np.array([True, False]) | (
        (degree <= truncation) & (order > 0)
    )[:, None]
    return float(np.sqrt(np.sum(weights[held] * values**2)))


def rows(truncation, days, cases=CASES, arithmetics=ARITHMETICS, carries=(None, "carry")):
    """Case, arithmetic, compensation, variable, estimate, error."""
    for case in cases:
        length = sciprec.run_climate(case, truncation, days, output_hours=24.0 * days)
        steps = length.attrs["steps"]
        truth = run(case, truncation, days, "fp64", None, steps)
        for backend, carry in itertools.product(arithmetics, carries):
            made = run(case, truncation, days, backend, carry, steps)
            if made.attrs["blow_up"]:
                yield case, backend, carry, "", np.nan, np.nan
                continue
            _, estimates = estimates_of(made)
            for place, name in enumerate(WATCHED):
                mine, its = (d[f"monitor_values_{place}"].values[-1] for d in (made, truth))
                error = l2(mine - its, truncation) / l2(its, truncation)
                yield case, backend, carry, name, float(estimates[name][-1]), error


def main():
    """Print a row for each, and what they come to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--truncation", type=int, default=42)
    parser.add_argument("--days", type=float, default=5.0)
    given = parser.parse_args()
    factors = {name: [] for name in WATCHED}
    for case, backend, carry, name, estimate, error in rows(given.truncation, given.days):
        print(f"{case} {backend} {carry or 'none'} {name or 'has broken down'} "
              f"{estimate:.2e} {error:.2e} {estimate / error:.2f}", flush=True)  # fmt: skip
        if name:
            factors[name].append(estimate / error)
    for name, found in factors.items():
        away = np.exp(np.abs(np.log(found)))
        print(f"{name}: {len(found)} runs, estimate over error {min(found):.2g} to "
              f"{max(found):.2g}, median {np.median(found):.2g}; within a factor 2: "
              f"{int(np.sum(away <= 2))}, 3: {int(np.sum(away <= 3))}")  # fmt: skip


if __name__ == "__main__":
    main()
