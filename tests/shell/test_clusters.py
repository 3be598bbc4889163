"""Workers and schedulers that die, cannot start, or speak TLS: a sentence, and what had ended."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from sciprec.cli.console import NOT_MET, USAGE
from sciprec.workbench.batch import workflow
from tests.shell.conftest import dask_cluster

ROOT = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="no SIGKILL on Windows"),
]

# What every worker process loads: little models, one of which kills its worker.
DEADLY = """
    import os, signal
    from pathlib import Path
    from tests.shell.conftest import Models, little_climate

    def deadly(given, backend, compensation=None):
        marks = list(Path("{marks}").glob(backend + "*"))
        if backend == "fp32" and len(marks) < {times}:
            (Path("{marks}") / (backend + str(len(marks)))).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return little_climate(given, backend, compensation)

    Models()["climate"] = deadly
"""


@pytest.mark.parametrize(
    ("times", "allowed", "status"), [(1, 3, "good"), (99, 0, "failed")], ids=["once", "always"]
)
def test_a_run_that_kills_its_worker_is_made_again_or_is_one_red_row(
    times, allowed, status, undrawn, scenario_files, tmp_path
):
    import dask
    import distributed  # its settings are there from now on

    marks, preload = tmp_path / "marks", tmp_path / "preload.py"
    marks.mkdir()
    preload.write_text(textwrap.dedent(DEADLY.format(marks=marks, times=times)))
    settings = {
        f"{distributed.__name__}.worker.preload": [str(preload)],
        f"{distributed.__name__}.scheduler.allowed-failures": allowed,
    }
    with dask.config.set(settings):
        result = workflow.run(scenario_files[0], out=tmp_path / "out", workers=2)
    assert [row["status"] for row in result.table] == ["truth", status, "beyond"]
    assert (len(list(marks.iterdir())) == 1) == (times == 1)
    assert not list((tmp_path / "out").glob(".*"))
    assert len(result.files) == 3 - len(result.failures)
    for failed in result.failures:
        assert failed.backend == "fp32" and "its worker was lost" in failed.failure
        assert "\n" not in failed.failure and "Traceback" not in failed.failure


# What the worker loads: the truth ends at once, another run does not end.
ENDLESS = """
    import time
    from tests.shell.conftest import Models, little_climate

    def endless(given, backend, compensation=None):
        time.sleep(0 if backend == "fp64" else 600)
        return little_climate(given, backend, compensation)

    Models()["climate"] = endless
"""
COMMAND = """
import sys
from sciprec.workbench.batch import execute
from sciprec.cli import commands as cli, progress
from sciprec.report import page

execute.CONNECT_SECONDS = 3  # in place of 8
progress.SECONDS_IN_SILENCE = progress.SECONDS_BETWEEN_LINES = 0.0
page.write_page = lambda batch: batch.folder / "index.html"
cli.main(sys.argv[1:])
"""


def test_a_script_without_a_main_guard_is_told_so(tmp_path):
    (tmp_path / "script.py").write_text(
        "import sciprec\nsciprec.run('quickstart_heston', out='made', workers=1)\n"
    )
    done = subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert "1 worker processes could not be started" in last
    assert last.endswith("calls sciprec.run below `if __name__ == '__main__':`")
    assert not (tmp_path / "made").exists()


BLOCKS = re.findall(r"^```\n(.*?)^```", (ROOT / "docs/help/trust.md").read_text(), re.M | re.S)


@pytest.fixture
def tls(tmp_path, monkeypatch):
    """Processes that are started get the settings of docs/help/trust.md; this one has read none."""
    import distributed  # noqa: F401  reads them

    (settings,) = (block for block in BLOCKS if "REQUIRE_ENCRYPTION" in block)
    (certificate,) = (block for block in BLOCKS if block.startswith("openssl"))
    (tmp_path / "tls").mkdir()
    exports = settings[: settings.index("dask scheduler")]
    program = f"cd tls; {certificate}\ncp cert.pem ca.pem; cd ..\n{exports}\nenv -0"
    done = subprocess.run(
        ["bash", "-ec", program], cwd=tmp_path, env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    for one in done.stdout.split("\0"):
        name, _, value = one.partition("=")
        if name.startswith("DASK_"):
            monkeypatch.setenv(name, value)


@pytest.mark.skipif(not all(map(shutil.which, ("bash", "openssl"))), reason="needs openssl")
def test_a_cluster_speaks_tls_refuses_strangers_and_its_scheduler_may_be_killed(
    tls, call, monkeypatch, scenario_files, tmp_path
):
    """The command ends then: what had not ended is a failed run."""
    with contextlib.ExitStack() as stack:
        cluster = dask_cluster(tmp_path, host="tls://127.0.0.1", preload=ENDLESS)
        address, (scheduler, _) = stack.enter_context(cluster)
        assert address.startswith("tls://")
        asked = ["run", str(scenario_files[0]), "--scheduler", address, "--out"]
        monkeypatch.setattr("sciprec.workbench.batch.execute.CONNECT_SECONDS", 3)
        code, _, said = call(*asked, tmp_path / "stranger")
        assert code == USAGE and "no dask scheduler answers" in said
        process = subprocess.Popen(
            [sys.executable, "-c", COMMAND, *asked, str(tmp_path / "out")], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        stack.callback(process.kill)
        said = ""
        while "in fp64: done" not in said:
            said += (line := process.stderr.readline())
            assert line, f"it ended too early: {said}"
        scheduler.kill()
        out, more = process.communicate(timeout=120)
    said += more
    assert f"dask: scheduler {address}, 1 workers" in said and "Traceback" not in said
    assert (tmp_path / "out" / "little_climate__fp64.nc").is_file()
    assert process.returncode == NOT_MET
    for label in ("fp32", "fp16"):
        assert f"little_climate in {label}: failed: the dask scheduler was lost in the" in said
        assert f"{label} in little_climate: the dask scheduler was lost" in out
    assert "run again to go on" in " ".join(out.split())
