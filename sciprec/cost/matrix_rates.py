"""Modelled time of products on a matrix unit, from published peak rates; nothing is measured.

seconds = max(operations / rate, bytes / bandwidth)

Source: Williams, Waterman and Patterson (2009). Figures: see `MATRIX_MACHINES`.
"""

from __future__ import annotations

from dataclasses import dataclass

from sciprec.arrays.matrix_unit.unit import INTEGER_BITS, MatrixUnit
from sciprec.cost.peak_rates import MACHINES, Rate

_X8 = "vendor's announcement of the MLU370-X8 card, 2022-03-21"
_TENSOR = "NVIDIA, A100 Tensor Core GPU Architecture (2020), tensor cores, dense"
_TWICE = "no figure is published: twice that of fp16"
_SAME = "no figure is published: that of fp16"
_NPU = "described: an NPU with 256 TFLOPS in fp16 and 300 GB/s"
_MI60 = "no data sheet is published: AMD's of the Instinct MI60, which is of its family (gfx906)"


@dataclass(frozen=True)
class MatrixMachine:
    """Peak figures of a machine's matrix unit: bandwidth in bytes per second, and a rate in
    operations per second for each kind, tf32 fp16 bf16 fp8 int8 int4.

    Attributes:
        sparse: whether it skips the zeros of two numbers in four.
    """

    name: str
    title: str
    bandwidth: Rate
    rates: dict[str, Rate]
    sparse: bool = False


MATRIX_MACHINES = {
    m.name: m
    for m in (
        MatrixMachine(
            "mlu370", MACHINES["mlu370"].title, MACHINES["mlu370"].bandwidth,
            {"fp16": Rate(96e12, _X8), "bf16": Rate(96e12, _X8), "int8": Rate(256e12, _X8)},
        ),
        MatrixMachine(
            "a100", MACHINES["a100"].title, MACHINES["a100"].bandwidth,
            {
                "tf32": Rate(156e12, _TENSOR), "fp16": Rate(312e12, _TENSOR),
                "bf16": Rate(312e12, _TENSOR), "int8": Rate(624e12, _TENSOR),
                "int4": Rate(1248e12, _TENSOR),
            },
            sparse=True,
        ),
        MatrixMachine(
            "npu", "NPU", Rate(300e9, _NPU),
            {
                "fp16": Rate(256e12, _NPU), "bf16": Rate(256e12, _SAME, assumed=True),
                "int8": Rate(512e12, _TWICE, assumed=True),
            },
        ),
        MatrixMachine(
            "dcu", "DCU", Rate(1024e9, _MI60, assumed=True),
            {
                "fp16": Rate(29.5e12, _MI60, assumed=True),
                "bf16": Rate(29.5e12, _SAME, assumed=True),
                "int8": Rate(59e12, _MI60, assumed=True), "int4": Rate(118e12, _MI60, assumed=True),
            },
        ),
    )
}  # fmt: skip
"""Machines with a matrix unit. Where no figure of a machine itself is known, that is `assumed`."""

_WIDER = {"int4": "int8", "fp8": "fp16"}
"""Kind -> the kind that multiplies its numbers where a machine has none of its own."""
_KINDS = {"e4m3fn": "fp8", "e5m2": "fp8"}


@dataclass(frozen=True)
class LegendreWork:
    """The work of the Legendre stage in one tendency.

    Args:
        numbers: of the tables of synthesis and analysis together.
        bytes: that a unit keeps of them.
        multiplications: of a field in one direction and one product, zeros included.
        field_numbers: of a field in both domains, coefficients and Fourier coefficients.
        fields: to the grid and from it.
    """

    numbers: float
    bytes: float
    multiplications: float
    field_numbers: float
    fields: int


def kind_of(unit: MatrixUnit) -> str:
    """The kind of operations that a unit's products are: of integers the wider ones, of floats the
    field's or, beside an integer field, the table's; integers beside floats become such.
    """
    if unit.integers:
        return max((unit.table, unit.field), key=INTEGER_BITS.__getitem__)
    widths = [_KINDS.get(name, name) for name in unit.floats]
    return max(widths, key=("fp8", "bf16", "fp16", "tf32").index)


def kind_there(kind: str, machine: MatrixMachine) -> str | None:
    """The kind in which a machine multiplies, or None where it has none that is wide enough."""
    candidate: str | None = kind
    while candidate is not None and candidate not in machine.rates:
        candidate = _WIDER.get(candidate)
    return candidate


def seconds_modelled(
    unit: MatrixUnit, work: LegendreWork, machine: MatrixMachine, on_chip: bool = False
) -> float | None:
    """Modelled seconds of the Legendre products of a tendency; None where the machine has no rate.

    Args:
        unit: the formats.
        work: of the tendency.
        machine: of `MATRIX_MACHINES`.
        on_chip: whether tables and fields are there already, so that nothing is read.
    """
    kind = kind_there(kind_of(unit), machine)
    if kind is None:
        return None
    operations, moved = operations_and_bytes(unit, work)
    skipped = 0.5 if unit.sparse and machine.sparse else 1.0
    multiplying = skipped * operations / machine.rates[kind].per_second
    if on_chip:
        return multiplying
    return max(multiplying, moved / machine.bandwidth.per_second)


def operations_and_bytes(unit: MatrixUnit, work: LegendreWork) -> tuple[float, float]:
    """Products and sums of a tendency, zeros included, and the bytes of tables and fields that are
    read and written for them, tables once.
    """
    operations = 2.0 * work.multiplications * work.fields * unit.products
    fields = work.field_numbers * work.fields * _BYTES[unit.field] * unit.slices
    return operations, work.bytes + fields


def ridge_of(unit: MatrixUnit, machine: MatrixMachine) -> float | None:
    """Operations a byte at which a unit's products and its memory take the same time on a machine;
    None where that has no rate.
    """
    kind = kind_there(kind_of(unit), machine)
    if kind is None:
        return None
    skipped = 0.5 if unit.sparse and machine.sparse else 1.0
    return machine.rates[kind].per_second / skipped / machine.bandwidth.per_second


_BYTES = {
    "int8": 1.0, "int4": 0.5, "fp16": 2.0, "bf16": 2.0, "tf32": 4.0, "e4m3fn": 1.0, "e5m2": 1.0,
}  # fmt: skip


def speed_modelled(
    unit: MatrixUnit, work: LegendreWork, machine: MatrixMachine, on_chip: bool = False
) -> float | None:
    """The speed relative to products of fp16 by fp16 on the same machine, modelled; None where the
    machine has no rate.
    """
    half = MatrixUnit("fp16", "fp16")
    plain = LegendreWork(
        work.numbers, 2.0 * work.numbers, work.multiplications, work.field_numbers, work.fields
    )
    time, theirs = (
        seconds_modelled(u, w, machine, on_chip) for u, w in ((unit, work), (half, plain))
    )
    return None if time is None or theirs is None else theirs / time


def assumptions(machine: MatrixMachine, kind: str) -> list[str]:
    """Assumptions of an estimate besides the machine's own published figures."""
    used_kind = kind_there(kind, machine)
    used = [machine.bandwidth] + ([machine.rates[used_kind]] if used_kind else [])
    sources = [rate.source for rate in used if rate.assumed]
    if used_kind is not None and used_kind != kind:
        sources.append(f"{kind} is multiplied in {used_kind}")
    return list(dict.fromkeys(sources))
