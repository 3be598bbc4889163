"""Kernels lifted to fixed point: units are found by profiling, and follow the numbers."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace

import numpy as np

from sciprec.foundation.arguments import integer
from sciprec.foundation.errors import InputError
from sciprec.foundation.listing import Summary
from sciprec.precision.fixed.profile import Profile
from sciprec.precision.fixed.units import FixedUnits, PlaceReport, from_ranges
from sciprec.precision.lifting.compiling import module_of
from sciprec.precision.lifting.lifted import Lifted, idle_roles, lifted_summary, warn_of_order
from sciprec.precision.operations.objects import fields_of, is_object
from sciprec.precision.rewriting.build import Build
from sciprec.precision.rewriting.copies import copied
from sciprec.precision.rewriting.program import Program
from sciprec.precision.rewriting.syntax import LiftError
from sciprec.precision.rounding import fixed_rounding as words
from sciprec.precision.rounding.variant import CAREFUL, PLAIN, RowVariant

_ATTEMPTS = 12
_MOST_SPARE_BITS = 31
_TOTALS = ("calls", "adaptations", "careful_calls", "saturations", "invalid")
_STATE = (
    "units", "_unknown", "_adapt", "_thawed", "_calls", "_adaptations", "_careful_calls",
    "_saturated", "_invalid",
)  # fmt: skip


@dataclass(frozen=True)
class FixedPointReport:
    """Saturations and short results of fixed point in the calls so far.

    Attributes:
        places: one for each operation.
        calls, adaptations: calls of the kernel, and how often the units were changed after the
            first call.
        saturations, invalid: totals over the places.
        careful_calls: calls that were computed with every end of a range enforced.
        idle_roles: a sentence about roles that no operation has; "" where there are none.
    """

    places: tuple[PlaceReport, ...]
    calls: int
    adaptations: int
    careful_calls: int
    idle_roles: str = ""

    @property
    def saturations(self) -> int:
        """Results beyond the range, over all places."""
        return sum(place.saturations for place in self.places)

    @property
    def invalid(self) -> int:
        """NaN that became zero, over all places."""
        return sum(place.invalid for place in self.places)

    @property
    def short(self) -> tuple[PlaceReport, ...]:
        """Places whose numbers need more bits than there are, the worst first."""
        short = [place for place in self.places if place.bits_short]
        return tuple(sorted(short, key=lambda place: -place.bits_short))

    def __str__(self) -> str:
        lines = [
            f"{self.calls} calls, {self.adaptations} changes of units, {self.saturations} "
            f"saturations, {self.invalid} NaN"
        ]
        lines += [self.idle_roles] if self.idle_roles else []
        for place in self.short:
            lines.append(
                f"{place.function}, line {place.line}: '{place.text or place.operation}' is "
                f"{place.bits_short} bits short: {place.lost_share:.1%} of its numbers are below "
                f"half of its unit 2^{place.unit_exponents[1]}"
            )
        return "\n".join(lines)


def fixed_point_summary(kernels, worst: int = 10) -> dict | None:
    """Sum up what fixed point did in all calls of some lifted kernels, as plain data; None where
    none of them is in fixed point.

    Args:
        kernels: lifted kernels, in a list.
        worst: how many of the places that are short of bits are listed.
    """
    reports = [kernel.report() for kernel in kernels if isinstance(kernel, FixedLifted)]
    if not reports:
        return None
    short = sorted((p for r in reports for p in r.short), key=lambda place: -place.bits_short)
    saturated = sorted(
        (p for r in reports for p in r.places if p.saturations), key=lambda p: -p.saturations
    )
    idle = idle_roles([k for k in kernels if isinstance(k, FixedLifted)])
    return {
        **({"idle_roles": idle} if idle else {}),
        **{name: sum(getattr(r, name) for r in reports) for name in _TOTALS},
        "places_short_of_bits": len(short),
        "short": [asdict(place) for place in short[:worst]],
        "saturated": [asdict(place) for place in saturated[:worst]],
    }


class FixedLifted(Lifted):
    """A kernel in fixed point; call it like the kernel.

    The first call profiles the kernel in binary64 on copies of its arguments and gives every place
    the finest unit that holds what was met there, with the format's headroom. See `sciprec.lift`
    for `ranges` and `adapt`. Units follow calls in the order in which they come, until `freeze`.

    Attributes:
        units: the units in force, or None before the first call.
        dispatcher: the compiled entry of the plain variant; takes the table's address first and
            returns (result, marks).
    """

    def __init__(
        self, kernel, backend, build: Build, lift_again, *, ranges=None, adapt="headroom"
    ) -> None:
        plain = Program(kernel, backend, replace(build, variant=PLAIN))
        module = module_of(plain)
        super().__init__(kernel, backend, plain, module, 0, lift_again)
        self._dispatchers = {PLAIN: module.sp_entry}
        self._layout, self._adapt = plain.layout, adapt
        self._literals = plain.literals
        if any(site.operation == "sign" or "(0)" in site.operation for site in plain.sites):
            self._literals += (1.0,)
        self._state = threading.RLock()
        self.units: FixedUnits | None = None
        self._thawed: tuple[FixedUnits, str | int | None] | None = None  # both before freeze
        self._finder: int | None = None  # the thread whose call has found the units
        self._several = False  # whether others have called, too
        self._unknown = ranges is None  # until something but zeros has been met
        if ranges is not None:
            self.units = from_ranges(backend, plain.sites, plain.layout.rows, ranges)
        self._calls = self._adaptations = self._careful_calls = 0
        self._rooms: list[_Room] | None = None
        self._saturated = np.zeros(len(plain.layout.rows), np.int64)
        self._invalid = np.zeros_like(self._saturated)

    def profile(self, *args, widen: bool = False) -> Profile:
        """Run the kernel in binary64 on copies of the arguments, and give every place a unit for
        what was met there; with `widen`, for what was met before, too. Frozen units stay.
        """
        profile = super().profile(*args)
        with self._state:
            if self._thawed is None:
                earlier = self.units if widen else None
                self.units = FixedUnits.of_profile(self.backend, profile, earlier)
                self._unknown, self._finder = not profile.largest.any(), None
        return profile

    def freeze(self, spare_bits: int = 0) -> None:
        """Let the units that calls or a profile have found change no more: from now on a result
        depends on the arguments alone, whatever the thread and the order of calls. Results beyond
        their range saturate, or wrap with `saturate=no`, and are counted in `report()`.

        Freezing again replaces `spare_bits`. A pickled kernel stays frozen.

        Args:
            spare_bits: powers of two, from 0 to 31, by which every range is widened first: room for
                larger numbers than were met.

        Raises:
            InputError: spare_bits is no such integer.
            LiftError: nothing but zeros has been met so far.

        Example:
            fixed = sciprec.lift(kernel, "fixed32")
            fixed(*representative_arguments)
            fixed.freeze(spare_bits=1)
        """
        spare = integer("spare_bits", spare_bits, 0, _MOST_SPARE_BITS)
        with self._state:
            if not self.has_units:
                raise LiftError(
                    f"kernel '{self.kernel.__name__}' in '{self.backend.name}' has no units to "
                    "freeze: it has met no number but zero; call it, or its profile, with "
                    "representative arguments first"
                )
            units, adapt = self._thawed or (self.units, self._adapt)
            self._thawed, self._adapt = (units, adapt), None
            self.units = units.widened(2.0**spare * units.largest) if spare else units

    def unfreeze(self) -> None:
        """Let units change as before `freeze`, from those that it has fixed, without spare bits;
        nothing where they may.
        """
        with self._state:
            if self._thawed is not None:
                self.units, self._adapt = self._thawed
                self._thawed = None

    @property
    def has_units(self) -> bool:
        """Whether units are known, from ranges or from numbers that are not zero."""
        return self.units is not None and not self._unknown

    def keep_rooms(self) -> FixedLifted:
        """The kernel itself, which from now on keeps the arrays in which a call puts what it saves
        of its arguments: for kernels that are called again and again with arrays of one size.
        """
        self._rooms = []
        return self

    def fresh(self) -> FixedLifted:
        """Copy the kernel with its units, and with counts of its own that start at zero."""
        with self._state:
            clone = object.__new__(FixedLifted)
            clone.__dict__.update(self.__dict__)
            clone._state = threading.RLock()
            clone._rooms = None if self._rooms is None else []
            clone._caller = clone._finder = None
            clone._several = clone._warned = False
            clone._calls = clone._adaptations = clone._careful_calls = 0
            clone._saturated, clone._invalid = self._saturated * 0, self._invalid * 0
        return clone

    def unprofiled(self) -> FixedLifted:
        """Copy the kernel as before its first call: its units are still to be found."""
        self._made_recorder()  # shared by all of them, as the compiled variants are
        clone = self.fresh()
        clone.unfreeze()
        clone.units, clone._unknown = None, True
        return clone

    def report(self) -> FixedPointReport:
        """Report saturations so far, and where bits are short."""
        with self._state:
            places = () if self.units is None else self.units.places(self._saturated, self._invalid)
            counts = self._calls, self._adaptations, self._careful_calls
            return FixedPointReport(places, *counts, idle_roles([self]))

    def state(self) -> dict[str, np.ndarray]:
        """The arrays that decide the next call and the report; none before the first call.

        Returns:
            largest (rows,), the sizes that units are made for; met (2, n), places in the table of
            numbers by exponent, and how many were met there; beyond (2, rows), saturations and NaN;
            counts: calls, changes of units, careful calls, and whether all numbers so far were
            zero; zero (rows,), places that made nothing but zeros, where that is known.
        """
        with self._state:
            units = self.units
            if units is None:
                return {}
            places = np.flatnonzero(units.spread)
            counts = self._calls, self._adaptations, self._careful_calls, self._unknown
            state = {
                "largest": np.where(units.used, units.largest, 0.0),
                "met": np.stack([places, units.spread.ravel()[places]]),
                "beyond": np.stack([self._saturated, self._invalid]),
                "counts": np.array(counts, np.int64),
            }
            return state if units.zero is None else state | {"zero": units.zero}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Go on from the `state` of another; this one has run at least once.

        Raises:
            InputError: the state is of another program.
        """
        with self._state:
            old = self.units
            if old is None or _shapes(state) != _shapes(self.state()):
                raise InputError(
                    "the checkpoint has units of another version of kernel "
                    f"'{self.kernel.__name__}'; remove it to begin again"
                )
            spread = np.zeros_like(old.spread)
            spread.ravel()[state["met"][0]] = state["met"][1]
            self.units = FixedUnits(
                old.backend, old.sites, old.rows, state["largest"], spread, state.get("zero"), old
            )
            self._saturated, self._invalid = state["beyond"].copy()
            *counts, unknown = state["counts"].tolist()
            self._calls, self._adaptations, self._careful_calls = counts
            self._unknown = bool(unknown)

    def _summary(self) -> Summary:
        report = self.report()
        compiled = list(self._dispatchers.values())
        kinds = [kind for dispatcher in compiled for kind in dispatcher.signatures]
        sentences = str(replace(report, idle_roles="")).splitlines() if report.calls else []
        sentences += ["units are frozen"] if self._thawed is not None else []
        return lifted_summary(self, kinds, tuple(sentences))

    def _kept_state(self) -> dict:
        with self._state:
            return {name: getattr(self, name) for name in _STATE}

    def _run(self, args):
        thread, arrived = threading.get_ident(), self.units
        with self._state:
            if self._thawed is None and not thread == self._caller == self._finder:
                self._met(thread, arrived)
            self._calls += 1
            every = self._adapt if isinstance(self._adapt, int) else 0
            if self._unknown or every and self._calls % every == 1 % every:
                self._adaptations += self.units is not None
                self.profile(*self._as_given(args))
                self._note_finder()
            units = self.units
            room = self._rooms.pop() if self._rooms else _Room()
        result, last = self._attempts(units, args, room)
        if self._rooms is not None:
            self._rooms.append(room)
        return result if last is None else self._careful(last, args)

    def _met(self, thread: int, arrived: FixedUnits | None = None) -> None:
        """Note the thread of a call; warn where another one's call has found the units, unless
        that was the main thread's before this call came.

        Args:
            arrived: the units as the call came, before it had its turn.
        """
        self._several |= self._caller not in (None, thread)
        self._caller = thread
        if self._finder in (None, thread) or self._warned:
            return
        if self._finder != threading.main_thread().ident or self.units is not arrived:
            self._warn()

    def _note_finder(self) -> None:
        """Note that a call of this thread has found the units; warn where others call, too."""
        self._finder = threading.get_ident()
        if self._several and not self._warned:
            self._warn()

    def _warn(self) -> None:
        self._warned = True
        warn_of_order(
            self.kernel.__name__, self.backend.name,
            "and its units follow the order in which the calls come; call it with representative "
            "arguments first, and then lifted.freeze(), after which units change no more",
        )  # fmt: skip

    def _attempts(self, units: FixedUnits, args, room: _Room):
        """(result, None) of the first run, in wider and wider units, in which nothing leaves its
        range; where there is none (None, the last units), and the arguments are as before.
        """
        room.saved = self._saved(args, room.saved)
        for attempt in range(_ATTEMPTS):
            result, clean = self._attempt(units, units.variant(self._literals), args, room)
            if clean:
                return result, None
            _restore(args, room.saved)
            if self._adapt is None or attempt == _ATTEMPTS - 1:
                break
            wider = self._wider(units, args)
            if wider is None:
                break
            units = wider
        return None, units

    def _attempt(self, units: FixedUnits, variant: RowVariant, args, room: _Room):
        """(result, whether nothing left its range) of one run; the table is this call's own.

        An exception may have come from numbers beyond their ranges: a careful run will tell.
        """
        table = room.table = _copied_into(units.table, room.table)
        try:
            result, marks = self._enter(self._variant(variant), (table.ctypes.data, *args))
        except LiftError:
            raise
        except Exception:
            return None, False
        counted = table[:, words.SATURATED].any() or table[:, words.INVALID].any()
        return result, not marks and not counted

    def _careful(self, units: FixedUnits, args):
        """A run in which every end of a range is enforced; its saturations are counted."""
        table = units.table.copy()
        try:
            result, _ = self._enter(self._variant(CAREFUL), (table.ctypes.data, *args))
        finally:
            with self._state:
                self._careful_calls += 1
                self._saturated += table[:, words.SATURATED]
                self._invalid += table[:, words.INVALID]
        return result

    def _wider(self, units: FixedUnits, args) -> FixedUnits | None:
        """Units after the headroom was used up: with room for what was beyond a range, and two bits
        more, so that growing numbers do not leave again at once. None where no unit would change.
        """
        table = units.table.copy()
        with contextlib.suppress(Exception):  # the run that counts will raise it
            self._enter(self._variant(CAREFUL), (table.ctypes.data, *copied(args)))
        beyond = table[:, words.LARGEST].copy().view(np.float64)
        with self._state:  # other threads may have widened others
            wider = self.units.widened(4.0 * np.minimum(beyond, 2.0**1000))
            if (wider.exponents == units.exponents).all():
                return None
            self._adaptations += 1
            self.units = wider
            self._note_finder()
        return wider

    def _function(self, function):
        """Refuse a function that is given as an argument: its operations would have no units."""
        if isinstance(function, type):
            return function
        raise LiftError(
            f"kernel '{self.kernel.__name__}' is given the function "
            f"'{getattr(function, '__name__', function)}'; in fixed point it takes numbers, NumPy "
            "arrays and tuples: call the function by its own name in the kernel"
        )

    def _variant(self, variant: RowVariant):
        with self._state:
            if variant not in self._dispatchers:
                program = self._program.in_variant(variant, self.backend) or Program(
                    self.kernel, self.backend, replace(self._program.build, variant=variant)
                )
                self._dispatchers[variant] = module_of(program).sp_entry
            return self._dispatchers[variant]

    def _saved(self, args, before: list) -> list:
        """Copies of the arrays that the kernel may write, and of objects' fields; in the arrays of
        those before, where they fit.
        """
        writable = self._written(args)
        before = before if len(before) == len(args) else [None] * len(args)
        each = zip(args, writable, before, strict=True)
        return [_copy(a, b) if w or is_object(a) else None for a, w, b in each]


@dataclass
class _Room:
    """The memory of one call: the table of its units, and the numbers that it saves."""

    table: np.ndarray = field(default_factory=lambda: np.empty(0))
    saved: list = field(default_factory=list)


def _copied_into(values: np.ndarray, before: object) -> np.ndarray:
    """A copy of an array, in another one where that has the same shape and type."""
    alike = isinstance(before, np.ndarray) and before.dtype == values.dtype
    if not alike or before.shape != values.shape:
        return values.copy()
    before[...] = values
    return before


def _copy(value, before: object = None):
    """A copy of what a kernel may change of an argument."""
    if isinstance(value, tuple):
        parts: list = [None] * len(value)
        if isinstance(before, list) and len(before) == len(value):
            parts = before
        return [_copy(a, b) for a, b in zip(value, parts, strict=True)]
    if is_object(value):
        return {name: (attribute, _copy(attribute)) for name, attribute in fields_of(value).items()}
    writable = isinstance(value, np.ndarray) and value.flags.writeable
    return _copied_into(value, before) if writable else None


def _restore(values, saved) -> None:
    """Put back what arrays and objects held."""
    for value, copies in zip(values, saved, strict=True):
        if isinstance(value, tuple) and copies is not None:
            _restore(value, copies)
        elif is_object(value) and copies is not None:
            for name, (attribute, before) in copies.items():
                setattr(value, name, attribute)
                _restore([attribute], [before])
        elif copies is not None:
            value[...] = copies


def _shapes(state: Mapping[str, np.ndarray]) -> dict[str, tuple[int, ...]]:
    """Shapes of what every state of one program has alike."""
    return {name: x.shape for name, x in state.items() if name not in ("met", "zero")}
