"""Slips of the pen, on the command line and in scenario files: a sentence says what to write."""

import re

import pytest

from sciprec.foundation.errors import InputError
from sciprec.foundation.shipped import SCENARIOS, named, names
from sciprec.workbench.kinds import load_scenario


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
