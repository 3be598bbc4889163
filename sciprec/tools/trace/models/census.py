"""An ordinary run of a model, which shows what kernels it calls, and in which time steps."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from sciprec.arrays.quantization import quantize
from sciprec.foundation.errors import InputError
from sciprec.foundation.time_steps import listening
from sciprec.instruments.assigning.assignment import AssignedBackend
from sciprec.precision.compiled.disk_cache import ENGINE
from sciprec.precision.formats.backend import Backend, HandedBackend, uniform_backend
from sciprec.precision.lifting.lifting import lift
from sciprec.tools.trace.attribution import TracedKernel, arithmetics_of, require_traceable
from sciprec.tools.trace.models.steps import StepLog
from sciprec.tools.trace.needed_memory import Arrays

Runner = Callable[[Backend], Any]
"""A program to trace: it computes with the kernels of a backend, and gives results."""


CallPlace = tuple[str, str, int]
"""File, function and line of a call."""
NOWHERE = "", "", 0
_HAND_ON = tuple(f"sciprec.{room}." for room in (*ENGINE, "tools.trace"))
_PACKAGE = str(Path(__file__).parents[3]) + os.sep
HANDS_ON = "_hands_on_arrays"
"""Name that other modules define whose functions, too, are no place of a model."""


def place() -> CallPlace:
    """The place in a model that rounds an array: functions called `rounded` hand that on."""
    frame = inspect.currentframe()
    while frame is not None:
        named, code = str(frame.f_globals.get("__name__")), frame.f_code
        hands_on = named.startswith(_HAND_ON) or HANDS_ON in frame.f_globals
        if not hands_on and code.co_name not in ("rounded", "<genexpr>"):
            return code.co_filename, code.co_name, frame.f_lineno
        frame = frame.f_back
    return NOWHERE


def is_of_package(file: str) -> bool:
    """Whether a file is one of this package, and no user's."""
    return file.startswith(_PACKAGE)


def handed(backend: Backend, maker) -> HandedBackend:
    """A backend whose kernels a maker makes."""
    roles = backend.storage, backend.compute, backend.accumulate, backend.matmul
    return HandedBackend(backend.name, *roles, about=backend.about, maker=maker)


@dataclass(frozen=True)
class Lifting:
    """A kernel in the arithmetic in which a model calls it.

    Args:
        kernel: the plain Python function.
        backend: no handed one.
    """

    kernel: Any
    backend: Backend

    @property
    def name(self) -> str:
        """The kernel's."""
        return self.kernel.__name__

    def traced(self, technique: str, lanes: int) -> TracedKernel:
        """The (shared) kernel compiled with companions."""
        return _traced(self.kernel, self.backend, technique, lanes)

    @cached_property
    def storage(self) -> Backend:
        """The backend that rounds to the kernel's storage format."""
        return uniform_backend(f"{self.backend.name} storage", self.backend.storage)


@lru_cache(maxsize=64)
def _traced(kernel, backend: Backend, technique: str, lanes: int) -> TracedKernel:
    return TracedKernel(kernel, backend, technique, lanes)


def with_backend(function: Any, backend: Backend) -> Callable[..., Any]:
    """A function that says its arithmetic, as a lifted kernel does."""
    function.backend = backend
    return function


def plain(backend: Backend) -> Backend:
    """A backend by itself, of a handed one; an assignment's as it is."""
    traced = getattr(getattr(backend, "maker", None), "backend", None)
    if isinstance(traced, AssignedBackend) and traced.name == backend.name:
        return traced
    return Backend(
        backend.name, backend.storage, backend.compute, backend.accumulate, backend.matmul,
        backend.noise, backend.about,
    )  # fmt: skip


class Census:
    """An ordinary run that notes which kernels are called.

    Attributes:
        kernels: those that were called, in the order of their first calls -> what they returned.
        calls: how many calls there were.
        roundings: where `quantize` was called, outside of the engine.
        callers: kernels of the engine that a user's model makes use of, as that of `update` -> the
            places of the model that do.
        bits: of the narrowest format that anything is rounded to.
        arrays: that kernels were given.
        log: what it says of its time steps.
        results: what the program gave.

    Args:
        program: what is traced.
        backend: a traceable arithmetic.
    """

    def __init__(self, program: Runner, backend: Backend) -> None:
        self.backend, self.carrier = backend, backend.carrier
        self.kernels: dict[Any, Any] = {}
        self.calls = 0
        self.roundings: dict[CallPlace, None] = {}
        self.callers: dict[Any, dict[CallPlace, None]] = {}
        self.bits = fewest_bits(backend)
        self.arrays, self.log = Arrays(), StepLog()
        with listening(self.log):
            self.results = program(handed(backend, self))
        self.log.ended()

    def lifted(self, kernel, backend: Backend, trust_inputs: bool) -> Callable[..., Any]:
        """The kernel as ever, its calls noted."""
        arithmetic = plain(backend)
        require_alike(kernel.__name__, arithmetic, self.backend)
        self.bits = min(self.bits, fewest_bits(arithmetic))
        ordinary = lift(kernel, arithmetic, trust_inputs=trust_inputs)
        of_engine = is_of_package(kernel.__code__.co_filename)

        def noted(*args, **kwargs):
            self.log.met()
            if of_engine and not is_of_package((at := place())[0]):
                self.callers.setdefault(Lifting(kernel, arithmetic), {}).setdefault(at)
            result = ordinary(*args, **kwargs)
            self.kernels.setdefault(Lifting(kernel, arithmetic), result)
            self.arrays.note((*args, *kwargs.values()), result)
            self.calls += 1
            return result

        return with_backend(noted, backend)

    def rounding(self, backend: Backend) -> Callable[[np.ndarray, np.ndarray], None]:
        """`quantize` as ever, the places that call it noted."""
        self.bits = min(self.bits, plain(backend).storage.format.significand_bits)

        def noted() -> None:
            self.roundings.setdefault(place())
            self.log.met(rounds=True)

        return rounding_of(plain(backend), before=noted)

    def called_kernel(self, kernel, backend: Backend) -> Lifting:
        """The kernel that was called here, of a function that is defined again in every run.

        Raises:
            InputError: it was not called.
        """
        lifting = Lifting(kernel, plain(backend))
        if lifting in self.kernels:
            return lifting
        for other in self.kernels:
            if other.backend == lifting.backend and same_function(other.kernel, kernel):
                return other
        raise InputError(
            f"kernel '{kernel.__name__}' is called in one run of the model and not in another; "
            "trace takes models that do the same in every run"
        )


def same_function(first: Any, second: Any) -> bool:
    """Whether two functions, or what they name, are the same thing made twice."""
    if first is second:
        return True
    if not (inspect.isfunction(first) and inspect.isfunction(second)):
        return type(first) is type(second) and np.array_equal(first, second)
    return first.__code__ == second.__code__ and all(
        map(same_function, _named_by(first), _named_by(second))
    )  # fmt: skip


def _named_by(function) -> list[Any]:
    """Return the objects that the code of a function finds in its closure and its module."""
    objects = [cell.cell_contents for cell in function.__closure__ or ()]
    return objects + [function.__globals__.get(name) for name in function.__code__.co_names]


def rounding_of(
    backend: Backend, before: Callable[[], None]
) -> Callable[[np.ndarray, np.ndarray], None]:
    """A function (values, out) that rounds to the storage format, and does something before."""

    def rounded(values: np.ndarray, out: np.ndarray) -> None:
        before()
        out[...] = quantize(values, backend)

    return rounded


def require_alike(kernel: str, backend: Backend, traced: Backend) -> None:
    """Refuse a kernel of a model whose arithmetic cannot be traced beside that of the rest."""
    require_traceable(backend)
    if backend.carrier != traced.carrier:
        raise InputError(
            f"kernel '{kernel}' of the model computes in '{backend.name}', held in "
            f"{backend.carrier} variables, other kernels in '{traced.name}', held in "
            f"{traced.carrier}; trace needs the same kind of variables for all"
        )


def fewest_bits(backend: Backend) -> int:
    """Return the bits of the narrowest format that a backend's numbers are rounded to."""
    if isinstance(backend, AssignedBackend):
        return arithmetics_of(backend)[0].format.significand_bits
    return min(role.format.significand_bits for role in backend.roles)
