"""The least significand, and the fewest exponent bits, with which a kernel stays under a tolerance.

One format for every operation, rounded to nearest. Errors need not fall with every further bit,
least of all in chaotic kernels: what is found has to hold for every larger significand that was
tried, its next neighbours among them, and on all inputs.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from sciprec.foundation.errors import InputError
from sciprec.foundation.listing import Listing, Shown, Summary
from sciprec.precision.formats.backend import TRUTH, resolve_backend
from sciprec.precision.lifting.lifting import lift
from sciprec.precision.rewriting.syntax import LiftError
from sciprec.results.comparison.rows import compare
from sciprec.results.comparison.verdicts import judge
from sciprec.results.comparison.wording import number
from sciprec.results.output.stated import SCENARIO
from sciprec.scenario.loading import Tolerance
from sciprec.tools.calls.outputs import called, dataset_of
from sciprec.tools.tune.formats import BEYOND_NEED, FEWEST, spec_of_bits
from sciprec.tools.tune.search import least_passing
from sciprec.workbench.batch.perform import properties
from sciprec.workbench.study.subjects import StudySubject

MOST = 53
_NEIGHBOURS = 2
_CURVE = (4, 8, 11, 16, 24, 32, 40)
"""Significands that are tried in any case, for the curve."""
_LEAST_EXPONENT_BITS, _MOST_EXPONENT_BITS = 2, 9


@dataclass(frozen=True)
class TriedFormat:
    """A format that was tried.

    Args:
        bits: of its significand, the implicit one included.
        emax: its largest exponent; the smallest is 1 - emax.
        backend: its spec string.
        ratios: error over tolerance of the worst output, for each member; infinite where values
            are finite in one run and not in the other.
    """

    bits: int
    emax: int
    backend: str
    ratios: tuple[float, ...]

    @property
    def worst(self) -> float:
        """The worst error of all members."""
        return max(self.ratios)

    @property
    def meets(self) -> bool:
        """Whether every member stays under the tolerance."""
        return self.worst <= 1.0

    def __str__(self) -> str:
        exponents = f", exponents {_exponents(self)}" if _exponents(self) else ""
        return f"{self.bits} significant bits{exponents}: error {self.worst:.2g} of the tolerance"


@dataclass(frozen=True, repr=False)
class Search(Shown):
    """The result of a search for the fewest bits.

    Args:
        bits: of the least significand that holds; MOST where only binary64's does.
        tried: significands with exponents beyond need, in ascending order.
        lucky: fewer bits that meet the tolerance although more do not.
        ranges: exponents e, 2^e <= |x| < 2^(e+1), of the smallest and the largest number that
            binary64 meets, zeros left out; None where they are not known.
        exponent_bits: the fewest of an IEEE-like format with that significand that holds; None
            where none of up to 9 does, or ranges are not known.
        backend: the spec string of the format with both.
        exponents_tried: formats of that significand, exponents ascending.
        note: why something is left out; else empty.
    """

    bits: int
    tried: tuple[TriedFormat, ...]
    lucky: tuple[int, ...]
    ranges: tuple[int, int] | None
    exponent_bits: int | None
    backend: str
    exponents_tried: tuple[TriedFormat, ...]
    note: str = ""

    @property
    def found(self) -> bool:
        """Whether fewer bits than binary64's hold."""
        return self.bits < MOST

    @property
    def compared(self) -> tuple[str, ...]:
        """Formats for the page: the one found, and one of fewer bits; none where none was found."""
        if not self.found:
            return ()
        if self.bits == FEWEST:
            return (self.backend,)
        emax = BEYOND_NEED if self.exponent_bits is None else _emax(self.exponent_bits)
        return self.backend, resolve_backend(spec_of_bits(self.bits - 1, emax)).name

    @property
    def sentence(self) -> str:
        """The result, in words."""
        if not self.found:
            return "No significand below binary64's 53 bits stays under the tolerance."
        text = f"{self.bits} significant bits are enough, the implicit one included"
        if self.exponent_bits is not None:
            emax = _emax(self.exponent_bits)
            text += f", with {self.exponent_bits} exponent bits (2^{1 - emax} to 2^{emax})"
        if self.lucky:
            fewer = ", ".join(map(str, self.lucky))
            text += f"; {fewer} would do too, but not some of more bits: that is chance"
        return f"{text}."

    def _summary(self) -> Summary:
        rows = [
            (str(trial.bits), _exponents(trial) or "beyond need", number(trial.worst),
             "yes" if trial.meets else "no")
            for trial in (*self.tried, *self.exponents_tried)
        ]  # fmt: skip
        heads = ("significant bits", "exponents", "error / tolerance")
        listing = Listing((), heads, rows, ("good enough",))
        notes = (self.note,) if self.note else ()
        return Summary("search for the fewest bits", listing, notes, about=self.sentence)

    def as_dict(self) -> dict[str, Any]:
        """Plain data; infinite ratios are None."""
        return {
            "bits": self.bits,
            "exponent_bits": self.exponent_bits,
            "backend": self.backend,
            "ranges": None if self.ranges is None else list(self.ranges),
            "lucky": list(self.lucky),
            "sentence": self.sentence,
            "note": self.note,
            "tried": [_plain(trial) for trial in self.tried],
            "exponents_tried": [_plain(trial) for trial in self.exponents_tried],
        }


def _exponents(trial: TriedFormat) -> str:
    """Name the exponents of a format; "" where they are beyond need."""
    return "" if trial.emax == BEYOND_NEED else f"{1 - trial.emax} to {trial.emax}"


def _plain(trial: TriedFormat) -> dict[str, Any]:
    ratios = [r if math.isfinite(r) else None for r in trial.ratios]
    exponents = None if trial.emax == BEYOND_NEED else [1 - trial.emax, trial.emax]
    return {"bits": trial.bits, "exponents": exponents, "backend": trial.backend, "ratios": ratios}


def fewest_bits(
    subject: StudySubject,
    tolerance: Sequence[Tolerance],
    on_tried: Callable[[TriedFormat], None] | None = None,
) -> Search:
    """Search for the least significand, then for the fewest exponent bits with it.

    Args:
        subject: kernel, inputs and outputs.
        tolerance: of the outputs that have one, as a scenario states it.
        on_tried: called with each format as it was tried.

    Raises:
        InputError: a kernel cannot be lifted to such formats, or the truth is not finite.
    """
    trial = _Trials(subject, tolerance, on_tried or (lambda _: None))
    bits = _least_significand(trial)
    trials = tuple(trial.known[b] for b in sorted(trial.known))
    lucky = tuple(t.bits for t in trials if t.bits < bits and t.meets)
    wide = TRUTH if bits == MOST else trial.known[bits].backend
    ranges, note = _ranges(subject)
    if bits == MOST or ranges is None:
        return Search(bits, trials, lucky, ranges, None, wide, (), note)
    fewest, exponents = _fewest_exponents(trial, bits, ranges)
    if fewest is None:
        note = f"more than {_MOST_EXPONENT_BITS} exponent bits are needed, which is not emulated"
    backend = wide if fewest is None else exponents[fewest].backend
    in_order = tuple(exponents[e] for e in sorted(exponents))
    return Search(bits, trials, lucky, ranges, fewest, backend, in_order, note)


class _Trials:
    """Runs of a kernel in formats, each once; `known` are the significands so far."""

    def __init__(self, subject: StudySubject, tolerance: Sequence[Tolerance], on_tried):
        self.subject, self.on_tried = subject, on_tried
        self.judged = json.dumps({"tolerance": [t.model_dump() for t in tolerance]})
        self.known: dict[int, TriedFormat] = {}
        self.truths = self._results(TRUTH)

    def of_bits(self, bits: int) -> TriedFormat:
        """The format of a significand, its exponents beyond need."""
        if bits not in self.known:
            self.known[bits] = self.run(bits, BEYOND_NEED)
        return self.known[bits]

    def run(self, bits: int, emax: int) -> TriedFormat:
        """Run a format with this many bits and with exponents from 1 - emax to emax."""
        backend = resolve_backend(spec_of_bits(bits, emax)).name
        pairs = zip(self.truths, self._results(backend), strict=True)
        trial = TriedFormat(bits, emax, backend, tuple(self._ratio(*pair) for pair in pairs))
        self.on_tried(trial)
        return trial

    def _results(self, name: str) -> list[xr.Dataset]:
        """The results of each member in an arithmetic."""
        subject, backend = self.subject, resolve_backend(name)
        about = json.dumps(properties(backend))
        results = []
        for inputs in subject.members:
            lifted = lift(subject.kernel, backend)  # as in a run: the first call of its own
            call = called(lifted, inputs)
            dataset = dataset_of(call, inputs, subject.outputs, subject.axes, backend)
            attributes = {"sciprec_backend": name, "sciprec_backend_properties": about,
                     SCENARIO: self.judged}  # fmt: skip
            results.append(dataset.assign_attrs(attributes))
        return results

    @staticmethod
    def _ratio(truth: xr.Dataset, dataset: xr.Dataset) -> float:
        """Error over tolerance of the worst output, as pages judge it."""
        try:
            verdict = judge(truth, dataset, compare(truth, dataset))
        except InputError:  # results of another shape
            return math.inf
        if verdict.status == "identical":
            return 0.0
        return verdict.margin if verdict.status in ("good", "beyond") else math.inf


def _least_significand(trial: _Trials) -> int:
    """Find the fewest bits by bisection, then by neighbours and others: all above have to hold."""
    bits = least_passing(lambda n: trial.of_bits(n).meets, FEWEST, MOST)
    for more_bits in _CURVE:
        trial.of_bits(more_bits)
    while True:
        for more_bits in range(max(bits - _NEIGHBOURS, FEWEST), min(bits + _NEIGHBOURS + 1, MOST)):
            trial.of_bits(more_bits)
        missed = [b for b, result in trial.known.items() if b >= bits and not result.meets]
        if not missed:
            return bits
        bits = max(missed) + 1


def _fewest_exponents(
    trial: _Trials, bits: int, ranges: tuple[int, int]
) -> tuple[int | None, dict[int, TriedFormat]]:
    """The fewest exponent bits that hold with a significand, from those that the ranges ask for
    down; and what was tried, by exponent bits.
    """
    smallest, largest = ranges
    every = range(_LEAST_EXPONENT_BITS, _MOST_EXPONENT_BITS + 1)
    needed = next((e for e in every if largest <= _emax(e) and smallest >= 1 - _emax(e)), every[-1])
    by_bits: dict[int, TriedFormat] = {}

    def meets(exponent_bits: int) -> bool:
        by_bits[exponent_bits] = trial.run(bits, _emax(exponent_bits))
        return by_bits[exponent_bits].meets

    fewest = next((e for e in range(needed, every[-1] + 1) if meets(e)), None)
    while fewest is not None and fewest > every[0] and largest <= _emax(fewest - 1):
        if not meets(fewest - 1):
            break
        fewest -= 1
    return fewest, by_bits


def _emax(exponent_bits: int) -> int:
    """The largest exponent of an IEEE-like format; its smallest is 1 less that."""
    return 2 ** (exponent_bits - 1) - 1


def _ranges(subject: StudySubject) -> tuple[tuple[int, int] | None, str]:
    """Exponents of the smallest and the largest number over all members, and why they are not
    known where that is so.
    """
    small, large = math.inf, 0.0
    kernel = lift(subject.kernel, TRUTH)
    for inputs in subject.members:
        try:
            profile = kernel.profile(*inputs.values.values())
        except LiftError as error:
            return None, f"exponents were not searched for: {error}"
        large = max(large, float(np.max(profile.largest, initial=0.0)))
        small = min(small, float(np.min(profile.smallest, initial=math.inf)))
    if not (math.isfinite(small) and 0.0 < large < math.inf):
        return None, "exponents were not searched for: no finite number but zero was met"
    return (math.frexp(small)[1] - 1, math.frexp(large)[1] - 1), ""
