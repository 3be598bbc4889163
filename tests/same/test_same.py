"""The package gives what it gave: a sample of the quick digests.

`python -m tests.same compare` compares all of them.
"""

import random

import pytest

from tests.same.running import ENVIRONMENT, STORED, differences, stored_in, things

SAMPLES = {"refusals": 12, "texts": 8}


@pytest.mark.slow
@pytest.mark.parametrize("part", SAMPLES)
def test_a_sample_is_as_stored(part, monkeypatch):
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    stored, now = stored_in(STORED)[part], things(part)
    assert now.keys() == stored.keys()
    names = random.Random(0).sample(sorted(now), SAMPLES[part])
    found = {part: {name: now[name]() for name in names}}
    assert not differences({part: stored}, found, [(part, name) for name in names])


def test_a_change_is_seen(monkeypatch):
    """Of a text that a kernel becomes."""
    from sciprec.precision.rewriting.program import Program

    usual, thing = Program.text, things("texts")["values.compared"]
    stored = {"texts": stored_in(STORED)["texts"]}
    monkeypatch.setattr(Program, "text", lambda self: usual(self).replace("sp_add(", "sp_sub("))
    (said,) = differences(stored, {"texts": {"values.compared": thing()}},
                          [("texts", "values.compared")])  # fmt: skip
    assert said.startswith("texts: values.compared: other lift fp64, lift fp32")
