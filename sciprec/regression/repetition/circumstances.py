"""Circumstances that results may not depend on: how a process is started, how a call is made."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace

from sciprec.regression.repetition.listings import BACKWARDS, FORWARDS, LISTED, MIXED

AGAIN, THREADS, ORDER = "from run to run", "with threads", "with order"
BLOCKS, MEMORY = "with block sizes", "with unwritten memory"
BEYOND, STRICT = "with memory beyond an array", "without fastmath"
ASPECTS = (BEYOND, MEMORY, AGAIN, THREADS, ORDER, BLOCKS, STRICT)
"""Causes of a difference; of several the first one is reported."""

WAYS = {
    "another process": AGAIN,
    "threads": THREADS,
    "a second call": ORDER,
    "order of runs": ORDER,
    "processes": ORDER,
    "interruption": ORDER,
    "hash seed": ORDER,
    "order of files": ORDER,
    "empty cache": ORDER,
    "index": BEYOND,
    "memory": MEMORY,
    "strict form": STRICT,
    "chunks": BLOCKS,
    "vectors": BLOCKS,
    "block size": BLOCKS,
}
"""Ways in which a run may differ from another, with the aspect of each."""

MOST_THREADS = 4
FILLINGS = {0x7F: "huge numbers", 0xFF: "NaN and -1"}
"""Bytes that new memory is filled with, and what they are as numbers; it is 0 in other runs."""
_CHUNK_OF_DASK = "64KiB"
_THREADS = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS", "DASK_NUM_WORKERS", "PYTHON_CPU_COUNT",
)  # fmt: skip


@dataclass(frozen=True)
class Process:
    """The way in which a process is started.

    Args:
        threads: of linear algebra, OpenMP, Numba and dask.
        hash_seed: of Python's hashes of texts.
        filling: byte that new memory is filled with, where the platform can.
        listed: the order in which lists of files come.
        cold: whether no code is compiled yet.
        narrow: whether Numba compiles for any processor of this family: vectors are shorter.
        strict: whether Numba compiles without `fastmath`; such code is kept by itself.
        variables: further variables of the environment.
    """

    threads: int = 1
    hash_seed: int = 0
    filling: int = 0
    listed: str = FORWARDS
    cold: bool = False
    narrow: bool = False
    strict: bool = False
    variables: tuple[tuple[str, str], ...] = ()

    def environment(
        self, warm: Mapping[str, str], cold: Mapping[str, str], of_numba: int = 0
    ) -> dict[str, str]:
        """The environment of the process.

        Args:
            warm, cold: what tells the process where compiled code is kept.
            of_numba: threads that Numba starts, where these are others.
        """
        variables = dict(os.environ) | dict.fromkeys(_THREADS, str(self.threads))
        variables |= {"NUMBA_NUM_THREADS": str(of_numba or self.threads)}
        variables |= {"PYTHONHASHSEED": str(self.hash_seed), **_filling(self.filling)}
        variables |= {LISTED: self.listed}
        variables |= cold if self.cold or self.strict else warm
        if self.narrow:
            variables |= {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
        return variables | dict(self.variables)


def _filling(byte: int) -> dict[str, str]:
    """Variables that make the platform's allocator fill new memory; none where it cannot.

    The GNU C library fills with the complement of its setting, and not what it has kept aside for
    the thread that freed it; macOS has one byte, 0xAA, and no other.
    """
    if platform.libc_ver()[0] == "glibc":
        tunables = f"glibc.malloc.perturb={byte ^ 0xFF}:glibc.malloc.tcache_count=0"
        existing = os.environ.get("GLIBC_TUNABLES")
        return {"GLIBC_TUNABLES": f"{existing}:{tunables}" if existing else tunables}
    return {"MallocPreScribble": "1"} if sys.platform == "darwin" and byte else {}


def fills_memory() -> bool:
    """Whether the allocator of this platform can fill new memory."""
    return bool(_filling(0x7F))


@dataclass(frozen=True)
class CallSettings:
    """The way in which a kernel is called in its process, or a command is written.

    Args:
        threads: of Numba.
        chunk: iterations of a prange that a thread takes at a time; 0 for Numba's choice.
        arguments: integers in place of arguments of a kernel.
        options: words added to a command.
        interrupted: whether the command is interrupted and goes on.
    """

    threads: int = 1
    chunk: int = 0
    arguments: tuple[tuple[str, int], ...] = ()
    options: tuple[str, ...] = ()
    interrupted: bool = False


@dataclass(frozen=True)
class Circumstance:
    """The ways in which a run differs from the first one.

    Args:
        ways: of WAYS, all of one aspect; none of the run that the others are compared with.
        words: the same for people.
        process, call: how it is made.
        later: whether the call is not the first one of its process.
    """

    ways: tuple[str, ...]
    words: str
    process: Process = Process()
    call: CallSettings = CallSettings()
    later: bool = False

    @property
    def aspect(self) -> str:
        """The cause that a difference would be reported as; empty for the first run."""
        return WAYS[self.ways[0]] if self.ways else ""

    def parts(self) -> list[Circumstance]:
        """Circumstances that change one way of this one at a time."""
        return [_ONLY[way](self) for way in self.ways] if len(self.ways) > 1 else []


_ONLY = {
    "hash seed": lambda c: replace(
        c, ways=("hash seed",), words="another hash seed",
        process=replace(c.process, listed=FORWARDS, cold=False),
    ),
    "order of files": lambda c: replace(
        c, ways=("order of files",), words=f"lists of files {c.process.listed}",
        process=replace(c.process, hash_seed=0, cold=False),
    ),
    "empty cache": lambda c: replace(
        c, ways=("empty cache",), words="nothing compiled yet",
        process=replace(c.process, hash_seed=0, listed=FORWARDS),
    ),
    "vectors": lambda c: replace(
        c, ways=("vectors",), words="shorter vectors",
        process=replace(c.process, variables=()),
    ),
    "block size": lambda c: replace(
        c, ways=("block size",), words="other chunks of dask",
        process=replace(c.process, narrow=False),
    ),
}  # fmt: skip
FIRST = Circumstance((), "the first run")
ANOTHER = Circumstance(("another process",), "again, in another process")
ELSEWHERE = Circumstance(
    ("hash seed", "order of files", "empty cache"),
    "another hash seed, lists of files backwards, nothing compiled yet",
    Process(hash_seed=1, listed=BACKWARDS, cold=True),
)
A_THIRD_ORDER = Circumstance(
    ("hash seed", "order of files"), "a third hash seed, lists of files mixed",
    Process(hash_seed=2, listed=MIXED),
)  # fmt: skip
OTHER_BLOCKS = Circumstance(
    ("vectors", "block size"), "shorter vectors, other chunks of dask",
    Process(narrow=True, variables=(("DASK_ARRAY__CHUNK_SIZE", _CHUNK_OF_DASK),)),
)  # fmt: skip
STRICTLY = Circumstance(("strict form",), "compiled without fastmath", Process(strict=True))


def threaded(count: int) -> Circumstance:
    """A run with some threads."""
    return Circumstance(
        ("threads",), f"{count} threads", Process(threads=count), CallSettings(threads=count)
    )


def filled() -> list[Circumstance]:
    """Runs whose memory is filled, where the platform can."""
    return [
        Circumstance(("memory",), f"new memory filled with {words}", Process(filling=byte))
        for byte, words in FILLINGS.items() if fills_memory()
    ]  # fmt: skip


def to_be_made(circumstances: list[Circumstance], runs: int) -> list[Circumstance]:
    """One circumstance per run: the first run, the others in their order, then repetitions."""
    every = [FIRST, ANOTHER, *circumstances]
    return [*every, *[ANOTHER] * (runs - len(every))][:runs]
