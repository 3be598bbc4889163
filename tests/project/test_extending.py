"""Modules outside the package that add rows to it, and the names that they import."""

import inspect
import math
import re
import tomllib
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import sciprec
from sciprec import extend
from sciprec.cli.commands import app
from sciprec.extend import FORMATS, OPERATIONS, ROUNDINGS, Format, Operation, Rounding
from sciprec.extend.elementary import exp, inlined
from sciprec.foundation.loading import GROUP
from sciprec.precision import Arithmetic
from sciprec.precision.formats.fixed_format import FIXED16
from sciprec.precision.lifting.compiling import module_of
from sciprec.precision.rewriting.program import Program
from sciprec.workbench.batch.plan import plan
from sciprec.workbench.batch.resume import run_digest
from sciprec.workbench.kinds import load_scenario
from tests.extending import BLOCKS

ROOT = Path(__file__).parents[2]
SCENARIOS = ROOT / "scenarios"


@pytest.fixture(autouse=True)
def tables_restored():
    tables = OPERATIONS, FORMATS, ROUNDINGS
    before = [dict(table) for table in tables]
    yield
    for table, rows in zip(tables, before, strict=True):
        table.clear()
        table.update(rows)


# ---- an elementary function: one row and its evaluation ----------------------------------------


@inlined
def logistic(x):
    return 1.0 / (1.0 + exp(-x))


def populations(x, out):
    for i in range(x.size):
        out[i] = logistic(x[i]) * 100.0


@pytest.mark.parametrize("backend", ["mlu370", "float:p=30"])
def test_an_elementary_function_is_a_row_and_its_evaluation(backend):
    OPERATIONS.add(Operation("logistic", 1, evaluate=logistic))
    x = np.linspace(-20.0, 20.0, 41)
    found, expected = np.zeros(41), np.zeros(41)
    lifted = sciprec.lift(populations, backend)
    lifted(x, found)
    rounded = sciprec.quantize(1.0 / (1.0 + np.exp(-x)), backend)
    sciprec.lift(times, backend)(rounded, 100.0, expected)
    np.testing.assert_array_equal(found, expected)
    assert "logistic" in {site.operation for site in lifted.sites}


def times(x, factor, out):
    for i in range(x.size):
        out[i] = x[i] * factor


PLUGIN = """
from sciprec.extend.elementary import inlined

FACTOR = 2.0

@inlined
def scaled(x):
    return FACTOR * x

def kernel(x):
    return scaled(x)
"""


def test_the_compiled_code_of_another_evaluation_is_not_taken(tmp_path):
    """Its file is no source of the engine's, and yet part of the generated module's name."""
    names = set()
    for text in (PLUGIN, PLUGIN.replace("2.0", "3.0"), PLUGIN):
        path, plugin = tmp_path / "plugin.py", {"__name__": "plugin"}
        path.write_text(text)
        exec(compile(text, path, "exec"), plugin)
        OPERATIONS.pop("scaled", None)
        OPERATIONS.add(Operation("scaled", 1, evaluate=plugin["scaled"]))
        program = Program(plugin["kernel"], sciprec.backends()["fp16"])
        names.add(module_of(program).__name__)
    assert len(names) == 2


def test_a_row_without_its_arity_is_refused():
    with pytest.raises(sciprec.InputError, match=r"'logistic' is given the arity 0; accepted: 1"):
        Operation("logistic", evaluate=logistic)
    with pytest.raises(sciprec.InputError, match=r"the arity 2 where its evaluation takes 1"):
        Operation("logistic", 2, evaluate=logistic)
    with pytest.raises(sciprec.InputError, match=r"a plain function; accepted: .* @inlined"):
        Operation("logistic", 1, evaluate=logistic.py_func)
    with pytest.raises(sciprec.InputError, match="operation 'exp' is there already"):
        OPERATIONS.add(Operation("exp", 1, evaluate=logistic))


# ---- a rounding: one row -----------------------------------------------------------------------

AWAY = Rounding("rna", "to nearest, ties away", lambda lost: lost.more | lost.tie, (True, True),
                nearest=True)  # fmt: skip


def products(x, y, out):
    for i in range(x.size):
        out[i] = x[i] * y[i] * 1.125 + x[i]


def away(value: Fraction, bits: int) -> float:
    """The number of so many bits that is nearest, of two the larger one in size."""
    if value == 0:
        return 0.0
    spacing = Fraction(2) ** (math.frexp(abs(value))[1] - bits)
    kept, rest = divmod(abs(value), spacing)
    return math.copysign((kept + (2 * rest >= spacing)) * spacing, value)


@pytest.mark.parametrize("bits", [5, 53])
def test_a_rounding_is_a_row(bits):
    """Of 53 bits binary64 has none left behind the last place: ties were cut off."""
    ROUNDINGS.add(AWAY)
    backend = f"float:p={bits},emin=-30,emax=30,round=rna"
    rng = np.random.default_rng(7)
    x = rng.integers(-31, 32, 300) * 2.0 ** rng.integers(-3, 3, 300)
    if bits == 53:
        x *= 1.0 + 2.0 ** -rng.integers(40, 53, 300)
    y = rng.integers(-31, 32, 300) / 16.0
    found = np.zeros(300)
    sciprec.lift(products, backend)(x, y, found)
    constant, rounded = Fraction(away(Fraction(1.125), bits)), []
    for a, b in zip(x, y, strict=True):
        first = Fraction(away(Fraction(a) * Fraction(b), bits))
        second = Fraction(away(first * constant, bits))
        rounded.append(away(second + Fraction(a), bits))
    np.testing.assert_array_equal(found, rounded)
    ties = np.array([33.0, -33.0, 35.0])
    assert sciprec.quantize(ties, "float:p=5,round=rna").tolist() == [34.0, -34.0, 36.0]
    assert sciprec.quantize(ties, "float:p=5").tolist() == [32.0, -32.0, 36.0]


def test_a_rounding_that_is_not_there_is_refused():
    with pytest.raises(sciprec.InputError, match="unknown rounding 'rna' of 'binary16'; known: rn"):
        Arithmetic(FORMATS["binary16"], "rna")
    ROUNDINGS.add(AWAY)
    assert Arithmetic(FORMATS["binary16"], "rna").rounding_error == 2.0**-11
    with pytest.raises(sciprec.InputError, match="of 'fixed16'; known: rn, rz, ru, rd"):
        Arithmetic(FIXED16, "rna")
    with pytest.raises(sciprec.InputError, match="'binary64': round=rna needs exponents within"):
        Arithmetic(FORMATS["binary64"], "rna")
    with pytest.raises(sciprec.InputError, match="'up' has the rule None; accepted: a function"):
        Rounding("up", "away from zero", None, (True, True))


def test_a_changed_rule_makes_another_run(tmp_path):
    """A file kept from before is not taken for one of the rule as it is now."""
    text = (SCENARIOS / "long_accumulation.toml").read_text()
    own = "float:p=8,emin=-30,emax=30,round=rna"
    path = tmp_path / "scenario.toml"
    path.write_text(text.replace("backends = [", f'backends = ["{own}", '))
    digests = []
    for up in (AWAY.up, AWAY.up, lambda lost: lost.more):
        ROUNDINGS.pop("rna", None)
        ROUNDINGS.add(Rounding("rna", AWAY.words, up, (True, True), nearest=True))
        run = next(r for r in plan([load_scenario(path)]) if "round=rna" in r.backend)
        digests.append(run_digest(run))
    assert digests[0] == digests[1] != digests[2]


# ---- a format: one row -------------------------------------------------------------------------


def test_a_format_is_a_row(tmp_path):
    FORMATS.add(Format("binary24", 17, -62, 63))
    x = np.array([1.0 + 2.0**-17 + 2.0**-30, -(2.0**63) * 1.999999, 2.0**-90])
    found = np.zeros(3)
    sciprec.lift(times, "binary24")(x, 1.0, found)
    assert found.tolist() == [1.0 + 2.0**-16, -math.inf, 0.0]
    sciprec.lift(times, "binary24,round=rz")(x, 1.0, found)
    assert found.tolist() == [1.0, -(2.0 - 2.0**-16) * 2.0**63, 0.0]
    assert "binary24" in sciprec.backends()
    listed = CliRunner().invoke(app, ["list", "backends"])
    assert listed.exit_code == 0 and "binary24" in listed.output
    text = (SCENARIOS / "long_accumulation.toml").read_text()
    path = tmp_path / "scenario.toml"
    path.write_text(text.replace('backends = ["', 'backends = ["binary24", "binary24,round=ru", "'))
    assert load_scenario(path).backends[:2] == ("binary24", "binary24,round=ru")


def test_overflow_on_one_side_is_a_nan_where_there_is_no_infinity():
    """It was infinite, which such a format cannot hold."""
    FORMATS.add(Format("e4m3fn-like", 4, -6, 8, overflow="nan", largest=448.0))
    x, found = np.array([448.0, -448.0]), np.zeros(2)
    sciprec.lift(times, "e4m3fn-like,round=ru")(x, 1.25, found)
    np.testing.assert_array_equal(found, [math.nan, -448.0])


def test_a_format_that_is_not_emulated_is_refused():
    with pytest.raises(sciprec.InputError, match="format 'wide': p=60 is outside 2 to 53"):
        Format("wide", 60, -62, 63)
    with pytest.raises(sciprec.InputError, match="format 'binary16' is there already"):
        FORMATS.add(Format("binary16", 11, -14, 15))


# ---- what the pages about it say ----------------------------------------------------------------


def test_the_group_of_entry_points_is_the_one_that_is_read():
    page = (ROOT / "docs/how_to/extending.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"^```toml\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)
    assert list(tomllib.loads(text)["project"]["entry-points"]) == [GROUP]


@pytest.mark.parametrize("heading", [name for name in BLOCKS if "command line" not in name])
def test_a_block_imports_no_deeper_module(heading):
    modules = re.findall(r"^(?:from|import) (sciprec[\w.]*)", BLOCKS[heading], re.MULTILINE)
    assert modules and {*modules} <= {"sciprec", "sciprec.extend", "sciprec.extend.elementary"}


def test_names_for_extensions_are_those_of_their_modules():
    """A checker sees what is given."""
    typed = re.findall(r"^    from \S+ import (\w+) as", inspect.getsource(extend), re.MULTILINE)
    assert typed == extend.__all__ and sorted(typed) == dir(extend)
    assert all(getattr(extend, name) is not None for name in typed)
    assert set(extend.elementary.__all__) <= set(vars(extend.elementary))
