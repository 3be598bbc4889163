"""Mistakes that people make at a prompt and in files: each is answered by a sentence that names it,
or understood.
"""

import re
import shlex

import numpy as np
import pytest

from sciprec.cli.exit_codes import GOOD, USAGE

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
    ("days = 1.0", "days = 1.0\ndays = 2.0"): "Cannot overwrite a value (at line 11",
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
    "list backend": "Did you mean 'backends'?",
    f"{RUN} --backends fp16": "No such option: --backends",
    f"{RUN} -backend fp16": "'-backend' was given; a long option has two hyphens: --backend",
    f"{RUN} --threads 2 --workers 2": "--workers and --threads were given; give one of them",
    "run": "Missing argument", f"{RUN} --out": "requires an argument", TUNE: "'--tolerance'",
    "compare in.npz": "two files are compared, the truth and the run",
    "compare in.npz in.npz in.npz": "unexpected extra argument",
    "trace k.py:halve -b fp16": "kernel 'halve' is given no arguments; give --inputs",
    "monitor k.py:halve --inputs in.npz -b fp16": "lacks --watch",
    "monitor . --watch x": "'.' is the folder of a batch, and --watch is of a kernel",
    "bound s.toml -b fp16": "bound is given 's.toml', a scenario; it takes a kernel",
    "run --plan k.py": "'k.py' is a Python file, and a scenario is a TOML file",
    # names
    f"{RUN} -b fp23": "did you mean 'fp32'?", f"{RUN} -b FP16": "did you mean 'fp16'?",
    f"{RUN} -b fp16,fp32": "is several backends in one word", f"{RUN} -b e4m3": "has two meanings",
    f"{RUN} -b 'fp16 '": "unknown backend 'fp16 '", f"{RUN} --format nc": "did you mean 'netcdf'?",
    "run --plan quickstart_climat": "did you mean 'quickstart_climate'?",
    "climate run williamson5": "did you mean 'williamson_5'?",
    f"{TRACE} --by lines": "did you mean 'line'?", f"{TRACE} --metric rmse": "did you mean 'rms'?",
    f"{STUDY} --output y": "has no output 'y'; its outputs: out",
    **{f"trace {kernel} --inputs in.npz -b fp16": "did you mean 'k.py:halve'?"
       for kernel in ("k:halve", "k.py::halve", "k.py.halve", "k.halve")},
    "trace k.py:halv --inputs in.npz -b fp16": "did you mean 'halve'?",
    "trace k.py --inputs in.npz -b fp16": "name one of it, as in k.py:halve",
    f"{PRICE.replace('call', 'Call')}": "did you mean 'call'?",
    "baseline check nothing": "there is no baseline 'nothing'",
    # numbers, units, percent, commas
    f"{RUN} --set climate.days=1,5": "was given '1,5'", f"{RUN} --set days=3": "'climate.days'?",
    f"{RUN} --set climate.days": "--set is given 'climate.days'; it takes a key and a value",
    f"{RUN} --threads two": "'two'", f"{RUN} --threads 0": "'0'",
    f"{TUNE} --tolerance 1,5": "--tolerance is given '1,5'; it takes a number",
    f"{TUNE} --tolerance 0": "tolerance is 0.0; accepted: a number above zero",
    f"{STUDY} --tolerance out:1e-3": "--tolerance is given 'out:1e-3'",
    "compare in.npz in.npz --rtol 5percent": "--rtol is given '5percent'",
    f"{PRICE} --strike 100,5": "100,5': Input", f"{PRICE} --maturity 1y": "1y'",
    f"{PRICE} --rate 5,5%": "a decimal point is written in place of a comma",
    f"{PRICE} --confidence 99.9": "a probability above 0 and below 1",
    f"{PRICE} --spot -100": "accepted: a price > 0",
    "climate run williamson_5 --days 5d": "'5d'",
    "climate run williamson_5 --truncation 42.5": "unknown truncation '42.5'",
    # files
    "run --plan nowhere.toml": "'nowhere.toml' does not exist", "run --plan .": "'.' is a folder",
    "run --plan my file.toml": "'my' does not exist", "run --plan empty.toml": "is missing",
    "run --plan s.yaml": "is not valid TOML", "run --plan utf16.toml": "save it as UTF-8",
    "run --plan latin.toml": "is not UTF-8 text (byte 42)",
    "trace k.py:halve --inputs in.csv -b fp16": "'in.csv' cannot be read",
    "trace k.py:halve --inputs short.npz -b fp16": "the argument 'out' of halve(x, out) is missing",
    "compare in.npz nowhere.npz": "'nowhere.npz' does not exist",
    "report nowhere": "'nowhere' holds no batch", "monitor nowhere": "'nowhere' is neither",
    "scenario new heston --out s.toml": "it is there already",
}  # fmt: skip
UNDERSTOOD = {
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
    np.savez(place / "short.npz", x=np.arange(1.0, 5.0))
    return place


@pytest.fixture
def asked(workplace, call, monkeypatch):
    """A function of a command line: exit code, output and what is said."""
    monkeypatch.chdir(workplace)
    monkeypatch.setenv("COLUMNS", "200")
    return lambda words: call(*shlex.split(words))


def test_they_are_as_many_as_were_promised():
    assert len(MISTAKES) + len(EDITS) >= 60


@pytest.mark.parametrize("words", MISTAKES)
def test_a_mistake_on_the_command_line_is_named(asked, words):
    code, out, err = asked(words)
    assert (code, out) == (USAGE, "") and MISTAKES[words] in err and "Traceback" not in err
    assert "internal error" not in err


@pytest.mark.parametrize("edit", EDITS, ids=" to ".join)
def test_a_mistake_in_a_scenario_is_named(asked, workplace, edit):
    (workplace / "edited.toml").write_text(SCENARIO.replace(*edit), encoding="utf-8")
    code, out, err = asked("scenario check edited.toml")
    assert (code, out) == (USAGE, "") and EDITS[edit] in err and "Traceback" not in err
    assert all(re.match("sciprec: edited.toml: ", line) for line in err.splitlines())


@pytest.mark.parametrize("words", UNDERSTOOD)
def test_what_can_be_understood_is(asked, words):
    code, out, err = asked(words)
    assert code == GOOD and UNDERSTOOD[words] in out, err
