"""Verdicts: whether an arithmetic is good enough for a scenario, with the reason."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr

from sciprec.arrays.metrics import worst_element
from sciprec.foundation.errors import InputError
from sciprec.precision.formats.backend import TRUTH
from sciprec.results.comparison.own_error import NO_DIGIT, WELL, OwnErrors, own_errors_of
from sciprec.results.comparison.pointwise.error_metrics import metrics
from sciprec.results.comparison.pointwise.pairing import pair
from sciprec.results.comparison.rows import SETTLED, Comparison, error_at_end, main_row
from sciprec.results.comparison.wording import factor, moment, times
from sciprec.results.output.stated import ELEMENTS, STAGES

STATUS_WORDS = {
    "truth": "truth",
    "identical": "identical",
    "good": "good enough",
    "unjudged": "not judged",
    "doubtful": "doubtful",
    "still": "still",
    "beyond": "not good enough",
    "broken": "broken",
    "failed": "failed",
}
SUFFICIENT = ("good", "identical")


@dataclass(frozen=True)
class Verdict:
    """The verdict of a comparison.

    Args:
        status: truth | identical | good (within every tolerance) | unjudged (the scenario states
            none) | doubtful (fp64 itself is not known so well) | still (within every tolerance, and
            a variable has moved less than half as far as in truth) | beyond (some tolerance is
            missed) | broken (NaN or infinities in other places) | failed (nothing to compare, or
            stopped early).
        sentence: the reason, with the numbers and everything else that was found.
        margin: error / tolerance of the closest call; NaN without one.
        decisive: the part of the sentence that the status rests on; empty where that is all of it.
    """

    status: str
    sentence: str
    margin: float = math.nan
    decisive: str = ""

    @property
    def short(self) -> str:
        """The reason without parts that decide nothing."""
        return self.decisive or self.sentence

    @property
    def acceptable(self) -> bool:
        """Whether nothing speaks against the arithmetic."""
        return self.status in ("truth", "identical", "good", "unjudged")


def margin_in_words(verdict: Verdict) -> str:
    """ "÷ 3.1" within a tolerance, "× 31" beyond it, "just below" and "just above" close to it,
    else what the status is called.
    """
    margin = verdict.margin
    if verdict.status == "good" and margin > 0.0:
        below = factor(1.0 / max(margin, 1e-300))
        return "just below" if below == "1" else f"÷ {below}"
    if verdict.status == "beyond" and 1.0 < margin < math.inf:
        above = factor(margin)
        return "just above" if above == "1" else f"× {above}"
    return STATUS_WORDS[verdict.status]


def judge(
    golden: xr.Dataset,
    actual: xr.Dataset,
    comparison: Comparison,
    evidence: Mapping[str, Any] | None = None,
) -> Verdict:
    """Judge a run by the tolerances that its scenario states, and by the other measurements.

    Args:
        golden, actual: truth and run.
        comparison: of the two.
        evidence: what `evidence.gathering.evidence` has found; left out, the pointwise errors
            alone are judged.

    Returns:
        A Verdict. Evidence makes a run "beyond" where an ensemble tells it from fp64 or where its
        rounding causes arbitrage beyond the bounds of its prices; it makes an unjudged one "good"
        where an ensemble cannot tell it from fp64. Ensembles whose members differ by one ulp are
        mentioned, and decide nothing: any arithmetic of fewer bits is told from them at first.
    """
    verdict = with_evidence(_judge_points(golden, actual, comparison), evidence)
    truth_errors = own_errors_of(golden.attrs)
    return verdict if truth_errors is None else _as_known(verdict, golden, truth_errors)


def _as_known(verdict: Verdict, golden: xr.Dataset, errors: OwnErrors) -> Verdict:
    """The verdict as far as fp64 itself is known, and how well it is."""
    if errors.left_out:
        words = f"how many digits fp64 itself has was not looked at: {errors.left_out}"
        is_truth = verdict.status == "truth"
        return replace(verdict, sentence=f"{verdict.sentence}; {words}") if is_truth else verdict
    sentences = {name: errors.sentence(name) for name in errors.results}
    if verdict.status == "truth":
        return replace(verdict, sentence="; ".join((verdict.sentence, *sentences.values())))
    if verdict.status not in ("identical", "good", "unjudged", "still", "beyond"):
        return verdict
    doubtful = [n for n, o in errors.results.items() if not o.digits >= NO_DIGIT]
    if limits := [t for t in _tolerances(golden) if t["variable"] in errors.results]:
        doubtful = [t["variable"] for t in limits if _is_doubtful(verdict, t, errors)]
    if not doubtful:
        worst = min(errors.results, key=lambda name: errors.results[name].digits, default="")
        if not worst:
            return verdict
        sentence, short = f"{verdict.sentence}; {sentences[worst]}", verdict.short
        short += f"; {sentences[worst]}" * (errors.results[worst].digits < WELL)
        return replace(verdict, sentence=sentence, decisive=short)
    words = "; ".join(sentences[name] for name in dict.fromkeys(doubtful))
    return Verdict("doubtful", f"not judged: {words}", decisive=f"not judged: {words}")


def _is_doubtful(verdict: Verdict, tolerance: Mapping[str, Any], errors: OwnErrors) -> bool:
    """Whether fp64 itself may miss a tolerance, and a run not miss it by more than that."""
    name, limit = tolerance["variable"], tolerance["at_most"]
    surely = not math.isnan(errors.results[name].digits) and verdict.status == "beyond"
    beyond = verdict.margin * limit > limit + errors.error(name, tolerance["metric"])
    return errors.misses(name, tolerance["metric"], limit) and not (surely and beyond)


def _tolerances(golden: xr.Dataset) -> list[dict[str, Any]]:
    """The tolerances that a run's scenario states."""
    return json.loads(golden.attrs.get("sciprec_scenario", "{}")).get("tolerance", [])


def stopped_early(attributes: Mapping[str, Any]) -> str:
    """Why a run is a failed one that ended before its time, whatever its last errors were.

    Args:
        attributes: of its dataset.

    Returns:
        A phrase; empty for a run that came to its end.
    """
    reason = str(attributes.get("blow_up", ""))
    return f"stopped early: {reason}" if reason else ""


def with_evidence(verdict: Verdict, evidence: Mapping[str, Any] | None) -> Verdict:
    """The verdict on the pointwise errors with the other evidence, as `judge` describes."""
    if evidence is None or verdict.status not in ("good", "unjudged", "still", "beyond"):
        return verdict
    status, phrases = verdict.status, [verdict.sentence]
    answers = [evidence.get(name) or {} for name in ("consistency", "distributions")]
    distinguishable = next((a for a in answers if a.get("answer") == "no"), None)
    alike = next((a for a in answers if a.get("answer") == "yes"), None)
    decides = not any(a.get("note") for a in answers)
    if distinguishable is not None:
        phrases.append(f"statistically distinguishable from fp64: {distinguishable['reason']}")
        status = "beyond" if decides else status
    elif alike is not None:
        phrases.append(f"statistically indistinguishable from fp64: {alike['reason']}")
        status = "good" if decides and status == "unjudged" else status
    elif evidence.get("perturbation") is not None:
        phrases.append(
            "whether it is statistically indistinguishable from fp64: not enough members"
        )
    violations = (evidence.get("arbitrage") or {}).get("beyond_bounds") or 0
    decisive = list(phrases)
    if violations:
        status = "beyond"
        decisive.append(evidence["arbitrage"]["sentence"])
    for name in ("variability", "prices", "arbitrage", "budget"):
        part = evidence.get(name) or {}
        if part and part.get("applies", True) and _tells(name, part):
            phrases.append(part["sentence"])
    return replace(
        verdict, status=status, sentence="; ".join(phrases), decisive="; ".join(decisive)
    )


def _tells(name: str, part: Mapping[str, Any]) -> bool:
    """Whether a part says something that a verdict needs."""
    if name == "arbitrage":
        return bool(part["caused"])
    return name != "budget" or part["below_by"] is not None


def _is_truth(run: xr.Dataset) -> bool:
    """Whether a run is what others are compared with: fp64, transforms and all."""
    return run.attrs.get("sciprec_backend") == TRUTH and STAGES not in run.attrs


def _judge_points(golden: xr.Dataset, actual: xr.Dataset, comparison: Comparison) -> Verdict:
    """Judge a run by its pointwise errors; say which results have another length, and which wrong
    element the norm of its result hides.
    """
    verdict = _judge_rows(golden, actual, comparison)
    notes = list(comparison.unlike)
    still = [row for row in comparison.rows if row.change is not None and row.change.is_still]
    if still and verdict.status in ("good", "unjudged", "beyond"):
        status = "still" if verdict.status == "good" else verdict.status
        sentence = "; ".join((*(row.standstill() for row in still), verdict.sentence))
        verdict = replace(verdict, status=status, sentence=sentence)
    if actual.attrs.get(ELEMENTS) and verdict.status in ("good", "unjudged"):
        notes += _hidden(golden, actual, comparison)
    return replace(verdict, sentence="; ".join((verdict.sentence, *notes))) if notes else verdict


def _hidden(golden: xr.Dataset, actual: xr.Dataset, comparison: Comparison) -> list[str]:
    """The element of all results that is furthest off where the norm of its result hides that, in
    words.
    """
    far = []
    for paired in pair(golden, actual):
        with np.errstate(over="ignore", invalid="ignore"):
            worst = worst_element(paired.name, paired.actual, paired.actual - paired.golden)
        if worst and worst.is_far(comparison.row(paired.name).errors["relative_l2"]):
            far.append(worst)
    if not far:
        return []
    worst = max(far, key=lambda element: element.relative)
    return [f"the norm hides that {worst}"]


def _judge_rows(golden: xr.Dataset, actual: xr.Dataset, comparison: Comparison) -> Verdict:
    """The verdict on the results that were compared."""
    if stopped := stopped_early(actual.attrs):
        return Verdict("failed", stopped)
    if lost := main_row(comparison).nonfinite_golden:
        row = main_row(comparison)
        counted = f"{lost} of {row.points} values of {row.variable} are not finite"
        if _is_truth(actual):
            return Verdict("broken", f"{counted} in the truth itself", math.inf)
        return Verdict("failed", f"nothing can be compared: {counted} in the fp64 truth")
    if _is_truth(actual):
        return Verdict("truth", "the truth that the others are compared with")
    changed = [r for r in comparison.rows if r.changed_nonfinite]
    if changed:
        row = changed[0]
        counted = f"{row.changed_nonfinite} of {row.points} values of {row.variable}"
        return Verdict("broken", f"{counted} are finite in one run and not in the other", math.inf)
    bounds = _call_of_bounds(actual) if {"bound", "tolerance"} <= set(actual.data_vars) else None
    if all(row.verdict in SETTLED for row in comparison.rows) and not comparison.unlike:
        same_bits = "every stored value has the same bits as fp64"
        if bounds is None or bounds[0] <= 1.0:
            return Verdict("identical", same_bits)
        return Verdict("beyond", f"{bounds[1]}; {same_bits}", bounds[0])
    tolerances = _tolerances(golden)
    compared = {row.variable for row in comparison.rows}
    unlike = set(golden.data_vars) - compared if comparison.unlike else set()
    calls = [
        _call(golden, actual, comparison, t) for t in tolerances if t["variable"] not in unlike
    ]
    if bounds is not None:
        calls.append(bounds)
    calls = [call for call in calls if not math.isnan(call[0])] or calls
    if calls and math.isnan(calls[0][0]):
        return Verdict("unjudged", calls[0][1])
    if not calls:
        row = main_row(comparison)
        digits = row.errors["decimal_digits"]
        over = " over all stored times" if "time" in golden[row.variable].dims else ""
        agreement = f"{row.variable} agrees with fp64 to {digits:.1f} decimal digits{over}"
        return Verdict("unjudged", agreement)
    margin, reason = max(calls)
    return Verdict("good" if margin <= 1.0 else "beyond", reason, margin)


def _call(
    golden: xr.Dataset, actual: xr.Dataset, comparison: Comparison, tolerance: dict
) -> tuple[float, str]:
    """Error / tolerance, and the sentence that says so; NaN where truth hardly changes and the
    tolerance is a share of its change.

    Raises:
        InputError: the file does not hold the variable.
    """
    try:
        row = comparison.row(tolerance["variable"])
    except KeyError as error:
        raise InputError(
            f"the scenario has a tolerance that cannot be held against this file: {error.args[0]}; "
            "run it again with another tolerance"
        ) from None
    metric = metrics()[tolerance["metric"]]
    error, when, limit = row.errors[metric.name], "", tolerance["at_most"]
    if "time" in golden[row.variable].dims:
        when = " over all stored times"
        if metric.of_end or tolerance.get("times", "last") == "last":
            error = error if metric.of_end else error_at_end(golden, actual, tolerance)
            when = f" at {moment(float(golden['time'][-1]), golden['time'].attrs)}"
    units = f" {row.units}" if metric.absolute and row.units != "1" else ""
    if row.verdict == "empty":
        sentence = (
            f"{row.variable}: no value is finite in both runs, so that there is nothing to hold"
        )
        return (
            math.inf,
            f"{sentence} against the tolerance {limit:.2g}{units} ({tolerance['reason']})",
        )
    if metric.of_end and math.isnan(error):
        return math.nan, (
            f"{row.variable}: no {metric.title} can be held against the tolerance {limit:.2g}: "
            f"{row.standing_phrase()}"
        )
    margin = abs(error) / limit if limit else (0.0 if error == 0.0 else math.inf)
    if math.isnan(margin):
        margin = math.inf
    if error == 0.0:
        against = "no error at all"
    elif margin <= 1.0:
        against = times(1.0 / margin, "below")
    else:
        against = times(margin, "above") if math.isfinite(margin) else "far above"
    sentence = f"{row.variable}: {metric.title} {error:.2g}{units}{when}, {against}"
    return margin, f"{sentence} the tolerance {limit:.2g}{units} ({tolerance['reason']})"


def _call_of_bounds(actual: xr.Dataset) -> tuple[float, str]:
    """Largest bound / tolerance of prices that were to meet one, and the sentence."""
    bound, limit = actual["bound"].values, actual["tolerance"].values
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(bound == 0.0, 0.0, bound / limit)
    shares = np.where(np.isnan(shares), math.inf, shares)
    margin, widest = float(np.max(shares)), limit.flat[np.argmax(shares)]
    n_within = int(np.count_nonzero(shares <= 1.0))
    counted = f"{n_within} of {bound.size}" if n_within < bound.size else "all"
    sentence = f"{counted} prices have bounds within the tolerance that they were computed to"
    if math.isfinite(margin):
        return margin, f"{sentence}, the widest being {factor(margin)} of it"
    return (
        margin,
        f"{sentence}, the widest being {'of a price of zero' if widest == 0 else 'infinite'}",
    )
