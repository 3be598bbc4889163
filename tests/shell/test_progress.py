"""Progress: lines where there is no terminal, bars on one, how fast it goes and what is left."""

import io
from types import SimpleNamespace

import numba
import numpy as np
import pytest
import xarray as xr

from sciprec.cli import progress
from sciprec.facets.compensation.keys import NO_COMPENSATION, CompensationChoice
from sciprec.foundation.course import listening
from sciprec.results.comparison.wording import duration
from sciprec.results.output import files, netcdf, pieces
from sciprec.results.output.dataset import prices_dataset
from sciprec.workbench.batch import course, execute
from sciprec.workbench.batch.compiling import remember
from sciprec.workbench.batch.perform import pace_of, perform
from sciprec.workbench.batch.plan import plan
from sciprec.workbench.kinds import load_scenario
from tests.shell.conftest import little_climate


def long_run(days):
    """A run in fp32 of the shipped flow over a mountain, so many days long."""
    scenario = load_scenario("precision_mountain")
    longer = scenario.climate.model_copy(update={"days": days})
    runs = plan([scenario.model_copy(update={"climate": longer, "name": "jet"})])
    return next(run for run in runs if run.label == "fp32")


@pytest.fixture
def clock(monkeypatch):
    """A clock that a test sets."""
    now = SimpleNamespace(value=0.0)
    monkeypatch.setattr(course.time, "perf_counter", lambda: now.value)
    return now


def test_days_are_a_line_now_and_then_where_there_is_no_terminal(clock, capsys):
    told = progress.Progress()
    for seconds, days in ((1.0, 3.25), (11.0, 40.0), (12.0, 41.0), (21.5, 80.5)):
        clock.value = seconds
        told.days(long_run(1200.0), days)
    assert capsys.readouterr().err.splitlines() == [
        "jet in fp32: day 40 of 1200 (11.0 s so far)",
        "jet in fp32: day 80.5 of 1200 (21.5 s so far)",
    ]


def test_resets_that_undo_a_compensation_are_told_once(capsys):
    scenario = load_scenario("precision_mountain")
    weak = CompensationChoice(name="weak", alpha=0.15, beta=0.85, reset_every=10)
    runs = plan([scenario.model_copy(update={"compensation": (NO_COMPENSATION, weak)})])
    progress.Progress().planned(runs)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("compensation 'weak': a reset after every 10 updates forgets")
    progress.Progress(quiet=True).planned(runs)
    assert not capsys.readouterr().err


def test_days_are_a_bar_on_a_terminal(monkeypatch, scenario_files):
    stream = io.StringIO()
    terminal = progress.Console(file=stream, force_terminal=True, width=100)
    monkeypatch.setattr(progress, "Console", lambda stderr: terminal)
    with progress.Progress() as told:
        told.planned(plan([load_scenario(scenario_files[0])]))
        told.days(long_run(12.0), 3.0)
        told.days(long_run(12.0), 6.2)
        told._bar.refresh()
    assert "days of jet in fp32" in stream.getvalue() and "6/12" in stream.getvalue()


def test_what_is_left_follows_from_the_forecast_of_what_is_done(
    clock, capsys, monkeypatch, scenario_files
):
    """The climate runs are forecast to take almost all of the time; files that were kept say
    nothing about how fast this machine is.
    """
    monkeypatch.setattr("sciprec.workbench.batch.estimate.is_compiled", lambda run: True)
    runs = plan([load_scenario(path) for path in scenario_files])
    told = progress.Progress()
    told.planned(runs)
    work, compiling = course.work_of(runs)
    assert not compiling
    clock.value = 1.0
    told.done(runs[0].outcome(20.0, kept=True))
    clock.value = 10.0
    told.done(runs[1].outcome(8.0, pace="3 days/s"))
    for run in runs[2:]:
        told.done(run.outcome(0.5, failure="" if run.member else "out of luck"))
    lines = capsys.readouterr().err.splitlines()
    rest = 10.0 * sum(work[run.file] for run in runs[2:]) / work[runs[1].file]
    assert lines[0] == (
        "[1/6] little_climate in fp64: kept, computed before (20.0 s; 1.0 s so far)"
    )
    assert lines[1] == (
        "[2/6] little_climate in fp32: done (8.0 s; 3 days/s; 10.0 s so far; "
        f"about {rest:.3g} s left)"
    )
    assert lines[5] == "[6/6] little_heston in fp16: failed: out of luck (0.5 s; 10.0 s so far)"


def test_what_is_left_counts_compiling_and_the_days_of_runs_under_way(
    clock, monkeypatch, capsys, scenario_files
):
    """A run of milliseconds that compiles for seconds says nothing of how slow the machine is,
    whichever member of its ensemble comes first.
    """
    monkeypatch.setattr("sciprec.workbench.batch.estimate.is_compiled", lambda run: False)
    text = scenario_files[0].read_text()
    scenario_files[0].write_text(text + "\n[ensemble]\nmembers = 5\n")
    runs = plan([load_scenario(path) for path in scenario_files])
    work, compiling = course.work_of(runs)
    assert len(runs) == 18 and len(compiling) == 6 and min(compiling.values()) > 1.0
    whole = sum(work.values()) + sum(compiling.values())
    told = progress.Progress()
    told.planned(runs)
    told.compiling(runs[12])  # fp64, its last member
    done = compiling["little_climate", "fp64"] + work[runs[12].file]
    clock.value = done
    told.done(runs[12].outcome(clock.value))
    told.days(runs[1], 1.5)  # half of the first member in fp32
    done += compiling["little_climate", "fp32"] + 0.5 * work[runs[1].file]
    clock.value = done
    assert told._course.left() == f"about {duration(whole - done)} left"
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "little_climate in fp64, member 4: compiling (first time only; 1 of 6)"
    rest = whole - compiling["little_climate", "fp64"] - work[runs[12].file]
    assert lines[1].endswith(f"about {duration(rest)} left)")


def test_compiling_is_heard_once_and_loading_is_not(monkeypatch, tmp_path, scenario_files):
    monkeypatch.setenv("SCIPREC_CACHE_DIR", str(tmp_path))
    (run, *_) = plan([load_scenario(scenario_files[0])])
    heard, kernel = [], numba.njit(lambda x: x + 1)

    def act(run):
        return kernel(1), kernel(1.0)

    for _ in range(2):
        execute._telling(run, act, heard.append)
    assert heard == [run]
    remember(run)
    execute._telling(run, lambda run: kernel(1j), heard.append)
    assert heard == [run]


def test_runs_without_a_forecast_count_alike(scenario_files):
    text = scenario_files[1].read_text()
    text = text.replace("n_paths = 1024\nsteps_per_year = 4", 'tolerance = "1%"')
    scenario_files[1].write_text(text)
    runs = plan([load_scenario(path) for path in scenario_files])
    assert set(course.work_of(runs)[0].values()) == {1.0}


def test_the_pace_of_a_model():
    assert pace_of(little_climate(None, "fp64")) == "6 days/s"
    prices = {"price": np.ones((2, 3))}
    how = {"n_paths": 1000, "processor_seconds": 0.5}
    assert pace_of(prices_dataset([1, 2, 3], [1, 2], prices, **how)) == "4,000 paths/s"
    bounded = prices_dataset([1, 2, 3], [1, 2], prices, **how, levels="[]")
    assert pace_of(bounded) == "2,000 paths/s"
    assert pace_of(prices_dataset([1, 2, 3], [1, 2], prices)) == ""


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


def test_a_long_comparison_is_a_line_now_and_then_where_there_is_no_terminal(
    clock, call, two_files, monkeypatch
):
    def later():
        clock.value += 6.0
        return clock.value

    monkeypatch.setattr(progress.time, "perf_counter", later)
    code, _, err = call("compare", *two_files)
    assert code == 1
    assert err.splitlines() == ["comparing values: 2,097,152 of 3,000,000"]


def test_a_terminal_shows_what_is_waited_for_from_two_seconds_on(monkeypatch):
    stream = io.StringIO()
    terminal = progress.Console(file=stream, force_terminal=True, width=100)
    monkeypatch.setattr(progress, "Console", lambda stderr: terminal)
    with progress.Waiting("reading both files") as waiting:
        assert waiting._timer.interval == 2.0 and waiting._timer.is_alive()
    assert not stream.getvalue()
    monkeypatch.setattr(progress, "SECONDS_IN_SILENCE", 0.0)
    with progress.Waiting("reading both files") as waiting:
        waiting._timer.join()
        waiting._status._live.refresh()
        waiting.tell("comparing \u202eheight", 3000, 4000)
        waiting._status._live.refresh()
    assert "reading both files" in stream.getvalue()
    assert "comparing \\u202eheight: 3,000 of 4,000" in stream.getvalue()
    assert stream.getvalue().endswith("\x1b[?25h\r\x1b[1A\x1b[2K")  # cursor back, line away


def test_every_long_step_says_what_it_does(call, tmp_path, monkeypatch):
    """On a terminal, after two seconds: of each verb without a bar of its own."""
    said, made = [], progress.Waiting.__init__

    def noted(self, words):
        said.append(words)
        made(self, words)

    monkeypatch.setattr(progress.Waiting, "__init__", noted)
    (tmp_path / "sums.py").write_text(
        "def total(x):\n    s = 0.0\n    for one in x:\n        s += one\n    return s\n\n\n"
        "def inputs():\n    import numpy as np\n\n    return (np.linspace(1.0, 2.0, 9),)\n"
    )
    kernel = f"{tmp_path / 'sums.py'}:total"
    inputs = ("--inputs", f"{tmp_path / 'sums.py'}:inputs")
    assert call("trace", kernel, *inputs, "--backend", "fp16")[0] == 0
    assert call("monitor", kernel, *inputs, "--backend", "fp16", "--watch", "s")[0] == 0
    assert call("tune", kernel, *inputs, "--tolerance", "1e-3")[0] == 0
    asked = ("--model", "lewis", "--payoff", "call", "--maturity", "1", "--strike", "100")
    assert call("price", *asked, "--tolerance", "5%")[0] == 0
    assert said == [
        f"tracing {kernel} in fp16", f"running {kernel} in fp16",
        f"searching the formats of {kernel}", "pricing in fp32",
    ]  # fmt: skip


def test_reports_tell_how_far_they_have_read(tmp_path, monkeypatch):
    """Large files are read piece by piece; the listener is one of a block, on its thread."""
    monkeypatch.setattr(pieces, "WHOLE_BYTES", 0)
    netcdf.write(xr.Dataset({"t": ("time", np.ones(9))}), tmp_path / "run.nc")
    told = []
    with listening(lambda *words: told.append(words)):
        files.available(tmp_path / "run.nc").close()
    assert told and all(what == "reading run.nc" and done <= whole for what, done, whole in told)
    files.available(tmp_path / "run.nc").close()
    assert told[-1][1] == told[-1][2]
