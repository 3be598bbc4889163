"""Minima and maxima in a trace: exact values take their own, errors go along secants."""

from __future__ import annotations

import numpy as np
import pytest

from sciprec import lift, trace


def extremes(x, y):
    for i in range(x.size):
        a = x[i] * x[i] - 0.25 * x[i]
        b = max(0.0, a - 0.35) + min(a, 0.3 * x[i]) + np.maximum(0.7 * x[i], a)
        y[i] = np.sqrt(max(a - 0.31, 0.0)) + b - np.fmin(a, 0.25)


@pytest.mark.parametrize("backend", ["bf16", pytest.param("fp16", marks=pytest.mark.slow)])
def test_errors_are_those_against_exact_values(backend):
    """Also where these decide otherwise: what the tested run takes the root of is negative there,
    and the root would be no number.
    """
    x, y = np.random.default_rng(1).uniform(0.2, 1.2, 4000), np.zeros((2, 4000))
    extremes(x, y[0])
    lift(extremes, backend)(x, y[1])
    found = trace(extremes, backend, (x, np.zeros(4000)))
    assert found.closure < 1e-9 and found.left_out == 0
    error = np.linalg.norm(y[1] - y[0]) / np.linalg.norm(y[0])
    assert found.outputs["y"] == pytest.approx(error, rel=1e-9)
    assert found.branches
