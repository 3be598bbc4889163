"""Ensemble consistency: do a few runs belong to the ensemble of the truth?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sciprec.foundation.errors import InputError

SIGMAS = 2.0
TEST_RUNS = 3
LEAST_RUNS = 2
LEAST_COMPONENTS = 3
MOST_COMPONENTS = 50
MEMBERS_PER_COMPONENT = 8
"""Fewer make scores of new runs fall outside too often; measured in docs/lab/verdicts.md."""
LEAST_MEMBERS = MEMBERS_PER_COMPONENT * LEAST_COMPONENTS
CONSTANT = 1e-12
"""Relative spread of variables that are constant: rounding of sums in binary64."""
YES, NO, TOO_FEW = "yes", "no", "not enough members"


@dataclass(frozen=True)
class Consistency:
    """The result of the consistency test.

    Args:
        answer: YES, NO or TOO_FEW: whether the runs are indistinguishable from the ensemble.
        reason: in words.
        members, runs: how many of the ensemble and of the test runs were used.
        components: how many principal components.
        failed: numbers, from 1, of components whose scores are outside in at least two runs.
        outside: how many components are outside in each run.
        unlike: names of what is constant in the ensemble and has another value in a run.
        false_alarm: probability of NO for runs that belong to the ensemble, components taken as
            independent and normal.
    """

    answer: str
    reason: str
    members: int
    runs: int
    components: int = 0
    failed: tuple[int, ...] = ()
    outside: tuple[int, ...] = ()
    unlike: tuple[str, ...] = ()
    false_alarm: float = 0.0


def ensemble_consistency(ensemble, runs, names=None) -> Consistency:
    """Test whether three runs are statistically indistinguishable from an ensemble.

    Variables are standardised by the ensemble; its principal components are found; a score of a run
    is outside where it is more than two standard deviations of the ensemble's scores from their
    mean. The runs fail where at least three components are outside in at least two of three runs.

    Args:
        ensemble: (members, variables), such as global means of runs in fp64.
        runs: (3, variables), the same of runs in another arithmetic; only the first three count.
        names: of the variables, (variables,); numbers when left out.

    Returns:
        A Consistency.

    Raises:
        InputError: the two tables have different columns.

    Source: Baker et al. (2015), 10.5194/gmd-8-2829-2015, section 3; Milroy et al. (2018),
        10.5194/gmd-11-697-2018, for runs of few steps; the thresholds are theirs.
    Differs from the source: at most one component for every eight members (theirs: 50 of about 120
        variables with 151 to 350 members), without which the low components are outside by chance.
        Constant variables take no part, as there, but are named where a run changes them.
    """
    ensemble, runs = (np.atleast_2d(np.asarray(x, np.float64)) for x in (ensemble, runs))
    if ensemble.shape[1] != runs.shape[1]:
        raise InputError(
            f"the ensemble has {ensemble.shape[1]} variables and the runs have {runs.shape[1]}; "
            "accepted: the same variables"
        )
    names = [str(n) for n in (range(ensemble.shape[1]) if names is None else names)]
    ensemble = ensemble[np.isfinite(ensemble).all(axis=1)]
    members, runs = len(ensemble), runs[:TEST_RUNS]
    if members < LEAST_MEMBERS or len(runs) < TEST_RUNS:
        return Consistency(TOO_FEW, _too_few(members, len(runs)), members, len(runs))
    if not np.isfinite(runs).all():
        lost = int((~np.isfinite(runs)).any(axis=1).sum())
        return Consistency(NO, f"{lost} of {TEST_RUNS} runs did not reach the end", members, 3)
    return _tested(ensemble, runs, names)


def false_alarm_rate(members: int, components: int) -> float:
    """Probability that runs of the ensemble's own distribution fail.

    p = P(|T| > 2 / sqrt(1 + 1/N)), T of Student with N - 1 degrees of freedom;
    q = 3 p^2 (1 - p) + p^3;  P(Binomial(components, q) >= 3)

    Args:
        members: N, of the ensemble.
        components: number of principal components, taken as independent.
    """
    from scipy.stats import binom, t  # with it half of SciPy: most runs need none

    p = 2.0 * t.sf(SIGMAS / np.sqrt(1.0 + 1.0 / members), members - 1)
    q = float(binom.sf(LEAST_RUNS - 1, TEST_RUNS, p))
    return float(binom.sf(LEAST_COMPONENTS - 1, components, q))


def _tested(ensemble: np.ndarray, runs: np.ndarray, names: list[str]) -> Consistency:
    """The test itself, on finite numbers."""
    middle, spread = ensemble.mean(axis=0), ensemble.std(axis=0, ddof=1)
    rounding = CONSTANT * np.abs(ensemble).max(axis=0)
    varies = spread > rounding
    changed = (np.abs(runs - middle) > rounding).any(axis=0) & ~varies
    unlike = tuple(n for n, c in zip(names, changed, strict=True) if c)
    scores, limits = _scores(
        (ensemble - middle)[:, varies] / spread[varies], (runs - middle)[:, varies] / spread[varies]
    )
    outside = np.abs(scores) > SIGMAS * limits
    failed = tuple(int(i) + 1 for i in np.flatnonzero(outside.sum(axis=0) >= LEAST_RUNS))
    answer = NO if len(failed) >= LEAST_COMPONENTS else YES
    count = limits.size
    if count < LEAST_COMPONENTS:
        reason = f"only {count} variables of the ensemble vary independently; three are needed"
        return Consistency(TOO_FEW, reason, len(ensemble), len(runs), count, unlike=unlike)
    reason = (
        f"{len(failed)} of {count} principal components are outside two standard deviations of "
        f"{len(ensemble)} further members in at least two of three runs "
        f"({LEAST_COMPONENTS} or more fail)"
    )
    return Consistency(
        answer, reason, len(ensemble), len(runs), count, failed,
        tuple(int(n) for n in outside.sum(axis=1)), unlike,
        false_alarm_rate(len(ensemble), count),
    )  # fmt: skip


def _scores(ensemble: np.ndarray, runs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scores of the runs (runs, components), and standard deviations of those of the ensemble."""
    _, singular, axes = np.linalg.svd(ensemble, full_matrices=False)
    largest = singular[0] if singular.size else 0.0
    rank = int(np.count_nonzero(singular > 1e-10 * largest))
    count = min(MOST_COMPONENTS, rank, len(ensemble) // MEMBERS_PER_COMPONENT)
    return runs @ axes[:count].T, singular[:count] / np.sqrt(len(ensemble) - 1)


def _too_few(members: int, runs: int) -> str:
    """A sentence on the missing runs."""
    return (
        f"{members} finished members of the truth and {runs} test runs; the test needs "
        f"{LEAST_MEMBERS} and {TEST_RUNS}"
    )
