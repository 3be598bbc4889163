"""Ctrl-C at moments drawn by chance, half of them with an empty cache, from the first import of a
process to its last kernel; see `test_interrupts`.

    python -m tests.precision.interrupts_survey COUNT SEED

200 take a quarter of an hour on two cores.
"""

import sys
import tempfile
from pathlib import Path

from tests.precision.test_interrupts import unlike

if __name__ == "__main__":
    count, seed = map(int, sys.argv[1:])
    for is_cold in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            found = unlike(Path(folder), count // 2, seed, is_cold)
        print(f"{'empty' if is_cold else 'filled'} cache: {len(found)} of {count // 2} unlike")
        print(*found, sep="\n", flush=True)
