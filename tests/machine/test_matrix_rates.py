"""Modelled time of matrix units, by hand."""

import pytest

from sciprec.arrays.matrix_unit.unit import MatrixUnit
from sciprec.cost.matrix_rates import (
    MATRIX_MACHINES,
    LegendreWork,
    assumptions,
    kind_of,
    kind_there,
    seconds_modelled,
    speed_modelled,
)

WORK = LegendreWork(numbers=1e6, bytes=1e6, multiplications=1e6, field_numbers=1e4, fields=9)
A100, NPU, MLU370, DCU = (MATRIX_MACHINES[name] for name in ("a100", "npu", "mlu370", "dcu"))


def test_memory_bound_and_on_the_chip_by_hand():
    unit = MatrixUnit("int8", "int8", slices=3)
    assert seconds_modelled(unit, WORK, A100, on_chip=True) == 2e6 * 9 * 6 / 624e12
    assert seconds_modelled(unit, WORK, NPU) == (1e6 + 1e4 * 9 * 3) / 300e9
    assert speed_modelled(unit, WORK, A100, on_chip=True) == pytest.approx(2 / 6)
    assert speed_modelled(unit, WORK, MLU370, on_chip=True) == pytest.approx(256 / 96 / 6)
    half = MatrixUnit("fp16", "fp16")
    dense = LegendreWork(1e6, 2e6, 1e6, 1e4, 9)
    assert all(speed_modelled(half, dense, machine) == 1.0 for machine in MATRIX_MACHINES.values())
    slow = LegendreWork(1e6, 1e6, 1e9, 1e4, 9)
    assert seconds_modelled(half, slow, NPU) == 2e9 * 9 / 256e12


@pytest.mark.parametrize(
    ("table", "field", "kind"),
    [("int8", "int4", "int8"), ("int4", "int4", "int4"), ("int8", "fp16", "fp16"),
     ("e4m3fn", "e5m2", "fp8"), ("int4", "e4m3fn", "fp8"), ("bf16", "e4m3fn", "bf16")],
)  # fmt: skip
def test_kinds_of_products(table, field, kind):
    assert kind_of(MatrixUnit(table, field)) == kind


def test_what_a_machine_has_not_it_does_wider_or_not_at_all():
    assert kind_there("fp8", A100) == "fp16" and kind_there("int4", MLU370) == "int8"
    assert kind_there("tf32", NPU) is None
    assert speed_modelled(MatrixUnit("tf32", "tf32"), WORK, NPU) is None
    assert assumptions(A100, "int8") == []
    assert assumptions(NPU, "int8") == ["no figure is published: twice that of fp16"]
    assert "fp8 is multiplied in fp16" in assumptions(DCU, "fp8")
    for machine in MATRIX_MACHINES.values():
        assert set(machine.rates) <= {"tf32", "fp16", "bf16", "fp8", "int8", "int4"}
        assert {"fp16", "int8"} <= set(machine.rates)
