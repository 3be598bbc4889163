"""Compiled code: how it is kept on disk, and how it becomes part of other code."""
