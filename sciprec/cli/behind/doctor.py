"""Facts that a report of a fault needs: versions, processor, cache, and a test of the rounding."""

from __future__ import annotations

import contextlib
import importlib.util
import math
import os
import re
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sciprec.foundation.cache_files import chosen_folder, why_unusable
from sciprec.foundation.errors import InputError
from sciprec.foundation.origin import provenance
from sciprec.precision import lift
from sciprec.precision.rounding import mode

TESTED = ("mlu370", "fp16", "bf16", "float:p=14,round=ru")
"""Arithmetics of the test: two of them use the processor's rounding mode where there is one."""
_OPERANDS = 4096
_GENERATED = re.compile(r"[\w.<>]+_[0-9a-f]{24}\.")


@dataclass(frozen=True)
class ReportLine:
    """One line of the report.

    Args:
        name, value: what was looked at, and what was found.
        good: whether it is as it should be.
    """

    name: str
    value: str
    good: bool = True


def examine() -> tuple[ReportLine, ...]:
    """Everything in the order in which it is printed; takes a second once it is compiled."""
    findings = [ReportLine(name, value) for name, value in provenance().items() if value]
    findings.append(ReportLine("executable", sys.executable))
    findings.append(ReportLine("threads", _threads()))
    findings += [_dask(), _rounding(), *(_agreement(name) for name in TESTED), _cache()]
    return tuple(findings)


def clear_cache() -> tuple[int, int]:
    """Remove generated modules and their compiled code; other files are left.

    Returns:
        How many files and bytes were removed.

    Raises:
        InputError: the folder cannot be changed.
    """
    folder = chosen_folder()
    try:
        if why := why_unusable(folder):
            raise OSError(0, why)
        files = _cache_files(folder)
        for path in files:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(
            f"the cache folder '{folder}' cannot be cleared ({error.strerror}); remove it "
            "by hand, or set SCIPREC_CACHE_DIR to a folder of your own"
        ) from None
    return len(files), sum(files.values())


def _cache_files(folder: Path) -> dict[Path, int]:
    """Generated modules, compiled code and half-written files in the folder, with their sizes in
    bytes. Other processes may remove some meanwhile.
    """
    paths = [*folder.glob("*"), *folder.glob("__pycache__/*")]  # the second of earlier versions
    sizes = {}
    for path in sorted(paths):
        with contextlib.suppress(FileNotFoundError):
            if _GENERATED.match(path.name) and path.is_file():
                sizes[path] = path.stat().st_size
    return sizes


def _threads() -> str:
    """The number of threads of Numba and dask, and what limits it."""
    limits = [f"{n}={os.environ[n]}" for n in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS")
              if n in os.environ]  # fmt: skip
    return ", ".join([f"{os.cpu_count() or 1} processors", f"{threading.active_count()} running",
                      *limits])  # fmt: skip


def _dask() -> ReportLine:
    clusters = importlib.util.find_spec("distributed") is not None
    where = "threads, processes and clusters" if clusters else "threads only"
    return ReportLine("batches", where, clusters)


def _rounding() -> ReportLine:
    """The technique of directed roundings: the processor's mode or software."""
    if not mode.available():
        return ReportLine("rounding mode", "software (the processor's mode cannot be set here)")
    word = int(_current_word())
    good = word & ~0x3F == mode.NORMAL
    return ReportLine("rounding mode", f"the processor's; MXCSR {word:#06x} outside kernels", good)


def _current_word() -> int:
    import numba

    return numba.njit(lambda: mode.read_control_word())()


def probe(x, y, out):
    """Every operation that rounds: sums, products, quotients, roots."""
    for i in range(x.shape[0]):
        out[0, i] = x[i] + y[i]
        out[1, i] = x[i] - y[i]
        out[2, i] = x[i] * y[i]
        out[3, i] = x[i] / y[i]
        out[4, i] = math.sqrt(abs(x[i]))


def _agreement(backend: str) -> ReportLine:
    """Whether the fast path and the software path give the same bits on this machine."""
    results = []
    for path in ("auto", "software"):
        lifted = lift(probe, backend, path=path)
        carrier = lifted.backend.carrier
        x, y = (values.astype(carrier) for values in _operands())
        out = np.zeros((5, x.size), carrier)
        lifted(x, y, out)
        results.append(out)
    fast, exact = (out.view(f"u{out.itemsize}") for out in results)
    both_nan = np.isnan(results[0]) & np.isnan(results[1])
    wrong = int(((fast != exact) & ~both_nan).sum())
    words = "both paths agree" if not wrong else "the paths DISAGREE"
    return ReportLine(f"self-test {backend}", f"{words} ({wrong} of {fast.size} differ)", not wrong)


def _operands() -> tuple[np.ndarray, np.ndarray]:
    """Pairs of all magnitudes, near one another and far apart, with landmarks among them."""
    rng = np.random.default_rng(20)
    x = rng.normal(size=_OPERANDS) * 2.0 ** rng.integers(-40, 40, _OPERANDS)
    y = x * (1.0 + 2.0 ** -rng.integers(1, 30, _OPERANDS).astype(float))
    y[::2] = rng.normal(size=_OPERANDS // 2) * 2.0 ** rng.integers(-40, 40, _OPERANDS // 2)
    landmarks = [0.0, -0.0, 1.0, 2.0**-126, 2.0**-130, 2.0**120, math.inf, -math.inf, math.nan]
    pairs = np.array(np.meshgrid(landmarks, landmarks)).reshape(2, -1)
    return np.concatenate([x, pairs[0]]), np.concatenate([y, pairs[1]])


def _cache() -> ReportLine:
    """The cache folder of compiled kernels, its size, and whether it can be written."""
    folder = chosen_folder()
    if why := why_unusable(folder):
        return ReportLine("cache", f"{folder}: not used ({why})", False)
    files = _cache_files(folder)
    size = sum(files.values())
    good = os.access(folder, os.W_OK) if folder.exists() else True
    words = f"{folder}: {len(files)} files, {size / 1e6:.1f} MB" + ("" if good else ", read-only")
    return ReportLine("cache", words, good)
