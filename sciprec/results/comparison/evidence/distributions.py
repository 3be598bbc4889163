"""Distributions: two ensembles compared variable by variable, with the false alarms bounded."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import comb

import numpy as np

from sciprec.foundation.errors import InputError
from sciprec.results.comparison.evidence.consistency import CONSTANT, NO, TOO_FEW, YES

LEVEL = 0.05


@dataclass(frozen=True)
class Distributions:
    """The result of the tests of distributions.

    Args:
        answer: YES, NO or TOO_FEW: whether no variable tells the ensembles apart.
        reason: in words.
        members: of the two ensembles.
        variables: how many were tested.
        differing: names of variables whose distributions differ, the clearest first.
        smallest: the smallest adjusted p-value.
    """

    answer: str
    reason: str
    members: tuple[int, int]
    variables: int
    differing: tuple[str, ...] = ()
    smallest: float = 1.0


def compare_distributions(golden, actual, names=None, level: float = LEVEL) -> Distributions:
    """Test whether two ensembles have the same distribution of every variable.

    A two-sample Kolmogorov-Smirnov test for each variable; p-values adjusted after Benjamini and
    Hochberg; the ensembles differ where an adjusted one is below the level. Where nothing differs
    that happens with a probability of the level at most.

    Args:
        golden, actual: (members, variables), such as global means of runs.
        names: of the variables, (variables,); numbers when left out.
        level: of the false discoveries.

    Returns:
        A Distributions; TOO_FEW where even ensembles that share no value could not differ.

    Raises:
        InputError: the two tables have different columns.

    Source: Mahajan et al. (2019), 10.1145/3324989.3325724, for the tests variable by variable;
        Benjamini and Hochberg (1995) for the adjustment, after Mahajan (2021),
        10.1145/3468267.3470572.
    Differs from the source: global means of one time instead of means over a year.
    """
    golden, actual = (np.atleast_2d(np.asarray(x, np.float64)) for x in (golden, actual))
    if golden.shape[1] != actual.shape[1]:
        raise InputError(
            f"the ensembles have {golden.shape[1]} and {actual.shape[1]} variables; accepted: the "
            "same variables"
        )
    names = np.array([str(n) for n in (range(golden.shape[1]) if names is None else names)])
    lost = int((~np.isfinite(actual)).any(axis=1).sum())
    golden, actual = (x[np.isfinite(x).all(axis=1)] for x in (golden, actual))
    members = (len(golden), len(actual))
    varies = _varies(golden)
    count = int(varies.sum())
    if count == 0 or min(members) == 0 or count * _smallest_p(*members) > level:
        return Distributions(TOO_FEW, _too_few(members, count), members, count)
    columns = zip(golden[:, varies].T, actual[:, varies].T, strict=True)
    adjusted = _adjusted([_p_value(g, a) for g, a in columns])
    order = np.argsort(adjusted, kind="stable")
    differing = tuple(str(n) for n in names[varies][order][adjusted[order] < level])
    answer = NO if differing or lost else YES
    reason = (
        f"{len(differing)} of {count} variables have another distribution in {members[1]} members "
        f"than in the {members[0]} of the truth (false discoveries at most {100 * level:g} %)"
    )
    reason += f"; {lost} members did not reach the end" if lost else ""
    return Distributions(answer, reason, members, count, differing, float(adjusted.min()))


def _p_value(golden: np.ndarray, actual: np.ndarray) -> float:
    """The p-value of a two-sample test, exact where that can be computed.

    Near 1 the exact sum may exceed 1 by a rounding, upon which SciPy warns and takes the limit law.
    """
    from scipy.stats import ks_2samp  # with it half of SciPy: most runs need none

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "ks_2samp: Exact calculation uns", RuntimeWarning)
        return float(ks_2samp(golden, actual, method="auto").pvalue)


def _varies(golden: np.ndarray) -> np.ndarray:
    """Mark variables that differ from member to member, more than by rounding."""
    if not len(golden):
        return np.zeros(golden.shape[1], bool)
    return np.ptp(golden, axis=0) > CONSTANT * np.abs(golden).max(axis=0)


def _smallest_p(n_golden: int, n_actual: int) -> float:
    """The p-value of two samples that share no range: 2 / C(m + n, n)."""
    return 2.0 / comb(n_golden + n_actual, n_golden)


def _too_few(members: tuple[int, int], count: int) -> str:
    """A sentence on the missing members."""
    if count == 0:
        return "no variable of the truth varies from member to member"
    needed = next(n for n in range(2, 1000) if count * _smallest_p(n, n) <= LEVEL)
    return (
        f"{members[0]} and {members[1]} members tell no difference in {count} variables; "
        f"{needed} of each would"
    )


def _adjusted(p: list[float]) -> np.ndarray:
    """p-values of several tests, adjusted so that those below a level are false discoveries at most
    as often as the level says.

    Source: Benjamini and Hochberg (1995).
    """
    from scipy.stats import false_discovery_control

    return false_discovery_control(p, method="bh")
