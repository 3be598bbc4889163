"""The subject of a trace, a kernel with its arguments in an arithmetic, and runs of it."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from sciprec.arrays.quantization import quantize
from sciprec.foundation.alike import tuple_like
from sciprec.foundation.arguments import choice, names, refused
from sciprec.foundation.errors import InputError
from sciprec.instruments.tracing.table import Table
from sciprec.precision.formats.backend import Backend
from sciprec.tools.trace.attribution import LANES_BESIDE, Result, TracedKernel, stored_in

SEED = 20261123
"""Seed of the perturbations of inputs."""


class Problem:
    """A kernel and its arguments in an arithmetic.

    Args:
        function: the plain Python function.
        backend: the arithmetic of tested values.
        args: in the order of the parameters.
        output: names of the results that count, or None for all.
        lanes: how many numbers beside a value runs of parts have.
        metric: by which results err, of `metrics.METRICS`.
        verb: what is done, in sentences of refusal.

    Attributes:
        passes: how often the kernel has been run.
    """

    def __init__(
        self, function, backend: Backend, args: tuple, output: str | Iterable[str] | None,
        lanes: int, metric: str = "relative_l2", verb: str = "trace",
    ):  # fmt: skip
        self.function, self.backend, self.args, self.verb = function, backend, args, verb
        self.output, self.lanes, self.metric, self.passes = output, lanes, metric, 0

    def kernel(self, technique: str) -> TracedKernel:
        """The kernel compiled with companions of a kind."""
        lanes = LANES_BESIDE.get(technique, self.lanes)
        return _compiled(self.function, self.backend, technique, lanes)

    def table(self, technique: str) -> Table:
        """The table of a run."""
        return self.kernel(technique).table()

    def run(
        self, technique: str, table: Table, args: tuple | None = None,
        of_arguments: Mapping[str, int] | None = None, unrounded: Iterable[str] = (),
        moved: Mapping[str, np.ndarray] | None = None,
    ) -> list[Result]:  # fmt: skip
        """The results that count of a run, see `TracedKernel.run`."""
        self.passes += 1
        call_args = self.args if args is None else args
        with np.errstate(all="ignore"):
            results = self.kernel(technique).run(call_args, table, of_arguments, unrounded, moved)
        return _chosen(results, self.output, self.verb)

    def perturbed(self, count: int) -> list[tuple]:
        """Return the arguments, floating-point ones moved by up to four units of the format; the
        first ones as they are. Numbers of the format stay in its range.
        """
        rng = np.random.default_rng(SEED)
        return [self.args, *(tuple(moved(a, self.backend, rng) for a in self.args)
                             for _ in range(count - 1))]  # fmt: skip


def moved(argument: Any, backend: Backend, rng: np.random.Generator, units: float = 4.0) -> Any:
    """An argument, its floating-point numbers perturbed by `displacement`; of tuples each."""
    if isinstance(argument, tuple):
        return tuple_like(argument, (moved(a, backend, rng, units) for a in argument))
    if isinstance(argument, (float, np.floating)):
        number = moved(np.array([argument], np.float64), backend, rng, units)[0]
        return type(argument)(number)
    if not isinstance(argument, np.ndarray) or argument.dtype.kind != "f":
        return argument
    values = np.asarray(argument, np.float64)
    perturbed = values + displacement(values, backend, rng, units)
    return np.where(np.isfinite(perturbed), perturbed, values).astype(argument.dtype)


def displacement(
    values: np.ndarray, backend: Backend, rng: np.random.Generator, units: float = 4.0
) -> np.ndarray:
    """Return by how much numbers are moved where an input is perturbed, so that numbers of the
    format stay in its range.

    Args:
        values: (...), the numbers.
        backend: whose format.
        rng: draws the moves.
        units: how many units of the format these are at most.
    """
    unit = 2.0 * stored_in(backend).format.unit_roundoff
    with np.errstate(all="ignore"):
        factor = 1.0 + units * unit * rng.uniform(-1.0, 1.0, values.shape)
        rounded, shifted = (np.float64(quantize(v, backend)) for v in (values, values * factor))
        apart = shifted - rounded
    return np.where(np.isfinite(apart), apart, 0.0)


@lru_cache(maxsize=32)
def _compiled(function, backend: Backend, technique: str, lanes: int) -> TracedKernel:
    return TracedKernel(function, backend, technique, lanes)


def bound_arguments(function, args: Sequence[Any] | Mapping[str, Any]) -> tuple:
    """The arguments, in the order of the parameters."""
    signature = inspect.signature(function, follow_wrapped=False)
    if not isinstance(args, (Mapping, tuple, list)):
        raise refused("args", args, "a tuple of the kernel's arguments, or a mapping by name")
    try:
        if isinstance(args, Mapping):
            bound = signature.bind(**args)
        else:
            bound = signature.bind(*args)
    except TypeError as error:
        raise InputError(
            f"kernel '{function.__name__}' called wrongly: {error}; it takes "
            f"{function.__name__}{signature}"
        ) from None
    bound.apply_defaults()
    return tuple(np.asarray(a) if isinstance(a, list) else a for a in bound.arguments.values())


def _chosen(results: list[Result], output, verb: str) -> list[Result]:
    """The results that count."""
    existing = [r.name for r in results]
    if not existing:
        raise InputError(
            "the kernel returns no floating-point number and writes none into an argument; "
            f"{verb} takes a kernel that does"
        )
    chosen = chosen_names(existing, output)
    return [r for r in results if r.name in chosen]


def chosen_names(outputs: Sequence[str], output: str | Iterable[str] | None) -> tuple[str, ...]:
    """The names of the results that count; all where none is asked for."""
    if output is None:
        return tuple(outputs)
    chosen = [output] if isinstance(output, str) else list(names("output", output))
    return tuple(choice("output", name, outputs) for name in chosen)
