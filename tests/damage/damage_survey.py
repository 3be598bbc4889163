"""Many random damages of finished folders, netCDF and Zarr, by all the commands.

    python -m tests.damage.damage_survey FIRST LAST [KIND]

Damages are those of the seeds FIRST to LAST - 1, of one kind where it is named. Of the seeds 0 to
299, on 2026-11-28, 242 had an effect on a value, an attribute or the list: all of these were named,
no verdict was made of them, and `sciprec run` made them again to the last bit. No library crashed,
and nothing hung.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.damage.folders import made_folders
from tests.damage.journey import sent


def main(first: int, last: int, kind: str = "") -> None:
    """Print what was seen of each damage, and how many had an effect, were named, were at fault."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        wholes, scenarios = made_folders(place)
        ways = []
        for seed in range(first, last):
            form = "netcdf" if seed % 2 else "zarr"
            ways.append(sent(place, wholes, scenarios, seed=seed, form=form, kind=kind))
            way = ways[-1]
            state = "FAULT" if way.faults else "named" if way.named else "no effect"
            print(
                f"{state}: {way.damage}; effect on {sorted(way.effect)}",
                *way.faults,
                sep="\n    ",
                flush=True,
            )
    print(
        f"{len(ways)} damages: {sum(bool(w.effect) for w in ways)} with an effect, "
        f"{sum(w.named for w in ways)} named, {sum(bool(w.faults) for w in ways)} at fault"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *sys.argv[3:])
