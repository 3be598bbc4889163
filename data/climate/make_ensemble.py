"""Makes `galewsky_t21_ensemble.npz`: `python data/climate/make_ensemble.py`.

Global means of the perturbed jet of Galewsky et al. (2004) at T21 after six days: an ensemble in
binary64 whose initial heights differ by one part in ten thousand, and three members in each of
several other arithmetics. The tests judge the latter by the former.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from sciprec import climate
from sciprec.results.comparison.evidence.global_means import table_of_means

FILE = Path(__file__).resolve().parent / "galewsky_t21_ensemble.npz"
CASE, TRUNCATION, DAYS, AMPLITUDE = "galewsky", "T21", 6, 1e-4
MEMBERS, TEST_MEMBERS = 240, range(1001, 1004)
ARITHMETICS = (
    ("fp32", None), ("mlu370", None), ("mlu370", "carry"), ("fp16", None), ("fp16", "carry"),
    ("bf16", None), ("bf16", "carry"),
)  # fmt: skip
"""Backend and compensation."""


def means(members: range, backend: str, compensation: str | None = None) -> tuple:
    """Names of the global means (variables,), and the means (members, variables).

    Args:
        members: numbers of the initial states.
        backend, compensation: the arithmetic.
    """
    rows = []
    for member in members:
        run = climate.run(
            CASE, TRUNCATION, DAYS, backend, compensation, output_hours=24 * DAYS,
            perturbation=climate.Perturbation(member=member, amplitude=AMPLITUDE),
        )  # fmt: skip
        rows.append(table_of_means([run], DAYS))
    return rows[0]["variable"].values.astype(str), np.stack([row.values[0] for row in rows])


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--members", type=int, default=MEMBERS)
    parser.add_argument("--out", type=Path, default=FILE)
    given = parser.parse_args()
    names, ensemble = means(range(1, given.members + 1), "fp64")
    made = {"names": names, "fp64": ensemble}
    for backend, compensation in ARITHMETICS:
        label = f"{backend}+{compensation}" if compensation else backend
        made[label] = means(TEST_MEMBERS, backend, compensation)[1]
        print(label, flush=True)
    np.savez_compressed(given.out, **made)


if __name__ == "__main__":
    main()
