"""Cost of compensation: an update with its residual against the same update without, in one run.

Both kernels of a case are timed in turns; the ratio is that of their shortest times, which other
work on the machine disturbs least. One thread, arrays in place where the model has them so.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.kernels import advect
from benchmarks.precision import machine
from sciprec.arrays.sums.compensation import add_with_carry, carried_update, plain_update
from sciprec.climate.stepping.levels import apply_increment, carry_increment
from sciprec.cost.work import RESIDUAL_STREAMS, UPDATE_STREAMS
from sciprec.precision import lift, resolve_backend
from sciprec.precision.registry import kernel

TITLE = "Cost of compensation"
CAPTION = "time of the compensated kernel over the uncompensated one, same arithmetic"
BACKENDS = ("fp32", "mlu370", "fp16", "bf16")
GOAL = 1.5


def _fields() -> tuple:
    rng = np.random.default_rng(2)
    q, u, v = rng.uniform(-1, 1, (3, 6, 7))
    return q, u, v, 0.3, 0.2, 0.05, 4.0, np.zeros((6, 7)), np.zeros((6, 7))


@kernel(example=_fields)
def carried_advect(q, u, v, cx, cy, diffusion, four, out, residual):
    """`advect` whose last addition, of the increment to q, is compensated.

    Args:
        q, u, v: fields (rows, columns).
        cx, cy, diffusion, four: numbers.
        out: (rows, columns), written.
        residual: (rows, columns), changed in place.
    """
    for i in range(1, q.shape[0] - 1):
        for j in range(1, q.shape[1] - 1):
            along = u[i, j] * (q[i, j + 1] - q[i, j - 1])
            across = v[i, j] * (q[i + 1, j] - q[i - 1, j])
            around = (q[i, j + 1] + q[i, j - 1]) + (q[i + 1, j] + q[i - 1, j]) - four * q[i, j]
            out[i, j] = q[i, j]
            step = diffusion * around - cx * along - cy * across
            add_with_carry(out[i], residual[i], j, step)


@dataclass(frozen=True)
class Case:
    """A pair of kernels and the makers of their arguments, (count, dtype) -> list.

    Args:
        name: in the table.
        plain, carried: the kernels.
        plain_arguments, carried_arguments: functions that make their arguments.
        streams: arrays that each reads or writes, an output that is not read counted twice.
    """

    name: str
    plain: Callable
    carried: Callable
    plain_arguments: Callable
    carried_arguments: Callable
    streams: tuple[int, int]


def _filled(count: int, dtype, *values: float) -> list[np.ndarray]:
    return [np.full(count, value, dtype) for value in values]


def _stencil(count: int, dtype, arrays: int) -> list:
    side = int(count**0.5)
    fields = [np.full((side, side), value, dtype) for value in (0.5, 0.25, 0.75)]
    scalars = [dtype.type(x) for x in (0.125, 0.125, 0.0625, 4.0)]
    return [*fields, *scalars, *(np.zeros((side, side), dtype) for _ in range(arrays))]


SMALL_STEP = 2.0**-12
CASES = (
    Case(
        "x += dx", plain_update, carried_update,
        lambda n, dtype: _filled(n, dtype, 1.0, SMALL_STEP),
        lambda n, dtype: _filled(n, dtype, 1.0, 0.0, SMALL_STEP),
        (sum(UPDATE_STREAMS), sum(UPDATE_STREAMS) + sum(RESIDUAL_STREAMS)),
    ),
    Case(
        "damped increment", apply_increment, carry_increment,
        lambda n, dtype: _filled(n, dtype, 1.0, SMALL_STEP, 0.125, 0.0),
        lambda n, dtype: _filled(n, dtype, 1.0, 0.0, SMALL_STEP, 0.125), (5, 6),
    ),
    Case(
        "stencil", advect, carried_advect,
        lambda n, dtype: _stencil(n, dtype, 1), lambda n, dtype: _stencil(n, dtype, 2), (5, 7),
    ),
)  # fmt: skip


def measure(
    small: bool = False, rounds: int = 15, say: Callable[[str], None] = lambda text: None
) -> dict:
    """Run the benchmark.

    Args:
        small: a quick run of tiny sizes (for tests; its ratios mean nothing).
        rounds: how often each kernel is timed.
        say: is told what is being measured.

    Returns:
        The machine, and per case and backend the seconds and the ratio, as plain data.
    """
    count = 1024 if small else 10**7
    results = []
    for case in CASES:
        for name in BACKENDS:
            say(f"{case.name} in {name}")
            results.append({"case": case.name, "backend": name, "elements": count}
                           | _pair(case, name, count, 2 if small else rounds))  # fmt: skip
    return {"benchmark": "compensation", "machine": machine(), "cases": results}


def _pair(case: Case, name: str, count: int, rounds: int) -> dict:
    """The shortest seconds of both kernels and their ratio."""
    backend = resolve_backend(name)
    calls = [
        (lift(kernel_, backend, trust_inputs=True), make(count, backend.carrier))
        for kernel_, make in (
            (case.plain, case.plain_arguments), (case.carried, case.carried_arguments)
        )
    ]  # fmt: skip
    for function, arguments in calls:
        function(*arguments)
    times = [[_seconds(*call) for call in calls] for _ in range(rounds)]
    plain, carried = (min(column) for column in zip(*times, strict=True))
    return {
        "plain_seconds": plain,
        "carried_seconds": carried,
        "ratio": carried / plain,
        "streams": case.streams[1] / case.streams[0],
    }


def _seconds(function: Callable, arguments: list) -> float:
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


def timings(result: dict) -> dict[str, float]:
    """Seconds of the compensated kernels, by name."""
    return {f"{one['case']}, {one['backend']}": one["carried_seconds"] for one in result["cases"]}


def tables(result: dict) -> dict[str, list[dict]]:
    """The table: one row per case, a column per arithmetic, the ratio of memory traffic."""
    table: dict[str, dict] = {}
    for entry in result["cases"]:
        row = table.setdefault(entry["case"], {"kernel": entry["case"]})
        row[entry["backend"]] = round(entry["ratio"], 2)
        row["memory traffic"] = round(entry["streams"], 2)
        row["goal"] = GOAL
    return {TITLE: list(table.values())}
