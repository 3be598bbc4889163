"""The kind of scenario that traces of a kernel are run as: which line makes how much of its error.

Files cannot name it, because it means code; a run finds its kernel by the identity.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np
import xarray as xr

from sciprec.facets.tables import key
from sciprec.results.output.stated import INPUTS, ORIGIN, stated
from sciprec.scenario.loading import Scenario
from sciprec.scenario.variant import Variant
from sciprec.tools.calls.outputs import given_arrays
from sciprec.tools.trace.lines import Line
from sciprec.tools.trace.traces import trace
from sciprec.workbench.kinds.kind import Kind, Surroundings, register
from sciprec.workbench.study.kernel_kind import KernelRun, scenario_of
from sciprec.workbench.study.subjects import StudySubject, subject_of

KIND = "kernel_trace"
_VARIABLES = {
    "part": "relative error that arises at each line, signed: its share of the error times that",
    "rms": "root mean square of what each line adds",
    "error": "relative l2 error of each result",
}


class TraceScenario(Scenario):
    """Traces of a kernel as a scenario."""

    kind: Literal["kernel_trace"] = key('"kernel_trace"', 'kind = "kernel_trace"')
    kernel_trace: KernelRun = key("the table [kernel_trace]", "[kernel_trace]")
    takes_compensation: ClassVar[bool] = False


def traced_scenario_of(subject: StudySubject, backends: Sequence[str]) -> TraceScenario:
    """Traces as plain data.

    Args:
        subject: what is traced.
        backends: names or spec strings.
    """
    plain = scenario_of(subject, backends, ())
    return TraceScenario(
        name=f"{plain.name}_trace",
        title=f"Traces of {plain.title}",
        source=plain.source,
        kind=KIND,
        backends=plain.backends,
        ensemble=plain.ensemble,
        kernel_trace=plain.kernel,
    )


def _run(table: KernelRun, variant: Variant, around: Surroundings) -> xr.Dataset:
    """The error of the kernel in one arithmetic by line, on the inputs of a member. Lines are all
    that can round, in the order of the source, arguments before them.
    """
    subject = subject_of(table.identity)
    inputs = subject.members[0 if around.member is None else around.member.member]
    arrays = given_arrays(inputs.values)
    outputs = [name if name in arrays else _returned(name) for name in subject.outputs]
    error_trace = trace(
        subject.kernel, variant.backend, dict(inputs.values), output=outputs, samples=1
    )
    lines = error_trace.every_line()
    errors = np.array([error_trace.outputs[name] for name in outputs])
    values = {
        "part": np.array([line.share for line in lines]) * np.sqrt(np.mean(errors**2)),
        "rms": np.array([line.rms for line in lines]),
        "error": errors,
    }
    dims = {"part": "line", "rms": "line", "error": "result"}
    attributes = {name: {"long_name": words, "units": "1"} for name, words in _VARIABLES.items()}
    dataset = xr.Dataset({n: (dims[n], values[n], attributes[n]) for n in _VARIABLES})
    sources = [line.source for line in lines]
    dataset = dataset.assign_coords(
        line=_numbered(lines), source=("line", sources), result=outputs
    )
    dataset.attrs = {ORIGIN: inputs.origin, "blow_up": ""}
    return dataset


def _numbered(lines: Sequence[Line]) -> list[str]:
    """Names of lines that hold whatever their text and place in the file: arguments by their name,
    others by function, from 1.
    """
    counts: Counter[str] = Counter()
    names = []
    for line in lines:
        if line.name.startswith("argument "):
            names.append(line.name)
            continue
        counts[line.function] += 1
        names.append(f"{line.function} {counts[line.function]}")
    return names


def _returned(name: str) -> str:
    """The name of a returned result in a trace."""
    return name.replace("returned", "return", 1)


TRACED = register(
    Kind(
        KIND,
        TraceScenario,
        _run,
        attributes=stated(primary="part", auxiliary="", rounded="", members=INPUTS),
        variables=lambda table: tuple(_VARIABLES),
        sources=lambda table: (subject_of(table.identity).kernel,),
        kernels=lambda table, variant: table.identity,
        state=lambda table: table.identity,
        ensembles=True,
        same_axes=False,
        in_files=False,
    )
)
