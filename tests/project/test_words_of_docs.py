"""The prose of the documentation is light, and its pages are short."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def counting():
    return SimpleNamespace(**runpy.run_path(ROOT / "docs/count_words.py"))


def test_pages_are_light(counting):
    assert counting.heavy() == {}


def test_pages_are_short(counting):
    for name in counting.pages():
        words = len((ROOT / "docs" / name).read_text(encoding="utf-8").split())
        assert words <= 1500, (name, words)


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
