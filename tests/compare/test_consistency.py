"""The ensemble consistency test and the tests of distributions, on numbers of known laws."""

import itertools

import numpy as np
import pytest
from scipy.stats import binomtest

from sciprec.results.comparison.evidence.consistency import (
    LEAST_MEMBERS,
    NO,
    TOO_FEW,
    YES,
    ensemble_consistency,
)
from sciprec.results.comparison.evidence.distributions import compare_distributions

RNG = np.random.default_rng(20261121)
MIXING = RNG.normal(size=(12, 12)) @ np.diag(0.7 ** np.arange(12)) + np.eye(12) * 0.05


def drawn(count, rng=RNG):
    """Correlated variables on very different scales, not centred."""
    scales = 10.0 ** np.linspace(-6, 5, 12)
    return (rng.normal(size=(count, 12)) @ MIXING.T + 3.0) * scales


def by_hand(ensemble, runs, count):
    """Components outside in at least two runs, from eigenvectors of the correlation matrix."""
    middle, spread = np.mean(ensemble, axis=0), np.std(ensemble, axis=0, ddof=1)
    values, vectors = np.linalg.eigh(np.corrcoef(ensemble.T))
    failed = []
    for k in range(1, count + 1):
        axis, size = vectors[:, -k], np.sqrt(values[-k])
        outside = 0
        for run in runs:
            score = sum(
                a * (x - m) / s for a, x, m, s in zip(axis, run, middle, spread, strict=True)
            )
            outside += abs(score) > 2 * size
        if outside >= 2:
            failed.append(k)
    return tuple(failed)


@pytest.mark.parametrize("shift", [0.0, 1.0, 3.0])
def test_failing_components_are_those_of_the_correlation_matrix(shift):
    for _ in range(20):
        ensemble = drawn(80)
        runs = drawn(3) + shift * ensemble.std(axis=0)
        found = ensemble_consistency(ensemble, runs)
        assert found.components == 10  # 80 members allow no more
        assert found.failed == by_hand(ensemble, runs, 10)
        assert found.answer == (NO if len(found.failed) >= 3 else YES)


@pytest.mark.parametrize(
    ("components", "runs", "answer"),
    [(2, 3, YES), (3, 1, YES), (3, 2, NO), (3, 3, NO)],
)
def test_three_components_in_two_of_three_runs_fail(components, runs, answer):
    """Runs in the middle of the ensemble but for some components, just outside or just inside."""
    ensemble = drawn(200)
    middle, spread = ensemble.mean(axis=0), ensemble.std(axis=0, ddof=1)
    values, vectors = np.linalg.eigh(np.corrcoef(ensemble.T))
    for sigmas, expected in ((2.001, answer), (1.999, YES)):
        away = sum(vectors[:, -1 - k] * np.sqrt(values[-1 - k]) for k in range(components))
        tests = np.tile(middle, (3, 1))
        tests[:runs] += sigmas * away * spread
        assert ensemble_consistency(ensemble, tests).answer == expected


def test_runs_of_the_same_law_pass_at_the_stated_rate():
    """400 ensembles of 200 members: no more failures than the stated rate explains."""
    rng = np.random.default_rng(5)
    found = [ensemble_consistency(drawn(200, rng), drawn(3, rng)) for _ in range(400)]
    failures = sum(f.answer == NO for f in found)
    outside = np.mean([np.mean(f.outside) / f.components for f in found])
    assert binomtest(failures, 400, found[0].false_alarm, "greater").pvalue > 1e-3
    assert outside == pytest.approx(0.047, abs=0.01)  # 2 sigma of Student's t with 199 degrees


def test_members_are_counted_before_anything_is_said():
    few = ensemble_consistency(drawn(LEAST_MEMBERS - 1), drawn(3))
    assert few.answer == TOO_FEW and "23 finished members" in few.reason
    assert ensemble_consistency(drawn(LEAST_MEMBERS), drawn(3)).answer == YES
    assert ensemble_consistency(drawn(200), drawn(2)).answer == TOO_FEW
    ensemble = drawn(LEAST_MEMBERS)
    ensemble[3, 5] = np.nan  # a member that stopped early
    assert ensemble_consistency(ensemble, drawn(3)).answer == TOO_FEW
    assert ensemble_consistency(drawn(60)[:, :2], drawn(3)[:, :2]).answer == TOO_FEW


def exact_p(one, other):
    """P(D >= d) over all ways to deal the pooled values, by counting."""
    pooled = np.sort(np.concatenate([one, other]))

    def distance(first):
        inside = np.isin(np.arange(pooled.size), first)
        steps = np.where(inside, 1 / inside.sum(), -1 / (~inside).sum())
        return np.max(np.abs(np.cumsum(steps)))

    found = distance(np.searchsorted(pooled, one))
    deals = list(itertools.combinations(range(pooled.size), one.size))
    return np.mean([distance(list(deal)) >= found - 1e-12 for deal in deals])


def test_p_values_and_their_adjustment_by_hand():
    golden, actual = drawn(7), drawn(6)
    actual[:, :5] += 4.0 * golden[:, :5].std(axis=0)
    p = np.array([exact_p(g, a) for g, a in zip(golden.T, actual.T, strict=True)])
    order = np.argsort(p)
    adjusted = np.empty(12)
    for rank, i in enumerate(order):
        adjusted[i] = min(p[j] * 12 / (r + 1) for r, j in enumerate(order) if r >= rank)
    found = compare_distributions(golden, actual)
    assert found.smallest == pytest.approx(adjusted.min(), rel=1e-9)
    assert set(found.differing) == {str(i) for i in np.flatnonzero(adjusted < 0.05)}
    assert found.answer == NO and len(found.differing) >= 3


def test_ensembles_of_one_law_are_told_apart_no_more_often_than_stated():
    rng = np.random.default_rng(11)
    said = [compare_distributions(drawn(30, rng), drawn(30, rng)).answer for _ in range(120)]
    assert binomtest(said.count(NO), 120, 0.05, "greater").pvalue > 1e-3


def test_few_members_say_so_and_how_many_are_needed():
    found = compare_distributions(drawn(4), drawn(4))
    assert found.answer == TOO_FEW and "4 and 4 members tell no difference" in found.reason
    needed = int(found.reason.split("; ")[1].split()[0])
    apart = drawn(needed) + 1e9
    assert compare_distributions(drawn(needed), apart).answer == NO
    fewer = compare_distributions(drawn(needed - 1), drawn(needed - 1) + 1e9)
    assert fewer.answer == TOO_FEW
    same = np.ones((50, 12))
    assert "no variable of the truth varies" in compare_distributions(same, same).reason
