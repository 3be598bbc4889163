"""Every block of README and docs is run, at small size, and gives what its page says.

The blocks of a page are run in their order, in one folder. Scripts run with warnings as errors, and
a plain block behind a script is what it prints. Commands run in this process and end as their
comments say, else well or with a finding. Tables are accepted in a scenario. A new block is run
without a word here.
"""

import ast
import glob
import importlib.util
import inspect
import json
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
from sciprec import InputError, LiftError, climate, lift
from sciprec.cli.exit_codes import GOOD, NOT_MET, USAGE
from sciprec.cost.work import update_work
from sciprec.machine import MACHINES, roofline
from sciprec.report.stored.batch import read_batch
from sciprec.results.comparison.evidence.consistency import LEAST_MEMBERS, MEMBERS_PER_COMPONENT
from sciprec.results.comparison.evidence.error_budget import error_budget
from sciprec.results.output.dataset import trajectory_dataset
from sciprec.results.output.health import FLAGS
from sciprec.workbench.batch import modes, workflow
from sciprec.workbench.kinds import (
    load_scenario,
    parse_scenario,
    parse_scenarios,
    scenario_trace,
)  # fmt: skip
from sciprec.workbench.study import bit_search
from tests.baselines.conftest import kept, repository  # noqa: F401  fixtures
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
    "explain/repeat", "help/troubleshooting", "help/trust", "how_to/compare", "lab/accumulation",
    "lab/climate_transform", "reference/fixed_point",
    "lab/trace_models", "reference/architecture", "reference/climate", "reference/compensation",
    "reference/engine", "reference/heston", "reference/machine",
}  # fmt: skip
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
    "precision baseline 'test_smooth": "see tests/baselines/test_pytest_plugin.py",
    "def test_smooth": "see tests/baselines/test_pytest_plugin.py",
    "sciprec baseline check --quiet": "a recipe, see below", "kernel 'smooth' (": "see `kernels`",
    "sciprec: mine.toml": "see `scenarios`", "run = sciprec.climate.run(": "see `signature`",
    "variable     verdict": "see `compare`", "arithmetic.watch(": "a line of a model",
    "python3 -m venv": "see tests/project/test_packaging.py",
    "export DASK": "see tests/shell/test_clusters.py",
    "openssl": "see tests/shell/test_clusters.py",
    'name = "decay"': "see the command behind it", "@sciprec.model(": "see the command behind it",
    "entry-points": "see tests/shell/test_plugins.py",
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
COMMAND = re.compile(r"([A-Z_]+=\S+ )*sciprec ")
OF_SHELLS = (
    "python3 bootstrap.py", "python -m benchmarks ", ". .venv/bin/activate", "git ", "dask ",
)  # fmt: skip
SPELT = ("dev coverage", "doctor", "baseline", "repeat", "tune policies_mountain")
"""Commands that are long, and whose verbs are tested on their own: their options are looked up."""
CHANGED = {
    "sciprec run scenarios/": "--plan",
    "sciprec climate run": "--truncation 5 --days 0.05",
    "sciprec trace examples:lorenz63": "--json",
    "sciprec study": "--json",
    "run examples:soil_column": "--backend fp32 --json",
    "run examples:half_preconditioner": "--backend fp32 --json",
    "run examples:layer_norm": "--backend fp32 --json",
    "run examples:lorenz96": "--backend fp32 --set ensemble.members=2 --json",
    "decay.toml": "--json",
}  # fmt: skip
"""Words of a command, and what it is given besides, or in place of its own: less work, or JSON."""


def pure(page):
    """The name of a page below docs, without its ending."""
    return page.removeprefix("docs/").removesuffix(".md")


def is_command(line):
    return bool(COMMAND.match(line)) or line.startswith(OF_SHELLS)


def shared(line):
    """Whether a command of a tour is one of another page, where it is run."""
    return any(line in text.splitlines() for page in BLOCKS for _, text in BLOCKS[page]
               if page not in TOURS)  # fmt: skip


class Page:
    """A page whose blocks are run: what its scripts leave and print, what its commands print."""

    def __init__(self, name, call, capsys, monkeypatch):
        self.name, self.text = name, TEXTS[name]
        self.call, self.capsys, self.monkeypatch = call, capsys, monkeypatch
        self.scripts, self.printed = [], {}

    def block(self, words):
        """The block that contains some words."""
        (found,) = (text for _, text in BLOCKS[self.name] if words in text)
        return found

    def run(self):
        printed = None
        for kind, text in BLOCKS[self.name]:
            if printed is not None and not kind and not is_command(text):
                if not any(words in text for words in NOT_RUN):
                    assert printed == text
                printed = None
                continue
            printed = None
            if any(words in text for words in NOT_RUN):
                continue
            if kind == "toml":
                accepted(tomllib.loads(text))
            elif kind == "python":
                printed = self.script(text)
            elif kind == "text":
                self.session(text)
            else:
                assert not kind and all(map(is_command, text.splitlines())), text
                for line in text.splitlines():
                    if COMMAND.match(line) and not (self.name in TOURS and shared(line)):
                        self.command(*line.partition("#")[::2])

    def script(self, text):
        """Run a script, and say what it prints, if anything."""
        Path("script.py").write_text(text, encoding="utf-8")
        self.capsys.readouterr()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            left = runpy.run_path("script.py", run_name="__main__")
        out, err = self.capsys.readouterr()
        assert err == ""
        self.scripts.append((left, out))
        return out or None

    def session(self, text):
        """A command behind a `$`, and what it prints, in which `...` are words left out."""
        line, *said = text.splitlines()
        code, out, err = self.call(*shlex.split(line.removeprefix("$ sciprec ")))
        self.printed[line] = SimpleNamespace(code=code, out=out)
        for sentence in said:
            parts = map(re.escape, " ".join(sentence.split()).split("..."))
            assert re.search(".*".join(parts), " ".join((out + err).split())), (line, out, err)

    def command(self, line, comment):
        line, _, file = line.partition(" > ")
        before, words = re.fullmatch(r"(.*?)sciprec (.*)", line.strip()).groups()
        for setting in before.split():
            self.monkeypatch.setenv(*setting.split("=", 1))
        given = [n for word in shlex.split(words) for n in (sorted(glob.glob(word)) or [word])]
        if words.startswith(SPELT):
            return self.spelt(given)
        more = [o for part, options in CHANGED.items() if part in line for o in options.split()]
        for option in {o for o in more if o.startswith("--")} & set(given):
            del given[given.index(option) : given.index(option) + 2]
        code, out, err = self.call(*given, *more)
        said = re.search(r"exits with (\d)", comment)
        expected = [int(said[1])] if said else (GOOD, NOT_MET)
        assert code in expected and "Traceback" not in err or "not run here" in err, err
        self.printed[line.strip()] = SimpleNamespace(code=code, out=out)
        if file:
            Path(file.strip()).write_text(out, encoding="utf-8")

    def spelt(self, given):
        """Every option of a verb is one, and those of the verb behind a double dash."""
        own, _, behind = (" ".join(given) + " -- ").partition(" -- ")
        behind = behind.split()[:-1] if given[0] == "baseline" else []
        for words in (own.split(), behind):
            verb = [word for word in words[:2] if not word.startswith("-")]
            whole = verb if verb[:1] in (["baseline"], ["dev"]) else verb[:1]
            said = self.call(*whole, "--help")[1]
            assert all(word in said for word in words if word.startswith("--"))


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


def clusters(page):
    """Packages of clusters are not installed, and `sciprec.run` is given what it takes; there is a
    batch whose files are looked through.
    """
    for name in ("dask_jobqueue", "dask_kubernetes", "dask_kubernetes.operator", "coiled"):
        page.monkeypatch.setitem(sys.modules, name, MagicMock())
    takes = inspect.signature(workflow.run)
    result = SimpleNamespace(page="index.html", failures=())
    sciprec.run("quickstart_heston", out="reports/mine", backends=["fp32"])
    page.monkeypatch.setattr(sciprec, "run", lambda *a, **k: takes.bind(*a, **k) and result)


def ensemble(page):
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


def one_trace(page):
    """All is done for traces of the models of the house but their runs, which take minutes."""
    usual = scenario_trace.trace_program

    def traced(program, backend, **more):
        if "lorenz96" in more["model"]:
            return usual(program, backend, **more)
        raise InputError("not run here")

    page.monkeypatch.setattr(scenario_trace, "trace_program", traced)


def small_curve(page):
    """Of the formats that are tried for the curve's sake alone, the one that is said to do."""
    page.monkeypatch.setattr(bit_search, "_CURVE", (11,))


def module(page):
    """The file that the sentences are about."""
    Path("model.py").write_text(BLOCKS[page.name][0][1], encoding="utf-8")


BEFORE = {
    "help/troubleshooting": module,
    "explain/batch": clusters, "explain/trace_models": one_trace, "explain/study": small_curve,
    "how_to/cores": clusters, "lab/trace_models": one_trace, "reference/verdicts": ensemble,
}  # fmt: skip


# ---- what pages say besides ---------------------------------------------------------------------


def runs(page):
    for line, ran in page.printed.items():
        assert ran.code == ("compare" in line and "8u" not in line), line
    assert Path("reports/mine/index.html").is_file() and all(out for _, out in page.scripts)
    said = re.search(r"prints ([\d.]+) ± ([\d.]+) at 95 % .published: ([\d.]+)", page.text).groups()
    price, bound, published = map(float, said)
    result = page.scripts[-1][0]["result"]
    error = 3 * 0.00012  # standard error of the published price
    assert abs(result.price - published) <= result.bound + error
    assert abs(price - published) <= bound + error
    assert bound <= 0.001 * price and result.bound <= 0.001 * result.price


def kernels(page):
    assert all(out for _, out in page.scripts)
    shown = page.block("kernel 'smooth' (")
    name, file, line = re.match(r"kernel '(\w+)' \((\S+), line (\d+)\)", shown).groups()
    lines = [f"def {name}(x, weights):", "    x[:] = np.einsum('i,i->i', x, weights)"]
    source = ["import numpy as np", *[""] * (int(line) - 3), *lines]
    Path(file).write_text("\n".join(source) + "\n", encoding="utf-8")
    with pytest.raises(LiftError) as caught:
        lift(runpy.run_path(file)[name], "mlu370")(0.0, 1.0, None)
    assert str(caught.value) == shown.strip()


def adaptive(page):
    text = Path("reports/adaptive/index.html").read_text(encoding="utf-8")
    assert "Arithmetics that follow a tolerance" in text


def flags(page):
    for bit, name in enumerate(FLAGS):
        assert f"{2**bit} {name.replace('_', ' ')}" in page.text


def signature(page):
    call = ast.parse(page.block("run = sciprec.climate.run(")).body[0].value
    known = inspect.signature(climate.run).parameters
    assert {keyword.arg for keyword in call.keywords} - {None} <= set(known)


def compare(page):
    third, shown = [*page.printed.values()][2].out, page.block("variable     verdict")
    assert [line.split() for line in third.splitlines()] == list(map(str.split, shown.splitlines()))
    assert Path("errors.html").is_file() and Path("compare.xml").is_file()
    assert page.scripts[1][1].startswith("True ")


def machine(page):
    """The results of the example are those beside it, and the tables those that are used."""
    ((names, _),) = page.scripts
    stated = [line.split("#") for line in page.block("import machine").splitlines() if "#" in line]
    assert len(stated) == 4
    for expression, result in stated:
        assert eval(expression, names) == eval(result), expression
    rows = dict(re.findall(r"^\| `(\w+)` \| `([\w-]+)`", page.text, flags=re.MULTILINE))
    assert {mode: rows.get(mode) for mode in modes.MODES} == modes.MODES
    assert all(f"`{name}`" in page.text for name in modes.VARIABLES)
    mlu370, a100 = MACHINES["mlu370"], MACHINES["a100"]
    rows = re.findall(
        r"^\| ([\w -]+(?: \([\w -]+\))?) \| ([\d.]+)[^|]*\| ([\d.]+)", page.text, flags=re.MULTILINE
    )
    found = {name: (float(left), float(right)) for name, left, right in rows}
    assert found.pop("its 32-bit float (also beside fixed point)") == (
        mlu370.rates["mlu370"].per_second / 1e12, a100.rates["fp32"].per_second / 1e12,
    )  # fmt: skip
    bandwidths = mlu370.bandwidth.per_second / 1e12, a100.bandwidth.per_second / 1e12
    assert found.pop("memory") == bandwidths
    assert f"{mlu370.described_bandwidth.per_second / 1e12:g} TB/s" in page.text
    assert set(found) == {"fp16", "bf16", "int16", "int32"}
    for name, figures in found.items():
        assert figures == tuple(m.rates[name].per_second / 1e12 for m in (mlu370, a100))
    n, rows = 10**7, re.findall(r"^\| (?:x ←|the same, c).*\|$", page.text, flags=re.MULTILINE)
    for row, residuals in zip(rows, (0, n), strict=True):
        work = update_work("mlu370", n, residuals)
        here, there = roofline(work), roofline(update_work("fp32", n, residuals), "a100", "fp32")
        times = here.seconds_modelled, here.seconds_described_modelled, there.seconds_modelled
        vendors, described, other = (f"{1e6 * seconds:.0f} µs" for seconds in times)
        assert f"| {work.flops // n} | {work.bytes_moved // n} | " in row
        assert row.endswith(f"| {vendors} ({described}) | {other} |")


def models(page):
    first, *others = ([(row["scenario"], row["label"], row["status"]) for row in rows["runs"]]
                      for rows in (json.loads(ran.out) for ran in page.printed.values()))
    assert [row[1:] for row in first] == [
        ("fp64", "truth"), ("fp32", "good"), ("fp32+carry", "good"), ("mlu370", "beyond"),
        ("mlu370+carry", "good"), ("fp16", "beyond"), ("fp16+carry", "beyond"),
    ]  # fmt: skip
    beyond = {name for rows in others for name, _, status in rows if status == "beyond"}
    assert beyond == {"soil_column"} and len(others) == 4


def monitor(page):
    texts = [Path(f"reports/{name}/index.html").read_text("utf-8") for name in ("watched", "drift")]
    assert all("What was watched" in text for text in texts)
    assert ["added by rounding" in text for text in texts] == [False, True]


def scenarios(page):
    """Its sentences are those that are said; what its table names is written."""
    text = Path("mine.toml").read_text(encoding="utf-8")
    slips = {'"fp16"': '"pf16"', "n_paths = 65": "n_pahts = 65", "rho = -0.7": "rho = -1.5"}
    for old, new in slips.items():
        assert old in text
        text = text.replace(old, new)
    Path("mine.toml").write_text(text, encoding="utf-8")
    code, _, err = page.call("scenario", "check", "mine.toml")
    lines = page.block("sciprec: mine.toml").splitlines()
    assert code == USAGE and len(lines) == 3
    for line in lines:
        assert re.search(".*".join(map(re.escape, line.split("..."))), err), line
    named = page.block("#:schema").removeprefix("#:schema").strip()
    assert Path(named).read_text(encoding="utf-8").startswith("{")


def study(page):
    plain, search = (json.loads(ran.out) for ran in page.printed.values())
    assert [row["status"] for row in plain["runs"]] == ["truth", "good", "good"]
    found = search["search"]
    said = re.search(r"finds (\d+) bits, and says that (\d+) would do", page.text)
    assert [found["bits"], *found["lucky"]] == [int(n) for n in said.groups()]
    status = {row["label"]: row["status"] for row in search["runs"]}
    assert status[found["backend"]] == "good"
    assert sorted(status.values()) == ["beyond", "good", "truth"]
    assert "mlu370 good" in page.scripts[0][1] and "bf16 beyond" in page.scripts[0][1]
    assert Path("reports/smoothed/index.html").is_file()


def trace(page):
    (ran,) = page.printed.values()
    found = json.loads(ran.out)
    assert ran.code == GOOD and "s[i] += h / 6.0" in found["verdict"]
    assert sum(line["share"] for line in found["lines"]) == pytest.approx(1.0)


def trace_models(page):
    good = [line for line, ran in page.printed.items() if ran.code == GOOD]
    assert len(page.printed) > 2 and len(good) == 1
    assert "of the error of 'lorenz96' in fp16" in page.printed[good[0]].out


def tune(page):
    """What is saved is called as its file."""
    assert all(ran.code == GOOD for ran in page.printed.values()) and len(page.printed) == 1
    assert Path("tune.html").is_file()
    for name in ("spread", "mix"):
        assert sciprec.Assignment.load(f"{name}.toml").name == name


def verdicts(page):
    """NCAR's spectral transform shallow water model 2.0, T42: l2 of h at day 7 is 1.79e-3."""
    (_, told), (names, said) = page.scripts
    assert "fp32 good " in told and "bf16 beyond " in told
    assert "; statistically indistinguishable from fp64: 0 of 3 principal components" in told
    assert "\nyes [" in told and "\nno [" in told
    evidence = {run.label: run.evidence for run in read_batch("reports/ensemble_jet").runs}
    assert evidence["fp64"] is None
    assert evidence["fp32"]["consistency"]["members"] == LEAST_MEMBERS
    assert evidence["fp32"]["variability"]["members"] == LEAST_MEMBERS + 2
    assert evidence["fp32"]["perturbation"] == 1e-4
    found = error_budget(names["golden"], names["actual"], "height", reference=names["finer"])
    assert found.parts["discretisation"] == pytest.approx(1.79e-3, rel=0.02)
    (promised,) = re.findall(r'prints "(.*?)"', page.text)
    assert said.strip() == found.sentence and said.startswith(promised)
    words = {8: "eight"}
    assert f"fewer than {LEAST_MEMBERS} that count in fp64" in page.text
    assert f"one for every {words[MEMBERS_PER_COMPONENT]} members" in page.text


def troubleshooting(page):
    """Every sentence with an anchor was printed, each by a command that fails."""
    assert all(ran.code == USAGE for ran in page.printed.values())
    sections = re.split(r"^\([\w-]+\)=\n", page.text, flags=re.MULTILINE)[1:]
    assert len(sections) > 15 and all("```text\n$ sciprec " in section for section in sections)


def attributes(page):
    """What a file states is explained."""
    stated = page.scripts[0][0]["run"].attrs
    own = {name for name in stated if name.startswith(("sciprec_", "processor_"))}
    assert len(own) > 12 and not [name for name in own if f"`{name}`" not in page.text]


AFTER = {
    "reference/files": attributes,
    "help/troubleshooting": troubleshooting,
    "how_to/kernels": kernels, "how_to/runs": runs, "explain/adaptive": adaptive,
    "reference/batch": flags, "explain/climate": signature, "how_to/compare": compare,
    "reference/machine": machine, "how_to/models": models, "explain/monitor": monitor,
    "how_to/scenarios": scenarios, "explain/study": study, "explain/trace": trace,
    "explain/trace_models": trace_models, "explain/tune": tune, "reference/verdicts": verdicts,
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


@pytest.mark.parametrize(
    "name",
    [name if pure(name) in QUICK else pytest.param(name, marks=pytest.mark.slow)
     for name in BLOCKS if not name.startswith("docs/how_to/add_")],  # see test_extending_docs.py
)  # fmt: skip
def test_the_blocks_of_a_page_give_what_it_says(
    name, folder, call, capsys, monkeypatch, blank_figures
):
    page = Page(name, call, capsys, monkeypatch)
    BEFORE.get(pure(name), lambda page: None)(page)
    page.run()
    AFTER.get(pure(name), lambda page: None)(page)


@pytest.mark.parametrize("verb", ["quickstart", "test"])
def test_bootstrap_commands_do_what_the_readme_says(tmp_path, monkeypatch, verb):
    (line,) = (one for _, text in BLOCKS["README.md"] for one in text.splitlines()
               if one.startswith(f"python3 bootstrap.py {verb} "))  # fmt: skip
    _, file, *words = shlex.split(line, comments=True)
    spec = importlib.util.spec_from_file_location("bootstrap", ROOT / file)
    bootstrap = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bootstrap)
    monkeypatch.setattr(bootstrap, "ROOT", tmp_path)
    monkeypatch.setattr(bootstrap, "VENV", Path(sys.prefix))
    monkeypatch.setattr(bootstrap, "set_up", lambda lock: None)
    monkeypatch.setattr(sys, "argv", [file, *words])
    started = []

    def run(command, **where):
        started.append(command[1:])
        assert where["cwd"] == tmp_path and command[0].startswith(sys.prefix)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(bootstrap.subprocess, "run", run)
    with pytest.raises(SystemExit) as caught:
        bootstrap.main()
    assert caught.value.code == 0
    if verb == "quickstart":
        assert started == [["-m", "sciprec", "quickstart"]]
        return
    everything = ["-m", "pytest", "-q", "-m", "slow or not slow"]
    processes = str(os.cpu_count() + 1)
    how = ["-n", processes, "--dist", "loadfile", "--durations=30"]  # and nothing is left out
    parts = ["tests/precision"], ["--ignore=tests/precision"]
    assert started[-2:] == [everything + how + part for part in parts]


RECIPES = [
    yaml.safe_load(text) for kind, text in BLOCKS["docs/how_to/baselines.md"] if kind == "yaml"
]
SCRIPTS = {
    "github": next(s["run"] for s in RECIPES[0]["jobs"]["baselines"]["steps"] if "name" in s),
    "gitlab": "\n".join(RECIPES[1]["precision"]["script"]),
}
"""What the recipes for baselines let a runner do, as shell scripts."""


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
