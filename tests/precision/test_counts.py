"""Counts of a profile are those of the kernel run as plain Python on floats that count."""

from collections import Counter

import numpy as np
import pytest

from sciprec.precision import lift
from tests.precision.test_corpus import CORPUS

COUNTED: Counter = Counter()


class Counting(float):
    """A number that counts what is done with it; a literal power as its products."""

    def __pow__(self, exponent):
        if not isinstance(exponent, int):
            COUNTED["pow"] += 1
        elif exponent:
            bits = f"{abs(exponent):b}"
            COUNTED["mul"] += len(bits) + bits.count("1") - 2
            COUNTED["div"] += exponent < 0
        return Counting(float(self) ** exponent)


def _counting(name, method):
    def operation(self, *other):
        result = getattr(float, method)(self, *other)
        COUNTED[name] += 1
        return result if result is NotImplemented else Counting(result)

    return operation


for _name, _stem in {"add": "add", "sub": "sub", "mul": "mul", "div": "truediv"}.items():
    for _method in (f"__{_stem}__", f"__r{_stem}__"):
        setattr(Counting, _method, _counting(_name, _method))
for _method in ("__neg__", "__pos__", "__abs__"):
    setattr(Counting, _method, _counting("signs", _method))


def counting(x):
    """A copy of an argument, its floats as counting ones."""
    if isinstance(x, np.ndarray) and x.dtype.kind == "f":
        return np.array([Counting(v) for v in x.flat], object).reshape(x.shape)
    return Counting(x) if isinstance(x, float) else x


def in_place(x, out):
    y = x * 1.5
    y += x
    y -= x[0]
    y **= 3
    out[:] = y
    out *= 2.0


def sums(x, out):
    s = 0.0
    p = 1.0
    for i in range(x.size):
        s += x[i] * x[i]
        s -= x[i]
        p *= x[i] / 3.0
        out[i] += s
    out[0] /= p


CHOSEN = ("foreign.heat", "foreign.newton_root", "arrays.both", "arrays.long_stored")


@pytest.mark.parametrize("name", CHOSEN)
def test_operations_of_the_corpus(name):
    entry = CORPUS[name]
    _require_the_same(entry.kernel, entry.make(), entry.plain)


def _require_the_same(kernel, args, plain):
    COUNTED.clear()
    plain(*map(counting, args))
    COUNTED.pop("signs", None)
    wanted = dict(COUNTED)
    found = lift(kernel, "fp64").profile(*args).operations
    assert {name: found.get(name, 0) for name in wanted} == wanted
    assert found.keys() <= wanted.keys() | {"load", "store", "neg", "abs"}


def test_loads_and_stores_of_elements():
    x, out = np.linspace(1.0, 2.0, 10), np.zeros(10)
    found = {k: lift(k, "fp64").profile(x, out).operations for k in (in_place, sums)}
    assert (found[sums]["load"], found[sums]["store"]) == (4 * 10 + 10 + 1, 11)
    assert found[in_place]["store"] == 3 * 10 + 10 + 10
