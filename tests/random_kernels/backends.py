"""The backends that random kernels are run in, and which kernels each can take."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np

from sciprec.precision import FORMATS, Arithmetic, Backend, backends, resolve_backend
from tests.random_kernels.cases import Case, Trial

SPECS = (
    "float:p=24,round=ru", "float:p=24,round=rd", "float:p=11,emin=-14,emax=15,round=ru",
    "float:p=14,round=rz", "float:p=21,round=ro", "float:p=2,emin=-4,emax=4",
    "float:p=11,emin=-14,emax=15,round=rz,subnormals=flush,overflow=saturate",
    "float:p=8,emin=-30,emax=30,overflow=saturate", "float:p=30", "float:p=40,round=rz",
    "float:p=53,emin=-1022,emax=1023,round=rd", "float:p=5,emin=-10,emax=10,subnormals=flush",
    "float:p=12,emin=-200,emax=200", "float:p=24,emin=-300,emax=300,round=ru",
    "float:p=10,emin=-20,emax=20,round=rd", "fixed:bits=11,round=rd", "fixed:bits=9,saturate=no",
    "float:p=8,round=sr", "float:p=11,emin=-14,emax=15,round=sr", "float:p=20,round=sr",
    "float:p=16", "float:p=13,emin=-30,emax=31", "fp64,round=sr", "float:p=40,round=random",
)  # fmt: skip
ALL = (*(name for name in backends() if name != "dd"), *SPECS)


def _roles(*roles: tuple[str, str]) -> Backend:
    """A backend of storage, compute, accumulate and matmul, each a format and a rounding."""
    made = [Arithmetic(FORMATS[fmt], rounding) for fmt, rounding in roles]
    words = ", ".join(fmt if r == "rn" else f"{fmt} {r}" for fmt, r in roles)
    return Backend(f"roles: {words}", *made)


MIXED = {
    made.name: made
    for made in (
        _roles(("binary16", "rn"), ("bfloat16", "rn"), ("binary32", "rz"), ("tf32", "rn")),
        _roles(("binary32", "rn"), ("binary16", "rn"), ("binary32", "rn"), ("binary16", "rn")),
        _roles(("bfloat16", "rn"), ("binary32", "rn"), ("binary32", "rn"), ("binary32", "rn")),
        _roles(("binary64", "rn"), ("binary32", "rn"), ("binary64", "rn"), ("binary32", "rn")),
        _roles(("binary32", "rz"), ("mlu370", "rz"), ("binary32", "rz"), ("tf32", "rz")),
        _roles(("tf32", "rd"), ("float8_e4m3fn", "rn"), ("binary16", "ru"), ("bfloat16", "ro")),
    )
}
"""Name -> roles of several formats: storage wider than compute, narrower, and beside it."""
SLOW = tuple(name for name in ALL if resolve_backend(name).fixed)
"""Compiled three times: for the profile, and for two variants."""
MIXED_SHARE = 1 / 3
_PRODUCTS = ("product(", "dot(", " @ ", "convolve(", "correlate(", "linalg.")


def resolved(name: str) -> Backend:
    """The backend of a trial."""
    return MIXED[name] if name in MIXED else resolve_backend(name)


def takes(backend: str, case: Case) -> bool:
    """Whether the oracle of the backend knows all that the kernel does."""
    arithmetic = resolved(backend)
    if arithmetic.fixed and (case.calls_library or case.is_complex):
        return False
    if arithmetic.random and case.calls_ufuncs:  # whose loops are found by type
        return False
    if case.is_complex and (arithmetic.noise or arithmetic.random and case.is_elementary):
        return False
    if arithmetic.mixed:  # evaluations are for operands of at most 24 bits
        return arithmetic.carrier == np.float32 or not case.is_elementary
    if not arithmetic.fixed and arithmetic.compute.format.significand_bits > 24:
        return not case.is_elementary
    if arithmetic.fixed and not arithmetic.compute.fixed:  # products in integers of their own
        return not any(word in case.source for word in _PRODUCTS)
    return True


def trial_of(case: Case, backend: str) -> Trial:
    """The trial of a case in a backend; one in four by the software path, one in six trusted."""
    rng = random.Random(f"{case.seed} {backend}")
    arithmetic = resolved(backend)
    fixed = arithmetic.fixed
    if arithmetic.compute.fixed:
        case = _in_binary64(case)
    whole = "emin=-1022" in backend  # needs the processor's mode
    path = "software" if rng.random() < 0.25 and not (fixed or whole) else "auto"
    return Trial(case, backend, path, rng.random() < 0.17 and not fixed, case.seed)


def _in_binary64(case: Case) -> Case:
    """The case without arrays and fields of float32, which do not hold every number of fixed point.
    """
    arguments = [
        replace(a, dtype="float64") if a.dtype == "float32" else a for a in case.arguments
    ]
    source = case.source.replace("('level', float32)", "('level', float64)")
    return replace(case, source=source, arguments=tuple(arguments))


def drawn(case: Case, count: int) -> list[Trial]:
    """Trials in `count` different backends, those of fixed point drawn a third as often; of one
    kernel in three, one more in mixed roles.
    """
    rng = random.Random(f"{case.seed} drawn")
    order = sorted(ALL, key=lambda name: rng.random() ** (1 / 3 if name not in SLOW else 1))
    taken = [name for name in reversed(order) if takes(name, case)]
    chosen = taken[:count]
    if rng.random() < MIXED_SHARE:
        chosen += [rng.choice([name for name in MIXED if takes(name, case)])]
    return [trial_of(case, name) for name in chosen]


def everywhere(case: Case) -> list[Trial]:
    """A trial in every backend that takes the case."""
    return [trial_of(case, name) for name in (*ALL, *MIXED) if takes(name, case)]
