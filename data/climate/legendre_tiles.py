"""What does it save to leave out tiles of latitudes in which all functions of an order are tiny?

`python data/climate/legendre_tiles.py` times the Legendre stage of eight fields at T85, T127 and
T170, whole and without the polar tiles of 16 latitudes in which no function of an order is above
the unit roundoff of the format: for each order its first tile, at which the loops begin. It prints
the share of the products that is left out, the least of the times of rounds in turn, their ratios,
and the largest change of a result, as a part of the largest result; and the shares of single blocks
of the tables that are as tiny.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator

import numpy as np

from sciprec.climate.transform.aligned import aligned_copy
from sciprec.climate.transform.grid import resolve_truncation
from sciprec.climate.transform.legendre import gauss_nodes, legendre_table
from sciprec.climate.transform.legendre_stage import (
    LANES,
    PAIR,
    ROWS,
    analysis_table,
    blocked,
    gather_degrees,
    legendre_analysis,
    legendre_synthesis,
    scatter_degrees,
    start_of_sums,
    sum_fields,
    synthesis_table,
)
from sciprec.climate.transform.spectral import make_work
from sciprec.precision import lift, quantize

FIELDS = 8
ROUNDOFF = {"fp32": 2.0**-24, "fp64": 2.0**-53}


def join_from(sums, m, fields, fourier, begin):
    """`join_hemispheres` of the latitudes from a tile on."""
    tiles = fourier.shape[1] // 2
    for f in range(fields):
        for i in range(begin, tiles):
            start = start_of_sums(f, i - begin, tiles - begin, fields)
            even = sums[0, 0, start : start + PAIR]
            odd = sums[1, 0, start : start + PAIR]
            northern = fourier[f, i, m]
            southern = fourier[f, tiles + i, m]
            for c in range(PAIR):
                northern[c] = even[c] + odd[c]
                southern[c] = even[c] - odd[c]


def fold_from(fourier, m, fields, folded, begin):
    """`fold_hemispheres` of the latitudes from a tile on."""
    tiles = fourier.shape[1] // 2
    for f in range(fields):
        for i in range(begin, tiles):
            northern = fourier[f, i, m]
            southern = fourier[f, tiles + i, m]
            even = folded[0, i - begin, f]
            odd = folded[1, i - begin, f]
            for c in range(PAIR):
                even[c] = northern[c] + southern[c]
                odd[c] = northern[c] - southern[c]


def synthesis_from(spectrum, table, firsts, weights, sums, fourier):
    """`legendre_synthesis` from the first tile of each order on; fourier is zero before."""
    orders = fourier.shape[2] - 1
    tiles = fourier.shape[1] // 2
    width = spectrum.shape[1]
    given = weights[0]
    even = given[0].reshape(given.shape[1] // LANES, LANES, given.shape[2])[:, :, :width]
    odd = given[1].reshape(given.shape[1] // LANES, LANES, given.shape[2])[:, :, :width]
    first = 0
    place = 0
    for m in range(orders):
        degrees = orders + 1 - m
        begin = firsts[m]
        left = tiles - begin
        even_rows = ((degrees + 1) // 2 + ROWS - 1) // ROWS * ROWS
        odd_rows = (degrees // 2 + ROWS - 1) // ROWS * ROWS
        middle = place + even_rows * left * LANES
        gather_degrees(spectrum, first, degrees, given)
        sum_fields(even, table, place, even_rows, sums[0], left)
        sum_fields(odd, table, middle, odd_rows, sums[1], left)
        join_from(sums, m, width // 2, fourier, begin)
        place = middle + odd_rows * left * LANES
        first = first + degrees


def analysis_from(fourier, table, firsts, weights, sums, spectrum):
    """`legendre_analysis` of the latitudes from the first tile of each order on."""
    orders = fourier.shape[2] - 1
    tiles = fourier.shape[1] // 2
    width = spectrum.shape[1]
    folded = weights[1]
    blocks = folded.shape[1], 2 * folded.shape[2], LANES
    even = np.swapaxes(folded[0].reshape(blocks), 1, 2)[:, :, :width]
    odd = np.swapaxes(folded[1].reshape(blocks), 1, 2)[:, :, :width]
    first = 0
    place = 0
    for m in range(orders):
        degrees = orders + 1 - m
        begin = firsts[m]
        left = tiles - begin
        even_tiles = ((degrees + 1) // 2 + LANES - 1) // LANES
        odd_tiles = (degrees // 2 + LANES - 1) // LANES
        middle = place + left * LANES * even_tiles * LANES
        fold_from(fourier, m, width // 2, folded, begin)
        sum_fields(even, table, place, left * LANES, sums[0], even_tiles)
        sum_fields(odd, table, middle, left * LANES, sums[1], odd_tiles)
        scatter_degrees(sums, first, degrees, spectrum)
        place = middle + left * LANES * odd_tiles * LANES
        first = first + degrees


def by_order(functions: np.ndarray, number: int) -> Iterator[np.ndarray]:
    """The functions (degrees, latitudes) of each order, latitudes filled up to whole tiles."""
    functions = np.pad(functions, ((0, 0), (0, -functions.shape[1] % LANES)))
    first = 0
    for degrees in range(number + 2, 1, -1):
        yield functions[first : first + degrees]
        first += degrees


def first_tiles(functions: np.ndarray, number: int, least: float) -> np.ndarray:
    """The first tile of each order in which a function is above `least`."""
    found = []
    for of_order in by_order(functions, number):
        there = np.abs(of_order).max(axis=0).reshape(-1, LANES).max(axis=1) > least
        found.append(int(there.argmax()))
    return np.array(found)


def small_blocks(name: str, backend: str) -> tuple[float, float]:
    """The share of blocks of 4 x 16 numbers of the synthesis in which no function is above the unit
    roundoff, and that of the analysis, where they can be left out in whole rows of 4 latitudes.
    """
    truncation, small, counted = resolve_truncation(name), np.zeros(2), np.zeros(2)
    sin_lat, _ = gauss_nodes(truncation.nlat, np.longdouble)
    functions = np.abs(legendre_table(truncation.number, sin_lat[: truncation.nlat // 2]))
    for one in by_order(functions.astype(np.float64), truncation.number):
        for parity in (0, 1):
            tiny = [_largest(matrix) <= ROUNDOFF[backend]
                    for matrix in (one[parity::2], one[parity::2].T)]  # fmt: skip
            small += tiny[0].sum(), tiny[1].all(axis=1).sum() * tiny[1].shape[1]
            counted += [blocks.size for blocks in tiny]
    synthesis, analysis = (small / counted).tolist()
    return synthesis, analysis


def _largest(matrix: np.ndarray) -> np.ndarray:
    """The largest number of each block of 4 x 16 of a matrix, filled up."""
    filled = np.pad(matrix, [(0, -matrix.shape[0] % ROWS), (0, -matrix.shape[1] % LANES)])
    apart = filled.reshape(filled.shape[0] // ROWS, ROWS, -1, LANES)
    return apart.max(axis=(1, 3), initial=0.0)


def tables_from(functions, weighted, number: int, firsts) -> tuple[np.ndarray, np.ndarray]:
    """Both tables, of each order from its first tile on."""
    forth = [blocked(one[parity::2, LANES * begin :])
             for one, begin in zip(by_order(functions, number), firsts, strict=True)
             for parity in (0, 1)]  # fmt: skip
    back = [blocked(one[parity::2, LANES * begin :].T)
            for one, begin in zip(by_order(weighted, number), firsts, strict=True)
            for parity in (0, 1)]  # fmt: skip
    return np.concatenate(forth), np.concatenate(back)


def least_seconds(runs: dict[str, Callable], rounds: int) -> dict[str, float]:
    """The least processor time of each of some functions, by turns."""
    found = dict.fromkeys(runs, np.inf)
    for _ in range(rounds):
        for name, run in runs.items():
            start = time.process_time()
            run()
            found[name] = min(found[name], time.process_time() - start)
    return found


def measured(name: str, backend: str, rounds: int) -> dict[str, float]:
    """The share that is left out, times and changes of a truncation in an arithmetic."""
    truncation, rng = resolve_truncation(name), np.random.default_rng(1)
    number, north = truncation.number, truncation.nlat // 2
    sin_lat, weights = gauss_nodes(truncation.nlat, np.longdouble)
    functions = legendre_table(number, sin_lat[:north])
    weighted = (functions * weights[:north]).astype(np.float64)
    functions = functions.astype(np.float64)
    firsts = first_tiles(functions, number, ROUNDOFF[backend])

    def given(values: np.ndarray) -> np.ndarray:
        return aligned_copy(quantize(values, backend), lifted[0].backend.carrier)

    plain = (legendre_synthesis, legendre_analysis, synthesis_from, analysis_from)
    lifted = [lift(kernel, backend, trust_inputs=True) for kernel in plain]
    whole = given(synthesis_table(functions, number)), given(analysis_table(weighted, number))
    less = tuple(map(given, tables_from(functions, weighted, number, firsts)))
    fourier, products, sums, _ = make_work(truncation, FIELDS, lifted[0].backend.carrier)
    size = (number + 1) * (number + 4) // 2
    spectrum = given(rng.uniform(-1, 1, (size, 2 * FIELDS)))
    waves = given(rng.uniform(-1, 1, fourier.shape))
    made = [np.zeros_like(x) for x in (fourier, fourier, spectrum, spectrum)]
    runs = {
        "synthesis": lambda: lifted[0](spectrum, whole[0], products, sums, made[0]),
        "synthesis without": lambda: lifted[2](
            spectrum, less[0], firsts, products, sums, made[1]
        ),
        "analysis": lambda: lifted[1](waves, whole[1], products, sums, made[2]),
        "analysis without": lambda: lifted[3](
            waves, less[1], firsts, products, sums, made[3]
        ),
    }
    for run in runs.values():
        run()
    changes = [
        float(np.abs(a - b).max() / np.abs(a).max())
        for a, b in ((made[0], made[1]), (made[2], made[3]))
    ]
    return {"left out": 1 - less[0].size / whole[0].size} | least_seconds(runs, rounds) | {
        "change, synthesis": changes[0], "change, analysis": changes[1],
    }  # fmt: skip


if __name__ == "__main__":
    for chosen in sys.argv[1:] or ["T85", "T127", "T170"]:
        for arithmetic in ROUNDOFF:
            row = measured(chosen, arithmetic, 60)
            ratios = [row[f"{way} without"] / row[way] for way in ("synthesis", "analysis")]
            both = sum(row[f"{w} without"] for w in ("synthesis", "analysis"))
            both /= row["synthesis"] + row["analysis"]
            blocks = small_blocks(chosen, arithmetic)
            print(
                f"{chosen} {arithmetic}: {row['left out']:.1%} left out; synthesis "
                f"{1e6 * row['synthesis']:.0f} us, {ratios[0]:.2f}; analysis "
                f"{1e6 * row['analysis']:.0f} us, {ratios[1]:.2f}; together {both:.2f}; changes "
                f"{row['change, synthesis']:.1e}, {row['change, analysis']:.1e}; tiny blocks of "
                f"the synthesis {blocks[0]:.1%}, in whole rows of the analysis {blocks[1]:.1%}"
            )
