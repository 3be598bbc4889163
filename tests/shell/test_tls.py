"""A cluster whose parts speak TLS, started as docs/trust.md says."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shell.test_same_bits import address_in, started_cli, until

ROOT = Path(__file__).parents[2]
LITTLE = """
name = "little"
title = "Few updates"
source = "no source"
kind = "accumulation"
backends = ["fp32"]

[accumulation]
updates = 1000
members = 2
smallest = 1e-7
largest = 1e-5
outputs = 10
"""
BLOCKS = re.findall(r"^```\n(.*?)^```", (ROOT / "docs" / "trust.md").read_text(), re.M | re.S)


@pytest.fixture
def plain(tmp_path, monkeypatch):
    """The environment without settings; this process gets those of the page."""
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


@pytest.mark.slow
@pytest.mark.skipif(not all(map(shutil.which, ("bash", "openssl"))), reason="needs openssl")
def test_a_cluster_speaks_tls_and_strangers_are_refused(plain, tmp_path):
    told = tmp_path / "scheduler.json"
    here = ["--host", "tls://127.0.0.1", "--no-dashboard"]
    started = [started_cli("scheduler", *here, "--port", "0", "--scheduler-file", told)]
    try:
        until(told.exists)
        address = until(lambda: address_in(told))
        started.append(started_cli("worker", address, *here, "--nthreads", "1", "--no-nanny"))
        assert address.startswith("tls://")
        (tmp_path / "little.toml").write_text(LITTLE)
        command = [sys.executable, "-m", "sciprec", "run", str(tmp_path / "little.toml")]
        command += ["--scheduler", address, "--out"]
        good, refused = (
            subprocess.run(
                [*command, str(tmp_path / name)],
                env=env,
                cwd=ROOT,
                text=True,
                capture_output=True,
                check=False,
            )  # fmt: skip
            for name, env in (("mine", None), ("stranger", plain))
        )
    finally:
        for process in started:
            process.kill()
            process.wait(timeout=30)
    assert f"dask: scheduler {address}, 1 workers" in good.stderr
    assert (tmp_path / "mine" / "index.html").exists(), good.stderr
    assert refused.returncode == 2 and "no dask scheduler answers" in refused.stderr
