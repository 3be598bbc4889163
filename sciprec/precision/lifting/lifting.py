"""`lift`: a user's Numba kernel, unchanged, in another arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from sciprec.foundation.arguments import flag, integer, shown
from sciprec.precision.formats.backend import (
    Backend,
    HandedBackend,
    MakesBackend,
    resolve_backend,
)
from sciprec.precision.lifting.compiling import cache_folder, module_of
from sciprec.precision.lifting.fixed_lifting import FixedLifted
from sciprec.precision.lifting.lifted import Lifted, function_of
from sciprec.precision.lifting.ufuncs import LiftedUfunc
from sciprec.precision.rewriting.build import Build
from sciprec.precision.rewriting.program import Program
from sciprec.precision.rewriting.syntax import LiftError
from sciprec.precision.rewriting.vectorized import is_ufunc

__all__ = ["LiftError", "Lifted", "cache_folder", "lift"]


def lift(
    kernel: Callable[..., Any],
    backend: str | Backend | MakesBackend = "fp64",
    *,
    seed: int = 0,
    path: str = "auto",
    trust_inputs: bool = False,
    ranges: float | Mapping[str | int, float] | None = None,
    adapt: str | int | None = "headroom",
) -> Lifted:
    """Compile a kernel so that every floating-point operation is rounded in another arithmetic.

    Args:
        kernel: a plain Python function in Numba's subset, an existing `@njit` function, or what
            `@vectorize` or `@guvectorize` made. The kernels that it calls are lifted with it. A
            decorated function is what `functools.wraps` says that it wraps.
        backend: a name (`sciprec.backends()`), a spec string, a Backend, or an Assignment of
            formats to places ("assignment:PATH" from a file). In "dd" every number is a pair of
            binary64 numbers, and what is returned has `pairs`, see `PairLifted`.
        seed: chooses the random bits of stochastic rounding and noise, for all calls together; a
            task on threads, or in another process, calls `stream(n)` of what is returned.
        path: "auto" uses the processor's rounding mode where it serves; "software" never does (same
            bits, slower).
        trust_inputs: promise that floating-point array elements are in the storage format already
            (made by `quantize`); their rounding on loading is then left out. Without a promise it
            is left out where a pass over the arguments proves it, once that pays.
        ranges: in fixed point, the largest sizes to expect, instead of a profiling run: one number
            for everything, or a mapping from the name of an argument or array, the text of an
            operation such as "a * b", or a line number; "*" stands for everything else.
        adapt: in fixed point, when units change: "headroom", where a call leaves a range, which is
            then repeated in wider units; a number N, at every N-th call, too, by a profiling run;
            None, never: results saturate, and every saturation is counted.

    Returns:
        A callable with the same signature (of a ufunc a `LiftedUfunc`, which broadcasts); arrays
        in either byte order are taken. It can be pickled: a copy in another process goes on with
        the call that would be the next here, so hand each of several tasks its own `stream(n)`
        where the arithmetic is random, and `freeze()` units of fixed point first.

    Raises:
        LiftError: a construct that cannot be lifted, with its place and what to write instead.
        InputError: unknown backend.

    Precision:
        Literals, arguments, array elements and integers are rounded to the format where they meet
        a floating-point operation; each + - * / sqrt fma is rounded once; elementary functions are
        evaluated in binary64 (relative error below 2^-49) and rounded once, in fp64 they are within
        an ulp; where more than 24 bits are rounded at random, what their values miss counts, too.
        Stores round to the storage format. Comparisons are exact. `x ** n` with a
        literal integer n is repeated multiplication, as in Numba. np.sum is pairwise, @ and np.dot
        are sequential (see `reduce`).
        In fixed point a result is an integer times the unit of its place, 2^e, found by running the
        kernel in binary64 first; every result of + - * / sqrt fma is the exact one rounded once to
        the unit. Each operation has one unit for each chain of calls that leads to it, the products
        and sums of `accumulate` and `product` of one function share one, literals have their own.
        A NaN becomes zero and is counted.

    Differs from plain Numba:
        Lifted to "fp32", `0.5 * x`, `s = 0.0` and integer operands stay binary32, where Numba
        promotes to binary64. Lifted to "fp64", `np.float32(x)` and `np.zeros(n, np.float32)` stay
        binary64: they mean the backend's numbers. Division by zero gives infinity or NaN
        (error_model="numpy"). The options of an @njit function, `fastmath` above all, are dropped.
        np.sum, @ and np.dot have another order than Numba's sum and BLAS.
    """
    resolved = resolve_backend(backend)
    if not isinstance(path, str) or path not in ("auto", "software"):
        raise LiftError(f"path {shown(path)} is unknown; give 'auto' or 'software'")
    seed = integer("seed", seed, -(2**63), 2**64 - 1, "an integer")
    trust_inputs = flag("trust_inputs", trust_inputs)
    _check_adapt(adapt)
    again = partial(
        lift, backend=resolved, seed=seed, path=path, trust_inputs=trust_inputs, ranges=ranges,
        adapt=adapt,
    )  # fmt: skip
    if is_ufunc(kernel):
        ufunc: Any = LiftedUfunc(kernel, again)
        return ufunc
    function = function_of(kernel, "lift")
    if isinstance(resolved, HandedBackend):
        if not isinstance(backend, Backend):
            resolved.require_met(function)
        handed: Any = resolved.maker.lifted(function, resolved, trust_inputs)
        return handed

    build = Build(path, trust_inputs)
    if not resolved.fixed:
        program = Program(function, resolved, build)
        return Lifted(function, resolved, program, module_of(program), seed, again)
    return FixedLifted(function, resolved, build, again, ranges=ranges, adapt=adapt)


def _check_adapt(adapt) -> None:
    if adapt is not None and not (isinstance(adapt, str) and adapt == "headroom"):
        calls = "'headroom', None, or a number of calls above zero"
        integer("adapt", adapt, 1, 2**63 - 1, calls)
