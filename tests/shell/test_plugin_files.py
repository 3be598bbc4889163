"""Plugins: files of a user's own that register a kind, here and on workers, and their sentences."""

import sys
import textwrap

import numpy as np
import pytest

from sciprec.cli.console import GOOD, USAGE
from sciprec.foundation.errors import InputError
from sciprec.foundation.loading import load_files
from sciprec.workbench.batch.plan import code_behind
from sciprec.workbench.kinds import kind, kinds, load_scenario
from tests.extending import BLOCKS, loading

FLOW = """
    name = "hill"
    title = "A hill of water"
    source = "nobody (2026)"
    kind = "climate"
    backends = ["fp32"]
    climate = { case = "hill_of_water", truncation = 5, days = 0.25, output_hours = 3.0 }
"""
SCENARIO = """
    name = "decay"
    title = "A decay"
    source = "nobody (2000)"
    kind = "decay"
    backends = ["fp32"]

    [decay]
    rate = 0.5
"""


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Paths of a model and a scenario of its kind; afterwards, nobody has heard of them."""
    monkeypatch.setattr(kind, "_KINDS", dict(kind._KINDS))
    before = set(sys.modules)
    model, scenario = tmp_path / "decay.py", tmp_path / "decay.toml"
    model.write_text(BLOCKS["kind of scenario"])
    scenario.write_text(textwrap.dedent(SCENARIO))
    yield model, scenario
    for name in set(sys.modules) - before:
        if name.startswith("sciprec_plugin_"):
            del sys.modules[name]


def test_a_file_of_ones_own_brings_a_kind(written, call, tmp_path, blank_figures):
    model, scenario = written
    assert call("run", scenario, "--out", tmp_path / "out")[0] == USAGE
    code, out, _ = call("run", scenario, "--plugin", model, "--plan")
    assert code == GOOD and "fp32" in out
    code, out, _ = call("run", scenario, "--plugin", model, "--out", tmp_path / "out")
    assert code == GOOD and "level agrees with fp64" in " ".join(out.split())
    assert f"--plugin {model}" in (tmp_path / "out" / "batch.json").read_text()
    load_files(model)  # once is enough
    assert "decay" in kinds()


SAID = {
    ("list", "backends"): ("number format", "binary24"),
    ("list", "cases"): ("climate case", "hill_of_water"),
    ("compare", "one.npy", "one.npy", "--json"): ("metric", "error_of_mean"),
    ("price", "--payoff", "gap-call", "--strike", 95, "--maturity", 0.5, "--parameter",
     "trigger=105", "--model", "lewis"): ("payoff", "reached"),
    ("dev", "coverage", "--backend", "binary24", "--small"): ("number format", "reached"),
    ("run", "flow.toml", "--plan"): ("climate case", "to compute"),
}  # fmt: skip


@pytest.mark.parametrize("verb", SAID, ids=lambda verb: " ".join(map(str, verb[:2])))
def test_every_verb_takes_a_file_of_ones_own(verb, call, tmp_path, monkeypatch):
    """Before the verb or after it; without the file, nobody knows the name."""

    def reached(*_, **__):
        raise InputError("reached")

    for computed in ("coverage", "price"):
        monkeypatch.setattr(f"sciprec.heston.{computed}", reached, raising=False)
    monkeypatch.chdir(tmp_path)
    np.save("one.npy", np.ones(3))
    (tmp_path / "flow.toml").write_text(FLOW)
    heading, word = SAID[verb]
    assert word not in "".join(call(*verb)[1:])
    with loading(tmp_path):
        (tmp_path / "mine.py").write_text(BLOCKS[heading])
        for given in ((*verb, "--plugin", "mine.py"), ("--plugin=mine.py", *verb)):
            code, out, err = call(*given)
            assert word in out + err and (code == GOOD or word == "reached"), err
    assert call(*verb, "--plugin")[0] == USAGE


def test_its_code_is_in_the_digest_of_what_it_computes(written):
    model, scenario = written
    load_files(model)
    before = code_behind(load_scenario(scenario))
    del sys.modules["sciprec_plugin_decay"]
    model.write_text(model.read_text().replace("table.rate, 0.01", "table.rate, 0.02"))
    load_files(model)
    assert code_behind(load_scenario(scenario)) != before


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("absent.py", None, "the plugin '.*absent.py' does not exist; give the path of a file s"),
        ("model.txt", "", "the plugin '.*model.txt' is no Python file; give the path of a file su"),
        ("odd.py", "1 / 0", r"odd.py' cannot be loaded \(ZeroDivisionError: .*\); correct it"),
        ("odd.py", "def", r"odd.py' cannot be loaded \(SyntaxError: .*\); correct it"),
        ("decay.py", "", "the plugins '.*decay.py' and '.*decay.py' have the same name; rename o"),
    ],
)
def test_files_that_cannot_be_used_get_a_sentence(written, tmp_path, name, text, words):
    load_files(written[0])
    (tmp_path / "other").mkdir()
    if text is not None:
        (tmp_path / "other" / name).write_text(text)
    with pytest.raises(InputError, match=words):
        load_files([tmp_path / "other" / name])
    assert not {f"sciprec_plugin_{stem}" for stem in ("odd", "model")} & set(sys.modules)
