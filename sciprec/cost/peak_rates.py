"""A modelled cost: the roofline of a kernel on a machine, from published peak figures.

seconds = max(operations / rate, bytes / bandwidth)

Nothing here is measured: every result says so in its name, its text and its rows, and no result is
ever put beside measured time without that word. Where two bandwidths are stated, the estimate is
made with the vendor's, and the time with the other is given beside it.

Source: Williams, Waterman and Patterson (2009), "Roofline: an insightful visual performance model".
    Figures: see the table `MACHINES`.
Differs from the source: one ceiling for memory and one for each kind of operation; operations of
    different kinds are taken one after the other, because nothing is published about overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from sciprec.cost.work import FLOPS_PER_SPECIAL, SPECIAL_ASSUMPTION, Work
from sciprec.foundation.errors import InputError, meant
from sciprec.precision.formats.backend import Backend, HandedBackend, resolve_backend
from sciprec.precision.formats.fixed_format import FixedFormat
from sciprec.precision.lifting.lifting import lift


@dataclass(frozen=True)
class Rate:
    """A peak rate in operations per second, with its source; `assumed` where none is published."""

    per_second: float
    source: str
    assumed: bool = False


@dataclass(frozen=True)
class Machine:
    """Peak figures of a machine: bandwidth in bytes per second, and a rate per kind of operation.

    Kinds: mlu370 fp64 fp32 fp16 bf16 for floats, int32 int16 for fixed point. A kind that is left
    out cannot be computed there; `own_float` is the one of 32 bits; `described_bandwidth` is one
    that is stated elsewhere, where it differs from the vendor's.
    """

    name: str
    title: str
    own_float: str
    bandwidth: Rate
    rates: dict[str, Rate]
    described_bandwidth: Rate | None = None


_DESCRIPTION = "described: a technical article on the MLU370's float loss (docs/explain/machine.md)"
_X8 = "vendor's announcement of the MLU370-X8 card, 2022-03-21"
_AMPERE = "NVIDIA, A100 Tensor Core GPU Architecture (2020), without tensor cores"
_A100_80GB = "NVIDIA, data sheet of the A100 with 80 GB: 1.9 to 2.0 TB/s; described as 2.0"

MACHINES = {
    m.name: m
    for m in (
        Machine(
            "mlu370",
            "MLU370",
            "mlu370",
            Rate(614.4e9, _X8),
            {
                "mlu370": Rate(24e12, _DESCRIPTION),
                "fp16": Rate(96e12, _X8),
                "bf16": Rate(96e12, _X8),
                "int16": Rate(128e12, _X8),
                "int32": Rate(24e12, "no figure is published: that of its float", assumed=True),
            },
            Rate(1.2e12, _DESCRIPTION),
        ),
        Machine(
            "a100",
            "A100",
            "fp32",
            Rate(2.0e12, _A100_80GB),
            {
                "fp64": Rate(9.7e12, _AMPERE),
                "fp32": Rate(19.5e12, _AMPERE),
                "fp16": Rate(78e12, _AMPERE),
                "bf16": Rate(39e12, _AMPERE),
                "int32": Rate(19.5e12, _AMPERE),
                "int16": Rate(19.5e12, "no figure is published: that of int32", assumed=True),
            },
        ),
    )
}
"""Peak figures: the vendor's where it publishes them. Of the MLU370's bandwidth there are two, the
vendor's 614.4 GB/s and the described 1.2 TB/s, with which memory-bound kernels take half as long.
"""

_FLOAT_KINDS = {
    "binary64": "fp64",
    "binary32": "fp32",
    "binary16": "fp16",
    "bfloat16": "bf16",
    "mlu370": "mlu370",
}
"""Format -> kind of its operations."""


@dataclass(frozen=True)
class RooflineEstimate:
    """A modelled time; not a measurement.

    Args:
        machine, backend: what was asked for.
        work: what was counted.
        compute_seconds_modelled: operations at their peak rates, one kind after the other.
        memory_seconds_modelled: traffic at the vendor's peak bandwidth.
        ridge: operations per byte at which both would take the same time; 0 without operations.
        assumptions: what entered besides published figures, one phrase each.
        memory_seconds_described_modelled: traffic at the described bandwidth, where there is one.
    """

    machine: str
    backend: str
    work: Work
    compute_seconds_modelled: float
    memory_seconds_modelled: float
    ridge: float
    assumptions: tuple[str, ...] = ()
    memory_seconds_described_modelled: float | None = None

    @property
    def seconds_modelled(self) -> float:
        """The larger of the two."""
        return max(self.compute_seconds_modelled, self.memory_seconds_modelled)

    @property
    def seconds_described_modelled(self) -> float | None:
        """The seconds with the described bandwidth; None where the machine has no such figure."""
        if self.memory_seconds_described_modelled is None:
            return None
        return max(self.compute_seconds_modelled, self.memory_seconds_described_modelled)

    @property
    def bound(self) -> str:
        """compute or memory: which of the two is larger."""
        compute_is_larger = self.compute_seconds_modelled > self.memory_seconds_modelled
        return "compute" if compute_is_larger else "memory"

    @property
    def intensity(self) -> float:
        """Operations per byte."""
        return self.work.intensity

    @property
    def label(self) -> str:
        """The name of the number, for tables and figures."""
        title = MACHINES[self.machine].title
        return f"modelled by roofline: {self.backend} on the {title}, {self.bound}-bound"

    def times(self, other: RooflineEstimate) -> float:
        """Modelled time as a multiple of another modelled time."""
        return self.seconds_modelled / other.seconds_modelled

    def as_row(self) -> dict:
        """The estimate as plain data; every time says in its key that it is modelled."""
        names = (
            "label", "machine", "backend", "seconds_modelled", "compute_seconds_modelled",
            "memory_seconds_modelled", "seconds_described_modelled", "bound", "intensity", "ridge",
        )  # fmt: skip
        return {name: getattr(self, name) for name in names} | {
            "operations": self.work.operations, "bytes": self.work.bytes_moved,
            "assumptions": list(self.assumptions),
        }  # fmt: skip

    def __str__(self) -> str:
        assumed = "".join(f"; assumed: {a}" for a in self.assumptions)
        other = MACHINES[self.machine].described_bandwidth
        beside = ""
        if other is not None:
            beside = (
                f"; {self.seconds_described_modelled:.3g} s with the described bandwidth of "
                f"{other.per_second / 1e12:g} TB/s"
            )
        return (
            f"{self.seconds_modelled:.3g} s ({self.label}; {self.intensity:.3g} operations per "
            f"byte, ridge {self.ridge:.3g}{beside}{assumed})"
        )


Estimate = RooflineEstimate  # its name in older pickles


def roofline(
    work: Work, machine: str = "mlu370", backend: str | Backend = "mlu370"
) -> RooflineEstimate:
    """The modelled time of some work on a machine at its published peak rates.

    max(flops / float rate + int_ops / integer rate, bytes / the vendor's bandwidth)

    Args:
        work: operations and bytes.
        machine: "mlu370" or "a100".
        backend: the arithmetic; it decides which rates hold.

    Returns:
        A RooflineEstimate, whose text and rows say "modelled".

    Raises:
        InputError: unknown machine; an arithmetic that the machine does not have.

    Source: Williams, Waterman and Patterson (2009).
    """
    row, resolved = _machine(machine), resolve_backend(backend)
    resolved.require_taken_by("a model of cost")
    kinds = _kinds(resolved, row)
    counts = (work.flops + FLOPS_PER_SPECIAL * work.special, work.int_ops)
    used = [
        (count, _rate(row, resolved.name, kind))
        for count, kind in zip(counts, kinds, strict=True)
        if count > 0
    ]
    compute = sum(count / rate.per_second for count, rate in used)
    memory = work.bytes_moved / row.bandwidth.per_second
    bandwidth = row.described_bandwidth
    described = None if bandwidth is None else work.bytes_moved / bandwidth.per_second
    ridge = work.operations / (compute * row.bandwidth.per_second) if used else 0.0
    assumptions = tuple(_assumptions(work, [rate for _, rate in used]))
    return RooflineEstimate(
        row.name, resolved.name, work, compute, memory, ridge, assumptions, described
    )


def modelled(
    kernel: Callable, *args: Any, backend: str | Backend = "mlu370", machine: str = "mlu370"
) -> RooflineEstimate:
    """The roofline estimate of a kernel, from the operations that the engine counts in a run.

    Args:
        kernel: a plain Python kernel, or an `@njit` function.
        args: its arguments; the run is made on copies of them, in binary64.
        backend, machine: as in `roofline`.

    Returns:
        A RooflineEstimate.

    Raises:
        LiftError: the kernel cannot be lifted or profiled.
        InputError: as in `roofline`.
    """
    profile = lift(kernel, backend).profile(*args)
    return roofline(Work.of_profile(profile, backend), machine, backend)


def relative_seconds(formats: Iterable[str], machine: str) -> list[float] | None:
    """Modelled seconds of an operation in each format at a machine's published rates; None where it
    has none for one of them.
    """
    row, seconds = _machine(machine), []
    for name in formats:
        kind = _FLOAT_KINDS.get(resolve_backend(name).compute.format.name)
        if kind not in row.rates:
            return None
        seconds.append(1.0 / row.rates[kind].per_second)
    return seconds


def table(estimates: Iterable[RooflineEstimate]) -> str:
    """Estimates as lines of text under a heading."""
    lines = ["modelled by roofline from published peak figures; not measured"]
    lines += [f"  {estimate}" for estimate in estimates]
    return "\n".join(lines)


def _machine(name: str) -> Machine:
    """The row of a machine."""
    if name not in MACHINES:
        names = ", ".join(MACHINES)
        raise InputError(f"unknown machine '{name}'; known: {names}{meant(name, MACHINES)}")
    return MACHINES[name]


def _kinds(backend: Backend, machine: Machine) -> tuple[str, str]:
    """The kinds of a backend's float and integer operations.

    Floats beside fixed point are the machine's own 32-bit ones.
    """
    formats = backend.compute.format, backend.matmul.format
    bits = [fmt.bits for fmt in formats if isinstance(fmt, FixedFormat)]
    if bits:
        return machine.own_float, "int16" if min(bits) <= 16 else "int32"
    kind = _FLOAT_KINDS.get(backend.compute.format.name)
    if isinstance(backend, HandedBackend):
        raise InputError(
            f"backend '{backend.name}' has formats by place; a modelled time is that of one format"
        )
    if kind is None:
        raise InputError(
            f"no machine has a published rate for backend '{backend.name}'; accepted: fixed point, "
            f"and the formats {', '.join(_FLOAT_KINDS)}"
        )
    return kind, "int32"


def _rate(machine: Machine, backend: str, kind: str) -> Rate:
    """The rate of one kind of operation."""
    if kind not in machine.rates:
        raise InputError(
            f"the {machine.title} has no rate for '{kind}' operations, which backend '{backend}' "
            f"needs; it has: {', '.join(machine.rates)}"
        )
    return machine.rates[kind]


def _assumptions(work: Work, rates: Iterable[Rate]) -> Iterable[str]:
    """Assumptions of an estimate besides published figures."""
    if work.special:
        yield SPECIAL_ASSUMPTION
    for rate in rates:
        if rate.assumed:
            yield f"a rate of {rate.per_second / 1e12:g} Top/s for integers ({rate.source})"
