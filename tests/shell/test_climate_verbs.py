"""`sciprec list climate`: everything that is registered, with its source."""

import json
import shlex

import pytest

from sciprec.climate.catalogue import CASES, EQUATIONS, TIME_SCHEMES
from sciprec.climate.transform.grid import TRUNCATIONS
from sciprec.facets.stages.arithmetics import STAGES


def test_the_list_names_everything_that_is_registered(call):
    code, out, err = call("list", "climate")
    assert (code, err) == (0, "")
    for registry in (CASES, EQUATIONS, TIME_SCHEMES, TRUNCATIONS, STAGES):
        for name in registry:
            assert name in out
    assert "formulation = careful | anomaly | whole | naive" in out
    assert "Williamson et al. (1992), case 5" in out


SHORT = ("--truncation", "T5", "--days", "0.05", "--set", "climate.step_seconds=1080")
SAME = """
name = "williamson_5_t5"
title = "williamson_5 at T5"
source = "Williamson et al. (1992), case 5"
kind = "climate"
backends = ["fp16"]

[climate]
case = "williamson_5"
truncation = 5
days = 0.05
step_seconds = 1080.0
"""


@pytest.mark.slow
def test_a_run_is_a_batch_of_one(call, blank_figures, tmp_path, monkeypatch):
    """Its files are those of `sciprec run` on a scenario that says the same, and its command line
    on the page makes it again.
    """
    monkeypatch.chdir(tmp_path)
    given = ("climate", "run", "williamson_5", *SHORT, "--backend", "fp16")
    code, out, err = call(*given)
    assert code == 0 and "williamson_5_t5" in out and err == ""
    assert "fp16 in williamson_5_t5: height agrees with fp64 to " in out
    folder = tmp_path / "reports" / "williamson_5_t5"
    assert out.splitlines()[-1] == "page: reports/williamson_5_t5/index.html"
    (tmp_path / "same.toml").write_text(SAME)
    assert call("run", "same.toml", "--set", "climate.truncation=T5")[1] == out
    command = shlex.split(json.loads((folder / "batch.json").read_text())["command"])
    assert command[:2] == ["sciprec", "run"]
    assert call(*given)[2] == "2 of 2 runs kept, computed before\n"
    assert call(*given, "--quiet") == (0, out, "")
    command = shlex.split(json.loads((folder / "batch.json").read_text())["command"])
    assert command == ["sciprec", *given[:2], "williamson_5", *SHORT[:4], *given[-2:], *SHORT[4:]]
    rows = json.loads(call(*command[1:], "--json")[1])["runs"]
    assert [row["label"] for row in rows] == ["fp64", "fp16"]
