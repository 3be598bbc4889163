"""Results at a prompt and in a notebook: short, escaped, made of what is known."""

import os
import shutil
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import sciprec
from sciprec import heston
from sciprec.foundation.listing import MOST_LINES
from sciprec.heston.bounds.pricing import VOLATILITIES, LevelRow, PriceResult
from sciprec.heston.sensitivities.greek_pricing import NAMES, GreeksResult
from sciprec.scenario.variant import Variant
from sciprec.tools.memory.memory import MemoryFinding, MemoryReport
from sciprec.workbench.batch.plan import Outcome
from sciprec.workbench.batch.workflow import BatchResult
from sciprec.workbench.study.kernel_page import Search, TriedFormat

NASTY = "<script>alert('&')</script>\x1b[31m"


def kernel(x, y, out):
    for i in range(x.size):
        out[i] = x[i] * y


def priced(count):
    """A result of some calls, as `sciprec.heston.price` gives it; of greeks, too."""
    strikes = 80.0 + np.arange(count)
    level = LevelRow("base", "fp32", 4, 1024, 7.5, 0.1, 1.0, 0.1, 0.1, 0.2)
    how = {
        "payoffs": tuple(heston.Call(strike=k, maturity=1.0) for k in strikes),
        "met": True, "n_paths": 1024, "n_steps": 4, "work": 4096.0, "seconds": 0.25,
        "levels": (level,), "backend": "fp32", "scheme": "euler", "confidence": 0.95, "seed": 0,
        "variance_reduction": "none", "sentences": (NASTY,), "fixed_point": None,
    }  # fmt: skip
    values = 7.485 + np.arange(count)
    values = float(values[0]) if count == 1 else values
    parts = dict.fromkeys(("statistical", "discretisation", "rounding"), 0.0 * values)
    price = PriceResult(
        **how, **parts, **dict.fromkeys(VOLATILITIES, values), price=values,
        bound=0.0 * values + 0.072, rounding_error=0.0 * values,
        tolerance=0.0 * values + 0.1, extrapolation=("order 2",) * count,
    )  # fmt: skip
    table = np.squeeze(np.full((count, len(NAMES)), 0.5))
    names = ("value", "bound", "tolerance", "difference", *parts)
    greeks = GreeksResult(**how, greeks=NAMES, bumps=None, **dict.fromkeys(names, table))
    return price, greeks


def compared(count, rtol=()):
    """A field compared with its rounded copy, under many names."""
    values = np.linspace(0.1, 1.0, 7)
    fields = {f"field_{n}": ("x", values * (n + 1)) for n in range(count)}
    truth = xr.Dataset({**fields, NASTY: ("x", values)})
    return truth.sciprec.compare(truth.sciprec.quantize("fp16"), rtol=rtol)


def batch(count, folder):
    """A batch of some runs, one of which failed."""
    row = {
        "scenario": "jet", "label": "fp16", "status": "beyond", "variable": "height", "units": "m",
        "margin": 2.0, "nonfinite": 0, "seconds": 6.05,
        "errors": {"max_abs": 15.0, "relative_l2": 8.2e-4, "decimal_digits": 3.1},
    }  # fmt: skip
    failed = row | {"status": "failed", "variable": None, "errors": {}, "nonfinite": None}
    failure = Outcome("jet", Variant("bf16"), "x.nc", 1.0, f"out of luck {NASTY}")
    return BatchResult(
        folder, folder / "index.html", (), [*[row] * count, failed], (failure,), (NASTY,)
    )


def faulty(count):
    finding = MemoryFinding("out of bounds", "f", "m.py", 3, NASTY, "index 9", 4, "x[9]")
    return MemoryReport("f", "fp64", (finding,) * count, 1, 2)


def lifted(backend):
    """A kernel after a call."""
    made = sciprec.lift(kernel, backend)
    made(np.ones(3), 2.0, np.zeros(3))
    return made


def searched(count):
    """The result of a search for the fewest bits."""
    tried = tuple(TriedFormat(bits, 390, "x", (2.0**-bits,)) for bits in range(2, 2 + count))
    return Search(12, tried, (-3, 4), 5, (TriedFormat(12, 15, "x", (0.5,)),), NASTY)


NOTHING = xr.Dataset({"t": ("x", np.full(3, np.nan))})
RESULTS = {
    "a kernel": lambda: sciprec.lift(kernel, "mlu370-noise"),
    "a kernel that ran": lambda: lifted("fp16"),
    "a kernel in fixed point": lambda: lifted("fixed16"),
    "arithmetics": sciprec.backends,
    "a price": lambda: priced(1)[0],
    "prices": lambda: priced(40)[0],
    "greeks of one": lambda: priced(1)[1],
    "greeks": lambda: priced(5)[1],
    "a comparison": lambda: compared(1),
    "a long comparison": lambda: compared(40, "auto"),
    "nothing compared": lambda: sciprec.compare(NOTHING, NOTHING),
    "a batch": lambda: batch(2, Path("reports/jet")),
    "a long batch": lambda: batch(40, Path("/elsewhere/jet")),
    "a search": lambda: searched(3),
    "a long search": lambda: searched(40),
    "a memory report": lambda: faulty(1),
    "a long memory report": lambda: faulty(40),
    "a clean memory report": lambda: faulty(0),
}


@pytest.fixture(params=RESULTS.values(), ids=RESULTS)
def result(request):
    return request.param()


def test_a_result_is_shown_in_few_lines_of_text(result):
    text = repr(result)
    lines = text.splitlines()
    assert 1 <= len(lines) <= MOST_LINES and not text.startswith("<")
    assert not any(ord(letter) < 32 for letter in text.replace("\n", ""))


def test_sentences_of_a_result_break_between_words_on_a_terminal(result, monkeypatch):
    """The heading fits; words are those of a pipe, where nothing is left out."""
    piped = repr(result).split()
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr(shutil, "get_terminal_size", lambda: os.terminal_size((40, 24)))
    shown = repr(result)
    assert len(shown.splitlines()[0]) <= 40
    if "more rows" not in shown and "not shown for want" not in shown:
        assert shown.split() == piped


def test_a_result_is_shown_in_plain_html(result):
    """Well formed, escaped; no script, no style sheet, no colour but the notebook's own."""
    found = result._repr_html_()
    tree = ElementTree.fromstring(found)
    tags = {node.tag for node in tree.iter()}
    assert tags <= {"div", "p", "strong", "table", "tr", "th", "td", "a"}
    assert "color" not in found and "\x1b" not in found
    assert len(tree.findall(".//tr")) <= MOST_LINES + 1
    assert {key for node in tree.iter() for key in node.attrib} <= {"style", "href", "target"}
    assert repr(result).splitlines()[0] == tree.find("p/strong").text


def test_what_is_left_out_is_counted():
    for shown in (compared(40), batch(40, Path("x")), priced(40)[0], faulty(40)):
        listed = [line for line in repr(shown).splitlines() if "more" in line]
        told = sum(int(line.split()[2]) for line in listed)
        assert told > 20 and "more rows" in shown._repr_html_()


def test_showing_compiles_and_computes_nothing(monkeypatch):
    made = sciprec.lift(kernel, "fixed32"), sciprec.lift(kernel, "bf16")
    monkeypatch.setattr("numba.core.dispatcher.Dispatcher.compile", None)
    monkeypatch.setattr("sciprec.precision.lifting.lifted.Lifted.__call__", None)
    for one in made:
        assert "not compiled yet" in repr(one) and "not compiled yet" in one._repr_html_()
        assert not one.dispatcher.signatures


def test_a_lifted_kernel_says_what_is_compiled_and_what_fixed_point_met():
    made = lifted("fixed16")
    assert repr(made).splitlines() == [
        "kernel(x, y, out) lifted to fixed16",
        "integers of 16 bits, a unit for each place, to nearest, ties to even; accumulate and "
        "matmul in integers of 50 bits, a unit for each place, to nearest, ties to even",
        "compiled for",
        "kernel(float64[:], float64, float64[:])",
        "1 calls, 0 changes of units, 0 saturations, 0 NaN",
    ]
    assert "toward zero, subnormals flushed; sums aligned first" in repr(
        sciprec.lift(kernel, "mlu370-noguard")
    )
    random = sciprec.lift(kernel, "float:p=8,round=sr")
    random(np.ones(3, np.float32), 2, np.zeros(3))
    assert "kernel(float32[:], int64, float64[:])" in repr(random)


def test_a_batch_links_to_its_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    below, elsewhere = Path("reports/a \"b\" & c"), Path("/elsewhere")
    links = [
        ElementTree.fromstring(batch(1, folder)._repr_html_()).find(".//a").attrib["href"]
        for folder in (below, tmp_path / below, elsewhere)
    ]
    assert links == ["reports/a%20%22b%22%20%26%20c/index.html"] * 2 + [
        "file:///elsewhere/index.html"
    ]
    text = repr(batch(1, below))
    assert "2 runs, 1 failed" in text and text.endswith(f"page: {below / 'index.html'}")
