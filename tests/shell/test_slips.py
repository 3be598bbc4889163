"""Slips of the pen, on the command line and in scenario files: a sentence says what to write."""

import re

import pytest

from sciprec.errors import InputError
from sciprec.kinds import load_scenario
from sciprec.scenario.shipped import SCENARIOS, named, names

KERNEL = "from math import sqrt\n\ndef f(x):\n    return x * 1.1\n\ndef start():\n    return 2.0,\n"
TYPED = {
    "'k.py' is a Python file without a function; name one of it, as in k.py:f; its functions: f, s":
        ("trace", "k.py", "-b", "bf16"),
    "'k.py' is a Python file without": ("tune", "k.py", "--tolerance", "1e-3"),
    "'k.py' is a Python file without a function; name": ("repeat", "k.py"),
    "'k.py' is a Python file without a function": ("baseline", "save", "k.py"),
    "'k.py' is a Python file, and a scenario is a TOML file": ("run", "k.py"),
    "'k:f' names no Python file; a kernel is FILE.py:FUNCTION; did you mean 'k.py:f'?":
        ("trace", "k:f", "--inputs", "k.py:start", "-b", "bf16"),
    "'fp16,bf16' is several backends in one word; accepted: one, such as 'fp16'":
        ("study", "k.py:f", "--inputs", "k.py:start", "--backend", "fp16,bf16"),
    "'fp16,binary32' is several backends": ("run", "quickstart_climate", "-b", "fp16,binary32"),
    "--formats is given 2 times; accepted: once": (
        "tune", "k.py:f", "--inputs", "k.py:start", "--tolerance", "1e-3", "--formats", "fp32",
        "--formats", "bf16",
    ),
    "--out is given 2 times; accepted: once":
        ("run", "quickstart_climate", "--out", "a", "--out=b"),
    "did you mean 'climate.truncation'?": ("run", "quickstart_climate", "--set", "truncation=21"),
    "did you mean 'climate.parameters'?": ("run", "quickstart_climate", "--set", "parameters=1"),
    "did you mean 'heston.model.kappa'?": ("run", "quickstart_heston", "--set", "kappa=2"),
}  # fmt: skip


@pytest.mark.parametrize("said", TYPED)
def test_slips_on_the_command_line_say_what_to_type(said, call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.py").write_text(KERNEL)
    code, out, err = call(*TYPED[said])
    assert code == 2 and said in err and not out and len(err.splitlines()) == 1, err
    assert [file.name for file in tmp_path.iterdir() if file.name != "__pycache__"] == ["k.py"]


def test_options_that_take_several_are_given_several_times(call):
    code, out, err = call(
        "run", "quickstart_climate", "--plan", "-b", "fp32", "-b", "fp16", "--quiet", "--quiet"
    )
    assert code == 0 and "fp32" in out and "fp16" in out, err


def slipped(text, pattern, change):
    """The text with each place of a pattern changed alone, and the number of its line."""
    for found in re.finditer(pattern, text, re.MULTILINE):
        line = text.count("\n", 0, found.start()) + 1
        yield line, text[: found.start()] + change(found) + text[found.end() :]


def refused(path, text):
    """The sentences with which a scenario's text is refused."""
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        load_scenario(path)
    return str(caught.value).splitlines()


@pytest.mark.parametrize("name", ["quickstart_climate", "quickstart_heston", "ensemble_jet"])
def test_decimal_commas_and_typographic_quotes_are_named_with_their_line(name, tmp_path):
    text = named(name, SCENARIOS).read_text(encoding="utf-8")
    slips = list(slipped(text, r"(?<== )(\d+)\.(\d+)$", lambda m: f"{m[1]},{m[2]}"))
    assert slips
    for line, wrong in slips:
        (said,) = refused(tmp_path / "slip.toml", wrong)
        assert f"; line {line} has a decimal comma: write " in said, said
    slips = list(slipped(text, r'(?<== )"([^"\n]*)"$', lambda m: f"“{m[1]}”"))
    assert slips
    for line, wrong in slips:
        (said,) = refused(tmp_path / "slip.toml", wrong)
        assert f'; line {line} has the quotes “ ”: write straight ones, "' in said, said


@pytest.mark.parametrize("name", names(SCENARIOS))
def test_a_heading_that_is_missing_is_one_complaint(name, tmp_path):
    """The keys of a table that has to be there stand in the table above, or in none."""
    file = named(name, SCENARIOS)
    (tmp_path / "assignments").symlink_to(file.parent / "assignments")
    text = file.read_text(encoding="utf-8")
    needed = r"^\[(climate|heston\.model|heston\.payoffs|heston\.simulation|accumulation)\]\n"
    for _, wrong in slipped(text, needed, lambda m: ""):
        said = refused(tmp_path / "slip.toml", wrong)
        assert len(said) <= 2 and "is missing; write it above" in said[0], said
