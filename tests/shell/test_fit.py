"""Fitted coefficients: what a fit returns, that it is never worse than the carry, and messages."""

import tomllib

import numpy as np
import pytest

import sciprec
from sciprec.arrays.sums.compensation import Compensation
from sciprec.foundation.errors import InputError
from sciprec.machine.fit import _search, fit_compensation
from sciprec.workbench.kinds import kinds, parse_scenario
from tests.shell.conftest import CLIMATE, HESTON, SUM


def test_fit_of_an_accumulation_is_at_least_as_good_as_the_carry():
    longer = SUM | {"accumulation": SUM["accumulation"] | {"updates": 40_000}}
    found = sciprec.machine.fit_compensation(parse_scenario(longer), "mlu370", evaluations=20)
    assert set(found.coefficients) == {"parameter"}
    assert found.fitted <= found.carry < found.without / 20
    assert found.unseen[1] < found.unseen[0] / 20
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
    fitted = [kind.fitting is not None for kind in kinds().values()]
    assert fitted == [kind.scenario.takes_compensation for kind in kinds().values()]
    assert Compensation() == Compensation(1.0, 0.0)


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
