"""The command line: exit codes, messages without traceback, JSON, and nothing left half-written."""

import json
import os
import socket
import subprocess
import sys
import threading
from typing import get_args

import pytest

from sciprec.cli import commands as cli
from sciprec.cli.console import GOOD, INTERNAL, NOT_MET, UNREAD, USAGE
from sciprec.results.output import netcdf
from sciprec.workbench.kinds import kinds


def test_a_terminal_without_dots_and_dashes_gets_question_marks():
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    command = [sys.executable, "-m", "sciprec", "list", "backends"]
    done = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert done.returncode == GOOD
    assert b"-126 ? 127" in done.stdout


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="pipes end otherwise there")
def test_a_pipe_that_nobody_reads_is_no_failure_of_a_command():
    command = [sys.executable, "-m", "sciprec", "scenario", "keys", "heston"]
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (UNREAD, b"")


def test_run_writes_files_and_page_and_enforces_tolerances(
    call, models, undrawn, scenario_files, tmp_path
):
    out = ("--out", tmp_path / "out")
    code, said, err = call("run", *scenario_files, *out)
    assert (code, err) == (GOOD, "")
    assert f"page: {tmp_path / 'out' / 'index.html'}" in said
    assert "fp16 in little_climate: height: relative l2 error" in said
    assert len(list((tmp_path / "out").glob("*.nc"))) == 6
    assert not list((tmp_path / "out").glob(".*"))
    given = ("run", scenario_files[0], *out)
    assert call(*given, "--enforce")[0] == NOT_MET
    code, said, _ = call(*given, "--enforce", "--backend", "fp32", "--json")
    content = json.loads(said)
    assert code == GOOD and content["page"] == str(tmp_path / "out" / "index.html")
    assert [row["backend"] for row in content["runs"]] == ["fp64", "fp32"]
    assert content["runs"][1]["errors"]["relative_l2"] > 0


@pytest.mark.slow
def test_report_makes_the_page_again(call, blank_figures, own_batch):
    pages = []
    for _ in range(2):
        assert call("report", own_batch.folder)[0] == GOOD
        pages.append(own_batch.page.read_bytes())
        own_batch.page.write_text("<title>sciprec: another page</title>")
    assert pages[0] == pages[1]
    assert len(json.loads(call("report", own_batch.folder, "--json")[1])["runs"]) == 6


def test_a_failing_run_gives_1_and_the_others_go_on(
    call, models, undrawn, scenario_files, tmp_path
):
    usual = models["heston"]

    def failing(given, backend, compensation=None):
        if backend == "fp32":
            raise ZeroDivisionError("by zero")
        return usual(given, backend, compensation=None)

    models["heston"] = failing
    code, out, err = call("run", *scenario_files, "--out", tmp_path)
    assert code == NOT_MET
    assert "failed inside sciprec with ZeroDivisionError: by zero; please report this" in out
    assert "Traceback" not in out + err
    assert len(list(tmp_path.glob("little_*.nc"))) == 5
    with pytest.raises(ZeroDivisionError):
        cli.main(["--debug", "run", str(scenario_files[1]), "--out", str(tmp_path)])


def test_folder_that_cannot_be_written_is_noticed_before_computing(
    call, models, scenario_files, tmp_path
):
    (tmp_path / "file").write_text("in the way")
    models["climate"] = lambda given, backend, compensation=None: pytest.fail("computed first")
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        code, _, err = call("run", scenario_files[0], "--out", out)
        assert code == USAGE
        why = "it is a file" if out.name == "file" else "Not a directory"
        assert f"the output folder '{out}' cannot be written ({why})" in err
        assert "give a folder that you may write into with --out" in err


def test_scheduler_that_does_not_answer(call, models, scenario_files, tmp_path, monkeypatch):
    monkeypatch.setattr("sciprec.workbench.batch.execute.CONNECT_SECONDS", 0.2)
    for address in ("tcp://127.0.0.1:9", "nowhere", "tls://127.0.0.1:9", "tcp://", "http://x", ""):
        out = tmp_path / "out"
        code, _, err = call("run", scenario_files[0], "--out", out, "--scheduler", address)
        assert code == USAGE
        assert f"no dask scheduler answers at '{address}'" in err
        assert not out.exists()


def test_a_stranger_at_the_address_is_no_scheduler(call, models, scenario_files, tmp_path):
    """A web server's answer, read as dask's, asks for exbibytes of memory."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"

        def answer():
            connection, _ = server.accept()
            with connection:
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" + b" " * 200)
                connection.recv(1 << 16)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        arguments = ("run", scenario_files[0], "--out", tmp_path / "out", "--scheduler", address)
        code, _, err = call(*arguments)
    assert code == USAGE
    assert f"no dask scheduler answers at '{address}'" in err
    assert "Traceback" not in err


def test_internal_errors_are_one_sentence_and_3(call, monkeypatch):
    def broken():
        raise RuntimeError("the table\nis gone")

    monkeypatch.setattr("sciprec.precision.formats.backend.table", broken)
    code, out, err = call("list", "backends")
    assert code == INTERNAL
    assert err == (
        "sciprec: internal error: RuntimeError: the table is gone. "
        "Please report this; --debug shows more\n"
    )
    for arguments in (["--debug", "list", "backends"], ["list", "backends", "--debug", "--json"]):
        with pytest.raises(RuntimeError, match="the table"):
            cli.main(arguments)
    code, _, err = call("list", "backends", "--", "--debug")
    assert code == USAGE and "Traceback" not in err


def test_backends_say_what_there_is_and_what_is_in_force_from_where(
    call, scenario_files, monkeypatch
):
    code, out, _ = call("list", "backends")
    assert code == GOOD and "none chosen" in out
    assert "mlu370-noguard" in out and "toward zero" in out and "precision" in out
    rows = json.loads(call("list", "backends", "--json")[1])["backends"]
    assert {r["name"]: r["significand_bits"] for r in rows}["mlu370"] == 21
    monkeypatch.setenv("MLU_PRECISION_MODE", "fp32_noguard")
    monkeypatch.setenv("MLU_ENABLE_COMPENSATION", "1")
    monkeypatch.setenv("MLU_COMP_ALPHA", "0.9")
    monkeypatch.setenv("MLU_COMP_RESET", "2")
    out = call("list", "backends")[1]
    assert "MLU_COMP_RESET=2: a reset after every 2 updates forgets" in " ".join(out.split())
    assert len(json.loads(call("list", "backends", "--json")[1])["notes"]) == 1
    assert "fp32_noguard (backend mlu370-noguard)  environment variable MLU_PRECISION_MODE" in out
    settings = json.loads(call("list", "backends", "--json")[1])["in_force"]
    assert {"name": "beta", "value": "0", "source": "default"} in settings
    assert "environment variable MLU_COMP_ALPHA" in {s["source"] for s in settings}
    out = call("list", "backends", "--scenario", scenario_files[0])[1]
    assert "fp32, fp16" in out and "scenario key 'backends'" in out
    text = scenario_files[0].read_text()
    key = 'compensation = ["none", "carry"]\nbackends = ["fp32"'
    scenario_files[0].write_text(text.replace('backends = ["fp32"', key))
    out = call("list", "backends", "--scenario", scenario_files[0])[1]
    assert "none, carry" in out and "scenario key 'compensation'" in out
    monkeypatch.setenv("MLU_PRECISION_MODE", "fp31")
    code, out, err = call("list", "backends")
    assert (code, out) == (USAGE, "")
    assert "environment variable MLU_PRECISION_MODE is 'fp31'; accepted: fp32, " in err


def test_a_scenario_without_arithmetic_takes_the_environments(
    call, models, undrawn, scenario_files, tmp_path, monkeypatch
):
    path = scenario_files[0]
    path.write_text(path.read_text().replace('backends = ["fp32", "fp16"]', ""))
    code, _, err = call("run", path, "--out", tmp_path / "none")
    assert code == USAGE
    assert "'little_climate': no arithmetic is chosen: the key 'backends' is missing and" in err
    assert call("run", path, "--backend", "bf16", "--out", tmp_path / "given")[0] == GOOD
    monkeypatch.setenv("MLU_PRECISION_MODE", "fp32")
    code, out, _ = call("run", path, "--out", tmp_path / "set", "--json")
    assert [r["backend"] for r in json.loads(out)["runs"]] == ["fp64", "mlu370"]
    content = json.loads((tmp_path / "set" / "batch.json").read_text())
    assert content["command"].startswith("MLU_PRECISION_MODE=fp32 sciprec run ")
    stored = netcdf.read(tmp_path / "set" / "little_climate__mlu370.nc")
    assert json.loads(stored.attrs["sciprec_scenario"])["backends"] == ["mlu370"]


def test_every_kind_is_the_one_of_its_scenarios():
    for name, kind in kinds().items():
        assert kind.name == name == get_args(kind.scenario.model_fields["kind"].annotation)[0]
        assert name in kind.scenario.model_fields
