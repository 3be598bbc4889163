"""The step that output times leave: never less than half of the usual one without being asked."""

import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sciprec.climate.running.request import check_request
from sciprec.climate.transform.grid import resolve_truncation
from sciprec.foundation.errors import InputError


def steps_of(truncation, days, hours, **further):
    found = check_request("williamson_5", truncation, days, output_hours=hours, **further)
    return found.step_seconds, found.every, found.stops


def test_output_times_that_would_shorten_the_step_by_more_than_half_are_refused():
    words = (
        r"days = 3.14 and output_hours = 7 leave a time step of 144 s, less than half of the 600 s "
        r"that T42 takes; what fits nearly: days = 3.13997395833, or output_hours = 7.008; to "
        r"take the short step, give step_seconds = 144"
    )
    with pytest.raises(InputError, match=words):
        steps_of("T42", 3.14, 7.0)
    assert steps_of("T42", 3.14, 7.0, step_seconds=144.0)[0] == 144.0
    assert 300.0 <= steps_of("T42", 3.13997395833, 7.0)[0] <= 600.0
    assert 300.0 <= steps_of("T42", 3.14, 7.008)[0] <= 600.0


@settings(max_examples=40)
@given(
    truncation=st.sampled_from(["T21", "T42", "T85", "T170"]),
    days=st.floats(0.01, 60.0).map(lambda x: round(x, 2)),
    hours=st.floats(0.02, 48.0).map(lambda x: round(x, 2)),
)
def test_either_the_step_is_long_enough_or_the_times_that_are_named_fit(truncation, days, hours):
    assume(24 * days / hours < 9_999)  # stored states
    usual = resolve_truncation(truncation).step_seconds
    try:
        step, every, stops = steps_of(truncation, days, hours)
    except InputError as error:
        named = re.findall(r"(?:fits nearly: |or )(days|output_hours) = ([\d.e+-]+)", str(error))
        assert named
        for name, value in named:
            given = {"days": days, "output_hours": hours} | {name: float(value)}
            step, *_ = steps_of(truncation, given["days"], given["output_hours"])
            assert step >= 0.499 * min(usual, 3600 * given["output_hours"])
        return
    assert step <= usual * (1 + 1e-9) and step >= 0.5 * min(usual, 3600 * hours, 86400 * days)
    assert stops[-1] * step == pytest.approx(86400 * days)
    assert every * step == pytest.approx(min(3600 * hours, 86400 * days))
