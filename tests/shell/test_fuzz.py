"""Spoilt scenarios, files, arguments and options by the thousand: a sentence each, no traceback,
nothing computed.
"""

import contextlib
import copy
import itertools
import random
import tomllib
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import sciprec
from sciprec import climate, heston
from sciprec.arrays import adaptive_quantize, dequantize, fixed_matmul
from sciprec.arrays.sums import CarriedUpdate, Compensation, compensated_dot, compensated_sum
from sciprec.cli.exit_codes import GOOD, NOT_MET, USAGE
from sciprec.foundation.errors import InputError
from sciprec.results import on_pressure_levels
from sciprec.tools.trace.models import traces
from sciprec.workbench import trace_scenario, tune_scenario
from sciprec.workbench.batch.checking import check
from sciprec.workbench.batch.plan import plan
from sciprec.workbench.kinds import load_scenario, parse_scenario, scenario_tune
from sciprec.workbench.models import ModelArithmetic

ROOT = Path(__file__).parents[2]
LEWIS = ROOT / "data" / "heston" / "lewis.toml"
SCENARIO = ROOT / "scenarios" / "quickstart_heston.toml"
SHIPPED = [
    tomllib.loads(p.read_text(encoding="utf-8")) for p in sorted(ROOT.glob("scenarios/*.toml"))
]
VALUES = [
    None, True, False, 0, -1, 1, 7, 10**30, -(10**30), 0.0, -0.0, 1e-320, 1e308, -2.5, float("nan"),
    float("inf"), -float("inf"), "", " ", "fp16", "mlu370", "float:p=11,round=rz", "float:p=-3",
    "fixed:bits=24", "fixed:bits=99", "../../etc/passwd", "a\x00b", "williamson_2", "T42", "carry",
    "0.1%", "-5%", "x" * 5000, [], {}, [[]], [1, "a"], [0.0], {"a": 1}, [{}], [{"name": "x"}],
    "2026-11-21", "__import__('os').system('true')", "{{7*7}}", "\u202e", [1e400], 2**63,
]  # fmt: skip


def spoilt(content, rng):
    """A scenario with one to four places changed, removed, added, doubled or swapped."""
    content = copy.deepcopy(content)
    for _ in range(rng.randint(1, 4)):
        table = content
        while True:
            inner = [v for v in table.values() if isinstance(v, dict) and v]
            if not inner or rng.random() < 0.3:
                break
            table = rng.choice(inner)
        if not table:
            continue
        key, act = rng.choice(list(table)), rng.randrange(5)
        if act == 0:
            del table[key]
        elif act == 1:
            table[rng.choice(["days", "kind", "strikes", "tolerance", "x", ""])] = rng.choice(
                VALUES
            )
        elif act == 2:
            table[key], other = table[rng.choice(list(table))], table[key]
            table[rng.choice(list(table))] = other
        elif act == 3 and isinstance(table[key], (int, float)):
            table[key] = table[key] * rng.choice([-1, 0, 1e-30, 1e30, 0.5, 3])
        else:
            table[key] = rng.choice(VALUES)
    return content


def sentences(action):
    """The message where input was refused; anything else that is raised is a fault."""
    try:
        action()
    except InputError as error:
        assert str(error).strip()
        return str(error)
    return None


def planned(content):
    scenario = parse_scenario(content)
    plan([scenario])
    check(scenario)


def test_spoilt_scenarios_are_planned_or_refused_with_a_sentence():
    rng = random.Random(0)
    refused = 0
    for _ in range(800):
        content = spoilt(rng.choice(SHIPPED), rng)
        said = sentences(lambda content=content: planned(content))
        refused += said is not None
        for line in (said or "").splitlines():
            assert "Traceback" not in line and len(line) < 1200, content
    assert refused > 500


def test_files_of_any_bytes_are_refused_with_a_sentence(tmp_path):
    rng = random.Random(5)
    path = tmp_path / "scenario.toml"
    whole = (Path(__file__).parents[2] / "scenarios" / "heston_surface.toml").read_bytes()
    for n in range(500):
        noise = bytearray(whole)
        for _ in range(rng.randint(1, 30)):
            noise[rng.randrange(len(noise))] = rng.randrange(256)
        path.write_bytes(noise[: rng.randrange(len(noise))] if n % 2 else noise)
        sentences(lambda: load_scenario(path))


class Odd:
    """Something that no door knows."""


ODD = [
    None, True, float("nan"), float("inf"), -1, 0, 0.5, 1e308, 10**400, -(10**30), 2**63, "", "cal",
    "nan", "x" * 3000, "../../x", "a\x00b", "2 years", b"x", [], [1], (1, 2), {}, {"a": 1}, {1},
    [None], ["a"], [float("nan")], {"a": {}}, object(), Odd, Odd(), np.float64("inf"),
    np.float32(2), np.int64(-3), np.array([]), np.array([1.0, np.nan]), np.array("x"),
    np.zeros((2, 2)), np.array(True), 1j, Ellipsis, range(3), lambda x: x, xr.Dataset(),
    xr.DataArray([1.0]), np.datetime64("2020-01-01"), Path("x"), Fraction(1, 3), Decimal("nan"),
]  # fmt: skip
MODEL = {"spot": 100.0, "v0": 0.04, "kappa": 2.0, "theta": 0.04, "sigma": 0.5, "rho": -0.5,
         "rate": 0.01, "dividend_yield": 0.0}  # fmt: skip
USUAL = {"strike": 100.0, "maturity": 1.0, "fixings": 4, "start": 0.5, "moneyness": 1.0}


def halve(x, out):
    """A kernel."""
    for i in range(x.size):
        out[i] = 0.5 * x[i]


def doors():
    """Each public door with arguments that it takes: name -> (function, arguments)."""
    model, call = heston.Model(**MODEL), heston.Call(strike=100, maturity=1)
    pricing = {
        "model": model, "payoffs": call, "backend": "fp32", "tolerance": 0.01, "confidence": 0.95,
        "seed": 0, "scheme": "quadratic_exponential_martingale", "max_paths": 2**24,
        "max_seconds": None, "compensation": "correction", "threads": 1,
    }  # fmt: skip
    lifted = {"kernel": halve, "seed": 0, "path": "auto", "trust_inputs": False, "ranges": None,
              "adapt": "headroom"}  # fmt: skip
    given = {"x": np.linspace(0.1, 1.0, 5), "out": np.zeros(5)}
    asked = {"kernel": halve, "backend": "fp16", "args": given}
    values = np.linspace(0.1, 1.0, 5)
    found = {
        "climate.run": (climate.run, {
            "case": "williamson_2", "truncation": "T5", "days": 1, "backend": "fp32",
            "compensation": None, "step_seconds": 600, "output_hours": 24, "time_scheme": None,
            "stored": None, "stages": None, "variables": None, "checkpoints": None,
            "progress": None, "perturbation": None, "angle_degrees": 0.0, "viscosity": 0.0,
            "formulation": "careful", "monitor": None, "adaptive": None, "scaling": "none",
            "scales": None,
        }),
        "climate.run by a policy": (climate.run, {
            "case": "williamson_2", "truncation": "T5", "days": 1, "policy": "O2",
            "narrow": "fp16", "wide": "fp32",
        }),
        "Perturbation": (climate.Perturbation, {"member": 1, "amplitude": 1e-10, "seed": 0}),
        "Model": (heston.Model, MODEL),
        "price": (heston.price, pricing | {"relative": True, "variance_reduction": "auto"}),
        "price by a policy": (heston.price, {
            "model": model, "payoffs": call, "policy": "O2", "narrow": "bf16", "wide": "fp32",
        }),
        "greeks": (heston.greeks, pricing),
        "compensation_footprint": (sciprec.machine.compensation_footprint, {
            "scenario": load_scenario(ROOT / "scenarios" / "quickstart_climate.toml"),
            "backend": "mlu370", "tile": None,
        }),
        "on_pressure_levels": (on_pressure_levels, {
            "dataset": xr.Dataset(), "pressures_pa": (5000.0,),
        }),
        "run": (sciprec.run, {
            "scenarios": str(SCENARIO), "out": "out", "backends": ["fp32"], "scheduler": None,
            "workers": None, "threads": None, "format": "netcdf", "fresh": False,
        }),
        "load_scenario": (sciprec.load_scenario, {"path": SCENARIO}),
        "lift": (sciprec.lift, lifted | {"backend": "fp32"}),
        "lift to fixed point": (sciprec.lift, lifted | {"backend": "fixed32"}),
        "quantize": (sciprec.quantize, {"x": 1.5, "backend": "fp16", "seed": 0}),
        "compare": (
            lambda golden, actual, **limits: sciprec.compare(golden, actual, **limits),
            {"golden": np.ones(3), "actual": np.ones(3), "rtol": (), "atol": (), "max_ulp": ()},
        ),
        "call_prices": (
            lambda model, strikes, maturity: heston.analytic.call_prices(model, strikes, maturity),
            {"model": model, "strikes": [90.0], "maturity": 1.0},
        ),
        "study": (sciprec.study, {
            "kernel": halve, "args": given, "backends": ["fp16"], "output": None,
            "tolerance": None, "metric": "relative_l2", "out": "study", "axes": None,
            "search": None, "threads": 1, "fresh": False,
        }),
        "trace": (sciprec.trace, asked | {
            "output": None, "by": "line", "lanes": 4, "samples": 1,
        }),
        "tune": (sciprec.tune, {
            "kernel": halve, "args": given, "tolerance": 0.1, "output": None,
            "metric": "relative_l2", "formats": ("fp64", "bf16"), "by": "line", "check": None,
            "margin": 1.5,
        }),
        "monitor": (sciprec.monitor, asked | {
            "watch": ["x"], "level": 1, "every": 1, "alerts": None, "truth": True,
        }),
        "bound": (sciprec.bound, asked | {"output": None}),
        "check_memory": (sciprec.check_memory, asked),
        "Assignment": (sciprec.Assignment, {
            "formats": {"out": "bf16"}, "by": "variable", "default": "fp64", "kernel": halve,
            "name": "mine",
        }),
        "ModelArithmetic": (ModelArithmetic, {
            "backend": "fp16", "compensation": None, "member": 0, "amplitude": 1e-10, "seed": 0,
            "threads": 1, "monitor": None, "adaptive": None,
        }),
        "model": (sciprec.model, {
            "name": "mine", "perturbs": (), "variables": None, "brief": None,
        }),
        "adaptive_quantize": (adaptive_quantize, {
            "x": values, "bits": 16, "headroom": 0, "axis": None, "block": None, "round": "rn",
            "scale": "power_of_two", "saturate": True, "nonfinite": "refuse",
        }),
        "dequantize": (dequantize, {"integers": [1, 2], "scale": 0.5}),
        "fixed_matmul": (fixed_matmul, {
            "A": np.eye(2), "B": np.eye(2), "bits": 16, "accurate": False, "scales": None,
        }),
        "CarriedUpdate": (CarriedUpdate, {
            "backend": "fp16", "compensation": "carry", "trust_inputs": True, "seed": 0,
        }),
        "Compensation": (Compensation, {
            "alpha": 1.0, "beta": 0.0, "reset_every": None, "sums": False,
        }),
        "compensated_sum": (compensated_sum, {
            "x": values, "backend": "fp16", "method": "carry", "block": 64,
        }),
        "compensated_dot": (compensated_dot, {
            "x": values, "y": values, "backend": "fp16", "method": "carry", "block": 64,
        }),
        "Format": (sciprec.Format, {
            "name": "mine", "significand_bits": 9, "emin": -14, "emax": 15, "subnormals": True,
            "overflow": "infinity", "largest": None,
        }),
    }  # fmt: skip
    for name, entry in heston.payoffs().items():
        usual = USUAL | {"barrier": 80.0 if "down" in name else 120.0}
        found[name] = (entry, {p: usual[p] for p in entry.parameters})
    return found


ANY = {("Assignment", "name"), ("Format", "name")}  # any object is shown as it is


def is_one_clear_sentence(said):
    """Of one line, bounded, without what only programs read, and with what is accepted."""
    assert said.strip() and len(said.splitlines()) == 1 and len(said) < 1200, said
    assert "Traceback" not in said and " object at 0x" not in said, said


@pytest.mark.filterwarnings("ignore")
@pytest.mark.slow
def test_every_argument_of_every_door_is_taken_or_refused(nothing_is_computed):
    """Each argument of each door beside good others: one of six odd values."""
    for name, (door, usual) in doors().items():
        said = sentences(lambda d=door, g=usual: d(**g))
        assert said in (None, "the computation") or name == "on_pressure_levels", said
    pairs = [(name, key, value) for name, (_, usual) in doors().items() for key in usual
             for value in ODD if (name, key) not in ANY]  # fmt: skip
    pairs, refused = random.Random(3).sample(pairs, len(pairs) // 6), 0
    for name, key, value in pairs:
        door, usual = doors()[name]
        said = sentences(lambda d=door, g=usual | {key: value}: d(**g))
        if said is not None:
            is_one_clear_sentence(said)
            refused += said != "the computation"
    assert refused > 0.5 * len(pairs)


class Computes(Exception):
    """What is given has been taken."""


def stop(*given, **more):
    raise Computes


@pytest.mark.slow
def test_doors_of_models_take_or_refuse_every_argument_before_they_compute(monkeypatch):
    """A check that is no mapping, outputs that are no names, and changes in an array once ended in
    Python's own errors.
    """
    monkeypatch.setattr(traces, "Census", stop)
    monkeypatch.setattr(scenario_tune, "tuned", stop)
    few = {"heston.simulation.n_paths": 16}
    usual = {"scenario": "quickstart_heston", "output": None, "changes": few}
    for door, more in (
        (trace_scenario, {"backend": "fp16", "by": "line", "lanes": 4, "samples": None}),
        (tune_scenario, {
            "tolerance": 0.1, "metric": "relative_l2", "formats": ("fp64", "bf16"), "by": "line",
            "check": None, "margin": 1.5,
        }),
    ):  # fmt: skip
        given, refused = usual | more, 0
        with pytest.raises(Computes):
            door(**given)
        asked = random.Random(len(given)).sample([*itertools.product(given, ODD)], 80)
        for key, value in asked:
            with contextlib.suppress(Computes):
                said = sentences(lambda d=door, g=given | {key: value}: d(**g))
                is_one_clear_sentence(said.splitlines()[0])
                refused += 1
        assert refused > 0.9 * len(asked)


WORDS = [
    "", " ", "nan", "inf", "-inf", "-1", "0", "1e400", "9" * 5000, "8.5", "cal", "../../x", "/",
    "x" * 3000, "{}", "T42", "0x10", "1_000", "--", "-", "100%", "\u202e", "\u0663", "1,5", "a=b",
]  # fmt: skip
ASKED = (f"{__file__}:halve", "--inputs", "in.npz")
VERBS = {
    ("price", "--model", LEWIS, "--payoff", "call", "--strike", "100", "--maturity", "1"): (
        "--model", "--payoff", "--strike", "--maturity", "--tolerance", "--backend", "--fixings",
        "--barrier", "--start", "--moneyness", "--scheme", "--confidence", "--seed", "--max-paths",
        "--greeks-tolerance", "--max-seconds", "--variance-reduction", "--threads", "--spot",
        "--v0", "--kappa", "--theta", "--sigma", "--rho", "--rate", "--dividend-yield",
    ),
    ("run", SCENARIO): (
        "", "--backend", "--out", "--workers", "--scheduler", "--threads", "--format",
    ),
    ("compare", "one.npy", "one.npy"): (
        "", "--rtol", "--atol", "--max-ulp", "--stored", "--html", "--junit-xml",
    ),
    ("report",): ("",),
    ("list", "backends"): ("--scenario",),
    ("study", *ASKED, "--out", "study"): (
        "", "--backend", "--output", "--tolerance", "--metric", "--axes", "--search", "--threads",
        "--junit-xml",
    ),
    ("trace", *ASKED, "--backend", "fp16", "--samples", "1"): (
        "", "--backend", "--by", "--output", "--samples", "--set", "--html",
    ),
    ("tune", *ASKED, "--tolerance", "0.1", "-b", "fp64,bf16"): (
        "", "--tolerance", "-b", "--by", "--metric", "--margin", "--check", "--output",
        "--set", "--save",
    ),
    ("monitor", *ASKED, "--backend", "fp16", "--watch", "x"): (
        "", "--backend", "--watch", "--level", "--every", "--alert",
    ),
    ("list",): ("",),
    ("monitor", "--once"): ("",),
    ("baseline", "list"): ("--folder",),
    ("baseline", "show"): ("",),
    ("baseline", "bless"): ("", "--reason"),
    ("baseline", "check"): ("", "--slower", "--larger", "--batch", "--threads"),
    ("climate", "run", "williamson_2", "--truncation", "T5"): (
        "", "--days", "--backend", "--truncation", "--step-seconds", "--compensation",
        "--time-scheme", "--output-hours", "--set", "--threads",
    ),
    ("scenario", "show"): ("",),
    ("bound", *ASKED, "--backend", "fp16"): ("", "--metric", "--output"),
    ("check-memory", *ASKED): ("", "--backend"),
    ("dev", "coverage", "--small"): (
        "--backend", "--seeds", "--tolerance", "--case", "--confidence",
    ),
}  # fmt: skip


def is_taken_or_refused(call, arguments):
    """An exit code that users get, and something said where it is not the good one."""
    code, out, err = call(*arguments)
    assert code in (GOOD, NOT_MET, USAGE), (arguments, err)
    assert "Traceback" not in out + err, arguments
    assert code == GOOD or err or out, arguments


@pytest.mark.parametrize("part", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_every_word_on_the_command_line_is_taken_or_refused(call, nothing_is_computed, part):
    """One of twelve pairs of option and word, or of five; exit code 3 would be sciprec's fault."""
    np.save("one.npy", np.ones(3))
    np.savez("in.npz", x=np.linspace(0.1, 1.0, 5), out=np.zeros(5))
    given = [(*verb, *filter(None, [option]), word) for verb, options in VERBS.items()
             for option in options for word in WORDS]  # fmt: skip
    random.Random(4).shuffle(given)
    for arguments in given[part :: 12 if part == 0 else 5]:
        is_taken_or_refused(call, arguments)
