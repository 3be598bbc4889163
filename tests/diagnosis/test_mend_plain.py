"""Runs of candidates by Python: they round as compiled code does, and decide nothing alone."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sciprec import quantize, trace
from sciprec.precision.formats.backend import backends, resolve_backend
from sciprec.tools.mend.judge import Judge
from sciprec.tools.mend.plain_runs import PlainRuns, rounding_of
from tests.diagnosis.test_mend import SMALL, growth
from tests.diagnosis.test_mend_cases import CASES, attraction
from tests.oracles.uncompiled import Uncompiled

MORE = ("float:p=5,emin=-6,emax=7", "float:p=25,emin=-20,emax=30")
FUNCTIONS = 4.0
"""Units by which elementary functions of NumPy may be others."""


def bits_drawn(rng, form, count):
    """Numbers of all sizes, of those below a format, beyond it, and halfway between its numbers."""
    sizes = rng.uniform(form.emin - form.significand_bits - 3, form.emax + 3, count)
    some = rng.choice([-1.0, 1.0], count) * 2.0 ** np.clip(sizes, -1070, 1020)
    cut, exponent = np.frexp(some)
    halves = np.ldexp(np.round(np.ldexp(cut, form.significand_bits + 1)),
                      exponent - form.significand_bits - 1)  # fmt: skip
    return np.concatenate([some, halves, [0.0, -0.0, math.inf, -math.inf, form.max_finite]])


@pytest.mark.parametrize("name", [*backends(), *MORE])
def test_numbers_are_rounded_as_the_engine_rounds(name):
    backend, rng = resolve_backend(name), np.random.default_rng(len(name))
    rounding = rounding_of(backend)
    one = backend.compute
    if rounding is None:
        several = {backend.storage, backend.accumulate} != {one} or backend.noise is not None
        assert several or one.fixed or one.rounding != "rn" or 25 < one.format.significand_bits \
            or not one.format.subnormals or one.format.overflow != "infinity"  # fmt: skip
        return
    numbers = bits_drawn(rng, backend.compute.format, 300)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal([rounding(x) for x in numbers.tolist()],
                                      np.float64(quantize(numbers, backend)))  # fmt: skip


@pytest.mark.parametrize("kernel", CASES, ids=lambda kernel: kernel.__name__)
def test_python_gives_what_the_engine_gives(kernel):
    """Bit for bit where there are no elementary functions."""
    _, args, _ = CASES[kernel]
    calls = {"sin", "cos", "exp", "acos", "sqrt"} & {*kernel.__code__.co_names}
    calls |= {"power"} if kernel is attraction else set()
    for name in ("bf16", MORE[0], "fp32"):
        backend = resolve_backend(name)
        given = [quantize(a, backend) if isinstance(a, np.ndarray) else
                 float(quantize(a, backend)) if isinstance(a, float) else a
                 for a in args]  # fmt: skip
        runs = PlainRuns(rounding_of(backend))
        after, returned = runs.run(kernel, (), tuple(given))
        taken = [a.astype(np.float64) if isinstance(a, np.ndarray) else a for a in given]
        expected = Uncompiled(kernel, backend)(*taken)
        pairs = [(a, b) for a, b in zip(after, taken, strict=True) if isinstance(b, np.ndarray)]
        pairs += [(returned, expected)] if returned is not None else []
        unit = 2.0 * backend.compute.format.unit_roundoff
        for one, other in pairs:
            np.testing.assert_allclose(one, other, rtol=FUNCTIONS * unit if calls else 0.0,
                                       err_msg=name)  # fmt: skip
        assert runs.operations > 0


# ---- beside compiled code ------------------------------------------------------------------------


def test_what_python_lets_through_is_run_compiled(monkeypatch, only_rule):
    """A run by Python that finds nothing wrong offers no wrong row."""
    from sciprec.extend import Rule

    only_rule(Rule("half", "exp(A) - 1", "expm1(A)/2", "nobody (2026)"))
    monkeypatch.setattr(Judge, "_run_plainly", lambda self, source, which: ([
        ({n: s.truth.high[n] for n in self.results}, s.outcomes) for s in self.sets], 10))
    monkeypatch.setattr(Judge, "_plain_runs", lambda self, which: object())
    mend = trace(growth, "fp32", (SMALL, np.zeros(16)), samples=1).mend()
    assert mend.proposals == () and mend.tried[0].why == "makes the error larger"
