"""Which statements depend on what a loop carries from pass to pass."""

from __future__ import annotations

import ast

import pytest

from sciprec.instruments.tracing.program import carrying

CASES = {
    "a sum": ("for i in range(n):\n    s += x[i]\n    away = x[i] - m", {"s += x[i]"}),
    "set anew in every pass": (
        "for r in range(m):\n    s = 0.0\n    for i in range(n):\n        s += x[i]\n"
        "    mean = s / n\n    out[r] = mean",
        {"s += x[i]"},
    ),
    "what is computed from the state": (
        "for _ in range(n):\n    k = rate * u[0]\n    other = 2.0 * y\n    u[0] += h * k",
        {"k = rate * u[0]", "u[0] += h * k"},
    ),
    "what a running window gives": (
        "for i in range(n):\n    s += x[i]\n    q += x[i] * x[i]\n    if i >= w:\n"
        "        s -= x[i - w]\n        mean = s / w\n"
        "        variance = q / w - mean * mean\n        out[i] = variance",
        {"s += x[i]", "q += x[i] * x[i]", "s -= x[i - w]"},
    ),
    "what the last pass left": (
        "for i in range(n):\n    s = s + x[i]\n    step = s - before\n    before = s",
        {"s = s + x[i]"},
    ),
    "a circle of three": (
        "for _ in range(n):\n    c = a / b\n    a = b\n    b = c\n    away = c - 1.0",
        {"c = a / b", "a = b", "b = c"},
    ),
    "a called function": (
        "for _ in range(n):\n    slope(u, k)\n    u[0] = u[0] + k[0]",
        {"slope(u, k)", "u[0] = u[0] + k[0]"},
    ),
    "shapes are no state": ("for i in range(n):\n    y[i] = y.size * x[i]", set()),
    "two buffers": (
        "for _ in range(n):\n    for i in range(m):\n        new[i] = u[i - 1]\n"
        "    for i in range(m):\n        u[i] = new[i]",
        {"new[i] = u[i - 1]", "u[i] = new[i]"},
    ),
    "a condition": ("while s < 3.0:\n    s = s * 2.0\n    t = x[0]", {"s = s * 2.0"}),
}


@pytest.mark.parametrize(("body", "expected"), CASES.values(), ids=CASES)
def test_statements_that_carry(body, expected):
    text = "def f():\n" + "".join(f"    {line}\n" for line in body.split("\n"))
    tree = ast.parse(text).body[0]
    found = carrying(tree)
    assert {ast.unparse(n) for n in ast.walk(tree) if id(n) in found} == expected
