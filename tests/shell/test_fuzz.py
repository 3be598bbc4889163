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
import typer
import xarray as xr

import sciprec
from sciprec import climate, heston
from sciprec.arrays import adaptive_quantize, dequantize, fixed_matmul
from sciprec.arrays.sums import CarriedUpdate, Compensation, compensated_dot, compensated_sum
from sciprec.cli import commands
from sciprec.cli.console import GOOD, NOT_MET, USAGE
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
    for _ in range(250):
        content = spoilt(rng.choice(SHIPPED), rng)
        said = sentences(lambda content=content: planned(content))
        refused += said is not None
        for line in (said or "").splitlines():
            assert "Traceback" not in line and len(line) < 1200, content
    assert refused > 150


def test_files_of_any_bytes_are_refused_with_a_sentence(tmp_path):
    rng = random.Random(5)
    path = tmp_path / "scenario.toml"
    whole = (Path(__file__).parents[2] / "scenarios" / "heston_surface.toml").read_bytes()
    for n in range(150):
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
    """Each public door: name -> (function, arguments that it takes, names of its further ones)."""
    model, call = heston.Model(**MODEL), heston.Call(strike=100, maturity=1)
    pricing = {"model": model, "payoffs": call, "tolerance": 0.01}
    priced = "backend confidence seed scheme max_paths max_seconds compensation threads"
    flow = {"case": "williamson_2", "truncation": "T5", "days": 1}
    given = {"x": np.linspace(0.1, 1.0, 5), "out": np.zeros(5)}
    asked = {"kernel": halve, "backend": "fp16", "args": given}
    values, lifted = np.linspace(0.1, 1.0, 5), "seed path trust_inputs ranges adapt"
    summed = {"x": values, "backend": "fp16", "method": "carry"}
    found = {
        "climate.run": (climate.run, flow | {"backend": "fp32", "step_seconds": 600},
                        "compensation output_hours time_scheme stored stages variables checkpoints "
                        "progress perturbation angle_degrees viscosity formulation monitor "
                        "adaptive scaling scales"),
        "climate.run by a policy": (
            climate.run, flow | {"policy": "O2", "narrow": "fp16", "wide": "fp32"}, ""),
        "Perturbation": (climate.Perturbation, {"member": 1}, "amplitude seed"),
        "Model": (heston.Model, MODEL, ""),
        "price": (heston.price, pricing, f"{priced} relative variance_reduction"),
        "price by a policy": (heston.price, {
            "model": model, "payoffs": call, "policy": "O2", "narrow": "bf16", "wide": "fp32",
        }, ""),
        "greeks": (heston.greeks, pricing, priced),
        "compensation_footprint": (sciprec.machine.compensation_footprint, {
            "scenario": load_scenario(ROOT / "scenarios" / "quickstart_climate.toml"),
            "backend": "mlu370",
        }, "tile"),
        "on_pressure_levels": (on_pressure_levels, {
            "dataset": xr.Dataset(), "pressures_pa": (5000.0,),
        }, ""),
        "run": (sciprec.run, {"scenarios": str(SCENARIO)},
                "out backends scheduler workers threads format fresh"),
        "load_scenario": (sciprec.load_scenario, {"path": SCENARIO}, ""),
        "lift": (sciprec.lift, {"kernel": halve, "backend": "fp32"}, lifted),
        "lift to fixed point": (sciprec.lift, {"kernel": halve, "backend": "fixed32"}, lifted),
        "quantize": (sciprec.quantize, {"x": 1.5, "backend": "fp16"}, "seed"),
        "compare": (
            lambda golden, actual, **limits: sciprec.compare(golden, actual, **limits),
            {"golden": np.ones(3), "actual": np.ones(3)}, "rtol atol max_ulp",
        ),
        "call_prices": (
            lambda model, strikes, maturity: heston.analytic.call_prices(model, strikes, maturity),
            {"model": model, "strikes": [90.0], "maturity": 1.0}, "",
        ),
        "study": (sciprec.study, {"kernel": halve, "args": given, "backends": ["fp16"]},
                  "output tolerance metric out axes search threads fresh"),
        "trace": (sciprec.trace, asked, "output by lanes samples"),
        "tune": (sciprec.tune, {"kernel": halve, "args": given, "tolerance": 0.1},
                 "output metric formats by check margin"),
        "monitor": (sciprec.monitor, asked | {"watch": ["x"]}, "level every alerts truth"),
        "bound": (sciprec.bound, asked, "output"),
        "check_memory": (sciprec.check_memory, asked, ""),
        "Assignment": (sciprec.Assignment, {"formats": {"out": "bf16"}, "by": "variable"},
                       "default kernel"),
        "ModelArithmetic": (ModelArithmetic, {"backend": "fp16"},
                            "compensation member amplitude seed threads monitor adaptive"),
        "model": (sciprec.model, {"name": "mine"}, "perturbs variables brief"),
        "adaptive_quantize": (adaptive_quantize, {"x": values},
                              "bits headroom axis block round scale saturate nonfinite"),
        "dequantize": (dequantize, {"integers": [1, 2], "scale": 0.5}, ""),
        "fixed_matmul": (fixed_matmul, {"A": np.eye(2), "B": np.eye(2)}, "bits accurate scales"),
        "CarriedUpdate": (CarriedUpdate, {"backend": "fp16"}, "compensation trust_inputs seed"),
        "Compensation": (Compensation, {}, "alpha beta reset_every sums"),
        "compensated_sum": (compensated_sum, summed, "block"),
        "compensated_dot": (compensated_dot, summed | {"y": values}, "block"),
        "Format": (sciprec.Format, {
            "name": "mine", "significand_bits": 9, "emin": -14, "emax": 15,
        }, "subnormals overflow largest"),
    }  # fmt: skip
    for name, entry in heston.payoffs().items():
        usual = USUAL | {"barrier": 80.0 if "down" in name else 120.0}
        found[name] = (entry, {p: usual[p] for p in entry.parameters}, "")
    return found


ANY = {("Format", "name")}  # any object is shown as it is


def is_one_clear_sentence(said):
    """Of one line, bounded, without what only programs read, and with what is accepted."""
    assert said.strip() and len(said.splitlines()) == 1 and len(said) < 1200, said
    assert "Traceback" not in said and " object at 0x" not in said, said


@pytest.mark.filterwarnings("ignore")
@pytest.mark.slow
def test_every_argument_of_every_door_is_taken_or_refused(nothing_is_computed):
    """Each argument of each door beside good others: one of twelve odd values."""
    known = doors()
    for name, (door, usual, _) in known.items():
        said = sentences(lambda d=door, g=usual: d(**g))
        assert said in (None, "the computation") or name == "on_pressure_levels", said
    pairs = [(name, key, value) for name, (_, usual, more) in known.items()
             for key in [*usual, *more.split()] for value in ODD
             if (name, key) not in ANY]  # fmt: skip
    pairs, refused = random.Random(3).sample(pairs, len(pairs) // 12), 0
    for name, key, value in pairs:
        door, usual, _ = known[name]
        said = sentences(lambda d=door, g=usual | {key: value}: d(**g))
        if said is not None:
            is_one_clear_sentence(said)
            refused += said != "the computation"
    assert refused > 0.5 * len(pairs)


class Computes(Exception):
    """A sign that the arguments have been taken."""


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
        asked = random.Random(len(given)).sample([*itertools.product(given, ODD)], 40)
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
VERBS = (
    ("price", "--model", LEWIS, "--payoff", "call", "--strike", "100", "--maturity", "1"),
    ("run", SCENARIO), ("compare", "one.npy", "one.npy"), ("report",), ("list", "backends"),
    ("study", *ASKED, "--out", "study"), ("trace", *ASKED, "--backend", "fp16", "--samples", "1"),
    ("tune", *ASKED, "--tolerance", "0.1", "-b", "fp64,bf16"), ("monitor", "--once"),
    ("monitor", *ASKED, "--backend", "fp16", "--watch", "x"), ("list",), ("scenario", "show"),
    ("baseline", "list"), ("baseline", "show"), ("baseline", "bless"), ("baseline", "check"),
    ("climate", "run", "williamson_2", "--truncation", "T5"), ("dev", "coverage", "--small"),
    ("bound", *ASKED, "--backend", "fp16"), ("check-memory", *ASKED),
)


def options_of(verb):
    """The options of a verb that take a value, and none, for a word by itself."""
    command = typer.main.get_command(commands.app)
    for word in verb:
        command = getattr(command, "commands", {}).get(word, command)
    return [(), *((one.opts[0],) for one in command.params
                  if one.param_type_name == "option" and not one.is_flag)]  # fmt: skip


def is_taken_or_refused(call, arguments):
    """An exit code that users get, and something said where it is not the good one."""
    code, out, err = call(*arguments)
    assert code in (GOOD, NOT_MET, USAGE), (arguments, err)
    assert "Traceback" not in out + err, arguments
    assert code == GOOD or err or out, arguments


@pytest.mark.slow
@pytest.mark.parametrize("each", [20, pytest.param(1, marks=pytest.mark.survey)])
def test_every_word_on_the_command_line_is_taken_or_refused(call, nothing_is_computed, each):
    """Or one of twenty pairs of option and word; exit code 3 would be sciprec's fault."""
    np.save("one.npy", np.ones(3))
    np.savez("in.npz", x=np.linspace(0.1, 1.0, 5), out=np.zeros(5))
    given = [(*verb, *option, word) for verb in VERBS for option in options_of(verb)
             for word in WORDS]  # fmt: skip
    random.Random(4).shuffle(given)
    for arguments in given[::each]:
        is_taken_or_refused(call, arguments)
