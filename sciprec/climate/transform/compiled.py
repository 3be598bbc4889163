"""Lifted kernels that the runs of one process share, and the state that some of them have.

Kernels with random bits count their calls, kernels in fixed point adapt their units and count what
they did: both go into checkpoints, and from there into the kernels of another process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Protocol, runtime_checkable
from zlib import crc32

import numpy as np

from sciprec.climate.transform.spectral import keeping_sums, suited, with_stages
from sciprec.instruments.assigning.matching import kept_kernel
from sciprec.precision import Backend, lift, resolve_backend
from sciprec.precision.lifting.lifted import Lifted
from sciprec.precision.operations.keys import mix

staged = lru_cache(maxsize=64)(with_stages)
"""`with_stages`, the same function again for the same arguments."""
_SPREAD = 0x9E3779B9


class Drawing:
    """A lifted kernel with random bits: the n-th call draws the n-th stream.

    Args:
        kernel: the plain Python kernel.
        backend: an arithmetic with random bits.

    Attributes:
        name: of the kernel, as a number: its streams differ from those of others.
        calls: how many were made; the next one depends on it and on nothing else.
    """

    def __init__(self, kernel: Callable, backend: Backend) -> None:
        self._enter = lift(kernel, backend, trust_inputs=True).dispatcher
        self.name = crc32(kernel.__name__.encode())
        self._first = mix(self.name)
        self.calls = 0

    def __call__(self, *args):
        """Run the kernel."""
        key = mix(self._first + self.calls * _SPREAD)
        self.calls += 1
        return self._enter(np.uint32(key), *args)

    def draw_for(self, seed: int, member: int) -> None:
        """Draw the streams of a member of an ensemble, other ones than those of member 0."""
        number = mix(member + mix(seed ^ mix(seed >> 32))) if member else 0
        self._first = mix(self.name ^ number)

    def state(self) -> dict[str, np.ndarray]:
        """Return the state that the next call depends on."""
        return {"calls": np.array(self.calls)}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Go on from the `state` of another."""
        self.calls = int(state["calls"])


@runtime_checkable
class Remembering(Protocol):
    """Per-kernel state (calls with random bits, fixed-point units) that checkpoints save and
    restore.
    """

    def state(self) -> dict[str, np.ndarray]: ...

    def restore(self, state: Mapping[str, np.ndarray]) -> None: ...


def compiled(kernel: Callable, backend: str | Backend) -> Drawing | Lifted:
    """The lifted kernel, inputs trusted.

    Kernels have state, numbers of calls or units, where bits are random and in fixed point. There
    every call makes a kernel of its own.

    Args:
        kernel: the plain Python kernel.
        backend: the arithmetic.
    """
    arithmetic = resolve_backend(backend)
    if arithmetic.random:
        return Drawing(kernel, arithmetic)
    if arithmetic.fixed:
        return lift(suited(kernel, arithmetic), arithmetic, trust_inputs=True).keep_rooms()
    return kept_kernel(_shared(kernel, arithmetic))


@lru_cache(maxsize=512)
def _shared(kernel: Callable, backend: Backend):
    return lift(kernel, keeping_sums(backend), trust_inputs=True)


def kernel_states(kernels: Sequence) -> dict[str, np.ndarray]:
    """Return the state of kernels that their next calls depend on besides their arguments, as
    arrays; nothing for plain floats.

    Args:
        kernels: from `compiled`; fixed-point ones have run at least once.
    """
    return {
        f"{n}_{name}": values
        for n, kernel in enumerate(kernels)
        if isinstance(kernel, Remembering)
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
        state = {
            name.removeprefix(f"{n}_"): values
            for name, values in states.items()
            if name.startswith(f"{n}_")
        }
        if state:
            kernel.restore(state)
