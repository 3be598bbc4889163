"""Ensembles of the model itself: fp64 passes at its nominal rate, arithmetics of few bits fail.

The jet of Galewsky et al. (2004) at T21, day 6, initial heights perturbed by one part in ten
thousand; made by data/climate/make_ensemble.py.
"""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest

from sciprec import climate
from sciprec.results.comparison.evidence.consistency import NO, YES, ensemble_consistency
from sciprec.results.comparison.evidence.distributions import compare_distributions
from sciprec.results.comparison.evidence.global_means import table_of_means

FILE = Path(__file__).parents[2] / "data" / "climate" / "galewsky_t21_ensemble.npz"


@pytest.fixture(scope="module")
def stored():
    with np.load(FILE) as content:
        return dict(content)


def test_fp64_passes_at_its_nominal_rate(stored):
    """80 disjoint triples against all other members."""
    ensemble = stored["fp64"]
    order = np.random.default_rng(0).permutation(len(ensemble))
    found = [
        ensemble_consistency(np.delete(ensemble, three, axis=0), ensemble[three])
        for three in order.reshape(-1, 3)
    ]
    failures = sum(one.answer == NO for one in found)
    assert len(found) == 80 and found[0].components == 23
    assert found[0].false_alarm < 1e-3
    assert binomtest(failures, 80, found[0].false_alarm, "greater").pvalue > 1e-3
    outside = np.mean([np.mean(one.outside) / one.components for one in found])
    assert outside == pytest.approx(0.055, abs=0.015)  # 0.047 of a normal law


def test_fp64_has_its_own_distribution(stored):
    """Random halves of 60 members, 100 times; the level is 5 % at most."""
    rng = np.random.default_rng(1)
    said = []
    for _ in range(100):
        drawn = stored["fp64"][rng.permutation(240)[:60]]
        said.append(compare_distributions(drawn[:30], drawn[30:]).answer)
    assert binomtest(said.count(NO), 100, 0.05, "greater").pvalue > 1e-3


@pytest.mark.parametrize(
    ("label", "answer"),
    [
        ("fp32", YES), ("mlu370", NO), ("mlu370+carry", YES), ("fp16", NO), ("fp16+carry", NO),
        ("bf16", NO), ("bf16+carry", NO),
    ],
)  # fmt: skip
def test_each_arithmetic_is_told_from_fp64_or_not(stored, label, answer):
    found = ensemble_consistency(stored["fp64"], stored[label], stored["names"])
    assert found.answer == answer, found.reason
    if answer == NO:
        assert len(found.failed) >= 10
    assert found.unlike == ()


@pytest.mark.slow
@pytest.mark.parametrize(("label", "row", "member"), [("fp64", 4, 5), ("fp16", 0, 1001)])
def test_the_stored_means_are_those_of_the_model(stored, label, row, member):
    run = climate.run(
        "galewsky", "T21", 6, label, output_hours=144,
        perturbation=climate.Perturbation(member=member, amplitude=1e-4),
    )  # fmt: skip
    means = table_of_means([run], 6.0, stored["names"]).values[0]
    np.testing.assert_allclose(means, stored[label][row], rtol=1e-8)
