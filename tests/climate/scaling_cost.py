"""The cost of scales: processor time of steps of shallow water with scales over that without.

    python -m tests.climate.scaling_cost [--format fp16] [--formulation careful] [--carry]

Runs take turns in one process, so that their ratios hold on a busy machine, too.
"""

import argparse
import statistics

import numpy as np

from sciprec.climate.running.request import check_request
from tests.climate.small_models import model_of

ROUNDS, STEPS = 21, 12


def timed(backend, formulation, compensation):
    """A function that gives the processor seconds of one of some steps of case 5 at T42."""
    request = check_request(
        "williamson_5", 42, 5.0, backend=backend, compensation=compensation, step_seconds=1200.0,
        time_scheme="rk4", parameters={"formulation": formulation},
    )  # fmt: skip
    model, _, state = model_of(request)

    def seconds():
        levels = [model.steps.system.addition.level(state.copy())]
        model.steps.advance(levels, 0, 1)
        return model.steps.advance(levels, 1, STEPS) / STEPS

    seconds()
    return seconds


def main():
    """Print a row for each scaling."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--format", default="fp16")
    parser.add_argument("--formulation", default="careful")
    parser.add_argument("--carry", action="store_true")
    given = parser.parse_args()
    compensation = "carry" if given.carry else None
    names = given.format, f"scaled:static,{given.format}", f"scaled:dynamic,{given.format}"
    with np.errstate(all="ignore"):
        clocks = [timed(name, given.formulation, compensation) for name in names]
        rounds = [[clock() for clock in clocks] for _ in range(ROUNDS)]
    for name, own in zip(names, zip(*rounds, strict=True), strict=True):
        ratios = [mine / each[0] for mine, each in zip(own, rounds, strict=True)]
        print(f"{name:24s} {1e3 * statistics.median(own):.2f} ms a step, {1e3 * min(own):.2f} at "
              f"least; {statistics.median(ratios):.2f} times without scales, from "
              f"{min(ratios):.2f} to {max(ratios):.2f}")  # fmt: skip


if __name__ == "__main__":
    main()
