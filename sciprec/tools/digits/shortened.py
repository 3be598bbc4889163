"""A shorter call of a kernel, in whose place a look at its truth can be afforded.

Arrays are cut along their first axis, where this can be done in one way: all arrays of the greatest
length there, and arguments that are that number. Where there are no such, a number of steps is
made smaller that does nothing but end a loop.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from sciprec.foundation.errors import InputError
from sciprec.precision.formats.backend import TRUTH
from sciprec.precision.rewriting.syntax import LiftError, parse
from sciprec.tools.memory.memory import check_memory

LEAST = 16
"""Elements, or steps, without which a shorter call tells nothing."""


def shortened(
    function: Callable[..., Any], args: tuple, share: float
) -> Iterator[tuple[tuple, str]]:
    """Shorter calls, and what they are, in words; those that the kernel can make, without an index
    outside of its arrays.

    Args:
        function: the plain kernel.
        args: in the order of its parameters.
        share: the part of the work that is to be left.
    """
    names = tuple(inspect.signature(function).parameters)
    for cut in (_cut_arrays, _cut_steps):
        shorter = cut(function, names, args, share)
        if shorter is not None and _runs(function, shorter[0]):
            yield shorter


def _cut_arrays(function, names, args, share) -> tuple[tuple, str] | None:
    """Cut arrays of one length to a shorter one; None where a call cannot be shortened so."""
    arrays = [a for a in args if isinstance(a, np.ndarray) and a.ndim]
    longest = max((a.shape[0] for a in arrays), default=0)
    length = _less(longest, share)
    if length is None or not all(isinstance(a, np.ndarray) or np.isscalar(a) for a in args):
        return None
    numbers = [int(a) for a in args if np.ndim(a) == 0 and _is_whole(a)]
    lengths = [n for a in arrays for n in a.shape[a.shape[0] == longest :]]
    near = {longest - 1, longest, longest + 1}
    if near & {*lengths} or any(length <= n <= longest + 1 and n != longest for n in numbers):
        return None

    def short(a):
        if isinstance(a, np.ndarray) and a.ndim:
            return a[:length].copy() if a.shape[0] == longest else a
        return type(a)(length) if _is_whole(a) and int(a) == longest else a

    cut = [n for n, a in zip(names, args, strict=False) if np.ndim(a) and a.shape[0] == longest]
    words = f"{' and '.join(cut[:2])}{' and others' * (len(cut) > 2)}"
    return tuple(map(short, args)), f"the first {length:,} of {longest:,} elements of {words}"


def _cut_steps(function, names, args, share) -> tuple[tuple, str] | None:
    """Make an argument smaller that does nothing but set the number of steps; None without one."""
    try:
        tree = parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return None
    loops = [node.iter for node in ast.walk(tree) if isinstance(node, ast.For)]
    ends = [
        call.args[0].id for call in loops
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "range"
        and len(call.args) == 1 and isinstance(call.args[0], ast.Name)
    ]  # fmt: skip
    used = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
    steps = {
        n: int(a) for n, a in zip(names, args, strict=False)
        if np.ndim(a) == 0 and _is_whole(a) and ends.count(n) == used.count(n) == 1
    }  # fmt: skip
    most_steps = max(steps.values(), default=0)
    length = _less(most_steps, share)
    if length is None:
        return None
    name = next(n for n in steps if steps[n] == most_steps)
    shortened_args = tuple(
        type(a)(length) if n == name else a for n, a in zip(names, args, strict=False)
    )
    return shortened_args, f"a run with {name} = {length:,} in place of {most_steps:,}"


def _is_whole(a: Any) -> bool:
    return isinstance(a, (int, np.integer)) and not isinstance(a, bool)


def _less(size: int, share: float) -> int | None:
    """The power of two that leaves that share of a number at most; None where it is too small."""
    length = 2 ** int(np.log2(max(size * share, 1.0)))
    return length if LEAST <= length < size else None


def _runs(function: Callable[..., Any], args: tuple) -> bool:
    """Whether a kernel can make a call and reaches nothing outside of its arrays."""
    try:
        report = check_memory(function, TRUTH, args)
    except (InputError, LiftError):
        return False
    return report.clean and not report.ended
