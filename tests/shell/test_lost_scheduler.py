"""A scheduler that dies in the middle: the rest are failed runs, and the command ends."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

from sciprec.cli.exit_codes import INTERRUPTED, NOT_MET
from tests.shell.test_same_bits import address_in, started_cli, until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="no SIGKILL on Windows"),
]
# What the worker loads: the truth ends at once, another run does not end.
PRELOAD = """
    import time
    from tests.shell.conftest import Models, little_climate

    def endless(given, backend, compensation=None):
        time.sleep(0 if backend == "fp64" else 600)
        return little_climate(given, backend, compensation)

    Models()["climate"] = endless
"""
COMMAND = """
import sys
from sciprec.batch import execute
from sciprec.cli import commands as cli
from sciprec.report import page

execute.CONNECT_SECONDS = 3  # in place of 8
page.write_page = lambda batch: batch.folder / "index.html"
cli.main(sys.argv[1:])
"""


@pytest.fixture
def cluster(tmp_path):
    """A scheduler's process and address; it has one worker."""
    told, preload = tmp_path / "scheduler.json", tmp_path / "preload.py"
    preload.write_text(textwrap.dedent(PRELOAD))
    here = ["--host", "127.0.0.1", "--no-dashboard"]
    scheduler = started_cli("scheduler", *here, "--port", "0", "--scheduler-file", told)
    until(told.exists)
    address = until(lambda: address_in(told))
    own = ["--nthreads", "1", "--no-nanny", "--preload", preload]
    worker = started_cli("worker", address, *here, *own)
    yield scheduler, address
    for process in (scheduler, worker):
        process.kill()
        process.wait(timeout=30)


@pytest.mark.parametrize("interrupted", [False, True], ids=["left alone", "Ctrl-C"])
def test_the_command_ends_when_the_scheduler_is_killed(
    interrupted, cluster, scenario_files, tmp_path
):
    scheduler, address = cluster
    command = [sys.executable, "-c", COMMAND, "run", scenario_files[0], "--scheduler", address]
    process = subprocess.Popen(
        [*map(str, command), "--out", str(tmp_path / "out")], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        while "in fp64: done" not in (line := process.stderr.readline()):
            assert line, "it ended too early"
        if interrupted:  # it is to hear of both at once, whatever the machine does meanwhile
            process.send_signal(signal.SIGSTOP)
        scheduler.kill()
        if interrupted:
            scheduler.wait(timeout=30)
            process.send_signal(signal.SIGINT)
            process.send_signal(signal.SIGCONT)
        out, said = process.communicate(timeout=120)
    finally:
        process.kill()
    assert "Traceback" not in said
    assert (tmp_path / "out" / "little_climate__fp64.nc").is_file()
    if interrupted:  # whichever of the two it hears first
        assert process.returncode in (INTERRUPTED, NOT_MET)
        return
    assert process.returncode == NOT_MET
    for label in ("fp32", "fp16"):
        assert f"little_climate in {label}: failed: the dask scheduler was lost in the" in said
        assert f"{label} in little_climate: the dask scheduler was lost" in out
    assert "run again to go on" in " ".join(out.split())
