"""Searches of `tune` begin anew: their runs are kept in a folder of the test's."""

import pytest


@pytest.fixture(autouse=True)
def kept_folder(monkeypatch, tmp_path):
    """Where runs are kept."""
    monkeypatch.setattr("sciprec.tools.tune.kept_runs._folder", lambda: tmp_path / "tuning")
    return tmp_path / "tuning"
