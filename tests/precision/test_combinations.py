"""Techniques together: which combine, with the bits that each has alone, and which are refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

import sciprec
from sciprec.extend import Rows, lift_with_rows
from sciprec.instruments.observing.observed import lift_observed
from sciprec.precision.formats.backend import resolve_backend
from sciprec.precision.lifting.compiling import module_of
from sciprec.precision.rewriting.program import Program
from sciprec.precision.rounding.around import Around
from sciprec.tools.trace.attribution import TracedKernel
from tests.precision.test_observers import _PASSES, COUNTING, X


def summed(x):
    """A sum that goes on, a product and a decision."""
    total, n = 0.1, 0
    for i in range(x.size):
        total += x[i] / 3
        if total > 1.0:
            total *= 0.7
            n += 1
    return total, n


def _assigned(rounds: str = "operations") -> sciprec.Assignment:
    return sciprec.Assignment({"summed": "bf16"}, by="function", default="fp32", rounds=rounds)


TECHNIQUES = {
    "rows": lambda backend: lift_with_rows(summed, backend, Rows(1, Around))(X),
    "trace": lambda backend: sciprec.trace(summed, backend, (X,)),
    "bound": lambda backend: sciprec.bound(summed, backend, (X,)),
    "observed": lambda backend: lift_observed(summed, resolve_backend(backend), [COUNTING])(X),
    "assigned": lambda backend: sciprec.lift(
        summed, sciprec.Assignment({"summed": backend}, by="function", default="fp32")
    ),
}
_UNITS = "has units, formats or random bits by place, and other rows stand beside none of these"
_WITHOUT_BITS = "takes floating-point arithmetics without random bits, such as 'bf16'"
REFUSED = [
    ("rows", "fixed32", f"'fixed32' {_UNITS}"),
    ("rows", "fp16,round=sr", _UNITS),
    ("rows", _assigned(), _UNITS),
    ("trace", "fixed32", f"'fixed32' is fixed point; trace {_WITHOUT_BITS}"),
    ("trace", "fp16,round=sr", f"is an arithmetic with random bits; trace {_WITHOUT_BITS}"),
    ("trace", _assigned("everything"), "gives formats to loads, arguments and comparisons, too"),
    ("bound", "fixed32", f"'fixed32' is fixed point; bound {_WITHOUT_BITS}"),
    ("bound", "mlu370-noise", f"is an arithmetic with random bits; bound {_WITHOUT_BITS}"),
    ("bound", _assigned("everything"), "gives formats to loads, arguments and comparisons, too"),
    ("observed", _assigned(), "has formats by place, and kernels that are watched from inside"),
    ("assigned", "fixed32", "format 'fixed32' is no single floating-point arithmetic"),
    ("assigned", "fp16,round=sr", "rounds by random bits; an assignment takes"),
]


@pytest.mark.parametrize(("technique", "backend", "sentence"), REFUSED)
def test_techniques_that_do_not_combine_are_refused(technique, backend, sentence):
    with pytest.raises(sciprec.InputError) as refused:
        TECHNIQUES[technique](backend)
    assert sentence in str(refused.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    "technique",
    [
        "parts", pytest.param("twin", marks=pytest.mark.slow),
        pytest.param("enclosure", marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_an_observer_sees_the_same_beside_companions(technique):
    """What stands beside the values is as without it, and so are its notes without companions."""
    results, counts = [], []
    for observers in ((), (COUNTING,)):
        traced = TracedKernel(summed, resolve_backend("bf16"), technique, 2)
        build = replace(traced.program.build, observers=observers)
        traced.program = Program(summed, traced.backend, build)
        traced.entry, _PASSES[:] = module_of(traced.program).sp_entry, 0
        found = traced.run((X,), traced.table())
        results.append([(r.tested.tobytes(), r.beside.tobytes()) for r in found])
        counts.append(_PASSES.tolist())
    _PASSES[:] = 0
    lift_observed(summed, resolve_backend("bf16"), [COUNTING])(X)
    assert results[0] == results[1] and results[0]
    assert counts == [[0, 0], _PASSES.tolist()] and counts[1][0] == X.size
