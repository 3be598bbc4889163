"""Compiled code on disk: an edit is never missed, and a damaged cache costs time only."""

import ast
import json
import re
import shutil
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import sciprec
from sciprec.foundation import cache_files
from sciprec.precision.compiled import disk_cache, parts
from tests.precision.processes import ROOT, started


def halves(x, out):
    for i in range(x.size):
        out[i] = 0.5 * x[i] + 0.1


def summed(x):
    total = 0.0
    for i in range(x.size):
        total += x[i]
    return total


X = np.linspace(0.1, 3.0, 37)


def run_lifted() -> str:
    """The result of a new process with a lifted kernel."""
    for name in [n for n in sys.modules if n.startswith("sciprec_lifted.halves")]:
        del sys.modules[name]
    parts._parts.clear()
    out = np.zeros(X.size)
    sciprec.lift(halves, "mlu370")(X, out)
    return out.tobytes().hex()


def run_kept() -> str:
    """The result of a new process with a function of the package."""
    return float(disk_cache.kept(nogil=True)(summed)(X)).hex()


def told(run) -> tuple[str, list[str]]:
    """The output of a run, and its warnings, all of them."""
    cache_files._warned.clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = run()
    assert all(issubclass(w.category, cache_files.CacheWarning) for w in caught), caught
    return result, [str(w.message) for w in caught]


def truncated(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def zeroed(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def garbled(path: Path) -> None:
    path.write_bytes(np.random.default_rng(1).bytes(path.stat().st_size))


def replaced_by_a_folder(path: Path) -> None:
    path.unlink()
    (path / "inside").mkdir(parents=True)


def not_what_it_says(path: Path) -> None:
    """A pickle with a right checksum that cannot be loaded."""
    payload = b"\x80\x04cno.such.module\nthing\n."
    path.write_bytes(disk_cache.hashlib.sha256(payload).digest() + payload)


def flipped(place: float):
    def flip(path: Path) -> None:
        content = bytearray(path.read_bytes())
        content[int(place * (len(content) - 1))] ^= 0x10
        path.write_bytes(content)

    return flip


DAMAGES = (
    *(flipped(place) for place in np.linspace(0, 1, 4)), truncated, emptied, zeroed, garbled,
    replaced_by_a_folder, not_what_it_says,
)  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SCIPREC_CACHE_DIR", str(tmp_path))
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_of_kept_code_costs_one_warning(folder, damage):
    """The entry is removed and the code compiled; then it is there again."""
    expected, said = told(run_kept)
    (entry,) = folder.iterdir()
    assert not said
    damage(entry)
    result, said = told(run_kept)
    assert result == expected and len(said) == 1
    assert "held what cannot be used" in said[0] and entry.name in said[0]
    assert told(run_kept) == (expected, [])
    assert list(folder.iterdir()) == [entry]


EVERY_FILE = """
import json
from tests.precision.test_disk_cache import *
folder, found = cache_files.cache_folder(), []
expected = told(run_lifted)
for number, path in enumerate(sorted(folder.iterdir())):
    for damage in DAMAGES[number::4]:
        damage(path)
        if path.suffix == ".part":  # looked for where the whole is compiled only
            for whole in folder.glob("*.compiled"):
                whole.unlink()
        found.append((path.suffix, told(run_lifted), told(run_lifted)))
print(json.dumps([expected, found]))
"""


@pytest.mark.slow
def test_damage_of_any_file_of_a_lifted_kernel_costs_one_warning(tmp_path):
    expected, found = json.loads(started(EVERY_FILE, SCIPREC_CACHE_DIR=tmp_path))
    assert {suffix for suffix, _, _ in found} == {".py", *disk_cache.SUFFIXES}
    for _, (result, said), after in found:
        assert result == expected[0] and len(said) == 1 and "held what cannot" in said[0]
        assert after == expected
    assert expected[1] == []


def test_a_user_without_a_home_is_told_once(monkeypatch):
    expected = run_kept()
    for name in ("SCIPREC_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", lambda: (_ for _ in ()).throw(RuntimeError("no home")))
    result, said = told(run_kept)
    assert result == expected and len(said) == 1
    assert "cannot be used (Not a directory)" in said[0]


# ---- nothing goes stale -------------------------------------------------------------------------


@pytest.mark.slow
def test_every_source_of_the_engine_counts(tmp_path, monkeypatch):
    """Any module (every fifth is edited), in sub-packages too, however it is imported."""
    shutil.copytree(ROOT / "sciprec" / "precision", tmp_path / "precision")
    (tmp_path / "precision" / "inner").mkdir()
    (tmp_path / "precision" / "inner" / "deep.py").write_text("VALUE = 1\n")
    monkeypatch.setattr(disk_cache, "_PACKAGE", tmp_path)

    def digest() -> str:
        disk_cache.sources_digest.cache_clear()
        return disk_cache.engine_digest()

    seen, inner = {digest()}, tmp_path / "precision" / "inner" / "deep.py"
    edited = sorted({inner, *sorted((tmp_path / "precision").rglob("*.py"))[::5]})
    for path in edited:
        text = path.read_text(encoding="utf-8")
        path.write_text(f"{text}\n# edited\n", encoding="utf-8")
        seen.add(digest())
        path.write_text(text, encoding="utf-8")
        assert digest() in seen
    assert len(seen) == len(edited) + 1 and len(edited) > 20
    disk_cache.sources_digest.cache_clear()


def test_code_is_kept_through_one_door_and_depends_on_its_own_package_and_the_engine():
    """What a kept function can call is in the sources that its name is a hash of; the foundation
    has nothing that is compiled.
    """
    compiles = re.compile(r"\bn?jit\b|vectorize|import numba$", re.MULTILINE)
    foundation = sorted((ROOT / "sciprec/foundation").rglob("*.py"))
    assert not [path for path in foundation if compiles.search(path.read_text(encoding="utf-8"))]
    keeping = 0
    known = tuple(f"sciprec.{room}" for room in (*disk_cache.ENGINE, "foundation"))
    for path in (ROOT / "sciprec").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "cache=True" not in text, path
        if "disk_cache import ke" not in text:
            continue
        keeping += 1
        own = ".".join(path.relative_to(ROOT).with_suffix("").parts[:2])
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("sciprec"):
                package = ".".join(node.module.split(".")[:2])
                assert package in (own, *known), path
    assert keeping >= 9


def test_an_edited_function_is_not_taken_from_the_cache(folder):
    """Sources that came from elsewhere than a file of the engine: the code itself counts."""
    first = run_kept()
    other = eval("lambda x: x.sum() + 1.0")
    other.__name__, other.__qualname__, other.__module__ = "summed", "summed", __name__
    assert float(disk_cache.kept(nogil=True)(other)(X)).hex() != first
