"""A scheduler that dies in the middle: the rest are failed runs, and the command ends."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

from sciprec.cli.exit_codes import INTERRUPTED, NOT_MET
from tests.shell.test_same_bits import address_in, until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="no SIGKILL on Windows"),
]
# A scheduler and its worker, for which the truth ends at once, and another run does not end.
SCHEDULER = """
    import asyncio, json, sys, time
    from pathlib import Path
    from distributed import Scheduler, Worker
    from tests.shell.conftest import Models, little_climate

    def endless(given, backend, compensation=None):
        time.sleep(0 if backend == "fp64" else 600)
        return little_climate(given, backend, compensation)

    async def serve():
        async with Scheduler(host="127.0.0.1", port=0, dashboard=False) as scheduler:
            async with Worker(scheduler.address, nthreads=1):
                Path(sys.argv[1]).write_text(json.dumps({"address": scheduler.address}))
                await scheduler.finished()

    Models()["climate"] = endless
    asyncio.run(serve())
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
    """A scheduler's process and address; it has one worker, which goes with it."""
    told = tmp_path / "scheduler.json"
    command = [sys.executable, "-c", textwrap.dedent(SCHEDULER), str(told)]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = subprocess.Popen(command, **silent)
    until(told.exists)
    yield scheduler, until(lambda: address_in(told))
    scheduler.kill()
    scheduler.wait(timeout=30)


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
