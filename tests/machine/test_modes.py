"""Modes: what is in force, from where, and the sentence for every wrong value."""

import pytest

from sciprec.arrays.sums.compensation import Compensation
from sciprec.foundation.errors import InputError
from sciprec.precision.formats.backend import resolve_backend
from sciprec.workbench.batch import modes
from sciprec.workbench.batch.modes import MODES, in_force


def lines(found):
    """name -> (value, source)."""
    return {s.name: (s.value, s.source) for s in found.settings}


def test_nothing_said_is_the_default():
    found = in_force({}, {})
    assert (found.backends, found.compensation) == ((), None)
    assert lines(found) == {
        "precision": ("none chosen", "default"),
        "compensation": ("off", "default"),
    }
    assert in_force({"PATH": "/bin", "MLU_VISIBLE_DEVICES": "0", modes.ALPHA: " "}) == found


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_is_a_backend(mode):
    found = in_force({modes.PRECISION: mode})
    assert found.backends == (MODES[mode],)
    assert resolve_backend(MODES[mode]).name == MODES[mode]
    said = f"{mode} (backend {MODES[mode]})"
    assert lines(found)["precision"] == (said, "environment variable MLU_PRECISION_MODE")


def test_compensation_from_the_environment():
    environ = {modes.ENABLE: "1", modes.ALPHA: "0.9", modes.BETA: "0.1", modes.RESET: "100"}
    found = in_force(environ)
    assert found.compensation == Compensation(0.9, 0.1, 100)
    assert lines(found)["alpha"] == ("0.9", "environment variable MLU_COMP_ALPHA")
    assert lines(found)["reset_every"] == ("100", "environment variable MLU_COMP_RESET")
    defaults = in_force({modes.ENABLE: "on", modes.BETA: "0.25"})
    assert defaults.compensation == Compensation(1.0, 0.25, None)
    assert lines(defaults)["alpha"] == ("1", "default")
    assert lines(defaults)["reset_every"] == ("never", "default")
    off = in_force(environ | {modes.ENABLE: "0"})
    assert off.compensation is None
    assert lines(off)["compensation"] == ("off", "environment variable MLU_ENABLE_COMPENSATION")
    assert in_force({modes.ALPHA: "0.5"}).compensation is None


def test_scenario_keys_take_precedence_over_the_environment():
    environ = {modes.PRECISION: "fix32", modes.ENABLE: "1", modes.ALPHA: "0.9"}
    found = in_force(environ, {"backends": ("fp16", "bf16"), "compensation": ("none", "carry")})
    assert found.backends == ("fp16", "bf16")
    assert found.compensation == ("none", "carry")
    assert lines(found) == {
        "precision": ("fp16, bf16", "scenario key 'backends'"),
        "compensation": ("none, carry", "scenario key 'compensation'"),
    }
    partly = in_force(environ, {"backends": ("fp16",), "compensation": ()})
    assert partly.backends == ("fp16",)
    assert partly.compensation.alpha == 0.9


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        (modes.PRECISION, "fp64", "accepted: fp32, fp32_noguard, fp32_noise, mix_fp32_fix16, fix"),
        (modes.PRECISION, "FIX32", "environment variable MLU_PRECISION_MODE is 'FIX32'; accepted"),
        (modes.ENABLE, "maybe", "MLU_ENABLE_COMPENSATION is 'maybe'; accepted: 1, true, yes, on,"),
        (modes.ALPHA, "much", "MLU_COMP_ALPHA is 'much'; accepted: a number from 0 to 2, such as "),
        (modes.ALPHA, "nan", "MLU_COMP_ALPHA is 'nan'; accepted: a number from 0 to 2"),
        (modes.BETA, "-0.1", "MLU_COMP_BETA is '-0.1'; accepted: a number from 0 to 2"),
        (modes.RESET, "0", "MLU_COMP_RESET is '0'; accepted: a whole number of updates > 0; lea"),
        (modes.RESET, "1e3", "MLU_COMP_RESET is '1e3'; accepted: a whole number of updates"),
        ("MLU_COMP_ALFA", "1", "environment variable MLU_COMP_ALFA is set but not known; known: M"),
        ("MLU_PRECISION", "fix32", "not known; known: MLU_PRECISION_MODE, MLU_ENABLE_COMPENSATION"),
    ],
)
def test_wrong_values_get_one_sentence_whoever_takes_precedence(variable, value, words):
    for keys in ({}, {"backends": ("fp32",), "compensation": ("none",)}):
        with pytest.raises(InputError) as caught:
            in_force({variable: value}, keys)
        assert words in str(caught.value)
        assert "\n" not in str(caught.value)
