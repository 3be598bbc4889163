"""Every call of every verb that writes fails, with every error, once and from then on.

    EVERY=1 python -m tests.writing.faults_survey [SCENE ...]

EVERY=5 lets each fifth call fail. With all the calls of scenario new, compare, trace, tune,
monitor, study, coverage and both reports, 2,500 faults, nothing was wrong on 2026-11-28. On
2026-11-29 all those of other verbs, on two cores of an AMD EPYC (Zen 4):

    baseline check      696 faults  a baseline that was not given for a moment was called damaged
    baseline bless      586         nothing; a baseline that is replaced while all calls fail is
                                    under a hidden name until the next command
    climate run         260         nothing
    run, older files    482         nothing
    run, none older     200         nothing; ENOSPC and EACCES were left out there
    run, Zarr            83         each 13th call, EIO once: "cannot be read" was kept for ever;
                                    35 more, each ninth read, after that was mended: nothing

Both faults that were found have tests by name. Of the gallery each 40th call was tried. What
libraries in C call is in `traced_verbs.py`: each write, fsync, rename and close of `run` with files
that count as large, 183 tries, nothing wrong.
"""

from __future__ import annotations

import errno
import os
import re
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.writing.checking import tried
from tests.writing.faults import ERRORS, FROM_THEN_ON, ONCE, Fault
from tests.writing.scenes import SCENES, staged
from tests.writing.stand_ins import stand_ins


def surveyed(name: str, every: int = 1) -> tuple[int, dict[str, list[str]]]:
    """Number of faults, and of each finding by which faults it was made."""
    scene, count, found = SCENES[name], 0, {}
    for older in (False, True) if scene.older else (False,):
        with tempfile.TemporaryDirectory() as folder:
            stage = staged(scene, Path(folder), older)
            for error in ERRORS:
                for how in (ONCE, FROM_THEN_ON):
                    number = 1
                    while True:
                        fault = Fault(number, error, how)
                        disk, wrong = tried(stage, fault)
                        for one in wrong:
                            at = disk.failed[0] if disk.failed else "nothing"
                            one = re.sub(r"tmp\w{8}|[0-9]+-[0-9]+(?=\S*part)", "*", one)
                            found.setdefault(one, []).append(f"{fault} {at} older={older}")
                        count += 1
                        if not disk.failed:
                            break
                        number += every
                    where = f"{errno.errorcode[error]} {how}, {older=}"
                    print(f"   {where}: call {number} is not there", flush=True)
    return count, found


def main(names: list[str]) -> None:
    every = int(os.environ.get("EVERY", "1"))
    with pytest.MonkeyPatch.context() as patch:
        stand_ins(patch)
        for name in names or SCENES:
            begun = time.perf_counter()
            count, found = surveyed(name, every)
            print(f"== {name}: {count} faults, {time.perf_counter() - begun:.0f} s", flush=True)
            for what, where in found.items():
                print(f"  {what}\n      {len(where)}: {'; '.join(where[:4])}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
