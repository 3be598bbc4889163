"""The coefficient tables are what the fit gives, and as good as the functions need."""

import importlib.util
import pathlib
import sys

import mpmath
import pytest

from sciprec.precision.elementary import coefficients, exponential, logarithm, trigonometric

FIT = pathlib.Path(__file__).parents[2] / "data" / "precision" / "fit.py"


def _program():
    spec = importlib.util.spec_from_file_location("fit", FIT)
    sys.modules["fit"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


fit = _program()

LARGEST_ERROR_BITS = {
    "EXP": -52.5,
    "LOG": -51,
    "LOG2": -53.5,
    "SIN": -56,
    "COS": -58,
    "ATAN": -55,
    "ERF": -55,
    "ERFCX": -53,
    "CBRT": -17,
    "NORMAL_CENTRAL": -53.5,
    "NORMAL_TAIL": -55,
    "STIRLING": -56,
    "LOG_STIRLING": -57,
    "LOG_GAMMA": -55,
}
"""log2 of the error that each table may have, from the error bounds of its function."""


@pytest.mark.parametrize("name", fit.FITS)
def test_stored_coefficients_are_good_enough(name):
    below = getattr(coefficients, name + "_BELOW", (1.0,))
    error = fit.largest_error(fit.FITS[name], getattr(coefficients, name), below, samples=60)
    assert mpmath.log(error, 2) < LARGEST_ERROR_BITS[name]


def test_split_constants():
    """A head and a tail together have the constant to 2^-95; short heads end at 2^-43."""
    with mpmath.mp.workdps(fit.DIGITS):
        log2, pi = mpmath.log(2), mpmath.pi
        pairs = [
            (exponential.LN2, exponential.LN2_TAIL, log2),
            (exponential.LN2_HIGH, exponential.LN2_LOW, log2),
            (logarithm.LOG2_E, logarithm.LOG2_E_TAIL, 1 / log2),
            (logarithm.LOG10_E, logarithm.LOG10_E_TAIL, 1 / mpmath.log(10)),
            (logarithm.LOG10_2_HIGH, logarithm.LOG10_2_LOW, mpmath.log10(2)),
            (logarithm.TWO_LOG2_E, logarithm.TWO_LOG2_E_TAIL, 2 / log2),
            (logarithm.TWO_THIRDS_LOG2_E, logarithm.TWO_THIRDS_LOG2_E_TAIL, 2 / (3 * log2)),
            (trigonometric.HALF_PI, trigonometric.HALF_PI_TAIL, pi / 2),
            (trigonometric.QUARTER_PI, trigonometric.QUARTER_PI_TAIL, pi / 4),
        ]
        for head, tail, constant in pairs:
            assert abs(mpmath.mpf(head) + mpmath.mpf(tail) - constant) < mpmath.mpf(2) ** -95
    for head in (exponential.LN2_HIGH, logarithm.LOG10_2_HIGH):
        assert (head * 2**43).is_integer()


@pytest.mark.slow
def test_the_whole_module_is_what_the_fit_prints():
    assert pathlib.Path(coefficients.__file__).read_text(encoding="ascii") == fit.source()


def test_unknown_arguments_are_refused():
    with pytest.raises(SystemExit, match="unknown arguments '--wirte'; accepted: --write"):
        fit.main(["--wirte"])
