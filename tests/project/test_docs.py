"""Every block of README and docs is run, at small size, and gives what its page says.

The blocks of a page are run in their order, in one folder: scripts with warnings as errors,
commands in this process, which end as their comments say, else well or with a finding. All other
lines are what the block, or the one before it, prints; `...` are words left out. Tables are
accepted in a scenario. A new block is run without a word here.
"""

import glob
import inspect
import os
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
import warnings
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import numpy as np
import pytest
import yaml

import sciprec
from sciprec import InputError
from sciprec.cli.console import GOOD, NOT_MET, USAGE
from sciprec.report.stored.batch import read_batch
from sciprec.results.comparison.evidence.consistency import LEAST_MEMBERS
from sciprec.results.output.dataset import trajectory_dataset
from sciprec.results.output.health import FLAGS
from sciprec.workbench.batch import workflow
from sciprec.workbench.kinds import (
    load_scenario,
    parse_scenario,
    parse_scenarios,
    scenario_trace,
)  # fmt: skip
from tests.baselines.conftest import kept, repository  # noqa: F401  fixtures
from tests.extending import loading
from tests.shell.conftest import Models, little_trajectory

ROOT = Path(__file__).parents[2]
TEXTS = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if path.parent.name != "tutorials"  # which the site's build runs
}
BLOCKS = {
    page: [(kind, text.replace("\\\n", " ")) for kind, text in found]
    for page, content in TEXTS.items()
    if (found := [(kind, text) for kind, text in
                  re.findall(r"^```(.*?)\n(.*?)^```", content, flags=re.DOTALL | re.MULTILINE)
                  if not kind.startswith("{")])  # a directive
}  # fmt: skip
QUICK = {
    "explain/bounds", "explain/digits", "explain/fixed_point", "explain/matrix_unit",
    "explain/repeat", "help/troubleshooting", "help/trust", "how_to/add_arithmetic",
    "how_to/add_case", "how_to/add_parts", "how_to/add_payoff", "how_to/compare",
    "lab/accumulation", "lab/climate_transform", "reference/fixed_point", "lab/trace_models",
    "reference/architecture", "reference/climate", "reference/compensation", "reference/engine",
    "reference/heston", "reference/machine",
}  # fmt: skip
BEFORE_A_RELEASE = {"reference/mend"}
"""Dear pages whose kernels are tested elsewhere: `.ci/release` runs these."""
SMALLER = {
    "truncation = 42": "truncation = 21",
    "days = 5.0": "days = 0.25",
    "output_hours = 12.0": "output_hours = 3.0",
    "n_paths = 65536": "n_paths = 512",
    "steps_per_year = 32": "steps_per_year = 4",
}
NOT_RUN = {
    "what it holds": "a drawing",
    "'diffuse_by_flux': 3 of 4": "see tests/models/test_examples.py",
    "memory of kernel": "of a kernel that is not shown",
    "out reports/lorenz63_bits": "see tests/project/claims.toml",
    "precision baseline 'test_smooth": "see tests/baselines/test_pytest_plugin.py",
    "def test_smooth": "see tests/baselines/test_pytest_plugin.py",
    "sciprec baseline check --quiet": "a recipe, see below",
    "arithmetic.watch(": "a line of a model",
    "python3 -m venv": "see tests/project/test_packaging.py",
    "export DASK": "see tests/shell/test_clusters.py",
    "openssl": "see tests/shell/test_clusters.py",
    'name = "decay"': "see the command behind it", "@sciprec.model(": "see the command behind it",
    "entry-points": "see tests/project/test_extending.py",
    "def mean_error": "see tests/shell/test_plugins.py",
    "plugin mine.py": "see tests/shell/test_plugins.py",
    "| git apply": "see tests/diagnosis/test_mend.py",
    'plugins="mine.py"': "see tests/shell/test_plugins.py",
    "error left  of before": "see tests/diagnosis/test_stages.py",
    "deny=state update\"]": "see tests/diagnosis/test_stages.py",
    "kept in  error left": "see tests/diagnosis/test_stages.py",
}  # fmt: skip
"""Words of blocks, and why they are not run as others are."""
TOURS = {"README.md", "docs/how_to/kernels.md", "docs/how_to/runs.md", "docs/start.md"}
COMMAND = re.compile(r"(\$ )?([A-Z_]+=\S+ )*sciprec ")
OF_SHELLS = (
    "python3 bootstrap.py", "python -m benchmarks ", ". .venv/bin/activate", "git ", "dask ",
)  # fmt: skip
SPELT = (
    "dev coverage", "doctor", "baseline", "repeat", "tune policies_mountain",
    *(verb.replace("KERNEL", "examples:lorenz63.py:lorenz63 --inputs examples:lorenz63.py:start")
      for verb in ("tune KERNEL --tolerance 0.02 --html", "trace KERNEL --backend bf16 --mend",
                   "study KERNEL --tolerance 1e-2 --search bits", "study KERNEL --backend fp32")),
)  # fmt: skip
"""Commands that are long, and whose verbs are tested on their own: their options are looked up."""
CHANGED = {
    "sciprec run scenarios/": "--plan", "run examples:": "--plan", "run held_suarez_t21": "--plan",
    "adaptive.tolerance": "--plan", "drift_every": "--plan", "deny=state update": "--plan",
    "--workers 2": "--plan", "trace examples:lorenz96": "--set lorenz96.days=0.2",
    "sciprec climate run": "--truncation 5 --days 0.05",
    "run decay.toml": "--set ensemble.members=2",
}  # fmt: skip
"""Words of a command, and what it is given besides, or in place of its own: less work."""
PRINTED = {
    "how_to/compare": ["True "],
    "reference/verdicts": ["fp32 good ", "bf16 beyond ", "yes [", "no ["],
}
"""Output of its blocks that a page does not show."""


def pure(page):
    """The name of a page below docs, without its ending."""
    return page.removeprefix("docs/").removesuffix(".md")


def shared(line):
    """Whether a command of a tour is one of another page, where it is run."""
    return any(line in text.splitlines() for page in BLOCKS for _, text in BLOCKS[page]
               if page not in TOURS)  # fmt: skip


class Page:
    """A page whose blocks are run: all that they print, and the last of it, of a script or not."""

    def __init__(self, name, call, capsys, monkeypatch):
        self.name, self.call, self.capsys, self.monkeypatch = name, call, capsys, monkeypatch
        self.names, self.printed, self.last, self.of_script = {}, "", "", False

    def run(self):
        for kind, text in BLOCKS[self.name]:
            if any(words in text for words in NOT_RUN):
                continue
            if kind == "toml":
                accepted(tomllib.loads(text))
            elif kind == "python":
                self.last, self.of_script = self.script(text), True
            else:
                self.lines(text)
            self.printed += self.last

    def script(self, text):
        """Run a script, alone but on pages whose blocks make one file; what it prints."""
        for file in ("model.py", "script.py"):
            Path(file).write_text(text, encoding="utf-8")
        given = self.names if "/add_" in self.name else {}
        self.capsys.readouterr()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.names |= runpy.run_path("script.py", given, run_name="__main__")
        out, err = self.capsys.readouterr()
        assert err == ""
        return out

    def lines(self, text):
        """Run the commands of a block; all other lines are what it, or the one before, prints."""
        lines = text.splitlines()
        commands = [n for n in lines if COMMAND.match(n) or n.startswith(OF_SHELLS)]
        if commands:
            self.last, self.of_script = "".join(map(self.command, commands)), False
        elif self.of_script and "..." not in text:
            assert self.last == text
        for line in lines:
            if line not in commands:
                parts = map(re.escape, " ".join(line.split()).split("..."))
                assert re.search(".*".join(parts), " ".join(self.last.split())), self.last

    def command(self, line):
        """Run a command in this process, if it is one of sciprec's; what it prints."""
        if not COMMAND.match(line) or self.name in TOURS and shared(line):
            return ""
        line, _, comment = line.partition("#")
        line, _, file = line.partition(" > ")
        before, words = re.fullmatch(r"(?:\$ )?(.*?)sciprec (.*)", line.strip()).groups()
        for setting in before.split():
            self.monkeypatch.setenv(*setting.split("=", 1))
        given = [n for word in shlex.split(words) for n in (sorted(glob.glob(word)) or [word])]
        if words.startswith(SPELT) and not line.startswith("$"):
            return self.spelt(given)
        more = [o for part, options in CHANGED.items() if part in line for o in options.split()]
        for option in {o for o in more if o.startswith("--")} & set(given):
            del given[given.index(option) : given.index(option) + 2]
        code, out, err = self.call(*given, *more)
        expected = [int(n) for n in re.findall(r"exits with (\d)", comment)] or [GOOD, NOT_MET]
        expected += [USAGE] if line.startswith("$") or "not run here" in err else []
        assert code in expected, (line, err)
        if file:
            Path(file.strip()).write_text(out, encoding="utf-8")
        return out + err

    def spelt(self, given):
        """Every option of a verb is one, and those of the verb behind a double dash."""
        own, _, behind = (" ".join(given) + " -- ").partition(" -- ")
        behind = behind.split()[:-1] if given[0] == "baseline" else []
        for words in (own.split(), behind):
            verb = [word for word in words[:2] if not word.startswith("-")]
            whole = verb if verb[:1] in (["baseline"], ["dev"]) else verb[:1]
            said = self.call(*whole, "--help")[1]
            assert all(word in said for word in words if word.startswith("--"))
        return ""


def accepted(table):
    """The keys of a block are those of a scenario, or of one that is shipped."""
    if "name" in table:
        shipped = ROOT / "scenarios" / f"{table['name']}.toml"
        assert parse_scenario(table) == load_scenario(shipped)
        return
    usual = tomllib.loads((ROOT / "scenarios/quickstart_climate.toml").read_text("utf-8"))
    left_out = {"backends"} if "policy" in table else set()
    assert parse_scenarios({key: usual[key] for key in usual.keys() - left_out} | table)


# ---- what has to be there before a page is run --------------------------------------------------


def clusters(patch):
    """Packages of clusters are not installed, and `sciprec.run` is given what it takes; there is a
    batch whose files are looked through.
    """
    for name in ("dask_jobqueue", "dask_kubernetes", "dask_kubernetes.operator", "coiled"):
        patch.setitem(sys.modules, name, MagicMock())
    takes = inspect.signature(workflow.run)
    result = SimpleNamespace(page="index.html", failures=())
    sciprec.run("quickstart_heston", out="reports/mine", backends=["fp32"])
    patch.setattr(sciprec, "run", lambda *a, **k: takes.bind(*a, **k) and result)


def ensemble(_):
    """A batch whose members differ in the amplitudes of three waves, more from day to day."""

    def run(given, backend, compensation=None, perturbation=None):
        made = little_trajectory()
        lon, lat = np.radians(made.lon), np.radians(made.lat)[:, None]
        member = 0 if perturbation is None else perturbation.member
        drawn = np.random.default_rng(member).uniform(-1.0, 1.0, 3) * (member > 0)
        bias = {"fp64": 0.0, "fp32": 1e-9, "bf16": 3e-3}[backend]
        for name, values in made.fields.items():
            for number, share in enumerate(drawn, start=1):
                wave = np.cos(number * lon) * np.cos(lat) ** number
                growth = (1e-4 * share + bias) * 10.0 ** made.time_days[:, None, None]
                values += (name == "height") * growth * wave + (name == "u") * 2 * growth * wave
        return trajectory_dataset(made)

    content = {
        "name": "ensemble_jet", "title": "A jet", "source": "nobody (2000)", "kind": "climate",
        "backends": ["fp32", "bf16"],
        "climate": {"case": "galewsky", "truncation": 21, "days": 3.0},
        "ensemble": {"members": LEAST_MEMBERS + 3, "perturbation": 1e-4},
    }  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        Models(patch)["climate"] = run
        patch.setattr("sciprec.report.page.write_page", lambda batch: batch.folder / "index.html")
        assert not workflow.run([parse_scenario(content)], out="reports/ensemble_jet").failures
    evidence = {run.label: run.evidence for run in read_batch("reports/ensemble_jet").runs}
    assert evidence["fp64"] is None and evidence["fp32"]["perturbation"] == 1e-4
    assert evidence["fp32"]["consistency"]["members"] == LEAST_MEMBERS
    assert evidence["fp32"]["variability"]["members"] == LEAST_MEMBERS + 2


def one_trace(patch):
    """All is done for traces of the models of the house but their runs, which take minutes."""
    usual = scenario_trace.trace_program

    def traced(program, backend, **more):
        if "lorenz96" in more["model"]:
            return usual(program, backend, **more)
        raise InputError("not run here")

    patch.setattr(scenario_trace, "trace_program", traced)


BEFORE = {
    "explain/batch": clusters, "explain/trace_models": one_trace,
    "how_to/cores": clusters, "lab/trace_models": one_trace, "reference/verdicts": ensemble,
}  # fmt: skip


# ---- the pages ----------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with scenarios, data and examples; the two of the quickstart are small."""
    for name in ("data", "examples", "scenarios"):
        (tmp_path / name).symlink_to(ROOT / name)
    done = set()
    for path in ROOT.glob("scenarios/quickstart_*.toml"):
        text = path.read_text(encoding="utf-8")
        for old, new in SMALLER.items():
            done |= {old} & set(text.splitlines())
            text = text.replace(old, new)
        (tmp_path / path.stem).write_text(text, encoding="utf-8")  # it goes before a shipped name
    assert done == set(SMALLER)
    for kind, text in BLOCKS["docs/how_to/models.md"][:2]:
        (tmp_path / ("decay.py" if kind == "python" else f"decay.{kind}")).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [name if pure(name) in QUICK else pytest.param(
        name, marks=pytest.mark.survey if pure(name) in BEFORE_A_RELEASE else pytest.mark.slow)
     for name in BLOCKS],
)  # fmt: skip
def test_the_blocks_of_a_page_give_what_it_says(
    name, folder, call, capsys, monkeypatch, blank_figures
):
    page = Page(name, call, capsys, monkeypatch)
    BEFORE.get(pure(name), lambda patch: None)(monkeypatch)
    with loading(folder):
        page.run()
    assert all(words in page.printed for words in PRINTED.get(pure(name), ()))
    stated = getattr(page.names.get("run"), "attrs", {}) if "reference/files" in name else {}
    own = {n for n in stated if n.startswith(("sciprec_", "processor_"))}
    assert not [n for n in own if f"`{n}`" not in TEXTS[name]]  # each is explained


def test_sentences_of_troubleshooting_are_printed_by_a_command():
    page = TEXTS["docs/help/troubleshooting.md"]
    sections = re.split(r"^\([\w-]+\)=\n", page, flags=re.MULTILINE)[1:]
    assert len(sections) > 15 and all("```text\n$ sciprec " in section for section in sections)


def test_the_page_of_batches_names_every_flag():
    for bit, name in enumerate(FLAGS):
        assert f"{2**bit} {name.replace('_', ' ')}" in TEXTS["docs/reference/batch.md"]


RECIPES = [
    yaml.safe_load(text) for kind, text in BLOCKS["docs/how_to/baselines.md"] if kind == "yaml"
]
SCRIPTS = {
    "github": next(s["run"] for s in RECIPES[0]["jobs"]["baselines"]["steps"] if "name" in s),
    "gitlab": "\n".join(RECIPES[1]["precision"]["script"]),
}
"""The steps of a runner in the recipes for baselines, as shell scripts."""


@pytest.mark.slow
def test_a_recipe_checks_baselines_and_leaves_its_files(repository, tmp_path, call):  # noqa: F811
    """The recipes check alike; one runner adds its own page of results."""
    assert SCRIPTS["gitlab"].startswith("sciprec baseline check ")
    assert f"{SCRIPTS['gitlab']} || code=$?" in SCRIPTS["github"]
    shim = tmp_path / "bin" / "sciprec"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec {sys.executable} -m sciprec "$@"\n')
    shim.chmod(0o755)
    seen = {
        "PATH": f"{shim.parent}{os.pathsep}{os.environ['PATH']}",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
    }

    def checked():
        return subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", SCRIPTS["github"]], env=os.environ | seen,
            cwd=tmp_path, capture_output=True, text=True,
        )  # fmt: skip

    assert call("baseline", "save", "made_up.toml", "--quiet")[0] == GOOD
    done = checked()
    assert done.returncode == GOOD, done.stderr
    for ending in ("xml", "html", "md"):
        assert (tmp_path / f"precision.{ending}").stat().st_size
    assert (tmp_path / "summary").read_text() == (tmp_path / "precision.md").read_text()
    (tmp_path / "baselines" / "made_up" / "fp32.nc").unlink()
    assert checked().returncode == USAGE


def test_files_that_the_docs_name_exist():
    """Files and folders of the repository, also as patterns; pages are made."""
    place = re.compile(
        r"`(?:sciprec run )?((?:sciprec|tests|scenarios|data|examples|docs)/[\w./*-]*)[` ]"
    )
    texts = TEXTS | {"CONTRIBUTING.md": (ROOT / "CONTRIBUTING.md").read_text("utf-8")}
    named = {(page, path) for page, text in texts.items() for path in place.findall(text)}
    assert len(named) > 100
    assert not [(file, name) for file, name in named if not any(ROOT.glob(name.rstrip("/")))]


def test_pictures_of_the_docs_are_shown_and_small():
    """`python docs/pictures/draw.py` draws them again."""
    shown = {
        ((ROOT / page).parent / path).resolve()
        for page, text in TEXTS.items() for path in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text)
    }  # fmt: skip
    drawn = set((ROOT / "docs/pictures").glob("*.svg"))
    assert drawn <= shown and all(path.is_file() for path in shown)
    assert all(path.stat().st_size < 60_000 for path in drawn)
