"""A lifted kernel in words: its arithmetic, and what has been compiled and met so far."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from numba import types

from sciprec.foundation.listing import Listing, Summary
from sciprec.precision.formats.listing import in_words

if TYPE_CHECKING:
    from sciprec.precision.lifting.lifted import Lifted


_OPERATION = {"accumulate": "accumulate", "matmul": "product"}
_FOUND_IN = {
    "accumulate": "sums (np.sum, `@`, np.dot, loops that sum products of elements)",
    "matmul": "products that are summed (`@`, np.dot, loops that sum products of elements)",
}


def idle_roles(kernels: Sequence[Any]) -> str:
    """A sentence about roles of a backend, others than `compute`, that no operation of some
    lifted kernels has; "" where there are none, and where everything is in fixed point.
    """
    kernels = [kernel for kernel in kernels if hasattr(kernel, "sites")]
    backends = {kernel.backend.name: kernel.backend for kernel in kernels}
    if len(backends) != 1:
        return ""
    ((name, backend),) = backends.items()
    if backend.compute.fixed:
        return ""
    used = {site.operation for kernel in kernels for site in kernel.sites}
    others = [r for r in _OPERATION if getattr(backend, r) != backend.compute]
    idle = [role for role in others if _OPERATION[role] not in used]
    if not idle:
        return ""
    what = " and no ".join(_FOUND_IN[role] for role in idle)
    roles = f"role{'s' * (len(idle) > 1)} {' and '.join(idle)}"
    alike = idle == others and backend.storage == backend.compute
    as_which = f", and '{name}' is {backend.compute.format.name} here" if alike else ""
    return f"no operation has the {roles}: there are no {what}{as_which}"


def lifted_summary(lifted: Lifted, kinds: Iterable[tuple], met: tuple[str, ...]) -> Summary:
    """What is shown of a lifted kernel at a prompt and in a notebook; nothing is compiled for it.

    Args:
        lifted: the kernel.
        kinds: Numba's types of the arguments that compiled code is there for; what the engine
            passes before the kernel's own arguments counts for nothing.
        met: sentences about the calls so far.
    """
    count, own = len(lifted.signature.parameters), lifted.kernel.__name__
    calls = [f"{own}({', '.join(map(_kind, k[len(k) - count :]))})" for k in kinds]
    rows = [(call,) for call in dict.fromkeys(calls)]
    return Summary(
        f"{own}({', '.join(lifted.signature.parameters)}) lifted to {lifted.backend.name}",
        Listing(("compiled for",), (), rows),
        (*met, *filter(None, [idle_roles([lifted])]), *("not compiled yet",) * (not rows)),
        about=in_words(lifted.backend),
    )


def _kind(kind) -> str:
    """A type of Numba's as short as it can be told."""
    if isinstance(kind, types.Array):
        return f"{kind.dtype}[{', '.join(':' * kind.ndim)}]"
    if isinstance(kind, types.BaseTuple):
        return f"({', '.join(_kind(one) for one in kind.types)})"
    return "function" if isinstance(kind, types.Callable) else str(kind)
