"""Runs that are stopped half-way: finished files are kept, nothing half-written has its name."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from sciprec.cli import commands as cli
from sciprec.cli.exit_codes import GOOD, INTERRUPTED
from sciprec.interrupts import insistent_interrupts
from sciprec.output import netcdf

# A command line whose fp16 run computes for a minute in C; the other two end at once.
SLOW_MODEL = """
    import hashlib, sys
    import numpy as np
    from sciprec.cli import commands as cli
    from sciprec.output.dataset import prices_dataset
    from tests.shell.conftest import Models

    def slow(given, backend, compensation=None):
        if backend == "fp16":
            hashlib.pbkdf2_hmac("sha512", b"word", b"salt", 40_000_000)
        return prices_dataset((90.0, 100.0), (0.5,), {"price": np.ones((1, 2))}, blow_up="")

    Models()["heston"] = slow
    cli.main(sys.argv[1:])
"""
# A command line that stands still in the middle of its first file.
SLOW_FILE = """
    import sys, time
    import numpy as np
    from sciprec.cli import commands as cli
    from sciprec.output import netcdf, pieces
    from sciprec.output.dataset import prices_dataset
    from tests.shell.conftest import Models

    def half(dataset, path):
        path.write_bytes(b"CDF half of a file")
        print("half-way", file=sys.stderr, flush=True)
        time.sleep(60)

    pieces.WHOLE_BYTES = 0
    netcdf._write_whole = half
    Models()["heston"] = lambda given, backend, compensation=None: prices_dataset(
        (90.0, 100.0), (0.5,), {"price": np.ones((1, 2))}, blow_up=""
    )
    cli.main(sys.argv[1:])
"""


@pytest.fixture
def started(scenario_files, tmp_path):
    """A function that starts such a command line and waits for words on standard error."""
    processes = []

    def start(script, words):
        command = [sys.executable, "-c", textwrap.dedent(script), "run", str(scenario_files[1])]
        process = subprocess.Popen(
            [*command, "--out", str(tmp_path / "out")], stderr=subprocess.PIPE, text=True
        )
        processes.append(process)
        while words not in (line := process.stderr.readline()):
            assert line, "it ended too early"
        return process

    yield start
    for process in processes:
        process.kill()
        process.wait()
        process.stderr.close()


@pytest.mark.skipif(os.name == "nt", reason="no SIGINT for another process on Windows")
@pytest.mark.slow
def test_ctrl_c_ends_at_once_although_a_kernel_computes(started, tmp_path):
    process = started(SLOW_MODEL, "in fp64: done")
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


@pytest.mark.skipif(os.name == "nt", reason="no signals for one thread on Windows")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_that_python_drops_is_raised_again():
    before, start = signal.getsignal(signal.SIGINT), time.perf_counter()
    with pytest.raises(KeyboardInterrupt), insistent_interrupts():
        Deaf()  # the interrupt is lost here
        time.sleep(10)
    assert time.perf_counter() - start < 5
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL on Windows")
@pytest.mark.slow
def test_a_killed_write_leaves_no_file_under_its_name_and_the_next_run_works(
    started, models, undrawn, scenario_files, tmp_path
):
    process = started(SLOW_FILE, "half-way")
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=30)
    assert not list((tmp_path / "out").glob("[!.]*"))
    with pytest.raises(SystemExit) as caught:
        cli.main(["run", str(scenario_files[1]), "--out", str(tmp_path / "out")])
    assert caught.value.code == GOOD
    assert len(list((tmp_path / "out").glob("[!.]*.nc"))) == 3
