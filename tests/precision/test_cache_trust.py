"""The cache folder, of every owner and mode: nothing that others may have written is run, and one
that cannot be used costs a warning.
"""

import hashlib
import itertools
import os
import pickle
import shutil
from pathlib import Path

import pytest

from sciprec.foundation import cache_files
from tests.precision.test_disk_cache import run_kept, told

NOBODY = 65534
pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owners here")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A cache folder that is not there yet."""
    path = tmp_path / "outer" / "cache"
    monkeypatch.setenv("SCIPREC_CACHE_DIR", str(path))
    monkeypatch.delenv("SCIPREC_CACHE_SHARED", raising=False)
    return path


def mode_of(path):
    return path.stat().st_mode & 0o7777


def owners():
    """This user and, where files can be given away, another one."""
    return (os.geteuid(), NOBODY) if os.geteuid() == 0 else (os.geteuid(),)


# ---- of every owner and mode --------------------------------------------------------------------

CODE = f"module.kernel_{'0' * 24}.compiled"
MODES = [bits | special for bits in range(0o1000) for special in (0, 0o1000, 0o2000)]


def test_folders_of_every_owner_and_mode(folder):
    """Read where no other user can have replaced a file; the user's own is closed to others."""
    folder.mkdir(parents=True)
    (folder / CODE).write_bytes(b"content")
    (folder / CODE).chmod(0o600)
    read = 0
    for owner, mode in itertools.product(owners(), MODES):
        os.chown(folder, owner, -1)
        folder.chmod(mode)
        is_mine, is_open = owner == os.geteuid(), mode & 0o022 and not mode & 0o1000
        enters = os.geteuid() == 0 or mode & 0o100 and (mode & 0o400 or not is_open)
        content, said = told(lambda: cache_files.read(cache_files.cache_folder() / CODE))
        assert (content == b"content") == bool(is_mine and enters), (owner, oct(mode))
        assert len(said) == (not is_mine or bool(is_open) or not enters), (owner, oct(mode), said)
        if is_mine and enters:
            assert mode_of(folder) == (0o700 if is_open else mode), oct(mode)
            read += 1
        else:
            assert mode_of(folder) == mode
    assert read > 300
    folder.chmod(0o700)


@pytest.mark.slow
def test_files_of_every_owner_and_mode(folder):
    """A file that others can write is replaced; another user's is so with a warning."""
    cache_files.write(folder / "file", b"before")
    for owner, mode in itertools.product(owners(), range(0o1000)):
        os.chown(folder / "file", owner, -1)
        (folder / "file").chmod(mode)
        is_mine = owner == os.geteuid()
        counts = is_mine and not mode & 0o022 and (os.geteuid() == 0 or mode & 0o400)
        if is_mine and not counts and not mode & 0o400 and os.geteuid():
            continue  # not readable: removed as damaged
        content, said = told(lambda: cache_files.read(folder / "file"))
        assert (content is not None) == bool(counts), (owner, oct(mode))
        assert len(said) == (not is_mine), (owner, oct(mode), said)
        for put in (cache_files.write, cache_files.append):
            put(folder / "file", b"after")
            assert cache_files.read(folder / "file").endswith(b"after")
            assert mode_of(folder / "file") & 0o022 == 0
            assert (folder / "file").stat().st_uid == os.geteuid()


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o022, 0o077])
def test_what_is_made_is_for_its_user_alone(folder, umask, monkeypatch):
    before = os.umask(umask)
    try:
        run_kept()
        cache_files.append(folder / "tuning" / "runs", b"one")
        modes = {path: mode_of(path) for path in (folder, *folder.rglob("*"))}
        monkeypatch.setenv("SCIPREC_CACHE_SHARED", "1")
        cache_files.write(folder / "shared" / "file", b"one")
    finally:
        os.umask(before)
    assert len(modes) == 4
    assert all(mode == (0o700 if path.is_dir() else 0o600) for path, mode in modes.items())
    assert mode_of(folder / "shared" / "file") == 0o666 & ~umask
    assert mode_of(folder / "shared") == 0o777 & ~umask


# ---- attacks ------------------------------------------------------------------------------------


class Harm:
    """An object that makes a folder where it is unpickled."""

    def __init__(self, place):
        self.place = place

    def __reduce__(self):
        return os.mkdir, (str(self.place),)


def planted(folder, harm):
    """Put code into the place of compiled code, with a right checksum; gives its path."""
    cache_files.write(folder / "other", b"")
    for path in folder.iterdir():
        path.unlink()
    run_kept()
    (path,) = folder.iterdir()
    payload = pickle.dumps(Harm(harm))
    path.write_bytes(hashlib.sha256(payload).digest() + payload)
    return path


def another_user_s_file(folder, path):
    os.chown(path, NOBODY, -1)


def a_file_that_others_write(folder, path):
    path.chmod(0o666)


def a_link(folder, path):
    shutil.move(path, folder.parent / "elsewhere")
    path.symlink_to(folder.parent / "elsewhere")


def another_user_s_folder(folder, path):
    folder.chmod(0o777)
    os.chown(folder, NOBODY, -1)


def a_folder_behind_a_link(folder, path):
    folder.rename(folder.parent / "real")
    folder.symlink_to(folder.parent / "real")


WAYS = [(another_user_s_file, "belongs to user 65534"), (a_file_that_others_write, ""),
        (a_link, "is a link"), (another_user_s_folder, "belongs to user 65534"),
        (a_folder_behind_a_link, "it is a link")]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("way", "words"), WAYS)
def test_code_that_others_put_there_is_run_only_where_the_user_says_so(
    way, words, folder, tmp_path, monkeypatch
):
    if "another" in way.__name__ and os.geteuid() != 0:
        pytest.skip("only root gives files away")
    harm, expected = tmp_path / "harm", run_kept()
    way(folder, planted(folder, harm))
    result, said = told(run_kept)
    assert result == expected and not harm.exists()
    assert len(said) == bool(words)
    assert all(words in one and "SCIPREC_CACHE_SHARED=1" in one for one in said)
    monkeypatch.setenv("SCIPREC_CACHE_SHARED", "1")
    if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
        told(run_kept)
        assert harm.exists()


# ---- folders that cannot be entered -------------------------------------------------------------


def below_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    return tmp_path / "file" / "cache"


def a_file(tmp_path):
    return below_a_file(tmp_path).parent


def a_link_to_nothing(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    return tmp_path / "link"


def a_link_to_itself(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "link")
    return tmp_path / "link" / "cache"


def a_name_too_long(tmp_path):
    return tmp_path / ("n" * 300)


def a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


def of_the_system(tmp_path):
    return Path("/proc/sciprec")


CANNOT = [below_a_file, a_file, a_link_to_nothing, a_link_to_itself, a_name_too_long, a_pipe,
          of_the_system]  # fmt: skip


@pytest.mark.parametrize(
    ("place", "shared"), [(place, ("", "1")[n % 2]) for n, place in enumerate(CANNOT)]
)
def test_a_folder_that_cannot_be_used_costs_one_warning(place, shared, tmp_path, monkeypatch):
    expected = run_kept()
    monkeypatch.setenv("SCIPREC_CACHE_DIR", str(place(tmp_path)))
    monkeypatch.setenv("SCIPREC_CACHE_SHARED", shared)
    result, said = told(run_kept)
    assert result == expected and len(said) == 1
    assert "cannot be used (" in said[0] and "set SCIPREC_CACHE_DIR" in said[0]
