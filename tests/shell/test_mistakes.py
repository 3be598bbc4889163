"""Mistakes that people make at a prompt and in files: each is answered by a sentence that names it,
or understood.
"""

import random
import re
import shlex

import numpy as np
import pytest

from sciprec.cli.console import GOOD, USAGE
from sciprec.foundation.shipped import SCENARIOS, named

SCENARIO = """name = "mine"
title = "A flow"
source = "nobody"
kind = "climate"
backends = ["fp32", "fp16"]

[climate]
case = "williamson_5"
truncation = 21
days = 1.0
"""
KERNEL = """import numpy as np


def halve(x, out):
    for i in range(x.size):
        out[i] = x[i] / 3.0


def start():
    return {"x": np.arange(1.0, 5.0), "out": np.zeros(4)}
"""
FILES = {
    "s.toml": SCENARIO, "my file.toml": SCENARIO, "s.txt": SCENARIO, "k.py": KERNEL,
    "my kernel.py": KERNEL, "empty.toml": "", "s.yaml": "name: mine\n", "in.csv": "1,2\n",
    "crlf.toml": SCENARIO.replace("\n", "\r\n"), "cr.toml": SCENARIO.replace("\n", "\r"),
    "bom.toml": f"\ufeff{SCENARIO}", "crlf.py": KERNEL.replace("\n", "\r\n"),
    "bom.py": f"\ufeff{KERNEL}", "utf16.toml": SCENARIO.encode("utf-16"),
    "latin.toml": SCENARIO.replace("nobody", "Müller").encode("latin-1"),
}  # fmt: skip
EDITS = {
    ("days = 1.0", "days = 1,5"): "line 10 has a decimal comma: write 1.5",
    ("days = 1.0", "days: 1.0"): "line 10 has a colon: write = between key and value",
    ("days = 1.0", "days = 10 %"): "line 10 has a percent sign: write a number, 0.01 for 1 %",
    ("days = 1.0", "days = True"): "line 10 has a capital letter: write true or false",
    ("days = 1.0", "days =\u00a01.0"): "line 10 has a space that does not break",
    ("days = 1.0", 'days = "1 day"'): "key 'climate.days' was given '1 day' (a string)",
    ("days = 1.0", "days = 0"): "key 'climate.days' was given 0 (a whole number); accepted: a numb",
    ("days = 1.0", "days = 1.0\ndays = 2.0"): "line 11 gives the key 'days' once more: leave one",
    ("days = 1.0", "days = 1.0 s"): "line 10 has a word behind a number: write the number alone",
    ('"williamson_5"', "williamson_5"): "line 8 has a text without quotes: write it in quotes",
    ('"A flow"', "'A flow\""): "line 2 begins a text with one quote and ends it with another",
    ("kind =", "KIND ="): "key 'kind' is missing; accepted: climate, heston, accumulation, "
    "half_preconditioner, layer_norm, lorenz96, soil_column; 'KIND'",
    ('"mine"', "“mine”"): "line 1 has the quotes “ ”: write straight ones",
    ('["fp32", "fp16"]', '"fp32"'): "write for example `backends = [\"fp32\", \"fp16\"]`",
    ("truncation", "trunction"): "unknown key 'climate.trunction'",
    ("[climate]", "[climte]"): "unknown key 'climte'",
    ("williamson_5", "Williamson_5"): "did you mean 'williamson_5'",
    ("truncation = 21\n", ""): "key 'climate.truncation' is missing",
}  # fmt: skip
RUN, TRACE = "run s.toml --plan", "trace k.py:halve --inputs in.npz -b fp16"
TUNE = "tune k.py:halve --inputs in.npz"
STUDY = "study k.py:halve --inputs in.npz -b fp16"
PRICE = "price --model lewis --payoff call --strike 100 --maturity 1"
MISTAKES = {
    # words in another spelling or order
    "runn s.toml": "No such command 'runn'. Did you mean 'run'?",
    "scenario chekc s.toml": "Did you mean 'check'?",
    f"{RUN} --backends fp16": "No such option: --backends",
    f"{RUN} -backend fp16": "'-backend' was given; a long option has two hyphens: --backend",
    f"{RUN} --threads 2 --workers 2": "--workers and --threads were given; give one of them",
    f"{RUN} --out": "requires an argument", TUNE: "'--tolerance'",
    "compare in.npz in.npz in.npz": "unexpected extra argument",
    "monitor k.py:halve --inputs in.npz -b fp16": "lacks --watch",
    "monitor . --watch x": "'.' is the folder of a batch, and --watch is of a kernel",
    "bound s.toml -b fp16": "bound is given 's.toml', a scenario; it takes a kernel",
    # names
    f"{RUN} -b fp23": "did you mean 'fp32'?", f"{RUN} -b FP16": "did you mean 'fp16'?",
    f"{RUN} -b e4m3": "has two meanings",
    f"{RUN} --format nc": "did you mean 'netcdf'?", f"{TRACE} --by lines": "did you mean 'line'?",
    f"{STUDY} --output y": "has no output 'y'; its outputs: out",
    **{f"trace {kernel} --inputs in.npz -b fp16": "did you mean 'k.py:halve'?"
       for kernel in ("k:halve", "k.py::halve", "k.py.halve", "k.halve")},
    # numbers, units, percent, commas
    f"{RUN} --set climate.days=1,5": "was given '1,5'", f"{RUN} --threads 0": "'0'",
    f"{TUNE} --tolerance 1,5": "--tolerance is given '1,5'; it takes a number",
    f"{TUNE} --tolerance 0": "tolerance is 0.0; accepted: a number above zero",
    f"{STUDY} --tolerance out:1e-3": "--tolerance is given 'out:1e-3'",
    "compare in.npz in.npz --rtol 5percent": "--rtol is given '5percent'",
    f"{PRICE} --strike 100,5": "'100,5' is not a number; a d",
    f"{PRICE} --rate 5,5%": "a decimal point is written in place of a comma",
    "climate run williamson_5 --days 5d": "'5d'",
    "climate run williamson_5 --truncation 42.5": "unknown truncation '42.5'",
    # files
    "run --plan .": "'.' is a folder", "run --plan empty.toml": "is missing",
    "run --plan my file.toml": "'my' does not exist",
    "run --plan s.yaml": "is not valid TOML", "run --plan utf16.toml": "save it as UTF-8",
    "run --plan latin.toml": "is not UTF-8 text (byte 42)",
    "trace k.py:halve --inputs in.csv -b fp16": "'in.csv' cannot be read",
    "monitor nowhere": "'nowhere' is neither",
    # drawn at random from such slips, in all verbs
    "CHECK-MEMORY k.py:halve": "verbs have small letters: check-memory",
    f"{RUN} --PLAN": "'--PLAN' was given; options have small letters: --plan",
    "check s.toml": "'check' is a verb below others; write baseline check or scenario check",
    "baseline --slower 1.5 check": "options stand behind it, as in `sciprec baseline check --slow",
    "scenario keys -climate": "'-climate' begins with a hyphen and is not an option; write climate",
    "trace k.py:halve --inputs in.npz -b -b fp16": "'-b' stands where the value of -b is expected",
    f"{TUNE} --tolerance --metric rms": "'--metric' stands where the value of --tolerance is",
    f"{RUN} -bs fp16": "'-bs' was given, which means -b with the value 's'; write -b fp16",
    f"{TRACE} -bq fp16": "with the value 'q'; write -q -b fp16",
    f"{RUN} —threads 2": "'—threads' begins with a dash of typography; hyphens are meant: --thr",
    f"{RUN} “--json”": "'“--json”' has quotes of typography; write --json",
    "'run\u00a0' s.toml": "begins or ends with a space; write run",
    f"{RUN} --format ''": "a word is empty, behind '--format', as of a variable of the shell",
    "run --plan 's. toml'": "did you mean 's.toml'?", "run --plan no_s.toml": "did you mean 's.t",
    "run --plan s.tml": "did you mean 's.toml'?", f"{TRACE} --output ot": "did you mean 'out'?",
    "bound k.py:halve --inputs k:start -b fp16": "did you mean 'k.py:start'?",
    "bound k.py:halve --inputs k.py:staart -b fp16": "did you mean 'start'?",
    f"{STUDY} --axes otu=time": "--axes are given for 'otu'; outputs: out; did you mean 'out'?",
    f"{TUNE} --tolerance 1e-3 --margin 1,5": "a decimal point is written in place of a comma",
    f"{RUN} --veerify": "No such option: --veerify",
    "compare in.npz": "and 'in.npz' was given alone",
}  # fmt: skip
UNDERSTOOD = {
    "run quickstart_climate --plan -b fp32 -b fp16 --quiet --quiet": "fp16",
    f"{RUN} --set 'climate.days = 3'": "mine", f"{RUN} -b 'float: e=6, m=5'": "float:",
    **{f"run --plan {name}": "mine" for name in
       ("s.txt", "crlf.toml", "cr.toml", "bom.toml", "'my file.toml'")},
    **{f"bound '{name}:halve' --inputs '{name}:start' -b fp16": "out"
       for name in ("my kernel.py", "crlf.py", "bom.py")},
}  # fmt: skip


@pytest.fixture(scope="module")
def workplace(tmp_path_factory):
    """A folder of files with and without mistakes."""
    place = tmp_path_factory.mktemp("mistakes")
    for name, content in FILES.items():
        (place / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    np.savez(place / "in.npz", x=np.arange(1.0, 5.0), out=np.zeros(4))
    return place


@pytest.fixture
def asked(workplace, call, monkeypatch):
    """A function of a command line: exit code, output and what is said."""
    monkeypatch.chdir(workplace)
    monkeypatch.setenv("COLUMNS", "200")
    return lambda words: call(*shlex.split(words))


@pytest.mark.parametrize("words", MISTAKES)
def test_a_mistake_on_the_command_line_is_named(asked, words):
    code, out, err = asked(words)
    assert (code, out) == (USAGE, "") and MISTAKES[words] in err and "Traceback" not in err
    assert "internal error" not in err


VALID = (
    "run s.toml --plan --backend fp16 --set climate.days=2 --threads 2 --format netcdf",
    "compare in.npz in.npz --rtol 1e-3 --atol 0.5 --max-ulp 4 --ignore out --coords-atol 0.5",
    "scenario keys climate", "scenario check s.toml", "scenario schema heston", "list cases",
    "scenario new heston", "list backends --scenario s.toml", "list policies --json",
    "run quickstart_heston --plan --backend fp32 --workers 1 --enforce",
)  # fmt: skip
"""Command lines whose words are changed at random."""
CHANGES = {
    "typo": lambda r, w: w[: (k := r.randrange(len(w)))] + w[k + 1 :],
    "doubled": lambda r, w: w[: (k := r.randrange(len(w)))] + w[k] + w[k:],
    "capitals": lambda r, w: w.swapcase(),
    "unit": lambda r, w: w + r.choice(["s", "%", "u", "days"]),
    "comma": lambda r, w: w.replace(".", ",") if "." in w else f"{w},5",
    "space": lambda r, w: r.choice([f" {w}", f"{w} ", f"{w[:2]} {w[2:]}"]),
    "hard space": lambda r, w: f"{w}\u00a0", "quotes": lambda r, w: f"“{w}”",
    "dash": lambda r, w: f"–{w.lstrip('-')}", "hyphen": lambda r, w: f"-{w}",
    "empty": lambda r, w: "", "file": lambda r, w: f"no_{w}",
}  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_a_word_that_is_changed_at_random_is_named_or_understood(asked, seed):
    draw = random.Random(seed)
    for _ in range(30):
        words = shlex.split(draw.choice(VALID))
        place, (kind, change) = draw.randrange(len(words)), draw.choice(list(CHANGES.items()))
        words[place] = changed = change(draw, words[place])
        code, out, err = asked(shlex.join(words))
        assert code in (GOOD, 1, USAGE) and "Traceback" not in err, (kind, words, err)
        if code == USAGE:
            named = [changed, changed.replace("\u00a0", "\\xa0"), changed.strip(), changed.lower()]
            named += [changed.partition("=")[2], *changed.partition("=")[0].split(".")]
            named += ["a word is empty"] * (not changed)
            assert out == "" and any(name and name in err for name in named), (kind, words, err)


@pytest.mark.parametrize("edit", EDITS, ids=" to ".join)
def test_a_mistake_in_a_scenario_is_named(asked, workplace, edit):
    (workplace / "edited.toml").write_text(SCENARIO.replace(*edit), encoding="utf-8")
    code, out, err = asked("scenario check edited.toml")
    assert (code, out) == (USAGE, "") and EDITS[edit] in err and "Traceback" not in err
    assert all(re.match("sciprec: edited.toml: ", line) for line in err.splitlines())


@pytest.mark.parametrize("name", ["tuned_mountain", "heston_surface", "long_accumulation"])
def test_a_heading_that_is_missing_is_one_complaint(asked, workplace, name):
    """The keys of a table that has to be there stand in the table above, or in none."""
    file = named(name, SCENARIOS)
    if not (workplace / "assignments").exists():
        (workplace / "assignments").symlink_to(file.parent / "assignments")
    text = file.read_text(encoding="utf-8")
    needed = r"^\[(climate|heston\.model|heston\.payoffs|heston\.simulation|accumulation)\]\n"
    for found in re.finditer(needed, text, re.MULTILINE):
        (workplace / "slip.toml").write_text(text[: found.start()] + text[found.end() :])
        code, _, err = asked("scenario check slip.toml")
        assert code == USAGE and len(err.splitlines()) <= 2, err
        assert "is missing; write it above" in err.splitlines()[0]


@pytest.mark.parametrize("words", UNDERSTOOD)
def test_what_can_be_understood_is(asked, words):
    code, out, err = asked(words)
    assert code == GOOD and UNDERSTOOD[words] in out, err
