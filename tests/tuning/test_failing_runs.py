"""`tune` where runs raise exceptions, or where nothing can be compared."""

import math

import numpy as np
import pytest

from sciprec import InputError, lift, tune
from sciprec.arrays.metrics import METRICS, metric_of
from sciprec.tools.trace.models.traces import Results
from sciprec.tools.tune.formats import formats_of
from sciprec.tools.tune.metrics import error_of
from sciprec.tools.tune.model_problem import ModelProblem
from sciprec.tools.tune.problem import TuningProblem
from sciprec.tools.tune.search import cheapest


def strict(x):
    y = x * 1.001
    if y > 1.101100001 or y < 1.101099999:
        raise ValueError("rounded")
    return y + 0.1


def of_arrays(x, out):
    out[0] = x[0] * 1.1 + x[1]


def of_nothing(x, out):
    out[0] = max(x[0], x[1])


def of_both(x, count, out):
    out[0] = x[0] * 1.1
    count[0] += 1


def of_none(n):
    for _ in range(n):
        pass


GOOD, NAN, INF = np.array([1.0, 2.0]), np.array([math.nan, 2.0]), np.array([math.inf, 2.0])
FORMATS = ("fp64", "fp32", "bf16")


def test_a_format_in_which_a_kernel_raises_fails():
    found = tune(strict, (1.1,), tolerance=1e-2, formats=FORMATS)
    first = strict.__code__.co_firstlineno
    assert found.good and dict(found.assignment) == {first + 4: "bf16"}
    assert found._problem.error((2, 2)) == math.inf
    whole = [t.error for t in found.pareto if t.label == "bf16"]
    assert whole == pytest.approx([_error_of_lifted("bf16")], rel=1e-12)


def _error_of_lifted(name):
    """Its limits are rounded, too, so that it raises nothing."""
    return abs(lift(strict, name)(1.1) / lift(strict, "fp64")(1.1) - 1.0)


@pytest.mark.parametrize(
    ("kernel", "args", "more", "said"),
    [
        (strict, (1.3,), {}, "raises ValueError ("),
        (strict, (1.1,), {"check": (1.3,)}, "in fp64 on the inputs of the check"),
        (strict, (1.1,), {"formats": ("fp32", "bf16")}, "above the limit"),
        (of_arrays, (NAN, np.zeros(1)), {}, "no finite number in fp64 (out)"),
        (of_arrays, (INF, np.zeros(1)), {}, "no finite number in fp64 (out)"),
        (of_arrays, (GOOD, np.zeros(1)), {"check": (NAN, np.zeros(1))}, "on the inputs of the"),
        (of_arrays, (GOOD, np.zeros(1)), {"check": (GOOD + 0j, np.zeros(1))}, "takes real ones"),
        (of_nothing, (NAN[::-1].copy(), np.full(1, math.nan)), {"output": "no"}, "accepted: out"),
        (of_both, (NAN, np.zeros(1, int), np.zeros(1)), {}, "no finite number in fp64 (out), so"),
        (of_none, (7,), {}, "returns no number and writes none into an argument"),
    ],
)
def test_where_nothing_can_be_compared_is_a_sentence(kernel, args, more, said):
    with pytest.raises(InputError) as raised:
        tune(kernel, args, **{"tolerance": 1e-2, "formats": FORMATS, **more})
    assert said in str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "error", [-1.0, math.nan, 1j, np.complex128(0), None, np.float32(-1), True], ids=str
)
def test_what_is_no_error_of_a_metric_is_refused(error):
    with pytest.raises(InputError, match="a number from zero"):
        tune(of_arrays, (GOOD, np.zeros(1)), tolerance=1e-2, metric=lambda found, truth: error)


def test_numbers_that_are_not_finite_have_to_be_the_same():
    metric, truth = METRICS["relative_max"], np.array([1.0, math.inf, math.nan])
    for found, error in (
        ([1.5, math.inf, math.nan], 0.5), ([1.0, -math.inf, math.nan], math.inf),
        ([1.0, math.nan, math.nan], math.inf), ([1.0, math.inf, math.inf], math.inf),
        ([1.0, 2.0, math.nan], math.inf),
    ):  # fmt: skip
        assert error_of(metric, {"a": np.array(found)}, {"a": truth}) == error


def test_a_format_in_which_a_models_kernel_raises_fails():
    def program(backend):
        return Results({"y": np.array([lift(strict, backend)(1.1)])})

    problem = ModelProblem(
        program, model="model", content=None, stages=(), by="line",
        metric=metric_of("relative_max"), formats=formats_of(FORMATS),
    )  # fmt: skip
    assert cheapest(problem, 1e-2) == (0, 2) and problem.error((1, 0)) == math.inf


def test_kept_runs_are_those_of_the_same_sources(monkeypatch):
    """An edit of the engine or of the search makes them anew, as it does compiled code."""
    calls, run = [], TuningProblem.run
    monkeypatch.setattr(TuningProblem, "run", lambda self, *a: calls.append(a) or run(self, *a))

    def choices():
        calls.clear()
        tune(of_arrays, (GOOD, np.zeros(1)), tolerance=1e-2, formats=FORMATS)
        return {choice for choice, *_ in calls}

    first = choices()
    assert len(first) > 2 and not choices()
    asked = []
    monkeypatch.setattr(
        "sciprec.tools.tune.problem.sources_digest", lambda *p: asked.append(p) or "edited"
    )
    assert choices() == first and {"precision", "tools/tune"} <= set(asked[0])


def over_three(x):
    y = x * 2.5
    return y / 3.0


@pytest.mark.parametrize("formats", [("fp16", "bf16"), ("bf16", "fp16", "e4m3fn")])
def test_a_search_starts_from_a_format_whose_range_suffices(formats):
    """Of the longest significand is fp16, which ends at 65504."""
    found = tune(over_three, (GOOD * 1e6,), tolerance=0.1, formats=formats)
    assert found.good and found.assignment.default == "bf16" and not found.assignment
    assert found.cost == 1.0 and "narrower than bf16" in found.verdict
    given = lift(over_three, found.assignment)(GOOD * 1e6), lift(over_three, "bf16")(GOOD * 1e6)
    assert np.array_equal(*given)
    small = tune(over_three, (GOOD,), tolerance=0.1, formats=formats)
    assert small.good and small.assignment.default == "fp16"
