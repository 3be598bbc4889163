"""Fitted coefficients: what a fit returns, that it is never worse than the carry, and messages."""

import tomllib

import numpy as np
import pytest

import sciprec
from sciprec.foundation.errors import InputError
from sciprec.machine.fit import _search, fit_compensation
from sciprec.workbench.kinds import kinds, parse_scenario
from tests.shell.conftest import CLIMATE, HESTON


@pytest.mark.slow
def test_a_fit_is_at_least_as_good_as_the_carry():
    content = tomllib.loads(CLIMATE)
    content["climate"] |= {"truncation": 10, "step_seconds": 600.0}
    found = sciprec.machine.fit_compensation(
        parse_scenario(content), "mlu370", length=0.25, evaluations=20
    )
    assert set(found.coefficients) == {"vorticity", "divergence", "geopotential"}
    assert found.fitted <= found.carry < found.without / 2
    assert found.unseen[1] < found.unseen[0] / 2
    assert found.evaluations <= 20 and found.backend == "mlu370"
    assert found.helps == (found.unseen[2] < found.unseen[1])


def test_search_finds_a_minimum_inside_the_bounds():
    best = np.array([0.7, 0.4])
    found, used = _search(lambda shares: float(np.sum((shares - best) ** 2)) + 1e-3, 1, 200)
    np.testing.assert_allclose(found, best, atol=0.02)
    assert used <= 200
    found, _ = _search(lambda shares: float(5.0 + shares[0] + shares[1]), 1, 200)
    np.testing.assert_allclose(found, 0.0, atol=0.01)


def test_kinds_with_compensation_can_be_fitted():
    own = [kinds()[name] for name in ("climate", "heston")]
    assert [kind.fitting is not None for kind in own] == [True, False]
    assert [kind.scenario.takes_compensation for kind in own] == [True, False]


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        (HESTON, {}, "of kind 'heston', whose compensation has no coefficients; accepted: climate"),
        (CLIMATE, {"evaluations": 0}, "evaluations is 0; accepted: a whole number >= 1"),
        (
            CLIMATE.replace("williamson_5", "rossby_haurwitz"),
            {},
            "'barotropic_vorticity' has no heig",
        ),
        (
            CLIMATE.replace("days = 3.0", "days = 3.0\nstep_seconds = 21600.0"),
            {"length": 3.0},
            "case 'williamson_5' breaks down in fp64 already; fit a shorter run with length=...",
        ),
    ],
)
def test_messages(text, options, words):
    with pytest.raises(InputError) as caught:
        fit_compensation(parse_scenario(tomllib.loads(text)), **options)
    assert words in str(caught.value)
