"""Lifted kernels that the runs of one process share."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from sciprec.climate.transform import with_stages
from sciprec.precision import Backend, lift, resolve_backend

staged = lru_cache(maxsize=64)(with_stages)
"""`with_stages`, the same function again for the same arguments."""


def compiled(kernel: Callable, backend: str | Backend):
    """The lifted kernel, inputs trusted.

    Kernels have state, numbers of calls or units, where bits are random and in fixed point. There
    every call makes a kernel of its own.

    Args:
        kernel: the plain Python kernel.
        backend: the arithmetic.
    """
    found = resolve_backend(backend)
    if found.random or found.fixed:
        return lift(kernel, found, trust_inputs=True)
    return _shared(kernel, found)


@lru_cache(maxsize=512)
def _shared(kernel: Callable, backend: Backend):
    return lift(kernel, backend, trust_inputs=True)
