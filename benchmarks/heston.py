"""Speed of Heston paths and prices, against our own binary64, plain NumPy, QuantLib and PyFENG.

Two questions, each answered within one run. How many steps of paths does a kernel do in a second,
on one thread and on all cores? How long does a price take whose total error is bounded by 0.1 %?
Every round times all contenders one after the other; medians over the rounds are reported. What
runs on one thread is timed in seconds of processor time, so that other programs count less.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from benchmarks import heston_peers
from benchmarks.precision import machine
from sciprec.heston import Call, Model
from sciprec.heston.bounds.pricing import price
from sciprec.heston.simulation.block import Simulation
from sciprec.heston.simulation.paths import Block

TITLE = "Heston: million steps of paths per second, seconds to a bound of 0.1 %"
CAPTION = (
    "threads: times one thread, the clock's time beside the processor's; "
    "ratios are medians within the run; ~ scaled by (bound / goal)^2 from a shorter run; peers' "
    "seconds are to a statistical error of 0.1 % alone; same bound: our plain Monte Carlo and its "
    "bound at their speed, over fp32's time"
)

LEWIS = Model(
    spot=100, v0=0.04, kappa=4, theta=0.25, sigma=1, rho=-0.5, rate=0.01, dividend_yield=0.02
)
ANDERSEN_1 = Model(spot=100, v0=0.04, kappa=0.5, theta=0.04, sigma=1, rho=-0.9)
CASES = {
    "Lewis": (LEWIS, Call(strike=100, maturity=1)),
    "Andersen I": (ANDERSEN_1, Call(strike=100, maturity=10)),
}
"""name -> model and option: A. Lewis's parameters; Andersen (2008), table 1, case I."""

QEM = "quadratic_exponential_martingale"
KERNELS = (
    ("full_truncation_euler", "Lewis"),
    ("quadratic_exponential", "Lewis"),
    (QEM, "Lewis"),
    (QEM, "Andersen I"),
)
"""scheme and case; Andersen's takes the exponential branch, Lewis's never does."""
BACKENDS = ("fp64", "fp32", "mlu370", "fp16", "bf16")
NUMPY = "plain NumPy, fp64"
STEPS_PER_YEAR = 32
PATH_STEPS = 2**22
"""of one measurement"""
BLOCK_PATHS = 4096

TOLERANCE = 0.001
OURS = "fp32"
CONTENDERS = {
    "fp32": {"backend": "fp32"},
    "mlu370": {"backend": "mlu370"},
    "fp64, same estimator": {"backend": "fp64"},
    "fp64, plain Monte Carlo": {"backend": "fp64", "variance_reduction": "none"},
}
"""row -> arguments of sciprec.heston.price."""
PLAIN = "fp64, plain Monte Carlo"
SCALED = (PLAIN,)
"""rows that are run to a bound SCALE times as large; their time is scaled by SCALE^2."""
SCALE = 8
LONG_SECONDS = 60.0
Z = 1.96  # half-widths of peers, which state a standard error only, at 95 %

GOALS = {
    ("full_truncation_euler", "fp64"): "500; 12 x NumPy",
    ("full_truncation_euler", "fp32"): "1000; 24 x NumPy; 1.9 x fp64",
    ("quadratic_exponential", "fp32"): "1.9 x fp64",
    ("quadratic_exponential_martingale", "fp32"): "1.9 x fp64",
    ("full_truncation_euler", "mlu370"): "0.83 x fp32",
    ("quadratic_exponential", "mlu370"): "0.83 x fp32",
    ("quadratic_exponential_martingale", "mlu370"): "0.83 x fp32",
    "fp64, plain Monte Carlo": ">= 5",
    "plain NumPy, fp64": ">= 30",
    "QuantLib MCEuropeanHestonEngine, QE-M": ">= 200",
}
"""(scheme, backend), one thread (M/s; ratios), or row of the prices -> goal."""


def measure(
    small: bool = False, rounds: int = 5, say: Callable[[str], None] = lambda text: None
) -> dict:
    """Run the benchmark.

    Args:
        small: a quick run of tiny sizes (for tests; its ratios mean nothing).
        rounds: how many rounds the medians are over; the prices take three at most.
        say: is told what is being measured.

    Returns:
        The machine, the kernels' speeds and the prices' times, as plain data.
    """
    rounds = 1 if small else rounds
    kernels = []
    for scheme, case in KERNELS:
        say(f"{scheme}, {case}")
        kernels += _kernel_rows(scheme, case, 2**18 if small else PATH_STEPS, rounds)
    prices = []
    for case in CASES:
        say(f"a price within {0.1 if small else TOLERANCE:.1%}, {case}")
        found = _price_rows(case, 0.1 if small else TOLERANCE, min(rounds, 3), small)
        prices += _with_the_same_bound(found, kernels)
    return {"benchmark": "heston", "machine": machine(), "kernels": kernels, "prices": prices}


def _kernel_rows(scheme: str, case: str, path_steps: int, rounds: int) -> list[dict]:
    """Speeds of one scheme on one case: every backend on one thread and on all, and NumPy."""
    model, option = CASES[case]
    n_steps = round(STEPS_PER_YEAR * option.maturity)
    blocks = -(-path_steps // (BLOCK_PATHS * n_steps))
    work = blocks * BLOCK_PATHS * n_steps / 1e6
    threads = sorted({1, os.cpu_count() or 1})
    seconds: dict[tuple[str, int], list[float]] = {}

    def simulate(backend: str, first: int) -> None:
        Simulation(
            model, Block(first * BLOCK_PATHS, BLOCK_PATHS), step_years=option.maturity / n_steps,
            backend=backend, scheme=scheme, seed=1,
        ).advance(n_steps)  # fmt: skip

    for backend in BACKENDS:
        simulate(backend, 0)
    for _ in range(rounds):
        for n_threads in threads:
            for backend in BACKENDS:
                taken = _seconds(simulate, backend, n_threads, blocks)
                seconds.setdefault((backend, n_threads), []).append(taken)
        if scheme in heston_peers.NUMPY:
            start = time.process_time()
            heston_peers.NUMPY[scheme](model, option.maturity, n_steps, blocks * BLOCK_PATHS, 1)
            seconds.setdefault((NUMPY, 1), []).append(time.process_time() - start)
    return [
        {
            "scheme": scheme, "case": case, "backend": backend, "threads": n_threads,
            "million_path_steps_per_second": work / statistics.median(took),
            "times_fp64": _ratio(seconds.get(("fp64", n_threads)), took),
            "times_fp32": _ratio(seconds.get(("fp32", n_threads)), took),
            "times_one_thread": _ratio(seconds[backend, 1], took) if n_threads > 1 else None,
            "times_numpy": _ratio(seconds.get((NUMPY, 1)), took),
        }
        for (backend, n_threads), took in seconds.items()
    ]  # fmt: skip


def _seconds(simulate: Callable, backend: str, n_threads: int, blocks: int) -> float:
    """Time of all blocks: of the processor on one thread, of the clock on several."""
    if n_threads == 1:
        start = time.process_time()
        for first in range(blocks):
            simulate(backend, first)
        return time.process_time() - start
    with ThreadPoolExecutor(n_threads) as pool:
        start = time.perf_counter()
        list(pool.map(lambda first: simulate(backend, first), range(blocks)))
        return time.perf_counter() - start


def _ratio(reference: list[float] | None, taken: list[float]) -> float | None:
    """How many times faster than a reference: the median of the rounds' ratios."""
    if reference is None:
        return None
    return statistics.median(r / t for r, t in zip(reference, taken, strict=True))


def _price_rows(case: str, tolerance: float, rounds: int, small: bool) -> list[dict]:
    """Seconds to a bound of `tolerance` of one case: ours and the peers'."""
    model, option = CASES[case]
    found: dict[str, dict] = {}
    speeds: dict[str, list[float]] = {}
    skipped = {row: heston_peers.missing(m) for row, (_, m) in heston_peers.PRICES.items()}
    peer_paths = 2**12 if small else 2**16
    for row in CONTENDERS:
        _ours(model, option, row, 0.2, 0)  # compiles
    start_of_case = time.perf_counter()
    for seed in range(rounds):
        if seed and time.perf_counter() - start_of_case > LONG_SECONDS:
            break  # one round of a case that takes minutes is enough
        for row in CONTENDERS:
            _add(found, row, _ours(model, option, row, tolerance, seed))
        n_steps = found[OURS]["n_steps"]
        for row, (function, _) in heston_peers.PRICES.items():
            if not skipped[row]:
                start = time.process_time()
                value, error = function(model, option, n_steps, peer_paths, seed)
                taken = time.process_time() - start
                scale = (Z * error / (tolerance * value)) ** 2
                speeds.setdefault(row, []).append(peer_paths * n_steps / taken / 1e6)
                _add(found, row, (taken * scale, round(peer_paths * scale), n_steps, True, value))
    rows = [
        {
            "case": case, "row": row, "seconds": statistics.median(entry["seconds"]),
            "times_ours": statistics.median(
                s / o for s, o in zip(entry["seconds"], found[OURS]["seconds"], strict=True)
            ),
            **{key: entry[key] for key in ("n_paths", "n_steps", "scaled", "price")},
            "million_path_steps_per_second": statistics.median(speeds.get(row, [0.0])) or None,
        }
        for row, entry in found.items()
    ]  # fmt: skip
    return rows + [
        {"case": case, "row": row, "skipped": why} for row, why in skipped.items() if why
    ]


def _with_the_same_bound(found: list[dict], kernels: list[dict]) -> list[dict]:
    """Add what our plain Monte Carlo and its bound would take at a plain peer's speed.

    times_with_bound is the ratio of that to our time: a peer that states a standard error only has
    measured nothing of its discretisation error.
    """
    rows = {entry["row"]: entry for entry in found}
    speed = next(
        entry["million_path_steps_per_second"]
        for entry in kernels
        if (entry["scheme"], entry["case"]) == (QEM, found[0]["case"])
        and (entry["backend"], entry["threads"]) == ("fp64", 1)
    )
    for row in heston_peers.PLAIN:
        if own := rows[row].get("million_path_steps_per_second"):
            rows[row]["times_with_bound"] = rows[PLAIN]["times_ours"] * speed / own
    rows[PLAIN]["times_with_bound"] = rows[PLAIN]["times_ours"]
    return found


def _ours(model, option, row: str, tolerance: float, seed: int) -> tuple:
    """Seconds, paths, steps, whether scaled, and price of one of our own rows, one thread."""
    asked = tolerance * (SCALE if row in SCALED else 1)
    start = time.process_time()
    result = price(
        model, option, tolerance=min(asked, 0.5), seed=seed, max_paths=2**28, **CONTENDERS[row]
    )
    taken = time.process_time() - start
    scale = (result.bound / (tolerance * result.price)) ** 2
    if row not in SCALED and result.met:
        scale = 1.0
    scaled = scale != 1.0
    return taken * scale, round(result.n_paths * scale), result.n_steps, scaled, result.price


def _add(found: dict, row: str, measured: tuple) -> None:
    """Add one round of one row."""
    seconds, n_paths, n_steps, scaled, value = measured
    entry = found.setdefault(row, {"seconds": []})
    entry["seconds"].append(seconds)
    entry.update(n_paths=n_paths, n_steps=n_steps, scaled=scaled, price=value)


def timings(result: dict) -> dict[str, float]:
    """Seconds of a million steps of paths of ours on one thread, and of prices, by name."""
    paths = {
        f"{one['scheme']}, {one['case']}, {one['backend']}":
            1.0 / one["million_path_steps_per_second"]
        for one in result["kernels"] if one["threads"] == 1 and one["backend"] != NUMPY
    }  # fmt: skip
    prices = (one for one in result["prices"] if one["row"] in CONTENDERS)
    return paths | {f"price, {one['case']}, {one['row']}": one["seconds"] for one in prices}


def tables(result: dict) -> dict[str, list[dict]]:
    """Kernels, prices, and peers that are not there; what does not apply is empty."""
    prices: dict[str, list[dict]] = {}
    precision = {
        e["case"]: e["times_ours"] for e in result["prices"] if e["row"] == "fp64, same estimator"
    }
    absent = []
    for entry in result["prices"]:
        if "skipped" in entry:
            absent.append({"arithmetic": entry["row"], "why": entry["skipped"]})
            continue
        mark = "~" if entry["scaled"] else ""
        cells = {
            "arithmetic": entry["row"], "seconds": f"{mark}{entry['seconds']:.3g}",
            "/ fp32's": f"{entry['times_ours']:.3g}",
        }  # fmt: skip
        if "times_with_bound" in entry:
            cells["same bound"] = f"{entry['times_with_bound']:.3g}"
        cells["precision's"] = f"{precision[entry['case']]:.3g}"
        cells["goal"] = GOALS.get(entry["row"], "")
        prices.setdefault(f"Prices to 0.1 %, {entry['case']}", []).append(cells)
    if absent:
        prices["Not measured here"] = absent
    kernels: dict[str, list[dict]] = {}
    for entry in result["kernels"]:
        title = f"Paths, {entry['scheme'].replace('_', ' ')}, {entry['case']}"
        kernels.setdefault(title, []).append(_kernel_cells(entry))
    return kernels | prices


def _kernel_cells(entry: dict) -> dict:
    several = entry["threads"] > 1
    cells = {
        "arithmetic": entry["backend"],
        "threads": f"{entry['threads']}: {entry['times_one_thread']:.3g}" if several else 1,
        "M/s": round(entry["million_path_steps_per_second"]),
    }
    for name, label in (("fp64", "x fp64"), ("fp32", "x fp32"), ("numpy", "x NumPy")):
        value = entry[f"times_{name}"]
        cells[label] = "" if value is None else f"{value:.3g}"
    alone = GOALS.get((entry["scheme"], entry["backend"]), "")
    cells["goal"] = f"{0.95 * entry['threads']:.3g} x one thread" if several else alone
    return cells
