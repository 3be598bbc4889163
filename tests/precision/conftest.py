"""The fixture by which a test lifts kernels without compiling them."""

import pytest

from sciprec.precision import lift
from tests.oracles.uncompiled import Uncompiled
from tests.precision.ways import BOTH


@pytest.fixture(params=BOTH)
def lifted(request):
    """lifted(kernel, backend, *, seed, path, trust_inputs): what `lift` gives, for tests of where a
    kernel rounds.

    Given is the generated module run by Python, which takes milliseconds (see
    `tests.oracles.uncompiled`: it has `kernel`, `backend`, `sites`, `signature` and `text` besides
    the call, and knows floats and random bits, but no fixed point and no ufuncs). Named as it is,
    the fixture runs a test once more, as a slow one, with `lift` itself. Where compiling all that a
    test is parametrized over says nothing more, use `ways` in place of `pytest.mark.parametrize`:

        @ways(("kernel", "backend"), PAIRS, compiled=8)  # every eighth is compiled, too
        def test_twin(kernel, backend, lifted):
            made = lifted(kernel, backend, path="software")

    What refuses a kernel while its source is rewritten raises LiftError in both; what Numba's types
    refuse is refused by compiled kernels alone.
    """
    return lift if request.param == "compiled" else Uncompiled
