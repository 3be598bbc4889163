"""Keys of every scenario, whatever its kind: a frozen, validated description of what to run.

Every complaint names the file and the key, says what was given, what is accepted and what to write
instead; all complaints of a file come at once. Two tables go with every kind: [ensemble], the same
run several times, each from its own beginning, and [trace], runs whose error is split by line.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, model_validator

from sciprec.facets.compensation.keys import NO_COMPENSATION, CompensationKey
from sciprec.facets.monitor.keys import MonitorKey
from sciprec.facets.stages.keys import MODEL_STAGES
from sciprec.facets.tables import ArithmeticNames, Section, as_tuple, key, once

EXAMPLE = "quickstart_climate"
MOST_MEMBERS = 100_000
ONE_ULP = 2.0**-52
"""Relative distance of neighbouring numbers of binary64, at most."""


class TraceRequest(Section):
    """The runs of a scenario that are traced, and the key by which their error is split."""

    backends: ArithmeticNames = Field(
        default=(), min_length=1, examples=['backends = ["fp16"]'],
        json_schema_extra={"uniqueItems": True},
        description="an array of backend names or spec strings; left out, all of the scenario's",
    )  # fmt: skip
    by: Literal["line", "operation", "variable", "function", "call", "step", "stage"] = Field(
        default="line", examples=['by = "function"'],
        description='"line", "operation", "variable", "function", "call", "step" or "stage"',
    )  # fmt: skip


class Ensemble(Section):
    """The members of a scenario's ensemble; member 0 is undisturbed."""

    members: int = key(
        f"a whole number of members from 1 to {MOST_MEMBERS}, the undisturbed one included",
        "members = 20", ge=1, le=MOST_MEMBERS,
    )  # fmt: skip
    perturbation: float | None = Field(
        default=None, gt=0, le=0.1, examples=["perturbation = 1.0e-14"],
        description="a share of the initial values > 0, at most 0.1; left out, 2^-52, one unit in "
        "the last place of binary64; prices take none: their members draw paths of their own",
    )  # fmt: skip
    seed: int | None = Field(
        default=None, ge=0, lt=2**63, examples=["seed = 1"],
        description="a whole number >= 0, which draws perturbations; left out, 0; prices take none",
    )  # fmt: skip

    @property
    def amplitude(self) -> float:
        """The largest relative change of an initial value."""
        return ONE_ULP if self.perturbation is None else self.perturbation


class Tolerance(Section):
    """The largest error against the truth at which a variable is good enough."""

    variable: str = key("the name of a variable of the run's file", 'variable = "height"')
    metric: str = key("an error metric, such as relative_l2 or max_abs", 'metric = "relative_l2"')
    at_most: float = key("a number >= 0, the largest good error", "at_most = 1.0e-3", ge=0)
    reason: str = key("a sentence saying where the number comes from", 'reason = "..."')
    times: Literal["last", "all"] = Field(
        default="last", examples=['times = "all"'],
        description='"last", at the last stored time, or "all", over all stored times together',
    )  # fmt: skip


class Scenario(Section):
    """The keys of every scenario, whatever its kind."""

    name: str = key(
        "lower-case letters, digits, '_' and '-', at most 60", 'name = "mountain_t42"',
        pattern=r"^[a-z0-9][a-z0-9_-]{0,59}$",
    )  # fmt: skip
    title: str = key("a line for the page", 'title = "Flow over a mountain"', min_length=1)
    source: str = key("author, year and case", 'source = "Williamson et al. (1992), case 5"')
    kind: str = key('"climate", "heston" or the name of a model', 'kind = "climate"')
    backends: Annotated[ArithmeticNames, once("a backend is")] = Field(
        default=(), min_length=1, examples=['backends = ["fp32", "fp16"]'],
        json_schema_extra={"uniqueItems": True},
        description="an array of backend names or spec strings; left out, MLU_PRECISION_MODE",
    )  # fmt: skip
    compensation: CompensationKey = ()
    tolerance: Annotated[tuple[Tolerance, ...], BeforeValidator(as_tuple)] = Field(
        default=(), description="tables [[tolerance]]", examples=["[[tolerance]]"]
    )
    ensemble: Ensemble | None = Field(
        default=None, examples=["ensemble = { members = 20 }"],
        description="the table [ensemble]; left out, one member",
    )  # fmt: skip
    trace: TraceRequest | None = Field(
        default=None, examples=['trace = { backends = ["fp16"] }'],
        description="the table [trace]; left out, no run is traced",
    )  # fmt: skip
    monitor: MonitorKey = None
    sweep: dict[str, Any] = Field(
        default_factory=dict, exclude=True, examples=['sweep = { "climate.days" = [5.0, 10.0] }'],
        description="the table [sweep]: arrays of values by dotted key, each combination of which "
        "makes a scenario",
    )  # fmt: skip

    runs_models: ClassVar[bool] = True
    """Whether a model is run, else a kernel."""
    takes_compensation: ClassVar[bool] = True
    """Whether models of this kind carry residuals when they are told to."""
    folders: ClassVar[tuple[str, ...]] = ()
    """Keys of its table that say where something is left, of which no number depends."""
    together: ClassVar[tuple[tuple[str, ...], ...]] = ()
    """Groups of keys that mean something together: where one is refused, the others of its group
    are not looked at."""
    of_backends: ClassVar[tuple[str, ...]] = ()
    """Keys that say something of 'backends': where these are refused, they are not looked at."""

    @property
    def members(self) -> int:
        """The number of members of every one of its runs."""
        return 1 if self.ensemble is None else self.ensemble.members

    def arithmetics(self, instead: tuple[str, ...] = ()) -> tuple[str, ...]:
        """The names of its arithmetics, or of others in their place."""
        return instead or self.backends

    @property
    def table(self) -> Any:
        """The table of its kind, for its model."""
        return getattr(self, self.kind)

    def choices(self) -> tuple[Any, ...]:
        """The compensations that its runs take, one after another."""
        return self.compensation or (NO_COMPENSATION,)

    def stage_choices(self) -> tuple[Any, ...]:
        """The stages that its runs take, likewise."""
        return (MODEL_STAGES,)

    def adaptive_choice(self) -> Any:
        """The request of an adaptive run; None where there is none."""
        return None

    @property
    def stored_format(self) -> str | None:
        """The format of the state between steps, where it is not that of the arithmetic."""
        return None

    @model_validator(mode="after")
    def _tolerances_once(self) -> Scenario:
        pairs = [(t.variable, t.metric) for t in self.tolerance]
        if len(set(pairs)) < len(pairs):
            raise ValueError("two [[tolerance]] tables have the same variable and metric")
        return self
