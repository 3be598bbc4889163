"""How adaptive runs keep tolerances: cases 2, 5, 6 and the jet up to day 4, ten tolerances each.

    python -m tests.climate.adaptive_survey [--truncation 42] [--count 10] [--variable vorticity]

A uniform run has the same state in fp64 and all its tendencies on one rung. Narrowest allowed is
the first rung whose uniform run keeps the tolerance.
"""

import argparse

import numpy as np

from sciprec.climate.running.integration import integrate
from sciprec.climate.transform.grid import GaussianGrid, resolve_truncation
from sciprec.tools.adapt.control import COLUMNS, vain_attempts
from sciprec.tools.adapt.plan import EVERY, checked_plan

CASES = {"williamson_2": 5.0, "williamson_5": 5.0, "williamson_6": 5.0, "galewsky": 4.0}
LADDER = ("fp16", "mlu370", "fp32")
FIELDS = {"vorticity": "vorticity", "divergence": "divergence", "geopotential": "height"}


def relative_error(made, truth, variable, grid):
    """The relative l2 error of the last state; infinite of a run that has ended before."""
    if made.blow_up is not None:
        return np.inf
    mine, its = (run.fields[FIELDS[variable]][-1] for run in (made, truth))
    its = its - (grid.mean(its) if variable == "geopotential" else 0.0)
    wrong = mine - truth.fields[FIELDS[variable]][-1]
    return float(np.sqrt(grid.mean(wrong**2) / grid.mean(its**2)))


def survey(truncation, ladder, variable, every, tolerances, cases=CASES):
    """A dictionary for each run."""
    grid = GaussianGrid(resolve_truncation(truncation))
    for case, days in cases.items():
        common = {"output_hours": 24.0 * days}
        truth = integrate(case, truncation, days, **common)
        uniform = [
            relative_error(
                integrate(case, truncation, days, backend=rung, stored="fp64", **common),
                truth, variable, grid,
            )
            for rung in ladder
        ]  # fmt: skip
        print(f"{case}: uniform {' '.join(f'{e:.2e}' for e in uniform)}", flush=True)
        for tolerance in tolerances:
            plan = checked_plan(float(tolerance), ladder, every, variable)
            made = integrate(case, truncation, days, adaptive=plan, **common)
            history = made.adapted.history
            rung, steps, kept = (history[:, COLUMNS.index(n)] for n in ("rung", "steps", "kept"))
            allowed = [r for r, error in enumerate(uniform) if error <= tolerance]
            on = [int(np.sum(steps[(rung == r) & (kept == 1)])) for r in range(len(ladder))]
            yield {
                "case": case, "tolerance": float(tolerance), "steps": on,
                "error": relative_error(made, truth, variable, grid),
                "estimate": float(history[kept == 1][-1, COLUMNS.index("estimate")]),
                "vain": vain_attempts(history), "said": made.blow_up,
                "allowed": allowed[0] if allowed else None,
            }  # fmt: skip


def main():
    """Print a row for each run, and what they come to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--truncation", type=int, default=42)
    parser.add_argument("--variable", default="vorticity", choices=FIELDS)
    parser.add_argument("--ladder", nargs="+", default=LADDER)
    parser.add_argument("--count", type=int, default=10, help="tolerances of each case")
    parser.add_argument("--every", type=int, default=EVERY)
    given = parser.parse_args()
    rows = []
    tolerances = np.logspace(-2, -6, given.count)
    for row in survey(given.truncation, given.ladder, given.variable, given.every, tolerances):
        rows.append(row)
        share = ""
        if row["allowed"] is not None:
            share = f"{100 * sum(row['steps'][: row['allowed'] + 1]) / sum(row['steps']):.0f} %"
        print(f"{row['case']} {row['tolerance']:.1e} error {row['error']:.1e} estimate "
              f"{row['estimate']:.1e} steps {row['steps']} vain {row['vain']} allowed {share}"
              f" {'' if row['error'] <= row['tolerance'] else 'NOT MET'}", flush=True)  # fmt: skip
    possible = [row for row in rows if row["allowed"] is not None]
    met = [row for row in possible if row["error"] <= row["tolerance"]]
    narrow = np.array([sum(r["steps"][: r["allowed"] + 1]) for r in possible])
    steps = np.array([sum(r["steps"]) for r in possible])
    choice = np.array([r["allowed"] < len(given.ladder) - 1 for r in possible])
    impossible = [row for row in rows if row["allowed"] is None]
    said = sum(row["said"] is not None for row in impossible)
    print(f"{len(rows)} runs; the ladder can keep {len(possible)} tolerances, of which "
          f"{len(met)} were met; of the {len(impossible)} others {said} said so; half of the "
          f"steps or more as narrow as a uniform run may be: {np.sum(narrow >= 0.5 * steps)} of "
          f"{len(possible)}, of all their steps {narrow.sum() / steps.sum():.0%}, of those of the "
          f"{choice.sum()} that need not be on the widest rung "
          f"{narrow[choice].sum() / steps[choice].sum():.0%}; vain attempts: "
          f"{sum(r['vain'] for r in rows)}, at most {max(r['vain'] for r in rows)} "
          "in a run")  # fmt: skip


if __name__ == "__main__":
    main()
