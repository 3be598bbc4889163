"""Requests of baselines, as plain data with a digest, and the runs that answer them."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sciprec.precision.formats.backend import backend_names
from sciprec.regression.baselines.noise import perturbed_inputs
from sciprec.results.output.files import NETCDF, suffix_of
from sciprec.scenario.changes import changed
from sciprec.scenario.loading import Scenario
from sciprec.workbench.batch.plan import Run
from sciprec.workbench.batch.resume import asked_of
from sciprec.workbench.batch.workflow import planned
from sciprec.workbench.kinds import kind_of, load_scenarios, parse_scenarios
from sciprec.workbench.kinds.files import chosen, read_scenario


@dataclass(frozen=True)
class BaselineRequest:
    """A request: runs, and how to ask for them again.

    Args:
        name: of the baseline, as of the files of its runs.
        subject: how it was asked, as plain data.
        asked: what decides its results beside code, as plain data: by run, named by its label (and
            member), the scenario or inputs and the arithmetic.
        source: a digest of the code behind it that is not sciprec's.
        runs: those whose results are kept.
        perturbed: (run, sample) -> the run with its inputs moved by one unit of its format.
        around: entered while the runs are computed.
        timings: of what is only timed, and has no runs: told what is being measured, it gives
            seconds by name.
    """

    name: str
    subject: Mapping[str, Any]
    asked: Mapping[str, Any]
    source: str
    runs: tuple[Run, ...]
    perturbed: Callable[[Run, int], Run]
    around: Callable[[], contextlib.AbstractContextManager[Any]] = contextlib.nullcontext
    timings: Callable[[Callable[[str], None]], Mapping[str, float]] | None = None

    @property
    def key(self) -> str:
        """The digest of the request, as 64 hexadecimal digits."""
        text = json.dumps([self.asked, self.source], sort_keys=True, default=repr)
        return hashlib.sha256(text.encode()).hexdigest()


def scenario_requests(
    source: str | Path | Scenario, backends: Sequence[str] = (),
    changes: Mapping[str, Any] | None = None,
) -> list[BaselineRequest]:  # fmt: skip
    """A scenario in its arithmetics, the undisturbed members; of a sweep each of its scenarios.

    Args:
        source: a file, or a loaded scenario.
        backends: names that replace those of the scenario.
        changes: values in place of the file's, by dotted key.

    Raises:
        InputError: it cannot be read, or its model does not take it.
    """
    origin = f"scenario '{source.name}'" if isinstance(source, Scenario) else str(source)
    if changes:
        content = source.model_dump(mode="json") if isinstance(source, Scenario) else (
            read_scenario(source))  # fmt: skip
        scenarios = parse_scenarios(changed(content, changes), origin)
    else:
        scenarios = (source,) if isinstance(source, Scenario) else load_scenarios(source)
    return [_request(source, scenario, backends, changes or {}) for scenario in scenarios]


def _request(
    source: str | Path | Scenario, scenario: Scenario, backends: Sequence[str],
    changes: Mapping[str, Any],
) -> BaselineRequest:  # fmt: skip
    """One scenario that a file has made; it is asked for again with its own values."""
    names = backend_names(list(backends)) if backends else None
    every = planned([scenario], names, suffix_of(NETCDF))
    runs = tuple(run for run in every if run.member == 0)
    subject = {
        "kind": "scenario",
        "file": "" if isinstance(source, Scenario) else Path(source).as_posix(),
        "plugin": kind_of(scenario).file and Path(kind_of(scenario).file).name,
        "backends": list(names or ()),
        "changes": dict(changes) | ({"sweep": chosen(scenario)} if scenario.sweep else {}),
        "scenario": scenario.model_dump(mode="json"),
    }
    return BaselineRequest(
        scenario.name, subject, plain_asked(runs), runs[0].code, runs, perturbed_inputs
    )


def plain_asked(runs: Sequence[Run]) -> dict[str, Any]:
    """The requests of runs by their names, as JSON holds them."""
    requests = {name_of(run): asked_of(run) for run in runs}
    for request in requests.values():
        request["scenario"] = {k: v for k, v in request["scenario"].items() if k not in _WORDS}
    return as_json(requests)


def as_json(content: Any) -> Any:
    """Plain data as JSON gives them back."""
    return json.loads(json.dumps(content, default=repr))


def name_of(run: Run) -> str:
    """The name of a run in a baseline: "fp16", "fp16+carry, member 3"."""
    return run.label + (f", member {run.member}" if run.member else "")


def differing(
    then: Mapping[str, Any], now: Mapping[str, Any], *, missing: bool = True
) -> list[str]:
    """Phrases on the keys in which two requests differ.

    Args:
        then, now: what is asked of each run.
        missing: whether a key that one of them does not have counts.
    """
    before, after = dict(_leaves(then)), dict(_leaves(now))
    phrases = [
        f"{words} is {'new' if run not in then else 'missing'}"
        for run, words in sorted(before.keys() ^ after.keys()) if words == f"the run '{run}'"
    ]  # fmt: skip
    shared = then.keys() & now.keys()
    for key in sorted(key for key in before.keys() | after.keys() if key[0] in shared):
        both = key in before and key in after
        if (both or missing) and before.get(key, _MISSING) != after.get(key, _MISSING):
            was, is_now = (repr(x[key]) if key in x else "missing" for x in (before, after))
            phrases.append(f"{key[-1]} was {was:.80} and is {is_now:.80}")
    return list(dict.fromkeys(phrases))


_MISSING = object()
_WORDS = ("name", "title", "source")
"""Keys of a scenario that are words for people."""


def _leaves(runs: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], Any]]:
    """The leaves of the requests of runs, under the name of the run and a dotted key."""
    for run, request in runs.items():
        yield (run, f"the run '{run}'"), "there"
        for key, value in _dotted(request, ""):
            yield (run, key), value


def _dotted(tree: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    if isinstance(tree, Mapping) and tree:
        for key, value in tree.items():
            yield from _dotted(value, f"{prefix}.{key}" if prefix else key)
    else:
        yield prefix, tree
