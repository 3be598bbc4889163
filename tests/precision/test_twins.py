"""Every registered kernel: its source on self-rounding scalars equals the lifted one, which is run
uncompiled; the compiled ones are a sample.
"""

from copy import deepcopy

import numpy as np
import pytest

from tests.oracles.twin import run_twin
from tests.precision.comparison import assert_same, numbers_of
from tests.precision.registered import registered_kernels
from tests.precision.ways import ways
from tests.random_kernels.backends import resolved

KERNELS = registered_kernels()
BACKENDS = ("mlu370", "mlu370-noguard", "roles: binary16, bfloat16, binary32 rz, tf32")
"""In turn. binary64 and binary32 are seen beside Numba and the twin in `test_lift`."""
PAIRS = [(name, resolved(BACKENDS[number % 3])) for number, name in enumerate(KERNELS)]


@pytest.mark.slow
@ways(("name", "backend"), PAIRS, compiled=30)
def test_twin(name, backend, lifted):
    """All that it returns and writes, to the last bit."""
    function, given = KERNELS[name].function, KERNELS[name].example()
    ours, theirs = deepcopy(given), deepcopy(given)
    found, expected = lifted(function, backend)(*ours), run_twin(function, backend, theirs)
    arrays = [n for n, x in enumerate(given) if isinstance(x, np.ndarray)]
    for n in arrays:
        assert_same(ours[n], theirs[n], f"{name} in {backend.name}: argument {n}")
    assert_same(found, expected, f"{name} in {backend.name}: returned value")
    written = any(not np.array_equal(given[n], ours[n], equal_nan=True) for n in arrays)
    assert written or numbers_of(found).size, f"the example of {name} writes and returns nothing"
