"""The search for the fewest bits: against kernels whose need is known, and planted curves."""

import random

import numpy as np
import pytest

import sciprec
from sciprec.tools.tune.search import least_from, least_holding
from sciprec.workbench.study import kernel_page
from sciprec.workbench.study.kernel_page import MOST, Search, TriedFormat
from tests.studies import kernels


@pytest.fixture
def quiet(monkeypatch, blank_figures):
    """Without the formats that are tried for the curve's sake alone: each compiles for a second."""
    monkeypatch.setattr(kernel_page, "_CURVE", ())


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


def searched(good):
    """The search over a planted curve, significands that meet the tolerance: its bits and what it
    tried.
    """
    tried = {}

    def passes(bits):
        tried[bits] = bits in good
        return tried[bits]

    return least_holding(passes, 2, MOST, kernel_page._CURVE), tried


def test_every_significand_above_that_was_tried_holds():
    """Over random curves that are not monotone."""
    draw = random.Random(5)
    for _ in range(300):
        edge = draw.randint(2, 53)
        good = {b for b in range(2, 53) if (b >= edge) != (draw.random() < draw.choice((0, 0.1)))}
        bits, tried = searched(good)
        assert bits == MOST or tried[bits]
        assert all(meets for b, meets in tried.items() if b >= bits)
        neighbours = [b for b in range(bits - 2, bits + 3) if 2 <= b < MOST]
        assert set(neighbours) <= tried.keys() and set(kernel_page._CURVE) <= tried.keys()
        if good == set(range(edge, 53)):
            assert bits == edge


def test_chance_is_told():
    bits, tried = searched({7, *range(9, 53)})
    formats = [TriedFormat(b, 390, f"float:p={b}", (2.0 - 1.5 * tried[b],)) for b in sorted(tried)]
    result = Search(bits, tuple(formats))
    assert bits == 9 and "7 would do too, but not some of more bits" in result.sentence


def underflowing(x, out):
    """1 where a product of small numbers, brought back, is 1.25 or lost altogether; 0 where it is
    rounded to 1.
    """
    t = x[0] * x[1] * x[1] * x[1] * x[1]
    out[0] = 0.0 if t / x[1] / x[1] / x[1] / x[1] == 1.0 else 1.0


def test_exponents_are_not_fewer_than_some_that_fail(tmp_path, quiet):
    """1.25 * 2^-16 is rounded with 5 bits of exponent, and vanishes with fewer."""
    given = (np.array([1.25, 2.0**-4]), np.zeros(1))
    result = sciprec.study(
        underflowing, given, search="bits", tolerance=0.0, out=tmp_path, threads=1
    ).search
    assert (result.bits, result.exponent_bits, result.ranges) == (3, 6, (-16, 0))
    assert [(t.emax, t.meets) for t in result.exponents_tried] == [(15, False), (31, True)]


@pytest.mark.parametrize("start", range(2, 10))
def test_the_least_from_a_start(start):
    """All numbers from the least to the start pass; where it does not, the next that does."""
    for good in (range(2, 10), range(5, 10), (), (2, 3, 6, 7, 9)):
        least = least_from(start, good.__contains__, 3, 10)
        between = range(min(least, start), max(least, start) + 1)
        if least == 10:
            assert not set(range(start, 10)) & set(good)
        elif least > start:
            assert set(between) & set(good) == {least}
        else:
            assert set(between) <= set(good)
            assert least <= 3 or least - 1 not in good
