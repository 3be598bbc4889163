"""Seals: what was stored is told from what was damaged or edited, whatever it holds."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciprec.foundation.sealed import SEAL, is_sealed, sealed

PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
JSON = st.recursive(
    PLAIN, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8
)
OBJECTS = st.dictionaries(st.text(), JSON, max_size=4)


@pytest.mark.slow
@settings(max_examples=40)
@given(OBJECTS)
def test_what_was_stored_is_sealed_and_sealing_again_changes_nothing(content):
    stored = sealed(content)
    assert is_sealed(json.loads(json.dumps(stored)))
    assert is_sealed(json.loads(json.dumps(stored, sort_keys=True, indent=2)))
    assert sealed(stored)[SEAL] == stored[SEAL]


@pytest.mark.slow
@settings(max_examples=60)
@given(OBJECTS, st.data())
def test_a_changed_character_is_no_longer_sealed(content, data):
    text = json.dumps(sealed(content))
    at = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.characters(max_codepoint=126).filter(lambda c: c != text[at]))
    try:
        read = json.loads(text[:at] + other + text[at + 1 :])
    except ValueError:
        return
    before = json.loads(text)
    assert is_sealed(read) == (
        json.dumps(read, sort_keys=True) == json.dumps(before, sort_keys=True)
    )


def test_nothing_else_is_sealed():
    assert not any(map(is_sealed, [None, [], "", 3, {}, {SEAL: ""}, {SEAL: None}, {"a": 1}]))
