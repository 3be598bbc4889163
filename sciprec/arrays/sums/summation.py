"""Sums and dot products of low error in any backend: compensated, pairwise, blocked.

u is here the largest relative error of one rounding (`Arithmetic.rounding_error`: the format's unit
roundoff to nearest, twice that otherwise), S the exact sum, A the sum of absolute values, n the
count, g(k) = k u / (1 - k u). What a method promises is a pair of
factors (of |S|, of A), for elements that are in the format already; underflow aside.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sciprec.arrays.sums.compensation import lost_in_sum
from sciprec.foundation.arguments import integer, reals, word
from sciprec.foundation.errors import InputError
from sciprec.precision.formats.backend import Backend, resolve_backend
from sciprec.precision.lifting.lifting import lift
from sciprec.precision.operations.reduce import fma
from sciprec.precision.registry import kernel

BLOCK = 64
"""Elements of a block, where nothing else is said."""


def _numbers(size=13, seed=2):
    return np.random.default_rng(seed).uniform(-1.0, 1.0, size)


@kernel(example=lambda: (_numbers(), np.zeros(1), 1))
def recursive_sum(x, work, block):
    """x[0] + x[1] + ... in order.

    Args:
        x: (n,).
        work, block: not used.

    Precision: |error| <= g(n - 1) A.
    Source: Higham (2002), eq. 4.4.
    """
    total = 0.0
    for i in range(x.shape[0]):
        total = total + x[i]
    return total


@kernel(example=lambda: (_numbers(), np.zeros(13), 1))
def pairwise_sum(x, work, block):
    """Halves are added element by element until one is left.

    Args:
        x: (n,).
        work: (n,), written.
        block: not used.

    Precision: |error| <= g(ceil(log2 n)) A.
    Source: Higham (2002), eq. 4.6.
    """
    count = x.shape[0]
    for i in range(count):
        work[i] = x[i]
    while count > 1:
        half = (count + 1) // 2
        for i in range(count - half):
            work[i] = work[i] + work[half + i]
        count = half
    total = 0.0
    if count == 1:
        total = work[0]
    return total


@kernel(example=lambda: (_numbers(), np.zeros(1), 4))
def blocked_sum(x, work, block):
    """Sums of blocks in order, added in order.

    Args:
        x: (n,).
        work: not used.
        block: elements of a block, at least 1.

    Precision: |error| <= g(block + ceil(n / block) - 1) A, least for blocks of sqrt(n).
    Source: Higham (2002), section 4.2; Castaldo, Whaley and Chronopoulos (2008).
    """
    total = 0.0
    first = 0
    while first < x.shape[0]:
        part = 0.0
        for i in range(first, min(first + block, x.shape[0])):
            part = part + x[i]
        total = total + part
        first = first + block
    return total


@kernel(example=lambda: (_numbers(), np.zeros(1), 1))
def kahan_sum(x, work, block):
    """Sum so that each addition's loss goes into the next term.

    Args:
        x: (n,).
        work, block: not used.

    Precision: |error| <= (2 u + c n u^2) A; c = 8 covers rounding to nearest and directed.
    Source: Kahan (1965); Higham (2002), algorithm 4.2 and eq. 4.8; Goldberg (1991), theorem 8.
    """
    total = 0.0
    lost = 0.0
    for i in range(x.shape[0]):
        term = x[i] + lost
        new = total + term
        lost = term - (new - total)
        total = new
    return total


@kernel(example=lambda: (_numbers(), np.zeros(1), 1))
def neumaier_sum(x, work, block):
    """The losses of all additions are summed apart and added in the end.

    Args:
        x: (n,).
        work, block: not used.

    Precision: |error| <= u |S| + 2 g(n)^2 A, as if summed with twice the digits and rounded once;
        the factor 2 is for roundings whose losses are found to one rounding only.
    Source: Neumaier (1974); Ogita, Rump and Oishi (2005), algorithm 4.4 and proposition 4.5.
    """
    total = 0.0
    lost = 0.0
    for i in range(x.shape[0]):
        new = total + x[i]
        lost = lost + lost_in_sum(total, x[i], new)
        total = new
    return total + lost


@kernel(example=lambda: (_numbers(), np.zeros(1), 1))
def carried_sum(x, work, block):
    """Sum so that each addition's loss goes into the next term, and what that sum loses goes with
    it.

    Args:
        x: (n,).
        work, block: not used.

    Precision: |error| <= u |S| + 8 n u^2 A: losses are paid back at once, as in Kahan's sum, and
        none is forgotten, as in Neumaier's.
    Source: the update of `sciprec.arrays.sums.Compensation` with alpha = 1 and beta = 0.
    """
    total = 0.0
    lost = 0.0
    for i in range(x.shape[0]):
        term = x[i] + lost
        new = total + term
        lost = lost_in_sum(total, term, new) + lost_in_sum(x[i], lost, term)
        total = new
    return total + lost


@kernel(example=lambda: (_numbers(), _numbers(13, 3)))
def carried_dot(x, y):
    """Dot product whose losses, of products too, go into the next term as in `carried_sum`.

    Args:
        x, y: (n,).

    Precision: |error| <= u |S| + 16 n u^2 A with A the sum of |x y|.
    """
    total = 0.0
    lost = 0.0
    for i in range(x.shape[0]):
        product = x[i] * y[i]
        term = product + lost
        new = total + term
        left = lost_in_sum(product, lost, term) + fma(x[i], y[i], -product)
        lost = lost_in_sum(total, term, new) + left
        total = new
    return total + lost


@kernel(example=lambda: (_numbers(), _numbers(13, 3), np.zeros(13)))
def rounded_products(x, y, products):
    """products = x * y, each rounded.

    Args:
        x, y, products: (n,); products is written.
    """
    for i in range(x.shape[0]):
        products[i] = x[i] * y[i]


@kernel(example=lambda: (_numbers(), _numbers(13, 3)))
def twofold_dot(x, y):
    """Dot product with the losses of products and of sums summed apart.

    Args:
        x, y: (n,).

    Precision: |error| <= u |S| + 2 g(n)^2 A with A the sum of |x y|. A product's loss is exact, to
        nearest and toward zero: fma(x, y, -product).
    Source: Ogita, Rump and Oishi (2005), algorithm 5.3 (Dot2) and proposition 5.5.
    """
    total = 0.0
    lost = 0.0
    for i in range(x.shape[0]):
        product = x[i] * y[i]
        new = total + product
        lost = lost + (lost_in_sum(total, product, new) + fma(x[i], y[i], -product))
        total = new
    return total + lost


@dataclass(frozen=True)
class SumMethod:
    """A way of summing.

    Args:
        kernel: (x, work, block) -> sum.
        factors: function (n, block, u) of the promised factors (of |S|, of A).
    """

    kernel: Callable
    factors: Callable[[int, int, float], tuple[float, float]]


def _gamma(k: float, u: float) -> float:
    """k u / (1 - k u), infinite where nothing is promised."""
    return k * u / (1.0 - k * u) if k * u < 1.0 else math.inf


def _second_order(factor: float) -> float:
    """A factor of u^2, infinite where it is not small and nothing is promised."""
    return factor if factor < 0.1 else math.inf


SUM_METHODS: dict[str, SumMethod] = {
    "recursive": SumMethod(recursive_sum, lambda n, block, u: (0.0, _gamma(n - 1, u))),
    "pairwise": SumMethod(
        pairwise_sum, lambda n, block, u: (0.0, _gamma(math.ceil(math.log2(max(n, 1))), u))
    ),
    "blocked": SumMethod(
        blocked_sum, lambda n, block, u: (0.0, _gamma(block + math.ceil(n / block) - 1, u))
    ),
    "kahan": SumMethod(
        kahan_sum, lambda n, block, u: (0.0, 2 * u + 8 * n * u**2 if n * u < 0.1 else math.inf)
    ),
    "neumaier": SumMethod(neumaier_sum, lambda n, block, u: (u, 2 * _gamma(n, u) ** 2)),
    "carry": SumMethod(carried_sum, lambda n, block, u: (u, _second_order(8 * n * u**2))),
}
_DOTS: dict[str, tuple[Callable, Callable[[int, float], float]]] = {
    "twofold": (twofold_dot, lambda n, u: 2 * _gamma(n, u) ** 2),
    "carry": (carried_dot, lambda n, u: _second_order(16 * n * u**2)),
}
"""Methods that keep what products lose -> kernel, and function (n, u) of its factor of A."""
DOT_METHODS = (*SUM_METHODS, "twofold")


def compensated_sum(
    x: ArrayLike, backend: str | Backend = "fp32", *, method: str = "carry", block: int = BLOCK
) -> float:
    """Sum numbers in the arithmetic of a backend.

    Args:
        x: numbers of any shape, in C order, rounded on loading.
        backend: name, spec string or Backend; its `compute` role adds.
        method: "carry" (losses are paid back at once, and none is forgotten), "neumaier", "kahan",
            "pairwise", "blocked" or "recursive".
        block: elements of a block for "blocked".

    Returns:
        The sum; 0 for nothing.

    Raises:
        InputError: an unknown method or backend, or a block below 1.

    Precision: see `sum_error_bound`.
    """
    chosen = _method(method, SUM_METHODS, block)
    values = _flat(x)
    return float(_lifted(SUM_METHODS[chosen].kernel, backend)(values, _work(values), block))


def compensated_dot(
    x: ArrayLike,
    y: ArrayLike,
    backend: str | Backend = "fp32",
    *,
    method: str = "carry",
    block: int = BLOCK,
) -> float:
    """Dot product in the arithmetic of a backend.

    Args:
        x, y: numbers of one shape, rounded on loading.
        backend: name, spec string or Backend; its `compute` role multiplies and adds.
        method: "carry" and "twofold" (losses of products and sums are kept, and paid back at once
            or in the end), or another method of `compensated_sum` for the rounded products.
        block: elements of a block for "blocked".

    Returns:
        The dot product; 0 for nothing.

    Raises:
        InputError: an unknown method or backend, shapes that differ, or a block below 1.

    Precision: see `dot_error_bound`.
    """
    chosen = _method(method, DOT_METHODS, block)
    first, second = _flat(x), _flat(y)
    if np.shape(x) != np.shape(y):
        raise InputError(
            f"compensated_dot is given shapes {np.shape(x)} and {np.shape(y)}; accepted: two "
            "arrays of one shape"
        )
    if chosen in _DOTS:
        return float(_lifted(_DOTS[chosen][0], backend)(first, second))
    products = np.zeros(first.shape, resolve_backend(backend).carrier)
    _lifted(rounded_products, backend)(first, second, products)
    work = _work(products)
    return float(_lifted(SUM_METHODS[chosen].kernel, backend)(products, work, block))


def sum_error_bound(x, backend: str | Backend, method: str = "carry", block: int = BLOCK):
    """The largest error that `compensated_sum` can have for numbers of the format.

    Args:
        x, backend, method, block: as there; x in the storage format.

    Returns:
        factor1 |S| + factor2 A, in binary64 from exactly summed numbers.
    """
    values = _flat(x).astype(np.float64)
    u = resolve_backend(backend).compute.rounding_error
    chosen = _method(method, SUM_METHODS, block)
    of_sum, of_absolute = SUM_METHODS[chosen].factors(values.size, block, u)
    return of_sum * abs(math.fsum(values)) + of_absolute * math.fsum(np.abs(values))


def dot_error_bound(x, y, backend: str | Backend, method: str = "carry", block: int = BLOCK):
    """The largest error that `compensated_dot` can have for numbers of the format.

    Args:
        x, y, backend, method, block: as there; x and y in the storage format of at most 26 bits.

    Returns:
        As `sum_error_bound` for the exact products; methods that round the products add u A, and
        their own factors grow by 1 + u.
    """
    products = _flat(x).astype(np.float64) * _flat(y).astype(np.float64)
    u = resolve_backend(backend).compute.rounding_error
    chosen = _method(method, DOT_METHODS, block)
    total, absolute = abs(math.fsum(products)), math.fsum(np.abs(products))
    if chosen in _DOTS:
        return u * total + _DOTS[chosen][1](products.size, u) * absolute
    of_sum, of_absolute = SUM_METHODS[chosen].factors(products.size, block, u)
    rounded = u * absolute
    return of_sum * (total + rounded) + of_absolute * (1 + u) * absolute + rounded


def _lifted(function: Callable, backend: str | Backend):
    return lift(function, resolve_backend(backend))


def _flat(x) -> np.ndarray:
    """Contiguous float32 or float64 numbers in one dimension."""
    values = reals("what is summed", x)
    narrow = values.dtype.kind == "f" and values.dtype.itemsize <= 4
    return np.ascontiguousarray(values, np.float32 if narrow else np.float64).reshape(-1)


def _work(values: np.ndarray) -> np.ndarray:
    return np.zeros(max(values.size, 1), np.float64)


def _method(name: str, methods, block: int) -> str:
    integer("block", block, 1, 2**62, "a whole number of elements >= 1")
    return word("method of summation", name, methods)
