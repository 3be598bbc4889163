"""What is wrong on a command line or in a scenario is a sentence, said before anything is computed.

A row for each sentence: what was given, what is accepted, what to do. Random ones are in
tests/random_scenarios and test_fuzz.py.
"""

import copy
import re
import shlex
import shutil
import tomllib
from pathlib import Path

import numpy as np
import pytest

from sciprec.cli.console import USAGE
from sciprec.foundation.errors import InputError
from sciprec.workbench.batch import workflow
from sciprec.workbench.kinds import parse_scenario
from tests.shell.conftest import BOUNDED, CLIMATE, HESTON, SUM
from tests.studies import kernels

ROOT = Path(__file__).parents[2]
DATA = ROOT / "data" / "heston"
CALL = "price --model lewis --payoff call --strike 100 --maturity 1"
ASIAN = "price --model lewis --payoff asian-arithmetic --strike 100 --maturity 1"
DOWN = "price --model lewis --payoff barrier-down-out --strike 100 --maturity 1"
FLOW = "climate run williamson_5 --backend fp16"
COVERAGE = f"dev coverage --references {DATA / 'europeans.json'}"
STUDY = "study my.py:diffuse --inputs in.npz --backend fp32"
KERNEL = "k.py:f --inputs k.py:start"
COMMANDS = {
    # run
    "run nothing.toml":
    "scenario file 'nothing.toml' does not exist; give the path of a TOML file, "
    "or the name of a scenario that comes with sciprec, such as quickstart_climate",
    "run quickstart_hesto": "did you mean 'quickstart_heston'?",
    "run climate.toml --backend bf61": "unknown backend 'bf61'; known: fp64, ",
    "run quickstart_climate -b fp16,binary32": "'fp16,binary32' is several backends in one word; "
    "accepted: one, such as 'fp16'",
    "run climate.toml climate.toml": "is used by 2 of the scenarios; names must differ",
    "run climate.toml --workers 2 --scheduler tcp://x:1": "give one of them",
    "run climate.toml --format csv": "unknown format 'csv'; known: netcdf, zarr",
    "run climate.toml --out a --out=b": "--out is given 2 times; accepted: once",
    "run k.py": "'k.py' is a Python file, and a scenario is a TOML file",
    "run": "Missing argument",
    "--completion fsh": "unknown shell 'fsh'; known: bash, zsh, fish; did you mean 'fish'?\n",
    "report .": "holds no batch: there is no batch.json in it; give the folder",
    **{f"scenario {verb} hestn": "unknown kind 'hestn'; known: climate, heston, accumulation"
       for verb in ("keys", "schema", "new")},
    # run --set
    "run climate.toml --set climate.days":
    "--set is given 'climate.days'; it takes a key and a value, as in clim",
    "run climate.toml --set climate.dayz=3":
    "unknown key 'climate.dayz'; known: case, truncation, ",
    "run climate.toml --set climate.days.x=3":
    "the key 'climate.days.x' is set, but 'climate.days' is no table; "
    "set a key of a table, such as climate.days",
    "run climate.toml --set tolerance.1.at_most=3":
    "is set, but 'tolerance' is an array of 1; give the number of",
    "run quickstart_climate --set truncation=21": "did you mean 'climate.truncation'?",
    # climate run
    f"{FLOW} --truncation t42": "did you mean 'T42'?",
    f"{FLOW} --days -1": "key 'climate.days' was given -1.0 (a number); accept",
    # compare
    "compare a.nc b.nc": "netCDF file 'a.nc' does not exist; give a file",
    "compare in.npz in.npz --stored m.json": "--stored and files were both given",
    "compare --stored m.json": "metrics file 'm.json' does not exist",
    "compare": "two files are compared, the truth and the run; write `sciprec compare TRUTH",
    # price
    f"{CALL} --rho 1.5":
    "sciprec: --rho: key 'model.rho' was given 1.5 (a number); accepted: a correlation in [-1, 1]",
    f"{CALL} --maturity 101": "maturity is 101.0; accepted: years > 0, at most 100",
    f"{CALL} --strike 0": "strike is 0.0; accepted: a price > 0, at most 1e12",
    f"{CALL} --rate five": "accepted: a number or a percentage, 0.05 or",
    f"{CALL} --tolerance -1%": "tolerance is '-1%'; accepted: a share of the price above 0",
    f"{CALL} --greeks --greeks-tolerance 1abs": "tolerance is '1abs'; accepted: a sh",
    f"{CALL} --barrier 90": "payoff 'call' does not take --barrier; it takes --strike, --",
    f"{ASIAN} --fixings 0": "fixings is 0; accepted: an integer from",
    CALL.replace("call", "cal"): "did you mean 'call'?",
    CALL.replace("call", "put-down-out"): "did you mean 'barrier-down-out-put'?",
    DOWN: "payoff 'barrier-down-out' needs --barrier; it",
    f"{DOWN} --barrier 100":
    "barrier is 100.0 with spot 100.0, already hit; accepted: a barrier below the spot",
    f"{CALL} --scheme milstein": "unknown scheme 'milstein'; known: ",
    f"{CALL} --confidence 1": "confidence is 1.0; accepted: a probability above 0",
    f"{CALL} --max-seconds 0": "--max-seconds is 0.0; accepted: a number of seconds > 0",
    CALL.replace("lewis", str(DATA / "europeans.json")): "holds JSON; a model is a TOML file",
    CALL.replace("lewis", "none.toml"): "model file 'none.toml' does not exist; give the path of",
    CALL.replace("lewis", "lewi"): "comes with sciprec, such as lewis; did you mean 'lewis'?\n",
    CALL.replace("--model lewis", ""):
    "no model was given; give --model with a TOML file or a name such as lewis ... all of --spot, "
    "--v0, --kappa, --theta, --sigma, --rho\n",
    CALL.replace("--model lewis", "--spot 100"):
    "options: the key 'model.v0' is missing; accepted: an initial variance",
    **{CALL.replace("lewis", f"{name}.toml"): f"{name}.toml: {said}" for name, said in {
        "beyond": "key 'model.rho' was given -1.5",
        "misspelt": "unknown key 'model.roh'; known: spot, ",
        "rho": "the key 'model.rho' is missing; accepted: a correlation in [-1, 1]",
        "text": "key 'model.kappa' was given '4' (a string)",
        "heading": "unknown key 'modle'; known: source, model; did you mean 'model'?",
        "bracket": "is not valid TOML", "author": "unknown key 'author'; known: source, model",
        "number": "key 'model' was given 3 (a whole number); accepted: th",
    }.items()},
    # coverage
    "dev coverage --references none.json": "file of reference prices 'none.json' does not exist; ",
    "dev coverage --references empty.json": "holds no reference prices",
    "dev coverage --references bare.json": "holds no reference prices",
    f"{COVERAGE} --case lewis": "has no case lewis; accepted: ",
    f"{COVERAGE} --tolerance 1abs": "tolerance is '1abs'; accepted: a share, such as",
    "dev coverage --random 2 --small": "accepted: --random with --draw",
    # kernels
    "trace k.py -b bf16":
    "'k.py' is a Python file without a function; name one of it, as in k.py:f;"
    " its functions: f, s",
    STUDY.replace(":diffuse", ""): "the kernel is 'my.py'; accepted: a Python file and a function",
    STUDY.replace("diffuse", "difuse"):
    "defines no 'difuse'; its functions: diffuse, inputs, moved, pair",
    STUDY.replace("diffuse", "made"): "is a str; give a Python function",
    STUDY.replace("in.npz", "lacking.npz"):
    "the argument 'alpha' of diffuse(u, alpha, steps, path) is missing; given: u",
    STUDY.replace("in.npz", "odd.npz"): "the argument 'u' has dtype <U1; accepted",
    STUDY.replace("in.npz", "broken.npz"): "cannot be read as a NumPy file",
    STUDY.replace("in.npz", "none.npz"): "NumPy file 'none.npz' does not exist",
    STUDY.replace("in.npz", "my.py"): "name the function that makes them",
    STUDY.replace("in.npz", "my.py:moved"): "which makes inputs, failed with TypeError",
    f"{STUDY} --tolerance 1% --metric max_abs":
    "--tolerance is given '1%' of the metric max_abs, which has units; it takes a number",
    f"{STUDY} --axes path": "--axes is given 'path'; it takes the names",
    STUDY.replace("--backend fp32", ""): "no arithmetic was given",
    "study wrong.py:f --inputs in.npz -b fp32":
    "kernel file 'wrong.py' cannot be loaded (SyntaxError",
}  # fmt: skip


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """A folder with files that commands are given."""
    folder = tmp_path_factory.mktemp("inputs")
    write_inputs(folder)
    return folder


def write_inputs(folder):
    """Write the files that commands are given: scenarios, kernels, models, and bad ones."""
    given = kernels.inputs()
    np.savez(folder / "in.npz", **given)
    np.savez(folder / "lacking.npz", u=np.zeros(3))
    np.savez(folder / "odd.npz", **(given | {"u": np.array(["a", "b"])}))
    lewis = (DATA / "lewis.toml").read_text(encoding="utf-8")
    texts = {
        "climate.toml": CLIMATE, "heston.toml": HESTON, "broken.npz": "PK", "wrong.py": "def f(:\n",
        "k.py": "from math import sqrt\n\ndef f(x):\n    return x * 1.1\n\n"
        "def start():\n    return 2.0,\n",
        "my.py": "from statistics import mean\n" + (ROOT / "tests/studies/kernels.py").read_text(),
        "empty.json": "{", "list.json": "[]", "three.json": '{"cases": 3}',
        "bare.json": '{"cases": [{}]}',
        "beyond.toml": lewis.replace("rho = -0.5", "rho = -1.5"),
        "misspelt.toml": lewis.replace("rho = -0.5", "roh = -0.5"),
        "rho.toml": lewis.replace("rho = -0.5", ""),
        "text.toml": lewis.replace("kappa = 4.0", 'kappa = "4"'),
        "heading.toml": lewis.replace("[model]", "[modle]"),
        "bracket.toml": lewis.replace("[model]", "[model"),
        "author.toml": lewis.replace("source = ", "author = "),
        "number.toml": lewis.replace("[model]", "model = 3\n[other]"),
    }  # fmt: skip
    for name, text in texts.items():
        assert text != lewis
        (folder / name).write_text(text, encoding="utf-8")


def says(text, words):
    """Whether words are there, with others in place of dots between spaces."""
    return re.search(".*".join(map(re.escape, words.split(" ... "))), text) is not None


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_wrong_on_a_command_line_is_a_sentence_and_leaves_nothing(
    command, inputs, call, tmp_path, monkeypatch
):
    here = tmp_path / "here"
    shutil.copytree(inputs, here)
    monkeypatch.chdir(here)
    before = {path.name for path in here.iterdir()}
    code, out, err = call(*shlex.split(command))
    assert (code, out) == (USAGE, "") and says(err, COMMANDS[command]) and "Traceback" not in err
    assert {path.name for path in here.iterdir()} - {"__pycache__"} == before


UNITS = {
    "name": "units", "title": "Units", "source": "Williamson et al. (1992), case 5",
    "kind": "climate", "backends": ["fp64"],
    "climate": {"case": "williamson_5", "truncation": 10, "days": 0.05, "step_seconds": 1080.0},
}  # fmt: skip
SCALED = UNITS | {"backends": ["fp16", "e4m3fn"], "scaling": ["none", "static", "dynamic"]}
SMILE = tomllib.loads(HESTON)
BASES = {
    "flow": tomllib.loads(CLIMATE), "smile": SMILE, "surface": tomllib.loads(BOUNDED),
    "units": UNITS, "scaled": SCALED, "sum": SUM,
}  # fmt: skip
PATHS = SMILE["heston"]["simulation"]
INT8 = "matrix:table=int8,field=int8"
KNOWN = "height, u, v, vorticity, divergence, mass, energy, potential_enstrophy"


def weak(**keys):
    """A compensation of one's own."""
    return {"compensation": [{"name": "w", **keys}]}


def own(**keys):
    """Stages of one's own."""
    return {"stages": [{"name": "own", **keys}]}


SCENARIOS = {
    "flow": [
        ({"climate.days": "three"},
         "file: key 'climate.days' was given 'three' (a string); accepted: "
         "a number of days > 0 ... write for example `days = 5.0`"),
        ({"climate.dayz": 3.0}, "unknown key 'climate.dayz' ... did you mean 'days'?"),
        ({"climate.truncation": 0}, "unknown truncation 0; accepted: T1 to T1023"),
        ({"climate.parameters": {"x": float("nan")}}, ".x': the value is nan; a"),
        ({"climate.step_seconds": 999.0}, "no whole number of steps of 999 s"),
        ({"climate.days": 9e3, "climate.output_hours": 0.1}, "asks for 2160000 stored"),
        ({"climate.checkpoints": "../x"},
         "key 'climate.checkpoints' was given ... leaves the output"),
        ({"backends": ["bf61"]}, "unknown backend 'bf61' ... did you mean 'bf16'?"),
        ({"backends": ["fp16", "fp16"]}, "a backend is named twice"),
        ({"kind": "climat"}, "did you mean 'climate'?"),
        ({"name": "../up"}, "key 'name' was given '../up'"),
        ({"ensemble": {"members": 2, "perturbation": 0.5}}, "accepted: a share"),
        ({"tolerance.0.variable": "hight"}, f"with these keys: {KNOWN}; did you mean 'height'"),
        ({"tolerance.0.variable": "time"}, "unknown variable 'time'"),
        ({"tolerance.0.metric": "standard_errors"},
         "holds 'height' against its st ... have one: none; name another"),
        ({"compensation": ["karry"]},
         "unknown compensation 'karry'; known: none, carry,  ... did you mean "
         "'carry'? ... ; or give it coefficients, such as { name = \"karry\", alpha = 0.5 }"),
        ({"compensation": ["none", "none"]},
         "key 'compensation' was given  ... (a compensation is named "
         "twice); accepted: an array of names"),
        ({"compensation": "carry"},
         "key 'compensation' was given 'carry' (a string); accepted: an array"),
        (weak(alpha=3.0),
         "key 'compensation.0.alpha' was given 3.0 (a number); accepted: a number from "
         "0 to 2: the share of the residual"),
        ({"compensation": [{"name": "W", "alpha": 1.0}]},
         "or a name of your own with coefficients: lower-case"),
        ({"compensation": [{"name": "carry", "alpha": 0.5}]},
         "'carry' has coefficients of its own already; give"),
        (weak(alpha=0.5, variables={"vorticity": {}}),
         "has coefficients for all variables and a table 'variables'; give one of them"),
        (weak(variables={"vorticty": {}}),
         "scenario 'little_climate': table [climate]: compensation names the unknown variable "
         "'vorticty'; known: vorticity, divergence, geopotential; did you mean 'vorticity'?"),
        ({"stages": ["mixt"]},
         "stages is 'mixt'; accepted: none, fp16,  ... did you mean 'mixed'?"),
        ({"stages": [{"name": "mixed", "legendre": "bf16"}]},
         "'mixed' have arithmetics already; give you"),
        ({"monitor": {"watch": ["vorticity"], "alerts": {"moved": ["x"]}}},
         "'monitor.alerts': alerts.moved is ['x']; accepted: a share"),
        ({"trace": {"by": "lines"}}, "'trace.by' was given 'lines'"),
    ],
    "smile": [
        ({"heston.model.rho": -1.7}, "accepted: a correlation in [-1, 1]"),
        ({"heston.payoffs.strikes": [90.0, 80.0]}, "the numbers must be increasing"),
        ({"heston.payoffs.parameters": {"a": float("nan")}}, "rameters.a'"),
        ({"heston.payoffs.kind": "barrier-down-out", "heston.payoffs.barrier": 80.0},
         "of kind 'barrier-down-out' and a number of paths; accepted with 'n_paths': call, put"),
        ({"heston.simulation.steps_per_year": 10**5, "heston.payoffs.maturities_years": [90.0]},
         "table [heston] asks for 9000000 steps per path; accepted: at most 1000000; give fewer "
         "'steps_per_year' or shorter 'maturities_years'"),
        ({"heston.simulation.n_paths": ...},
         "says neither how many paths nor how exact; accepted: 't"),
        ({"heston.simulation.tolerance": "0.1%"}, "has a tolerance and a number of paths"),
        ({"heston.simulation.tolerance": "0"}, "key 'heston.simulation.tolerance': toler"),
        ({"heston.simulation.confidence": 0.9}, "without 'tolerance'"),
        ({"compensation": ["correction"]},
         "and only prices with a 'tolerance' are corrected; accepted with 'n_paths'"),
        ({"compensation": ["kahan"]},
         'accepted: "none" (no residuals), "carry"  ...  or "corre'),
        ({"compensation": ["none", "none"]}, "a compensation is named twice"),
        ({"ensemble": {"members": 2, "seed": 1}},
         "members of kind 'heston' draw paths of their own"),
        ({"tolerance.0.variable": "height"},
         "known for runs of kind 'heston'  ... : price, standard_er"),
        ({"tolerance.0.variable": "nonfinite_paths"}, "have one: price, martingale; name"),
    ],
    "surface": [
        ({"heston.simulation.scheme": "gamma_expansion"},
         "scheme 'gamma_expansion' makes no bound; acc"),
        ({"heston.payoffs.kind": "spot"}, "payoff 'spot' has no strike; accepted: asian-ar"),
        ({"heston.payoffs.barrier": 90.0}, "payoff 'call' was given strike, mat"),
    ],
    "units": [
        (own(legendre="matrix:table=int7,field=fp16"),
         "stages.0.legendre ... 'int7' ... did you mean"),
        (own(legendre=f"{INT8},slices=2", sums="fp32"), "has its own"),
        (own(fourier="matrix:table=int8,field=fp16"), "is a matrix unit, which multiplies"),
        (own(legendre="matrix"), "matrix unit 'matrix': 'table' and 'field' are missing; accepted"),
        (own(legendre=INT8, kept_orders=99),
         "kept_orders of stages is 99, which is all that T10 has, ... "
         "accepted there: up to 10"),
        (own(legendre=INT8, kept="fp64"),
         "kept = 'fp64' and neither kept_orders nor kept_degrees, so that nothing is computed"),
        (own(legendre="matrix:table=int8,field=fp16,group=16"),
         "groups of 16 beside the scale 'channel', where they do nothing; give scale=group"),
        (own(legendre=f"{INT8},slices=3,accumulate=fp16"),
         "'fp16' holds sums exactly up to 2^11: take accumulate=fp32 or int32"),
    ],
    "scaled": [
        ({"scaling": 3, "unclipped": True}, "'scaling' was given 3"),
        ({"scaling": "sttic"}, "unknown scaling 'sttic';  ... did you mean 'static'"),
        ({"scales": {"advection": 3.0}}, "the scale of 'advection' is 3.0; accepted: powers of"),
        ({"scale_factors": [2.0**101]}, "'scale_factors' is 2.5 ... e+30;  ...  2^-100 to 2^100"),
        ({"scaling": "none", "scales": {"advection": 2.0}}, "'scales' is given, and no run has"),
        ({"scaling": "static", "scales": {"times": 2.0}}, "unknown stage 'times' among scales"),
        ({"backends": ["fp64"]}, "'backends' names fp64 alone, the truth, which has no scales"),
        ({"scaling": [], "unclipped": True}, "'unclipped' is given without a scaling"),
        ({"backends": ["mlu370"]}, "'mlu370' cannot have scales"),
    ],
    "sum": [
        ({"accumulation.smallest": 1e-14},
         "file: increments from 1e-14 to 1e-05 that sum up to"),
    ],
}  # fmt: skip


def edited(base, edits):
    """A scenario with other values at dotted keys, or without a key where `...` stands."""
    content = copy.deepcopy(BASES[base])
    for path, value in edits.items():
        *tables, key = path.split(".")
        table = content
        for name in tables:
            table = table[int(name) if isinstance(table, list) else name]
        table[key] = value
        if value is ...:
            del table[key]
    return content


@pytest.mark.parametrize(
    ("base", "edits", "words"), [(base, *row) for base, rows in SCENARIOS.items() for row in rows]
)
def test_what_is_wrong_in_a_scenario_is_one_sentence_and_leaves_nothing(
    base, edits, words, tmp_path
):
    with pytest.raises(InputError) as caught:
        workflow.run(parse_scenario(edited(base, edits), "file"), out=tmp_path / "out")
    (said,) = str(caught.value).splitlines()
    assert says(said, words), said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("base", BASES)
def test_what_has_been_made_wrong_was_good(base):
    """And a scenario is the one that its own words make."""
    scenario = parse_scenario(BASES[base])
    workflow.forecast(scenario)
    given = scenario.model_dump(mode="json", exclude_unset=base == "scaled")
    assert parse_scenario(given | {"backends": list(scenario.backends)}) == scenario
