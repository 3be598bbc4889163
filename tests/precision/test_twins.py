"""Every registered kernel: its source on self-rounding scalars equals the lifted one, which is run
uncompiled; the compiled ones are a sample.
"""

from copy import deepcopy

import numpy as np
import pytest

from sciprec.precision import FORMATS, Arithmetic, Backend, lift, resolve_backend
from sciprec.precision.rounding import mode
from tests.oracles.twin import run_twin
from tests.precision.arithmetic_kernels import constant_expressions
from tests.precision.corpus import roles
from tests.precision.registered import registered_kernels
from tests.precision.ways import ways
from tests.random_kernels.trials import difference, flat

KERNELS = registered_kernels()
_ROLES = {
    "storage": Arithmetic(FORMATS["binary16"]),
    "compute": Arithmetic(FORMATS["bfloat16"]),
    "accumulate": Arithmetic(FORMATS["binary32"], "rz"),
    "matmul": Arithmetic(FORMATS["tf32"]),
}
MIXED = Backend("mixed roles", **_ROLES)
OFTEN = resolve_backend("mlu370")
OTHERS = (resolve_backend("mlu370-noguard"), MIXED)
"""binary64 and binary32 are seen beside Numba and the twin in `test_lift`."""


def assert_same_bits(found, expected, what: str) -> None:
    """Equal bits, any NaN equal to any other."""
    assert not (wrong := difference(found, expected, what, signed=True)), wrong


@pytest.mark.parametrize(
    ("backend", "path"),
    [
        ("mlu370", "auto"),
        ("float:p=24,round=ru", "auto"),
        ("float:p=24,round=rd", "auto"),
        ("float:p=11,emin=-14,emax=15,round=ru", "auto"),
        ("float:p=53,emin=-1022,emax=1023,round=rz", "auto"),
        ("mlu370", "software"),
        ("float:p=21,round=ro", "software"),
    ],
)
def test_constant_expressions_are_rounded_like_any_other(backend, path):
    """What the compiler can compute beforehand, it computes to nearest: it must not."""
    if not mode.available() and "emin=-1022" in backend:
        pytest.skip("binary64's whole range needs the processor's mode (see test_operations)")
    found, expected = np.zeros(14), np.zeros(14)
    lift(constant_expressions, backend, path=path)(np.ones(1), found)
    run_twin(constant_expressions, resolve_backend(backend), (np.ones(1), expected))
    assert_same_bits(found, expected, f"constant expressions in {backend} ({path})")


HEAVY = (
    "sciprec.climate.equations.mass.restore_mass",
    "sciprec.climate.equations.primitive_implicit.",
    "sciprec.climate.transform.fft.fast_fourier",
    "sciprec.climate.transform.fourier.fourier_analysis",
    "sciprec.climate.transform.fourier.fourier_synthesis",
    "sciprec.climate.transform.legendre_stage.",
    "sciprec.climate.transform.real_fourier.",
)
"""Beginnings of the names of kernels that take seconds to compile."""
OF_THEM = "sciprec.climate.transform.real_fourier.fft_analysis"
"""The one that is compiled."""


@pytest.mark.slow
def test_products_with_one_round_what_another_role_has_made():
    """Loaded numbers have the bits of the storage, sums those of the accumulator; compiled."""
    require_twin(roles.scaled, (np.array([1.001, 0.3337, -2.7]), np.zeros(3)), MIXED)


def pairs() -> list:
    """Every kernel in two backends."""
    return [
        (name, backend)
        for number, name in enumerate(KERNELS)
        for backend in (OFTEN, OTHERS[number % len(OTHERS)])
    ]


def compiled() -> list:
    """One pair in 27 of those that are not heavy, and one that is."""
    light = [row for row in pairs() if not row[0].startswith(HEAVY)]
    return light[::27] + [(OF_THEM, OFTEN)]


@ways(("name", "backend"), pairs(), compiled=compiled())
def test_twin(name, backend, lifted):
    entry = KERNELS[name]
    require_twin(entry.function, entry.example(), backend, lifted=lifted)


def require_twin(function, args, backend, trusted=False, lifted=lift):
    """A lifted kernel's results and what it writes are its twin's, to the last bit."""
    name = function.__name__
    lifted_args, twin_args = deepcopy(args), deepcopy(args)
    returned = lifted(function, backend, trust_inputs=trusted)(*lifted_args)
    expected = run_twin(function, backend, twin_args)
    assert_same_bits(returned, expected, f"{name} in {backend.name}: returned value")
    written = [
        n
        for n, a in enumerate(args)
        if isinstance(a, np.ndarray) and not np.array_equal(a, lifted_args[n], equal_nan=True)
    ]
    for n in written:
        assert_same_bits(lifted_args[n], twin_args[n], f"{name} in {backend.name}: argument {n}")
    assert written or flat(returned), f"the example of {name} writes and returns nothing"
