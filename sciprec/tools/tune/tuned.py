"""`tune`: the cheapest format for every line of a kernel, within a tolerance.

The subject is a kernel with its inputs, its places, and their formats; its results are what a call
returns and what its arguments hold after it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any, cast

import numpy as np

from sciprec.arrays.metrics import METRICS, MetricFunction, metric_of
from sciprec.foundation.arguments import by_of, choice
from sciprec.foundation.errors import InputError
from sciprec.instruments.assigning.assignment import file_of
from sciprec.instruments.assigning.configured import Configured
from sciprec.instruments.assigning.files import ROUNDS
from sciprec.instruments.assigning.places import BY, Place
from sciprec.precision.formats.backend import Backend
from sciprec.precision.lifting.lifted import Lifted, function_of
from sciprec.precision.lifting.lifting import lift
from sciprec.precision.lifting.written import written_arrays
from sciprec.precision.rewriting.copies import copied
from sciprec.results.comparison.own_error import OWN, OwnErrors
from sciprec.tools.digits.own_error import TRUTHS, own_errors
from sciprec.tools.trace.attribution import require_real
from sciprec.tools.trace.problem import bound_arguments, chosen_names
from sciprec.tools.tune.formats import Formats, formats_of
from sciprec.tools.tune.found import TuneResult, checked_tolerance, tuned
from sciprec.tools.tune.metrics import error_of
from sciprec.tools.tune.problem import Raised, Tables, TuningProblem, Values, cores

_NUMBERS = (float, complex, int, np.number, np.bool_)


def _doubt_of_truth(errors: OwnErrors, problem: KernelProblem, tolerance: float) -> str:
    """A sentence about the digits of fp64 itself.

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
    metric: str | MetricFunction = "relative_l2",
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
    function = function_of(kernel, "tune")
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
    problem.doubt = "" if errors is None else _doubt_of_truth(errors, problem, tolerance)
    return tuned(Tuned, problem, tolerance, margin, checked)


class KernelProblem(TuningProblem):
    """A kernel, its inputs, and formats for its places; see `TuningProblem`.

    Args:
        kernel: the plain Python function.
        args: in the order of its parameters.
        output: names of the results that count, or None for all.
    """

    sort = "kernel"

    def __init__(
        self, kernel, args: tuple, *, output: str | Iterable[str] | None,
        metric: tuple[str, MetricFunction], formats: Formats, by: str, rounds: str = ROUNDS[0],
    ) -> None:  # fmt: skip
        super().__init__(metric=metric, formats=formats, by=by, rounds=rounds)
        self.kernel, self.args, self._output = kernel, args, output
        self.name, self.file = kernel.__name__, file_of(kernel)
        self._configured = Configured(
            kernel, self.layout, by, self.versions, everything=self.everything
        )
        self._names = list(self._configured.program.signature.parameters)
        self._lifted: dict[str | Backend, Lifted] = {}

    def results(self, tables: Tables, other: Any = None) -> Values:
        """The results that count of a call."""
        return self._called(partial(self._configured, tables(self._configured)), other)

    def lifted_results(self, backend: str | Backend, other: Any = None) -> Values:
        """The results that count of a call of the lifted kernel."""
        if backend not in self._lifted:
            self._lifted[backend] = lift(self.kernel, backend)
        return self._called(self._lifted[backend], other)

    def _called(self, kernel: Callable[..., Any], other: Any) -> Values:
        args = copied(self.args if other is None else other)
        try:
            with np.errstate(all="ignore"):
                returned = kernel(*args)
        except (InputError, MemoryError):
            raise
        except Exception as error:
            raise Raised.by(error) from error
        results = results_of(self._names, args, self._written(args), returned)
        if not results:
            raise InputError(
                f"kernel '{self.name}' returns no number and writes none into an argument; tune "
                "takes a kernel that does"
            )
        return {name: results[name] for name in chosen_names(list(results), self._output)}

    @cached_property
    def _written(self):
        return written_arrays(self.kernel)

    @property
    def kernels(self) -> Sequence[Configured]:
        """The kernel alone."""
        return (self._configured,)

    def counts(self) -> Counter[Place]:
        """Return the executions of one call."""
        with np.errstate(all="ignore"):
            table, args = self.in_binary64(self._configured), copied(self.args)
            _, runs = self._configured.counted(table, *args)
        return self.by_place(self._configured, runs)

    def identity(self) -> Sequence[Any]:
        """The results that count, and the arguments."""
        return repr(self._output), self.args

    @property
    def workers(self) -> int:
        """The number of runs at once: one for a kernel that takes all cores itself."""
        return 1 if self._configured.program.parallel else cores()


def results_of(
    names: list[str], args: tuple, written: list[bool], returned: Any
) -> dict[str, np.ndarray]:
    """Arrays of numbers by name, in binary64, integers and truths as they are: arguments that may
    be written (`x_0`, `x_1` of those in a tuple `x`), and "return" (`return_0`, ... of several).

    Args:
        names: of the parameters.
        args: after the call.
        written: for each, whether it may be.
        returned: by the call.
    """
    results: dict[str, np.ndarray] = {}
    for name, argument, may_be in zip(names, args, written, strict=True):
        if may_be and isinstance(argument, (np.ndarray, tuple)):
            _note(results, name, argument, arrays_only=True)
    _note(results, "return", returned, arrays_only=False)
    return results


def _note(results: dict[str, np.ndarray], name: str, value: Any, arrays_only: bool) -> None:
    if isinstance(value, tuple):
        for number, item in enumerate(value):
            _note(results, f"{name}_{number}", item, arrays_only)
        return
    array = isinstance(value, np.ndarray)
    if not array and (arrays_only or not isinstance(value, _NUMBERS)):
        return
    values = np.asarray(value)
    if values.dtype.kind == "c":
        results[f"{name}.real"] = values.real.astype(np.float64)
        results[f"{name}.imag"] = values.imag.astype(np.float64)
    elif values.dtype.kind == "f":
        results[name] = values.astype(np.float64)
    elif values.dtype.kind in "iub":
        results[name] = values.copy()
