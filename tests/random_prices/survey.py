"""Many random lists of options; what was done already is not done again.

    python -m tests.random_prices.survey FOLDER FIRST LAST [work]

Prices the lists of seeds FIRST to LAST - 1, each with four seeds and row by row; with `work`, their
first payoffs with amounts of work that double. A line of JSON for each list is in FOLDER as soon as
it is complete; the last lines say what is beyond the limits.
"""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import asdict
from pathlib import Path

from tests.random_prices.generator import list_case
from tests.random_prices.trials import by_work, trial

MOST_STEPS, MOST_WORK, MOST_SPREAD, MOST_WIDER = 2.0, 1.2, 3.0, 1.1
WORKS = tuple(2.0**k for k in range(22, 26))


def survey(folder: Path, first: int, last: int, what: str = "lists") -> list[dict]:
    """Try every list that the folder does not hold yet; return all rows."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for seed in range(first, last):
        path = folder / f"{what}_{seed:05d}.json"
        if not path.exists():
            case, began = list_case(seed), time.monotonic()
            found = (
                {"bounds": [by_work(case, work) for work in WORKS]}
                if what == "work"
                else asdict(trial(case))
            )
            row = {"seed": seed, "kind": case.kind, "rows": len(case.payoffs)} | found
            row["seconds"] = round(time.monotonic() - began, 2)
            path.with_suffix(".part").write_text(json.dumps(row))
            os.replace(path.with_suffix(".part"), path)
            print(json.dumps(row), flush=True)
        rows.append(json.loads(path.read_text()))
    return rows


def beyond(row: dict) -> list[str]:
    """Return which limits a row is beyond."""
    if "bounds" in row:
        pairs = zip(row["bounds"], row["bounds"][1:], strict=False)
        return ["wider"] * any(more > MOST_WIDER * less for less, more in pairs)
    return (
        ["steps"] * (row["steps"] > MOST_STEPS)
        + ["work"] * (row["work"] > MOST_WORK)
        + ["spread"] * (row["spread"] > MOST_SPREAD)
        + ["missed"] * (row["alone"] and not row["met"])
    )


if __name__ == "__main__":
    found = survey(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:5])
    for row in found:
        if names := beyond(row):
            print("beyond:", ", ".join(names), json.dumps(row))
    known, covered = (sum(row.get(name, 0) for row in found) for name in ("known", "covered"))
    print(f"{len(found)} lists; {covered} of {known} known prices within their bounds")
