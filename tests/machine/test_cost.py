"""The modelled cost: two ceilings, computed by hand, and the word that must never be missing."""

import numpy as np
import pytest

from sciprec import machine
from sciprec.arrays.sums import compensation
from sciprec.cost.peak_rates import table
from sciprec.cost.work import FLOPS_PER_SPECIAL, stored_bytes, update_work
from sciprec.foundation.errors import InputError
from sciprec.machine import MACHINES, Work, roofline
from sciprec.precision import lift
from sciprec.precision.operations.operation import OPERATIONS

ADDITION = Work(flops=1, bytes_read=8, bytes_written=4)  # c = a + b, per element of binary32


def test_the_figures_are_the_vendors_and_what_is_described_stands_beside_them():
    """The description: 24 against 19.5 TFLOP/s, 1.2 against 2.0 TB/s; the vendor: 614.4 GB/s."""
    mlu370, a100 = MACHINES["mlu370"], MACHINES["a100"]
    assert (mlu370.rates["mlu370"].per_second, mlu370.bandwidth.per_second) == (24e12, 614.4e9)
    assert mlu370.described_bandwidth.per_second == 1.2e12 and a100.described_bandwidth is None
    assert (a100.rates["fp32"].per_second, a100.bandwidth.per_second) == (19.5e12, 2.0e12)
    for found in MACHINES.values():
        assert all(rate.source for rate in (found.bandwidth, *found.rates.values()))


def test_memory_bound_by_hand():
    found = roofline(10**9 * ADDITION, "mlu370", "mlu370")
    assert found.seconds_modelled == 12e9 / 614.4e9
    assert found.seconds_described_modelled == 12e9 / 1.2e12 == 0.01
    assert found.compute_seconds_modelled == 1e9 / 24e12
    assert (found.bound, found.intensity) == ("memory", 1 / 12)
    assert found.ridge == pytest.approx(24e12 / 614.4e9, rel=1e-15)
    a100 = roofline(10**9 * ADDITION, "a100", "fp32")
    assert a100.seconds_modelled == 12e9 / 2.0e12
    assert a100.seconds_described_modelled is None
    assert found.times(a100) == pytest.approx(2.0 / 0.6144, rel=1e-15)
    assert "0.0195 s (modelled" in str(found) and "described bandwidth of 1.2 TB/s" in str(found)
    assert "; 0.01 s with" in str(found) and "described" not in str(a100)


def test_compute_bound_by_hand():
    product = Work(flops=2 * 1024**3, bytes_read=8 * 1024**2, bytes_written=4 * 1024**2)
    found = roofline(product, "a100", "fp32")
    assert found.seconds_modelled == 2 * 1024**3 / 19.5e12
    assert (found.bound, found.ridge) == ("compute", pytest.approx(9.75, rel=1e-15))
    assert found.assumptions == ()


def test_kinds_of_operations_add_up():
    work = Work(flops=10**12, int_ops=10**12, bytes_read=1)
    mixed = roofline(work, "mlu370", "mix-fp32-fix16")
    assert mixed.compute_seconds_modelled == 1e12 / 24e12 + 1e12 / 128e12
    whole = roofline(Work(int_ops=10**12), "mlu370", "fixed32")
    assert whole.compute_seconds_modelled == 1e12 / 24e12
    assert whole.assumptions == (
        "a rate of 24 Top/s for integers (no figure is published: that of its float)",
    )
    assert roofline(work, "a100", "fixed32").compute_seconds_modelled == 2e12 / 19.5e12


def test_elementary_functions_count_as_stated_and_no_work_takes_no_time():
    found = roofline(Work(flops=5, special=3), "mlu370", "mlu370-noguard")
    assert found.compute_seconds_modelled == (5 + 3 * FLOPS_PER_SPECIAL) / 24e12
    nothing = roofline(Work())
    assert (nothing.seconds_modelled, nothing.ridge, nothing.bound) == (0.0, 0.0, "memory")
    assert Work(flops=1).intensity == float("inf") and (3 * ADDITION).bytes_moved == 36
    assert ADDITION + ADDITION == 2 * ADDITION == ADDITION * 2
    assert f"counts as {FLOPS_PER_SPECIAL} operations" in found.assumptions[0]


def test_counts_of_a_lifted_kernel_become_work():
    counts = {"add": 6, "iadd": 1, "mul": 5, "fma": 3, "neg": 9, "exp": 2, "load": 10, "store": 4}
    floats = Work.of_counts(counts, "mlu370")
    assert floats == Work(flops=18, bytes_read=40, bytes_written=16, special=2)
    whole = Work.of_counts(counts, "fixed16")
    assert whole == Work(int_ops=18, bytes_read=20, bytes_written=8, special=2)
    mixed = Work.of_counts({"product": 6, "accumulate": 6, "mul": 1, "call": 9}, "mix-fp32-fix16")
    assert mixed == Work(flops=7, int_ops=6)


def test_compensation_costs_what_is_counted():
    n = 100
    state, residual, step = np.ones(n), np.zeros(n), np.full(n, 1e-6)
    plain = lift(compensation.plain_update, "mlu370").profile(state, step)
    carried = lift(compensation.carried_update, "mlu370").profile(state, residual, step)
    by_name = machine.modelled(compensation.plain_update, state, step)
    assert by_name == roofline(Work.of_profile(plain, "mlu370"))
    one, two = (Work.of_profile(p, "mlu370") for p in (plain, carried))
    assert one == n * Work(flops=1, bytes_read=8, bytes_written=4)
    # the state is read back after it was written, which is no traffic with memory
    read_back = n * Work(bytes_read=4)
    assert one == update_work("mlu370", n)
    assert two == update_work("mlu370", n, residuals=n) + read_back


def test_every_operation_of_the_engine_has_a_place():
    work = {row.name: row.work for row in OPERATIONS.values()}
    special = {name for name, count in work.items() if count is None}
    assert {"exp", "log", "sin", "pow", "atan2", "erf"} <= special
    assert [work[name] for name in ("add", "div", "fma", "product", "neg", "enter")] == [
        1, 1, 2, 1, 0, 0
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("backend", "size"),
    [("fp64", 8), ("fp32", 4), ("mlu370", 4), ("tf32", 4), ("fp16", 2), ("bf16", 2)]
    + [("e4m3fn", 1), ("e5m2", 1), ("fixed32", 4), ("fixed16", 2), ("float:p=20,emax=400", 4)],
)
def test_bytes_of_a_number(backend, size):
    assert stored_bytes(backend) == size


@pytest.mark.parametrize(("name", "backend"), [("mlu370", "mlu370"), ("a100", "fp32")])
def test_every_number_says_that_it_is_modelled(name, backend):
    found = roofline(ADDITION, name, backend)
    assert "modelled" in found.label
    assert "modelled" in str(found)
    assert "modelled" in table([found]).splitlines()[0]
    times = [key for key in found.as_row() if "seconds" in key]
    assert len(times) == 4 and all(key.endswith("_modelled") for key in times)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: roofline(ADDITION, "mlu270"), "unknown machine 'mlu270'; known: mlu370, a100; di"),
        (lambda: roofline(ADDITION, "mlu370", "fp64"), "the MLU370 has no rate for 'fp64' operati"),
        (
            lambda: roofline(ADDITION, "a100", "mlu370"),
            "has no rate for 'mlu370' operations, which",
        ),
        (lambda: roofline(ADDITION, backend="e5m2"), "no machine has a published rate for backend"),
        (lambda: roofline(ADDITION, backend="fp23"), "unknown backend 'fp23'"),
        (lambda: Work(flops=1.5), "Work was given flops = 1.5; accepted: a whole number >= 0"),
        (lambda: Work(special=-1), "Work was given special = -1; accepted: a whole number >= 0"),
    ],
)
def test_messages(call, words):
    with pytest.raises(InputError) as caught:
        call()
    assert words in str(caught.value)
