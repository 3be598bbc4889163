"""Makes the climates and the waves in this folder: `python data/climate/make.py WHAT`.

climate T42 20: Held and Suarez's climate, a mean of 1,000 days after 200. arithmetics: their
climates at T21 with ten levels in several arithmetics, and how far these lie from an ensemble in
binary64. waves: Jablonowski and Williamson's wave in several arithmetics. first: the first days of
the three climates, by which a test knows today's code again. finer: flow over the mountain at
T106, by which scenarios of T42 are judged. Runs are kept in the folder that `--work` names: what is
interrupted goes on from there.
"""

from __future__ import annotations

import argparse
import json
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.interpolate import RectBivariateSpline

from data.climate.sampling import block_means, departure, is_within, limits, own_departures
from sciprec.climate.diagnostics.derived import CLIMATE_VARIABLES, ZONAL_MEAN, gates
from sciprec.climate.equations.vertical import even_levels
from sciprec.climate.running.integration import integrate
from sciprec.climate.transform.grid import GaussianGrid, resolve_truncation
from sciprec.precision import Arithmetic, Backend, resolve_backend
from sciprec.precision.formats.float_format import FORMATS

FOLDER = Path(__file__).resolve().parent
SPIN_UP_DAYS, STEP_SECONDS, DIFFUSION_HOURS = 200, 1200.0, 2.4
BLOCK_DAYS, BLOCK_OF_SPREAD = 50, 100
HALF, SINGLE = Arithmetic(FORMATS["binary16"]), Arithmetic(FORMATS["binary32"])
MATRIX_UNIT = Backend("fp16, sums in fp32", HALF, HALF, SINGLE, SINGLE)
FINER_DAYS = (5.0, 10.0)
STOCHASTIC_HALF = "float:p=11,emin=-14,emax=15,round=sr"


def label_of(backend: str | Backend, compensation: str | None) -> str:
    """How an arithmetic is called in the files."""
    name = backend if isinstance(backend, str) else backend.name
    return f"{name}+{compensation}" if compensation else name


@dataclass(frozen=True)
class Climate:
    """One run from rest.

    Args:
        truncation, levels, seed: of the model and of its first breeze.
        backend, compensation: the arithmetic.
        days: length, spin-up included.
        name: of the arithmetic in tables; left out, that of the backend and its compensation.
    """

    truncation: str = "T21"
    levels: int = 10
    seed: int = 1
    backend: str | Backend = "fp64"
    compensation: str | None = None
    days: int = 1200
    name: str | None = None

    @property
    def label(self) -> str:
        """Name of the arithmetic."""
        return label_of(self.name or self.backend, self.compensation)

    @property
    def file(self) -> str:
        """Name of the file with its block means."""
        plain = re.sub(r"[^a-z0-9]+", "-", self.label.lower())
        return f"{self.truncation}L{self.levels}_{plain}_{self.seed}_{self.days}.npz"


MEMBERS = tuple(Climate(seed=seed) for seed in range(1, 9))
ARITHMETICS = tuple(
    Climate(backend=backend, compensation=compensation)
    for backend, compensation in (
        ("fp32", None), ("mlu370", None), ("mlu370", "carry"), ("bf16", None), ("bf16", "carry"),
        ("fp16", None), ("fp16", "carry"), (MATRIX_UNIT, None), (MATRIX_UNIT, "carry"),
    )
) + (
    Climate(backend="fixed32"),
    Climate(backend=STOCHASTIC_HALF, name="fp16, stochastic", days=300),
)  # fmt: skip


def blocks_of(climate: Climate, work: Path) -> dict[str, np.ndarray]:
    """Means of zonal means over blocks of 50 days after the spin-up, made or read.

    Args:
        climate: the run.
        work: folder of finished runs and checkpoints.

    Returns:
        Field -> (blocks, levels, nlat); `blow_up`, a sentence or empty; `seconds`.
    """
    path = work / climate.file
    if path.exists():
        return dict(np.load(path))
    backend = resolve_backend(climate.backend)
    made = integrate(
        "held_suarez", climate.truncation, climate.days, backend=backend, step_seconds=STEP_SECONDS,
        compensation=climate.compensation, variables=CLIMATE_VARIABLES,
        checkpoints=work / "checkpoints",
        progress=lambda days: days % BLOCK_DAYS or print(climate.label, days, flush=True),
        parameters={
            "levels": climate.levels, "seed": climate.seed, "diffusion_hours": DIFFUSION_HOURS
        },
    )  # fmt: skip
    end = made.blow_up or "to the end"
    print(f"{climate.file}: {made.timing.seconds:.0f} s; {end}", flush=True)
    found = {
        name.removeprefix(ZONAL_MEAN): block_means(x, SPIN_UP_DAYS + 1, BLOCK_DAYS)
        for name, x in made.fields.items()
    }
    found |= {"blow_up": np.array(made.blow_up or ""), "seconds": np.array(made.timing.seconds)}
    np.savez(path, **found)
    return found


FIRST_DAYS = (1, 2, 5, 10)
STORED = (Climate("T21", 10), Climate("T31", 8), Climate("T42", 20))
"""The climates whose means are stored."""


def first_days(climate: Climate, days: tuple[int, ...] = FIRST_DAYS) -> dict[str, np.ndarray]:
    """Zonal means at single days from rest: field -> (days, levels, nlat), every bit of them."""
    made = integrate(
        "held_suarez", climate.truncation, max(days), step_seconds=STEP_SECONDS,
        variables=CLIMATE_VARIABLES,
        parameters={
            "levels": climate.levels, "seed": climate.seed, "diffusion_hours": DIFFUSION_HOURS
        },
    )  # fmt: skip
    return {name.removeprefix(ZONAL_MEAN): x[list(days)] for name, x in made.fields.items()}


def make_first_days(folder: Path = FOLDER) -> Path:
    """Store the first days of the climates whose means are stored."""
    path = folder / "held_suarez_first_days.npz"
    found = {"days": np.array(FIRST_DAYS)}
    for climate in STORED:
        place = f"{climate.truncation}L{climate.levels}"
        found |= {f"{place}/{name}": x for name, x in first_days(climate).items()}
    np.savez_compressed(path, **found)
    return path


def fields_of(blocks: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The blocks of `blocks_of` that are fields."""
    return {name: x for name, x in blocks.items() if x.ndim == 3}


def rows(values: np.ndarray, digits: int = 6) -> list:
    """An array as nested lists of few digits."""
    if values.ndim == 0:
        return float(f"{float(values):.{digits}g}")
    return [rows(x, digits) for x in values]


def numbers(found: dict[str, float]) -> dict[str, float]:
    """Four digits of each number."""
    return {name: float(f"{x:.4g}") for name, x in found.items()}


def place(climate: Climate) -> dict:
    """The words of a file on model and grid."""
    return {
        "case": "held_suarez", "truncation": climate.truncation, "levels": climate.levels,
        "step_seconds": STEP_SECONDS, "diffusion_hours": DIFFUSION_HOURS,
        "first_day": SPIN_UP_DAYS,
        "lat": rows(GaussianGrid(resolve_truncation(climate.truncation)).lat, 9),
        "sigma": rows(even_levels(climate.levels).full),
    }  # fmt: skip


def make_climate(climate: Climate, work: Path, folder: Path = FOLDER) -> Path:
    """Store the climate of one run, how it varies from block to block, and its gates."""
    fields = fields_of(blocks_of(climate, work))
    where = place(climate)
    lat, sigma = np.array(where["lat"]), np.array(where["sigma"])
    whole = BLOCK_OF_SPREAD // BLOCK_DAYS
    long = {name: block_means(x, 0, whole) for name, x in fields.items()}
    means = {name: x.mean(axis=0) for name, x in fields.items()}
    count = next(iter(long.values())).shape[0]
    judged = [gates({n: x[k] for n, x in long.items()}, lat, sigma) for k in range(count)]
    spread = {n: float(np.std([one[n] for one in judged], ddof=1)) for n in judged[0]}
    content = {
        **where, "backend": climate.label, "seed": climate.seed, "days": climate.days,
        "samples": climate.days - SPIN_UP_DAYS, "block_days": BLOCK_OF_SPREAD,
        "how": f"python data/climate/make.py climate {climate.truncation} "
               f"{climate.levels} --days {climate.days}: daily zonal means, days after the 200th "
               "averaged; block_std: standard deviations of means over 100 days",
        "gates": {n: rows(np.array(x)) for n, x in gates(means, lat, sigma).items()},
        "gates_block_std": numbers(spread),
        "means": {n: rows(x) for n, x in means.items()},
        "block_std": {n: rows(np.std(x, axis=0, ddof=1)) for n, x in long.items()},
    }  # fmt: skip
    return written(content, folder / f"held_suarez_{where['truncation']}l{climate.levels}.json")


def make_arithmetics(work: Path, folder: Path = FOLDER) -> Path:
    """Store the distances of the arithmetics' climates from the ensemble's."""
    members = [fields_of(blocks_of(one, work)) for one in MEMBERS]
    where = place(MEMBERS[0])
    weights = GaussianGrid(resolve_truncation(where["truncation"])).weights
    shares = np.outer(even_levels(where["levels"]).thickness, weights)
    found = [compared(one, blocks_of(one, work), members, shares) for one in ARITHMETICS]
    content = {
        **where, "members": len(MEMBERS), "member_days": MEMBERS[0].days - SPIN_UP_DAYS,
        "how": "python data/climate/make.py arithmetics: bias of time means of daily zonal "
               "means against the fp64 ensemble's mean over as many days; own: the members against "
               "each other, on average; limits: what a further member keeps within, 99 per cent",
        "ensemble": {
            name: rows(np.mean([one[name] for one in members], axis=(0, 1)))
            for name in ("u", "temperature")
        },
        "arithmetics": found,
    }  # fmt: skip
    return written(content, folder / "held_suarez_arithmetics.json")


def compared(
    climate: Climate, blocks: dict, members: list[dict], shares: np.ndarray
) -> dict[str, object]:
    """A run's row: its departures beside those of the ensemble's members over as many days."""
    count = blocks["u"].shape[0]
    row = {
        "name": climate.label, "days": count * BLOCK_DAYS, "blow_up": str(blocks["blow_up"]) or None
    }  # fmt: skip
    if count == 0:
        return row
    for name in ("temperature", "u"):
        own = [one[name][:count].mean(axis=0) for one in members]
        each = own_departures(own, shares)
        mean, middle = blocks[name].mean(axis=0), np.mean(own, axis=0)
        apart, allowed = departure(mean, middle, shares), limits(each)
        row[name] = {
            "departure": numbers(apart),
            "own": numbers({k: np.mean([abs(one[k]) for one in each]) for k in apart}),
            "limits": numbers(allowed),
            "within": is_within(apart, allowed),
            "bias": rows(mean - middle, 4),
        }
    return row


WAVES = (
    ("fp64", None), ("fp32", None), ("mlu370", None), ("mlu370", "carry"),
    ("mlu370", "carry-sums"), ("fp16", None), ("fp16", "carry"), (MATRIX_UNIT, "carry"),
    ("bf16", None), ("bf16", "carry"),
)  # fmt: skip
"""Backend and compensation."""
WAVE_DAYS, WAVE_LEVELS, WAVE_STEP_SECONDS = 10, 24, 600.0


def pressure_of(wave: tuple, bump: float, work: Path) -> tuple[np.ndarray, str]:
    """Surface pressure in hPa (days, nlat, nlon), made or read, and why it ended early, or ""."""
    backend, compensation = wave
    plain = re.sub(r"[^a-z0-9]+", "-", label_of(*wave).lower())
    path = work / f"wave_{plain}_{bump:g}.npz"
    if not path.exists():
        made = integrate(
            "jablonowski_williamson", "T42", WAVE_DAYS, backend=backend,
            step_seconds=WAVE_STEP_SECONDS, compensation=compensation,
            variables=("surface_pressure",),
            parameters={
                "levels": WAVE_LEVELS, "perturbation_m_per_s": bump,
                "diffusion_hours": DIFFUSION_HOURS,
            },
        )  # fmt: skip
        end = made.blow_up or "to the end"
        print(f"{path.name}: {made.timing.seconds:.0f} s; {end}", flush=True)
        np.savez(path, pressure=made.fields["surface_pressure"] / 100, end=made.blow_up or "")
    stored = np.load(path)
    return stored["pressure"], str(stored["end"])


def make_waves(work: Path, folder: Path = FOLDER) -> Path:
    """Store the lows of the wave in several arithmetics, and how steady the jets stay."""
    truth, _ = pressure_of(WAVES[0], 1.0, work)
    content = {
        "case": "jablonowski_williamson", "truncation": "T42", "levels": WAVE_LEVELS,
        "step_seconds": WAVE_STEP_SECONDS, "diffusion_hours": DIFFUSION_HOURS,
        "how": "python data/climate/make.py waves: surface pressure in hPa, at the lowest place of "
               "the grid; rms against fp64 over the globe; steady: without the bump, largest "
               "distance from 1000 in ten days",
        "arithmetics": [lows(wave, truth, work) for wave in WAVES],
    }  # fmt: skip
    return written(content, folder / "baroclinic_wave_arithmetics.json")


def lows(wave: tuple, truth: np.ndarray, work: Path) -> dict[str, object]:
    """A wave's row."""
    grid = GaussianGrid(resolve_truncation("T42"))
    pressure, end = pressure_of(wave, 1.0, work)
    steady, steady_end = pressure_of(wave, 0.0, work)
    places = {
        day: np.unravel_index(pressure[day].argmin(), pressure[day].shape)
        for day in range(6, pressure.shape[0])
    }
    rms = np.sqrt(grid.mean((pressure - truth[: len(pressure)]) ** 2))
    return {
        "name": label_of(*wave),
        "blow_up": end or steady_end or None,
        "lowest": {day: round(float(pressure[day].min()), 3) for day in places},
        "lon": {day: round(float(grid.lon[column]), 1) for day, (_, column) in places.items()},
        "lat": {day: round(float(grid.lat[row]), 1) for day, (row, _) in places.items()},
        "rms": {day: float(f"{rms[day]:.3g}") for day in places},
        "steady": float(f"{np.abs(steady - 1000.0).max():.3g}"),
    }


def make_finer(folder: Path = FOLDER) -> Path:
    """The free surface of case 5 at T106, Runge and Kutta, 200 s, splined to the points of T42."""
    run = integrate(
        "williamson_5", "T106", FINER_DAYS[-1], step_seconds=200.0, time_scheme="rk4",
        output_hours=120.0,
    )  # fmt: skip
    fine, coarse = (GaussianGrid(resolve_truncation(name)) for name in ("T106", "T42"))
    lon = np.concatenate([fine.lon[-4:] - 360.0, fine.lon, fine.lon[:4] + 360.0])
    order = np.argsort(fine.lat)
    heights = []
    for day in FINER_DAYS:
        height = run.fields["height"][int(np.argmin(np.abs(run.time_days - day)))][order]
        around = np.concatenate([height[:, -4:], height, height[:, :4]], axis=1)
        spline = RectBivariateSpline(fine.lat[order], lon, around)
        heights.append(spline(coarse.lat, coarse.lon, grid=True))
    path = folder / "williamson_5_t106.npz"
    np.savez_compressed(
        path, days=FINER_DAYS, lat=coarse.lat, lon=coarse.lon, height=np.float32(heights)
    )
    return path


def written(content: dict, path: Path) -> Path:
    """The file, one line for each row of numbers."""
    path = path.with_name(path.name.lower())
    text = json.dumps(content, separators=(", ", ": "))
    path.write_text(re.sub(r'(\]|\}|\d), (["{\[])', r"\1,\n\2", text) + "\n", encoding="utf-8")
    return path


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--work", type=Path, default=Path("climate_runs"))
    verbs = parser.add_subparsers(dest="verb", required=True)
    one = verbs.add_parser("climate", help="a mean of one run in binary64")
    one.add_argument("truncation")
    one.add_argument("levels", type=int)
    one.add_argument("--days", type=int, default=1200)
    verbs.add_parser("arithmetics", help="several arithmetics against an ensemble in binary64")
    verbs.add_parser("first", help="the first days of the stored climates")
    verbs.add_parser("finer", help="flow over the mountain at T106, on the points of T42")
    verbs.add_parser("waves", help="the baroclinic wave in several arithmetics")
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    if given.verb == "climate":
        asked = Climate(given.truncation.upper(), given.levels, days=given.days)
        print(make_climate(asked, given.work))
    elif given.verb == "arithmetics":
        print(make_arithmetics(given.work))
    elif given.verb == "first":
        print(make_first_days())
    elif given.verb == "finer":
        print(make_finer())
    else:
        print(make_waves(given.work))


if __name__ == "__main__":
    main()
