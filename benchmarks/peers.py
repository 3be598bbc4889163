"""Other emulators, measured beside ours when they are installed (`pip install --group peers`;
CPFloat: see `cpfloat.c`).

Each does the same operations on whole arrays, rounding every result, as its users would write it.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import kernels
from sciprec import quantize
from sciprec.foundation.errors import InputError
from sciprec.precision import lift, resolve_backend

COLUMN = "trusted"
LIBRARY = "CPFLOAT_LIBRARY"
CPFLOAT = ("float:p=16", "fp16")
"""Formats that CPFloat is measured in."""
OPERATIONS = 100_000


def _same(x):
    return x


def _add(a, b, c, rounded=_same):
    return rounded(a + b)


def _advect(q, u, v, cx, cy, diffusion, four, out, rounded=_same):
    r = rounded
    centre, east, west = q[1:-1, 1:-1], q[1:-1, 2:], q[1:-1, :-2]
    north, south = q[2:, 1:-1], q[:-2, 1:-1]
    along = r(u[1:-1, 1:-1] * r(east - west))
    across = r(v[1:-1, 1:-1] * r(north - south))
    around = r(r(r(east + west) + r(north + south)) - r(four * centre))
    return r(r(r(centre - r(cx * along)) - r(cy * across)) + r(diffusion * around))


def _multiply(a, b, c, rounded=_same):
    return rounded(a * b)


FORMS = {kernels.add: _add, kernels.advect: _advect}


@dataclass(frozen=True)
class Emulator:
    """Another emulator in one format.

    Args:
        backend: ours of the same format.
        array: makes its arrays of numbers in the format.
        compiled: makes its own function of a form.
    """

    backend: str
    array: Callable[[Any], Any]
    compiled: Callable[[Callable], Callable]


class Peer:
    """A peer's way of running one of the kernels on its own arrays."""

    def __init__(self, emulator: Emulator, form: Callable, arrays: list):
        self.function = emulator.compiled(form)
        self.arrays = [emulator.array(x) for x in arrays]

    def __call__(self, *ignored) -> np.ndarray:
        return np.asarray(self.function(*self.arrays))


def emulators() -> dict[str, Emulator]:
    """The installed emulators, by their row."""
    found = {"NumPy float16": Emulator("fp16", _converted(np.float16), _same)}
    if importlib.util.find_spec("ml_dtypes"):
        import ml_dtypes

        found["ml_dtypes bfloat16"] = Emulator("bf16", _converted(ml_dtypes.bfloat16), _same)
    if importlib.util.find_spec("pychop"):
        found["pychop binary16"] = Emulator("fp16", _same, _pychop)
    if importlib.util.find_spec("jax"):
        import jax

        found["JAX reduce_precision, binary16"] = Emulator("fp16", jax.numpy.asarray, _jax)
    library = cpfloat_library()
    for backend in CPFLOAT if library else ():
        rounding = _cpfloat(library, backend)
        found[f"CPFloat {backend}"] = Emulator(backend, _converted(np.float32), _rounding(rounding))
    return found


def cpfloat_library() -> ctypes.CDLL | None:
    """CPFloat as `cpfloat.c` makes it, where CPFLOAT_LIBRARY names it.

    Raises:
        InputError: it names something else.
    """
    path = os.environ.get(LIBRARY, "")
    if not path:
        return None
    try:
        library = ctypes.CDLL(str(Path(path).resolve()))
        library.sciprec_round  # noqa: B018, whether it is there
    except (OSError, AttributeError) as error:
        raise InputError(
            f"the variable {LIBRARY} names '{path}', which is not the library of "
            f"benchmarks/cpfloat.c ({error}); build it as is said there, or unset the variable"
        ) from None
    return library


def absent() -> list[str]:
    """Rows of emulators that have to be built, and are not here."""
    return [] if cpfloat_library() else [f"CPFloat: not built (bench/cpfloat.c, {LIBRARY})"]


def contenders(kernel: Callable, plain: list) -> dict[tuple[str, str], tuple[Callable, list]]:
    """The peers that are installed and can do this kernel; large arrays are left to ours alone."""
    form = FORMS.get(kernel)
    if form is None or plain[0].size > 1_000_000:
        return {}
    return {(row, COLUMN): (Peer(one, form, plain), []) for row, one in emulators().items()}


def wrong_results(backend: str, add: Callable, multiply: Callable) -> int:
    """Of 10^5 operations, half of them sums and half products of numbers of the format, how many
    are not the exact result rounded once; zeros of either sign are the same.
    """
    rng = np.random.default_rng(11)
    size, fmt = OPERATIONS // 2, resolve_backend(backend).compute.format
    gap = rng.integers(-fmt.significand_bits - 3, fmt.significand_bits + 4, size)
    half = min(fmt.emax, -fmt.emin) // 2 - 1
    scales = np.exp2(rng.integers(-half, half + 1, size) / 2)
    a, b = (
        quantize((rng.uniform(-2, 2, size) * scale).astype(np.float32), backend)
        for scale in (scales, scales * np.exp2(gap / 2))
    )
    wrong = 0
    for form, kernel in ((add, kernels.add), (multiply, multiplied)):
        expected = np.empty(size, np.float32)
        lift(kernel, backend, path="software")(a, b, expected)
        found = np.asarray(form(a, b)).astype(np.float32)
        wrong += np.count_nonzero(found != expected)
    return int(wrong)


def multiplied(a, b, c):
    for i in range(a.size):
        c[i] = a[i] * b[i]


def wrong_of_peers() -> dict[str, int]:
    """Row -> wrong results in 10^5 operations."""
    return {
        row: wrong_results(
            one.backend,
            *(lambda a, b, form=form, one=one: Peer(one, form, [a, b, a])() for form in
              (_add, _multiply)),
        )
        for row, one in emulators().items()
    }  # fmt: skip


def wrong_of_ours(backend: str) -> int:
    """Wrong results of a lifted kernel in 10^5 operations."""

    def run(kernel):
        def result(a, b):
            out = np.empty_like(a)
            lift(kernel, backend)(a, b, out)
            return out

        return result

    return wrong_results(backend, run(kernels.add), run(multiplied))


def _converted(dtype) -> Callable:
    return lambda x: np.asarray(x).astype(dtype)


def _rounding(rounded: Callable) -> Callable[[Callable], Callable]:
    return lambda form: lambda *arrays: form(*arrays, rounded=rounded)


def _pychop(form) -> Callable:
    import pychop

    pychop.backend("numpy")
    rounded = pychop.Chop(exp_bits=5, sig_bits=10, rmode=1)
    return lambda *arrays: form(*arrays, rounded=rounded)


def _jax(form) -> Callable:
    import jax

    def rounded(x):
        return jax.lax.reduce_precision(x, exponent_bits=5, mantissa_bits=10)

    compiled = jax.jit(lambda *arrays: form(*arrays, rounded=rounded))
    return lambda *arrays: compiled(*arrays).block_until_ready()


def _cpfloat(library: ctypes.CDLL, backend: str) -> Callable:
    """rounded(x) by CPFloat, of what binary32 made."""
    fmt = resolve_backend(backend).compute.format
    limits = fmt.significand_bits, fmt.emin, fmt.emax

    def rounded(x):
        x = np.ascontiguousarray(x, np.float32)
        out = np.empty_like(x)
        address = (ctypes.c_void_p(y.ctypes.data) for y in (out, x))
        library.sciprec_round(*address, ctypes.c_size_t(x.size), *limits)
        return out

    return rounded
