"""A kernel with some of the kernels that it calls replaced by others of the same signature."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping

from numba.core.dispatcher import Dispatcher


def substitute(
    kernel: types.FunctionType, replacements: Mapping[Callable, Callable]
) -> types.FunctionType:
    """The kernel, calling replacements wherever it called the originals, however deep.

    Args:
        kernel: a plain Python kernel.
        replacements: original -> replacement, kernels or jitted functions; both take the same
            arguments.

    Returns:
        A new function with the same source; the kernel itself where it calls none of the originals.
        The originals stay as they are.
    """
    calls = _call_graph(kernel)
    changed = set(replacements)
    while more := {k for k, called in calls.items() if changed & set(called.values())} - changed:
        changed |= more
    copies = {k: _copy(k) for k in calls if k in changed} | dict(replacements)
    for original, copy in copies.items():
        if original not in replacements:
            items = calls[original].items()
            copy.__globals__.update({name: copies.get(called, called) for name, called in items})
    return copies.get(kernel, kernel)


def _call_graph(kernel) -> dict[types.FunctionType, dict[str, Callable]]:
    """Every kernel that is reached, with the kernels and jitted functions that its code names."""
    graph, todo = {}, [kernel]
    while todo:
        function = todo.pop()
        if function not in graph:
            objects = {name: function.__globals__.get(name) for name in function.__code__.co_names}
            kinds = types.FunctionType | Dispatcher
            graph[function] = {n: f for n, f in objects.items() if isinstance(f, kinds)}
            todo += [f for f in graph[function].values() if isinstance(f, types.FunctionType)]
    return graph


def _copy(kernel) -> types.FunctionType:
    """Copy a function with a namespace of its own."""
    copy = types.FunctionType(
        kernel.__code__, dict(kernel.__globals__), kernel.__name__, kernel.__defaults__,
        kernel.__closure__,
    )  # fmt: skip
    copy.__qualname__, copy.__module__ = kernel.__qualname__, kernel.__module__
    return copy
