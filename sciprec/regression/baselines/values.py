"""Values that tests hand over in Python: arrays, xarray objects, and functions with arguments."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import xarray as xr

from sciprec.foundation.definitions import digest_of
from sciprec.foundation.errors import InputError
from sciprec.precision.formats.backend import Backend, resolve_backend
from sciprec.precision.lifting.lifted import Lifted
from sciprec.precision.rewriting.syntax import plain_function
from sciprec.regression.baselines.answering import Answers, RunAnswer
from sciprec.regression.baselines.keeping import fingerprints, kept_values
from sciprec.regression.baselines.noise import SAMPLES, spread
from sciprec.regression.baselines.records import require_name
from sciprec.regression.baselines.requests import BaselineRequest, as_json
from sciprec.results.comparison.inputs import as_dataset
from sciprec.results.comparison.pointwise.pairing import compared_names
from sciprec.tools.calls.inputs import Inputs
from sciprec.tools.calls.outputs import called, dataset_of
from sciprec.tools.trace.problem import SEED, bound_arguments, moved

RUN = "values"
"""The name of the only run of such a baseline."""
_NO_INPUTS = "not known (values without the inputs that they come from)"


def values_request(name: str, thing: Any, args: Any) -> BaselineRequest:
    """Make the request of a test: its values, or a function on its arguments.

    Args:
        name: of the baseline.
        thing: values, or a function, plain or lifted.
        args: a tuple of its arguments, or a mapping by name; None of values.

    Raises:
        InputError: arguments were given for what is no function, or none for a function.
    """
    require_name(name)
    if args is None:
        if callable(thing):
            raise InputError(
                f"baseline '{name}': a function was given without arguments; give them as a tuple, "
                "() for none, or give what the function returns"
            )
        return _request(name, {"values": True}, "")
    if not callable(thing):
        raise InputError(
            f"baseline '{name}': arguments were given for a {type(thing).__name__}, which is no "
            "function; leave them out"
        )
    inputs = _inputs(thing, args)
    request: dict[str, Any] = {"given": digest_of(inputs.values)}
    if isinstance(thing, Lifted):
        request["backend"] = asdict(thing.backend)
    return _request(name, request, digest_of(_plain(thing)))


def values_answers(
    thing: Any, args: Any, samples: Sequence[Any] = (), *, noisy: bool = False
) -> Answers:
    """The answers to a request of values or of a function, and the spread of its noise.

    Args:
        thing, args: as of `values_request`.
        samples: values from inputs that differ by one unit of their format, 8 or more, for values
            whose function is not handed over.
        noisy: whether the noise is computed, too.

    Raises:
        InputError: values cannot be compared, or the function ends with an error.
    """
    if args is None:
        answer, repeats = _answer_of(thing), [_answer_of(sample) for sample in samples]
    else:
        inputs = _inputs(thing, args)
        answer = _answer_of(_answer(thing, inputs))
        repeats = [_answer_of(dataset) for dataset in perturbed(thing, inputs)] if noisy else []
    words = _NO_INPUTS if args is None else "not known (no call with perturbed inputs ended well)"
    noise: dict[str, dict[str, float]] = {}
    if noisy and repeats:
        if len(repeats) < SAMPLES and args is None:
            raise InputError(
                f"{len(repeats)} samples were given; noise takes {SAMPLES} or more, from inputs "
                "that differ by one unit of their format"
            )
        noise = spread([(sample.values, sample.fingerprints) for sample in (answer, *repeats)])
        words = f"{len(repeats)} runs whose inputs are one unit of the format apart"
    return {RUN: answer}, {RUN: (noise, words)}


def _request(name: str, request: Mapping[str, Any], source: str) -> BaselineRequest:
    return BaselineRequest(name, {"kind": "python"}, {RUN: as_json(request)}, source, (), _no_runs)


def _no_runs(run: Any, sample: int) -> Any:
    raise AssertionError("values have no runs")


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    return function.kernel if isinstance(function, Lifted) else plain_function(function) or function


def _inputs(function: Callable[..., Any], args: Any) -> Inputs:
    """Arguments by name, as they are."""
    plain = _plain(function)
    bound = bound_arguments(plain, args)
    return Inputs(dict(zip(inspect.signature(plain).parameters, bound, strict=True)), "the test")


def _answer(function: Callable[..., Any], inputs: Inputs) -> xr.Dataset:
    """Call a function on copies of arguments; return its result and the arrays that it changes."""
    returned: list[Any] = []
    if isinstance(function, Lifted):  # a copy: calls draw random bits of their own
        function = pickle.loads(pickle.dumps(function))

    def keeping(*args: Any) -> Any:
        result = function(*args)
        if not isinstance(result, (xr.Dataset, xr.DataArray)):
            return result
        returned.append(result)
        return None

    call = called(keeping, inputs)
    names = [n for n in call.results if n not in call.argument_of or call.changed(n, inputs)]
    dataset = dataset_of(call, inputs, names, {})
    if not returned:
        return dataset
    labelled = as_dataset(returned[0])
    return labelled.assign({n: v for n, v in dataset.data_vars.items() if n not in labelled})


def perturbed(
    function: Callable[..., Any], inputs: Inputs, count: int = SAMPLES
) -> list[xr.Dataset]:
    """Results of calls whose floating-point arguments differ by one unit of their format."""
    results = []
    for sample in range(1, count + 1):
        rng = np.random.default_rng((SEED, sample))
        values = {
            name: moved(value, _format_of(function, value), rng, units=1.0)
            for name, value in inputs.values.items()
        }
        try:
            results.append(_answer(function, replace(inputs, values=values)))
        except InputError:  # beyond what the function takes
            continue
    return results


def _format_of(function: Callable[..., Any], value: Any) -> Backend:
    """The arithmetic whose unit an argument is moved by."""
    if isinstance(function, Lifted):
        return function.backend
    size = getattr(getattr(value, "dtype", None), "itemsize", 8)
    return resolve_backend({2: "fp16", 4: "fp32"}.get(size, "fp64"))


def _answer_of(thing: Any) -> RunAnswer:
    """The answer that holds some values.

    Raises:
        InputError: there is nothing to compare.
    """
    dataset = as_dataset(thing)
    narrow = {
        name: v.astype(np.int8 if v.dtype.kind == "b" else np.float32)
        for name, v in dataset.data_vars.items() if v.dtype.kind == "b" or v.dtype == np.float16
    }  # fmt: skip
    dataset = dataset.assign(narrow)
    if not compared_names(dataset):
        raise InputError("nothing was given that can be compared; give real numbers in arrays")
    return RunAnswer(kept_values(dataset), fingerprints(dataset))
