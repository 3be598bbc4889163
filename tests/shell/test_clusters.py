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

from sciprec.cli.exit_codes import NOT_MET
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


def test_the_command_ends_when_the_scheduler_is_killed(scenario_files, tmp_path):
    """The rest are failed runs."""
    with contextlib.ExitStack() as stack:
        address, (scheduler, _) = stack.enter_context(dask_cluster(tmp_path, preload=ENDLESS))
        command = [sys.executable, "-c", COMMAND, "run", scenario_files[0], "--scheduler", address]
        process = subprocess.Popen(
            [*map(str, command), "--out", str(tmp_path / "out")], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        stack.callback(process.kill)
        while "in fp64: done" not in (line := process.stderr.readline()):
            assert line, "it ended too early"
        scheduler.kill()
        out, said = process.communicate(timeout=120)
    assert "Traceback" not in said
    assert (tmp_path / "out" / "little_climate__fp64.nc").is_file()
    assert process.returncode == NOT_MET
    for label in ("fp32", "fp16"):
        assert f"little_climate in {label}: failed: the dask scheduler was lost in the" in said
        assert f"{label} in little_climate: the dask scheduler was lost" in out
    assert "run again to go on" in " ".join(out.split())


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


LITTLE = """
name = "little"
title = "Few updates"
source = "no source"
kind = "accumulation"
backends = ["fp32"]
accumulation = { updates = 1000, members = 2, smallest = 1e-7, largest = 1e-5, outputs = 10 }
"""
BLOCKS = re.findall(r"^```\n(.*?)^```", (ROOT / "docs/help/trust.md").read_text(), re.M | re.S)


@pytest.fixture
def plain(tmp_path, monkeypatch):
    """The environment without settings; this process gets those of docs/help/trust.md."""
    before = dict(os.environ)
    (settings,) = (block for block in BLOCKS if "REQUIRE_ENCRYPTION" in block)
    (certificate,) = (block for block in BLOCKS if block.startswith("openssl"))
    (tmp_path / "tls").mkdir()
    exports = settings[: settings.index("dask scheduler")]
    program = f"cd tls; {certificate}\ncp cert.pem ca.pem; cd ..\n{exports}\nenv -0"
    done = subprocess.run(
        ["bash", "-ec", program], cwd=tmp_path, env={**before, "HOME": str(tmp_path)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    for one in done.stdout.split("\0"):
        name, _, value = one.partition("=")
        if name.startswith("DASK_"):
            monkeypatch.setenv(name, value)
    return before


@pytest.mark.skipif(not all(map(shutil.which, ("bash", "openssl"))), reason="needs openssl")
def test_a_cluster_speaks_tls_and_strangers_are_refused(plain, tmp_path):
    (tmp_path / "little.toml").write_text(LITTLE)
    with dask_cluster(tmp_path, host="tls://127.0.0.1") as (address, _):
        assert address.startswith("tls://")
        command = [sys.executable, "-m", "sciprec", "run", str(tmp_path / "little.toml")]
        command += ["--scheduler", address, "--out"]
        good, refused = (
            subprocess.run(
                [*command, str(tmp_path / name)], env=env, cwd=ROOT, text=True, capture_output=True,
                check=False,
            )
            for name, env in (("mine", None), ("stranger", plain))
        )  # fmt: skip
    assert f"dask: scheduler {address}, 1 workers" in good.stderr
    assert (tmp_path / "mine" / "index.html").exists(), good.stderr
    assert refused.returncode == 2 and "no dask scheduler answers" in refused.stderr
