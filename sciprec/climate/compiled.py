"""Lifted kernels that the runs of one process share, and the state that some of them have.

Kernels with random bits count their calls, kernels in fixed point adapt their units and count what
they did: both go into checkpoints, and from there into the kernels of another process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from zlib import crc32

import numpy as np

from sciprec.climate.transform import with_stages
from sciprec.errors import InputError
from sciprec.precision import Backend, lift, resolve_backend
from sciprec.precision.fixed_lifting import FixedLifted
from sciprec.precision.keys import mix
from sciprec.precision.units import Units

staged = lru_cache(maxsize=64)(with_stages)
"""`with_stages`, the same function again for the same arguments."""
_SPREAD = 0x9E3779B9


class Drawing:
    """A lifted kernel with random bits: the n-th call draws the n-th stream.

    Args:
        kernel: the plain Python kernel.
        backend: an arithmetic with random bits.

    Attributes:
        calls: how many were made; the next one depends on it and on nothing else.
    """

    def __init__(self, kernel: Callable, backend: Backend) -> None:
        self._enter = lift(kernel, backend, trust_inputs=True).dispatcher
        self._first = mix(crc32(kernel.__name__.encode()))
        self.calls = 0

    def __call__(self, *args):
        """Run the kernel."""
        key = mix(self._first + self.calls * _SPREAD)
        self.calls += 1
        return self._enter(np.uint32(key), *args)

    def state(self) -> dict[str, np.ndarray]:
        """What the next call depends on."""
        return {"calls": np.array(self.calls)}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Go on from the `state` of another."""
        self.calls = int(state["calls"])


class Adapting(FixedLifted):
    """A lifted kernel in fixed point that can go on from the state of another."""

    @classmethod
    def of(cls, lifted: FixedLifted) -> Adapting:
        """The given kernel, which is not to be used otherwise from now on."""
        made = cls.__new__(cls)
        vars(made).update(vars(lifted))
        return made

    def state(self) -> dict[str, np.ndarray]:
        """What the next call and the report depend on; nothing before the first call.

        Returns:
            largest (rows,), the sizes that units are made for; met (2, n), places in the table of
            numbers by exponent, and how many were met there; beyond (2, rows), saturations and NaN;
            counts: calls, changes of units, careful calls, and whether all numbers so far were
            zero; zero (rows,), places that made nothing but zeros, where that is known.
        """
        units = self.units
        if units is None:
            return {}
        met = np.flatnonzero(units.spread)
        state = {
            "largest": np.where(units.used, units.largest, 0.0),
            "met": np.stack([met, units.spread.ravel()[met]]),
            "beyond": np.stack([self._saturated, self._invalid]),
            "counts": np.array(
                [self._calls, self._adaptations, self._careful_calls, self._unknown], np.int64
            ),
        }
        return state if units.zero is None else state | {"zero": units.zero}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Go on from the `state` of another; this one has run at least once.

        Raises:
            InputError: the state is of another program.
        """
        own = self.units
        if own is None or _shapes(state) != _shapes(self.state()):
            raise InputError(
                "the checkpoint has units of another version of kernel "
                f"'{self.kernel.__name__}'; remove it to begin again"
            )
        spread = np.zeros_like(own.spread)
        spread.ravel()[state["met"][0]] = state["met"][1]
        self.units = Units(
            own.backend, own.sites, own.rows, state["largest"], spread, state.get("zero")
        )
        self._saturated, self._invalid = state["beyond"].copy()
        *counts, unknown = state["counts"].tolist()
        self._calls, self._adaptations, self._careful_calls = counts
        self._unknown = bool(unknown)


def _shapes(state: Mapping[str, np.ndarray]) -> dict[str, tuple[int, ...]]:
    """Shapes of what every state of one program has alike."""
    return {name: x.shape for name, x in state.items() if name not in ("met", "zero")}


def compiled(kernel: Callable, backend: str | Backend):
    """The lifted kernel, inputs trusted.

    Kernels have state, numbers of calls or units, where bits are random and in fixed point. There
    every call makes a kernel of its own.

    Args:
        kernel: the plain Python kernel.
        backend: the arithmetic.
    """
    found = resolve_backend(backend)
    if found.random:
        return Drawing(kernel, found)
    if found.fixed:
        return Adapting.of(lift(kernel, found, trust_inputs=True))
    return _shared(kernel, found)


@lru_cache(maxsize=512)
def _shared(kernel: Callable, backend: Backend):
    return lift(kernel, backend, trust_inputs=True)


def kernel_states(kernels: Sequence) -> dict[str, np.ndarray]:
    """What kernels will depend on besides their arguments, as arrays; nothing for plain floats.

    Args:
        kernels: from `compiled`; fixed-point ones have run at least once.
    """
    return {
        f"{n}_{name}": values
        for n, kernel in enumerate(kernels)
        if isinstance(kernel, Drawing | Adapting)
        for name, values in kernel.state().items()
    }


def restore_kernels(kernels: Sequence, states: Mapping[str, np.ndarray]) -> None:
    """Put kernels into the state that others had.

    Args:
        kernels: the same ones in the same order as given to `kernel_states`; fixed-point ones have
            run at least once.
        states: from there.
    """
    for n, kernel in enumerate(kernels):
        own = {
            name.removeprefix(f"{n}_"): values
            for name, values in states.items()
            if name.startswith(f"{n}_")
        }
        if own:
            kernel.restore(own)
