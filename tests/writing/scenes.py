"""Every verb that writes, in a small workplace: what it is given, and what it leaves when nothing
goes wrong. All that it writes is below one folder, temporary files too.
"""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sciprec.cli import commands
from sciprec.results.output import files
from tests.shell.conftest import KERNEL

OUT, TEMPORARY = "out", "temporary"
_TINY = """
    name = "tiny"
    title = "Few updates"
    source = "nobody"
    kind = "accumulation"
    backends = ["fp16"]
    {more}
    [accumulation]
    updates = 100
    members = 2
    smallest = 1e-7
    largest = 1e-5
    outputs = 3
"""
_VOLATILE = re.compile(
    r"second|memory|digest|sealed|pace|room|noise|history|process|provenance|commit|at$"
)


@dataclass(frozen=True)
class Scene:
    """A command that writes.

    Args:
        words: of the command.
        inputs: commands that make what it needs.
        older: the command that has left older files where it writes; empty for none.
        target: what is there once it has ended, where it does not replace that.
        then: the command that is run once more when the target is there; empty for none.
        stays: start of the names of what may stay when it fails, and what for.
    """

    words: str
    inputs: tuple[str, ...] = ()
    older: str = ""
    target: str = ""
    then: str = ""
    stays: str = ""

    @property
    def verb(self) -> tuple[str, ...]:
        """The words that name the verb."""
        words = self.words.split()
        return tuple(words[: 2 if words[0] in ("baseline", "scenario", "climate", "dev") else 1])


_RUN = "run tiny.toml --out out/batch --html out/run.html --junit-xml out/run.xml --quiet"
_KERNEL_WORDS = "kernel.py:kernel --inputs kernel.py:given"
_OTHERS = "kernel.py:kernel --inputs kernel.py:others"
_OTHER = "--set accumulation.seed=1"
_FILES = "--html out/page.html --junit-xml out/cases.xml"
_SAVE = "baseline save tiny.toml --folder out/baselines --no-commit --quiet"
_CHECK = f"baseline check --folder out/baselines {_FILES} --markdown out/summary.md --quiet"
_BLESS = "baseline bless tiny --folder out/baselines --no-commit --reason better --quiet"
_COVERAGE = "dev coverage --case lewis_K100 --seeds 2 -b fp64 --tolerance 5% --out out/coverage -q"
_COMPARE = f"compare in/tiny__fp64.nc in/tiny__fp16.nc {_FILES}"
_MAKING = "mkdir -p out/made; echo 1 >out/made/x"
_REPEAT = f"repeat --runs 2 --quiet --html out/repeat.html --folder out/made -- sh -c '{_MAKING}'"
_PRICE = "price --model lewis --payoff call --maturity 1 --tolerance 20% --seed 1 --strike"
_STUDY = "-b fp16 --out out/study --html out/study.html --junit-xml out/study.xml --quiet"
SCENES = {
    "run": Scene(_RUN, older=f"{_RUN} {_OTHER}"),
    "run, Zarr": Scene(f"{_RUN} --format zarr", older=f"{_RUN} --format zarr {_OTHER}"),
    "run, watched": Scene(
        "run watched.toml --out out/batch --quiet",
        older=f"run watched.toml --out out/batch --quiet {_OTHER}",
    ),
    "report": Scene("report out/batch --html out/again.html", inputs=(_RUN,)),
    "report of coverage": Scene("report out/coverage", inputs=(_COVERAGE,)),
    "compare": Scene(
        _COMPARE,
        inputs=("run tiny.toml --out in --quiet",),
        older=f"compare in/tiny__fp16.nc in/tiny__fp64.nc --rtol 0.5 {_FILES}",
    ),
    "study": Scene(
        f"study {_KERNEL_WORDS} {_STUDY}",
        older=f"study {_OTHERS} {_STUDY}",
    ),
    "trace": Scene(
        f"trace {_KERNEL_WORDS} -b fp16 --samples 1 --html out/trace.html",
        older=f"trace {_OTHERS} -b fp16 --samples 1 --html out/trace.html",
    ),
    "digits": Scene(
        f"digits {_KERNEL_WORDS} --no-condition --html out/digits.html",
        older=f"digits {_OTHERS} --no-condition --html out/digits.html",
    ),
    "bound": Scene(
        f"bound {_KERNEL_WORDS} -b fp16 --html out/bound.html",
        older=f"bound {_OTHERS} -b fp16 --html out/bound.html",
    ),
    "check-memory": Scene(
        f"check-memory {_KERNEL_WORDS} --html out/memory.html",
        older=f"check-memory {_OTHERS} --html out/memory.html",
    ),
    "price": Scene(
        f"{_PRICE} 100 --html out/price.html", older=f"{_PRICE} 90 --html out/price.html"
    ),
    "tune": Scene(
        f"tune {_KERNEL_WORDS} --tolerance 1e-3 --save out/tuned.toml --html out/tuned.html",
        older=f"tune {_OTHERS} --tolerance 1e-1 --save out/tuned.toml --html out/tuned.html",
    ),
    "monitor": Scene(
        f"monitor {_KERNEL_WORDS} -b fp16 --watch s --html out/seen.html",
        older=f"monitor {_OTHERS} -b fp16 --watch s --html out/seen.html",
    ),
    "baseline save": Scene(
        _SAVE,
        target="out/baselines/tiny",
        then=_CHECK,
        stays="baselines/.saving-",  # runs from which the next one goes on
    ),
    "baseline check": Scene(_CHECK, inputs=(_SAVE,), older=f"{_CHECK} --larger 1e6"),
    "baseline bless": Scene(_BLESS, inputs=(_SAVE,)),
    "dev coverage": Scene(_COVERAGE, older=_COVERAGE.replace("5%", "6%")),
    "scenario new": Scene("scenario new accumulation --out out/new.toml", target="out/new.toml"),
    "repeat": Scene(_REPEAT, stays="made"),  # of the command; the next one is told of it
    "dev gallery": Scene("dev gallery ensemble_jet --scenarios scenarios --out out/gallery"),
    "quickstart": Scene("quickstart --out out/quickstart --html out/quickstart.html --quiet"),
    "climate run": Scene(
        "climate run williamson_5 --truncation 21 --days 3 -b fp16 --out out/climate --quiet "
        "--html out/climate.html"
    ),
}


def furnish(place: Path) -> None:
    """Write what commands are given into an empty folder."""
    (place / OUT / TEMPORARY).mkdir(parents=True)
    (place / "scenarios").mkdir()
    watched = '[monitor]\n    watch = ["parameter"]'
    for name, more in (("tiny", ""), ("watched", watched), ("scenarios/ensemble_jet", "")):
        text = textwrap.dedent(_TINY.format(more=more))
        (place / f"{name}.toml").write_text(text, encoding="utf-8")
    (place / "kernel.py").write_text(KERNEL, encoding="utf-8")


@dataclass(frozen=True)
class Ended:
    """The answer of a command: exit code, standard output and error."""

    code: int
    printed: str
    said: str


def command(words: str) -> Ended:
    """Run a command line in this process."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = streams
    try:
        commands.main(shlex.split(words))
    except SystemExit as end:
        code = end.code
    finally:
        sys.stdout, sys.stderr = before
    texts = []
    for stream in streams:
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())
    return Ended(code, *texts)


@contextmanager
def at(place: Path) -> Iterator[None]:
    """Work in a folder, for a `with` statement; temporary files are below its outputs."""
    before, temporary = Path.cwd(), tempfile.tempdir
    os.chdir(place)
    tempfile.tempdir = str(place / OUT / TEMPORARY)
    try:
        yield
    finally:
        os.chdir(before)
        tempfile.tempdir = temporary


@dataclass(frozen=True)
class Stage:
    """A scene before and after its command, run undisturbed.

    Args:
        scene: the scene.
        place: where commands work.
        begun: a copy of the place before the command.
        ended: what the command said.
        left: what it left, as `look` sees it.
        tree: names of all that is below the folder of outputs then.
    """

    scene: Scene
    place: Path
    begun: Path
    ended: Ended
    left: dict[str, Any]
    tree: list[str]

    def set_up(self) -> dict[str, Any]:
        """Put the place back to where the command begins; the bytes that are there."""
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.copytree(self.begun, self.place)
        return raw(self.place / OUT)


def staged(scene: Scene, folder: Path, older: bool) -> Stage:
    """Run a scene undisturbed.

    Args:
        folder: an empty one.
        older: whether older files are there.
    """
    place, begun = folder / "place", folder / "begun"
    place.mkdir()
    furnish(place)
    with at(place):
        for words in (*scene.inputs, *([scene.older] if older and scene.older else [])):
            ended = command(words)
            assert ended.code in (0, 1), (words, ended)
        shutil.copytree(place, begun)
        ended = command(scene.words)
    assert ended.code in (0, 1), (scene.words, ended)
    return Stage(scene, place, begun, ended, look(place / OUT), tree(place / OUT))


# ---- what is there -----------------------------------------------------------------------------


def tree(folder: Path) -> list[str]:
    """Names of all that is below a folder, hidden files too."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def units(folder: Path) -> dict[str, Path]:
    """The units below a folder that are not hidden: files, and stores of Zarr as one thing each."""
    found = {}
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        inside = [n for n, part in enumerate(parts[:-1]) if part.endswith(".zarr")]
        if inside or any(part.startswith(".") for part in parts) or parts[0] == TEMPORARY:
            continue
        if path.is_file() or path.suffix == ".zarr":
            found[str(path.relative_to(folder))] = path
    return found


def raw(folder: Path) -> dict[str, Any]:
    """The bytes of each unit."""
    return {
        name: path.read_bytes()
        if path.is_file()
        else {one.relative_to(path): one.read_bytes() for one in path.rglob("*") if one.is_file()}
        for name, path in units(folder).items()
    }


def look(folder: Path) -> dict[str, Any]:
    """The contents of each unit, but for times, memory and what follows from these."""
    return {name: seen(path) for name, path in units(folder).items()}


def seen(path: Path) -> Any:
    """The contents of a unit."""
    if path.suffix in (".nc", ".zarr"):
        dataset = files.read(path)
        values = {
            str(n): (v.dims, str(v.dtype), v.values.tobytes(), _steady(v.attrs))
            for n, v in dataset.variables.items()
        }
        return values, _steady(dataset.attrs)
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        return _steady(json.loads(text))
    return masked(text)


def masked(text: str) -> str:
    """A text without its numbers, which may be times, and what pages say of costs."""
    text = re.sub(r" Cost: [^<]*| best(?=\")", "", text)
    return " ".join(re.sub(r"[0-9][0-9.,]*(e[-+]?[0-9]+)?( *(ms|min|s|h)\b)?", "#", text).split())


def _steady(content: Any) -> Any:
    if isinstance(content, dict):
        return {k: _steady(v) for k, v in content.items() if not _VOLATILE.search(str(k))}
    if isinstance(content, (list, tuple)):
        return [_steady(one) for one in content]
    return repr(content)
