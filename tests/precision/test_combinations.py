"""Techniques together: which combine, with the bits that each has alone, and which are refused.

The table in sciprec/instruments/README.md says the same.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations_with_replacement, permutations, product
from pathlib import Path

import numpy as np
import pytest

import sciprec
from sciprec.extend import lift_with_rows
from sciprec.instruments.assigning.scaling import with_scaling
from sciprec.instruments.observing import watch
from sciprec.instruments.observing.observed import lift_observed
from sciprec.instruments.observing.watching import WatchPlaces, watcher
from sciprec.instruments.tracing.program import Companions
from sciprec.precision.formats.backend import Backend, resolve_backend
from sciprec.precision.lifting.compiling import module_of
from sciprec.precision.rewriting.program import Program
from sciprec.tools.trace.attribution import TracedKernel
from tests.precision.test_observers import _PASSES, COUNTING, X
from tests.precision.test_with_rows import COUNTING as COUNTED
from tests.precision.test_with_rows import ROLES, SIZES
from tests.random_kernels.backends import resolved

ROOT = Path(__file__).parents[2]
YES = ""


def summed(x):
    """A sum that goes on, a product and a decision."""
    total, n = 0.1, 0
    for i in range(x.size):
        total += x[i] / 3
        if total > 1.0:
            total *= 0.7
            n += 1
    return total, n


def _assignment(rounds: str = "operations") -> sciprec.Assignment:
    return sciprec.Assignment({"summed": "bf16"}, by="function", default="fp32", rounds=rounds)


ARITHMETICS = {
    "one format": "bf16",
    "roles that differ": resolved(ROLES),
    "random bits": "fp16,round=sr",
    "fixed point": "fixed32",
    "an assignment": _assignment(),
    "one of everything": _assignment("everything"),
    "scales": "scaled:static,fp16",
    "`dd`": "dd",
}
_NOT_ONE = "is no single floating-point arithmetic; an assignment takes formats such as"
_NO_SCALES = "cannot have scales; accepted: one format to nearest of at most 25 bits"
_NO_PAIRS = "which has no pairs of numbers; it is for `lift`, `study` and baselines"
_ONE_SO_FAR = "has formats by place, and kernels that are watched from inside take one so far"
_UNITS = "has units, formats or random bits by place, and other rows stand beside none of these"
_WITHOUT_BITS = "takes floating-point arithmetics without random bits, such as 'bf16'"
_EVERYTHING = "gives formats to loads, arguments and comparisons, too; trace and bound take"
_ONE_TABLE = "have rows each, and a program has one table of them; lift the kernel twice"
TABLE = {
    "assignment": {
        "one format": YES,
        "roles that differ": f"format 'mix-fp32-fix16' {_NOT_ONE}",
        "random bits": "rounds by random bits; an assignment takes floating-point formats",
        "fixed point": f"format 'fixed32' {_NOT_ONE}",
        "an assignment": _NOT_ONE,
        "one of everything": _NOT_ONE,
        "scales": f"format 'scaled:static,fp16' {_NOT_ONE}",
        "`dd`": f"is given to an assignment of formats, {_NO_PAIRS}",
    },
    "scales": {
        "one format": YES,
        "roles that differ": f"'{ROLES}' {_NO_SCALES}",
        "random bits": f"'binary16,round=sr' {_NO_SCALES}",
        "fixed point": f"'fixed32' {_NO_SCALES}",
        "an assignment": _NO_SCALES,
        "one of everything": _NO_SCALES,
        "scales": f"'scaled:static,fp16' {_NO_SCALES}",
        "`dd`": f"'dd' {_NO_SCALES}",
    },
    "companions": {
        "one format": YES,
        "roles that differ": YES,
        "random bits": f"is an arithmetic with random bits; VERB {_WITHOUT_BITS}",
        "fixed point": f"'fixed32' is fixed point; VERB {_WITHOUT_BITS}",
        "an assignment": YES,
        "one of everything": _EVERYTHING,
        "scales": "has scales, which VERB does not follow; give the arithmetic without them",
        "`dd`": f"is given to VERB, {_NO_PAIRS}",
        "observers": YES,
        "roundings around": f"a trace and roundings around an arithmetic's {_ONE_TABLE}",
    },
    "observers": {
        "one format": YES,
        "roles that differ": YES,
        "random bits": YES,
        "fixed point": YES,
        "an assignment": _ONE_SO_FAR,
        "one of everything": _ONE_SO_FAR,
        "scales": "has scales for the places of a climate model, and is given to the kernel",
        "`dd`": f"is given to a verb that watches kernels from inside, {_NO_PAIRS}",
        "observers": YES,
        "roundings around": YES,
    },
    "roundings around": {
        "one format": YES,
        "roles that differ": YES,
        "random bits": _UNITS,
        "fixed point": f"'fixed32' {_UNITS}",
        "an assignment": _UNITS,
        "one of everything": _UNITS,
        "scales": f"'scaled:static,fp16' {_UNITS}",
        "`dd`": f"is given to lift_with_rows, {_NO_PAIRS}",
        "roundings around": YES,
    },
}
"""Technique -> what it is combined with -> the sentence that refuses it."""


def _bits(result) -> bytes:
    return np.array(result).tobytes()


def _observed(backend, observers=(COUNTING,)):
    """The bits of a kernel that is observed, and the passes that an observer of it has counted."""
    lifted, _PASSES[:] = lift_observed(summed, resolve_backend(backend), observers), 0
    return _bits(lifted(X)), _PASSES.tolist()


def _around(backend, rows=(COUNTED,), observers=()):
    """The bits of a kernel with rows, what is in these, and passes as above."""
    lifted, _PASSES[:] = lift_with_rows(summed, backend, *rows, observers=observers), 0
    return _bits(lifted(X)), lifted.table.view(float), _PASSES.tolist()


def _assigned(backend):
    """The bits of a kernel all of whose operations have one format, which has a name."""
    backend = "mix-fp32-fix16" if isinstance(backend, Backend) else backend
    assignment = sciprec.Assignment({"summed": backend}, by="function", rounds="everything")
    return (_bits(sciprec.lift(summed, assignment)(X)),)


def _beside(backend, technique: str = "parts", observers=()):
    """The tested bits of a kernel, what is beside them, and passes as above."""
    traced = TracedKernel(summed, resolve_backend(backend), technique, 2)
    if observers:
        build = replace(traced.program.build, observers=observers)
        traced.program = Program(summed, traced.backend, build)
        traced.entry = module_of(traced.program).sp_entry
    _PASSES[:] = 0
    (result,) = traced.run((X,), traced.table())
    return result.tested.tobytes(), result.beside.tobytes(), _PASSES.tolist()


RUNS = {"assignment": _assigned, "companions": _beside, "observers": _observed,
        "roundings around": _around}  # fmt: skip
REFUSING = {
    "assignment": [_assigned],
    "scales": [lambda backend: with_scaling(backend, "static")],
    "companions": [lambda backend: sciprec.trace(summed, backend, (X,)),
                   lambda backend: sciprec.bound(summed, backend, (X,))],
    "observers": [_observed],
    "roundings around": [_around],
}  # fmt: skip
CELLS = [(row, column) for row, columns in TABLE.items() for column in columns]
OF_ARITHMETICS = [c for c in CELLS if c[1] in ARITHMETICS]


def test_the_table_has_every_pair():
    for row, columns in TABLE.items():
        assert not ARITHMETICS.keys() - columns.keys(), row
    techniques = "companions", "observers", "roundings around"
    pairs = set(combinations_with_replacement(techniques, 2)) - {("companions", "companions")}
    assert {c for c in CELLS if c[1] in techniques} == pairs  # a number has one companion


def test_the_page_has_the_same_table():
    """With a yes where the bits are those of each alone, a no where a sentence refuses it."""
    page = (ROOT / "sciprec/instruments/README.md").read_text(encoding="utf-8")
    lines = page.partition("## What combines")[2].strip().splitlines()
    rows = [[c.strip() for c in line.strip("|").split("|")] for line in lines if line[:1] == "|"]
    (_, *heads), _, *rows = rows
    cells = {r[0]: {h: c for h, c in zip(heads, r[1:], strict=True) if c} for r in rows}
    words = {row: {c: "yes" if s == YES else "no" for c, s in columns.items()}
             for row, columns in TABLE.items()}  # fmt: skip
    assert cells == words


@pytest.mark.parametrize(
    ("row", "column"), [c for c in OF_ARITHMETICS if TABLE[c[0]][c[1]] != YES]
)
def test_what_does_not_combine_is_refused(row, column):
    sentence = TABLE[row][column]
    for verb, lifts in zip(("trace", "bound"), REFUSING[row], strict=False):
        with pytest.raises(sciprec.InputError) as refused:
            lifts(ARITHMETICS[column])
        assert sentence.replace("VERB", verb) in str(refused.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("row", "column"), [c for c in OF_ARITHMETICS if TABLE[c[0]][c[1]] == YES and c[0] in RUNS]
)
def test_what_combines_has_the_bits_of_lift(row, column):
    """Of scales: `test_scaled`."""
    backend = ARITHMETICS[column]
    plain = sciprec.lift(summed, backend)(X)
    wanted = _bits(plain[:1] if row == "companions" else plain)
    assert RUNS[row](backend)[0] == wanted


def test_a_table_has_the_rows_of_one_technique():
    """Roundings around stand beside no companions, in whatever way a program is made."""
    with pytest.raises(sciprec.InputError) as refused:
        build = lift_with_rows(summed, "bf16", COUNTED)._program.build
        replace(build, numbers=Companions("parts", 2))
    assert TABLE["companions"]["roundings around"] in str(refused.value)


@pytest.mark.slow
def test_an_observer_sees_the_same_beside_roundings_around_in_every_order():
    """The bits are those of `lift`, rows and passes those of each alone."""
    observers = COUNTING, watcher(WatchPlaces())
    wanted = _bits(sciprec.lift(summed, "bf16")(X)), _observed("bf16")[1]
    for rows, order in product(permutations((COUNTED, SIZES)), permutations(observers)):
        with watch.watching(None, watch.ALONE, 9999, 9999):
            bits, words, passes = _around("bf16", rows, order)
        assert (bits, passes) == wanted
        alone = _around("bf16", rows)
        assert alone[0] == bits and alone[1].tobytes() == words.tobytes() and words.any()


@pytest.mark.slow
@pytest.mark.parametrize("technique", ["parts", "twin", "enclosure"])
def test_an_observer_sees_the_same_beside_companions(technique):
    """What stands beside the values is as without it, and so are its notes without companions."""
    alone, both = (_beside("bf16", technique, observers) for observers in ((), (COUNTING,)))
    assert alone[:2] == both[:2] and alone[2] == [0, 0]
    assert both[2] == _observed("bf16")[1] and both[2][0] == X.size
