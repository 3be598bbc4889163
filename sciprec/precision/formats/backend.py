"""Backends: which arithmetic each role of a computation uses. One table, and spec strings beside
it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from sciprec.foundation.arguments import names, shown
from sciprec.foundation.errors import InputError, meant
from sciprec.foundation.later import BACKEND_MAKERS, NAMED_BACKENDS
from sciprec.foundation.listing import Listing, Shown, Summary, counted
from sciprec.foundation.loading import load_plugins
from sciprec.precision.formats.fixed_format import (
    ACCUMULATOR,
    FIXED16,
    FIXED32,
    FIXED_ROUNDINGS,
    FixedFormat,
    parse_fixed_spec,
)
from sciprec.precision.formats.float_format import (
    ALIASES,
    FORMATS,
    Format,
    parse_spec,
    spec_of_bits,
    unfit_random_bits,
    unfit_rounding,
    unfit_virtual_bits,
)
from sciprec.precision.formats.rounding_rules import ROUNDINGS, Rounding

TRUTH = "fp64"
"""Name of the backend that others are compared with."""
_OF_ROUNDINGS = "random_bits", "virtual_bits"
"""Keys that may follow the rounding of a standard format."""
_ROLES = ("storage", "compute", "accumulate", "matmul")


@dataclass(frozen=True)
class Arithmetic:
    """A format and the rounding of every result into it.

    Args:
        format: of numbers.
        rounding: a name in `ROUNDINGS`.
        aligned: whether additions have no guard bits.
        random_bits: of a stochastic rounding that draws few, as hardware does: r of them go up
            with the probability floor(2^r f) / 2^r, where f last places are lost; left out, as
            many as `rounding.stochastic` draws.
        virtual_bits: of Monte Carlo arithmetic, its virtual precision t: noise is uniform between
            -2^(e - t) and 2^(e - t), 2^e <= |x| < 2^(e + 1); left out, the format's bits.

    Raises:
        InputError: the rounding is unknown, or not offered for the format.
    """

    format: Format | FixedFormat
    rounding: str = "rn"
    aligned: bool = False
    random_bits: int | None = None
    virtual_bits: int | None = None

    def __post_init__(self) -> None:
        fmt, roundings = self.format, FIXED_ROUNDINGS if self.fixed else ROUNDINGS
        if self.rounding not in roundings:
            raise InputError(
                f"unknown rounding {shown(self.rounding)} of '{fmt.name}'; known: "
                f"{', '.join(roundings)}"
            )
        wrong = unfit_random_bits(self.rounding, self.random_bits)
        if not isinstance(fmt, FixedFormat):
            bits = fmt.significand_bits
            wrong = wrong or unfit_virtual_bits(self.rounding, self.virtual_bits, bits)
            wrong = unfit_rounding(self.rounding, fmt) or wrong
        if wrong:
            raise InputError(f"'{fmt.name}': {wrong}")

    def __repr__(self) -> str:
        """The call that makes it, for generated modules; the virtual precision where it has one."""
        values = [(f.name, getattr(self, f.name)) for f in fields(self)]
        entries = [(name, value) for name, value in values if name != "virtual_bits" or value]
        return f"Arithmetic({', '.join(f'{name}={value!r}' for name, value in entries)})"

    @property
    def name(self) -> str:
        """The format and the rounding, as a spec string."""
        values = [(key, getattr(self, key)) for key in _OF_ROUNDINGS]
        more = "".join(f",{key}={value}" for key, value in values if value is not None)
        usual = self.rounding == "rn" and self.format.name.startswith("float:e=")
        return self.format.name if usual else f"{self.format.name},round={self.rounding}{more}"

    @property
    def rule(self) -> Rounding:
        """The rounding's row."""
        return ROUNDINGS[self.rounding]

    @property
    def fixed(self) -> bool:
        """Whether numbers are integers with a unit that belongs to their place."""
        return isinstance(self.format, FixedFormat)

    @property
    def words(self) -> str:
        """Format and rounding in a few words."""
        fmt, rounding = self.format, self.rule.words
        if isinstance(fmt, FixedFormat):
            return f"integers of {fmt.bits} bits, a unit for each place, {rounding}"
        flushed = "" if fmt.subnormals else ", subnormals flushed"
        return (
            f"{fmt.significand_bits} significant bits, exponents {fmt.emin} to {fmt.emax}, "
            f"{rounding}{flushed}"
        )

    @property
    def rounding_error(self) -> float:
        """The largest relative error of one rounding: the format's unit roundoff u = 2^-p to
        nearest, 2 u otherwise, and u + 2^-t where noise is added.
        """
        u = self.format.unit_roundoff
        if self.rule.noisy:
            return u + 2.0 ** -(self.virtual_bits or self.format.significand_bits)
        return u if self.rule.nearest else 2 * u

    @property
    def beyond(self) -> str:
        """The result of rounding a finite number beyond the largest one."""
        fmt, (above, below) = self.format, self.rule.overflows
        if self.fixed or fmt.overflow == "saturate" or above and below:
            return fmt.overflow
        return "largest below" if above else "largest above" if below else "largest"

    @property
    def native(self) -> np.dtype | None:
        """The dtype in which the processor does this arithmetic by itself, or None."""
        if self.rule.mode == 0 and not self.aligned:
            if self.format.is_binary64:
                return np.dtype(np.float64)
            if self.format.is_binary32:
                return np.dtype(np.float32)
        return None

    @property
    def fits_binary32(self) -> bool:
        """Whether binary32 variables hold every number of the format."""
        fmt = self.format
        return (
            not isinstance(fmt, FixedFormat)
            and fmt.significand_bits <= 24
            and fmt.emax <= 127
            and fmt.emin >= -126
            and fmt.emin - fmt.significand_bits + 1 >= -149
        )


@dataclass(frozen=True)
class Backend:
    """The arithmetic of each role of a computation.

    Args:
        name: how the backend is called in scenarios, files and tables.
        storage: format of array elements.
        compute: every operator and elementary function.
        accumulate: sums inside `sum`, `dot` and matrix products, and those of products that a loop
            forms (see `rewriting.contractions`).
        matmul: products inside `dot` and matrix products, and in such loops.
        noise: None, or the interval of the relative perturbation on each store to an array.
        about: one line for tables.

    Raises:
        InputError: floats and fixed point stand beside each other in other roles than these.
    """

    name: str
    storage: Arithmetic
    compute: Arithmetic
    accumulate: Arithmetic
    matmul: Arithmetic
    noise: tuple[float, float] | None = None
    about: str = ""

    def __post_init__(self) -> None:
        floats = {role.format for role in self.roles if not role.fixed}
        products_alone = [role.fixed for role in self.roles] == [False, False, False, True]
        if self.fixed and floats and not (products_alone and len(floats) == 1):
            raise InputError(
                f"backend '{self.name}' mixes roles in fixed point with roles in floating point; "
                "accepted: all roles in fixed point, or matmul alone in fixed point and the others "
                "in one floating-point format"
            )
        if self.fixed and self.random:
            raise InputError(
                f"backend '{self.name}' computes products in fixed point and rounds other roles "
                "at random (rounding 'sr', or noise); fixed point goes with a rounding that is not "
                "random: give 'rn', and no noise"
            )

    @property
    def roles(self) -> tuple[Arithmetic, ...]:
        """storage, compute, accumulate, matmul."""
        return self.storage, self.compute, self.accumulate, self.matmul

    @cached_property
    def has_one_format(self) -> bool:
        """Whether all roles have one format, so that a number of one is a number of every other."""
        return len({role.format for role in self.roles}) == 1

    @cached_property
    def forms_sums(self) -> bool:
        """Whether sums of products have another arithmetic than operators."""
        return {self.accumulate, self.matmul} != {self.compute}

    @cached_property
    def mixed(self) -> bool:
        """Whether floating-point roles differ in format: numbers are rounded on their way."""
        return not (self.has_one_format or self.fixed)

    @cached_property
    def carrier(self) -> np.dtype:
        """The dtype whose variables hold every number of the backend exactly."""
        return np.dtype(np.float32 if all(r.fits_binary32 for r in self.roles) else np.float64)

    @cached_property
    def random(self) -> bool:
        """Whether results use counter-based random bits (stochastic rounding or noise)."""
        return self.noise is not None or any(r.rule.random for r in self.roles)

    @cached_property
    def fixed(self) -> bool:
        """Whether a role is fixed point: its places have units, found by a profiling run."""
        return any(r.fixed for r in self.roles)

    def require_taken_by(self, user: str) -> None:
        """Make sure that a user other than `lift` takes this backend; one that is of kernels alone
        refuses.
        """

    @property
    def words(self) -> str:
        """The arithmetic in a line: that of the operators, and which roles have another one."""
        words, roles_of = [self.compute.words], dict[str, list[str]]()
        for role, arithmetic in zip(_ROLES, self.roles, strict=True):
            if arithmetic != self.compute:
                roles_of.setdefault(arithmetic.words, []).append(role)
        words += [f"{' and '.join(roles)} in {text}" for text, roles in roles_of.items()]
        if self.compute.aligned:
            words.append("sums aligned first, without guard bits")
        if self.noise is not None:
            least, most = self.noise
            words.append(f"a relative perturbation of {least:g} to {most:g} on each store")
        return "; ".join(words)


class MakesBackend(Protocol):
    """The protocol of objects that are given in the place of a backend, and make one."""

    def as_backend(self) -> Backend: ...


class KernelMaker(Protocol):
    """A maker of the kernels and roundings of a model, in the place of `lift` and `quantize`."""

    @property
    def carrier(self) -> np.dtype: ...

    def lifted(
        self, kernel: Callable[..., Any], backend: Backend, trust_inputs: bool
    ) -> Callable[..., Any]: ...

    def rounding(self, backend: Backend) -> Callable[[np.ndarray, np.ndarray], None]: ...


def copied(values: np.ndarray, out: np.ndarray) -> None:
    """Store numbers as they are: the rounding of makers that round in kernels alone."""
    out[...] = values


@dataclass(frozen=True, eq=False)
class HandedBackend(Backend):
    """A backend whose kernels a maker makes: a model that is given it computes with them, whatever
    way it takes to `lift`. It is equal to itself alone.

    Args:
        maker: a KernelMaker: the dtype of the model's own arrays, and `lift` and `quantize`.
    """

    maker: KernelMaker = field(kw_only=True)

    __eq__, __hash__ = object.__eq__, object.__hash__

    @property
    def carrier(self) -> np.dtype:
        """The dtype of the maker's arrays."""
        return self.maker.carrier

    def require_met(self, kernel: Callable[..., Any]) -> None:
        """Make sure that a kernel is such as the maker expects."""


def handed_as(backend: Backend, handed: Backend) -> Backend:
    """A backend whose kernels the maker of a handed one makes, too; beside others as it is."""
    if not isinstance(handed, HandedBackend) or isinstance(backend, HandedBackend):
        return backend
    return HandedBackend(
        backend.name, backend.storage, backend.compute, backend.accumulate, backend.matmul,
        backend.noise, backend.about, maker=handed.maker,
    )  # fmt: skip


def uniform_backend(name: str, arithmetic: Arithmetic, **more) -> Backend:
    """A backend whose roles all use the same arithmetic."""
    return Backend(name, arithmetic, arithmetic, arithmetic, arithmetic, **more)


def fixed_backend(name: str, arithmetic: Arithmetic, **more) -> Backend:
    """A fixed-point backend: products and their sums are kept in the accumulator's width."""
    wide = Arithmetic(ACCUMULATOR, arithmetic.rounding)
    return Backend(name, arithmetic, arithmetic, wide, wide, **more)


_MLU370 = Arithmetic(FORMATS["mlu370"], "rz")
_FP32 = Arithmetic(FORMATS["binary32"])
_UNIFORM = (
    ("fp64", Arithmetic(FORMATS["binary64"]), "IEEE binary64, the truth"),
    ("fp32", _FP32, "IEEE binary32"),
    ("fp16", Arithmetic(FORMATS["binary16"]), "IEEE binary16"),
    ("bf16", Arithmetic(FORMATS["bfloat16"]), "bfloat16, subnormals kept"),
    ("tf32", Arithmetic(FORMATS["tf32"]), "TensorFloat-32 as a 19-bit format"),
    ("e4m3fn", Arithmetic(FORMATS["float8_e4m3fn"]), "OCP FP8 E4M3, no infinity"),
    ("e5m2", Arithmetic(FORMATS["float8_e5m2"]), "OCP FP8 E5M2"),
    ("mlu370", _MLU370, "Cambricon MLU370 float: 20 of 23 bits, truncated, flushed"),
    ("mlu370-noguard", replace(_MLU370, aligned=True),
     "mlu370 whose additions align to 21 bits first, no guard bits"),
)  # fmt: skip
"""Name, arithmetic of every role, and line for tables."""
_BACKENDS = {b.name: b for b in (
    *(uniform_backend(name, arithmetic, about=about) for name, arithmetic, about in _UNIFORM),
    uniform_backend("mlu370-noise", _MLU370, noise=(1e-7, 1e-5),
                    about="mlu370 with a relative perturbation in [1e-7, 1e-5] on each store"),
    *(fixed_backend(fmt.name, Arithmetic(fmt),
                    about=f"{fmt.bits}-bit integers, a power-of-two unit per place")
      for fmt in (FIXED32, FIXED16)),
    Backend("mix-fp32-fix16", _FP32, _FP32, _FP32, Arithmetic(FIXED16),
            about="binary32; products of sums and matrices in 16-bit integers"),
)}  # fmt: skip


def backends_listing(rows: Sequence[dict[str, Any]]) -> Listing:
    """One line per backend.

    Args:
        rows: of `table`.
    """
    lines = []
    for row in rows:
        fixed = row["max_finite"] is None  # every place has a unit, and so a range, of its own
        lines.append((
            row["name"], row["rounding"], row["subnormals"] or "–", row["overflow"],
            str(row["significand_bits"]), "–" if fixed else f"{row['emin']} … {row['emax']}",
            f"{row['unit_roundoff']:.2g}", "–" if fixed else f"{row['max_finite']:.3g}",
            row["about"],
        ))  # fmt: skip
    return Listing(
        ("name", "rounding", "subnormals", "overflow"),
        ("bits", "exponents", "unit roundoff", "largest"),
        lines,
        ("about",),
        droppable=("about", "overflow", "largest", "unit roundoff", "subnormals"),
    )


class Backends(Shown, dict[str, Backend]):
    """Backends by name: a dictionary that is shown as a table."""

    def _summary(self) -> Summary:
        rows = [_row(backend) for backend in self.values()]
        return Summary(counted(len(self), "arithmetic"), backends_listing(rows))


def backends() -> Backends:
    """All named backends, by name, in the order of the table; after it, formats that were added,
    those of installed packages among them.
    """
    load_plugins()
    named_formats = {backend.compute.format.name for backend in _BACKENDS.values()}
    added = [_of_format(fmt) for fmt in FORMATS.values() if fmt.name not in named_formats]
    handed = {name: make() for name, make in NAMED_BACKENDS.items()}
    return Backends(_BACKENDS | handed | {backend.name: backend for backend in added})


def _of_format(fmt: Format) -> Backend:
    """The backend of a format that was added."""
    about = f"{fmt.significand_bits} significand bits"
    return uniform_backend(fmt.name, Arithmetic(fmt), about=about)


def resolve_backend(backend: str | Backend | Format | Arithmetic | MakesBackend) -> Backend:
    """The backend of that name, standard format name ("binary32", "binary32,round=rz") or spec
    string; a Backend is returned as it is. "assignment:PATH" and an Assignment are backends, too.

    Raises:
        InputError: unknown name or malformed spec, with the known ones and the nearest.
    """
    if isinstance(backend, Backend):
        return backend
    if isinstance(backend, Format):
        return uniform_backend(backend.name, Arithmetic(backend))
    if isinstance(backend, Arithmetic):
        return uniform_backend(backend.name, backend)
    if hasattr(backend, "as_backend"):
        return backend.as_backend()
    if not isinstance(backend, str):
        raise InputError(
            f"backend is {shown(backend)}; give a name such as 'mlu370', "
            "a spec string such as 'float:p=11,round=rz', a sciprec Backend or an Assignment"
        )
    if backend in _BACKENDS:
        return _BACKENDS[backend]
    if backend in NAMED_BACKENDS:
        return NAMED_BACKENDS[backend]()
    if backend.startswith("float:"):
        fmt, rounding, few = parse_spec(backend)
        return resolve_backend(Arithmetic(fmt, rounding, random_bits=few))
    if backend.startswith("fixed:"):
        fixed, rounding = parse_fixed_spec(backend)
        arithmetic = Arithmetic(fixed, rounding)
        return fixed_backend(arithmetic.name, arithmetic)
    kind = backend.partition(":")[0]
    if kind == "matrix":
        raise InputError(
            f"'{backend}' is a matrix unit, which multiplies and does nothing else; it is accepted "
            "for the Legendre products of a climate run: stages with the key 'legendre' or 'kept', "
            "such as legendre = 'matrix:table=int8,field=fp16'"
        )
    if kind in BACKEND_MAKERS:
        return BACKEND_MAKERS[kind](backend)
    name, equals, rounding = backend.partition(",round=")
    standard = ALIASES.get(name, name)
    if standard in FORMATS and equals:
        more: dict[str, Any] = {}
        for key in _OF_ROUNDINGS:
            rounding, separator, value = rounding.partition(f",{key}=")
            if separator:
                more[key] = int(value) if value.isdecimal() else value
        return resolve_backend(Arithmetic(FORMATS[standard], rounding, **more))
    for candidate in _BACKENDS.values():
        if candidate.compute.format.name == standard and candidate.compute.rounding == "rn":
            if equals and rounding != "rn":
                raise InputError(
                    f"backend '{backend}' names a rounding of '{name}', which has its own; give "
                    "one of a standard format, such as 'fp16,round=rz', or a spec string, such as "
                    "'fixed:bits=32,round=rz'"
                )
            return candidate
    if standard in FORMATS:
        return _of_format(FORMATS[standard])
    if spec := spec_of_bits(backend):
        return resolve_backend(spec)
    registered = backends()
    known_names = [*registered, *ALIASES, *FORMATS]
    several = [part.strip() for part in backend.split(",")]
    if len(several) > 1 and set(several) <= set(known_names):
        raise InputError(
            f"'{backend}' is several backends in one word; accepted: one, such as '{several[0]}'; "
            "where several are taken, --backend is given once for each, and in Python a list"
        )
    raise InputError(
        f"unknown backend '{backend}'; known: {', '.join(registered)}, "
        "or a spec string such as 'float:e=6,m=5' (or 'e6m5'), "
        "'float:p=11,emin=-14,emax=15,round=rz' or "
        f"'fixed:bits=24'{meant(backend, known_names)}"
    )


def backend_names(items: Any) -> list[str]:
    """Names of arithmetics from names, and from assignments in their place.

    Raises:
        InputError: something is neither.
    """
    if hasattr(items, "as_backend"):
        items = [items]
    if isinstance(items, (list, tuple)):
        items = [item.as_backend().name if hasattr(item, "as_backend") else item for item in items]
    return list(names("backends", items))


def table() -> list[dict]:
    """Return one row per named backend with its properties, for `sciprec list backends`."""
    return [_row(b) for b in backends().values()]


def _row(backend: Backend) -> dict:
    fmt, fixed = backend.compute.format, backend.compute.fixed
    return {
        "name": backend.name,
        "format": fmt.name,
        "significand_bits": fmt.significand_bits,
        "emin": fmt.emin,
        "emax": fmt.emax,
        "rounding": backend.compute.rule.words,
        "subnormals": None if fixed else "kept" if fmt.subnormals else "flushed",
        "overflow": backend.compute.beyond,
        "unit_roundoff": fmt.unit_roundoff,
        "max_finite": None if isinstance(fmt, FixedFormat) else fmt.max_finite,
        "min_positive": None if isinstance(fmt, FixedFormat) else fmt.min_positive,
        "carrier": backend.carrier.name,
        "about": backend.about,
    }
