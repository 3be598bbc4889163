"""The kind of scenario that a study is run as: plain data that stands for a kernel and its inputs.

Files cannot name it, because it means code; a study finds its kernel by the identity.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import xarray as xr

from sciprec.facets.tables import Section, key
from sciprec.precision.lifting.fixed_lifting import fixed_point_summary
from sciprec.precision.lifting.lifted import idle_roles
from sciprec.results.output.dataset import (
    fixed_point_attributes,
    idle_roles_attributes,
    timing_attributes,
)
from sciprec.results.output.stated import INPUTS, ORIGIN, PRIMARY, stated
from sciprec.scenario.loading import Ensemble, Scenario, Tolerance
from sciprec.scenario.variant import Variant
from sciprec.tools.calls.outputs import timing
from sciprec.workbench.kinds.kind import Kind, Surroundings, register
from sciprec.workbench.study.subjects import StudySubject, subject_of

KIND = "kernel"
_LONGEST_NAME, _MOST_SHOWN = 60, 60
_ROUNDED = (
    "Every operation of the kernel, and of the kernels that it calls, is rounded in the "
    "arithmetic, and every number that it is given when it is loaded{residuals}."
)


class KernelRun(Section):
    """The table of a study; see sciprec.study."""

    function: str = key("the name of a function", 'function = "heat"')
    place: str = key("file and line", 'place = "heat.py, line 3"')
    arguments: dict[str, str] = key("what was given", "arguments = {}")
    inputs: tuple[str, ...] = key("where it came from", "inputs = []")
    outputs: tuple[str, ...] = key("names of results", "outputs = []")
    axes: dict[str, tuple[str, ...]] = key("names of their axes", "axes = {}")
    search: dict[str, Any] | None = key("what a search has found", "search = {}", default=None)
    truth: dict[str, Any] | None = key("the error of fp64 itself", "truth = {}", default=None)
    identity: str = key("a digest", 'identity = ""')


class KernelScenario(Scenario):
    """A study as a scenario."""

    kind: Literal["kernel"] = key('"kernel"', 'kind = "kernel"')
    kernel: KernelRun = key("the table [kernel]", "[kernel]")
    runs_models: ClassVar[bool] = False
    takes_compensation: ClassVar[bool] = False


def scenario_of(
    subject: StudySubject,
    backends: Sequence[str],
    tolerance: Sequence[Tolerance],
    search: dict[str, Any] | None = None,
    truth: dict[str, Any] | None = None,
) -> KernelScenario:
    """A study as plain data.

    Args:
        subject: what is studied.
        backends: names or spec strings.
        tolerance: of the outputs that have one.
        search: what the search for the fewest bits has found.
        truth: how well fp64 itself is known, of `OwnErrors`.
    """
    function = subject.kernel.__name__
    origins = tuple(member.origin for member in subject.members)
    first = subject.members[0]
    return KernelScenario(
        name=name_of(function),
        title=f"{function}({', '.join(first.values)})",
        source=f"kernel '{function}' ({subject.place}) on {_listed(origins)}",
        kind=KIND,
        backends=tuple(backends),
        tolerance=tuple(tolerance),
        ensemble=Ensemble(members=len(origins)) if len(origins) > 1 else None,
        kernel=KernelRun(
            function=function,
            place=subject.place,
            arguments={name: _described(value) for name, value in first.values.items()},
            inputs=origins,
            outputs=subject.outputs,
            axes=dict(subject.axes),
            search=search,
            truth=truth,
            identity=subject.identity,
        ),
    )


def name_of(function: str) -> str:
    """The name of a kernel's files: in small letters, digits, '_' and '-'."""
    plain = re.sub(r"[^a-z0-9_-]+", "_", function.lower()).lstrip("_-")
    return plain[:_LONGEST_NAME] or "kernel"


def _listed(origins: Sequence[str]) -> str:
    """Words for the origins of inputs."""
    endings = ("", " and another", f" and {len(origins) - 1} others")
    return origins[0] + endings[min(len(origins) - 1, 2)]


def _described(value: Any) -> str:
    """An argument in a few words."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {' x '.join(map(str, value.shape))}"
    if callable(value):
        return getattr(value, "__name__", type(value).__name__)
    text = ", ".join(map(_described, value)) if isinstance(value, tuple) else repr(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


def _run(table: KernelRun, variant: Variant, around: Surroundings) -> xr.Dataset:
    """The kernel in one arithmetic, on the inputs of a member."""
    subject = subject_of(table.identity)
    inputs = subject.members[0 if around.member is None else around.member.member]
    lifted, dataset = subject.run(inputs, variant.backend)
    fixed = fixed_point_summary([lifted])
    dataset.attrs |= {
        PRIMARY: subject.outputs[0],
        ORIGIN: inputs.origin,
        "blow_up": "",
        **fixed_point_attributes(fixed),
        **idle_roles_attributes(idle_roles([lifted])),
        **timing_attributes(timing(lifted, inputs)),
    }
    return dataset


KERNEL = register(
    Kind(
        KIND,
        KernelScenario,
        _run,
        attributes=stated(
            auxiliary="", rounded=_ROUNDED, members=INPUTS, free_lengths=True, elements=True
        ),
        variables=lambda table: table.outputs,
        sources=lambda table: (subject_of(table.identity).kernel,),
        kernels=lambda table, variant: table.identity,
        state=lambda table: table.identity,
        ensembles=True,
        in_files=False,
    )
)
