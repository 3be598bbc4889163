"""Faults that are planted into the engine of `trace`, and whether generated kernels find them.

    python -m tests.diagnosis.trace_faults

Plants each in a copy of this process with a folder of compiled code of its own, and runs one kernel
beside fractions, or one of the generator; prints a line for each fault: its name, and what shows
it, nothing where that does not. Without a fault both are run, with the usual folder.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from llvmlite import ir

from sciprec import trace
from sciprec.precision.formats.backend import resolve_backend
from sciprec.precision.rounding.words import V64
from sciprec.precision.tracing.numbers import CompanionNumber
from sciprec.precision.tracing.operations import TracedOperations
from sciprec.precision.tracing.parts import Parts
from tests.diagnosis.trace_checks import checked, exact_shares, generated, rational


def product_to_first_order() -> None:
    """The slopes of a product are its tested factors."""

    def of_product(self, b, x, y):
        first = self.scaled(b, self.beside(b, x), self.value(b, y))
        return self.fused(b, self.beside(b, y), self.spread(b, self.value(b, x)), first)

    Parts._of_product = of_product


def difference_of_the_wrong_sign() -> None:
    """The parts of x - y are those of x + y."""
    of_sum = Parts._sum

    def added(self, b, x, y, rounded, row, sign):
        made = of_sum(self, b, x, y, rounded, row, sign)
        own = b.fsub(self.beside(b, made), b.fsub(self.beside(b, x), self.beside(b, y)))
        wrong = b.fadd(own, b.fadd(self.beside(b, x), self.beside(b, y)))
        return made if sign > 0 else self.made(b, self.value(b, made), wrong)

    Parts._sum = added


def root_of_another_slope() -> None:
    """A root's slope is off by one in 4096."""
    sloped = Parts.sloped
    Parts.sloped = lambda self, b, x, slope: sloped(
        self, b, x, b.fmul(slope, V64.constant(1.0 + 2.0**-12))
    )


def neighbouring_lane() -> None:
    """An operation's rounding goes to the next group's part; the whole error stays right."""
    booked = Parts.booked

    def moved(self, b, value, parts, local, row):
        made = booked(self, b, value, parts, local, row)
        rounding = b.fsub(self.beside(b, made), parts)
        lanes = [0, *(1 + n % (self.lanes - 1) for n in range(1, self.lanes))]
        places = ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), lanes)
        turned = b.shuffle_vector(rounding, rounding, places)
        return self.made(b, value, b.fadd(parts, turned))

    Parts.booked = moved


def chosen_without_error() -> None:
    """min and max give an operand without its error."""
    chosen = TracedOperations._chosen

    def bare(self, context, b, function, role, values, key):
        made = chosen(self, context, b, function, role, values, key)
        return role.exactly(b, role.value(b, made)) if isinstance(role, Parts) else made

    TracedOperations._chosen = bare


def raw_numbers() -> None:
    """Constants of the source are not rounded where they are read."""
    rounded = TracedOperations.rounded

    def kept(self, b, kind, value, role, key, salt):
        is_raw = isinstance(kind, CompanionNumber)
        return value if is_raw else rounded(self, b, kind, value, role, key, salt)

    TracedOperations.rounded = kept


FAULTS = {
    product_to_first_order: None, difference_of_the_wrong_sign: 301, root_of_another_slope: 305,
    neighbouring_lane: None, chosen_without_error: 300, raw_numbers: 309,
}  # fmt: skip
"""Fault -> seed of the first kernel from 300 on that shows it, where fractions do not."""


def found_by_fractions() -> str:
    """What shows that something is wrong, or ''."""
    found = trace(rational, "bf16", (1.1, 0.7), by="variable", samples=1)
    shares = {n.name: n.share for n in found.lines}
    expected = exact_shares(1.1, 0.7, resolve_backend("bf16"))
    assert not expected.pop("results")  # which are not rounded where roles have one format
    if shares != pytest.approx(expected, abs=1e-6):
        return f"shares {shares}, by fractions {expected}"
    return ""


def found_by(seed: int) -> str:
    """What a kernel of the generator shows to be wrong, or ''."""
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        for kernel, backend, args in generated([seed], Path(folder)):
            try:
                checked(kernel, backend, args)
            except AssertionError as error:
                return f"{kernel.__module__} in {backend}: {error}"
    return ""


if __name__ == "__main__":
    for fault, seed in FAULTS.items():
        sys.stdout.flush()
        if (child := os.fork()) == 0:
            with tempfile.TemporaryDirectory() as folder:
                os.environ["SCIPREC_CACHE_DIR"] = folder
                fault()
                shown = found_by_fractions() if seed is None else found_by(seed)
                print(f"{fault.__name__}:", shown.replace("\n", " "), flush=True)
            os._exit(0)
        os.waitpid(child, 0)
    print("nothing:", (found_by_fractions() or found_by(300)).replace("\n", " "))
