"""Kernels that need not round what they load, because their arguments were looked through."""

import math

import numpy as np
import pytest

from sciprec import quantize
from sciprec.precision import lift, resolve_backend
from sciprec.precision.lifting import proof
from sciprec.precision.lifting.proof import in_format
from tests.precision.comparison import bits


@pytest.fixture
def at_once(monkeypatch):
    """A kernel is compiled again as soon as a call of it was timed."""
    for name, value in (("FIRST_SECONDS", 0.0), ("SECONDS_A_SITE", 0.0), ("LARGEST_SHARE", 1e9)):
        monkeypatch.setattr(proof, name, value)


def relaxed(x, y, out):
    for _ in range(3):
        for i in range(1, x.size - 1):
            out[i] = 0.3 * x[i] - y[0][i] * (x[i - 1] + out[i + 1]) / (y[1] + x[i])
    return out


def numbers(backend, dtype, n=70):
    rng = np.random.default_rng(9)
    return quantize(rng.standard_normal((3, n)) * np.exp2(rng.integers(-9, 9, n)), backend).astype(
        dtype
    )


def called(lifted, x, y, out):
    """Its results as bits; the second of two calls is the first that may trust."""
    return bits(lifted(x, (y, 0.7), out)), bits(out)


@pytest.mark.parametrize(
    ("backend", "dtype"), [("fp16", np.float32), ("float:p=30", np.float64)]
)  # fmt: skip
def test_a_proven_call_has_the_same_bits(at_once, backend, dtype):
    x, y, out = numbers(backend, dtype)
    lifted, rounding = lift(relaxed, backend), lift(relaxed, backend)
    for _ in range(3):
        found = out.copy()
        expected = out.copy()
        given = bits(rounding.dispatcher(x, (y, 0.7), expected)), bits(expected)
        assert called(lifted, x, y, found) == given
        assert lifted._proof._spent > 0.0
    assert lifted._proof._trusting not in (None, lifted.dispatcher)
    x[-1] *= 1.0 + 2.0**-20 if dtype == np.float32 else 1.0 + 2.0**-40
    found, expected = out.copy(), out.copy()
    given = bits(rounding.dispatcher(x, (y, 0.7), expected)), bits(expected)
    assert lifted._proof.entry((x, (y, 0.7), found)) is lifted.dispatcher
    assert called(lifted, x, y, found) == given


def test_what_is_its_own_rounding():
    fp16, mlu370 = resolve_backend("fp16"), resolve_backend("mlu370")
    ones = np.ones((40, 3))
    assert in_format((ones, ones.T, np.arange(4), 0.1, (ones.astype("f4"), None)), fp16)
    assert in_format(np.array([-0.0, 2.0**-24, np.inf, 65504.0]), fp16)
    assert in_format(np.empty(0), fp16) and in_format(np.array(0.5), fp16)
    for bad in (0.1, 2.0**-25, 65505.0, 1e300, 1e-300):
        for place in (0, 39):
            x = ones.copy()
            x[place, 2] = bad
            assert not in_format(x, fp16) and not in_format((1, (ones, x)), fp16), bad
    assert not in_format(ones[::2], fp16)
    assert not in_format(ones.astype(">f8"), fp16)
    assert in_format(np.array([-0.0, 2.0**-126], "f4"), mlu370)
    assert not in_format(np.array([2.0**-127], "f4"), mlu370)
    payload = np.array([0x7FC00000, 0x7FC12345, 0xFFFFFFFF], np.uint32).view("f4")
    assert [in_format(payload[i : i + 1], resolve_backend("bf16")) for i in range(3)] == [
        True, False, False
    ]  # fmt: skip


def one_of_many(x, out):
    for i in range(x.size):
        out[i] = math.exp(x[i]) * 0.3 + 0.7


def in_a_list(x, o, out):
    y = [0.5, 2049]
    y.append(o[0])
    y += [2049]
    for i in range(x.size):
        out[i] = x[i] + y[1] + (y[2] - y[3])


def read(y, i):
    return y[i]


def in_a_function(x, o, out):
    y = np.append(out, o)
    for i in range(x.size):
        out[i] = x[i] + read(y, o.size)


def again(x, o, out):
    if o.size:
        again(np.append(x, o), o[:0], out)
        return
    for i in range(out.size):
        out[i] = x[i + out.size] + 0.75


def of_a_comprehension(x, o, out):
    rows = [np.append(out, o), np.append(out, o)]
    first = [x[4] + 0.75 for x in rows]
    for i in range(out.size):
        out[i] = first[0]


def rebound(x, o, out):
    x = np.append(x, o)
    for i in range(out.size):
        out[i] = x[i + out.size] + 0.75


@pytest.mark.parametrize(
    "kernel",
    [in_a_list, in_a_function, pytest.param(again, marks=pytest.mark.slow),
     of_a_comprehension, rebound],
)  # fmt: skip
def test_what_a_kernel_makes_of_integers_is_rounded_at_every_call(at_once, kernel):
    """2049 is 2048 in fp16, and so is 0.75 more, which was 2050 once the kernel was trusted."""
    lifted = lift(kernel, "fp16")
    for _ in range(4):
        out = np.full(4, 0.5)
        lifted(np.full(4, 0.75), np.array([2049, 2051, 2053, 2055]), out)
        assert out[0] == 2048.0


def signs(x, z, out):
    for i in range(x.size):
        z[i] = (x[i] - x[i]) / (x[i] - x[i])
    for i in range(x.size):
        out[i] = math.copysign(x[i], z[i])


def beyond(x, z, out):
    for i in range(x.size):
        out[i] = x[i] * 1048576.0 + x[i] * (1048576.0 - 1.0 / 512)
    for i in range(x.size):
        z[i] = out[i] * 0.5


@pytest.mark.parametrize(
    ("kernel", "backend", "dtype"),
    [(signs, "bf16", "f8"), (beyond, "float:p=30,emin=-20,emax=20", "f4")],
)
def test_what_a_load_changes_besides_is_changed_at_every_call(at_once, kernel, backend, dtype):
    """The sign of a NaN, and numbers that a store to float32 has rounded beyond the largest."""
    lifted, results = lift(kernel, backend), set()
    lifted._proof = proof.Proof(lifted.dispatcher, kernel, lifted.backend, "auto", 1)
    for _ in range(4):
        z, out = np.ones(4, dtype), np.ones(4, dtype)
        lifted(np.ones(4, dtype), z, out)
        results.add((z.tobytes(), out.tobytes()))
    assert len(results) == 1 and lifted._proof._trusting is None
    assert (lifted._proof._due == math.inf) == (kernel is signs)  # it is not looked at again


def test_nothing_is_compiled_again_where_it_does_not_pay(monkeypatch):
    """Neither a short run nor one whose calls are about as long as the pass."""
    x = np.ones(1000)
    for name, value in (("FIRST_SECONDS", 3600.0), ("LARGEST_SHARE", 0.0)):
        with monkeypatch.context() as changed:
            changed.setattr(proof, "FIRST_SECONDS", 0.0)
            changed.setattr(proof, "SECONDS_A_SITE", 0.0)
            changed.setattr(proof, name, value)
            lifted = lift(relaxed, "fp16")
            for _ in range(4):
                lifted(x, (x, 0.5), np.zeros(1000))
            assert lifted._proof._trusting is None
    assert lift(one_of_many, "fp16")._proof is None
    for native in ("fp32", "fp64", "float:p=8,round=sr"):
        assert lift(relaxed, native)._proof is None
    assert lift(relaxed, "fp16", trust_inputs=True)._proof is None
