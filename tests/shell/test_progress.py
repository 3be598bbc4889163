"""Progress: lines where there is no terminal, one line on one, what is left, in every verb."""

import fcntl
import inspect
import io
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path
from types import SimpleNamespace

import numba
import numpy as np
import pytest

import sciprec
from sciprec.cli import progress
from sciprec.foundation import course as told_course
from sciprec.foundation.course import listening, tell
from sciprec.workbench.batch import course, execute
from sciprec.workbench.batch.perform import perform
from sciprec.workbench.batch.plan import plan
from sciprec.workbench.kinds import load_scenario
from tests.shell.conftest import KERNEL


@pytest.fixture
def clock(monkeypatch):
    """A clock that a test sets."""
    now = SimpleNamespace(value=0.0)
    monkeypatch.setattr(course.time, "perf_counter", lambda: now.value)
    monkeypatch.setattr(progress, "SECONDS_IN_SILENCE", 2.0)
    monkeypatch.setattr(progress.Waiting, "_tick", lambda waiting: None)
    return now


@pytest.fixture
def terminal(monkeypatch):
    """The text that a terminal of 40 columns is sent."""
    stream = io.StringIO()
    stream.isatty = lambda: True
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=stream, modules=sys.modules))
    monkeypatch.setattr(progress, "_width", lambda: 40)
    monkeypatch.setenv("TERM", "xterm")
    return stream


def test_a_pipe_gets_a_plain_line_after_two_seconds_and_then_every_ten(clock, capsys):
    with progress.Waiting("pricing in fp32") as waiting:
        for seconds in range(26):
            clock.value = seconds + 0.5
            if seconds >= 10:
                tell("paths", 100 * (seconds - 10), 4_000)
            waiting.look()
    assert capsys.readouterr().err.splitlines() == [
        "pricing in fp32 (2 s so far)",
        "paths: 200 of 4,000 (12 s so far; about 38 s left)",
        "paths: 1,200 of 4,000 (22 s so far; about 28 s left)",
    ]


def test_a_terminal_has_one_line_which_goes_in_the_end(clock, terminal):
    with progress.Waiting("reading\nboth\u202e files of quite some length") as waiting:
        waiting.look()
        assert not terminal.getvalue()
        clock.value = 3.0
        waiting.look()
        tell("comparing 高度", 3_000, 0)
        waiting.look()
        waiting.note("a run failed")
        assert terminal.getvalue().endswith("\r\x1b[2Ka run failed\n")
        waiting.look()
        tell("comparing what has a name of its own", 3, 12)
        waiting.look()
    first, second, third, last = re.findall(r"\r([^\r]+)\x1b\[K", terminal.getvalue())
    assert first == r"reading both\u202e files … (3 s so far)" and len(first) <= 39
    assert second == third == "comparing 高度: 3,000 (3 s so far)"
    assert last == "comparing what ha… 3 of 12 (3 s so far)"
    assert terminal.getvalue().endswith("\x1b[K\r\x1b[2K")


def test_the_first_call_says_that_it_compiles(clock):
    """Code of the disk is not compiled; nobody listens any more in the end."""
    kernel, seen = numba.njit(lambda x: x + looked(x)), []

    @numba.extending.overload(looked)
    def of_numba(x):
        seen.append(waiting.words(0.0))
        return lambda x: x

    with progress.Waiting("pricing") as waiting:
        waiting.look()
        assert kernel(1) == 2 and kernel(1) == 2
        assert waiting.words(1.0) == "pricing (1 s so far)"
    assert seen and set(seen) == {"pricing (compiling, the first time only; 0 s so far)"}
    assert waiting._compiler._listener is None


def looked(x):
    """Nothing but what `test_the_first_call_says_that_it_compiles` makes of it."""


def test_what_is_left_follows_from_the_forecast_of_what_is_done(
    clock, capsys, monkeypatch, scenario_files
):
    """The climate runs are forecast to take almost all of the time; files that were kept say
    nothing about how fast this machine is. A run that failed leaves a line.
    """
    monkeypatch.setattr("sciprec.workbench.batch.course.is_compiled", lambda run: True)
    runs = plan([load_scenario(path) for path in scenario_files])
    told = progress.Progress()
    told.planned(runs)
    work, compiling = course.work_of(runs)
    assert not compiling
    clock.value, lines = 1.0, []

    def done(outcome):
        told.done(outcome)
        lines.append(told.words(clock.value))

    done(runs[0].outcome(20.0, kept=True))
    clock.value = 10.0
    done(runs[1].outcome(8.0, pace="3 days/s"))
    for run in runs[2:]:
        done(run.outcome(0.5, failure="" if run.member else "out of luck"))
    rest = 10.0 * sum(work[run.file] for run in runs[2:]) / work[runs[1].file]
    assert lines[0] == (
        "[1/6] little_climate in fp64: kept, computed before (20.0 s; 1.0 s so far)"
    )
    assert lines[1] == (
        "[2/6] little_climate in fp32: done (8.0 s; 3 days/s; 10.0 s so far; "
        f"about {rest:.3g} s left)"
    )
    assert lines[5] == "[6/6] little_heston in fp16: failed: out of luck (0.5 s; 10.0 s so far)"
    assert capsys.readouterr().err.splitlines() == lines[2:]


def test_workers_tell_their_days_now_and_then_to_whoever_listens(
    monkeypatch, scenario_files, tmp_path
):
    """A worker, a scheduler and a client in one: what is logged under a topic is heard at once."""
    runs = plan([load_scenario(scenario_files[0])])
    clock, hearers, heard = SimpleNamespace(value=0.0), {}, []
    cluster = SimpleNamespace(
        subscribe_topic=hearers.__setitem__,
        unsubscribe_topic=hearers.pop,
        log_event=lambda topic, said: hearers[topic]((clock.value, said)),
    )
    monkeypatch.setattr("distributed.get_worker", lambda: cluster)
    monkeypatch.setattr(execute.time, "monotonic", lambda: clock.value)

    def model(run, folder, debug, on_days):
        for day in range(12):
            clock.value += 1.0
            on_days(run, float(day))
        return run.outcome(12.0)

    how = {"action": model, "folder": str(tmp_path), "debug": False, "fresh": True}
    with execute._hearing(cluster, runs, lambda run, days: heard.append((run, days))) as topic:
        assert execute.on_worker(runs[1], topic=topic, **how).seconds == 12.0
    assert heard == [(runs[1], 4.0), (runs[1], 9.0)] and not hearers
    with execute._hearing(cluster, runs, None) as topic:
        assert topic is None


def test_a_run_that_had_ended_on_a_lost_worker_is_not_computed_again(
    models, scenario_files, tmp_path
):
    (run, *_) = plan([load_scenario(scenario_files[0])])
    computed = []

    def model(run, folder, debug):
        computed.append(run)
        return perform(run, folder, debug)

    how = {"action": model, "folder": str(tmp_path), "debug": False, "topic": None}
    first = execute.on_worker(run, fresh=False, **how)
    again = execute.on_worker(run, fresh=False, **how)
    assert len(computed) == 1 and not again.kept and again.file == first.file
    execute.on_worker(run, fresh=True, **how)
    assert len(computed) == 2


# ---- long steps ---------------------------------------------------------------------------------


@pytest.fixture
def two_files(tmp_path):
    """A truth and a run of three million values."""
    for name, value in (("truth", 1.0), ("run", 1.5)):
        np.save(tmp_path / f"{name}.npy", np.full(3_000_000, value))
    return tmp_path / "truth.npy", tmp_path / "run.npy"


VERBS = {
    ("trace", "KERNEL", "-b", "fp16"): ("tracing KERNEL in fp16", "runs over perturbed inputs"),
    ("monitor", "KERNEL", "-b", "fp16", "--watch", "s"):
        ("running KERNEL in fp16", "steps summed up"),
    ("digits", "KERNEL"): ("counting digits of KERNEL in fp64", "runs with moved data"),
    ("bound", "KERNEL", "-b", "fp16"): ("bounding the error of KERNEL in fp16",),
    ("check-memory", "KERNEL"):
        ("checking the memory of KERNEL in fp64", "runs with new arrays filled"),
    ("tune", "KERNEL", "--tolerance", "1e-3"):
        ("searching the formats of KERNEL", "formats tried for single groups"),
    ("repeat", "KERNEL", "--runs", "2"): ("repeating KERNEL",),
    ("compare", "truth.npy", "run.npy"): ("reading both files", "comparing values"),
    ("price", "--model", "lewis", "--payoff", "call", "--maturity", "1", "--strike", "100",
     "--tolerance", "5%"): ("pricing in fp32", "paths of the base level"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("words", VERBS, ids=lambda words: words[0])
def test_every_verb_says_what_it_does_and_nothing_of_it_on_standard_output(
    words, call, tmp_path, request, monkeypatch
):
    """Of each that computes: all that it would show, were it slow."""
    monkeypatch.chdir(tmp_path)
    if words[0] == "compare":
        request.getfixturevalue("two_files")
    Path("kernel.py").write_text(KERNEL)
    kernel = ("kernel.py:kernel", "--inputs", "kernel.py:given")
    given = [w for word in words for w in (kernel if word == "KERNEL" else (word,))]
    for name, value in (("SECONDS_IN_SILENCE", 0.0), ("SECONDS_BETWEEN_LINES", 0.0)):
        monkeypatch.setattr(progress, name, value)
    monkeypatch.setattr(progress.Waiting, "_tick", lambda waiting: None)
    heard = progress.Waiting.tell

    def told(waiting, *words):
        heard(waiting, *words)
        waiting.look()

    begun = progress.Waiting.__enter__
    monkeypatch.setattr(progress.Waiting, "tell", told)
    monkeypatch.setattr(
        progress.Waiting, "__enter__", lambda waiting: (begun(waiting), waiting.look())[0]
    )
    code, out, err = call(*given, "--json")
    assert code in (0, 1) and json.loads(out) is not None, err
    shown = re.sub(r"(: [\d,]+( of [\d,]+)?)? \(.*", "", err, flags=re.MULTILINE).splitlines()
    for what in VERBS[words]:
        assert what.replace("KERNEL", "kernel.py:kernel") in shown
    assert "\r" not in err and "\x1b" not in err


def smoothed(x, steps):
    y = x.copy()
    for _ in range(steps):  # the loop
        for k in range(x.size):
            y[k] = 0.5 * x[k] + 0.25 * (x[k - 1] + x[(k + 1) % x.size])
        for k in range(x.size):
            x[k] = y[k]
    while y[0] < 0.0:
        y[0] += 1.0


def around(x, steps):
    smoothed(x, steps)


@pytest.mark.slow
@pytest.mark.parametrize(("verb", "kernel"), [("bound", around), ("monitor", smoothed)])
def test_one_long_call_tells_of_the_passes_of_its_loop(verb, kernel, monkeypatch):
    """Of a kernel's own outermost loops over ranges; of `bound` also where it calls them."""
    monkeypatch.setattr(told_course, "SECONDS_BETWEEN_LOOKS", 1e-3)
    steps = {"bound": 10_000, "monitor": 200_000}[verb]  # a sixth of a second each
    args, told = {"x": np.linspace(1.0, 2.0, 50), "steps": steps}, []

    def run():
        if verb == "bound":
            return sciprec.bound(kernel, "fp16", args)
        return sciprec.monitor(kernel, "fp16", args, watch="x", every=100_000)

    unheard = run()  # compiles
    with listening(lambda *words: told.append(words)):
        heard = run()
    assert heard.results["x"].tobytes() == unheard.results["x"].tobytes()
    source, first = inspect.getsourcelines(smoothed)
    line = first + next(n for n, text in enumerate(source) if "# the loop" in text)
    passes = [words for words in told if words[0].endswith(f"passes of the loop in line {line}")]
    for name in {what for what, _, _ in passes}:
        counts = [done for what, done, _ in passes if what == name]
        assert counts == sorted(counts) and 0 < counts[-1] < steps
    assert {whole for _, _, whole in passes} == {steps}


def test_a_verb_can_be_quiet(call, two_files, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_IN_SILENCE", 0.0)
    monkeypatch.setattr(progress, "_SECONDS_BETWEEN_LOOKS", 1e-4)
    for quiet in ((), ("-q",)):
        _, out, err = call("compare", *two_files, "--json", *quiet)
        assert json.loads(out) and bool(err) == (not quiet)


@pytest.mark.slow
def test_a_real_terminal_has_its_line_cleared(tmp_path):
    """Of a pipe's end nothing is known here: the bytes that a pseudo-terminal receives."""
    leading, following = pty.openpty()
    fcntl.ioctl(following, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 30, 0, 0))
    text = (
        "import sys, time\nfrom sciprec.cli import progress\n"
        "progress.SECONDS_IN_SILENCE = 0.1\n"
        "with progress.Waiting('waiting for something that takes its time'):\n"
        "    time.sleep(1.0)\nprint('done')\n"
    )
    command = [sys.executable, "-c", text]
    done = subprocess.run(command, stderr=following, stdout=subprocess.PIPE, check=True)
    os.close(following)
    seen = os.read(leading, 65536).decode()
    os.close(leading)
    assert done.stdout == b"done\n"
    drawn = re.findall(r"\r([^\r]*)\x1b\[K", seen)
    assert len(drawn) > 1 and drawn[0] == "waiting for som… (0 s so far)"
    assert seen.endswith("\r\x1b[2K")
