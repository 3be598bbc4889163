"""Traces and bounds of np.searchsorted, np.digitize and arrays of nested lists."""

from __future__ import annotations

import numpy as np
import pytest

from sciprec import bound, trace
from tests.diagnosis.trace_checks import checked


def searches(edges, x, out, also):
    for i in range(x.size):
        left = np.searchsorted(edges, x[i])
        right = np.searchsorted(edges, v=x[i] * 1.0, side="right")
        out[i] = 0.1 * left + right
    also[:] = 0.1 * np.searchsorted(edges, x, "left") + np.searchsorted(edges, x, side="right")


@pytest.mark.parametrize("kind", ["sorted", "unsorted", "ties", "infinite", "empty"])
def test_places_are_those_of_lift(kind):
    """In sorted vectors and in others, with equal elements, NaN and infinities."""
    rng = np.random.default_rng(len(kind))
    edges, x = rng.normal(size=13), rng.normal(size=40)
    if kind == "ties":
        edges, x = np.round(edges), np.round(x)
    if kind == "infinite":
        edges[:4] = x[:4] = [np.nan, np.inf, -np.inf, np.nan]
    edges = edges[:0] if kind == "empty" else edges if kind == "unsorted" else np.sort(edges)
    checked(searches, "fp16", (edges, x, np.zeros(40), np.zeros(40)))


def interval(edges, x):
    return np.searchsorted(edges, x * 1.1) * x


@pytest.mark.slow
def test_a_place_that_exact_values_would_not_find_is_a_branch():
    edges = np.array([0.1, 1.1, 2.3])
    found = trace(interval, "fp16", (edges, 1.0 + 2.0**-12), samples=1)
    assert [b.source for b in found.branches] == ["return np.searchsorted(edges, x * 1.1) * x"]
    assert not trace(interval, "fp16", (edges, 1.5), samples=1).branches
    proven = bound(interval, "fp16", (edges, 1.5))
    assert proven.largest["return"] < 0.05
