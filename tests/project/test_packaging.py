"""Packaging: the lock pins everything, and the documented commands are the ones that are run."""

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BOOTSTRAP = ROOT / "bootstrap.py"


def normal(name):
    """A distribution's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.fixture(scope="module")
def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def pins():
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


def test_lock_holds_exact_versions_and_nothing_else(pins):
    for line in pins:
        assert re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", line), line
    names = [normal(line.split("==")[0]) for line in pins]
    assert len(set(names)) == len(names)


def test_lock_pins_every_dependency_of_run_test_and_build(project, pins):
    wanted = project["project"]["dependencies"] + project["build-system"]["requires"]
    wanted += project["project"]["optional-dependencies"]["test"]
    names = {normal(re.split(r"[>=<\[; ]", item)[0]) for item in wanted}
    assert names <= {normal(line.split("==")[0]) for line in pins}


def test_every_dependency_says_why(project):
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for item in project["project"]["dependencies"]:
        assert re.search(rf'"{re.escape(item)}",\s+# \w', text), item


def test_readme_begins_with_the_two_commands_and_ci_calls_the_second():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    first = readme.index("python3 bootstrap.py quickstart")
    second = readme.index("python3 bootstrap.py test")
    assert first < second < readme.index("\n## ")
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert script.rstrip().endswith("python3 bootstrap.py test")


def test_bootstrap_needs_only_the_standard_library():
    tree = BOOTSTRAP.read_text(encoding="utf-8")
    imported = set(re.findall(r"^\s*(?:import|from) (\w+)", tree, flags=re.MULTILINE))
    assert imported <= set(sys.stdlib_module_names)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "unknown command ''; known: quickstart, test, setup, lock"),
        (["tests"], "unknown command 'tests'; known: quickstart, test, setup, lock"),
    ],
)
def test_bootstrap_messages(arguments, words):
    command = [sys.executable, str(BOOTSTRAP), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_interrupted_bootstrap_says_how_to_go_on(monkeypatch, capsys):
    specification = importlib.util.spec_from_file_location("bootstrap", BOOTSTRAP)
    bootstrap = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(bootstrap)

    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(bootstrap, "set_up", interrupted)
    monkeypatch.setattr(sys, "argv", ["bootstrap.py", "setup"])
    with pytest.raises(SystemExit) as caught:
        bootstrap.main()
    assert caught.value.code == 130
    assert capsys.readouterr().err == "bootstrap: interrupted; run it again to go on\n"


def test_bootstrap_prints_its_help():
    command = [sys.executable, str(BOOTSTRAP), "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "python3 bootstrap.py quickstart" in done.stdout
