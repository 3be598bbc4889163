"""Packaging: the lock pins everything, the documented commands are the ones that are run, and an
installed package needs no checkout.
"""

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

import pytest
import yaml
from packaging.version import Version

import sciprec
from sciprec.scenario.shipped import PRICES, SCENARIOS, names

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
    for name in (".ci/run", ".github/workflows/tests.yml"):
        script = (ROOT / name).read_text(encoding="utf-8")
        assert script.rstrip().endswith("python3 bootstrap.py test")


def versions_module():
    specification = importlib.util.spec_from_file_location("versions", ROOT / ".ci/versions.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_the_smoke_test_of_versions_knows_every_floor(project):
    """And the installed versions are not below them, nor those of the lock file."""
    floors = versions_module().floors()
    assert len(floors) == len(project["project"]["dependencies"]) >= 13
    locked = dict(
        line.split("==") for line in (ROOT / "requirements.lock").read_text().splitlines()
        if not line.startswith("#")
    )  # fmt: skip
    pinned = {normal(name): Version(version) for name, version in locked.items()}
    for floor in floors:
        name, version = floor.split("==")
        assert Version(version) <= pinned[normal(name)]
        assert Version(version) <= Version(importlib.metadata.version(name))


@pytest.mark.parametrize("words", [[], ["oldest"], ["floors", "a", "b"]])
def test_the_smoke_test_of_versions_refuses_other_words(words, capsys):
    assert versions_module().main(words) == 2
    assert f"given '{' '.join(words)}'; accepted: floors or newest" in capsys.readouterr().err


def test_the_jobs_of_versions_are_those_that_the_smoke_test_knows():
    jobs = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text())["jobs"]
    job = jobs["versions"]
    assert tuple(job["strategy"]["matrix"]["versions"]) == versions_module().KINDS
    assert job["steps"][-1]["run"] == "python3 .ci/versions.py ${{ matrix.versions }}"


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


def test_the_version_is_written_once(project):
    assert "version" in project["project"]["dynamic"] and "version" not in project["project"]
    assert project["tool"]["hatch"]["version"]["path"] == "sciprec/__init__.py"


def test_the_citation_is_complete(project):
    told = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(told)  # what the format asks for
    assert told["license"] == project["project"]["license"]


@pytest.fixture(scope="module")
def addresses():
    """The hook that puts addresses into the metadata."""
    specification = importlib.util.spec_from_file_location("addresses", ROOT / ".ci/addresses.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("remote", "page"),
    [
        (f"{start}example.org{middle}{end}", f"https://example.org{port}/group/sub/name.py")
        for start, middle, port in (
            ("https://", "/", ""),
            ("https://someone:secret@", "/", ""),
            ("http://", ":8443/", ":8443"),
            ("ssh://git@", ":22/", ""),
            ("git@", ":", ""),
        )
        for end in ("group/sub/name.py", "group/sub/name.py.git", "group/sub/name.py.git/\n")
    ]
    + [
        (remote, "")
        for remote in (
            "", "/srv/name.git", "../name", "file:///srv/name", "http://localhost:80/owner/name",
            "http://someone@127.0.0.1:8080/owner/name", "git@example.org:/srv/name", "C:/name",
            "https://example.org/", "git@machine:owner/name",
        )
    ],
)  # fmt: skip
def test_a_remote_has_the_page_that_others_can_open(addresses, remote, page):
    assert addresses.page_of(remote) == page


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


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    """Runs the command of the wheel, in an environment with its dependencies and without this
    checkout, from a folder with nothing in it.
    """
    environment = tmp_path_factory.mktemp("clean") / "environment"
    venv.create(environment, with_pip=False)
    place = {"base": str(environment), "platbase": str(environment)}
    scripts, packages = (Path(sysconfig.get_path(n, vars=place)) for n in ("scripts", "purelib"))
    pip = [sys.executable, "-m", "pip", "--python", str(scripts / "python"), "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", "--no-index", str(built[0])], check=True)
    (packages / "others.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    folder = tmp_path_factory.mktemp("elsewhere")
    variables = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}

    def run(name, *arguments):
        return subprocess.run(
            [scripts / name, *arguments], cwd=folder, env=variables, capture_output=True,
            text=True, check=False,
        )  # fmt: skip

    said = run("python", "-c", "import sciprec; print(sciprec.__file__, sciprec.__version__)")
    assert said.stdout.split() == [str(packages / "sciprec" / "__init__.py"), sciprec.__version__]
    return run


@pytest.mark.slow
def test_an_sdist_holds_what_the_repository_holds_and_is_in_order(built, tmp_path):
    with tarfile.open(built[1]) as packed:
        packed.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    if (ROOT / ".git").exists():
        tracked = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout.split("\0")
        assert [name for name in tracked if name and not (source / name).is_file()] == []
    house = [sys.executable, "-m", "pytest", "-q", "tests/project/test_house.py"]
    done = subprocess.run(
        house, cwd=source,
        env={**os.environ, "PYTHONPATH": str(source)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_a_wheel_of_the_sdist_is_the_wheel_and_holds_no_experiments(built, tmp_path):
    wheel, sdist = built
    with tarfile.open(sdist) as packed:
        packed.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    (again,) = build(source, tmp_path / "dist", "-t", "wheel")
    held = [set(zipfile.ZipFile(one).namelist()) for one in (wheel, again)]
    assert held[0] == held[1]
    packages = {name.split("/")[1] for name in held[0] if name.startswith("sciprec/")}
    assert "bench" not in packages and {"precision", "climate", "shipped"} <= packages
    tops = {name.split("/")[0].rpartition(".")[2] for name in held[0]}
    assert tops == {"sciprec", "dist-info"}
    shipped = {name for name in held[0] if name.startswith("sciprec/shipped/")}
    assert {Path(name).suffix for name in shipped} == {".toml", ".json"}
    told = [zipfile.Path(one, f"{source.name}.dist-info/METADATA").read_text("utf-8")
            for one in (wheel, again)]  # fmt: skip
    assert told[0] == told[1]  # the sdist keeps the address
    assert "\nProject-URL: Homepage, https://example.org/one/two\n" in told[0]
    assert re.findall(r"\]\((?!#|https://)", told[0]) == []
    assert "https://example.org/one/two/raw/HEAD/reports/gallery/quickstart.png" in told[0]


@pytest.mark.slow
def test_everything_in_the_wheel_can_be_imported(installed):
    code = (
        "import pkgutil, importlib, sciprec\n"
        "for one in pkgutil.walk_packages(sciprec.__path__, 'sciprec.'):\n"
        "    one.name.endswith('__main__') or importlib.import_module(one.name)"
    )
    done = installed("python", "-c", code)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_scenarios_and_models_are_found_without_a_checkout(installed):
    done = installed("sciprec", "run", *names(SCENARIOS), "--plan", "--json")
    assert {row["scenario"] for row in json.loads(done.stdout)} == set(names(SCENARIOS))
    code = (
        "from sciprec.cli.coverage_verb import REFERENCES\n"
        "from sciprec.cli.pricing.price_request import read_model\n"
        "from sciprec.scenario.shipped import PRICES, names, shipped\n"
        "for name in names(PRICES): print(name, read_model(name, {})[1])\n"
        "assert (shipped(PRICES) / REFERENCES).is_file()\n"
        "assert read_model('lewis', {})[0].kappa == 4.0"
    )
    done = installed("python", "-c", code)
    assert (done.stderr, done.stdout.count("\n")) == ("", len(names(PRICES)))


@pytest.mark.slow
def test_a_shipped_scenario_runs_to_its_page_without_a_checkout(installed, tmp_path):
    asked = ("run", "long_accumulation", "--set", "accumulation.updates=1000", "--backend", "fp32")
    done = installed("sciprec", *asked, "--out", str(tmp_path), "--json")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "sciprec run long_accumulation" in page and page.rstrip().endswith("</html>")


@pytest.mark.slow
def test_benchmarks_say_where_they_are(installed):
    done = installed("sciprec", "bench", "precision")
    assert done.returncode == 2
    assert done.stderr == (
        "sciprec: benchmarks are no part of an installed sciprec; run this in a checkout of its "
        "source\n"
    )
