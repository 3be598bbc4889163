"""Notebooks: the name of a cell, and a line that is written anew.

IPython is never imported for that: where it is not there already, there is no notebook.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from sciprec.foundation.errors import printable


def source_name(filename: str) -> str:
    """The name of a source in messages: the file's name, of a cell "Cell In[3]", as in IPython's
    own.
    """
    try:
        words = _shell().compile.format_code_name(filename)
    except AttributeError:  # no IPython, or one of other habits
        words = None
    return " ".join(words) if words else Path(filename).name


class NotebookLine:
    """A line of a notebook's output that is written anew; a terminal and a script see nothing."""

    def __init__(self) -> None:
        self._handle: Any = None

    @staticmethod
    def is_seen() -> bool:
        """Whether a notebook is there to show it."""
        return getattr(_shell(), "kernel", None) is not None

    def write(self, words: str) -> None:
        """Replace the text of the line."""
        if not self.is_seen():
            return
        from IPython.display import display

        content = {"text/plain": printable(words)}
        if self._handle is None:
            self._handle = display(content, raw=True, display_id=True)
        else:
            self._handle.update(content, raw=True)


def _shell() -> Any:
    """IPython's shell that runs this process; None where there is none."""
    ipython = sys.modules.get("IPython")
    return None if ipython is None else getattr(ipython, "get_ipython", lambda: None)()
