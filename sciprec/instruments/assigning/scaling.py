"""Scalings: scales of a model's places, powers of two, and the arithmetic that they move.

A scale 2^k of a place shifts the least and the greatest exponent of its format by -k and changes
nothing else: the bits are those of multiplying what is made there by 2^k, keeping it in the format,
and dividing where it is used.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, cast

import numpy as np

from sciprec.foundation.arguments import choice, integer, refused, shown, word
from sciprec.foundation.errors import InputError
from sciprec.instruments.assigning import rows
from sciprec.precision.formats.backend import (
    Arithmetic,
    Backend,
    HandedBackend,
    resolve_backend,
)
from sciprec.precision.formats.float_format import Format

STATIC, DYNAMIC = "static", "dynamic"
SCALINGS = ("none", STATIC, DYNAMIC)
CLIPPED, KEPT = "clipped", "kept"
GOOD_STEPS = 100
"""Steps without an overflow after which dynamic scales are doubled."""
SCALED = "scaled:"
"""The beginning of names of arithmetics with scales."""
_OF_FORMATS = ("p", "emin", "emax", "round", "subnormals", "overflow")
_OF_NUMBERS = ("times", "good_steps")
_OWN = (*_OF_NUMBERS, "small")
_FARTHEST = 450
"""Exponents reach from -450 to 450 with all bits of a format, as in `float_format`."""
MOST = 200
"""The largest and the smallest scale are 2^200 and 2^-200; see `reach`."""
_SHORT_BITS, _SHORT_REACH = 11, 100


@dataclass(frozen=True)
class Scaling:
    """The way in which the places of a model get their scales.

    Args:
        mode: "static", from a profile; "dynamic", from there on changed where numbers overflow.
        given: (stage, k) of stages whose places have the scale 2^k whatever a profile says.
        times: k of a factor 2^k on all other scales.
        small: "clipped": a place has the smallest number of its format at its scale; "kept": it has
            no smallest number, to see what clipping does.
        good_steps: how many without an overflow there are before dynamic scales are doubled.
    """

    mode: str
    given: tuple[tuple[str, int], ...] = ()
    times: int = 0
    small: str = CLIPPED
    good_steps: int = GOOD_STEPS

    @property
    def carrier(self) -> np.dtype:
        """The dtype of a model's arrays."""
        return np.dtype(np.float64)

    def lifted(self, kernel: Callable, backend: Backend, trust_inputs: bool) -> Any:
        """Refuse: scales belong to places of a model, which a kernel by itself has not.

        Raises:
            InputError: always.
        """
        raise InputError(
            f"'{backend.name}' has scales for the places of a climate model, and is given to the "
            f"kernel '{kernel.__name__}'; give the arithmetic itself, or a format whose exponents "
            "are others, such as 'float:p=11,emin=-24,emax=5'"
        )

    def rounding(self, backend: Backend) -> Callable[[np.ndarray, np.ndarray], None]:
        """Refuse, as `lifted` does."""
        raise InputError(f"'{backend.name}' has scales for the places of a climate model alone")


class ScaledBackend(HandedBackend):
    """An arithmetic of a model whose places have scales; it is equal to others of its name."""

    @property
    def scaling(self) -> Scaling:
        """The way in which the places get their scales."""
        return cast("Scaling", self.maker)

    @property
    def unscaled(self) -> str:
        """The name of the arithmetic without scales."""
        return _read(self.name)[1]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ScaledBackend) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)


def with_scaling(
    backend: Any, scaling: str = "none", scales: Mapping[str, float] | None = None,
    times: float = 1.0, small: str = CLIPPED, good_steps: int = GOOD_STEPS,
) -> Backend:  # fmt: skip
    """The backend whose places have scales; "none" is the backend as it is.

    Args:
        backend: an arithmetic of floats of one format, to nearest, with at most 25 bits.
        scaling: "none", "static" or "dynamic".
        scales: stage -> scale, a power of two, of stages whose scales are given by hand.
        times: a power of two, a factor on the other scales.
        small, good_steps: as in `Scaling`.

    Raises:
        InputError: it cannot be scaled, or a scale is no power of two.
    """
    word("scaling", scaling, SCALINGS)
    if scales is not None and not isinstance(scales, Mapping):
        raise refused("scales", scales, "a mapping from stages to powers of two")
    if scaling == "none":
        if scales or times != 1.0 or small != CLIPPED:
            raise InputError(
                "scales are given without a scaling; give scaling='static' or 'dynamic', or leave "
                "them out"
            )
        return resolve_backend(backend)
    choice("small", small, (CLIPPED, KEPT))
    integer("good_steps", good_steps, 1, 10**6, "a number of steps from 1 to 1000000")
    if scaling == STATIC and good_steps != GOOD_STEPS:
        raise InputError(
            f"good_steps is {shown(good_steps)} beside static scales, which nothing doubles; leave "
            "it out, or give scaling = 'dynamic'"
        )
    resolved = resolve_backend(backend)
    most = reach(resolved.compute)
    exponents = tuple(
        (_stage(name), scale_exponent(f"'{name}'", x, most)) for name, x in (scales or {}).items()
    )
    result = Scaling(scaling, exponents, scale_exponent("'times'", times, most), small, good_steps)
    return _scaled(resolved, result)


def backend_called(name: str) -> Backend:
    """The backend "scaled:static,fp16", "scaled:dynamic,e4m3fn,times=4,advection=1024".

    Raises:
        InputError: it is written otherwise, or cannot be scaled.
    """
    mode, backend, options = _read(name)
    word("scaling", mode, SCALINGS[1:])
    settings: dict[str, Any] = {key: options.pop(key) for key in _OWN if key in options}
    settings |= {key: _number(name, key, settings[key]) for key in _OF_NUMBERS if key in settings}
    steps = settings.get("good_steps", 1.0)
    if not steps.is_integer():
        raise InputError(
            f"malformed scaling '{name}': good_steps={steps:g} is no whole number; write for "
            "example 'scaled:dynamic,fp16,good_steps=50'"
        )
    settings |= {"good_steps": int(steps)} if "good_steps" in settings else {}
    scales = {key: _number(name, key, x) for key, x in options.items()}
    return with_scaling(backend, mode, scales, **settings)


def _stage(name: Any) -> str:
    """The name of a stage, as far as that can be known without a model.

    Raises:
        InputError: it is none, and would mean something else in the name of the backend.
    """
    if not isinstance(name, str) or name in (*_OWN, *_OF_FORMATS) or set(name) & set(",="):
        raise InputError(
            f"unknown stage {shown(name)} among scales; give stages that `sciprec list policies` "
            "lists, as in scales = { advection = 1024.0 }"
        )
    return name


def _read(name: str) -> tuple[str, str, dict[str, str]]:
    """Mode, arithmetic, and what else a name says."""
    mode, *parts = name.removeprefix(SCALED).split(",")
    options: dict[str, str] = {}
    while len(parts) > 1:
        key, equals, value = parts[-1].partition("=")
        if not equals or key.rpartition(":")[2].strip() in _OF_FORMATS:
            break
        if key.strip() in options:
            raise InputError(f"malformed scaling '{name}': '{key.strip()}' is given twice")
        options[key.strip()] = value.strip()
        parts.pop()
    if not parts or not parts[0]:
        raise InputError(
            f"malformed scaling '{name}': it names no arithmetic; write for example "
            "'scaled:static,fp16'"
        )
    return mode, ",".join(parts), dict(reversed(options.items()))


def _number(name: str, key: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(
            f"malformed scaling '{name}': {key}={text!r} is no number; write for example "
            "'scaled:static,fp16,times=0.25'"
        ) from None


def _scaled(backend: Backend, scaling: Scaling) -> ScaledBackend:
    """The backend of an arithmetic with a scaling."""
    arithmetic = backend.compute
    plain = not isinstance(backend, HandedBackend) and len(set(backend.roles)) == 1
    if not (plain and backend.noise is None and _can_be_scaled(arithmetic)):
        raise InputError(
            f"'{backend.name}' cannot have scales; accepted: one format to nearest of at most "
            f"{rows.NEAREST_BITS} bits, with subnormals and without saturation, such as 'fp16', "
            "'bf16' or 'e4m3fn'"
        )
    if scaling.mode == DYNAMIC and scaling.small == KEPT:
        raise InputError(
            "small = 'kept' was given with scaling = 'dynamic'; it goes with scaling = 'static' "
            "alone, where it shows how much the clipping of small numbers changes: leave small "
            "out, or give scaling = 'static'"
        )
    parts = [backend.name]
    parts += [f"times={2.0**scaling.times!r}"] * (scaling.times != 0)
    parts += [f"small={scaling.small}"] * (scaling.small != CLIPPED)
    parts += [f"good_steps={scaling.good_steps}"] * (scaling.good_steps != GOOD_STEPS)
    parts += [f"{stage}={2.0**k!r}" for stage, k in scaling.given]
    about = f"{backend.about or backend.name}, each place of a model with a scale of its own"
    name = f"{SCALED}{scaling.mode},{','.join(parts)}"
    return ScaledBackend(name, *backend.roles, about=about, maker=scaling)


def _can_be_scaled(arithmetic: Arithmetic) -> bool:
    fmt = arithmetic.format
    return (
        isinstance(fmt, Format) and not arithmetic.aligned and not fmt.is_binary64
        and rows.layout_of([arithmetic]) == rows.NEAREST
        and fmt.emax + MOST <= _FARTHEST
        and fmt.emin - fmt.significand_bits + 1 - MOST >= -_FARTHEST
    )  # fmt: skip


def reach(arithmetic: Arithmetic) -> int:
    """The largest k of a scale 2^k of an arithmetic; the smallest is as far below 0. It is less for
    short formats, as far as binary32 holds their numbers at any scale.
    """
    fmt = arithmetic.format
    short = fmt.significand_bits <= _SHORT_BITS and fmt.emax + _SHORT_REACH <= 126
    held = short and fmt.emin - fmt.significand_bits + 1 - _SHORT_REACH >= -125
    return _SHORT_REACH if held else MOST


def scale_exponent(label: str, scale: Any, most: int = MOST) -> int:
    """k of a scale 2^k, from -most to most.

    Raises:
        InputError: it is no power of two, or beyond.
    """
    number = isinstance(scale, numbers.Real) and not isinstance(scale, bool)
    try:
        fraction, exponent = math.frexp(scale if number else 0.0)
    except OverflowError:  # an integer beyond binary64
        fraction, exponent = 0.0, 0
    if fraction != 0.5 or not -most <= exponent - 1 <= most:
        raise InputError(
            f"the scale of {label} is {shown(scale)}; accepted: powers of two from 2^-{most} to "
            f"2^{most}, such as 1024.0 or 0.0625"
        )
    return exponent - 1


def within_reach(exponents: np.ndarray, arithmetic: Arithmetic) -> np.ndarray:
    """k of scales 2^k, none beyond the largest and the smallest that an arithmetic has."""
    most = reach(arithmetic)
    return np.clip(exponents, -most, most)


@lru_cache(maxsize=4096)
def shifted(arithmetic: Arithmetic, k: int, small: str = CLIPPED) -> Arithmetic:
    """The arithmetic of a place with the scale 2^k: its exponents are less by k.

    Args:
        arithmetic: one that can be scaled.
        k: of the scale.
        small: as in `Scaling`.
    """
    fmt = arithmetic.format
    assert isinstance(fmt, Format)
    largest = None if fmt.largest is None else math.ldexp(fmt.largest, -k)
    least = fmt.emin - k if small == CLIPPED else fmt.significand_bits - 1 - _FARTHEST
    name = f"{fmt.name}, times 2^{k}"
    moved = replace(fmt, name=name, emin=least, emax=fmt.emax - k, largest=largest)
    return replace(arithmetic, format=moved)


def without_range(arithmetic: Arithmetic) -> Backend:
    """Rounding to the significands of an arithmetic, in the largest range that is emulated."""
    bits = arithmetic.format.significand_bits
    least = bits - 1 - _FARTHEST
    return resolve_backend(f"float:p={bits},emin={least},emax={_FARTHEST}")
