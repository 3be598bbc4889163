"""Batches: how the time falls with threads and processes, and what planning many runs costs.

Strong scaling: the same runs with one and with two at a time; weak scaling: twice the runs with two
at a time. A dry run plans a large batch and hands every run to dask, which does nothing with it.
"""

from __future__ import annotations

import json
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.precision import machine
from sciprec.results.output import digests, files
from sciprec.workbench.batch.execute import execute
from sciprec.workbench.batch.perform import perform
from sciprec.workbench.batch.plan import Outcome, Run, plan
from sciprec.workbench.kinds import parse_scenario

TITLE = "Batches on one machine"
CAPTION = "efficiency: the time of one at a time over N times that of N, without their start"
ARITHMETICS = (
    "fp32", "fp16", "bf16", "tf32", "mlu370", "mlu370-noguard", "e5m2", "e4m3fn", "float:p=16",
)  # fmt: skip
DRY_RUN = 100_000, 10_000
"""Runs of a dry run on threads, and on one process of a cluster."""
_OPTION = {
    "spot": 100.0, "v0": 0.04, "kappa": 1.5, "theta": 0.04, "sigma": 0.5, "rho": -0.7, "rate": 0.02,
}  # fmt: skip


def options(members: int, paths: int, backends: Sequence[str] = ("fp32",)) -> Any:
    """A scenario of one option price on Monte Carlo paths."""
    return parse_scenario({
        "name": "options", "title": "Options", "source": "made up", "kind": "heston",
        "backends": list(backends), "ensemble": {"members": members},
        "heston": {
            "model": _OPTION,
            "payoffs": {"kind": "call", "strikes": [100.0], "maturities_years": [1.0]},
            "simulation": {"n_paths": paths, "steps_per_year": 32},
        },
    })  # fmt: skip


def flow(members: int, truncation: int, days: float) -> Any:
    """A scenario of flow over a mountain."""
    return parse_scenario({
        "name": "flow", "title": "Flow", "source": "Williamson et al. (1992), case 5",
        "kind": "climate", "backends": ["fp32"], "ensemble": {"members": members},
        "climate": {"case": "williamson_5", "truncation": truncation, "days": days},
    })  # fmt: skip


def climate(members: int, truncation: int, days: float, hours: float) -> Any:
    """A scenario of the climate of Held and Suarez whose fields are stored often."""
    return parse_scenario({
        "name": "climate", "title": "Climate", "source": "Held and Suarez (1994)",
        "kind": "climate", "backends": ["fp32"], "ensemble": {"members": members},
        "climate": {"case": "held_suarez", "truncation": truncation, "days": days,
                    "output_hours": hours, "parameters": {"levels": 20}},
    })  # fmt: skip


def measure(small: bool = False, say: Callable[[str], None] = lambda text: None) -> dict:
    """Run the benchmark.

    Args:
        small: a quick run of tiny sizes (for tests; its numbers mean nothing).
        say: is told what is being measured.

    Returns:
        The machine, the seconds of every batch and, of processes, until they were there, and those
        of the dry runs, as plain data.
    """
    cases = {
        "options": lambda members: options(members, 512 if small else 2**20),
        "flow": lambda members: flow(members, 21 if small else 42, 0.05 if small else 1.0),
    }
    scaling = []
    for name, make in cases.items():
        members = 1 if small else 4
        _batch(make(1), {"threads": 1})  # compiles
        for how in ({"threads": 1}, {"threads": 2}, *([] if small else [{"workers": 2}])):
            for factor in (1, 2):
                say(f"{name}, {how}, {factor * members} members")
                scenario = make(factor * members)
                runs, seconds = _batch(scenario, how)
                start = _batch(scenario, how, nothing)[1] if "workers" in how else 0.0
                scaling.append({"case": name, **how, "runs": runs, "seconds": seconds,
                                "start_seconds": start})  # fmt: skip
    stored = {
        "options": options(1, 512 if small else 2**20),
        "climate": flow(1, 21, 0.05) if small else climate(1, 42, 2.0, 6.0),
    }
    proofs = []
    for name, scenario in stored.items():
        say(f"digests of {name}")
        proofs.append({"case": name} | _proof_seconds(scenario, 1 if small else 3))
    dry = []
    for tasks, workers in zip((200, 20) if small else DRY_RUN, (None, 1), strict=True):
        say(f"a dry run of {tasks} runs")
        dry.append(_elsewhere(tasks, workers))
    return {"benchmark": "batch", "machine": machine(), "scaling": scaling, "proofs": proofs,
            "dry_runs": dry}  # fmt: skip


def _proof_seconds(scenario: Any, rounds: int) -> dict[str, float]:
    """Time of digesting a batch's files beside that of the batch itself: medians of some rounds."""
    told = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            done = execute(plan([scenario]), folder, threads=1)
            batch = time.perf_counter() - start
            paths = [Path(folder) / outcome.file for outcome in done]
            datasets = [files.read(path) for path in paths]
            start = time.perf_counter()
            for dataset in datasets:
                digests.seal(dataset)
            sealed = time.perf_counter()
            if not all(files.verify(path).proven for path in paths):
                raise RuntimeError("a file does not hold what was written")
            verified = time.perf_counter()
            for path in paths:
                files.attributes(path)
            opened = time.perf_counter()
            size = sum(dataset.nbytes for dataset in datasets) / 1e6
        told.append((batch, sealed - start, verified - sealed, opened - verified, size))
    names = "batch_seconds", "seal_seconds", "verify_seconds", "open_seconds", "megabytes"
    return dict(zip(names, map(statistics.median, zip(*told, strict=True)), strict=True))


def _batch(
    scenario: Any, how: dict[str, int], action: Callable[..., Outcome] = perform
) -> tuple[int, float]:
    """Number of runs and wall time of a batch, files included."""
    runs = plan([scenario])
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        done = execute(runs, folder, action=action, **how)
        seconds = time.perf_counter() - start
    failed = [outcome.failure for outcome in done if outcome.failure]
    if failed:
        raise RuntimeError(failed[0])
    return len(runs), seconds


def nothing(run: Run, folder: str, debug: bool = False, on_days: Any = None) -> Outcome:
    """Stands for a run that takes no time."""
    return run.outcome(0.0)


def dry_run(tasks: int, workers: int | None = None) -> dict:
    """Plan a batch of ten arithmetics and hand all of its runs to dask.

    Args:
        tasks: number of runs, a multiple of ten.
        workers: processes of a cluster; None for threads.

    Returns:
        tasks, workers, the seconds of both parts, and of this process the processor's seconds and
        the peak memory in MB.
    """
    start, cpu = time.perf_counter(), time.process_time()
    runs = plan([options(tasks // 10, 512, ARITHMETICS)])
    planned = time.perf_counter()
    done = execute(runs, ".", workers=workers, threads=None if workers else 2, action=nothing)
    ended = time.perf_counter()
    if [outcome.file for outcome in done] != [run.file for run in runs]:
        raise RuntimeError("a run was lost")
    return {"tasks": len(runs), "workers": workers, "plan_seconds": planned - start,
            "execute_seconds": ended - planned, "cpu_seconds": time.process_time() - cpu,
            "peak_mb": peak_memory_mb()}  # fmt: skip


def peak_memory_mb() -> float:
    """The most memory that this process has held, in MB, since it began to run its program.

    Where the system tells it (Linux) without what the process had before that: a child inherits
    its parent's peak otherwise.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return int(re.search(r"VmHWM:\s*(\d+) kB", status).group(1)) / 1024


def _elsewhere(tasks: int, workers: int | None) -> dict:
    """A dry run in a process of its own, so that its memory is its own."""
    script = (
        "import json\nfrom benchmarks.batch import dry_run\n"
        f"if __name__ == '__main__':\n    print(json.dumps(dry_run({tasks}, {workers})))\n"
    )
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(script)
        file.flush()
        done = subprocess.run([sys.executable, file.name], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def timings(result: dict) -> dict[str, float]:
    """Seconds of each batch without the start of its processes, by name."""
    return {
        f"{one['case']}, {one['runs']} runs, {one.get('threads') or one['workers']} "
        f"{'threads' if 'threads' in one else 'processes'}": one["seconds"] - one["start_seconds"]
        for one in result["scaling"]
    }


def tables(result: dict) -> dict[str, list[dict]]:
    """A row for each batch, and for each dry run."""
    single = (row for row in result["scaling"] if row.get("threads") == 1)
    alone = {(row["case"], row["runs"]): row["seconds"] for row in single}
    table, dry = [], []
    for row in result["scaling"]:
        count = row.get("threads") or row["workers"]
        kind = "threads" if "threads" in row else "processes"
        working = row["seconds"] - row["start_seconds"]
        efficiency = alone[row["case"], row["runs"]] / working / count
        table.append({
            "batch": row["case"], "runs": row["runs"], "on": f"{count} {kind}",
            "seconds": round(row["seconds"], 2), "start": round(row["start_seconds"], 2),
            "efficiency": round(efficiency, 2),
        })  # fmt: skip
    for row in result["dry_runs"]:
        where = f"{row['workers']} process" if row["workers"] else "threads"
        seconds = row["plan_seconds"] + row["execute_seconds"]
        dry.append({
            "runs": row["tasks"], "on": where, "seconds": round(seconds, 2),
            "ms per run": round(1e3 * seconds / row["tasks"], 3), "peak MB": round(row["peak_mb"]),
        })  # fmt: skip
    proofs = [
        {
            "batch": row["case"], "MB": round(row["megabytes"], 1),
            "seconds": round(row["batch_seconds"], 2),
            "digests %": round(100 * row["seal_seconds"] / row["batch_seconds"], 2),
            "verified ms": round(1e3 * row["verify_seconds"], 1),
            "opened ms": round(1e3 * row["open_seconds"], 1),
        }
        for row in result["proofs"]
    ]  # fmt: skip
    return {"Scaling": table, "Digests": proofs, "Dry runs": dry}
