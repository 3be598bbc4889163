"""Fixtures of the shell's tests that these tests use, too."""

from tests.shell.conftest import little_batch, own_batch

__all__ = ["little_batch", "own_batch"]
