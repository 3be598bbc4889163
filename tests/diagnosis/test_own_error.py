"""How true the truth is: studies and tunings state the digits of fp64, and judge nothing beyond."""

from __future__ import annotations

import numpy as np
import pytest

from sciprec import InputError, study, tune
from sciprec.tools.digits import own_error


def muller(n):
    a, b = 2.0, -4.0
    for _ in range(n):
        a, b = b, 111.0 - 1130.0 / b + 3000.0 / (b * a)
    return b


def logistic(x, out):
    for i in range(out.size):
        x = 3.9 * x * (1.0 - x)
        out[i] = x


def smooth(u, out):
    for i in range(1, u.size - 1):
        out[i] = u[i] + 0.1 * (u[i - 1] - 2.0 * u[i] + u[i + 1])


def turned(x):
    z = complex(x, 1.0)
    return (z * z).real


WAVE = np.sin(np.linspace(0.0, 3.0, 200))


def statuses(tmp_path, kernel, args, **options):
    result = study(kernel, args, backends=["fp32", "bf16"], out=tmp_path / "mine", **options)
    return {row["label"]: (row["status"], row["reason"]) for row in result.table}


@pytest.mark.parametrize("tolerance", [None, 1e-3])
def test_a_recurrence_that_no_float_follows_is_not_judged(tmp_path, tolerance):
    """fp32 agrees with fp64 to 16 digits there: both return 100, and 6 is right."""
    found = statuses(tmp_path, muller, (60,), tolerance=tolerance)
    for label in ("fp32", "bf16"):
        status, reason = found[label]
        assert status == "doubtful" and reason.startswith("not judged: the digits of fp64 itself")
    assert "not known" in found["fp64"][1]
    page = (tmp_path / "mine" / "index.html").read_text(encoding="utf-8")
    assert "nothing is judged: fp64 itself is not known so well" in page


def test_whoever_takes_fp64_as_it_is_gets_the_old_answer(tmp_path):
    found = statuses(tmp_path, muller, (60,), truth="fp64")
    assert found["fp32"][0] == "identical" and "digits of fp64" not in found["fp64"][1]


@pytest.mark.slow
def test_a_verdict_says_how_many_digits_fp64_has(tmp_path):
    args = 0.3, np.zeros(50)
    own = -np.log10(_norm_of_error(args))
    found = statuses(tmp_path, logistic, args, tolerance=1e-3)
    assert f"fp64 itself has {own:.1f} digits in out" in found["fp64"][1]
    assert found["bf16"][0] == "beyond" and f"{own:.1f} digits" in found["bf16"][1]
    near = tmp_path / "b", logistic, (0.3, np.zeros(22))
    assert statuses(*near, tolerance=1e-13, metric="max_relative")["fp64"][0] == "truth"
    assert statuses(*near, tolerance=1e-13, metric="max_relative")["fp32"][0] == "beyond"
    assert statuses(tmp_path / "d", logistic, (0.3, np.zeros(100)), tolerance=0.1)["bf16"][0] in (
        "doubtful", "beyond"
    )
    assert statuses(tmp_path / "c", smooth, (WAVE, 0.0 * WAVE), tolerance=1e-3)["fp32"][0] == "good"


def _norm_of_error(args) -> float:
    """The relative l2 error of fp64 in the logistic map, by 400 bits."""
    import mpmath

    with mpmath.workprec(400):
        x, exact = mpmath.mpf(args[0]), []
        for _ in range(args[1].size):
            x = mpmath.mpf(3.9) * x * (1 - x)
            exact.append(x)
        out = np.zeros(args[1].size)
        logistic(args[0], out)
        error = mpmath.norm([mpmath.mpf(a) - b for a, b in zip(out.tolist(), exact, strict=True)])
        return float(error / mpmath.norm(exact))


def test_no_formats_are_offered_where_fp64_has_no_digit():
    with pytest.raises(
        InputError, match="digits of fp64 itself in return are not known.*truth='fp64'"
    ):
        tune(muller, (60,), tolerance=1e-3)
    assert tune(muller, (60,), tolerance=1e-3, truth="fp64").good
    with pytest.raises(InputError, match="fp64 itself has .* digits in out"):
        tune(logistic, (0.3, np.zeros(60)), tolerance=1e-9, metric=lambda a, b: abs(a - b).max())
    found = tune(smooth, (WAVE, 0.0 * WAVE), tolerance=1e-3)
    assert "fp64 itself has 16.0 digits in out" in str(found)


def test_a_search_for_bits_is_refused_likewise(tmp_path):
    with pytest.raises(InputError, match="no format can be held"):
        study(muller, (60,), search="bits", tolerance=1e-3, out=tmp_path)


def test_what_costs_too_much_or_cannot_be_followed_is_said(tmp_path, monkeypatch):
    found = statuses(tmp_path, turned, (2.0,))
    assert "was not looked at: " in found["fp64"][1] and "complex" in found["fp64"][1]
    with pytest.raises(InputError, match="complex"):
        study(turned, (2.0,), backends=["fp32"], truth="dd", out=tmp_path / "b")
    monkeypatch.setattr(own_error, "AFFORDED", 0.0)
    found = statuses(tmp_path / "c", smooth, (WAVE, 0.0 * WAVE), tolerance=1e-3)
    assert "takes some" in found["fp64"][1] and found["fp32"][0] == "good"


@pytest.mark.parametrize("verb", ["study", "tune"])
def test_no_such_truth(verb, tmp_path):
    with pytest.raises(InputError, match="accepted: auto, dd, fp64"):
        if verb == "study":
            study(muller, (3,), backends=["fp32"], truth="exact", out=tmp_path)
        else:
            tune(muller, (3,), tolerance=1e-3, truth="exact")


def test_exit_codes_and_options(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.py").write_text(
        "def muller(n):\n    a, b = 2.0, -4.0\n    for _ in range(n):\n"
        "        a, b = b, 111.0 - 1130.0 / b + 3000.0 / (b * a)\n    return b\n\n\n"
        "def given():\n    return {'n': 60}\n"
    )
    words = ["k.py:muller", "--inputs", "k.py:given", "--tolerance", "1e-3"]
    code, shown, _ = call("study", *words, "--backend", "fp32")
    assert code == 1 and "doubtful" in shown
    code, _, _ = call("study", *words, "--backend", "fp32", "--truth", "fp64", "--out", "b")
    assert code == 0
    code, _, said = call("tune", *words)
    assert code == 2 and "not known" in said
    code, _, said = call("tune", "quickstart", "--tolerance", "1e-3", "--truth", "dd")
    assert code == 2 and "of kernels alone" in said
