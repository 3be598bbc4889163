"""Lists of files in the order of their names, the opposite one, or a third: a file system may give
any.

A process of Python runs this file before all else where a folder on its path has it under the name
`sitecustomize.py`; it imports nothing of this package.
"""

import hashlib
import os
import sys

LISTED = "SCIPREC_FILES_LISTED"
"""Variable of the environment that asks for an order."""
FORWARDS, BACKWARDS, MIXED = "forwards", "backwards", "mixed"
"""Orders by name: from its start, from its end, and without meaning: two may have the same sum."""
NAME = "sitecustomize"


def list_by_name(order: str) -> None:
    """List files in the order FORWARDS, BACKWARDS or MIXED from now on."""
    listdir, scandir = os.listdir, os.scandir
    reverse = order == BACKWARDS

    def place(name):
        """The key by which a name is sorted."""
        text = os.fsencode(name)
        return hashlib.sha256(text).digest() if order == MIXED else text

    def listed(*args):
        return sorted(listdir(*args), key=place, reverse=reverse)

    class Scanned:
        """Entries of a folder, as `os.scandir` gives them."""

        def __init__(self, *args):
            with scandir(*args) as iterator:
                entries = sorted(iterator, key=lambda entry: place(entry.name), reverse=reverse)
                self._entries = iter(entries)

        def __iter__(self):
            return self

        def __next__(self):
            return next(self._entries)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.close()

        def close(self):
            self._entries = iter(())

    os.listdir, os.scandir = listed, Scanned


def make_way(folder: str) -> None:
    """Let the customization that this one stood in front of happen, too."""
    sys.path[:] = [entry for entry in sys.path if entry != folder]
    module = sys.modules.pop(NAME, None)
    try:
        __import__(NAME)
    except ImportError:
        if module is not None:
            sys.modules[NAME] = module


if __name__ == NAME:
    if LISTED in os.environ:
        list_by_name(os.environ[LISTED])
    make_way(os.path.dirname(__file__))
