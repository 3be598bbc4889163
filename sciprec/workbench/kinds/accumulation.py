"""Scenarios of kind "accumulation": sums of many small increments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
import xarray as xr
from pydantic import Field

from sciprec.facets.monitor.attributes import with_monitor
from sciprec.facets.tables import Section, key
from sciprec.foundation.limits import MOST_STORED_STATES
from sciprec.results.output.dataset import accumulation_dataset
from sciprec.results.output.stated import stated
from sciprec.scenario.loading import Scenario
from sciprec.scenario.variant import Variant
from sciprec.workbench.kinds.kind import NUMBER_BYTES, Estimate, Kind, Surroundings

_UPDATE = 1e-9
"""Seconds of an update of one sum in fp64 (docs/lab/accumulation.md)."""
_ROUNDED = (
    "Every update of a sum is rounded in the arithmetic, and each increment when it is "
    "loaded{residuals}. Increments are drawn, and sums compared, in binary64."
)


class AccumulationRun(Section):
    """Sums of many small increments; see sciprec.accumulation."""

    updates: int = key(
        "a whole number of updates from 1 to 1e9", "updates = 10000000", ge=1, le=10**9
    )
    members: int = key("a whole number of sums from 1 to 1e5", "members = 64", ge=1, le=10**5)
    smallest: float = key(
        "the least increment, > 0 and at most 1e12", "smallest = 1.0e-7", gt=0, le=1e12
    )
    largest: float = key(
        "the largest increment, > 0 and at most 1e12", "largest = 1.0e-5", gt=0, le=1e12
    )
    start: float = Field(
        default=1.0, ge=0, le=1e12, examples=["start = 1.0"],
        description="a number from 0 to 1e12, where sums begin",
    )  # fmt: skip
    outputs: int = Field(
        default=50, ge=1, le=MOST_STORED_STATES, examples=["outputs = 50"],
        description=f"a whole number of stored states from 1 to {MOST_STORED_STATES}",
    )  # fmt: skip
    seed: int = Field(
        default=0, ge=0, lt=2**63, examples=["seed = 1"],
        description="a whole number >= 0, which draws the increments",
    )


class AccumulationScenario(Scenario):
    """A scenario of kind "accumulation"."""

    kind: Literal["accumulation"] = key('"accumulation"', 'kind = "accumulation"')
    accumulation: AccumulationRun = key("the table [accumulation]", "[accumulation]")
    instead_of_ensemble: ClassVar[str] = ": give 'members' in [accumulation] instead"


def _run(table: AccumulationRun, variant: Variant, around: Surroundings) -> xr.Dataset:
    """Sum many small increments."""
    from sciprec.accumulation import accumulate

    chosen = variant.compensation.resolved()
    result = accumulate(
        **table.model_dump(), backend=variant.backend, compensation=chosen, monitor=around.monitor
    )
    dataset = accumulation_dataset(result)
    return dataset if result.observed is None else with_monitor(dataset, result.observed)


def _check(table: AccumulationRun, variant: Variant) -> None:
    """Increments whose sums are exact."""
    from sciprec.accumulation.integration import check_request, one_compensation

    check_request(**table.model_dump())
    one_compensation(variant.compensation.resolved())


def _estimate(table: AccumulationRun, variant: Variant, slowness: float) -> Estimate:
    work = table.updates * table.members
    megabytes = table.outputs * table.members * NUMBER_BYTES / 1e6
    return Estimate(
        f"{table.updates:,} updates of {table.members} sums", work * _UPDATE * slowness, megabytes
    )


def _moved(table: AccumulationRun, move: Callable[[float], float]) -> AccumulationRun:
    """Increments and start."""
    names = ("smallest", "largest", "start")
    return table.model_copy(update={name: move(getattr(table, name)) for name in names})


def _fitting(table: AccumulationRun, backend: str, length: float | None, times: int):
    """Names of the variables, and the error of a compensation."""
    from sciprec.accumulation.integration import VARIABLE, accumulate

    request = table.model_dump()
    updates = max(round(times * (request["updates"] / 10 if length is None else length)), 1)
    request |= {"updates": updates, "outputs": min(request["outputs"], updates)}

    def error(compensation: Any) -> float:
        run = accumulate(**request, backend=backend, compensation=compensation)
        return float(np.sqrt(np.mean((run.values / run.exact - 1.0) ** 2)))

    return (VARIABLE,), error


ACCUMULATION = Kind(
    "accumulation",
    AccumulationScenario,
    _run,
    check=_check,
    attributes=stated(primary="parameter", rounded=_ROUNDED),
    variables=lambda table: ("parameter", "largest_error_in_u", "mean_error_in_u"),
    estimate=_estimate,
    compile_seconds=2.0,
    kernels=lambda table, variant: None,
    sources=lambda table: (),
    moved=_moved,
    watched=lambda table: ("parameter",),
    residuals=lambda table: [("parameter", table.members, 1)],
    fitting=_fitting,
)
