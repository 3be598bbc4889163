"""Calls that are made shorter so that their truth can be afforded: in one way, and in bounds."""

import numpy as np
import pytest

from sciprec.tools.digits import own_error
from sciprec.tools.digits.own_error import LEAST, own_errors, shortened
from tests.diagnosis.test_own_error import smooth


def sized(u, out, n):
    for i in range(1, n - 1):
        out[i] = u[i] + 0.1 * (u[i - 1] - 2.0 * u[i] + u[i + 1])


def heat(u, steps, r):
    for _ in range(steps):
        for i in range(1, u.size - 1):
            u[i] = u[i] + r * (u[i - 1] - 2.0 * u[i] + u[i + 1])


def powers(x, n):
    for _ in range(n):
        x = x * x / n
    return x


def gathered(u, at, out):
    for i in range(out.size):
        out[i] = 2.0 * u[at[i]]


def product(a, x, out):
    for i in range(out.size):
        total = 0.0
        for j in range(x.size):
            total = total + a[i, j] * x[j]
        out[i] = total


def beyond(u, out):
    for i in range(64):
        out[i] = u[u.size // 2 + i]


def staggered(u, out):
    for i in range(out.size):
        out[i] = u[i + 1] - u[i]


def windowed(u, out, width):
    for i in range(width, u.size):
        out[i] = u[i] - u[i - width]


def drawn(rng):
    """A call, and how long it is made: of which arrays, or of what; 0 where it is not."""
    whole = int(rng.integers(200, 3000))
    share = float(rng.uniform(0.05, 0.9))
    short = 2 ** int(np.log2(whole * share))
    u, out = rng.normal(size=whole), np.zeros(whole)
    at = rng.permutation(whole)
    table = rng.normal(size=(whole, 12))
    calls = [
        (smooth, (u, out), short, "elements of u and out"),
        (sized, (u, out, whole), short, "elements of u and out"),
        (sized, (u, out, whole - 1), 0, ""),
        (heat, (u[:40], whole, 0.1), short, f"steps = {short:,} in place of {whole:,}"),
        (powers, (0.3, whole), 0, ""),  # n is more than the end of a loop
        (gathered, (u, at, out), short if at[:short].max() < short else 0, "u and at and others"),
        (product, (table, u[:12], out), short, "elements of a and out"),
        (product, (np.resize(table, (whole, whole)), u, out), 0, ""),
        (beyond, (u, out), short if short >= 128 else 0, "elements of u and out"),
        (staggered, (u, out[1:]), 0, ""),
        (windowed, (u, out, int(rng.integers(short, whole))), 0, ""),
    ]
    kernel, args, length, words = calls[rng.integers(len(calls))]
    return kernel, args, share, length if length >= LEAST else 0, words


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24))
def test_calls_are_shorter_in_one_way_or_not_at_all(seed):
    kernel, args, share, length, words = drawn(np.random.default_rng(seed))
    found = list(shortened(kernel, args, share))
    assert len(found) == bool(length), (kernel, found)
    for made, said in found:
        assert f"{length:,}" in said and words in said
        for a, b in zip(args, made, strict=True):
            assert np.array_equal(np.asarray(a).ravel()[: np.size(b)], np.ravel(b)) or b == length


@pytest.mark.slow
def test_a_verdict_names_the_shorter_call(monkeypatch):
    u = np.sin(np.linspace(0.0, 3.0, 4096))
    cost = lambda function, args: 5.0 * args[0].size / 4096 + (args[0].size > 512)  # noqa: E731
    monkeypatch.setattr(own_error, "_seconds", cost)
    own = own_errors(smooth, (u, 0.0 * u), "auto", on="b.npz")
    (sentence,) = [own.sentence(name) for name in own.results]
    where = "the first 1,024 of 4,096 elements of u and out of b.npz"
    assert sentence == f"fp64 itself has 16.0 digits in out of {where}" and not own.left_out
    assert own.results["out"].numbers == 1024
    monkeypatch.setattr(own_error, "_seconds", lambda function, args: 5.0)
    assert own_errors(smooth, (u, 0.0 * u), "auto").left_out.startswith("a run beside exact")
    assert own_errors(smooth, (u, 0.0 * u), "dd").results["out"].numbers == 4096
