"""How near the estimated drift is to the error against fp64, over cases, arithmetics and carries.

python -m tests.monitoring.drift_survey [--truncation 42] [--days 5]
"""

import argparse
import itertools

import numpy as np

import sciprec
from sciprec.climate.transform.legendre import coefficient_orders
from sciprec.facets.monitor.attributes import drift_field, estimates_of

CASES = ("williamson_2", "williamson_5", "williamson_6")
ARITHMETICS = ("fp16", "bf16", "mlu370", "fp32")
WATCHED = ("vorticity", "geopotential", "divergence")
FIELDS = {"vorticity": "vorticity", "geopotential": "height", "divergence": "divergence"}
EVERY = 36


def run(case, truncation, days, backend, compensation, steps):
    """A run whose last state is kept whole."""
    monitor = {"watch": WATCHED, "level": 3, "every": steps, "drift_every": EVERY}
    return sciprec.climate.run(
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


def size(field, of):
    """The norm of a field (lat, lon), without its mean."""
    area = of["cell_area"]
    mean = float((area * field).sum() / area.sum())
    return float(np.sqrt((area * (field - mean) ** 2).sum()))


def rows(truncation, days, cases=CASES, arithmetics=ARITHMETICS, carries=(None, "carry")):
    """Case, arithmetic, compensation, variable, estimate, error, and the signed sum alone."""
    for case in cases:
        length = sciprec.climate.run(case, truncation, days, output_hours=24.0 * days)
        steps = length.attrs["steps"]
        truth = run(case, truncation, days, "fp64", None, steps)
        for backend, carry in itertools.product(arithmetics, carries):
            made = run(case, truncation, days, backend, carry, steps)
            if made.attrs["blow_up"]:
                yield case, backend, carry, "", np.nan, np.nan, np.nan
                continue
            _, estimates = estimates_of(made)
            for place, name in enumerate(WATCHED):
                mine, its = (d[f"monitor_values_{place}"].values[-1] for d in (made, truth))
                error = l2(mine - its, truncation) / l2(its, truncation)
                field = drift_field(made, FIELDS[name])
                summed = size(field, made) / size(truth[FIELDS[name]][-1], made)
                yield case, backend, carry, name, float(estimates[name][-1]), error, summed


def main():
    """Print a row for each, and what they come to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--truncation", type=int, default=42)
    parser.add_argument("--days", type=float, default=5.0)
    given = parser.parse_args()
    factors = {name: [] for name in WATCHED}
    for *what, name, estimate, error, summed in rows(given.truncation, given.days):
        print(f"{' '.join(map(str, what))} {name or 'has broken down'} {error:.2e} estimate "
              f"{estimate / error:.2f} signed sum {summed / error:.2f}", flush=True)  # fmt: skip
        if name:
            factors[name].append((estimate / error, summed / error))
    for name, pairs in factors.items():
        for way, found in zip(("estimate", "signed sum"), np.array(pairs).T, strict=True):
            away = np.exp(np.abs(np.log(found)))
            within = ", ".join(f"{int(np.sum(away <= k))} within {k}" for k in (2, 3, 6.6))
            print(f"{name}: {len(found)} runs, {way} over error {min(found):.2g} to "
                  f"{max(found):.2g}, median {np.median(found):.2g}; {within}")  # fmt: skip


if __name__ == "__main__":
    main()
