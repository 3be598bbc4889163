"""The memory of this machine."""

from __future__ import annotations

import os


def bytes_of_memory() -> int | None:
    """All memory of this machine; None where the system does not say."""
    if not hasattr(os, "sysconf"):  # Windows
        return None
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
