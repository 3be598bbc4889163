"""The work of a kernel's run: operations and bytes, counted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields

from sciprec.foundation.errors import InputError
from sciprec.precision.fixed.profile import Profile
from sciprec.precision.formats.backend import Backend, resolve_backend
from sciprec.precision.formats.fixed_format import FixedFormat
from sciprec.precision.operations.operation import operation_named

FLOPS_PER_SPECIAL = 20
SPECIAL_ASSUMPTION = (
    f"an elementary function counts as {FLOPS_PER_SPECIAL} operations, those of a polynomial of "
    "degree 8 with its reduction; no rate is published"
)

LOAD, STORE = "load", "store"

UPDATE_STREAMS = (2, 1)
"""Numbers that a state update x <- x + dx reads and writes: x and dx; x."""
RESIDUAL_STREAMS = (1, 1)
"""Numbers that it reads and writes besides where a residual is kept: 5 move in place of 3."""
CARRY_FLOPS = 6
"""Sums and differences of a residual carried whole, counted in `carried_update`."""


@dataclass(frozen=True)
class Work:
    """The work of a kernel's run, in whole numbers.

    Args:
        flops: floating-point + - * / and square roots; a fused multiply-add counts two.
        int_ops: the same operations of a fixed-point arithmetic; a product with its shift counts
            one, as VSCALE.I32 does, and so does a product with its sum, as VACC.I64 does.
        bytes_read, bytes_written: traffic with memory.
        special: elementary functions.

    Raises:
        InputError: something else than whole numbers >= 0.
    """

    flops: int = 0
    int_ops: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    special: int = 0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise InputError(
                    f"Work was given {field.name} = {value!r}; accepted: a whole number >= 0"
                )

    @classmethod
    def of_profile(cls, profile: Profile, backend: str | Backend) -> Work:
        """The work of a run that was profiled: `lift(kernel, backend).profile(*args)`."""
        return cls.of_counts(profile.operations, backend)

    @classmethod
    def of_counts(cls, counts: Mapping[str, int], backend: str | Backend) -> Work:
        """The work of counted operations, loads and stores of a lifted kernel.

        Args:
            counts: operation of the engine ("add", "mul", "exp", ...; "load", "store") -> how
                often a run did it.
            backend: the arithmetic; it decides how many bytes a number takes.

        Returns:
            A Work. Every load and store counts as traffic: what a cache would keep is not modelled.
        """
        roles = resolve_backend(backend)
        flops = int_ops = special = 0
        for row, count in ((operation_named(name), count) for name, count in counts.items()):
            if row.work is None:
                special += count
            elif getattr(roles, row.role or "compute").fixed:
                int_ops += count * row.work
            else:
                flops += count * row.work
        size = stored_bytes(backend)
        return cls(flops, int_ops, size * counts.get(LOAD, 0), size * counts.get(STORE, 0), special)

    def __add__(self, other: Work) -> Work:
        """The work of one kernel after the other."""
        if not isinstance(other, Work):
            return NotImplemented
        return Work(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def __mul__(self, times: int) -> Work:
        """The work of several runs of the kernel."""
        return Work(*(getattr(self, f.name) * times for f in fields(self)))

    __rmul__ = __mul__

    @property
    def operations(self) -> int:
        """All operations, elementary functions as their assumed number."""
        return self.flops + self.int_ops + FLOPS_PER_SPECIAL * self.special

    @property
    def bytes_moved(self) -> int:
        """Traffic with memory in both directions."""
        return self.bytes_read + self.bytes_written

    @property
    def intensity(self) -> float:
        """Operations per byte; infinite without traffic."""
        return self.operations / self.bytes_moved if self.bytes_moved else math.inf


def update_work(backend: str | Backend, count: int = 1, residuals: int = 0) -> Work:
    """State updates x <- x + dx of so many numbers, and of residuals that are carried with them.

    Args:
        backend: the arithmetic; it decides how many bytes a number takes.
        count: numbers of the state.
        residuals: how many of them have a residual.

    Returns:
        A Work. What a kernel reads back right after it wrote it (`carried_update` does so to see
        what storing lost) is not traffic here; `Work.of_counts` counts it, as it counts every load.
    """
    size = stored_bytes(backend)
    read, written = (
        size * (count * plain + residuals * per_residual)
        for plain, per_residual in zip(UPDATE_STREAMS, RESIDUAL_STREAMS, strict=True)
    )
    operations = count + CARRY_FLOPS * residuals
    is_fixed = resolve_backend(backend).compute.fixed
    return Work(operations * (not is_fixed), operations * is_fixed, read, written)


def stored_bytes(backend: str | Backend) -> int:
    """Bytes that a number of the storage format takes in memory: a power of two.

    Sign, exponent and stored significand: 4 for binary32, tf32 and mlu370, 2 for binary16, ...
    """
    fmt = resolve_backend(backend).storage.format
    if isinstance(fmt, FixedFormat):
        return _bytes_of(fmt.bits)
    bits = fmt.significand_bits + math.ceil(math.log2(fmt.emax - fmt.emin + 2))
    return _bytes_of(bits)


def _bytes_of(bits: int) -> int:
    """Bytes of the smallest word of 8, 16, 32 or 64 bits that holds that many bits."""
    return max(1, 2 ** math.ceil(math.log2(bits / 8)))
