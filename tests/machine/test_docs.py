"""The page about the machine: its example gives the stated results, its tables are the code's."""

import re
from pathlib import Path

from sciprec.machine import MACHINES, modes, roofline
from sciprec.machine.work import update_work

PAGE = (Path(__file__).parents[2] / "docs" / "machine.md").read_text(encoding="utf-8")


def test_the_example_gives_what_it_says():
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    names: dict = {}
    setup = [line for line in block.splitlines() if "#" not in line]
    exec("\n".join(setup), names)
    stated = [line.split("#") for line in block.splitlines() if "#" in line]
    assert len(stated) == 4
    for expression, result in stated:
        assert eval(expression, names) == eval(result), expression


def test_the_table_of_modes_is_the_one_in_force():
    rows = dict(re.findall(r"^\| `(\w+)` \| `([\w-]+)`", PAGE, flags=re.MULTILINE))
    assert {mode: rows.get(mode) for mode in modes.MODES} == modes.MODES
    assert all(f"`{name}`" in PAGE for name in modes.VARIABLES)


def test_the_table_of_figures_is_the_one_that_is_used():
    mlu370, a100 = MACHINES["mlu370"], MACHINES["a100"]
    rows = re.findall(
        r"^\| ([\w -]+(?: \([\w -]+\))?) \| ([\d.]+)[^|]*\| ([\d.]+)", PAGE, flags=re.MULTILINE
    )
    found = {name: (float(left), float(right)) for name, left, right in rows}
    assert found.pop("its 32-bit float (also beside fixed point)") == (
        mlu370.rates["mlu370"].per_second / 1e12, a100.rates["fp32"].per_second / 1e12,
    )  # fmt: skip
    bandwidths = mlu370.bandwidth.per_second / 1e12, a100.bandwidth.per_second / 1e12
    assert found.pop("memory") == bandwidths
    assert f"{mlu370.described_bandwidth.per_second / 1e12:g} TB/s" in PAGE
    assert set(found) == {"fp16", "bf16", "int16", "int32"}
    for name, figures in found.items():
        assert figures == tuple(m.rates[name].per_second / 1e12 for m in (mlu370, a100))


def test_the_table_of_updates_is_the_model():
    n, rows = 10**7, re.findall(r"^\| (?:x ←|the same, c).*\|$", PAGE, flags=re.MULTILINE)
    for row, residuals in zip(rows, (0, n), strict=True):
        work = update_work("mlu370", n, residuals)
        mlu370, a100 = roofline(work), roofline(update_work("fp32", n, residuals), "a100", "fp32")
        times = mlu370.seconds_modelled, mlu370.seconds_described_modelled, a100.seconds_modelled
        vendors, described, other = (f"{1e6 * seconds:.0f} µs" for seconds in times)
        assert f"| {work.flops // n} | {work.bytes_moved // n} | " in row
        assert row.endswith(f"| {vendors} ({described}) | {other} |")
