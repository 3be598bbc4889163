"""docs/how_to/add_*.md: every block is loaded as a user's file, and what it brings is there."""

import inspect
import math
import re
import tomllib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import sciprec
from sciprec import extend, heston
from sciprec.climate.cases.registry import require_state, resolve_case
from sciprec.climate.catalogue import EQUATIONS, TIME_SCHEMES
from sciprec.climate.transform.grid import GaussianGrid, Truncation
from sciprec.extend import elementary
from sciprec.foundation.loading import GROUP
from sciprec.heston.schemes.catalogue import scheme_named
from sciprec.report import section
from sciprec.results.comparison import metrics
from sciprec.scenario.variant import Variant
from sciprec.workbench.kinds import kinds, parse_scenario
from tests.extending import BLOCKS, TEXT, loading

ROOT = Path(__file__).parents[2]
MODEL = heston.Model(spot=100, v0=0.04, kappa=1.5, theta=0.04, sigma=0.5, rho=-0.7)


def number_format(module):
    x = np.array([1.0 + 2.0**-17 + 2.0**-30, 2.0**64])
    assert sciprec.quantize(x, "binary24").tolist() == [1.0 + 2.0**-16, math.inf]
    assert sciprec.quantize(x, "float:p=17,emin=-62,emax=63").tolist() == [1.0 + 2.0**-16, math.inf]
    assert sciprec.quantize(x, "binary24,round=rz").tolist() == [1.0, (2.0 - 2.0**-16) * 2.0**63]


def rounding(module):
    x = np.array([33.0, -33.0])
    assert sciprec.quantize(x, "float:p=5,round=rna").tolist() == [34.0, -34.0]


def rounding_around_another(module):
    def kernel(x):
        total = 0.0
        for i in range(x.size):
            total += x[i]
        return total, np.sum(x)

    x = sciprec.quantize(np.random.default_rng(1).random(2000), "fp16")
    found = module.lost_by_place(kernel, "fp16", x)
    exact = math.fsum(x)
    assert [count for _, count in found.values()] == [2000, 1999]
    for (lost, _), result in zip(found.values(), sciprec.lift(kernel, "fp16")(x), strict=True):
        assert lost == exact - result != 0.0


def time_scheme(module):
    assert (TIME_SCHEMES["heun"].order, TIME_SCHEMES["heun"].tendencies) == (2, 2)


def elementary_function(module):
    def kernel(x):
        return logistic(x)

    logistic = module.logistic
    assert sciprec.lift(kernel, "fp16")(1.0) == np.float16(1.0 / (1.0 + math.exp(-1.0)))


def metric(module):
    statistics = SimpleNamespace(absolute={"bias": -0.5})
    assert metrics()["error_of_mean"].compute(SimpleNamespace(statistics=statistics)) == 0.5


def section_of_the_page(module):
    (added,) = (one for one in section.page_sections() if one.name == "highest_level")
    runs = [SimpleNamespace(label=label, dataset={"height": np.array([1.0, value])})
            for label, value in (("fp64", 2.0), ("fp16", 2.5))]  # fmt: skip
    said = added.render(SimpleNamespace(runs=runs, scenario="flow"))
    assert "<li>fp16: 2.5 m</li>" in said
    assert added.render(SimpleNamespace(runs=[], scenario="flow")) is None


def rule_of_mend(module):
    def kernel(x, out):
        for i in range(out.size):
            out[i] = 1.0 / math.cos(x[i]) - 1.0

    x = np.linspace(0.001, 0.01, 20)
    (proposal,) = sciprec.trace(kernel, "fp32", (x, np.zeros(20))).mend().proposals
    assert (proposal.title, proposal.source) == ("exsecant", "nobody (2026)")


def climate_case(module):
    hill, grid = resolve_case("hill_of_water"), GaussianGrid(Truncation(10, 16, 32, 1200.0))
    lon, lat = grid.lon_radians[:, None], grid.lat_radians
    initial = hill.initial(lon, lat, **hill.parameters | {"height_m": 20.0})
    require_state(hill, EQUATIONS[hill.equations].state, initial, grid)
    assert 8015.0 < initial.height.max() <= 8020.0


def payoff(module):
    gap = heston.payoff_named("gap-call")(strike=95, maturity=0.5, trigger=105)
    assert gap.payment(np.array([[100.0, 110.0]])).tolist() == [0.0, 15.0]


def path_scheme(module):
    """Its prices are in tests/heston/test_own_payoff.py."""
    assert scheme_named("absorbed_euler").kernel is module.absorbed_euler


def kind_of_scenario(module):
    scenario = parse_scenario({
        "name": "decay", "title": "A decay", "source": "nobody", "kind": "decay",
        "backends": ["fp32"], "decay": {"rate": 0.5},
    })  # fmt: skip
    level = kinds()["decay"].run(scenario.decay, Variant("fp64"), None)["level"]
    np.testing.assert_allclose(level, (1.0 - 0.005) ** np.arange(1, 101))


def set_of_equations(module):
    """Its runs are in tests/climate/test_own_equations.py."""
    assert resolve_case("even").equations == "logistic" and len(EQUATIONS["logistic"].kernels) == 3


def verb_of_the_command_line(module):
    app = typer.Typer()
    app.command()(module.roundoff)
    assert CliRunner().invoke(app, ["fp16"]).output == "0.000488\n"


SHOWN = (
    number_format, rounding, rounding_around_another, elementary_function, climate_case,
    time_scheme, set_of_equations, metric, section_of_the_page, rule_of_mend, kind_of_scenario,
    verb_of_the_command_line, payoff, path_scheme,
)  # fmt: skip


def test_every_block_is_looked_at():
    assert [shown.__name__.replace("_", " ") for shown in SHOWN] == list(BLOCKS)
    assert TEXT.count("```python\n") == len(SHOWN)


@pytest.mark.parametrize("shown", SHOWN)
def test_what_a_block_brings_is_known(shown, tmp_path):
    with loading(tmp_path) as load:
        shown(load(shown.__name__.replace("_", " ")))


def test_the_group_of_entry_points_is_the_one_that_is_read():
    page = (ROOT / "docs/how_to/extending.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"^```toml\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)
    assert list(tomllib.loads(text)["project"]["entry-points"]) == [GROUP]


def test_files_that_the_page_names_are_there():
    page = (ROOT / "docs/how_to/extending.md").read_text(encoding="utf-8")
    for path in re.findall(r"`((?:\w+/)+(?:\w+\.py)?)`", page + TEXT):
        assert (ROOT / path).exists() or (ROOT / "sciprec" / path).exists(), path


@pytest.mark.parametrize("heading", [name for name in BLOCKS if "command line" not in name])
def test_a_block_imports_no_deeper_module(heading):
    modules = re.findall(r"^(?:from|import) (sciprec[\w.]*)", BLOCKS[heading], re.MULTILINE)
    assert modules and {*modules} <= {"sciprec", "sciprec.extend", "sciprec.extend.elementary"}


def test_names_for_extensions_are_those_of_their_modules():
    """A checker sees what is given."""
    typed = re.findall(r"^    from (\S+) import (\w+) as", inspect.getsource(extend), re.MULTILINE)
    assert {name: module for module, name in typed} == extend._PUBLIC
    assert all(getattr(extend, name) is not None for name in extend.__all__)
    assert set(elementary.__all__) <= set(vars(elementary))
