"""Ctrl-C while a kernel is lifted: a KeyboardInterrupt, and the next `lift` is as good as ever."""

import os
import random
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIFTED = """
    import os, signal, sys, threading, time

    import numpy as np


    def scaled(x, out):
        for i in range(x.size):
            out[i] = 0.5 * x[i] + x[i] / 3.0


    def summed(x):
        total = 0.0
        for i in range(x.size):
            total += np.sqrt(x[i])
        return total


    def computed():
        import sciprec

        x, out = np.linspace(0.1, 3.0, 37), np.zeros(37)
        sciprec.lift(scaled, "fp16")(x, out)
        return out.tobytes().hex() + float(sciprec.lift(summed, "mlu370")(x)).hex()


    if len(sys.argv) > 1:
        threading.Timer(float(sys.argv[1]), os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            computed()
            time.sleep(60)  # it was faster
        except KeyboardInterrupt:
            pass
    begun = time.perf_counter()
    print(computed(), time.perf_counter() - begun)
"""


def started(folder: Path, *words: str) -> subprocess.CompletedProcess:
    """A new process that lifts kernels, with a cache folder of its own."""
    environment = {**os.environ, "SCIPREC_CACHE_DIR": str(folder), "PYTHONPATH": str(ROOT)}
    program = folder.with_name("lifted.py")
    program.write_text(textwrap.dedent(LIFTED))
    return subprocess.run(
        [sys.executable, "-W", "error", "-W", "ignore::ResourceWarning", program, *words],
        env=environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


def unlike(folder: Path, warm: int, cold: int, seed: int) -> list[str]:
    """The moments of a Ctrl-C, drawn by chance, after which a process fails or computes other bits
    than one that was left alone; each with its last words.

    Args:
        folder: for caches.
        warm, cold: how many moments, with all compiled already and with nothing.
        seed: of the moments.
    """
    alone = [started(folder / "warm").stdout.split() for _ in range(2)]
    expected = alone[0][0]
    assert alone[1][0] == expected
    draws, found = random.Random(seed), []
    for number in range(warm + cold):
        is_cold = number >= warm
        seconds = alone[not is_cold][1]
        moment = f"{draws.uniform(0.0, 1.1 * float(seconds)):.4f}"
        ended = started(folder / (str(number) if is_cold else "warm"), moment)
        if ended.returncode or ended.stdout.split()[:1] != [expected] or ended.stderr:
            words = ended.stderr.strip().splitlines()[-1:]
            found.append(f"{moment} s of {seconds}: exit {ended.returncode} {words}")
    return found


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="no SIGINT for one process on Windows")
def test_the_next_lift_is_right_whenever_ctrl_c_came(tmp_path):
    """More: `python -c "from pathlib import Path; from tests.precision.test_interrupts import *;
    print(unlike(Path('folder'), 100, 30, 1))"`.
    """
    assert unlike(tmp_path, warm=1, cold=1, seed=3) == []
