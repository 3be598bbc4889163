"""Fixtures of the shell's tests that these tests use, too."""

from tests.shell.conftest import little_batch, models, own_batch, scenario_files

__all__ = ["little_batch", "models", "own_batch", "scenario_files"]
