"""Formats of the state between steps: that of the arithmetic, a narrower or a wider one, or one for
each range of total wavenumber.

A wider one is a master copy: steps are put together in its own format, with the implicit solve, and
tendencies see it rounded to theirs (Micikevicius et al. 2018). Large scales have most of the
energy, and few coefficients: they may have more bits than small ones (Chantry et al. 2019).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from sciprec.arrays.quantization import rounding_into
from sciprec.foundation.arguments import shown
from sciprec.foundation.errors import InputError
from sciprec.foundation.limits import SCALES
from sciprec.instruments.assigning.assignment import AssignedBackend
from sciprec.instruments.assigning.policies import Policy, policy_called
from sciprec.instruments.assigning.scaling import ScaledBackend
from sciprec.precision import Backend, resolve_backend
from sciprec.precision.formats.backend import Arithmetic, handed_as, uniform_backend

STATE = "state update"
MASTER_COPIES = ("shallow_water",)
"""Sets of equations whose policy O2 is a narrow arithmetic with a wide master copy."""
_MOST, _LEAST = 53, 2
_RANGE = re.compile(r"(?P<first>\d+)(?P<to>-(?P<last>\d*))? +(?P<format>[^-\s].*)")
_LAW = re.compile(r"(?P<bits>\d+(\.\d+)?) *- *(?P<slope>\d+(\.\d+)?) *\* *log2\(1 *\+ *l\)")
_ACCEPTED = (
    "accepted: ranges of total wavenumber with formats or numbers of bits, as in "
    "'scales:0-10 fp32;11- 11', or a power law, as in 'scales:30 - 3.5*log2(1+l)'"
)


@dataclass(frozen=True)
class WavenumberFormats:
    """Formats by total wavenumber.

    Args:
        text: as given.
        ranges: (first l, last l or None, format); empty for a law.
        law: None, or (a, b): bits(l) = a - b log2(1 + l), rounded, from 2 to 53; the unit roundoff
            is a power law of 1 + l.
    """

    text: str
    ranges: tuple[tuple[int, int | None, str], ...] = ()
    law: tuple[float, float] | None = None

    def format_at(self, degree: int) -> str:
        """The format of the coefficients of a total wavenumber. Those of the one above the
        truncation are zero: where ranges end there, they have that of the one below.
        """
        if self.law is not None:
            bits, slope = self.law
            return f"float:p={min(max(round(bits - slope * math.log2(1 + degree)), _LEAST), _MOST)}"
        formats = (f for first, last, f in self.ranges if degree >= first and _below(degree, last))
        return next(formats, None) or self.format_at(degree - 1)

    def arithmetics(self, degree: np.ndarray) -> dict[int, Arithmetic]:
        """Total wavenumber -> the arithmetic in which its coefficients are stored."""
        return {n: resolve_backend(self.format_at(n)).storage for n in map(int, np.unique(degree))}

    def average_bits(self, degree: np.ndarray) -> float:
        """Return the mean significand bits of coefficients, whose total wavenumbers are given."""
        arithmetics = self.arithmetics(degree)
        return float(np.mean([arithmetics[int(n)].format.significand_bits for n in degree]))


@dataclass(frozen=True)
class StoredState:
    """The form in which the state is stored between steps.

    Args:
        update: the arithmetic of updates, with the format of the state as its storage.
        is_master: whether it is wider than the model's, and a step is put together in it.
        scales: formats by scale in which the state is kept, or None: that of `update`.
    """

    update: Backend
    is_master: bool = False
    scales: WavenumberFormats | None = None

    def in_words(self, degree: np.ndarray) -> str:
        """Return a file's words on a state whose format is not that of the arithmetic.

        Args:
            degree: total wavenumber of each coefficient.
        """
        stored = self.update.storage.format
        words = (
            f"state in {stored.name} between steps" if stored != self.update.compute.format else ""
        )
        words = f"state and its update in {stored.name}, a master copy" if self.is_master else words
        if self.scales is None:
            return words
        bits = f"{self.scales.average_bits(degree):.1f} bits on average"
        scales = self.scales.text.removeprefix(SCALES).strip()
        return ", ".join(part for part in (words, f"state by scale ({scales}), {bits}") if part)

    def bits(self, degree: np.ndarray) -> float | None:
        """Return the mean significand bits of the state, where scales, a policy or a master copy
        say so; else None.

        Args:
            degree: total wavenumber of each coefficient.
        """
        if self.scales is not None:
            return self.scales.average_bits(degree)
        initial = self.initial
        if initial is self.update and not self.is_master:
            return None
        return float(initial.storage.format.significand_bits)

    @property
    def initial(self) -> Backend:
        """The backend whose storage has the format of the state: in policies, of its update."""
        if isinstance(self.update, AssignedBackend):
            arithmetic = self.update.assignment.of_stage(STATE)
            return self.update if arithmetic is None else uniform_backend("state", arithmetic)
        return self.update

    def rounding(self, degree: np.ndarray, columns: int) -> Callable[[np.ndarray], None]:
        """The function that rounds states (coefficients * columns,) in place, by scale.

        Args:
            degree: total wavenumber of each coefficient.
            columns: of the state.
        """
        assert self.scales is not None
        of_element = np.repeat(degree, columns)
        elements: dict[Arithmetic, list[np.ndarray]] = {}
        for n, arithmetic in self.scales.arithmetics(degree).items():
            elements.setdefault(arithmetic, []).append(np.flatnonzero(of_element == n))
        groups = [
            (rounding_into(uniform_backend("by scale", a)), np.concatenate(each))
            for a, each in elements.items()
        ]
        most = max(chosen.size for _, chosen in groups)
        work = np.empty((2, most), self.update.carrier)

        def rounded(values: np.ndarray) -> None:
            for rounding, chosen in groups:
                before, after = work[:, : chosen.size]
                values.take(chosen, out=before, mode="clip")
                rounding(before, after)
                values[chosen] = after

        return rounded


WRITTEN: Mapping[str, tuple[int, ...]] = {
    "apply_increment": (3,), "filter_levels": (1, 2),
}  # fmt: skip
"""Kernels of levels without residuals -> arguments that are states which they write."""


def rounding_after(
    kernels: Mapping[str, Callable], rounding: Callable[[np.ndarray], None]
) -> dict[str, Callable]:
    """Kernels of levels, after which states are rounded."""

    def followed(kernel: Callable, written: tuple[int, ...]) -> Callable:
        def called(*args) -> None:
            kernel(*args)
            for place in written:
                rounding(args[place])

        return called

    return dict(kernels) | {n: followed(kernels[n], places) for n, places in WRITTEN.items()}


def as_master_copy(backend: Backend, equations: str) -> tuple[Backend, str | None]:
    """Return the narrow arithmetic and the state's format of a policy O2 whose runs are those of a
    master copy, bit for bit: of the arithmetics' own kernels, which take less time than kernels
    that have formats by place. Any other backend is returned as it is, without a format.

    Args:
        backend: the model's.
        equations: name of their set.
    """
    if equations not in MASTER_COPIES or not isinstance(backend, AssignedBackend):
        return backend, None
    assignment = backend.assignment
    policy = policy_called(assignment.name) if assignment.is_policy else None
    if not isinstance(policy, Policy) or policy.name != "O2" or policy.allow or policy.deny:
        return backend, None
    narrow, wide = resolve_backend(policy.narrow), resolve_backend(policy.wide)
    if wide.storage.format == narrow.storage.format or not wide.storage.format.holds(
        narrow.storage.format
    ):
        return backend, None
    assignment.note_met(assignment)
    return narrow, policy.wide


def resolve_stored(stored: object, backend: Backend, highest: int) -> StoredState:
    """Return the form in which the state is stored beside an arithmetic.

    Args:
        stored: None, the name of a format, or formats by scale.
        backend: the model's arithmetic.
        highest: total wavenumber.

    Raises:
        InputError: it cannot be used.
    """
    if stored is None:
        return StoredState(backend)
    if isinstance(backend, AssignedBackend):
        raise InputError(
            f"stored is {shown(stored)} beside '{backend.name}', whose stages have formats of "
            "their own; leave it out: the format of 'state update' is that of the state"
        )
    if isinstance(stored, str) and stored.startswith(SCALES):
        return _by_scale(read_scales(stored), backend, highest)
    named = resolve_backend(stored)
    storage = named.storage
    if not (storage.fixed or backend.fixed or isinstance(named, ScaledBackend)):
        if storage.format.significand_bits > backend.compute.format.significand_bits:
            return StoredState(_master(stored, storage, backend), True)
        update = replace(backend, name=_label(backend, storage.format.name), storage=storage)
        if update.carrier == backend.carrier:
            return StoredState(update)
    raise InputError(
        f"stored is {shown(stored)} beside the arithmetic '{backend.name}'; accepted: a float "
        "format such as 'fp16' or 'float:p=11', whose range is no larger where it is narrower "
        "than the arithmetic, beside floats"
    )


def read_scales(text: str) -> WavenumberFormats:
    """The formats that a text gives to scales.

    Raises:
        InputError: it is written otherwise, or names an arithmetic that cannot be stored.
    """
    spec = text.removeprefix(SCALES).strip()
    law = _LAW.fullmatch(spec)
    if law is not None:
        return WavenumberFormats(text, law=(float(law["bits"]), float(law["slope"])))
    ranges: list[tuple[int, int | None, str]] = []
    for part in spec.split(";"):
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            raise InputError(
                f"stored is '{text}', whose part '{part.strip()}' is none; {_ACCEPTED}"
            )
        word = match["format"].strip()
        name = f"float:p={word}" if word.isdigit() else word
        arithmetic = resolve_backend(name)
        if arithmetic.fixed or arithmetic.random or not arithmetic.has_one_format:
            raise InputError(f"stored is '{text}', and '{word}' is no single float; {_ACCEPTED}")
        last = match["last"] if match["to"] else match["first"]
        ranges.append((int(match["first"]), int(last) if last else None, name))
    return WavenumberFormats(text, tuple(ranges))


def _by_scale(scales: WavenumberFormats, backend: Backend, highest: int) -> StoredState:
    """Scales beside an arithmetic; updates are in the widest format of both."""
    if backend.fixed or backend.random:
        raise InputError(
            f"stored is '{scales.text}' beside '{backend.name}'; accepted beside bits by scale: "
            "floats that are rounded alike each time, such as 'fp64'"
        )
    for n in range(highest + 1):
        fitting = [r for r in scales.ranges if n >= r[0] and _below(n, r[1])]
        if scales.law is None and len(fitting) != 1:
            raise InputError(
                f"stored is '{scales.text}', in which the total wavenumber {n} of 0 to {highest} "
                f"has {len(fitting)} formats; give every one of them one"
            )
    widest = max(
        scales.arithmetics(np.arange(highest + 1)).values(),
        key=lambda each: each.format.significand_bits,
    )
    if widest.format.significand_bits <= backend.compute.format.significand_bits:
        return StoredState(backend, False, scales)
    return StoredState(_master(scales.text, widest, backend), True, scales)


def _master(stored: object, master: Arithmetic, backend: Backend) -> Backend:
    """The arithmetic of a master copy.

    Raises:
        InputError: random bits, or numbers of the model's that it does not hold.
    """
    if backend.random or master.rule.random:
        raise InputError(
            f"stored = {shown(stored)} with backend '{backend.name}' makes a master copy with "
            "random rounding; accepted: floats that are rounded alike each time, such as 'fp32' "
            "with 'fp16'"
        )
    if not master.format.holds(backend.compute.format):
        raise InputError(
            f"stored is {shown(stored)} beside the arithmetic '{backend.name}', whose numbers it "
            "does not all hold: a master copy is wider in range, too, such as 'fp32' beside 'bf16'"
        )
    return handed_as(uniform_backend(_label(backend, master.format.name), master), backend)


def _label(backend: Backend, name: str) -> str:
    return f"{backend.name}, stored as {name}"


def _below(degree: int, last: int | None) -> bool:
    return last is None or degree <= last
