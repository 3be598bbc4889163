"""Speed of the spectral transform and of the model's steps, against peers in the same run.

A round trip is one synthesis and one analysis of a batch of scalar fields; its time is given per
field. Every round times all contenders one after the other and takes ratios within the round;
medians over the rounds are reported. Everything but members at once and threads in one run is on
one thread and timed in seconds of processor time, so that other programs count less.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np

from benchmarks import (
    climate_blocks,
    climate_dinosaur,
    climate_peers,
    climate_roofline,
    climate_steps,
)
from benchmarks.integer_sums import IntegerSums
from benchmarks.precision import machine
from sciprec.arrays.aligned import aligned_zeros
from sciprec.climate.transform.compiled import compiled
from sciprec.climate.transform.grid import Truncation, resolve_truncation
from sciprec.climate.transform.legendre_stage import legendre_synthesis, make_products_work
from sciprec.climate.transform.spectral import (
    analyze,
    make_tables,
    make_work,
    rounded,
    synthesize,
    tables_in,
    with_stages,
)
from sciprec.precision import resolve_backend

CAPTION = "ratios are to fp64 in the same round; medians; one thread, processor time"

TRUNCATIONS = ("T42", "T85", "T127")
BATCHES = (1, 8, 48)
BACKENDS = ("fp64", "fp32", "mlu370", "fp16", "bf16", "fixed32")
MATRIX = "fp64, matrix"
"""The Fourier stage as a matrix product."""
LEGENDRE = "Legendre synthesis, fp64"
INTEGERS = "Legendre synthesis, int32 to int64"
GOALS = {
    "ducc0": ">= 1", "SHTns": ">= 0.67", "fp32": "<= 0.625", INTEGERS: "<= fp64's",
}  # fmt: skip
"""row -> goal of its time, as a ratio to fp64's round trip unless said."""
STEP_GOALS = {
    "fp64": "dinosaur / 3.2, T42L20 / 4.7", "fp32": "T42L20: dinosaur / 3.2",
    "mlu370": "<= 1.3 x fp32", "fp16": "<= 3 x fp32", "bf16": "<= 3 x fp32",
    "fixed32": "<= 1.5 x fp64",
}  # fmt: skip
THREAD_GOALS = {"Held-Suarez T42L20": ">= 1.7", "Held-Suarez T85L20": ">= 1.8"}
ROOFLINES = "Stages of a step on the roofline, modelled"
SECONDS = 0.02
"""of one measurement"""


def measure(
    small: bool = False, rounds: int = 7, say: Callable[[str], None] = lambda text: None
) -> dict:
    """Run the benchmark.

    Args:
        small: a quick run of tiny sizes in two arithmetics (for tests; its ratios mean nothing).
        rounds: how many rounds the medians are over.
        say: is told what is being measured.

    Returns:
        As plain data: the machine; `transforms`, seconds per field and round trip; `blocks`, the
        Legendre stage with all blocks and without; `steps`, seconds and years per day, `peers`
        beside them; `rooflines`, of the stages of a step; `scaling`,
        with the truncation; `threads` inside one run; `members` at once.
    """
    transforms, few = [], 1 if small else 3
    for name in ("T10",) if small else TRUNCATIONS:
        for batch in (1, 2) if small else BATCHES:
            say(f"transforms at {name}, batches of {batch}")
            contenders = _contenders(resolve_truncation(name), batch, small)
            transforms += _timed(name, batch, contenders, 1 if small else rounds)
    return {
        "benchmark": "climate",
        "machine": machine(),
        "transforms": transforms,
        "blocks": climate_blocks.measure_blocks(small, rounds, say),
        "steps": climate_steps.measure_steps(small, few, say),
        "peers": [] if small else climate_dinosaur.measure_dinosaur(say),
        "rooflines": [] if small else climate_roofline.measure_rooflines(say),
        "scaling": climate_steps.measure_scaling(small, few, say),
        "threads": climate_steps.measure_threads(small, 1 if small else rounds, say),
        "members": climate_steps.measure_members(small, few, say),
    }


def _contenders(truncation: Truncation, batch: int, small: bool) -> dict[str, Callable]:
    """Row -> what makes one round trip of a batch."""
    found = {b: _round_trip(truncation, batch, b) for b in (BACKENDS[:2] if small else BACKENDS)}
    found[MATRIX] = _round_trip(truncation, batch, "fp64", "matrix")
    if batch % 2 == 0:
        found[LEGENDRE] = _legendre(truncation, batch)
        numbers, work = _numbers(truncation, batch), _legendre_work(truncation, batch)
        found[INTEGERS] = IntegerSums(truncation, numbers, *work)
    return found | climate_peers.round_trips(truncation, batch)


def _numbers(truncation: Truncation, batch: int) -> np.ndarray:
    """Coefficients (coefficients, 2 batch) of fields of order one."""
    count = (truncation.number + 1) * (truncation.number + 4) // 2
    numbers = np.random.default_rng(1).uniform(-1, 1, (count, 2 * batch))
    return numbers / truncation.number


def _legendre_work(truncation: Truncation, batch: int) -> tuple:
    """Work arrays of the Legendre stage alone, for all fields of a batch at once, and what it
    writes.
    """
    shape = batch, *make_work(truncation, 1)[0].shape[1:]
    return *make_products_work(truncation.number, truncation.nlat, batch), aligned_zeros(shape)


def _round_trip(truncation: Truncation, batch: int, name: str, fourier: str = "fft") -> Callable:
    """One synthesis and one analysis in an arithmetic of ours."""
    backend = resolve_backend(name)
    spectrum = rounded(_numbers(truncation, batch), backend)
    synthesis, analysis = tables_in(truncation, backend)
    work = make_work(truncation, batch, backend.carrier)
    grid = aligned_zeros((batch, truncation.nlon, truncation.nlat), backend.carrier)
    forth, back = (compiled(with_stages(k, fourier), backend) for k in (synthesize, analyze))
    given = spectrum.copy()

    def run() -> None:
        forth(given, synthesis, work, grid)
        back(grid, analysis, work, spectrum)

    return run


def _legendre(truncation: Truncation, batch: int) -> Callable:
    """The Legendre stage of a synthesis alone, in binary64."""
    backend = resolve_backend("fp64")
    (functions, _), _ = rounded(make_tables(truncation), backend)
    spectrum, work = _numbers(truncation, batch), _legendre_work(truncation, batch)
    kernel = compiled(legendre_synthesis, backend)
    return lambda: kernel(spectrum, functions, *work)


def _timed(name: str, batch: int, contenders: dict, rounds: int) -> list[dict]:
    """Medians over the rounds."""
    repeats, seconds = {}, {row: [] for row in contenders}
    for row, run in contenders.items():
        run()
        repeats[row] = max(1, int(SECONDS / max(_seconds(run, 1), 1e-6)))
    for _ in range(rounds):
        for row, run in contenders.items():
            seconds[row].append(_seconds(run, repeats[row]) / batch)
    return [
        {
            "truncation": name,
            "batch": batch,
            "row": row,
            "seconds": statistics.median(took),
            "times_fp64": statistics.median(
                mine / base for mine, base in zip(took, seconds["fp64"], strict=True)
            ),
        }
        for row, took in seconds.items()
    ]


def _seconds(run: Callable, repeat: int) -> float:
    start = time.process_time()
    for _ in range(repeat):
        run()
    return (time.process_time() - start) / repeat


def timings(result: dict) -> dict[str, float]:
    """Seconds of round trips and steps of ours, by name."""
    trips = {
        f"round trip, {one['truncation']}, {one['batch']}, {one['row']}": one["seconds"]
        for one in result["transforms"] if one["row"] in BACKENDS
    }  # fmt: skip
    return trips | {
        f"step, {one['model']}, {one['backend']}": one["seconds"] for one in result["steps"]
    }


def tables(result: dict) -> dict[str, list[dict]]:
    """Contenders of the transforms at each truncation; steps; growth with T; members at once."""
    trips: dict[str, dict[str, dict]] = {}
    for entry in result["transforms"]:
        title = f"Round trip at {entry['truncation']}: microseconds a field (times fp64)"
        row = trips.setdefault(title, {}).setdefault(entry["row"], {"contender": entry["row"]})
        fields = f"{entry['batch']} fields" if entry["batch"] > 1 else "1 field"
        row[fields] = f"{entry['seconds'] * 1e6:.1f} ({entry['times_fp64']:.2f})"
        if entry["row"] in GOALS:
            row["goal"] = GOALS[entry["row"]]
    missing = [{"why": e["skipped"]} for e in result["peers"] if "skipped" in e]
    stages = climate_roofline.roofline_rows(result["rooflines"])
    return {title: list(rows.values()) for title, rows in trips.items()} | {
        "Legendre stage without blocks below the rounding: 8 fields, least times": (
            climate_blocks.block_rows(result["blocks"])
        ),
        "A step": _step_rows(result),
        **({"Not measured here": missing} if missing else {}),
        **({ROOFLINES: stages} if stages else {}),
        "Growth with the truncation": _growth_rows(result["scaling"]),
        "Threads in one run: times one (medians)": _thread_rows(result["threads"]),
        "Members at once": [_members_row(result["members"])],
    }


def _step_rows(result: dict) -> list[dict]:
    """By model and time; dinosaur's beside ours."""
    told = [e for e in (*result["steps"], *result["peers"]) if "skipped" not in e]
    peers = [id(e) for e in result["peers"]]
    rows = []
    for entry in sorted(told, key=lambda e: (e["model"], e["seconds"])):
        peer = id(entry) in peers
        rows.append({
            "model": entry["model"],
            "arithmetic": f"dinosaur, {entry['backend']}" if peer else entry["backend"],
            "ms": f"{entry['seconds'] * 1e3:.3g}",
            "years a day": f"{entry['years_per_day']:.3g}" if "years_per_day" in entry else "",
            "goal": "" if peer else STEP_GOALS.get(entry["backend"], ""),
        })  # fmt: skip
    return rows


def _growth_rows(scaling: dict) -> list[dict]:
    """The Legendre stage and the step of each truncation, and the powers of T in their time."""
    sums, step = "Legendre sums of a field", f"step, {scaling['model']}"
    rows = [
        {"truncation": e["truncation"], sums: f"{e['legendre'] * 1e6:.3g} us",
         step: f"{e['step'] * 1e3:.3g} ms"}
        for e in scaling["truncations"]
    ]  # fmt: skip
    powers = (f"T^{scaling[f'{key}_power']:.2f}" for key in ("legendre", "step"))
    return [*rows, {"truncation": "grows as"} | dict(zip((sums, step), powers, strict=True))]


def _thread_rows(measured: list[dict]) -> list[dict]:
    """Wall time of a step; how many times faster threads are, and runs side by side: of the least
    times, and medians of the rounds.
    """
    rows = []
    for entry in measured:
        one, several, beside = (entry[name] for name in ("one", "threads", "side_by_side"))
        cells = {"model": entry["model"], "arithmetic": entry["backend"],
                 "step, ms": f"{one['least'] * 1e3:.3g}"}  # fmt: skip
        for what, found in (("threads", several), ("runs", beside)):
            times = f"{one['least'] / found['least']:.2f} ({found['times_one']:.2f})"
            cells[f"{entry['count']} {what}"] = times
        cells["goal"] = THREAD_GOALS.get(entry["model"], "") if entry["count"] == 2 else ""
        rows.append(cells)
    return rows


def _members_row(members: dict) -> dict:
    said = f"{members['efficiency']:.2f} of {members['members']} cores"
    return {"model": members["model"], "used": said, "goal": ">= 0.9"}
