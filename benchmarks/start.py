"""The first start: what compiling costs where the cache folder is empty, and the second process.

Every figure is of a process of its own, begun by this one and measured by the operating system:
processor seconds of it and of the processes that it begins, and seconds of wall.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

TITLE = "First start"
CAPTION = "seconds; cold: with an empty cache folder; again: the next process, which finds it full"
BACKENDS = ("fp64", "mlu370", "fp16", "fixed32")
MODEL = {
    "spot": 100.0, "v0": 0.04, "kappa": 4.0, "theta": 0.25, "sigma": 1.0, "rho": -0.5,
    "rate": 0.01, "dividend_yield": 0.02,
}  # fmt: skip


def advection_step(q, u, v, cx, cy, k, out):
    """One step of advection and diffusion on a plane, its rows periodic, and its largest rate."""
    rows, columns = q.shape
    largest = 0.0
    for i in range(1, rows - 1):
        for j in range(columns):
            left, right = j - 1, j + 1
            if left < 0:
                left = columns - 1
            if right == columns:
                right = 0
            along = u[i, j] * (q[i, right] - q[i, left])
            across = v[i, j] * (q[i + 1, j] - q[i - 1, j])
            around = q[i, right] + q[i, left] + q[i + 1, j] + q[i - 1, j] - 4.0 * q[i, j]
            rate = k * around - cx * along - cy * across
            if abs(rate) > largest:
                largest = abs(rate)
            out[i, j] = q[i, j] + rate
    return largest


def _kernel(backend: str) -> None:
    from sciprec import lift

    rng = np.random.default_rng(1)
    q, u, v = rng.uniform(-1, 1, (3, 64, 64))
    lift(advection_step, backend)(q, u, v, 0.3, 0.2, 0.05, np.zeros_like(q))


def _price(backend: str) -> None:
    from sciprec import heston

    option = heston.Call(strike=100.0, maturity=1.0)
    heston.price(heston.Model(**MODEL), option, backend=backend, tolerance=0.02)


def _shallow_water(backend: str) -> None:
    from sciprec.climate import integrate

    integrate("williamson_5", "T42", 1 / 24, step_seconds=1200.0, output_hours=1.0, backend=backend)


def _held_suarez(backend: str) -> None:
    from sciprec.climate import integrate

    integrate(
        "held_suarez", "T21", 2 / 24, output_hours=2.0, parameters={"levels": 10}, backend=backend
    )


def _nothing(backend: str) -> None:
    import sciprec

    sciprec.lift  # noqa: B018


STARTS: dict[str, Callable[[str], None]] = {
    "import only": _nothing,
    "a kernel of 20 lines": _kernel,
    "a price": _price,
    "shallow water T42": _shallow_water,
    "Held-Suarez T21L10": _held_suarez,
}
QUICKSTART = "sciprec quickstart"


@dataclass(frozen=True)
class Cost:
    """The time of a process: processor seconds of it and its children, and seconds of wall."""

    processor: float
    wall: float


def cost(command: list[str], cache: Path) -> Cost:
    """Run a command with a cache folder and take its time.

    Raises:
        RuntimeError: the command failed.
    """
    environment = os.environ | {"SCIPREC_CACHE_DIR": str(cache)}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode > 1 or done.returncode and command[1] == "-c":
        raise RuntimeError(f"{' '.join(command)} failed: {done.stderr.strip()[-300:]}")
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(spent, wall)


def _command(name: str, backend: str, folder: Path) -> list[str]:
    if name == QUICKSTART:
        return [sys.executable, "-m", "sciprec", "quickstart", "--out", str(folder)]
    call = f"from benchmarks.start import STARTS; STARTS[{name!r}]({backend!r})"
    return [sys.executable, "-c", call]


def measure(small: bool = False, say: Callable[[str], None] = lambda text: None) -> dict:
    """Run the benchmark.

    Args:
        small: only the first rows (for tests).
        say: is told what is being measured.

    Returns:
        The machine, and what each start cost, cold and again, as plain data.
    """
    from benchmarks.precision import machine  # no process that is measured imports it

    starts = [(name, b) for name in STARTS for b in (BACKENDS if name != "import only" else ("",))]
    starts = starts[:2] if small else [*starts, (QUICKSTART, "")]
    results = []
    for name, backend in starts:
        say(" ".join([name, backend]))
        with tempfile.TemporaryDirectory() as folder:
            cold, again = (
                cost(_command(name, backend, Path(folder) / turn), Path(folder) / "cache")
                for turn in ("cold", "again")
            )
        results.append(
            {"start": name, "backend": backend, "cold": vars(cold), "again": vars(again)}
        )
    return {"benchmark": "start", "machine": machine(), "starts": results}


def timings(result: dict) -> dict[str, float]:
    """Processor seconds of each start, by name."""
    return {
        f"{' '.join([one['start'], one['backend']]).strip()}, {turn}": one[turn]["processor"]
        for one in result["starts"] for turn in ("cold", "again")
    }  # fmt: skip


def tables(result: dict) -> dict[str, list[dict]]:
    """The table: one row per start and arithmetic."""
    rows = [
        {
            "start": " ".join([entry["start"], entry["backend"]]).strip(),
            **{
                f"{turn}: {kind}": f"{entry[turn][kind]:.1f}"
                for turn in ("cold", "again")
                for kind in ("processor", "wall")
            },
        }
        for entry in result["starts"]
    ]
    return {TITLE: rows}
