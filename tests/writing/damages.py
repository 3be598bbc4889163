"""Damages to bytes on a disk, drawn at random."""

from __future__ import annotations

import random
from collections.abc import Callable


def flipped(content: bytes, draw: random.Random) -> bytes:
    """One bit is another one."""
    at = draw.randrange(len(content))
    return content[:at] + bytes([content[at] ^ 1 << draw.randrange(8)]) + content[at + 1 :]


def truncated(content: bytes, draw: random.Random) -> bytes:
    """The end is missing, or everything."""
    return content[: draw.randrange(len(content))]


def zeroed(content: bytes, draw: random.Random) -> bytes:
    """A block that was never written."""
    return _with_block(content, draw, bytes)


def scribbled(content: bytes, draw: random.Random) -> bytes:
    """A block of something else."""
    return _with_block(content, draw, draw.randbytes)


def lengthened(content: bytes, draw: random.Random) -> bytes:
    """More than was written."""
    return content + draw.randbytes(draw.randint(1, 100))


def _with_block(content: bytes, draw: random.Random, fill: Callable[[int], bytes]) -> bytes:
    while True:
        at, size = draw.randrange(len(content)), draw.choice([1, 8, 64, 512, 4096])
        there = content[at : at + size]
        made = content[:at] + fill(len(there)) + content[at + size :]
        if made != content:
            return made


DAMAGES = (flipped, truncated, zeroed, scribbled)
"""Of what is written: none of them leaves it as it was."""
