"""What writing the scheme in increments gains, on the same random numbers."""

import numpy as np

from data.heston import as_printed
from sciprec.heston.simulation.paths import Block


def test_in_binary64_both_forms_are_the_same_scheme():
    for model, option, n_steps in as_printed.cases().values():
        n_steps = min(n_steps, 32)
        given = {"step_years": option.maturity / n_steps, "n_steps": n_steps, "seed": 3}
        printed, ours = (
            simulate(model, Block(0, 128), backend="fp64", **given)
            for simulate in (as_printed.printed_log_ratio, as_printed.increments_log_ratio)
        )
        np.testing.assert_allclose(printed, ours, atol=1e-10)


def test_increments_lose_much_less(backend="fp16", gain=50):
    """Seen with 2^13 paths: 2.2 % of the price against 0.011 %."""
    model, option, n_steps = as_printed.cases()["Lewis, 256 steps"]
    row = as_printed.rounding_row("Lewis", model, option, backend, n_steps=n_steps, n_paths=2**11)
    assert abs(row.printed) > gain * (abs(row.increments) + 2 * row.increments_error)
    assert abs(row.printed) > 5 * row.printed_error


def test_table():
    row = as_printed.RoundingRow("x", "bf16", -2.0, 0.01, 1e-3, 1e-4)
    assert as_printed.markdown([row]).splitlines()[-1] == (
        "| x | `bf16` | -2e+02 ± 1 % | +0.1 ± 0.01 % |"
    )
