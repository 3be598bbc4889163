"""Summaries of watched values against exact fractions, over generated arrays of several formats."""

import math
from fractions import Fraction

import numpy as np
import pytest

from sciprec.arrays.quantization import quantize
from sciprec.precision.formats.backend import resolve_backend
from sciprec.tools.monitor.alerts import checked_rules
from sciprec.tools.monitor.history import History
from sciprec.tools.monitor.summaries import (
    COLUMNS,
    FormatEnds,
    digits,
    largest_errors,
    relative_error,
    row_of,
)
from tests.monitoring import oracle
from tests.random_kernels.values import numbers

BACKENDS = ("fp64", "fp32", "fp16", "bf16", "mlu370", "e4m3fn", "float8_e5m2", "float:p=5,emin=-6,"
            "emax=6,overflow=saturate")  # fmt: skip
U = 2.0**-53


def generated(backend, seed: int) -> np.ndarray:
    """An array of a format's numbers; some are empty, some hold specials, some reach its ends."""
    rng = np.random.default_rng(seed)
    fmt = backend.storage.format
    with np.errstate(all="ignore"):
        return np.asarray(quantize(numbers(int(rng.integers(0, 60)), fmt, rng), backend), float)


def is_near(found: float, exact: Fraction, size: Fraction, count: int) -> bool:
    """Whether a sum of so many terms of so large a total is right; where it is beyond binary64
    it is infinite.
    """
    if math.isinf(found):
        return abs(exact) > Fraction(2) ** 1023
    slack = Fraction(4 * (count + 4) * U) * size + Fraction(2) ** -1074
    return abs(Fraction(found) - exact) <= slack


@pytest.mark.parametrize("name", BACKENDS)
def test_rows_are_those_of_exact_fractions(name):
    backend = resolve_backend(name)
    fmt, limits = backend.storage.format, FormatEnds.of(backend.storage)
    most = Fraction(fmt.max_finite) if fmt.overflow == "saturate" else None
    met = set()
    for seed in range(120):
        x = generated(backend, seed)
        row = dict(zip(COLUMNS, row_of(x, limits).tolist(), strict=True))
        exact = oracle.summary(x.tolist(), fmt.emin, most)
        assert {n: row[n] for n in oracle.WHOLE} == {n: exact[n] for n in oracle.WHOLE}, seed
        met |= {n for n in oracle.WHOLE if exact[n] > 0}
        if "mean" not in exact:
            assert all(math.isnan(row[n]) for n in ("minimum", "maximum", "mean", "norm"))
            continue
        assert (row["minimum"], row["maximum"]) == (exact["minimum"], exact["maximum"])
        assert is_near(row["mean"], exact["mean"], exact["mean_size"], x.size), seed
        if math.isfinite(row["norm"]):
            norm2 = Fraction(row["norm"]) ** 2
            slack = Fraction(8 * (x.size + 4) * U) * exact["norm2"] + Fraction(2) ** -1070
            assert abs(norm2 - exact["norm2"]) <= slack or row["norm"] < 2.0**-1000, seed
        else:
            assert exact["norm2"] > Fraction(2) ** 2046
    assert {"zeros", "nans"} <= met and (fmt.is_binary64 or not fmt.subnormals
                                         or "subnormals" in met)  # fmt: skip
    assert ("saturated" in met) == (most is not None)


def test_errors_and_their_places_are_those_of_exact_fractions():
    rng = np.random.default_rng(5)
    for seed in range(60):
        truth = generated(resolve_backend("fp64"), seed)
        truth = np.where(np.abs(truth) > 1e150, 1.0, truth)
        tested = np.where(rng.random(truth.size) < 0.5, truth, truth * (1 + 1e-3 * rng.normal()))
        tested = np.where(rng.random(truth.size) < rng.choice([0.0, 0.05]), np.nan, tested)
        found, exact = relative_error(tested, truth), oracle.relative_error(tested, truth)
        if exact is None:
            assert math.isnan(found)
            continue
        assert found == pytest.approx(exact, rel=1e-10, abs=1e-160)
        worst = largest_errors(tested, truth, 3)
        errors = np.abs(tested - truth)
        errors[(tested == truth) | (np.isnan(tested) & np.isnan(truth))] = 0
        errors[np.isnan(errors)] = np.inf
        assert worst[0, 1] == (errors.max() if errors.size else 0.0)
        for at, size in worst.tolist():
            assert at == -1 and size == 0.0 or errors[int(at)] == size
    assert math.isnan(relative_error(np.ones(3), np.ones(4)))
    assert relative_error(np.zeros(2), np.zeros(2)) == 0.0 and digits(0.0) == 17.0
    assert relative_error(np.ones(2), np.zeros(2)) == math.inf and digits(math.inf) == 0.0
    assert math.copysign(1.0, digits(1.0)) == 1.0 and digits(1.0) == 0.0 == digits(3.0)
    assert digits(1e-3) == pytest.approx(3.0) and math.isnan(digits(math.nan))


def alerts(series, rules) -> list:
    """The alerts of a variable whose arrays are given step by step, from 1 on."""
    history = History(("x",), FormatEnds(2.0**-14, 448.0))
    for step, values in enumerate(series, start=1):
        history.note(step, [np.array(values, float)])
    return list(history.alerts(checked_rules(rules), lambda name, at: f"[{at}]"))


def test_planted_faults_are_found_with_step_and_place():
    """A NaN, an infinity, a saturation, a jump or a drift, in a place and a step drawn; before
    it nothing is found, and in clean runs nothing at all.
    """
    rng = np.random.default_rng(11)
    rules = {"moved": 0.5, "jump": 20.0}
    for _ in range(150):
        size, steps = int(rng.integers(2, 50)), int(rng.integers(8, 40))
        series = [1.0 + 0.1 * rng.normal(size=size) for _ in range(steps)]
        assert alerts(series, rules) == []
        when, where = int(rng.integers(5, steps)), int(rng.integers(size))
        kind = str(rng.choice(["nan", "overflow", "saturation", "jump", "moved"]))
        faulty = {"nan": np.nan, "overflow": -np.inf, "saturation": 448.0}
        if kind in faulty:
            series[when][where] = faulty[kind]
        elif kind == "jump":
            series[when][where] = 300.0 * math.sqrt(size)
        else:
            series[when:] = [x + 1.0 for x in series[when:]]
        found = alerts(series, rules)
        rule = {"saturation": "overflow"}.get(kind, kind)
        (mine,) = [alert for alert in found if alert.rule == rule]
        assert mine.step == when + 1 and mine.since == when, (kind, mine)
        if kind != "moved":
            assert mine.place == f"[{where}]", (kind, mine)
        assert min(alert.step for alert in found) == when + 1
