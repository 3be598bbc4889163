"""The origin of a result: versions, processor, SIMD level, state of the source."""

from __future__ import annotations

import functools
import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

from sciprec.foundation.definitions import version_of

PACKAGES = ("sciprec", "numpy", "numba", "llvmlite", "scipy", "xarray", "dask", "netCDF4")
_SIMD_LEVELS = ("avx512f", "avx2", "avx", "sse4.2", "neon")


def provenance() -> dict[str, str]:
    """Facts that a reader needs to make the same numbers again, as plain strings."""
    return {**_machine(), "made_at": datetime.now(UTC).isoformat(timespec="seconds")}


@functools.cache
def _machine() -> dict[str, str]:
    """Everything that stays the same within one process."""
    facts = {name: version_of(name) for name in PACKAGES}
    facts["python"] = platform.python_version()
    facts["system"] = f"{platform.system()} {platform.machine()}"
    facts["processor"] = processor_name()
    facts["simd"] = simd_level()
    facts["processors"] = str(os.cpu_count() or 1)
    facts["git"] = git_state()
    return facts


def processor_name() -> str:
    """The processor's own name where the system tells it."""
    table = Path("/proc/cpuinfo")
    if table.is_file():
        for line in table.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine() or "unknown"


def simd_level() -> str:
    """The widest vector instructions that the compiler may use here."""
    from numba.core import codegen, config

    configured = config.CPU_FEATURES
    features = (codegen.get_host_cpu_features() if configured is None else configured).split(",")
    return next((name for name in _SIMD_LEVELS if f"+{name}" in features), "unknown")


@functools.cache
def version_in_words() -> str:
    """The version that runs and, where it is known, its commit: the last line of every page."""
    version, commit = version_of("sciprec"), git_state()
    if commit:  # as git or the package says it now, not as it was when a checkout was installed
        version = f"{version.partition('+')[0]}, commit {commit}"
    return f"Page made by sciprec {version}"


@functools.cache
def git_state() -> str:
    """The commit of the source that runs, marked when files differ from it: what git says of a
    checkout, and what a wheel or an sdist was built from; empty where neither is known.
    """
    package = Path(__file__).resolve().parents[1]
    if (package.parent / ".git").exists():
        return _git(package.parent, *_DESCRIBE)
    built = package / "commit.txt"  # written by .ci/version.py
    return built.read_text(encoding="utf-8").strip() if built.is_file() else ""


def commit_around(folder: str | Path) -> tuple[str, str]:
    """The commit of the repository that a folder is in, marked when files differ from it.

    Args:
        folder: that exists.

    Returns:
        The commit, and why there is none; one of the two is empty.
    """
    if commit := _git(Path(folder), *_DESCRIBE):
        return commit, ""
    inside = _git(Path(folder), "rev-parse", "--is-inside-work-tree") == "true"
    return "", "the repository has no commit" if inside else "it is in no git repository"


_DESCRIBE = ("describe", "--always", "--dirty", "--abbrev=12")


def _git(folder: Path, *words: str) -> str:
    """Run git in a folder; return its output, empty where it fails."""
    try:
        process = subprocess.run(
            ["git", "-C", str(folder), *words], capture_output=True, text=True, timeout=10,
            check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return process.stdout.strip() if process.returncode == 0 else ""
