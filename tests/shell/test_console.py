"""Tables of the command line: whole where there is room, readable where there is little."""

import io
from types import SimpleNamespace

import pytest
from rich.console import Console

from sciprec import console
from sciprec.precision.backend import table

SPEC = "float:p=11,emin=-14,emax=15,subnormals=keep,overflow=infinity,round=sr"


@pytest.fixture
def printed(monkeypatch):
    """A function that prints in a terminal of some width and returns the text."""

    def at(width, print_table, rows):
        stream = io.StringIO()
        monkeypatch.setattr(
            console, "_console", lambda: Console(file=stream, width=width, color_system=None)
        )
        print_table(rows)
        return stream.getvalue()

    return at


def runs(backend):
    """One row of a batch."""
    return [
        {
            "scenario": "quickstart_climate", "backend": backend, "label": backend,
            "status": "beyond", "reason": "too far off",
            "variable": "height", "units": "m", "nonfinite": 0,
            "errors": {"max_abs": 15.0, "relative_l2": 8.2e-4, "decimal_digits": 3.1},
            "seconds": 6.05,
        }
    ]  # fmt: skip


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_nothing_is_cut_at_any_width(printed, width):
    tables = ((console.print_runs, runs("fp16")), (console.print_backends, table()))
    for print_table, rows in tables:
        text = printed(width, print_table, rows)
        assert "… " not in text.replace(" … ", "")
        assert max(len(line.rstrip()) for line in text.splitlines()) <= width
    assert "to nearest, ties to even" in text and "mlu370-noguard" in text


def test_wide_terminals_show_all_and_narrow_ones_the_verdict(printed):
    wide, narrow = (printed(w, console.print_runs, runs("fp16")) for w in (120, 60))
    assert "not finite" in wide and "6.05 s" in wide
    assert "not finite" not in narrow
    for word in ("quickstart_climate", "fp16", "beyond", "8.2e-04"):
        assert word in narrow


def test_long_names_of_formats_stay_whole(printed):
    assert SPEC in printed(60, console.print_runs, runs(SPEC)).splitlines()[1]


def test_progress_in_days_is_a_line_now_and_then_where_there_is_no_terminal(monkeypatch, capsys):
    scenario = SimpleNamespace(name="jet", climate=SimpleNamespace(days=1200.0))
    run = SimpleNamespace(scenario=scenario, label="fp32", file="jet.nc")
    clock = iter([0.0, 1.0, 11.0, 12.0, 21.5])
    monkeypatch.setattr(console.time, "perf_counter", lambda: next(clock))
    progress = console.Progress()
    for days in (3.25, 40.0, 41.0, 80.5):
        progress.days(run, days)
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "jet in fp32: day 40 of 1200 (11.0 s so far)",
        "jet in fp32: day 80.5 of 1200 (21.5 s so far)",
    ]


def test_progress_in_days_is_a_bar_on_a_terminal(monkeypatch):
    scenario = SimpleNamespace(name="jet", climate=SimpleNamespace(days=12.0))
    run = SimpleNamespace(scenario=scenario, label="fp32", file="jet.nc")
    stream = io.StringIO()
    monkeypatch.setattr(
        console, "Console", lambda stderr: Console(file=stream, force_terminal=True, width=100)
    )
    with console.Progress() as progress:
        progress.planned([run])
        progress.days(run, 3.0)
        progress.days(run, 6.2)
        progress._bar.refresh()
    assert "days of jet in fp32" in stream.getvalue() and "6/12" in stream.getvalue()
