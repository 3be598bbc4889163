"""Packaging: the locks pin everything, the documented commands are the ones that are run, and an
installed package needs no checkout.
"""

import importlib.machinery
import importlib.metadata
import importlib.util
import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer
import yaml
from packaging.version import Version

import sciprec
from sciprec.cli.commands import app
from sciprec.foundation.shipped import EXAMPLES, PRICES, SCENARIOS, names

ROOT = Path(__file__).parents[2]
CHANGES = "# Changes\n\n## Unreleased\n\n"


def normal(name):
    """A distribution's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", re.split(r"[>=<\[; ]", name)[0]).lower()


def program(path):
    """A script of the repository as a module."""
    loader = importlib.machinery.SourceFileLoader(Path(path).stem, str(ROOT / path))
    specification = importlib.util.spec_from_loader(loader.name, loader)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture
def bootstrap():
    return program("bootstrap.py")


@pytest.fixture(scope="module")
def versions():
    return program(".ci/versions.py")


@pytest.fixture(scope="module")
def release():
    """The check list of a release."""
    return program(".ci/release")


@pytest.fixture(scope="module")
def addresses():
    """The hook that puts addresses into the metadata."""
    return program(".ci/addresses.py")


@pytest.fixture(scope="module")
def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def pins():
    """The pins of either lock file: name and version."""
    files = ROOT / "requirements.lock", ROOT / "requirements-test.lock"
    lines = [file.read_text(encoding="utf-8").splitlines() for file in files]
    assert lines[1][1] == f"-r {files[0].name}"
    return [
        [line for line in some if not line.startswith(("#", "-r "))] for some in lines
    ]  # fmt: skip


def test_locks_hold_exact_versions_of_what_is_needed_each_once(project, pins):
    """The first one what runs and builds sciprec, the other one what its tests need beside it."""
    for line in (*pins[0], *pins[1]):
        assert re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", line), line
    run, beside = ({normal(line) for line in some} for some in pins)
    assert len(run | beside) == len(pins[0]) + len(pins[1])
    wanted = project["project"]["dependencies"] + project["build-system"]["requires"]
    assert set(map(normal, wanted)) <= run
    tests = set(map(normal, project["dependency-groups"]["test"]))
    assert tests <= run | beside and {"pytest", "mypy", "playwright", "quantlib"} <= beside


def test_every_dependency_says_why(project):
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for item in project["project"]["dependencies"]:
        assert re.search(rf'"{re.escape(item)}",\s+# \w', text), item


def test_readme_installs_first_with_two_commands_and_ci_calls_the_second(versions):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    first = readme.index("python3 bootstrap.py quickstart")
    second = readme.index("python3 bootstrap.py test")
    assert first < second < readme.index("\n## A kernel")
    script = (ROOT / ".ci/run").read_text(encoding="utf-8")
    assert script.rstrip().endswith("\npython3 bootstrap.py test")
    jobs = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text())["jobs"]
    last = {name: job["steps"][-1].get("run") for name, job in jobs.items()}
    assert last["everything"] == "python3 bootstrap.py test"
    assert last["versions"] == "python3 .ci/versions.py ${{ matrix.versions }}"
    assert tuple(jobs["versions"]["strategy"]["matrix"]["versions"]) == versions.KINDS
    for name, job in jobs.items():
        matrix = job.get("strategy", {"fail-fast": False})
        assert job["timeout-minutes"] and matrix["fail-fast"] is False, name


def test_the_smoke_test_of_versions_knows_every_floor(project, pins, versions):
    """And the installed versions are not below them, nor those of the lock file."""
    floors = versions.floors()
    assert len(floors) == len(project["project"]["dependencies"]) >= 13
    pinned = {normal(line): Version(line.split("==")[1]) for line in pins[0]}
    for floor in floors:
        name, version = floor.split("==")
        assert Version(version) <= pinned[normal(name)]
        assert Version(version) <= Version(importlib.metadata.version(name))


@pytest.mark.parametrize("words", [[], ["oldest"], ["floors", "a", "b"]])
def test_the_smoke_test_of_versions_refuses_other_words(words, versions, capsys):
    assert versions.main(words) == 2
    assert f"given '{' '.join(words)}'; accepted: floors or newest" in capsys.readouterr().err


def test_bootstrap_needs_only_the_standard_library():
    text = (ROOT / "bootstrap.py").read_text(encoding="utf-8")
    imported = set(re.findall(r"^\s*(?:import|from) (\w+)", text, flags=re.MULTILINE))
    assert imported <= set(sys.stdlib_module_names)


def bootstrapped(bootstrap, monkeypatch, *words):
    """Run bootstrap.py with words, in this process; its exit code."""
    monkeypatch.setattr(sys, "argv", ["bootstrap.py", *words])
    try:
        bootstrap.main()
    except SystemExit as end:
        return end.code
    return 0


def test_bootstrap_says_what_it_knows(bootstrap, monkeypatch, capsys):
    for words in ((), ("tests",)):
        assert bootstrapped(bootstrap, monkeypatch, *words) == 2
        said = f"unknown command '{''.join(words)}'; known: quickstart, test, setup, lock. Try"
        assert said in capsys.readouterr().err
    assert bootstrapped(bootstrap, monkeypatch, "--help") == 0
    assert "python3 bootstrap.py quickstart" in capsys.readouterr().out

    def interrupted(lock):
        raise KeyboardInterrupt

    monkeypatch.setattr(bootstrap, "set_up", interrupted)
    assert bootstrapped(bootstrap, monkeypatch, "setup") == 130
    assert capsys.readouterr().err == "bootstrap: interrupted; run it again to go on\n"


@pytest.fixture
def installs(bootstrap, monkeypatch, tmp_path):
    """The lock files that pip is given one after another, in place of what it would install."""
    given = []
    (tmp_path / ".venv").mkdir()
    monkeypatch.setattr(bootstrap, "STAMP", tmp_path / ".venv" / "stamp.txt")
    monkeypatch.setattr(bootstrap, "make_environment", lambda environment: ["pip"])
    monkeypatch.setattr(bootstrap, "succeeds", lambda command: True)
    monkeypatch.setattr(bootstrap, "quickstart", lambda: SimpleNamespace(returncode=0))

    def call(command, failure):
        given.extend(Path(command[-1]).name for word in command if word == "-r")

    monkeypatch.setattr(bootstrap, "call", call)
    return given


def test_the_quickstart_installs_what_it_needs_and_the_tests_add_theirs(
    bootstrap, installs, monkeypatch, tmp_path
):
    """Each once, until what it was made from changes."""
    for words, expected in (
        ("quickstart", ["requirements.lock"]), ("quickstart", []),
        ("setup", ["requirements-test.lock"]), ("setup", []), ("quickstart", []),
    ):  # fmt: skip
        assert bootstrapped(bootstrap, monkeypatch, words) == 0
        assert installs == expected, words
        installs.clear()
    project = tmp_path / "pyproject.toml"
    project.write_text("[project]", encoding="utf-8")
    monkeypatch.setattr(bootstrap, "PROJECT", project)
    assert bootstrapped(bootstrap, monkeypatch, "quickstart") == 0
    assert installs == ["requirements.lock"]


def test_all_tests_are_run_in_two_parts_that_leave_none_out(bootstrap, monkeypatch):
    monkeypatch.setattr(bootstrap, "VENV", Path(sys.prefix))
    monkeypatch.setattr(bootstrap, "set_up", lambda lock: None)
    started = []

    def run(command, **where):
        started.append(command[1:])
        assert where["cwd"] == ROOT and command[0].startswith(sys.prefix)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(bootstrap.subprocess, "run", run)
    assert bootstrapped(bootstrap, monkeypatch, "test") == 0
    every = ["-m", "pytest", "-q", "-m", "not survey", "-n", str(os.cpu_count() + 1)]
    every += ["--dist", "loadfile", "--durations=30"]
    parts = ["tests/precision"], ["--ignore=tests/precision"]
    assert started[-2:] == [every + part for part in parts]


def test_a_set_up_that_fails_leaves_nothing_half_made(bootstrap, monkeypatch, tmp_path, capsys):
    """Without room it does not begin, and what was there before stays."""
    for name in ("ROOT", "VENV", "STAMP"):
        there = tmp_path / {"ROOT": ".", "VENV": ".venv", "STAMP": ".venv/stamp.txt"}[name]
        monkeypatch.setattr(bootstrap, name, there)
    usage, full = bootstrap.shutil.disk_usage, SimpleNamespace(free=15_000_000)
    monkeypatch.setattr(bootstrap.shutil, "disk_usage", lambda folder: full)
    assert bootstrapped(bootstrap, monkeypatch, "quickstart") == 2
    assert "has 15 MB left, and the set-up takes 800 MB; make room" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(bootstrap.shutil, "disk_usage", usage)

    def environment(folder):
        (folder / "bin").mkdir(parents=True)
        return [sys.executable, "-c", "raise SystemExit(1)"]  # pip, without network

    monkeypatch.setattr(bootstrap, "make_environment", environment)
    assert bootstrapped(bootstrap, monkeypatch, "quickstart") == 2
    assert "bootstrap: pip could not install the packages of" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    (tmp_path / ".venv").mkdir()
    monkeypatch.setattr(bootstrap, "install", lambda lock: bootstrap.stop("no network"))
    assert bootstrapped(bootstrap, monkeypatch, "quickstart") == 2
    assert list(tmp_path.iterdir()) == [tmp_path / ".venv"]


def test_locks_are_made_of_what_pip_chooses_at_last(bootstrap, installs, monkeypatch, tmp_path):
    """A version that the tests bring down is pinned for all."""
    for name in ("LOCK", "TEST_LOCK"):
        monkeypatch.setattr(bootstrap, name, tmp_path / getattr(bootstrap, name).name)
    listed = iter(["b==2\nA==1.5\n", "A==1.4\nb==2\nc==3\n"])
    monkeypatch.setattr(
        bootstrap.subprocess, "run", lambda *_, **__: SimpleNamespace(stdout=next(listed))
    )
    assert bootstrapped(bootstrap, monkeypatch, "lock") == 0
    texts = [(tmp_path / name).read_text().splitlines()[1:]
             for name in ("requirements.lock", "requirements-test.lock")]  # fmt: skip
    assert texts == [["A==1.4", "b==2"], ["-r requirements.lock", "c==3"]]


def test_readme_and_docs_install_the_one_package_that_is_set(monkeypatch):
    """And say that a checkout is needed for as long as it is."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("PATH", os.environ["PATH"])
    settings = program("docs/conf.py")
    readme, start = ((ROOT / name).read_text("utf-8") for name in ("README.md", "docs/start.md"))
    assert f"&& pip install {settings.PACKAGE}\n" in readme
    assert "\npip install .\n" in start
    on_an_index = settings.PACKAGE == "sciprec"
    assert on_an_index or settings.PACKAGE == "."
    assert ("in a checkout:" in readme, "not on a package index yet" in start) == (
        not on_an_index, not on_an_index
    )  # fmt: skip
    published = settings.installed_from(start, "sciprec")
    assert "\npip install sciprec\n" in published and "`uv pip install sciprec`" in published
    assert not re.search(r"pip install \.", published)
    pages = [ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    for path in (*pages, *(ROOT / "sciprec").rglob("*.py")):  # no other way to install it
        text = settings.installed_from(path.read_text("utf-8"), "")
        assert not re.search(r"pip install [\"']?(sciprec\b(?!-)|\.)(?! --group)", text), path


@pytest.fixture(scope="module")
def version():
    """The version of a folder, asked as hatchling asks for that of this one."""
    return program(".ci/version.py")


@pytest.fixture
def repository(tmp_path):
    """A repository of one commit on the way to 0.2.0; runs git in it."""

    def git(*words, where=tmp_path):
        name = ["-c", "user.name=someone", "-c", "user.email=someone@example.org"]
        done = subprocess.run(["git", "-C", where, *name, *words], check=True, capture_output=True)
        return done.stdout.decode().strip()

    (tmp_path / "CHANGELOG.md").write_text(f"{CHANGES}## 0.2.0\n## 0.1.0\n")
    (tmp_path / ".git_archival.txt").write_bytes((ROOT / ".git_archival.txt").read_bytes())
    (tmp_path / ".gitattributes").write_bytes((ROOT / ".gitattributes").read_bytes())
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")
    return git


def test_the_version_is_that_of_the_tag_or_on_the_way_to_the_next(version, repository, tmp_path):
    def commit(words="describe --always --exclude=* --abbrev=12"):
        return repository(*words.split())

    assert version.version(tmp_path) == f"0.2.0.dev1+g{commit()}"
    (tmp_path / "CHANGELOG.md").write_text(f"{CHANGES}- more\n\n## 0.2.0\n## 0.1.0\n")
    assert version.version(tmp_path) == f"0.2.0.dev1+g{commit()}.dirty"
    repository("commit", "-qam", "second")
    repository("tag", "other")  # is none of a version
    assert version.version(tmp_path) == f"0.2.0.dev2+g{commit()}"
    repository("tag", "v0.2.0")
    assert (version.version(tmp_path), version.commit(tmp_path)) == ("0.2.0", commit())
    (tmp_path / "CHANGELOG.md").write_text(f"{CHANGES}## 0.2.0\n## 0.1.0\n")
    assert version.version(tmp_path) == f"0.2.1.dev0+g{commit()}.dirty"
    repository("commit", "-qam", "third")
    assert version.version(tmp_path) == f"0.2.1.dev1+g{commit()}"
    assert Version("0.2.0.dev2+g1") < Version("0.2.0") < Version("0.2.1.dev1+g1")


def test_archives_shallow_clones_and_folders_have_versions(
    version, repository, tmp_path, tmp_path_factory, capfd, monkeypatch
):
    commit = repository("describe", "--always", "--abbrev=12")
    repository("commit", "-qm", "second", "--allow-empty")
    last = repository("describe", "--always", "--abbrev=12")
    shallow = tmp_path_factory.mktemp("shallow") / "clone"
    repository("clone", "-q", "--depth=1", f"file://{tmp_path}", str(shallow))
    assert version.version(shallow) == f"0.2.0.dev0+g{last}"  # it cannot count

    def archive(of, name):
        packed = tmp_path_factory.mktemp("archive")
        repository("archive", "-o", str(packed / "a.tar"), of)
        with tarfile.open(packed / "a.tar") as file:
            file.extractall(packed / name, filter="data")
        return packed / name

    assert version.version(archive(commit, "untagged")) == f"0.2.0.dev0+g{commit}"
    repository("tag", "v0.2.0", commit)
    assert version.version(archive("v0.2.0", "tagged")) == "0.2.0"
    behind = archive("HEAD", "behind")
    assert version.version(behind) == f"0.2.1.dev1+g{last}"
    assert capfd.readouterr().err == ""
    (behind / ".git_archival.txt").unlink()
    monkeypatch.setenv("PATH", "")  # no git either
    assert version.version(behind) == version.version(tmp_path).partition("+")[0] == "0.2.0.dev0"
    assert capfd.readouterr().err.splitlines()[0] == (
        f"sciprec is built from {behind}, of which neither git nor an archive of git's says the "
        "commit: its version is 0.2.0.dev0, without one"
    )


def test_the_version_is_written_once(project):
    """In CHANGELOG.md, and beside it where a person cites it."""
    assert "version" in project["project"]["dynamic"] and "version" not in project["project"]
    assert project["tool"]["hatch"]["version"]["path"] == ".ci/version.py"
    assert importlib.metadata.version("sciprec") == sciprec.__version__
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+)?(\+[\w.]+)?", sciprec.__version__)
    text = (ROOT / "sciprec/__init__.py").read_text(encoding="utf-8")
    assert not re.search(r"\d+\.\d+\.\d+", text)


def test_a_release_tries_every_verb(release):
    verbs = typer.main.get_command(app).commands
    tried = {words.split()[0] for words in release.SMOKE} | {"quickstart"}
    assert tried >= {name for name, verb in verbs.items() if not verb.hidden}


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("0.2.0.dev3+g1", "- a\n\n## 0.2.0\n", "1 under Unreleased, which go under 0.2.0"),
        ("0.2.0", "## 0.2.0\n- a\n", "all under 0.2.0"),
        ("0.2.0", "- a\n## 0.2.0\n", "begins with 1 changes under Unreleased and 0.2.0; move"),
        ("0.3.0", "## 0.2.0\n- a\n", "under Unreleased and 0.2.0; move them under 0.3.0"),
    ],
)
def test_a_release_has_all_its_changes_under_its_version(
    file, text, said, release, monkeypatch, tmp_path
):
    (tmp_path / "CHANGELOG.md").write_text(CHANGES + text, encoding="utf-8")
    monkeypatch.setattr(release, "ROOT", tmp_path)
    try:
        told = release.changes(Path(f"sciprec-{file}.tar.gz"))
    except release.Failed as failed:
        told = str(failed)
    assert said in told


def test_the_public_api_that_changed_is_named_by_name_and_parameter(release, monkeypatch, tmp_path):
    before = ["a.f(x: 'dict[str, int]', *, y=(1, 2)) -> 'int'", "a.gone", "a.same(x)"]
    today = ["a.f(x: 'dict[str, int]', *, y=(1, 3), z=[]) -> 'int'", "a.new(x)", "a.same(x)"]
    monkeypatch.setattr(release, "API", tmp_path / "api.txt")
    release.API.write_text("\n".join(before), encoding="utf-8")
    monkeypatch.setattr(release, "run", lambda words, where: "\n".join(today))
    told = release.changed("python", tmp_path, False).splitlines()
    assert told[0] == "3 names; 3 differ"
    assert [line.split(maxsplit=1)[1] for line in told[1:]] == [
        "a.new", "a.gone", "a.f  - y=(1, 2)  + y=(1, 3)  + z=[]"
    ]  # fmt: skip
    assert release.changed("python", tmp_path, True) == "3 names; 0 differ"


def test_the_citation_is_complete(project):
    told = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(told)  # what the format asks for
    assert told["license"] == project["project"]["license"]
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert told["version"] == re.search(r"^## (\d\S+)", changes, flags=re.MULTILINE)[1]


def test_the_recipe_needs_what_the_package_needs(project):
    """Under conda-forge's names, which are small."""
    recipe = yaml.safe_load((ROOT / ".ci/recipe.yaml").read_text(encoding="utf-8"))
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    needs = recipe["requirements"]
    assert recipe["package"] == {"name": "sciprec", "version": cited["version"]}
    python = f"python {project['project']['requires-python']}"
    small = {"matplotlib": "matplotlib-base"}
    asked = {normal(one): one for one in project["project"]["dependencies"]}
    conda = {f"{small.get(name, name)} >={one.split('>=')[1]}" for name, one in asked.items()}
    assert set(needs["run"]) == {python, *conda}
    assert {one.partition(" ")[0] for one in needs["host"]} == {"python", "pip"} | {
        normal(one) for one in project["build-system"]["requires"]
    }


@pytest.mark.parametrize("end", ["", ".git", ".git/\n"])
@pytest.mark.parametrize(
    ("start", "port"),
    [("https://someone:secret@example.org/", ""), ("http://example.org:8443/", ":8443"),
     ("ssh://git@example.org:22/", ""), ("git@example.org:", "")],
)  # fmt: skip
def test_a_remote_has_the_page_that_others_can_open(addresses, start, port, end):
    page = f"https://example.org{port}/group/sub/name.py"
    assert addresses.page_of(f"{start}group/sub/name.py{end}") == page


@pytest.mark.parametrize(
    "remote",
    ["", "/srv/name.git", "file:///srv/name", "http://localhost:80/owner/name", "C:/name",
     "http://someone@127.0.0.1:8080/owner/name", "git@example.org:/srv/name",
     "https://example.org/", "git@machine:owner/name"],
)  # fmt: skip
def test_a_remote_that_others_cannot_open_has_no_page(addresses, remote):
    assert addresses.page_of(remote) == ""


def metadata_of(addresses, root):
    told = {}
    addresses.Addresses(str(root), {}).update(told)
    return told


def test_a_checkout_takes_its_address_from_the_variable_or_its_remote(
    addresses, tmp_path, monkeypatch
):
    readme = "![a](README.md) [b](README.md#c) [d](#e) [f](https://g) kernels[2](x) [h](absent.md)"
    (tmp_path / "README.md").write_text(readme, encoding="utf-8")
    monkeypatch.delenv("SCIPREC_REPOSITORY_URL", raising=False)
    none = {"readme": {"content-type": "text/markdown", "text": readme}, "urls": {}}
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    assert metadata_of(addresses, tmp_path) == none
    remote = ["git", "-C", tmp_path, "remote", "add", "origin", "git@example.org:one/two.git"]
    subprocess.run(remote, check=True)
    told = metadata_of(addresses, tmp_path)
    assert told["urls"]["Homepage"] == "https://example.org/one/two"
    assert told["readme"]["text"] == (
        "![a](https://example.org/one/two/raw/HEAD/README.md) "
        "[b](https://example.org/one/two/blob/HEAD/README.md#c) "
        "[d](#e) [f](https://g) kernels[2](x) [h](absent.md)"
    )
    (tmp_path / "unpacked").mkdir()  # below another's checkout, whose remote is not its own
    (tmp_path / "unpacked/README.md").write_text(readme, encoding="utf-8")
    assert metadata_of(addresses, tmp_path / "unpacked") == none
    monkeypatch.setenv("SCIPREC_REPOSITORY_URL", "")
    assert metadata_of(addresses, tmp_path) == none
    monkeypatch.setenv("SCIPREC_REPOSITORY_URL", "two")
    with pytest.raises(ValueError, match="is 'two'; accepted: https://host/owner/name"):
        metadata_of(addresses, tmp_path)


def build(source, folder, *options, address=""):
    """Build what hatchling is asked for, without network, and return the files."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder), *options]
    variables = {**os.environ, "SCIPREC_REPOSITORY_URL": address}
    subprocess.run(command, cwd=source, check=True, capture_output=True, env=variables)
    return sorted(folder.iterdir())


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The wheel and the sdist of this checkout, built where its address is known."""
    return build(ROOT, tmp_path_factory.mktemp("dist"), address="https://example.org/one/two")


def environment_of(folder, *files):
    """An environment with the packages of this one, without this checkout, and with files that are
    installed without a network; the folders of its commands and of its packages.
    """
    venv.create(folder, with_pip=False)
    place = {"base": str(folder), "platbase": str(folder)}
    scripts, packages = (Path(sysconfig.get_path(n, vars=place)) for n in ("scripts", "purelib"))
    (packages / "others.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "--python", str(scripts / "python"), "install", "--quiet"]
    for file in files:
        command = [*pip, "--no-deps", "--no-index", "--no-build-isolation", str(file)]
        subprocess.run(command, check=True)
    return scripts, packages


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    """Runs the command of the wheel, in an environment with its dependencies and without this
    checkout, from a folder with nothing in it.
    """
    scripts, packages = environment_of(tmp_path_factory.mktemp("clean") / "environment", built[0])
    folder = tmp_path_factory.mktemp("elsewhere")
    variables = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}

    def run(name, *arguments):
        return subprocess.run(
            [scripts / name, *arguments], cwd=folder, env=variables, capture_output=True,
            text=True, check=False,
        )  # fmt: skip

    said = run("python", "-c", "import sciprec; print(sciprec.__file__, sciprec.__version__)")
    version = built[0].name.split("-")[1]
    assert said.stdout.split() == [str(packages / "sciprec" / "__init__.py"), version]
    return run


@pytest.fixture(scope="module")
def unpacked(built, release, tmp_path_factory):
    """The folder of the sdist."""
    return release.unpacked(built[1], tmp_path_factory.mktemp("unpacked"))


@pytest.mark.slow
def test_an_sdist_holds_what_the_repository_holds(unpacked):
    if not (ROOT / ".git").exists():
        pytest.skip("what the repository holds is known to git, which is not here")
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split("\0")
    assert [name for name in tracked if name and not (unpacked / name).is_file()] == []


@pytest.mark.slow
def test_a_wheel_of_the_sdist_is_the_wheel_and_holds_no_experiments(built, unpacked, tmp_path):
    (again,) = build(unpacked, tmp_path / "dist", "-t", "wheel")
    held = [set(zipfile.ZipFile(one).namelist()) for one in (built[0], again)]
    assert held[0] == held[1]
    packages = {name.split("/")[1] for name in held[0] if name.startswith("sciprec/")}
    assert {"precision", "climate", "shipped"} <= packages
    tops = {name.split("/")[0].rpartition(".")[2] for name in held[0]}
    assert tops == {"sciprec", "dist-info"}
    shipped = {name for name in held[0] if name.startswith("sciprec/shipped/")}
    assert {Path(name).suffix for name in shipped} == {".toml", ".json", ".py", ".md"}
    pages = {name for name in held[0] if name.endswith(".md")}
    assert pages and all(name.startswith("sciprec/shipped/docs/") for name in pages)
    if (ROOT / ".git").exists():
        said = [zipfile.Path(one, "sciprec/commit.txt").read_text() for one in (built[0], again)]
        assert said[0] == said[1] and re.fullmatch(r"[0-9a-f]{12}(-dirty)?\n", said[0])
    told = [zipfile.Path(one, f"{unpacked.name}.dist-info/METADATA").read_text("utf-8")
            for one in (built[0], again)]  # fmt: skip
    assert told[0] == told[1]  # the sdist keeps the address
    assert "\nProject-URL: Homepage, https://example.org/one/two\n" in told[0]
    assert re.findall(r"\]\((?!#|https://)", told[0]) == []
    assert "https://example.org/one/two/raw/HEAD/reports/gallery/quickstart.png" in told[0]


INSTALLED = """
import importlib, pkgutil
import sciprec
from sciprec.cli import commands
from sciprec.cli.coverage_verb import REFERENCES
from sciprec.cli.pricing.price_request import read_model
from sciprec.foundation.shipped import EXAMPLES, PRICES, SCENARIOS, names, shipped

for one in pkgutil.walk_packages(sciprec.__path__, "sciprec."):
    one.name.endswith("__main__") or importlib.import_module(one.name)
for name in names(PRICES):
    print(name, read_model(name, {})[1])
assert (shipped(PRICES) / REFERENCES).is_file()
assert read_model("lewis", {})[0].kappa == 4.0
print("planned:")
examples = [f"examples:{name}" for name in names(EXAMPLES)]
commands.main(["run", *names(SCENARIOS), *examples, "--plan", "--json"])
"""


@pytest.mark.slow
def test_modules_scenarios_and_models_are_found_without_a_checkout(installed):
    done = installed("python", "-c", INSTALLED)
    assert (done.returncode, done.stderr) == (0, "")
    models, _, planned = done.stdout.partition("planned:\n")
    assert models.count("\n") == len(names(PRICES))
    known = {*names(SCENARIOS), *names(EXAMPLES)}
    assert {row["scenario"] for row in json.loads(planned)} == known
