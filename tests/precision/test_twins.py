"""Every registered kernel: its source on self-rounding scalars equals the lifted one, which is run
uncompiled; the compiled ones are a sample.
"""

from copy import deepcopy

import numpy as np
import pytest

from sciprec.precision import FORMATS, Arithmetic, Backend, lift, resolve_backend
from tests.oracles.twin import run_twin
from tests.precision.comparison import assert_same, numbers_of
from tests.precision.corpus import roles
from tests.precision.registered import registered_kernels
from tests.precision.ways import ways

KERNELS = registered_kernels()
_ROLES = {
    "storage": Arithmetic(FORMATS["binary16"]),
    "compute": Arithmetic(FORMATS["bfloat16"]),
    "accumulate": Arithmetic(FORMATS["binary32"], "rz"),
    "matmul": Arithmetic(FORMATS["tf32"]),
}
MIXED = Backend("mixed roles", **_ROLES)
BACKENDS = (resolve_backend("mlu370"), resolve_backend("mlu370-noguard"), MIXED)
"""In turn. binary64 and binary32 are seen beside Numba and the twin in `test_lift`."""


HEAVY = (
    "sciprec.climate.equations.mass.restore_mass",
    "sciprec.climate.equations.primitive_implicit.",
    "sciprec.climate.transform.fft.fast_fourier",
    "sciprec.climate.transform.fourier.fourier_analysis",
    "sciprec.climate.transform.fourier.fourier_synthesis",
    "sciprec.climate.transform.legendre_stage.",
    "sciprec.climate.transform.real_fourier.",
)
"""Beginnings of the names of kernels that take seconds to compile, as the tests of models do."""


@pytest.mark.slow
def test_products_with_one_round_what_another_role_has_made():
    """Loaded numbers have the bits of the storage, sums those of the accumulator; compiled."""
    require_twin(roles.scaled, (np.array([1.001, 0.3337, -2.7]), np.zeros(3)), MIXED)


PAIRS = [(name, BACKENDS[number % 3]) for number, name in enumerate(KERNELS)]
COMPILED = [row for row in PAIRS if not row[0].startswith(HEAVY)][::30]


@ways(("name", "backend"), PAIRS, compiled=COMPILED)
def test_twin(name, backend, lifted):
    entry = KERNELS[name]
    require_twin(entry.function, entry.example(), backend, lifted=lifted)


def require_twin(function, args, backend, trusted=False, lifted=lift):
    """A lifted kernel's results and what it writes are its twin's, to the last bit."""
    name = function.__name__
    lifted_args, twin_args = deepcopy(args), deepcopy(args)
    returned = lifted(function, backend, trust_inputs=trusted)(*lifted_args)
    expected = run_twin(function, backend, twin_args)
    assert_same(returned, expected, f"{name} in {backend.name}: returned value")
    written = [
        n
        for n, a in enumerate(args)
        if isinstance(a, np.ndarray) and not np.array_equal(a, lifted_args[n], equal_nan=True)
    ]
    for n in written:
        assert_same(lifted_args[n], twin_args[n], f"{name} in {backend.name}: argument {n}")
    assert written or numbers_of(returned).size, f"the example of {name} writes and returns nothing"
