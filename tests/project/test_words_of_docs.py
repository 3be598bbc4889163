"""The prose of the documentation is light, but for pages that are named here and get fewer."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]
HEAVY = set("""
explain/accumulation explain/arithmetics explain/bounds explain/digits explain/fixed_point
explain/fixed_point_kernels explain/matrix_unit explain/repeat explain/scaling how_to/extending
how_to/runs
""".split())
"""Pages that are heavier than the limits; nobody adds one."""


@pytest.fixture(scope="module")
def counting():
    return SimpleNamespace(**runpy.run_path(ROOT / "docs/count_words.py"))


def test_pages_are_light_but_for_those_named(counting):
    found = counting.heavy()
    assert {name.removesuffix(".md") for name in found} == HEAVY, found


@pytest.mark.parametrize(("text", "words", "commas", "numbers", "blocks"), [
    ("One, two, three words here. Four more words here.\n", 9, 1.0, 0.0, 0),
    ("In fp16 at T42L20 an error of 3.5e-4 m is 12 times too large.\n", 14, 0.0, 100 * 2 / 14, 0),
    ("# A, b\n\n| 1, 2 |\n\n```\n7, 8\n```\n\n- See [it, there](a,b.md) now.\n", 4, 1.0, 0.0, 1),
    ("---\na: 1, 2, 3\n---\nThe call `f(1, 2, 3)` is fine.\n", 5, 0.0, 0.0, 0),
])  # fmt: skip
def test_prose_alone_is_counted(counting, text, words, commas, numbers, blocks):
    found = counting.counted(text)
    assert (found.words, found.commas, found.blocks) == (words, commas, 1000 * blocks / words)
    assert found.numbers == pytest.approx(numbers)


def test_each_limit_is_told(counting):
    page = "A, b, c, d and 17 or 18 of " + "very " * 30 + "long ones.\n"
    assert len(counting.counted(page).too_heavy(True)) == 4
    assert counting.counted("Short and plain it is.\n").too_heavy(False) == []
