"""Digests of what the package gives: they show that moving and merging code changes nothing.

    python -m tests.same write FILE           of everything, or of --part and --name
    python -m tests.same compare FILE         with those of a file; exit code 1 where some differ

FILE is `tests/same/digests.json` where none is given. A line of it is a named thing: a kernel, or
a refused input. Names are those that users know, never paths of modules, and what a text says of
places in the package is the last word of a dotted path, so that digests stay when modules move.
Versions, times, addresses and folders are left out.
"""
