"""The search for the fewest bits: against kernels whose need is known, and planted curves."""

import random

import numpy as np
import pytest

import sciprec
from sciprec.workbench.study import bit_search
from sciprec.workbench.study.bit_search import MOST, Search, TriedFormat
from tests.studies import kernels


@pytest.fixture
def quiet(monkeypatch, blank_figures):
    """Without the formats that are tried for the curve's sake alone: each compiles for a second."""
    monkeypatch.setattr(bit_search, "_CURVE", ())


def needing(bits, low, high):
    """Numbers of so many significant bits each, of exponents from `low` to `high`."""
    odd = 2.0 ** (bits - 1) + 1.0
    return np.array([odd * 2.0 ** (e - bits + 1) for e in range(low, high + 1)])


def test_bits_and_exponents_of_numbers_that_are_only_moved(tmp_path, quiet):
    """y = x is exact where the significand holds x; 2^-6 ... 2^7 are the exponents of 4 bits."""
    given = [(needing(9, -6, 3), np.zeros(10)), (needing(11, -5, 7), np.zeros(13))]
    made = sciprec.study(
        kernels.moved, given, search="bits", tolerance=0.0, out=tmp_path, threads=1
    )
    found = made.search
    assert (found.bits, found.exponent_bits, found.ranges) == (11, 4, (-6, 7))
    assert found.lucky == () and found.backend == "float:e=4,m=10"
    assert {9: (False, True), 10: (False, True)}.items() <= {
        t.bits: tuple(r == 0.0 for r in t.ratios[::-1]) for t in found.tried
    }.items()
    status = {row["label"]: row["status"] for row in made.table}
    assert status == {
        "fp64": "truth", "float:e=4,m=10": "identical", "float:e=4,m=9": "beyond"
    }  # fmt: skip
    page = made.page.read_text(encoding="utf-8")
    assert "11 significant bits are enough" in page and "2^-6 to below 2^8" in page


def test_what_only_binary64_holds(tmp_path, quiet, call):
    np.savez(tmp_path / "given.npz", x=needing(53, 0, 1), y=np.zeros(2))
    code, out, err = call(
        "study", f"{kernels.__file__}:moved", "--inputs", tmp_path / "given.npz", "--search",
        "bits", "--tolerance", "0", "--out", tmp_path / "out",
    )  # fmt: skip
    assert code == 1 and "No significand below" in out, (out, err)
    assert "No significand below" in (tmp_path / "out/index.html").read_text(encoding="utf-8")


class Planted:
    """Trials whose outcome is known: significands that meet the tolerance."""

    def __init__(self, good):
        self.good, self.known = good, {}

    def of_bits(self, bits):
        self.known[bits] = TriedFormat(
            bits, 390, f"float:p={bits}", (0.5 if bits in self.good else 2.0,)
        )
        return self.known[bits]


def test_every_significand_above_that_was_tried_holds():
    """Over random curves that are not monotone."""
    draw = random.Random(5)
    for _ in range(300):
        edge = draw.randint(2, 53)
        good = {b for b in range(2, 53) if (b >= edge) != (draw.random() < draw.choice((0, 0.1)))}
        trial = Planted(good)
        bits = bit_search._least_significand(trial)
        tried = {b: one.meets for b, one in trial.known.items()}
        assert bits == MOST or tried[bits]
        assert all(meets for b, meets in tried.items() if b >= bits)
        neighbours = [b for b in range(bits - 2, bits + 3) if 2 <= b < MOST]
        assert set(neighbours) <= tried.keys() and set(bit_search._CURVE) <= tried.keys()
        below = [b for b in range(2, bits) if b in good]
        if good == set(range(edge, 53)):
            assert bits == edge and not below


def test_chance_is_told():
    trial = Planted({7, *range(9, 53)})
    bits = bit_search._least_significand(trial)
    tried = tuple(trial.known[b] for b in sorted(trial.known))
    lucky = tuple(t.bits for t in tried if t.bits < bits and t.meets)
    found = Search(bits, tried, lucky, None, None, "float:p=9", ())
    assert bits == 9 and "7 would do too, but not some of more bits" in found.sentence
