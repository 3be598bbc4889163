"""Remedies besides patches: a line in a wider format, rounding at random, another epsilon."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import numpy as np

from sciprec.arrays.quantization import quantize
from sciprec.foundation.errors import InputError
from sciprec.instruments.assigning.assignment import Assignment
from sciprec.precision.rewriting.syntax import LiftError
from sciprec.tools.mend.candidates import Candidate
from sciprec.tools.mend.judge import Judge
from sciprec.tools.mend.sources import KernelSource


def beside(judge: Judge, lines: Sequence[int], offered: Sequence[Candidate]) -> list[str]:
    """Sentences on what else was run on the inputs given and leaves less error.

    Args:
        judge: of the kernel.
        lines: those to blame, in the file, the first to blame first.
        offered: candidates that are proven.
    """
    sentences = []
    for ways in (_wider_line(judge, lines), _random(judge, offered), _epsilon(judge)):
        try:
            sentences += list(ways)
        except (InputError, LiftError):  # an arithmetic that has no such variant
            continue
    return sentences


def _wider_line(judge: Judge, lines: Sequence[int]) -> Iterator[str]:
    """The line to blame in a wider format, all else as it is."""
    name = judge.backend.name
    wide = "fp32" if judge.format.significand_bits < 24 else "fp64"
    if not lines or name == wide:
        return
    function = judge.problem.function
    assignment = Assignment({lines[0]: wide}, default=name, kernel=function, rounds="everything")
    score = judge.score_in(judge.source, assignment)
    if score.helps(judge.given.narrow):
        yield (
            f"keeping line {lines[0]} in {wide} leaves an error of {score.relative:.2g}, without a "
            f"patch: lift to Assignment({{{lines[0]}: '{wide}'}}, default='{name}', "
            "rounds='everything')"
        )


def _random(judge: Judge, offered: Sequence[Candidate]) -> Iterator[str]:
    """Rounding at random, where updates lose what they add."""
    if any(rule.startswith("carry of the update") for c in offered for rule in c.rules):
        name = f"{judge.backend.name},round=sr"
        score = judge.score_in(judge.source, name)
        if score.helps(judge.given.narrow):
            yield (
                f"rounding at random, '{name}', leaves an error of {score.relative:.2g}, without a "
                "patch"
            )


def _epsilon(judge: Judge) -> Iterator[str]:
    """Constants of the source that vanish in the format, at its least normal number instead."""
    source, least = judge.source, repr(2.0**judge.format.emin)
    small = [n for n in ast.walk(source.tree)
             if isinstance(n, ast.Constant) and isinstance(n.value, float) and n.value
             and not np.any(quantize(np.array(n.value), judge.backend))]  # fmt: skip
    if not small:
        return
    new: KernelSource = source.edited([source.with_expression(n, least) for n in small])
    score = judge.score_in(new, judge.backend)
    if score.helps(judge.given.narrow):
        value, line = small[0].value, source.first - 1 + small[0].lineno
        yield (
            f"{value!r} in line {line} is 0 in {judge.backend.name}: with {least}, the least "
            f"normal number, {score.relative:.2g} is left; that is another function, and no cure"
        )
