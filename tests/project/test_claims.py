"""Numbers of README and docs are those that today's code gives: see claims.toml.

Whole tables are in test_tables.py, which says what neither holds.
"""

import functools
import importlib
import inspect
import json
import re
import runpy
import sys
import tempfile
import tomllib
from bisect import bisect
from pathlib import Path

import numpy as np
import pytest

import sciprec
from benchmarks.climate_roofline import measure_rooflines
from sciprec import climate, heston
from sciprec.arrays.matrix_unit.unit import MatrixUnit
from sciprec.arrays.sums import CarriedUpdate, Compensation, compensated_sum
from sciprec.climate.diagnostics.reference import Reference
from sciprec.climate.running.labelled import reference_dataset
from sciprec.climate.stages.matrix_legendre import MatrixLegendre
from sciprec.climate.stages.needed_room import StagedRoom
from sciprec.climate.stages.staged_transform import StagedTransform
from sciprec.climate.transform.grid import GaussianGrid, resolve_truncation
from sciprec.climate.transform.legendre import coefficient_orders
from sciprec.climate.transform.spectral import make_tables, negligible_in
from sciprec.cost.work import Work
from sciprec.facets.stages.arithmetics import Stages, resolve_stages
from sciprec.foundation.errors import InputError
from sciprec.foundation.shipped import named as named_scenario
from sciprec.heston.schemes.catalogue import scheme_named
from sciprec.heston.schemes.registry import Units, state_arrays
from sciprec.heston.semianalytic import analytic
from sciprec.machine import MACHINES, update_work
from sciprec.precision.formats.backend import resolve_backend, table
from sciprec.workbench.batch.course import estimate
from sciprec.workbench.batch.perform import run_dataset
from sciprec.workbench.batch.plan import plan
from sciprec.workbench.kinds import kinds, load_scenario, parse_scenario
from sciprec.workbench.models import ModelArithmetic
from sciprec.workbench.models.parameters import as_given
from tests.machine.test_checksum import experiment

ROOT = Path(__file__).parents[2]
CLAIMS = tomllib.loads((ROOT / "tests/project/claims.toml").read_text(encoding="utf-8"))
T42L20 = ROOT / "data" / "climate" / "held_suarez_t42l20.json"


def arithmetic(name, key):
    """A property in the table of `sciprec list backends`."""
    return next(row[key] for row in table() if row["name"] == name)


def named(module, name):
    """A constant or a function of a module."""
    return getattr(importlib.import_module(module), name)


def compute(name):
    """The format that a backend computes in."""
    return sciprec.backends()[name].compute.format


def unit_at(x, name):
    """The last place of a number in an arithmetic."""
    return 2.0 ** (np.floor(np.log2(x)) + 1 - compute(name).significand_bits)


def rounded_to(x, name):
    return float(sciprec.quantize(x, name))


def operations_of_a_step(name):
    """Of a path in a scheme of Heston's model, loads and stores left out."""
    model = heston.Model(
        spot=100.0, v0=0.04, kappa=1.5, theta=0.04, sigma=0.5, rho=-0.7, rate=0.02,
        dividend_yield=0.0,
    )  # fmt: skip
    scheme, years, paths, steps = scheme_named(name), 1 / 12, 500, 12
    constants = scheme.constants(model, years, Units.of(model, years))
    draws = np.abs(np.random.default_rng(1).normal(size=(steps, 3, paths)))
    draws[:, :2] *= np.sign(np.random.default_rng(2).normal(size=(steps, 2, paths)))
    given = constants, draws, *state_arrays(model, years, paths)
    work = Work.of_profile(sciprec.lift(scheme.kernel, "fp32").profile(*given), "fp32")
    return (work.flops + work.special) / (paths * steps)


def rooflines():
    rows = {row["stage"]: row for row in measure_rooflines(lambda text: None)}
    stages = (
        "products on the grid", "state update", "Fourier synthesis", "Fourier analysis",
        "Legendre synthesis", "Legendre analysis",
    )  # fmt: skip
    ridges = (rows["tendency"][machine]["ridge"] for machine in ("mlu370", "a100"))
    return *(rows[stage]["intensity"] for stage in stages), *ridges


def checksums(name):
    return experiment(name, 100, 25)


def tenths(method):
    return compensated_sum(np.full(10_000, 0.1), "fp16", method=method)


def graded(method):
    return compensated_sum([1.0, 2.0**40, 1.0, -(2.0**40)], "fp32", method=method)


def one_less(backend):
    def less(x, y):
        return x - y

    return sciprec.lift(less, backend)(1.0, 2.0**-40)


def mean_lag(alpha, beta):
    """How far sums in mlu370 of increments below a third of a unit are behind, in units."""
    backend = sciprec.backends()["mlu370"]
    unit = backend.compute.rounding_error
    drawn = np.random.default_rng(0).uniform(0.0, unit / 3, (3000, 64))
    update = CarriedUpdate(backend, Compensation(alpha, beta))
    exact, state, behind = 1.0, np.ones(64, np.float32), []
    for increment in sciprec.quantize(drawn, backend).astype(np.float32):
        update(state, increment)
        exact = exact + increment.astype(np.float64)
        behind.append(np.mean(exact - state) / unit)
    return np.mean(behind[200:])


def small_increments(compensation, lowest, backend="mlu370"):
    """The largest error of 64 sums of 3,000 increments around a third of a unit, in units."""
    backend = sciprec.backends()[backend]
    unit = backend.compute.rounding_error
    drawn = np.random.default_rng(0).uniform(lowest * unit / 3, unit / 3, (3000, 64))
    increments = sciprec.quantize(drawn, backend).astype(np.float32)
    update = CarriedUpdate(backend, None if compensation == "none" else compensation)
    state = np.ones(64, np.float32)
    for increment in increments:
        update(state, increment)
    return np.abs(state - 1.0 - increments.sum(axis=0, dtype=np.float64)).max() / unit


def flow(truncation, scheme):
    """Flow over the mountain."""
    content = {
        "name": "flow", "title": "Flow", "source": "docs", "kind": "climate",
        "backends": ["mlu370"],
        "climate": {
            "case": "williamson_5", "truncation": truncation, "days": 1.0, "time_scheme": scheme,
        },
    }  # fmt: skip
    return parse_scenario(content)


def footprint(truncation, scheme):
    """Kilobytes of all residuals, how many variables fit, and in how many tiles all do."""
    found = sciprec.machine.compensation_footprint(flow(truncation, scheme))
    return found.total_bytes / 1000, len(found.fitting), found.tiles


def collisions():
    layout = sciprec.machine.compensation_footprint(flow(42, "rk4"), tile=(32, 128)).layout
    return layout.column_degree, layout.padded_pitch_bytes, layout.padded_column_degree


def in_row(file, beginning):
    """The numbers of a row of a table in a file."""
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    (row,) = (line for line in lines if line.startswith(beginning))
    return [float(x) for x in re.findall(r"(?<![\w`])\d+(?:\.\d+)?(?:e-?\d+)?(?![\w`])", row)]


def gains_in(file, beginning):
    """The first number of a row over those in the columns beside it."""
    first, once, _, twice, *_ = in_row(file, beginning)
    return first / once, first / twice


def traffic_of_a_carry():
    plain, carried = update_work("mlu370"), update_work("mlu370", residuals=1)
    return carried.bytes_moved / plain.bytes_moved


def bandwidths(machine):
    """The vendor's and the described one."""
    found = MACHINES[machine]
    beside = found.described_bandwidth
    return found.bandwidth.per_second, beside and beside.per_second


def fitted_days():
    """The length of the runs that `fit_compensation` compares where it is given none."""
    scenario = load_scenario(ROOT / "scenarios" / "quickstart_climate.toml")
    _, error = kinds()[scenario.kind].fitting(scenario.table, "mlu370", None, 1)
    return inspect.getclosurevars(error).nonlocals["days"]


def least_and_most_gain_of_energy():
    """From the table's drifts: none over carry, and over carry-sums."""
    text = (ROOT / "docs/lab/compensation.md").read_text(encoding="utf-8")
    number = r"(\d\.\de-\d)"
    rows = re.findall(rf"\| {number}, {number}, {number} \|$", text, flags=re.MULTILINE)
    assert len(rows) == 4
    gains = [float(none) / float(with_it) for none, *both in rows for with_it in both]
    return min(gains), max(gains)


@functools.cache
def long_sum(backend, compensation):
    """Of 64 sums of 10^7 increments: the largest error, in u; the mean sum over the exact one."""
    table = load_scenario(ROOT / "scenarios" / "long_accumulation.toml").accumulation
    model = sys.modules["sciprec_plugin_accumulation"].accumulation
    made, exact = (
        model(as_given(table), ModelArithmetic(*how)) for how in ((backend, compensation), ())
    )
    sums, truth = (float(each["parameter"][-1].mean()) for each in (made, exact))
    return float(made["largest_error_in_u"].max()), sums / truth


def relative_l2(found, truth):
    weights = np.polynomial.legendre.leggauss(truth.lat.size)[1][:, None]
    squares = (np.sum(weights * x.values**2) for x in (found - truth, truth))
    return float(np.sqrt(next(squares) / next(squares)))


@functools.cache
def mountain(days, step_seconds, *, backend=None, **kept):
    """The height of case 5 at T42 in the end."""
    arithmetic = {} if "policy" in kept else {"backend": backend or "fp64"}
    run = climate.run(
        "williamson_5", "T42", days, step_seconds=step_seconds, time_scheme="rk4", **arithmetic,
        **kept,
    )  # fmt: skip
    return run["height"].isel(time=-1)


def off_the_mountain(days, step_seconds, *changes):
    """Relative l2 errors of its height against fp64."""
    truth = mountain(days, step_seconds)
    return tuple(relative_l2(mountain(days, step_seconds, **kept), truth) for kept in changes)


@functools.cache
def blocks_left_out(arithmetic):
    """Per cent of blocks of synthesis and analysis that are left out, at T42, T85 and T170."""
    limit, found = negligible_in(resolve_backend(arithmetic)), []
    for name in ("T42", "T85", "T170"):
        row = resolve_truncation(name)
        for (whole, _), (less, _) in zip(make_tables(row), make_tables(row, limit), strict=True):
            found.append(round(100 * (1 - less[0].size / whole[0].size), 1))
    return found


@functools.cache
def reports_of_units():
    """Name of a stage of the scenario of matrix units -> what its units keep and do."""
    stages = load_scenario(named_scenario("matrix_units_mountain", "scenarios")).stages
    return {s.name: StagedTransform("T42", resolve_stages(s.resolved())).report() for s in stages}


def kilobytes_of_units():
    """Name of a stage of that scenario -> kB that its units keep."""
    reports = reports_of_units().items()
    return {name: sum(part["bytes"] for part in parts) / 1000 for name, parts in reports}


def kept_of_fp16():
    """Bytes of both tables in fp16 at T42 in memory, and on the unit."""
    row = resolve_truncation("T42")
    held = np.ones(coefficient_orders(row.number)[0].size, bool)
    stage = MatrixLegendre(row, MatrixUnit("fp16", "fp16"), held)
    in_memory = sum(s.nbytes for table in stage.tables for s in table.slices)
    return in_memory, stage.report()["bytes"]


def most_in_a_sum(accumulator):
    """How many products of slices an accumulator sums."""
    unit = MatrixUnit("int8", "int8", accumulate=accumulator, slices=2)

    def is_held(count):
        try:
            unit.require_sums(count)
        except InputError:
            return False
        return True

    return bisect(range(1, 2**20), False, key=lambda count: not is_held(count))


def room_of_stages():
    """Numbers of a field both ways over those of the grid: float stages, units, and groups."""
    units = [f"matrix:table=int8,field=int8{more}" for more in ("", ",slices=8")]
    groups = "matrix:table=int4,field=fp16,scale=group"
    asked = [("fp16", "T85"), ("mixed-m0", "T85"), *((Stages(u), "T85") for u in units)]
    asked += [(Stages(groups), name) for name in ("T42", "T85", "T170")]
    rows = [(resolve_stages(stages), resolve_truncation(name)) for stages, name in asked]
    fp64 = sciprec.backends()["fp64"]
    return tuple(
        StagedRoom(row, stages, fp64).pool(1, 1) / 8 / (row.nlon * row.nlat) for stages, row in rows
    )


def states(*stored):
    """Errors of states of their own formats, tendencies in binary64."""
    return off_the_mountain(15, 300.0, *({"stored": text} for text in stored))


@functools.cache
def policy_prices(scheme, paths, backend, compensation):
    """The three prices of `policies_heston.toml`."""
    content = tomllib.loads((ROOT / "scenarios" / "policies_heston.toml").read_text())
    for key in ("policy", "narrow", "wide", "tolerance"):
        del content[key]
    content["heston"]["simulation"] |= {"scheme": scheme, "n_paths": paths}
    changed = {"backends": [backend], "compensation": [compensation]}
    runs = plan([parse_scenario(content | changed)])
    (run,) = (run for run in runs if run.variant.backend == backend)
    return run_dataset(run)["price"].values


def off_in_prices(scheme, paths, *backends, compensation="carry"):
    """Relative l2 errors of those prices against fp64, which has no residuals."""
    truth = policy_prices(scheme, paths, "fp64", "none")
    prices = [policy_prices(scheme, paths, name, compensation) for name in backends]
    return tuple(float(np.linalg.norm(found - truth) / np.linalg.norm(truth)) for found in prices)


def off_in_policies(compensation, *names):
    """Errors of policies, bf16 over fp32, in the scenario's own scheme."""
    backends = [f"policy:{name},narrow=bf16,wide=fp32" for name in names]
    scheme = "quadratic_exponential_martingale"
    return off_in_prices(scheme, 65536, *backends, compensation=compensation)


def scaled(**kept):
    """The error of half precision in SI units with its residuals."""
    kept = {"backend": "fp16", "formulation": "naive", "compensation": "carry", **kept}
    return off_the_mountain(5, 1200.0, kept)[0]


@functools.cache
def free_surface_of_t42():
    """Case 5, day 15, published step and diffusion, against the stored T213."""
    finer = reference_dataset(ROOT / "data" / "climate" / "williamson_5_day15.npz", "T42")
    run = climate.run(
        "williamson_5", "T42", 15, time_scheme="semi_implicit_leapfrog", step_seconds=360,
        diffusion_m4_per_s=5.0e15, output_hours=360,
    )  # fmt: skip
    return relative_l2(run["height"].isel(time=-1), finer["height"])


def lost_below(name, degrees):
    """Kelvins from equilibrium below which a leapfrog step of 2400 s, relaxing over 40 days, moves
    a temperature by less than half a unit; `degrees` are a power of two of the model's units.
    """
    return degrees * 2.0 ** -compute(name).significand_bits * 40 * 86400 / 2400


def extremes_of_the_jet():
    """Height, vorticity (1e-5 / s), u and |v| of the stored truth at day 6, on the grid of T170."""
    truth = Reference.load(ROOT / "data" / "climate" / "galewsky_day6.npz")
    fields = truth.fields(GaussianGrid(resolve_truncation(170)))
    height, vorticity = fields["height"], fields["vorticity"] * 1e5
    extremes = [height.min(), height.max(), vorticity.min(), vorticity.max()]
    return (*extremes, fields["u"].max(), np.abs(fields["v"]).max())


def climate_of(name, *gates):
    found = json.loads((ROOT / "data" / "climate" / f"held_suarez_{name}.json").read_text())
    return tuple(found["gates"][gate] for gate in gates)


def hemispheres():
    """Largest difference in deviations of 100-day means; how many; the largest in standard errors
    of ten of them; the least and the largest share within two standard errors, over the means.
    """
    stored = json.loads(T42L20.read_text())
    half, found = len(stored["lat"]) // 2, []
    for name, values in stored["means"].items():
        sign = -1.0 if name in ("eddy_momentum_flux", "eddy_heat_flux") else 1.0
        south, north = (np.array(values)[:, part] for part in (slice(half), slice(half, None)))
        spread = np.array(stored["block_std"][name])
        spread = np.hypot(spread[:, half:], spread[:, :half][:, ::-1])
        found.append(np.abs(north - sign * south[:, ::-1]) / spread)
    largest, errors = max(x.max() for x in found), np.sqrt(10.0) * np.array(found)
    shares = [np.mean(x <= 2.0) for x in errors]
    return largest, errors.size, errors.max(), min(shares), max(shares)


def from_isca(name, theirs):
    """In standard errors of the difference of 1,000 days here and 500 there."""
    stored = json.loads(T42L20.read_text())
    error = stored["gates_block_std"][name] * np.sqrt(1 / 10 + 1 / 5)
    return abs(stored["gates"][name] - theirs) / error


WAVES = {
    row["name"]: row for row in json.loads(
        (ROOT / "data" / "climate" / "baroclinic_wave_arithmetics.json").read_text()
    )["arithmetics"]
}  # fmt: skip
SLOW = ["mlu370-noise", "fixed32", "fixed16"]


def forecasts(backends, **kept):
    """Of a climate of 100 days, by arithmetic."""
    content = {
        "name": "many", "title": "Many", "source": "docs/explain/batch.md", "kind": "climate",
        "backends": backends,
        "climate": {
            "case": "held_suarez", "truncation": 42, "days": 100.0, "step_seconds": 1200.0,
            "output_hours": 24.0, "parameters": {"levels": 20}, **kept,
        },
    }  # fmt: skip
    return {run.variant.backend: estimate(run) for run in plan([parse_scenario(content)])}


@functools.cache
def atmospheres():
    """Forecasts in ten arithmetics, zonal means kept."""
    quick = ["fp32", "fp16", "bf16", "tf32", "mlu370", "mlu370-noguard"]
    means = ["zonal_mean_u", "zonal_mean_temperature"]
    found = forecasts([*quick, *SLOW], variables=means)
    assert len(found) == 10
    return found


def core_hours():
    """Of 1,000 members in ten arithmetics; in the three slow ones; on 500 cores."""
    hours = {name: found.seconds / 3.6 for name, found in atmospheres().items()}
    return sum(hours.values()), sum(hours[name] for name in SLOW), sum(hours.values()) / 500


def megabytes():
    return max(found.megabytes for found in atmospheres().values())


def gigabytes_of_all_fields():
    return max(found.megabytes for found in forecasts(["fp32"]).values()) / 1000


@functools.cache
def quickstart(backend):
    """The file of the quickstart's prices in an arithmetic."""
    runs = plan([load_scenario(ROOT / "scenarios" / "quickstart_heston.toml")])
    return run_dataset(next(run for run in runs if run.variant.backend == backend))


def fewest_bits_of_lorenz():
    """Bits of the significand, of the exponent, and fewer ones that would do by chance."""
    example = runpy.run_path(str(ROOT / "examples" / "lorenz63.py"))
    with tempfile.TemporaryDirectory() as folder:
        found = sciprec.study(
            example["lorenz63"], [example["start"](), example["on_the_attractor"]()], out=folder,
            search="bits", tolerance={"path": 1e-2}, axes={"path": ("time", "component")},
            threads=1,
        ).search  # fmt: skip
    return found.bits, found.exponent_bits, *found.lucky


def calls(file, maturity, *strikes, **changed):
    """Semi-analytic prices for parameters of data/heston."""
    text = (ROOT / "data" / "heston" / f"{file}.toml").read_text(encoding="utf-8")
    model = heston.Model(**tomllib.loads(text)["model"] | changed)
    return tuple(
        float(analytic.price(model, heston.Call(strike=strike, maturity=maturity)))
        for strike in strikes
    )


@pytest.mark.parametrize("file", CLAIMS)
def test_what_is_claimed_stands_in_the_file(file):
    text = " ".join((ROOT / file).read_text(encoding="utf-8").split())
    missing = [claim["text"] for claim in CLAIMS[file] if claim["text"] not in text]
    assert not missing, f"{file} no longer says (change claims.toml with it): {missing}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "claim"),
    [
        pytest.param(file, claim, id=claim["text"][:40],
                     marks=[pytest.mark.survey] * claim.get("survey", False))
        for file, claims in CLAIMS.items() for claim in claims
    ],
)  # fmt: skip
def test_claims_are_what_the_code_gives(file, claim):
    assert claim.keys() <= {"text", "call", "value", "within", "survey"}, claim
    found, wanted = eval(claim["call"], globals()), claim["value"]
    found = list(found) if isinstance(found, tuple) else [found]
    wanted = wanted if isinstance(wanted, list) else [wanted]
    assert len(found) == len(wanted), f"{claim['call']} gives {found}"
    for mine, stated in zip(found, wanted, strict=True):
        same = mine == stated or abs(mine - stated) <= claim.get("within", 0.0) * abs(stated)
        assert same, f"{file} says {stated}; {claim['call']} gives {found}"


def test_the_table_of_arithmetics_is_that_of_the_code():
    """The rows of the page: bits, exponents, rounding, subnormals, beyond the largest."""
    words = {"kept": "kept", "flushed": "flushed to zero", "infinity": "infinity"}
    words |= {"nan": "NaN (no infinity)", "largest": "the largest"}
    text = (ROOT / "docs/reference/arithmetics.md").read_text(encoding="utf-8")
    text = text.replace("\N{MINUS SIGN}", "-")
    shown = re.findall(r"^\| `([\w-]+)` \| (\d+) \| (\S+ … \S+) \| (.*?) \|$", text, re.MULTILINE)
    known = {row["name"]: row for row in table()}
    for name, bits, exponents, rest in shown:
        row, (rounding, below, beyond) = known[name], rest.split(" | ")
        assert int(bits) == row["significand_bits"]
        assert exponents == f"{row['emin']} … {row['emax']}"
        assert rounding.split(",")[0] == row["rounding"].split(",")[0]
        assert (below, beyond) == (words[row["subnormals"]], words[row["overflow"]])
    assert len(shown) == 11
