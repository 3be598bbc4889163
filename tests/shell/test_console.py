"""Tables of the command line: whole where there is room, readable where there is little."""

import io

import pytest
from rich.console import Console

from sciprec.cli import console
from sciprec.precision.formats.backend import table
from sciprec.workbench.kinds.schema import scenario_keys


@pytest.fixture
def printed(monkeypatch):
    """A function that prints in a terminal of some width and returns the text."""

    def at(width, print_table, rows):
        stream = io.StringIO()
        monkeypatch.setenv("COLUMNS", str(width))
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
            "status": "beyond", "reason": "too far off", "margin": 3.14,
            "variable": "height", "units": "m", "nonfinite": 0,
            "errors": {"max_abs": 15.0, "relative_l2": 8.2e-4, "decimal_digits": 3.1},
            "seconds": 6.05,
        }
    ]  # fmt: skip


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_nothing_is_cut_at_any_width(printed, width):
    heston = scenario_keys("heston")
    tables = ((console.print_runs, runs("fp16")), (console.print_backends, table()),
              (console.print_keys, heston))  # fmt: skip
    texts = {}
    for print_table, rows in tables:
        text = printed(width, print_table, rows)
        assert "… " not in text.replace(" … ", "")
        assert max(len(line.rstrip()) for line in text.splitlines()) <= width
        texts[print_table] = " ".join(text.split())
    assert all(words in texts[console.print_backends] for words in ("to nearest", "mlu370-noguard"))
    for key in heston:  # all that is known of each, in a table or in lines
        parts = (key.path, key.type, key.unit, key.limits, key.words)
        assert all(part in texts[console.print_keys] for part in parts), key


@pytest.mark.parametrize("columns", [None, 60, 80, 120])
def test_pipes_follow_columns_and_keys_80_of_their_own(columns, call, monkeypatch):
    """Other tables are whole in a pipe, for other programs."""
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns:
        monkeypatch.setenv("COLUMNS", str(columns))
    widths = {}
    for words in (("scenario", "keys", "climate"), ("list", "backends")):
        code, text, _ = call(*words)
        assert code == 0
        table = text.partition("\n\n")[0]
        widths[words[0]] = max(len(line) for line in table.splitlines())
        told = "not shown for want of width: " in text
        assert told == (words[0] == "list" and bool(columns)), text
    assert widths["scenario"] <= (columns or 80)
    assert widths["list"] <= (columns or 200) and (columns or widths["list"] > 80)


def test_wide_terminals_show_all_and_narrow_ones_the_verdict(printed):
    wide, narrow = (printed(w, console.print_runs, runs("fp16")) for w in (130, 60))
    assert "not finite" in wide and "6.05 s" in wide and "× 3.1" in wide
    shown, _, left_out = narrow.partition("not shown for want of width: ")
    assert "not finite" not in shown and "not finite" in " ".join(left_out.split())
    assert "want of width" not in wide
    for word in ("quickstart_climate", "fp16", "not good enough", "8.2e-04"):
        assert word in narrow


@pytest.mark.parametrize("width", [40, 80])
def test_sentences_break_between_words_on_a_terminal(width, capsys, monkeypatch):
    sentence = "  fp16: height is 31 times above the tolerance, at /a/very/long/path/to-a/page.html"
    console.say(sentence)
    assert capsys.readouterr().out == f"{sentence}\n"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "dumb")
    console.say(sentence)
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= width and line.startswith("  f" if line is lines[0] else "  ")
               for line in lines)  # fmt: skip
    assert " ".join(" ".join(lines).split()) == sentence.strip() and len(lines) > 1
