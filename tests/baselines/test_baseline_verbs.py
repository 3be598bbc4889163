"""`sciprec baseline`: verdicts, exit codes, what is kept, and every sentence of bad input."""

import json
import shutil
import subprocess
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr

from sciprec.cli.console import GOOD, NOT_MET, USAGE
from sciprec.regression.baselines import costs, records
from sciprec.regression.baselines.answering import ROUNDS
from sciprec.regression.baselines.costs import REPEATS
from sciprec.regression.baselines.judging import VERDICTS

FOLDER = "baselines"


def checked(call, *options):
    """Exit code and the only check."""
    code, out, err = call("baseline", "check", "--json", *options)
    assert not err
    (found,) = json.loads(out)
    return code, found


def times(factor):
    """A change: one value of the run in binary32."""

    def change(dataset, backend):
        if backend == "fp32":
            dataset["field"][1, 2] *= factor
        return dataset

    return change


def put(value):
    def change(dataset, backend):
        dataset["field"][2, 3] = value
        return dataset

    return change


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "verdict", "code"),
    [
        (lambda dataset, backend: dataset, "identical", GOOD),
        (times(1.0 + 2.0**-24), "noise", GOOD),
        (times(1.0 + 2.0**-20), "changed", NOT_MET),
        (put(np.nan), "pattern", NOT_MET),
        (put(-np.inf), "pattern", NOT_MET),
        (lambda d, b: d.rename(field="other"), "pattern", NOT_MET),
        (lambda d, b: d.isel(x=slice(3)), "pattern", NOT_MET),
        (lambda d, b: d.assign_coords(x=d.x + 1), "pattern", NOT_MET),
        (lambda d, b: d.assign(more=d.field), "pattern", NOT_MET),
        (lambda d, b: 1 / 0, "pattern", NOT_MET),
    ],
)
def test_a_verdict_and_its_exit_code(call, saved, planted, change, verdict, code):
    planted.change = change
    found_code, found = checked(call)
    assert found_code == code
    assert max(found["found"], key=VERDICTS.index) == verdict
    assert checked(call, "--exact")[0] == (GOOD if verdict == "identical" else NOT_MET)


@pytest.mark.slow
def test_a_change_says_where_and_by_how_much(call, saved, planted):
    planted.change = times(2.0)
    code, out, _ = call("baseline", "check")
    assert code == NOT_MET
    assert "fp32, field: changed: " in out and "is beyond" in out
    assert "at time 1, x 2" in out and "8 runs whose inputs are one unit of the format apart" in out
    assert "processor and versions are the baseline's, so that other bits come from other" in out
    planted.change = put(np.nan)
    assert "fp64, field: pattern: 0 NaN then, 1 now" in call("baseline", "check")[1]


@pytest.mark.slow
def test_noise_is_that_of_inputs_one_unit_apart_and_no_tolerance(call, planted, repository):
    """Ten times as sensitive a model has ten times the noise; one that is not has none."""
    found = []
    for name, planted.sensitivity in (("a", 1.0), ("b", 16.0), ("c", 0.0)):
        assert call("baseline", "save", "made_up.toml", "--name", name, "-q")[0] == GOOD
        shown = json.loads(call("baseline", "show", name, "--json")[1])
        (run,) = (one for one in shown["runs"] if one["name"] == "fp32")
        found.append(run["noise"]["field"]["max_abs"])
    unit = 12.0 * 2.0**-23
    assert 0.0 < found[0] <= 3 * unit and 8 * found[0] < found[1] <= 32 * unit and found[2] == 0.0


def test_a_batch_that_is_there_is_taken(call, saved, planted, monkeypatch):
    monkeypatch.setattr("sciprec.report.page.write_page", lambda batch: batch.folder)
    assert call("run", "made_up.toml", "--out", "out", "-q")[0] == GOOD
    before = planted.calls
    assert checked(call, "--batch", "out") == (GOOD, checked(call)[1])
    assert planted.calls == before + 2  # those of the check without a batch
    call("baseline", "save", "made_up.toml", "--name", "again", "--batch", "out", "-q")
    again, first = (json.loads(call("baseline", "show", name, "--json")[1])
                    for name in ("again", "made_up"))  # fmt: skip
    assert again["runs"] == first["runs"] and again["key"] == first["key"]
    next(saved.glob("out/*fp32*.nc")).unlink()
    code, found = checked(call, "made_up", "--batch", "out")
    assert code == NOT_MET and "there is no 'made_up__fp32.nc'" in found["rows"][-1]["reason"]
    call("run", "made_up.toml", "--set", "accumulation.start=3.0", "--out", "other", "-q")
    code, _, err = call("baseline", "check", "made_up", "--batch", "other")
    assert code == USAGE and "accumulation.start was 3.0 and is 1.0" in err


def test_lists(call, saved):
    (one,) = json.loads(call("baseline", "list", "--json")[1])
    assert one["name"] == "made_up" and one["runs"] == ["fp64", "fp32"] and one["made_by"]["commit"]
    assert "made_up" in call("baseline", "list")[1]
    out = call("baseline", "show", "made_up")[1]
    assert "saved" in out and "noise: spread of 8 runs" in out and one["key"] in out
    size = sum(path.stat().st_size for path in (saved / FOLDER).rglob("*") if path.is_file())
    assert size < 100_000
    for path in (saved / FOLDER).rglob("*.nc"):  # which open in xarray
        with xr.open_dataset(path) as dataset:
            assert dataset["field"].shape == (3, 4)


def rewrite(change):
    """Change the JSON of the baseline."""

    def do(folder):
        path = folder / FOLDER / "made_up" / "baseline.json"
        content = json.loads(path.read_text())
        change(content)
        path.write_text(json.dumps(content))

    return do


def text(words):
    return lambda folder: (folder / FOLDER / "made_up" / "baseline.json").write_text(words)


def scenario(old, new):
    def do(folder):
        path = folder / "made_up.toml"
        path.write_text(path.read_text().replace(old, new))

    return do


CHECK, SAVE = ("check",), ("save", "made_up.toml", "--name", "new")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spoil", "arguments", "words"),
    [
        (rewrite(lambda c: c.update(schema=99)), CHECK, "has schema 99, and this sciprec reads 1"),
        (rewrite(lambda c: c["runs"][1]["noise"]["field"].update(largest=1.0)), CHECK,
         "was edited by hand, or merged: its seal does not fit"),
        (text("{<<<<<<< HEAD"), CHECK, "cannot be read as a baseline"),
        (text("[]"), CHECK, "cannot be read as a baseline (it holds no object)"),
        (lambda f: (f / FOLDER / "made_up" / "fp32.nc").write_bytes(b"other"), CHECK,
         "fp32.nc' was changed after it was saved"),
        (lambda f: (f / FOLDER / "made_up" / "fp32.nc").unlink(), CHECK, "fp32.nc' is missing"),
        (scenario("updates = 8", "updates = 9"), CHECK,
         "is of something else: scenario.accumulation.updates was 8 and is 9; accept"),
        (scenario('"fp32"', '"fp32", "fp16"'), CHECK,
         "is of something else: the run 'fp16' is new; accept"),
        (scenario("updates = 8", "updates = 0"), CHECK, "updates"),
        (lambda f: shutil.rmtree(f / FOLDER), CHECK, "there is no baseline in 'baselines'"),
        (lambda f: None, ("check", "made_ub"), "did you mean 'made_up'?"),
        (lambda f: None, ("show", "../made_up"), "there is no baseline '../made_up'"),
        (lambda f: None, ("save", "made_up.toml"), "there is a 'made_up' in 'baselines' already"),
        (lambda f: None, ("save", "made_up.toml", "--name", "a/b"), "cannot be called 'a/b'"),
        (lambda f: None, ("save", "none.toml"), "none.toml"),
        (lambda f: shutil.rmtree(f / ".git"), SAVE, "(it is in no git repository); commit first"),
        (lambda f: subprocess.run(["git", "update-ref", "-d", "HEAD"], cwd=f, check=True), SAVE,
         "(the repository has no commit); commit first, or keep baselines without one with"),
        (lambda f: (f / "file").write_text(""), (*SAVE, "--folder", "file"), "cannot be"),
        (lambda f: (f / "file").write_text(""), (*SAVE, "--folder", "file/in"), "cannot be made"),
        (lambda f: None, (*SAVE, "--batch", "none"), "there is no"),
    ],
)  # fmt: skip
def test_bad_input_is_a_sentence_and_leaves_everything_as_it_was(
    call, saved, spoil, arguments, words
):
    spoil(saved)
    before = files_in(saved)
    code, out, err = call("baseline", *arguments, "-q") if arguments[0] != "show" else (
        call("baseline", *arguments))  # fmt: skip
    assert (code, out) == (USAGE, "") and words in err and err.count("\n") == 1
    assert files_in(saved) == before


@pytest.mark.slow
def test_a_write_that_fails_leaves_nothing_but_the_runs(call, saved, planted, monkeypatch):
    before = files_in(saved)
    write = records.files.write
    with monkeypatch.context() as patch:
        patch.setattr(
            records, "files", SimpleNamespace(write=lambda d, path: full(write(d, path)))
        )
        code, _, err = call("baseline", *SAVE, "-q")
    assert code == USAGE and "cannot be written (No space left" in err
    assert "runs that ended well are kept in 'baselines/.saving-new', and the same" in err
    left = {path for path in files_in(saved) if path not in before}
    assert left and all(".saving-new" in path.parts for path in left)
    status = ["git", "-C", str(saved), "status", "--porcelain", "--untracked-files=all"]
    assert ".saving" not in subprocess.run(status, capture_output=True, text=True).stdout
    calls = planted.calls
    assert call("baseline", *SAVE, "-q")[0] == GOOD
    assert planted.calls == calls + 2 * ROUNDS  # memory is told by runs of their own
    assert not list((saved / FOLDER).glob(".*"))


def full(path):
    raise OSError(28, "No space left on device")


def files_in(folder):
    """Every file with its bytes, git's own left out."""
    paths = (path for path in folder.rglob("*") if ".git" not in path.parts)
    return {path: path.read_bytes() if path.is_file() else b"" for path in paths}


@pytest.mark.slow
def test_a_run_that_failed_is_to_fail_as_before(call, planted, repository):
    planted.change = lambda d, b: d.assign_attrs(blow_up="at once") if b == "fp32" else d
    assert call("baseline", "save", "made_up.toml", "-q")[0] == GOOD
    code, found = checked(call)
    assert code == GOOD and "it failed as before: stopped early: at once" in str(found)
    planted.change = lambda d, b: d
    code, found = checked(call)
    assert code == NOT_MET and "now: it ended well" in str(found)


def test_a_run_that_leaves_nothing_is_not_kept(call, planted, repository):
    planted.change = lambda d, b: 1 / 0 if b == "fp32" else d
    code, _, err = call("baseline", "save", "made_up.toml", "-q")
    assert code == USAGE and "fp32 gives nothing to keep: failed inside" in err
    assert "kept in 'baselines/.saving-made_up'" in err
    planted.change = lambda d, b: 1 / 0
    (repository / FOLDER).rename(repository / "old")
    code, _, err = call("baseline", "save", "made_up.toml", "-q")
    assert code == USAGE and ".saving" not in err and not (repository / FOLDER).exists()


@pytest.mark.slow
def test_slower_runs_are_told_where_that_is_asked(call, planted, repository):
    """The seconds that the model states, beside a reference kernel that is really timed."""
    planted.change = lambda d, b: d.assign_attrs(processor_seconds=2.0)
    assert call("baseline", "save", "made_up.toml", "-q")[0] == GOOD
    before = planted.calls
    assert checked(call, "--slower", "3")[1]["found"] == {"identical": 2}
    assert planted.calls == before + 2 * REPEATS
    planted.change = lambda d, b: d.assign_attrs(processor_seconds=40.0 if b == "fp32" else 2.0)
    assert checked(call)[0] == GOOD
    code, found = checked(call, "--slower", "3")
    assert code == NOT_MET and found["found"] == {"identical": 2, "slower": 1}
    (row,) = (row for row in found["rows"] if row["verdict"] == "slower")
    assert row["run"] == "fp32" and "times as long or more, beside a reference" in row["reason"]
    spent = iter([100.0, 2.0] * 20)  # single slow runs are none: the least one counts, too
    planted.change = lambda d, b: d.assign_attrs(processor_seconds=next(spent))
    assert checked(call, "--slower", "3")[0] == GOOD
    for arguments, words in (
        (("--slower", "0.5"), "--slower is given 0.5; it takes a factor from 1 up"),
        (("--slower", "2", "--batch", "out"), "--slower and --batch were both given"),
    ):
        code, _, err = call("baseline", "check", "-q", *arguments)
        assert code == USAGE and words in err


@pytest.mark.slow
def test_runs_that_take_more_memory_are_told_where_that_is_asked(
    call, repository, planted, monkeypatch
):
    """Arrays of 12 MiB and then of 24 MiB, beside one of 16 MiB."""
    if not costs.room_of(lambda: None):
        pytest.skip("this system does not tell the peak of a process's memory")
    planted.numbers = 3 * 2**19
    assert call("baseline", "save", "made_up.toml", "-q")[0] == GOOD
    content = json.loads((repository / FOLDER / "made_up" / "baseline.json").read_text())
    for run in content["runs"]:
        assert 11.5 / 16.0 <= run["room"]["least"] <= run["room"]["median"] < 17.0 / 16.0
    assert checked(call, "--larger", "1.5")[0] == GOOD
    planted.numbers *= 2
    assert checked(call)[0] == GOOD
    code, found = checked(call, "--larger", "1.5")
    assert code == NOT_MET and found["found"] == {"identical": 2, "larger": 2}
    assert "times as much memory or more, beside a reference" in found["rows"][-1]["reason"]
    assert "larger: it takes " in call("baseline", "check", "-q", "--larger", "1.5")[1]
    code, _, err = call("baseline", "check", "-q", "--larger", "0.5")
    assert code == USAGE and "--larger is given 0.5; it takes a factor from 1 up" in err
    monkeypatch.setattr(costs, "_FORGET", repository / "nowhere" / "clear_refs")
    code, found = checked(call, "--larger", "1.5")
    assert code == GOOD and found["found"] == {"identical": 2}


class Benchmark:
    """Stands for a module of `benchmarks`: its rows take as long as a test says."""

    def __init__(self):
        self.seconds = {"row one": 1.0, "row two": 2.0}

    def measure(self, small=False, say=print):
        say("the rows")
        return self.seconds

    def timings(self, result):
        return result


def test_rows_of_a_benchmark_are_slower_or_not(call, repository, monkeypatch):
    made = Benchmark()
    monkeypatch.setattr("benchmarks.benchmark_named", lambda name: made)
    code, out, err = call("baseline", "save", "--", "bench", "precision")
    assert code == GOOD and "round 3 of 3" in err and "bench_precision" in out
    code, found = checked(call, "--slower", "20")
    assert code == GOOD and found["found"] == {"noise": 2}
    made.seconds = {"row one": 1.0, "row two": 200.0}
    assert checked(call)[0] == GOOD
    code, found = checked(call, "--slower", "20")
    assert code == NOT_MET and found["found"] == {"noise": 1, "slower": 1}
    assert found["rows"][-1]["run"] == "row two" and "medians of 3 runs" in str(found["rows"][-1])
    assert "knows nothing of the memory" in checked(call, "--larger", "2")[1]["notes"][-1]
    made.seconds = {"row one": 1.0}
    code, found = checked(call)
    assert code == NOT_MET and "the run is missing" in str(found["rows"])
    assert call("baseline", "bless", "bench_precision", "--reason", "less", "-q")[0] == GOOD
    assert checked(call)[0] == GOOD


OPTION = "-- price --payoff call --strike 9 --maturity 1"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("-b fp32 -- bench precision", "options of scenarios, kernels or batches were given with"),
        ("-- bench", "a benchmark is named by one word: `-- bench precision`"),
        ("-- bench precisio", "unknown benchmark 'precisio'; known: precision, "),
        ("-- run x", "'x' was given behind 'run'; one scenario or kernel at a time, or"),
        (OPTION, "no model was given;"),
        (OPTION.replace("--strike 9 ", "--model lewis "), "needs --strike"),
        (f"{OPTION} --model lewis --max-seconds 2", "--max-seconds is given to prices that a base"),
        (f"{OPTION} --model lewis --backend bf61", "unknown backend 'bf61'"),
        (OPTION.replace("call --strike 9", "barrier-down-out --strike 100") + " --model lewis "
         "--barrier 120", "barrier"),
    ],
)  # fmt: skip
def test_prices_and_benchmarks_that_cannot_be(call, repository, words, said):
    code, out, err = call("baseline", "save", "-q", *words.split())
    assert (code, out) == (USAGE, "") and said in err and err.count("\n") == 1
    assert not (repository / FOLDER).exists()
