"""Arguments that find mistakes: ordinary numbers, ties, ends of the range, subnormals, specials."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from sciprec.precision.formats.backend import Backend
from sciprec.precision.formats.float_format import FORMATS
from tests.oracles import exact
from tests.oracles.fields import Fields
from tests.precision.samples import landmarks
from tests.random_kernels.cases import Argument

SPECIAL_SHARE = 0.2
FLAVOURS = ("ordinary", "ordinary", "short", "short", "ties", "small", "wide", "edges")


@lru_cache(maxsize=64)
def edges(fmt) -> np.ndarray:
    """Ends of the range and their neighbours, the tie beyond the largest (twice), subnormals."""
    largest, least = fmt.max_finite, fmt.min_positive
    half = 2.0 ** (fmt.emax - fmt.significand_bits)  # of the spacing at the end of the range
    found = [largest, largest + half, largest + half, largest + half * (1 - 2.0**-6),
             largest + 1.5 * half, 2 * largest, least / 2, 0.75 * least, 1.5 * least,
             fmt.min_normal, fmt.min_normal * (1 - 2.0**-fmt.significand_bits), largest**0.5,
             least**0.5]  # fmt: skip
    return np.concatenate([found, np.negative(found)])


@lru_cache(maxsize=64)
def special_values(fmt) -> np.ndarray:
    """Zeros, infinities, NaN, the edges and the landmarks of a format, each kind as often."""
    usual = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, np.nan])
    kinds = [usual, edges(fmt), landmarks(fmt)]
    most = max(kind.size for kind in kinds)
    return np.concatenate([np.resize(kind, most) for kind in kinds])


def numbers(size: int, fmt, rng: np.random.Generator) -> np.ndarray:
    """Numbers of one flavour, in half of the arrays one in five of them special."""
    p, flavour = fmt.significand_bits, rng.choice(FLAVOURS)
    signs = rng.choice([-1.0, 1.0], size)
    if flavour == "ordinary":
        x = rng.uniform(-2.0, 2.0, size)
    elif flavour == "short":
        x = rng.integers(-32, 33, size) / 8.0
    elif flavour == "ties":  # one bit more than the format has
        x = signs * (2 * rng.integers(2 ** (p - 1), 2**p, size) + 1) * 2.0**-p
    elif flavour == "edges":
        short = rng.integers(-32, 33, size) / 8.0
        x = np.where(rng.random(size) < 0.5, rng.choice(edges(fmt), size), short)
    else:
        low, high = (fmt.emin - p, fmt.emin + p) if flavour == "small" else (-p, p)
        x = signs * rng.uniform(1.0, 2.0, size) * 2.0 ** rng.integers(low, high + 1, size)
    special = rng.random(size) < SPECIAL_SHARE * rng.integers(0, 2)
    return np.where(special, rng.choice(special_values(fmt), size), x)


def arranged(values: np.ndarray, layout: str) -> np.ndarray:
    """A copy of the elements in another place of memory."""
    if layout == "strided":
        base = np.zeros((*values.shape[:-1], 2 * values.shape[-1]), values.dtype)
        made = base[..., ::2]
    elif layout == "reversed":
        made = np.zeros_like(values)[::-1]
    elif layout == "transposed":
        made = np.zeros(values.shape[::-1], values.dtype).T
    elif layout == "offset":
        base = np.zeros(tuple(n + 1 for n in values.shape), values.dtype)
        made = base[tuple(slice(1, None) for _ in values.shape)]
    else:
        return values
    made[...] = values
    return made


def values_of(
    arguments: tuple[Argument, ...], backend: Backend, seed: int, call: int, trusted: bool = False
) -> list:
    """The arguments of a call: `trusted`, rounded to the storage format already."""
    rng = np.random.default_rng([seed, call])
    storage = backend.storage
    storing = FORMATS["binary32"] if storage.fixed else storage.format

    def entering(x):
        if trusted:
            rounded = [exact.round_exact(v, storage) for v in x.ravel().tolist()]
            x = np.array(rounded).reshape(x.shape)
        return x

    made: list = []
    for a in arguments:
        fmt = backend.compute.format if backend.mixed and rng.random() < 0.5 else storing
        size = int(np.prod(a.shape))
        if a.kind == "integer":
            largest = 5 if a.layout == "small" else 70_000
            made.append(int(rng.integers(-largest, largest + 1)))
        elif a.kind == "number":
            with np.errstate(over="ignore"):
                made.append(np.dtype(a.dtype).type(entering(numbers(1, fmt, rng))[0]))
            if a.dtype == "float64":
                made[-1] = float(made[-1])
        elif a.kind == "object":
            with np.errstate(over="ignore"):
                x = entering(numbers(5, fmt, rng))
                level = np.dtype(a.dtype).type(x[1])
            count = int(rng.integers(-9, 10))
            made.append(Fields(None, volume=float(x[0]), level=level, parts=x[2:], count=count))
        elif np.dtype(a.dtype).kind == "i":
            made.append(arranged(rng.integers(-9, 10, a.shape).astype(a.dtype), a.layout))
        else:
            with np.errstate(over="ignore"):
                x = entering(numbers(size, fmt, rng))
                if a.dtype.startswith("complex"):
                    x = np.stack([x, entering(numbers(size, fmt, rng))], -1).view(complex)
                x = x.reshape(a.shape).astype(a.dtype)
            made.append(arranged(x, a.layout))
    return made
