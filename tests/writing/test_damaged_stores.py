"""Stored files prove themselves, whatever damages it."""

import random

import pytest

from tests.writing.damaged_stores import STORES


@pytest.mark.slow
@pytest.mark.parametrize("store", STORES, ids=lambda store: store.__name__)
def test_what_is_damaged_is_not_taken_for_what_it_is_not(store, tmp_path, monkeypatch):
    for seed in range(40):
        monkeypatch.setenv("SCIPREC_CACHE_DIR", str(tmp_path / f"{seed}"))
        store(random.Random(seed))
