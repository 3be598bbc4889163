"""Lists of runs, batch.json, changed at random: a page, or one sentence."""

import copy
import json
import random

import pytest

from sciprec.foundation.errors import InputError
from sciprec.foundation.sealed import sealed
from sciprec.report.page import render
from sciprec.report.stored.batch import MANIFEST, read_batch

VALUES = [
    None, True, False, 0, 1, -1, 2**31, 10**400, 0.0, -2.5, 1e308, float("nan"), float("inf"), "",
    "fp64", "fp16", "none", "..", "/etc/passwd", "a\0b", "\ud800", "x" * 5000, "\u202e", "{{7*7}}",
    "little_climate", "little_climate__fp64.nc", "little_climate__fp16.nc", [], {}, [[]], {"": {}},
    [None], [{}], [1, "a"], {"file": 1}, {"a": ["b"]},
]  # fmt: skip


def places(content, here=()):
    """The path of every value inside tables and arrays."""
    inner = content.items() if isinstance(content, dict) else enumerate(content)
    for key, value in inner:
        yield (*here, key)
        if isinstance(value, (dict, list)):
            yield from places(value, (*here, key))


def changed(content, rng, seal=sealed):
    """The text of a list with one to three values replaced, removed, nested, exchanged, doubled.

    Args:
        content: of the list.
        rng: decides.
        seal: of what has changed; left out, it fits, so that it is not the seal that tells.
    """
    content = copy.deepcopy(content)
    for _ in range(rng.randint(1, 3)):
        found = list(places(content))
        *way, key = rng.choice(found)
        table = content
        for step in way:
            table = table[step]
        match rng.randrange(6):
            case 0:
                del table[key]
            case 1 if isinstance(table, list):
                table.append(copy.deepcopy(table[key]))
            case 2:
                table[key] = rng.choice([[table[key]], {"": table[key]}])
            case 3:
                other = rng.choice(list(table) if isinstance(table, dict) else range(len(table)))
                table[key], table[other] = table[other], table[key]
            case _:
                table[key] = rng.choice(VALUES)
    text = json.dumps(seal(content))
    if rng.random() < 0.1:
        deep = "[" * 100_000
        text = rng.choice([text[: rng.randrange(len(text))], deep, text.replace("null", deep), ""])
    return text


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0])
def test_changed_lists_are_a_page_or_one_sentence(own_batch, seed, blank_figures):
    rng, manifest = random.Random(seed), own_batch.folder / MANIFEST
    whole = json.loads(manifest.read_text(encoding="utf-8"))
    refused = set()
    for _ in range(150 if seed else 40):
        text = changed(whole, rng)
        manifest.write_text(text, encoding="utf-8")
        try:
            assert render(read_batch(own_batch.folder)).startswith("<!doctype html>"), text
        except InputError as error:
            said = str(error)
            assert "\n" not in said and said.isprintable() and len(said) < 1000, text
            refused.add(said)
    assert len(refused) > 15
