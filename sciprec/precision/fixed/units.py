"""Units of a fixed-point program: the power of two that each place counts in."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sciprec.foundation.arguments import Range
from sciprec.foundation.errors import InputError
from sciprec.precision.fixed.profile import Profile
from sciprec.precision.formats.backend import Arithmetic, Backend
from sciprec.precision.formats.literal import fixed_unit_exponent
from sciprec.precision.operations.operation import NOTHING, OPERATIONS, operation_named
from sciprec.precision.rewriting.layout import Row
from sciprec.precision.rewriting.syntax import Site
from sciprec.precision.rounding import fixed_rounding as words
from sciprec.precision.rounding.recording import BINS, LEAST_EXPONENT
from sciprec.precision.rounding.variant import PLAIN, WIDE, RowVariant

_LEAST, _GREATEST = -960, 900  # exponents of units: sums of C and numbers stay normal and finite
_EXACT_BITS = 53  # of binary64
_LOST_SHARE = 0.01
_NOISE = 44  # numbers this many powers of two below the largest are binary64's own rounding errors


@dataclass(frozen=True)
class PlaceReport:
    """Saturations and short results at one operation of the source, over all chains of calls.

    Attributes:
        function, line, column, operation, text: where and what.
        unit_exponents: (least, greatest) e of its units 2^e.
        largest: the largest size that was expected there.
        saturations: results that were beyond the range.
        invalid: NaN, which became zero.
        bits_short: further bits with which at most 1 % of the numbers met in profiling would be
            below half a unit and lost; 0 where the bits suffice. Numbers below 2^-44 of the largest
            are left out: they may be rounding errors of the profile itself.
        lost_share: share of these numbers that are below half a unit.
    """

    function: str
    line: int
    column: int
    operation: str
    text: str
    unit_exponents: tuple[int, int]
    largest: float
    saturations: int
    invalid: int
    bits_short: int
    lost_share: float


class _Facts:
    """Facts about the rows of a program that hold for all numbers.

    Attributes:
        bits, headroom: (rows,), of each row's format.
        functions: (rows,), the number of the function that each row's operation stands in.
        groups: (rows,), the number of the group that a row is in, 0 for none.
        additions: (rows,), whether the operation is a sum or difference.

    Args:
        backend, sites, rows: as of `FixedUnits`.
    """

    def __init__(self, backend: Backend, sites: tuple[Site, ...], rows: tuple[Row, ...]):
        of_rows = [sites[row.site] for row in rows]
        formats = [
            _arithmetic(backend, site, row.part).format
            for site, row in zip(of_rows, rows, strict=True)
        ]
        self.bits = np.array([f.bits for f in formats], np.int64)
        self.headroom = np.array([f.headroom for f in formats], np.int64)
        self.functions = _numbered(site.function for site in of_rows)
        self.groups = _numbered([row.group for row in rows], {"": 0})
        operations = {site.operation: operation_named(site.operation) for site in of_rows}
        self.additions = np.array([operations[s.operation].joins == "add" for s in of_rows], bool)

    def exponents(self, largest: np.ndarray, which: np.ndarray | slice = slice(None)) -> np.ndarray:
        """e of the units 2^e of some rows: the smallest whose integers hold numbers of these sizes
        after rounding, and the format's headroom.
        """
        exponents = fixed_unit_exponent(largest, self.bits[which])
        return np.clip(exponents + self.headroom[which], _LEAST, _GREATEST)

    def share_in_groups(self, largest: np.ndarray) -> None:
        """Give the members of each group the largest size among them."""
        members = self.groups > 0
        most = _most(largest, self.groups)
        largest[members] = most[self.groups[members]]

    def completed(self, largest: np.ndarray) -> np.ndarray:
        """Sizes: of a group, the largest of its members; where none is known, the largest of the
        same function, of the whole kernel, or one.
        """
        out = np.where(np.isfinite(largest), largest, 0.0)
        self.share_in_groups(out)
        largest_of = _most(out, self.functions)
        largest_of[largest_of == 0.0] = out.max(initial=0.0) or 1.0
        return np.where(out == 0.0, largest_of[self.functions], out)

    def table(self, exponents: np.ndarray) -> np.ndarray:
        """(rows, 8) words as `fixed_rounding` reads them."""
        table = np.zeros((self.bits.size, words.ROW_BYTES // 8), np.int64)
        numbers = table.view(np.float64)
        half, unit = np.ldexp(1.0, self.bits - 1), np.ldexp(1.0, exponents)
        numbers[:, words.SHIFT] = unit * (1.5 * 2.0**52 + half)
        numbers[:, words.UNIT] = unit
        numbers[:, words.LOW] = -half * unit
        numbers[:, words.HIGH] = (half - 1.0) * unit
        return table


def _numbered(names: Iterable[str], earlier: dict[str, int] | None = None) -> np.ndarray:
    """A number for each name, the same for the same one."""
    numbers = {} if earlier is None else earlier
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64)


def _most(sizes: np.ndarray, of: np.ndarray) -> np.ndarray:
    """The largest of the sizes with each number, 0 of none."""
    most = np.zeros(int(of.max(initial=0)) + 1)
    np.maximum.at(most, of, sizes)
    return most


class FixedUnits:
    """The table of a program: a row of constants for every place, and running counts.

    Args:
        backend: a fixed-point backend.
        sites, rows: of the program.
        largest: (rows,), the largest size expected at each place; 0 where none is known.
        spread: (rows, 120), numbers by exponent as in a Profile; None where none is known.
        zero: (rows,), whether a place made nothing but zeros: what it makes in fixed point is
            made of rounding errors. None where that is not known.
        before: other units of the same program, or None.
    """

    def __init__(
        self,
        backend: Backend,
        sites: tuple[Site, ...],
        rows: tuple[Row, ...],
        largest: np.ndarray,
        spread: np.ndarray | None = None,
        zero: np.ndarray | None = None,
        before: FixedUnits | None = None,
    ):
        self.backend, self.sites, self.rows, self.zero = backend, sites, rows, zero
        self._facts = facts = before._facts if before else _Facts(backend, sites, rows)
        self.largest = facts.completed(largest)
        self.used = largest > 0.0
        self.spread = np.zeros((len(rows), BINS), np.int64) if spread is None else spread
        self.exponents = facts.exponents(self.largest)
        if zero is not None:
            self._refine(zero & ~self.used & (self.largest > 0.0))
        self.table = facts.table(self.exponents)
        self._variant: RowVariant | None = None

    @classmethod
    def of_profile(
        cls, backend: Backend, profile: Profile, earlier: FixedUnits | None = None
    ) -> FixedUnits:
        """Units for the sizes met in a profile, and for those that were expected before."""
        largest, spread = profile.largest, profile.exponents
        if earlier is not None:
            before = np.where(earlier.used, earlier.largest, 0.0)
            largest, spread = np.maximum(largest, before), spread + earlier.spread
        zero = (profile.runs > 0) & (largest == 0.0)
        return cls(backend, profile.sites, profile.rows, largest, spread, zero, earlier)

    def _refine(self, zero: np.ndarray) -> None:
        """Give places that made nothing but zeros a range of a few of the coarsest units that
        numbers of their function have.
        """
        facts = self._facts
        for function in np.unique(facts.functions[zero]):
            of_function = facts.functions == function
            usable = of_function & self.used
            usable = usable if usable.any() else self.used
            coarsest = self.exponents[usable].max() if usable.any() else 0
            changed = zero & of_function
            self.largest[changed] = 2.0 ** float(coarsest + 1)
            self.exponents[changed] = facts.exponents(self.largest[changed], changed)

    def widened(self, beyond: np.ndarray) -> FixedUnits:
        """Units in which sizes (rows,) that were met beyond the range have room, too."""
        return FixedUnits(
            *(self.backend, self.sites, self.rows),
            np.maximum(np.where(self.used, self.largest, 0.0), beyond),
            self.spread,
            self.zero,
            self,
        )

    def variant(self, literals: tuple[float, ...]) -> RowVariant:
        """The variant of a program that these units need: `PLAIN` where every sum of two numbers of
        its places and literals has at most 53 bits, as long as it is within its range.
        """
        if self._variant is None:
            lows = [self.exponents.min(initial=_GREATEST)]
            for literal in filter(math.isfinite, filter(None, literals)):
                over, under = literal.as_integer_ratio()
                lows.append((over & -over).bit_length() - under.bit_length())
            tops = (self.exponents + self._facts.bits)[self._facts.additions]
            bits = max(tops.tolist(), default=-math.inf) - min(lows)
            self._variant = PLAIN if bits <= _EXACT_BITS else WIDE
        return self._variant

    def places(self, saturated: np.ndarray, invalid: np.ndarray) -> tuple[PlaceReport, ...]:
        """One report for each operation in integers that made a number but zero, in the order of
        the source.

        Args:
            saturated, invalid: (rows,), counts.
        """
        by_site: dict[Site, list[int]] = {}
        for number, row in enumerate(self.rows):
            if not _in_integers(self.backend, self.sites[row.site], row.part):
                continue
            if self.used[number] or saturated[number] or invalid[number]:
                by_site.setdefault(self.sites[row.site], []).append(number)
        order = sorted(by_site.items(), key=lambda item: (item[0].function, item[0].line))
        return tuple(self._place(site, rows, saturated, invalid) for site, rows in order)

    def _place(self, site: Site, rows: list[int], saturated, invalid) -> PlaceReport:
        units = self.exponents[rows]
        short, lost = _short(self.spread[rows], units)
        return PlaceReport(
            site.function, site.line, site.column, site.operation, site.text,
            (int(units.min()), int(units.max())), float(self.largest[rows].max()),
            int(saturated[rows].sum()), int(invalid[rows].sum()), short, lost,
        )  # fmt: skip


_SIZE = Range("a finite number above zero, the largest size there", above=0)


def from_ranges(backend: Backend, sites, rows, ranges) -> FixedUnits:
    """Units from given ranges instead of a profile.

    Args:
        ranges: the largest size of everything (a number), or a mapping from the name of an argument
            or array, the text of an operation such as "a * b", or a line number to the largest size
            there; "*" stands for everything else.

    Raises:
        InputError: a range is no finite number above zero, a key is unknown, or places have none.
    """
    sizes = dict(ranges) if hasattr(ranges, "items") else {"*": ranges}
    for key, value in sizes.items():
        _SIZE.number(f"the range of {key!r}", value)
    used, largest = {"*"}, np.zeros(len(rows))
    for number, row in enumerate(rows):
        keys = [k for k in _names_of(sites[row.site]) if k in sizes]
        used.update(keys)
        if keys:
            largest[number] = sizes[keys[0]]
    _Facts(backend, sites, rows).share_in_groups(largest)
    largest[largest == 0.0] = sizes.get("*", 0.0)
    missing = [sites[rows[n].site] for n in np.flatnonzero(largest == 0.0)]
    unknown = [key for key in sizes if key not in used]
    if unknown:
        names = {k for row in rows for k in _names_of(sites[row.site])}
        texts = sorted(k for k in names if isinstance(k, str))
        raise InputError(
            f"no place of the kernel is called {unknown[0]!r}; known: {', '.join(texts)}, and line "
            "numbers"
        )
    if missing:
        first = missing[0]
        raise InputError(
            f"{len(missing)} places have no range, the first '{first.text or first.operation}' in "
            f"line {first.line} of '{first.function}'; give it one, or one for everything else "
            "under '*'"
        )
    return FixedUnits(backend, tuple(sites), tuple(rows), largest)


def _names_of(site: Site) -> list:
    names = [site.text, site.line]
    if OPERATIONS.get(site.operation, NOTHING).moves:
        names.append(site.text.partition("[")[0].strip())
    return [n for n in names if n]


def _arithmetic(backend: Backend, site: Site, part: int) -> Arithmetic:
    is_of_sum = OPERATIONS.get(site.operation, NOTHING).role
    if is_of_sum and part == 0 and backend.accumulate.fixed:
        return backend.accumulate
    if site.operation == "product" and part or not backend.compute.fixed:
        return backend.matmul
    return backend.compute


Place, Units = PlaceReport, FixedUnits  # their names in pickles of version 0.1


def _in_integers(backend: Backend, site: Site, part: int) -> bool:
    """Whether a place is in fixed point: where floats compute, the factors of products alone."""
    return backend.compute.fixed or site.operation == "product" and part > 0


def _short(spread: np.ndarray, units: np.ndarray) -> tuple[int, float]:
    """(bits short, share lost) of the numbers (rows, 120) in units 2^e (rows,)."""
    exponents = LEAST_EXPONENT + np.arange(BINS)
    below = np.subtract.outer(units - 1, exponents)  # powers of two below half a unit
    largest = np.where(spread > 0, exponents, LEAST_EXPONENT).max(axis=1, initial=LEAST_EXPONENT)
    spread = np.where(np.subtract.outer(largest, exponents) <= _NOISE, spread, 0)
    numbers, total = spread.ravel(), spread.sum()
    if not total:
        return 0, 0.0
    lost = numbers[below.ravel() > 0].sum() / total
    deficits, order = below.ravel(), np.argsort(below.ravel(), kind="stable")
    covered = np.cumsum(numbers[order]) / total
    needed = int(deficits[order][np.searchsorted(covered, 1.0 - _LOST_SHARE)])
    return max(0, needed), float(lost)
