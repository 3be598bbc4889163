"""The Legendre stage with all blocks of its tables, and without those below the rounding.

A round times the synthesis and the analysis of eight fields with whole tables and with those of the
model, one after the other, the order turned from round to round; processor time, one thread.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sciprec.climate.transform.compiled import compiled
from sciprec.climate.transform.grid import Truncation, resolve_truncation
from sciprec.climate.transform.legendre_stage import legendre_analysis, legendre_synthesis
from sciprec.climate.transform.spectral import make_work, rounded, tables_in
from sciprec.precision import Backend, resolve_backend

TRUNCATIONS = ("T42", "T85", "T170")
BACKENDS = ("fp32", "fp64")
FIELDS = 8
GOAL = {("T170", "fp32"): "<= 0.88"}
"""Time without the blocks that are left out, as a part of that with all."""
WAYS = ("synthesis", "analysis")
SECONDS = 0.02
"""of one measurement"""


def measure_blocks(small: bool, rounds: int, say: Callable[[str], None]) -> list[dict]:
    """Rows, for each truncation and arithmetic: `left_out`, the share of blocks of synthesis and
    analysis; `whole` and `without`, least and median seconds of both; `least` and `median`, the
    ratio of the least and the median of the rounds' ratios; `errors`, of both with all blocks and
    without, against binary64, as a part of the largest number.
    """
    rows = []
    for name in ("T10",) if small else TRUNCATIONS:
        for backend in BACKENDS:
            say(f"Legendre stage at {name} in {backend}, with all blocks and without")
            stage = LegendreStage(resolve_truncation(name), resolve_backend(backend))
            took = stage.seconds(1 if small else 4 * rounds, 1e-4 if small else SECONDS)
            whole, without = took["whole"], took["without"]
            rows.append({
                "truncation": name, "backend": backend, "left_out": stage.left_out,
                "whole": {"least": min(whole), "median": statistics.median(whole)},
                "without": {"least": min(without), "median": statistics.median(without)},
                "least": min(without) / min(whole),
                "median": statistics.median(
                    b / a for a, b in zip(whole, without, strict=True)
                ),
                "errors": {kind: stage.errors(kind) for kind in took},
            })  # fmt: skip
    return rows


@dataclass
class LegendreStage:
    """The stage of random fields in an arithmetic.

    Args:
        truncation, backend: of the stage.
    """

    truncation: Truncation
    backend: Backend

    def __post_init__(self) -> None:
        row, backend = self.truncation, self.backend
        self._tables = {
            kind: tuple(table for table, _ in tables_in(row, backend, kind == "whole"))
            for kind in ("whole", "without")
        }
        self.left_out = [
            1.0 - less[0].size / full[0].size
            for less, full in zip(self._tables["without"], self._tables["whole"], strict=True)
        ]
        rng, size = np.random.default_rng(1), (row.number + 1) * (row.number + 4) // 2
        self._fourier, weights, sums, _ = make_work(row, FIELDS, backend.carrier)
        self._work = weights, sums
        self._given = (
            rounded(rng.uniform(-1, 1, (size, 2 * FIELDS)), backend),
            rounded(rng.uniform(-1, 1, self._fourier.shape), backend),
        )
        self._spectrum = np.zeros_like(self._given[0])
        self._kernels = [compiled(k, backend) for k in (legendre_synthesis, legendre_analysis)]

    def run(self, kind: str) -> tuple[np.ndarray, np.ndarray]:
        """Synthesis and analysis with `whole` tables or `without` what is left out."""
        out = self._fourier, self._spectrum
        for way in range(len(WAYS)):
            table = self._tables[kind][way]
            self._kernels[way](self._given[way], table, *self._work, out[way])
        return out

    def seconds(self, rounds: int, least: float) -> dict[str, list[float]]:
        """Processor time of both by kind, for each round; a measurement takes so long at least."""
        took: dict[str, list[float]] = {kind: [] for kind in self._tables}
        kinds = list(took)
        for kind in kinds:
            self.run(kind)
        repeats = max(1, int(least / max(self._timed(kinds[0], 1), 1e-6)))
        for _ in range(rounds):
            for kind in kinds:
                took[kind].append(self._timed(kind, repeats))
            kinds.reverse()
        return took

    def errors(self, kind: str) -> list[float]:
        """Largest errors of both, as a part of the largest number, against whole tables in
        binary64, given the same numbers.
        """
        found = [x.astype(np.float64) for x in self.run(kind)]
        exact = LegendreStage(self.truncation, resolve_backend("fp64"))
        exact._given = tuple(x.astype(np.float64) for x in self._given)
        pairs = zip(found, exact.run("whole"), strict=True)
        return [float(np.abs(a - b).max() / np.abs(b).max()) for a, b in pairs]

    def _timed(self, kind: str, repeats: int) -> float:
        self.run(kind)
        start = time.process_time()
        for _ in range(repeats):
            self.run(kind)
        return (time.process_time() - start) / repeats


def block_rows(measured: list[dict]) -> list[dict]:
    """The table: blocks left out of synthesis and analysis, least times with all and without, their
    ratio, errors of both.
    """
    rows = []
    for entry in measured:
        whole, without = (entry[kind]["least"] * 1e6 for kind in ("whole", "without"))
        errors = [max(entry["errors"][kind]) for kind in ("whole", "without")]
        rows.append({
            "stage": f"{entry['truncation']} {entry['backend']}",
            "blocks": ", ".join(f"{100 * x:.1f}" for x in entry["left_out"]) + " %",
            "all": f"{whole:.0f} us", "without": f"{without:.0f} us",
            "ratio (median)": f"{entry['least']:.2f} ({entry['median']:.2f})",
            "errors": ", ".join(f"{x:.1e}" for x in errors),
            "goal": GOAL.get((entry["truncation"], entry["backend"]), ""),
        })  # fmt: skip
    return rows
