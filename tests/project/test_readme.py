"""The README: every block of it is run, at small size, and does what the text says."""

import glob
import importlib.util
import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tomllib
import warnings
from pathlib import Path

import pytest

from sciprec import LiftError, lift
from sciprec.kinds import load_scenario, parse_scenario

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", README, flags=re.DOTALL | re.MULTILINE)
SMALLER = {
    "truncation = 42": "truncation = 21",
    "days = 5.0": "days = 0.25",
    "output_hours = 12.0": "output_hours = 3.0",
    "n_paths = 65536": "n_paths = 512",
    "steps_per_year = 32": "steps_per_year = 4",
}


def blocks(language, words=""):
    """The blocks of a language that contain some words; at least one."""
    found = [text for kind, text in BLOCKS if kind == language and words in text]
    assert found, f"no {language or 'plain'} block with {words!r} in the README"
    return found


def commands(words):
    """The lines of the plain blocks that begin with some words, comments cut."""
    lines = [line for text in blocks("", words) for line in text.splitlines()]
    return [shlex.split(line, comments=True) for line in lines if line.startswith(words)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with the README's scenarios, made small."""
    (tmp_path / "scenarios").mkdir()
    for name in ("data", "examples"):
        shutil.copytree(ROOT / name, tmp_path / name)
    done = set()
    for path in ROOT.glob("scenarios/quickstart_*.toml"):
        text = path.read_text(encoding="utf-8")
        for old, new in SMALLER.items():
            done |= {old} & set(text.splitlines())
            text = text.replace(old, new)
        for file in (tmp_path / "scenarios" / path.name, tmp_path / path.stem):
            file.write_text(text, encoding="utf-8")  # a path goes before a shipped name
    assert done == set(SMALLER)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run_sciprec(call):
    """A function that runs the command line in the current folder and returns exit code, standard
    output and error; file patterns are expanded as a shell does.
    """
    return lambda words: call(*(name for a in words for name in (sorted(glob.glob(a)) or [a])))


def test_every_block_is_of_a_kind_that_is_tested():
    assert {kind for kind, _ in BLOCKS} <= {"", "python", "toml"}
    known = ("python3 bootstrap.py", "sciprec ", ". .venv/bin/activate", "kernel '")
    for text in blocks(""):
        for line in text.splitlines():
            assert line.startswith(known), line


def test_the_scenario_is_the_shipped_one():
    for text in blocks("toml"):
        shown = parse_scenario(tomllib.loads(text))
        assert shown == load_scenario(ROOT / "scenarios" / f"{shown.name}.toml")


def test_the_refusal_is_what_the_engine_says(tmp_path):
    (shown,) = blocks("", "kernel '")
    name, file, line = re.match(r"kernel '(\w+)' \((\S+), line (\d+)\)", shown).groups()
    lines = [f"def {name}(x, weights):", "    x[:] = np.einsum('i,i->i', x, weights)"]
    source = ["import numpy as np", *[""] * (int(line) - 3), *lines]
    (tmp_path / file).write_text("\n".join(source) + "\n", encoding="utf-8")
    kernel = runpy.run_path(str(tmp_path / file))[name]
    with pytest.raises(LiftError) as caught:
        lift(kernel, "mlu370")(0.0, 1.0, None)
    assert str(caught.value).replace(f"{tmp_path}/", "") == shown.strip()


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(blocks("python"))))
def test_python_blocks_run(folder, number, capsys):
    script = folder / "example.py"
    script.write_text(blocks("python")[number], encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        runpy.run_path(str(script), run_name="__main__")
    out, err = capsys.readouterr()
    assert err == "" and out


@pytest.mark.slow
def test_command_lines_run(folder, run_sciprec, forgotten_plugins, blank_figures):
    verbs = [line[1] for line in commands("sciprec ")]
    assert verbs[0] == "study" and {"run", "compare", "report", "climate", "price"} < set(verbs)
    for _, verb, *arguments in commands("sciprec "):
        if verb in ("bench", "coverage"):  # long, and tested on their own; here only the spelling
            arguments.append("--help")
        if arguments[:1] == ["run"]:  # of a case
            small = {"--truncation": "5", "--days": "0.05"}
            own = zip(["", *arguments], arguments, strict=False)  # each with the word before it
            arguments = [word for before, word in own if not {before, word} & small.keys()]
            arguments += [word for option in small.items() for word in option]
        if "--plugin" in arguments:  # a model: in one arithmetic
            arguments += ["--backend", "fp32"]
        code, out, err = run_sciprec([verb, *arguments])
        differ = verb == "compare" and "8u" not in arguments  # a run in bf16 differs a little
        assert code == (1 if differ else 0), err
        assert "Traceback" not in err
        assert out
    assert (folder / "reports" / "mine" / "index.html").is_file()


@pytest.mark.slow
def test_the_price_shown_is_near_the_one_printed_and_the_published_one(folder, run_sciprec):
    shown = re.search(r"prints ([\d.]+) ± ([\d.]+) at 95 % .published: ([\d.]+)", README).groups()
    price, bound, published = map(float, shown)
    (first, *_) = commands("sciprec price")
    (row,) = json.loads(run_sciprec([*first[1:], "--json"])[1])["prices"]
    error = 3 * 0.00012  # standard error of the published price
    assert abs(row["price"] - published) <= row["bound"] + error
    assert abs(price - published) <= bound + error
    assert bound <= 0.001 * price and row["bound"] <= 0.001 * row["price"]


@pytest.mark.slow
@pytest.mark.parametrize("line", commands("python3 bootstrap.py"), ids=lambda line: line[2])
def test_bootstrap_commands_do_what_the_readme_says(folder, monkeypatch, call, blank_figures, line):
    spec = importlib.util.spec_from_file_location("bootstrap", ROOT / line[1])
    bootstrap = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bootstrap)
    monkeypatch.setattr(bootstrap, "ROOT", folder)
    monkeypatch.setattr(bootstrap, "VENV", Path(sys.prefix))
    monkeypatch.setattr(bootstrap, "set_up", lambda lock: None)
    monkeypatch.setattr(sys, "argv", line[1:])
    started = []

    def run(command, **where):
        """`sciprec` in this process; this very command runs this very test: only look at it."""
        started.append(command)
        ours = command[1:3] == ["-m", "sciprec"]
        assert where["cwd"] == folder and command[0].startswith(sys.prefix)
        return subprocess.CompletedProcess(command, call(*command[3:])[0] if ours else 0)

    monkeypatch.setattr(bootstrap.subprocess, "run", run)
    with pytest.raises(SystemExit) as caught:
        bootstrap.main()
    assert caught.value.code == 0
    if line[2] == "test":
        everything = ["-m", "pytest", "-q", "-m", "slow or not slow"]
        processes = str(os.cpu_count() + 1)
        how = ["-n", processes, "--dist", "loadfile", "--durations=30"]  # and nothing is left out
        parts = ["tests/precision"], ["--ignore=tests/precision"]
        assert [c[1:] for c in started[-2:]] == [everything + how + part for part in parts]
    else:
        assert len(started) == 1 and started[0][1:] == ["-m", "sciprec", "quickstart"]
        assert (folder / "reports" / "quickstart" / "index.html").is_file()


def test_files_that_the_docs_name_exist():
    """Files and folders of the repository, also as patterns; pages are made."""
    place = re.compile(r"`((?:sciprec|tests|scenarios|data|examples|docs)/[\w./*-]*)`")
    texts = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    named = {(path.name, m) for path in texts for m in place.findall(path.read_text("utf-8"))}
    assert len(named) > 100
    assert not [(file, name) for file, name in named if not any(ROOT.glob(name.rstrip("/")))]
