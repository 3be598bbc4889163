"""What a trace has to hold: `lift`'s bits, parts that add up to what the twin says, and shares by
arithmetic with fractions.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

import sciprec
from sciprec import trace
from sciprec.instruments.assigning.matching import program_of
from sciprec.instruments.assigning.origins import own_place
from sciprec.instruments.tracing import rows
from sciprec.precision.elementary.bits import inlined
from sciprec.precision.elementary.trigonometric import sin
from sciprec.precision.formats.backend import resolve_backend
from sciprec.precision.formats.literal import round_literal
from sciprec.precision.rewriting.copies import copied
from sciprec.tools.trace.problem import Problem
from sciprec.tools.trace.traces import Trace
from tests.random_kernels.generator import random_case
from tests.random_kernels.trials import kernel_of
from tests.random_kernels.values import values_of

BACKENDS = (
    "bf16", "fp16", "fp32", "mlu370", "float:p=13,emin=-60,emax=60,round=rz", "e4m3fn", "tf32",
    "fp64",
)  # fmt: skip

MIXTURES = (
    ("fp16", "fp32", "fp64"), ("mlu370", "bf16", "float:p=13,round=rz"), ("fp32", "e5m2", "tf32"),
    ("fp64", "float:p=40,round=rz", "bf16"),
)  # fmt: skip


def checked(kernel, backend, args) -> Trace:
    """The trace; tested values are those of `lift`, and parts add up to what the twin says."""
    results = []
    run = Problem.run

    def noting(self, technique, table, args=None, *more, **named):
        treated = technique == "twin" and table.words[:, rows.TREATMENT].any()
        found = run(self, technique, table, args, *more, **named)
        if args is None and not treated:
            results.append(found)
        return found

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Problem, "run", noting)
        found = trace(kernel, backend, args)
    assert len(results) > 1
    given = copied(tuple(args))
    expected = _named("return", sciprec.lift(kernel, backend)(*given))
    for name, value in zip(inspect.signature(kernel).parameters, given, strict=True):
        expected |= _named(name, value)
    for run_of in results:
        for result in run_of:
            assert np.array_equal(result.tested, expected[result.name], equal_nan=True), result.name
    assert found.closure < 1e-6
    if any(found.outputs.values()) and "counts as none" not in found.verdict:
        assert sum(n.share for n in found.lines) == pytest.approx(1.0, abs=1e-6)
    return found


def _named(name: str, value) -> dict:
    if isinstance(value, tuple):
        return {k: v for n, x in enumerate(value) for k, v in _named(f"{name}_{n}", x).items()}
    return {name: np.asarray(value)}


def generated(
    seeds: Iterable[int], folder: Path, make=random_case, backends=BACKENDS
) -> Iterator[tuple]:
    """(kernel, backend, arguments) of the seeds whose kernels can be traced, ordinary numbers in
    every second one.
    """
    for seed in seeds:
        case, backend = make(seed), backends[seed % len(backends)]
        if _is_taken(case):
            args = values_of(case.arguments, resolve_backend(backend), seed, 0, False)
            if seed % 2:
                args = [_ordinary(a, seed) for a in args]
            yield kernel_of(case, folder), backend, args


def by_line(kernel, seed: int) -> sciprec.Assignment:
    """An assignment that draws a format for every line of a kernel."""
    names, program = MIXTURES[seed % len(MIXTURES)], program_of(kernel)
    lines = {own_place(program, row).line for row in program.layout.rows}
    drawn = {n: names[crc32(f"{n} {seed}".encode()) % len(names)] for n in lines}
    return sciprec.Assignment(drawn, default=names[0])


def _is_taken(case) -> bool:
    empty = any(0 in a.shape for a in case.arguments)
    refused = case.is_complex or case.has_object or "linalg" in case.source
    return not (refused or empty)


def _ordinary(argument, seed: int):
    if not isinstance(argument, np.ndarray) or argument.dtype.kind != "f":
        return argument
    usual = np.isfinite(argument) & (abs(argument) < 4.0) & (abs(argument) > 0.01)
    drawn = np.random.default_rng(seed).uniform(0.5, 1.5, argument.shape)
    return np.where(usual, argument, drawn).astype(argument.dtype)


class Split:
    """A number of the oracle: tested value, and its error in parts, all fractions."""

    def __init__(self, tested: Fraction, parts: dict):
        self.tested, self.parts = tested, parts

    @property
    def exact(self) -> Fraction:
        return self.tested - sum(self.parts.values(), Fraction(0))


def _rounded(value: Fraction, parts: dict, place: str, arithmetic) -> Split:
    tested = Fraction(round_literal(_near(value), arithmetic))
    return Split(tested, parts | {place: parts.get(place, Fraction(0)) + tested - value})


def _near(value: Fraction) -> float:
    """The fraction to binary64: enough to round to half as many bits, but for ties."""
    return float(value)


def _scaled(parts: dict, slope: Fraction) -> dict:
    return {k: slope * v for k, v in parts.items()}


def _joined(first: dict, second: dict) -> dict:
    return {k: first.get(k, 0) + second.get(k, 0) for k in first.keys() | second.keys()}


def add(x: Split, y: Split, place, arithmetic) -> Split:
    return _rounded(x.tested + y.tested, _joined(x.parts, y.parts), place, arithmetic)


def mul(x: Split, y: Split, place, arithmetic) -> Split:
    first = _scaled(x.parts, (y.tested + y.exact) / 2)
    parts = _joined(first, _scaled(y.parts, (x.tested + x.exact) / 2))
    return _rounded(x.tested * y.tested, parts, place, arithmetic)


def div(x: Split, y: Split, place, arithmetic) -> Split:
    quotient = x.tested / y.tested
    parts = _joined(_scaled(x.parts, 1 / y.exact), _scaled(y.parts, -quotient / y.exact))
    return _rounded(quotient, parts, place, arithmetic)


def rational(x, c):
    p = x * x + c
    q = p * x + 0.3
    r = q / p
    return r * r + x


def exact_shares(x: float, c: float, backend) -> dict[str, float]:
    """Shares of `rational` by arithmetic with fractions."""
    role = backend.compute

    def enter(value, place):
        return _rounded(Fraction(value), {}, place, backend.storage)

    a, b = enter(x, "argument x"), enter(c, "argument c")
    p = add(mul(a, a, "p", role), b, "p", role)
    literal = _rounded(Fraction(0.3), {}, "q", role)
    q = add(mul(p, a, "q", role), literal, "q", role)
    r = div(q, p, "r", role)
    result = add(mul(r, r, "return", role), a, "return", role)
    result = _rounded(result.tested, result.parts, "results", backend.storage)
    error = sum(result.parts.values())
    return {k: float(v / error) for k, v in result.parts.items()}


@inlined
def halved_sine(x):
    return 0.5 * sin(x)


def with_own_function(x):
    return halved_sine(x) * 1.1
