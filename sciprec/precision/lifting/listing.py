"""A lifted kernel in words: its arithmetic, and what has been compiled and met so far."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from numba import types

from sciprec.display.listing import Listing, Summary
from sciprec.precision.formats.listing import in_words

if TYPE_CHECKING:
    from sciprec.precision.lifting.lifted import Lifted


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
        (*met, *("not compiled yet",) * (not rows)),
        about=in_words(lifted.backend),
    )


def _kind(kind) -> str:
    """A type of Numba's as short as it can be told."""
    if isinstance(kind, types.Array):
        return f"{kind.dtype}[{', '.join(':' * kind.ndim)}]"
    if isinstance(kind, types.BaseTuple):
        return f"({', '.join(_kind(one) for one in kind.types)})"
    return "function" if isinstance(kind, types.Callable) else str(kind)
