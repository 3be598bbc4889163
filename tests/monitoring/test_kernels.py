"""`sciprec.monitor`: what kernels give is noted as it is, and no bit of their results changes."""

import inspect
import json
from pathlib import Path

import numpy as np
import pytest

import sciprec
from sciprec.tools.monitor.alerts import AT_END
from tests.draws import few
from tests.monitoring import kernels
from tests.monitoring.random_watch import watched

H = np.sin(np.arange(12.0)) + 2.0


def line(comment: str) -> str:
    """The line of the kernels' file that ends with a comment."""
    lines = inspect.getsource(kernels).splitlines()
    (found,) = [n for n, text in enumerate(lines, 1) if text.endswith(f"# {comment}")]
    return f"line:{found}"


WATCHED = {
    "h": "h", "change": "change", "total": "total", "near": "near", "mean": "mean",
    line("in flux"): "flux", line("change"): "line", line("returned"): "both",
}  # fmt: skip


@pytest.fixture(scope="module")
def spread():
    """`spread` in fp64 and bf16, everything watched, whole arrays kept."""
    args = {"h": H, "steps": 5, "rate": 0.3}
    watch = list(WATCHED)
    return {b: sciprec.monitor(kernels.spread, b, args, watch=watch, level=3)
            for b in ("fp64", "bf16")}  # fmt: skip


@pytest.mark.slow
def test_content_is_that_of_the_lifted_kernel_after_so_many_steps(spread):
    found, lifted = spread["bf16"], sciprec.lift(kernels.spread, "bf16")
    for step, held in zip(found.steps.tolist(), found.arrays("h"), strict=True):
        h = H.copy()
        result = lifted(h, min(step, 5), 0.3)
        assert held.tobytes() == h.tobytes(), step
    assert found.results["h"].tobytes() == h.tobytes()
    assert [found.results[f"return_{k}"] for k in (0, 1)] == list(result)
    pairs = zip(found.arrays("h"), spread["fp64"].arrays("h"), strict=True)
    errors = [np.linalg.norm(a - b) / np.linalg.norm(b) for a, b in pairs]
    digits = [17.0 if e == 0 else -np.log10(e) for e in errors]
    assert found.column("h", "digits") == pytest.approx(digits, abs=1e-9)
    name, step, place, size = next(e for e in found.largest_errors() if e[0] == "h")
    worst = np.abs(found.arrays("h")[step] - spread["fp64"].arrays("h")[step])
    assert place == f"[{worst.argmax()}]" and size == worst.max()


BACKENDS = ("fp16", "bfloat16,round=sr", "fixed16")


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
def test_no_bit_of_results_changes_at_any_level(backend):
    args = {"h": H, "steps": 7, "rate": 0.3}
    h = H.copy()
    returned = sciprec.lift(kernels.spread, backend)(h, 7, 0.3)
    for level in range(4):
        found = sciprec.monitor(
            kernels.spread, backend, args, watch=list(WATCHED), level=level, every=3, truth=False
        )
        assert found.results["h"].tobytes() == h.tobytes(), level
        assert [float(found.results[f"return_{k}"]) for k in (0, 1)] == [*map(float, returned)]
        assert found.steps.tolist() == ([0, 3, 6, 8] if level else [])
        if level == 3:
            assert found.arrays("h")[-1].tobytes() == h.tobytes()


@pytest.mark.slow
def test_planted_faults_are_found_with_step_and_place():
    rng = np.random.default_rng(4)
    rules = {"moved": 0.1, "jump": 5.0}
    names = {1: "nan", 2: "overflow", 3: "jump", 4: "moved"}
    every = {1: 3, 2: 1, 3: 1, 4: 2}
    for seed in range(10):
        kind, size = 1 + seed % 4 if seed < 8 else 0, int(rng.integers(3, 30))
        when, where = int(rng.integers(12, 20)), int(rng.integers(size))
        h, n = 1.0 + 0.01 * rng.normal(size=size), every.get(kind, 1)
        found = sciprec.monitor(
            kernels.faulty, "fp32", (h, 24, kind, when, where), watch=["h"], every=n, alerts=rules
        )
        if kind == 0:
            assert found.alerts == ()
            continue
        (mine,) = [a for a in found.alerts if a.rule == names[kind]]
        assert mine.step == -(-when // n) * n and mine.since == mine.step - n
        if kind < 4:
            assert mine.place == f"[{where}]"
        assert mine.step == min(a.step for a in found.alerts)


@pytest.mark.slow
def test_results_are_looked_at_whatever_is_watched():
    """NaN and infinities planted in results, beside those that the kernel was given there."""
    rng, holds = np.random.default_rng(9), {"nan": np.isnan, "overflow": np.isinf}
    for seed in range(24):
        size, bad = int(rng.integers(1, 9)), float(seed % 3 - 1)  # -inf, NaN or inf
        where = int(rng.integers(size + 2))  # in the array, returned, or nowhere
        out = rng.choice([1.0, np.nan, np.inf], size)
        args = rng.normal(size=3), bad, where, out
        backend = ("fp64", "fp32", "bf16")[seed % 3]
        left = sciprec.monitor(kernels.leaving, backend, args, watch="watched")
        wanted = []
        for name, array in left.results.items():
            before = out if name == "out" else np.zeros(array.shape)
            for rule, held in holds.items():
                if held(array).any():
                    place = [int(np.flatnonzero(held(array))[0])] if array.shape else ""
                    old = (held(array) <= held(before)).all()
                    wanted.append((name, rule, str(place), bool(old)))
        told = [(a.variable, a.rule, a.place, "as it was given" in str(a)) for a in left.alerts]
        assert told == wanted, args
        assert all(a.step == AT_END for a in left.alerts)
        off = sciprec.monitor(
            kernels.leaving, backend, args, watch="watched", alerts=dict.fromkeys(holds, False)
        )
        assert not off.alerts


WRONG = {
    "watch names 'hh', which is no variable of kernel 'spread'; known: .* did you mean 'h'?": {
        "watch": ["hh"]},
    "watch names 'line:2', where kernel 'spread' and what it calls give no value; lines near": {
        "watch": ["line:2"]},
    "watch names 'line:x'; accepted": {"watch": ["line:x"]},
    "watch names 'hh', 'stps', which are no variables .*mean 'h'.; did you mean 'steps'": {
        "watch": ["hh", "h", "stps"]},
    r"watch is \[\]; accepted: a name or a sequence of names": {"watch": []},
    "watch is ''; accepted: a name or a sequence of names": {"watch": ""},
    r"watch is \['h', ' '\]; accepted: a name or": {"watch": ["h", " "]},
    "level is 4; accepted: 0": {"level": 4},
    "level is True; accepted: 0": {"level": True},
    "every is 0; accepted: a whole number of steps from 1": {"every": 0},
    "every is 1.5; accepted: a whole number of steps from 1": {"every": 1.5},
    "unknown rule 'jmp'; known: nan, overflow, lost, moved, jump, digits, and ranges such as 'h>0' "
    "or '|c|<=1'; did you mean 'jump'": {
        "alerts": {"jmp": 3.0}},
    "alerts.jump is 0.5; accepted: a factor > 1": {"alerts": {"jump": 0.5}},
    "alerts.nan is 3": {"alerts": {"nan": 3}},
    "alerts.moved is True; accepted: a share": {"alerts": {"moved": True}},
    "truth is 1": {"truth": 1},
    "unknown backend 'bf61'": {"backend": "bf61"},
}  # fmt: skip


@pytest.mark.parametrize("said", WRONG)
def test_what_is_wrong_is_said(said):
    given = {"backend": "bf16", "watch": ["h"]} | WRONG[said]
    with pytest.raises(sciprec.InputError, match=said):
        sciprec.monitor(kernels.spread, given.pop("backend"), (H, 2, 0.1), **given)


BY_PLACE = {
    "scaled:static,fp16": "has scales for the places of a climate model",
    "scaled:dynamic,e4m3fn": "give the arithmetic itself",
    "policy:O2,narrow=fp16,wide=fp32": "has formats by place",
}


@pytest.mark.parametrize("backend", BY_PLACE)
@pytest.mark.parametrize("level", [None, 0, 1, 2])
def test_arithmetics_by_place_are_refused_at_every_level(backend, level):
    """No level: `check_memory`, which puts its own calls into kernels."""
    with pytest.raises(sciprec.InputError, match=BY_PLACE[backend]):
        if level is None:
            sciprec.check_memory(kernels.spread, backend, (H, 2, 0.1))
        else:
            sciprec.monitor(kernels.spread, backend, (H, 2, 0.1), watch="h", level=level)


@pytest.mark.slow
def test_what_gives_no_value_is_told(spread):
    """Integers, tuples, and numbers that are given to the kernel and stay."""
    args = H[:3].copy(), 4, 0.75, np.zeros(1, np.int64)
    silent = ["steps", "rate", "count", "step", "i", "both"]
    watch = ["total", *silent, "h"]
    seen = sciprec.monitor(kernels.quiet, "fp16", args, watch=watch, truth=False)
    assert list(seen.silent()) == silent == seen.as_dict()["silent"]
    assert "steps, rate, count, step, i, both gave no value and are not watched: " in str(seen)
    assert "gave no value" not in str(spread["bf16"]) and spread["bf16"].silent() == ()


def test_variables_and_columns_are_known(spread):
    with pytest.raises(sciprec.InputError, match="unknown variable 'g'; known: h, "):
        spread["bf16"].column("g", "mean")
    with pytest.raises(sciprec.InputError, match="unknown column 'meen'.*did you mean 'mean'"):
        spread["bf16"].column("h", "meen")
    off = sciprec.monitor(kernels.spread, "bf16", (H, 2, 0.1), watch="h", level=0)
    with pytest.raises(sciprec.InputError, match="nothing was watched at level 0"):
        off.column("h", "mean")


@pytest.mark.slow
def test_the_verb_prints_and_writes_a_page(tmp_path, call):
    file = tmp_path / "own.py"
    file.write_text(Path(kernels.__file__).read_text())
    np.savez(tmp_path / "in.npz", h=H, steps=5, rate=0.3)
    words = ("monitor", f"{file}:spread", "--inputs", tmp_path / "in.npz", "--backend", "bf16")
    code, out, err = call(*words, "--watch", "h", "--watch", line("change"), "--level", "2",
                          "--html", tmp_path / "w.html")  # fmt: skip
    assert code == 0 and "7 steps watched: no alert" in out and "digits, least" in out, err
    page = (tmp_path / "w.html").read_text(encoding="utf-8")
    assert "Where and when errors grow" in page and "Exponents" in page and "<script" not in page
    code, out, err = call(*words, "--watch", "h", "--alert", "moved=1e-12", "--json")
    older = call(*words, "--watch", "h", "--alert", "drift=1e-12", "--json")
    named = "sciprec: `--alert drift` is now `--alert moved`; the old spelling will go\n"
    assert older == (code, out, err + named)
    told = json.loads(out)
    assert code == 0 and told["alerts"][0]["rule"] == "moved" and told["steps"][-1] == 6
    assert len(told["variables"]["h"]["digits"]) == 7
    for more, said in {
        ("--watch", "q"): "no variable of kernel 'spread'",
        ("--watch", "h", "--level", "7"): "level is 7",
        ("--watch", "h", "--alert", "jump"): "--alert is given 'jump'",
        ("--watch", "h", "--alert", "jump=x"): "alerts.jump is 'x'",
        ("--watch", "h", "--html", tmp_path / "no" / "w.html"): "does not exist",
    }.items():
        code, out, err = call(*words, *more)
        assert code == 2 and said in err, err
    code, _, err = call("monitor", "quickstart_climate", "--backend", "bf16", "--watch", "h")
    assert code == 2 and "[monitor]" in err


@pytest.mark.slow
@pytest.mark.parametrize("seed", few([14, 16], 1))
def test_random_kernels_leave_the_same_bits(seed, tmp_path, recwarn):
    """The first fifty real ones were run once."""
    same, told = watched(seed, tmp_path)
    assert same, told
