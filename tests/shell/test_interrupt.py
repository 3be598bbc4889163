"""Runs that are stopped half-way: finished files are kept, nothing half-written has its name."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from sciprec.cli.console import INTERRUPTED
from sciprec.foundation.interrupts import insistent_interrupts
from sciprec.results.output import netcdf

# A command line whose fp16 run computes for a minute in C; the other two end at once.
SLOW_MODEL = """
    import hashlib, sys
    import numpy as np
    from sciprec.cli import commands as cli, progress
    from sciprec.results.output.dataset import prices_dataset
    from tests.shell.conftest import Models

    def slow(given, backend, compensation=None):
        if backend == "fp16":
            hashlib.pbkdf2_hmac("sha512", b"word", b"salt", 40_000_000)
        return prices_dataset((90.0, 100.0), (0.5,), {"price": np.ones((1, 2))}, blow_up="")

    Models()["heston"] = slow
    progress.SECONDS_IN_SILENCE = progress.SECONDS_BETWEEN_LINES = 0.0
    cli.main(sys.argv[1:])
"""


@pytest.mark.skipif(os.name == "nt", reason="no SIGINT for another process on Windows")
@pytest.mark.slow
def test_ctrl_c_ends_at_once_although_a_kernel_computes(scenario_files, tmp_path):
    command = [sys.executable, "-c", textwrap.dedent(SLOW_MODEL), "run", str(scenario_files[1])]
    process = subprocess.Popen(
        [*command, "--out", str(tmp_path / "out")], stderr=subprocess.PIPE, text=True
    )
    with process.stderr:
        while "[2/3]" not in (line := process.stderr.readline()):
            assert line, "it ended too early"
        start = time.perf_counter()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == INTERRUPTED
        assert time.perf_counter() - start < 5
        said = process.stderr.read()
    assert "sciprec: interrupted; the files of runs that had finished are kept" in said
    assert "Traceback" not in said
    left = {p.name for p in (tmp_path / "out").iterdir()}
    assert {"little_heston__fp64.nc"} <= left
    assert left <= {"little_heston__fp64.nc", "little_heston__fp32.nc"}
    assert netcdf.read(tmp_path / "out" / "little_heston__fp64.nc")["price"].size == 2


class Deaf:
    """Its destructor is running when the interrupt comes."""

    def __del__(self):
        signal.raise_signal(signal.SIGINT)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="no signals for one thread on Windows")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_that_python_drops_is_raised_again():
    before, start = signal.getsignal(signal.SIGINT), time.perf_counter()
    with pytest.raises(KeyboardInterrupt), insistent_interrupts():
        Deaf()  # the interrupt is lost here
        time.sleep(10)
    assert time.perf_counter() - start < 5
    assert signal.getsignal(signal.SIGINT) is before
