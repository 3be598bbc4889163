"""`tune`: the cheapest format for every line of a kernel, within a tolerance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from sciprec.arrays.metrics import METRICS, Metric, metric_of
from sciprec.foundation.arguments import by_of, choice
from sciprec.instruments.assigning.files import ROUNDS
from sciprec.instruments.assigning.places import BY
from sciprec.precision.lifting.lifted import Lifted
from sciprec.precision.rewriting.syntax import LiftError, plain_function
from sciprec.results.comparison.own_error import OWN, OwnErrors
from sciprec.tools.digits.own_error import TRUTHS, own_errors
from sciprec.tools.trace.attribution import require_real
from sciprec.tools.trace.problem import bound_arguments
from sciprec.tools.tune.formats import formats_of
from sciprec.tools.tune.found import TuneResult, checked_tolerance, tuned
from sciprec.tools.tune.kernel_problem import KernelProblem
from sciprec.tools.tune.metrics import error_of


def _doubt_of_truth(errors: OwnErrors, problem: KernelProblem, tolerance: float) -> str:
    """How well fp64 itself is known, in a sentence.

    Raises:
        InputError: not so well that it could be told whether the tolerance is met.
    """
    metric = problem.metric_name if problem.metric_name in METRICS else OWN
    errors.require(problem.name, {name: (metric, tolerance) for name in errors.results})
    if errors.left_out:
        return f"how many digits fp64 itself has was not looked at: {errors.left_out}"
    worst = min(errors.results, key=lambda name: errors.results[name].digits, default="")
    return errors.sentence(worst) if worst else ""


def _metric_of(problem: KernelProblem) -> Callable[[str, np.ndarray, np.ndarray], float] | None:
    """A metric of the user's own, by the name of a result."""
    if problem.metric_name in METRICS:
        return None
    return lambda name, values, truth: error_of(problem.metric, {name: values}, {name: truth})


class Tuned(TuneResult):
    """Formats that a search has found for a kernel; see `TuneResult` for its attributes."""

    @property
    def kernel(self) -> str:
        """The kernel's name."""
        return self.name

    def apply(self) -> Lifted:
        """The kernel lifted to the formats that were found.

        Raises:
            InputError: they fail the check.
        """
        from sciprec.precision.lifting.lifting import lift

        self._require_good("applied")
        return lift(cast(KernelProblem, self._problem).kernel, self.assignment)

    def html(self, path: str | Path) -> Path:
        """Write a page: the source with a format for every line, error against cost, and what one
        wider format would buy, which takes a run for every place.

        Raises:
            InputError: it cannot be written.
        """
        from sciprec.tools.tune.page import write_tune_page

        return write_tune_page(self, path)


def tune(
    kernel: Callable[..., Any],
    args: Sequence[Any] | Mapping[str, Any],
    *,
    tolerance: float | str,
    output: str | Iterable[str] | None = None,
    metric: str | Metric = "relative_l2",
    formats: str | Sequence[str] = ("fp64", "fp32", "bf16"),
    by: str = "line",
    check: Sequence[Any] | Mapping[str, Any] | None = None,
    margin: float = 1.5,
    rounds: str = "operations",
    truth: str = "auto",
    unit: str | None = None,
) -> Tuned:
    """Find the cheapest format for every line of a kernel.

    The kernel is compiled once for all choices of formats, and once more where it is called for
    more than two seconds; a search then runs it with some tens to hundreds of them. It goes on
    where it was interrupted. At its end the kernel is lifted to what was found, and whole to each
    of the formats; these runs are judged.

    Args:
        kernel: a Python function in Numba's subset, an `@njit` function, or what `lift` gave.
        args: a tuple of its arguments, or a mapping by parameter name. They are not written.
        tolerance: the largest error of the results, against binary64: a number, or of relative
            metrics "0.1%".
        output: which results count, as for `trace`; left out, all, integers and truths too.
        metric: "relative_l2", "relative_max" (largest difference over largest size), "max_relative"
            (largest relative difference of a number), "max_abs" (largest difference) or "rms" (root
            mean square of the difference), both in the result's units, or a function (found, truth)
            -> error of the finite values of one result; of several results the largest error
            counts.
        formats: names of formats in any order (the search starts from the longest significand, of
            those the largest range, that meets the tolerance everywhere), or "bits" for
            significands of 2 to 25 bits.
        by: what gets a format of its own: "line", "operation", "variable", "function" or "call".
        check: arguments that the search does not see: it keeps to tolerance / margin on its own
            inputs, and the result is checked on these.
        margin: see `check`; without that it is not used.
        rounds: what gets formats: "operations", where loads, arguments and comparisons stay as they
            are, or "everything", these too, so that one format everywhere is what `lift` makes of
            the kernel; see `Assignment`.
        truth: how true fp64 is, which errors are against: "auto" looks whether its own error is
            within the tolerance, by pairs of binary64, where that takes some seconds at most; "dd"
            always; "fp64" takes it as it is.
        unit: the older name of `by`.

    Returns:
        A Tuned: the assignment, its error and cost. What fails its check is not `good`, and is
        neither applied nor saved.

    Raises:
        InputError: the widest format misses the tolerance, fp64 itself is not known so well, or an
            argument cannot be used.
        LiftError: the kernel cannot be lifted.

    Source:
        Sensitivities and ranking after Precimonious (Rubio-Gonzalez et al. 2013); the closed form
        for bits minimises sum c_i p_i under sum s_i 2^-p_i <= tolerance.
    """
    function = kernel.kernel if isinstance(kernel, Lifted) else plain_function(kernel)
    if function is None:
        raise LiftError(
            f"the kernel is a {type(kernel).__name__}; tune takes a Python function or an @njit "
            "function: define the kernel with `def`"
        )
    tolerance = checked_tolerance(tolerance, margin, metric)
    by = choice("by", by_of(by, unit), BY)
    choice("rounds", rounds, ROUNDS)
    choice("truth", truth, TRUTHS)
    bound = bound_arguments(function, args)
    require_real(function.__name__, bound, "tune")
    problem = KernelProblem(
        function, bound, output=output, metric=metric_of(metric), formats=formats_of(formats),
        by=by, rounds=rounds,
    )  # fmt: skip
    checked = None if check is None else bound_arguments(function, check)
    require_real(function.__name__, checked or (), "tune")
    problem.truth()
    errors = own_errors(function, bound, truth, output=output, metric=_metric_of(problem))
    problem.known = "" if errors is None else _doubt_of_truth(errors, problem, tolerance)
    return tuned(Tuned, problem, tolerance, margin, checked)
