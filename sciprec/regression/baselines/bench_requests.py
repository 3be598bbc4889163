"""Benchmarks as requests of baselines: the time of each of their rows, nothing else."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

from sciprec.foundation.definitions import code_digest
from sciprec.foundation.errors import InputError
from sciprec.regression.baselines.requests import BaselineRequest


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
