"""The memory of this machine, and that a process has had at most."""

import os
import sys

PEAK_MEMORY = "sciprec_peak_memory_bytes"
"""Attribute of a file: the most memory that the process of its run has had until it was written."""


def peak_bytes() -> int | None:
    """The most memory that this process has had so far, in bytes; None where the system does not
    say.
    """
    try:
        import resource
    except ImportError:  # Windows
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


def bytes_of_memory() -> int | None:
    """All memory of this machine; None where the system does not say."""
    if not hasattr(os, "sysconf"):  # Windows
        return None
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
