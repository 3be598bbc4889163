"""Scenario files are data: no path in them leaves the output folder."""

import pytest

from sciprec.foundation.errors import InputError
from sciprec.scenario.toml_file import inside, is_inside

OUTSIDE = [
    "/etc", "/", "..", "../x", "a/../../x", "a/..", "C:/x", "C:x", "\\\\server\\x", "..\\x", "\\x",
    "a\\..\\x", "a\0b",
]  # fmt: skip


@pytest.mark.parametrize("path", OUTSIDE)
def test_paths_that_leave_are_refused(path, tmp_path):
    assert not is_inside(path)
    with pytest.raises(InputError, match="leaves the folder"):
        inside(tmp_path, path.replace("\0", "/../../"))


@pytest.mark.parametrize("path", ["checkpoints", "a/b", "a..b/c", "./a", ".hidden"])
def test_paths_inside_are_kept(path, tmp_path):
    assert is_inside(path) and inside(tmp_path, path) == tmp_path / path


def test_links_that_lead_out_are_refused(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "link").symlink_to(tmp_path)
    with pytest.raises(InputError, match="the path 'link' leaves the folder"):
        inside(tmp_path / "out", "link")
