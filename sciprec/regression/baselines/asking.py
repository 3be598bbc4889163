"""Requests as a command line names them, and as a baseline has noted them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from sciprec.foundation.definitions import code_digest, digest_of
from sciprec.foundation.errors import InputError
from sciprec.precision.formats.backend import backend_names, resolve_backend
from sciprec.regression.baselines.noise import perturbed_inputs
from sciprec.regression.baselines.records import Record
from sciprec.regression.baselines.requests import BaselineRequest, plain_asked, scenario_requests
from sciprec.results.output.files import NETCDF, suffix_of
from sciprec.scenario.asked_price import AskedPrice
from sciprec.scenario.loading import Scenario
from sciprec.tools.calls.kernel_file import is_kernel, kernel_named, names_function
from sciprec.tools.trace.problem import SEED, moved
from sciprec.workbench.batch.plan import Run
from sciprec.workbench.batch.workflow import planned
from sciprec.workbench.kinds import parse_scenario
from sciprec.workbench.kinds.asked_price import price_scenario
from sciprec.workbench.study.kernel_kind import scenario_of
from sciprec.workbench.study.subjects import StudySubject, opened, subject
from sciprec.workbench.study.traced_kind import traced_scenario_of


def requests_named(
    text: str, backends: Sequence[str], changes: Mapping[str, Any], inputs: Sequence[str],
    output: Sequence[str], axes: Mapping[str, Sequence[str]], traced: bool = False,
) -> list[BaselineRequest]:  # fmt: skip
    """A scenario, each of those that its sweep makes, a kernel of a file with its inputs, or traces
    of one.

    Args:
        text: of a scenario its file or name, of a kernel FILE.py:FUNCTION.
        backends: arithmetics; of a scenario those that replace its own.
        changes: of a scenario.
        inputs, output, axes: of a kernel, as for `sciprec study`.
        traced: whether traces of a kernel are asked for.

    Raises:
        InputError: it cannot be read or run, or options of the other were given.
    """
    of_kernel = {"--inputs": inputs, "--output": output, "--axes": axes, "--trace": traced}
    kernel = is_kernel(text)
    foreign = {"--set": changes} if kernel else of_kernel
    for option, value in foreign.items():
        if value:
            sort = "a kernel" if kernel else "a scenario"
            raise InputError(f"{option} was given, and '{text}' is {sort}: leave it out")
    if kernel:
        return [named_kernel_request(text, inputs, backends, output, axes, traced)]
    return scenario_requests(text, backends, changes)


def asked_again(record: Record) -> BaselineRequest:
    """Make the request of a baseline again, as it stands today: from its files, or, where a
    scenario's file is gone, from the baseline's own copy.

    Raises:
        InputError: it cannot be read or run, or it was given in Python.
    """
    about = record.subject
    if about["kind"] == "scenario":
        file = about["file"]
        if file and (Path(file).is_file() or not Path(file).suffix):
            return scenario_requests(file, about["backends"], about["changes"])[0]
        stored = parse_scenario(about["scenario"], "the baseline's scenario")
        return scenario_requests(stored, about["backends"])[0]
    if about["kind"] == "price":
        return price_asked_again(about)
    if about["kind"] == "bench":
        return bench_request(about["bench"])
    if "kernel" not in about:
        raise InputError(
            f"baseline '{record.name}' is of what was given in Python; check it there, with the "
            "fixture precision_baseline of its test"
        )
    return named_kernel_request(
        about["kernel"], about["inputs"], about["backends"], about["output"], about["axes"],
        about.get("traced", False),
    )  # fmt: skip


def kernel_request(
    kernel: Any, args: Any, *, backends: Sequence[str], output: str | Sequence[str] | None = None,
    axes: Mapping[str, Any] | None = None, name: str = "", described: Mapping[str, Any] = {},
    traced: bool = False,
) -> BaselineRequest:  # fmt: skip
    """A kernel on its inputs in some arithmetics, fp64 among them; or its traces in these.

    Args:
        kernel, args, output, axes: as for `sciprec.study`.
        backends: names or spec strings.
        traced: whether its traces are asked for.
        name: of the baseline; left out, the kernel's.
        described: how to ask again.

    Raises:
        InputError: as `sciprec.study`.
    """
    about = subject(kernel, args, output, axes)
    names = dict.fromkeys(
        resolve_backend(backend).name for backend in backend_names(list(backends))
    )
    scenario = _scenario(about, tuple(names), traced)
    with opened(about):
        every = planned([scenario], None, suffix_of(NETCDF))
        runs = tuple(run for run in every if run.backend in names) if traced else every
        requests = plain_asked(runs)
    table = {
        "function": about.kernel.__name__,
        "arguments": getattr(scenario, scenario.kind).arguments,
        "outputs": list(about.outputs),
        "axes": {name: list(dims) for name, dims in about.axes.items()},
        "given": [
            digest_of(member.values, member.dims, member.coordinates) for member in about.members
        ],
    }
    for request in requests.values():
        request["scenario"][scenario.kind] = table
    inputs = _KernelInputs(about, traced)
    return BaselineRequest(
        name or scenario.name, {"kind": "kernel", **described}, requests, runs[0].code, runs,
        inputs.perturbed, inputs.open,
    )  # fmt: skip


def named_kernel_request(
    kernel: str, inputs: Sequence[str], backends: Sequence[str],
    output: Sequence[str] | None = None, axes: Mapping[str, Sequence[str]] | None = None,
    traced: bool = False,
) -> BaselineRequest:  # fmt: skip
    """The kernel of a file as `sciprec study` takes it, see there; or its traces.

    Raises:
        InputError: as `sciprec study`, or no inputs or arithmetics were given.
    """
    if not names_function(kernel) or not inputs or not backends:
        raise InputError(
            f"the kernel '{kernel}' is to be given as FILE.py:FUNCTION, with its arguments "
            "(--inputs) and arithmetics (--backend)"
        )
    described = {
        "kernel": kernel, "inputs": list(inputs), "backends": list(backends),
        "output": list(output or ()), "axes": {n: list(dims) for n, dims in (axes or {}).items()},
        "traced": traced,
    }  # fmt: skip
    return kernel_request(
        kernel_named(kernel), list(inputs), backends=backends, output=output or None, axes=axes,
        described=described, traced=traced,
    )  # fmt: skip


def _scenario(about: StudySubject, backends: Sequence[str], traced: bool) -> Scenario:
    """Runs or traces as plain data."""
    return traced_scenario_of(about, backends) if traced else scenario_of(about, backends, ())


class _KernelInputs:
    """The inputs of a kernel, and perturbed ones, which runs find while they are open."""

    def __init__(self, about: StudySubject, traced: bool) -> None:
        self._about, self._traced, self._perturbed = about, traced, []

    def perturbed(self, run: Run, sample: int) -> Run:
        """The run with its floating-point inputs moved by up to one unit of its format."""
        backend = resolve_backend(run.backend)
        rng = np.random.default_rng((SEED, sample))
        members = list(self._about.members)
        member = members[run.member]
        values = {n: moved(v, backend, rng, units=1.0) for n, v in member.values.items()}
        members[run.member] = replace(member, values=values)
        about = replace(self._about, members=tuple(members))
        self._perturbed.append(about)
        return replace(run, scenario=_scenario(about, run.scenario.backends, self._traced))

    @contextlib.contextmanager
    def open(self) -> Iterator[None]:
        """Let runs find all of them."""
        with contextlib.ExitStack() as stack:
            for about in (self._about, *self._perturbed):
                stack.enter_context(opened(about))
            yield


def price_request(price: AskedPrice, backend: str) -> BaselineRequest:
    """Prices with a bound, in one arithmetic.

    Args:
        price: model, payoffs, tolerance and the rest.
        backend: of the paths.

    Raises:
        InputError: the backend is unknown, or the model does not take the payoffs.
    """
    scenario = price_scenario(price, resolve_backend(backend).name)
    every = planned([scenario], None, suffix_of(NETCDF))
    runs = tuple(run for run in every if run.backend in scenario.backends)
    subject = {"kind": "price", "backends": list(scenario.backends), "price": _plain(price)}
    return BaselineRequest(
        scenario.name, subject, plain_asked(runs), runs[0].code, runs, perturbed_inputs
    )


def price_asked_again(noted: Mapping[str, Any]) -> BaselineRequest:
    """The request that a baseline has noted."""
    backends: Sequence[str] = noted["backends"]
    return price_request(AskedPrice.model_validate(noted["price"]), backends[0])


def _plain(request: AskedPrice) -> dict[str, Any]:
    return request.model_dump(mode="json")


def bench_request(name: str) -> BaselineRequest:
    """The seconds of a benchmark's rows.

    Args:
        name: as of `python -m benchmarks`.

    Raises:
        InputError: it is unknown, or this sciprec has no benchmarks.
    """
    benchmark = _benchmark(name)

    def timings(say: Callable[[str], None]) -> dict[str, float]:
        return dict(benchmark.timings(benchmark.measure(say=say)))

    request = {"bench": {"name": name}}
    subject = {"kind": "bench", "bench": name}
    return BaselineRequest(
        f"bench_{name}", subject, request, code_digest(), (), _no_runs, timings=timings
    )


def _benchmark(name: str) -> ModuleType:
    try:
        from benchmarks import benchmark_named
    except ImportError:
        raise InputError(
            "benchmarks are no part of an installed sciprec; run this in a checkout of its source"
        ) from None
    return benchmark_named(name)


def _no_runs(run: object, sample: int) -> object:
    raise AssertionError("a benchmark has no runs")
