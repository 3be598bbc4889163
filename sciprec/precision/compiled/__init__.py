"""Compiled code: its storage on disk, and its linking into other code."""
