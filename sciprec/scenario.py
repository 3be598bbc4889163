"""Scenarios: a TOML file becomes a frozen, validated description of what to run.

The only place that checks what a user wrote. Every complaint names the file and the key, says what
was given, what is accepted and what to write instead; all complaints of a file come at once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    BeforeValidator,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from sciprec import arguments
from sciprec.compensation_choice import CompensationChoice, CompensationChoices
from sciprec.complaints import complaint
from sciprec.correction_choice import CARRY, CORRECTION, CorrectionChoice, CorrectionChoices
from sciprec.ensemble import Ensemble
from sciprec.errors import InputError, meant
from sciprec.heston_sections import HestonRun
from sciprec.limits import CLIMATE, MOST_STORED_STATES, PARAMETER, require_few_states
from sciprec.precision.backend import resolve_backend
from sciprec.sections import Names, Section, as_tuple, key, limited
from sciprec.shipped import SCENARIOS
from sciprec.stages_choice import StagesChoice, StagesChoices
from sciprec.toml_file import is_inside, read_toml

EXAMPLE = "quickstart_climate"
TRUTH = "fp64"


class Tolerance(Section):
    """The largest error against the truth at which a variable is good enough."""

    variable: str = key("the name of a variable of the run's file", 'variable = "height"')
    metric: str = key("the name of an error metric", 'metric = "relative_l2"')
    at_most: float = key("a number >= 0", "at_most = 1.0e-3", ge=0)
    reason: str = key("a sentence saying where the number comes from", 'reason = "..."')
    times: Literal["last", "all"] = Field(
        default="last", examples=['times = "all"'],
        description='"last", at the last stored time, or "all", over all stored times together',
    )  # fmt: skip


class ClimateRun(Section):
    """One integration of a global model."""

    case: str = key("the name of a registered initial state", 'case = "williamson_5"')
    truncation: int = key(
        "a triangular truncation, a whole number from 1 to 1023, such as 42", "truncation = 42",
        ge=1, le=1023,
    )  # fmt: skip
    days: float = limited(CLIMATE["days"], "days = 5.0")
    step_seconds: float | None = limited(
        CLIMATE["step_seconds"], "step_seconds = 600.0", default=None
    )
    output_hours: float = limited(CLIMATE["output_hours"], "output_hours = 6.0", default=24.0)
    time_scheme: str | None = Field(
        default=None, examples=['time_scheme = "rk4"'],
        description="the name of a registered time scheme; left out, the model chooses",
    )  # fmt: skip
    parameters: dict[str, Any] = Field(
        default_factory=dict, examples=["parameters = { angle_degrees = 45.0 }"],
        description="a table of values that the case, its equations or the diffusion know",
    )  # fmt: skip
    variables: Names | None = Field(
        default=None, min_length=1, examples=['variables = ["height", "vorticity"]'],
        description="an array of names of fields to store; left out, all of them",
    )  # fmt: skip
    stored: str | None = Field(
        default=None, examples=['stored = "fp16"'],
        description="the format of the state between steps in all runs but the truth",
    )  # fmt: skip
    checkpoints: str | None = Field(
        default=None, min_length=1, max_length=200, examples=['checkpoints = "checkpoints"'],
        description="a folder inside the output folder, whose checkpoints longer runs go on from",
    )  # fmt: skip

    def arguments(self) -> dict[str, Any]:
        """Arguments of `sciprec.climate.run`."""
        given = self.model_dump()
        return given | given.pop("parameters")

    @field_validator("checkpoints")
    @classmethod
    def _stays_inside(cls, folder: str | None) -> str | None:
        if folder is not None and not is_inside(folder):
            raise ValueError("it leaves the output folder")
        return folder

    @field_validator("parameters")
    @classmethod
    def _plain_values(cls, given: dict[str, Any]) -> dict[str, Any]:
        return {
            name: value if isinstance(value, (bool, str))
            else PARAMETER.number(f"parameter {name!r}", value)
            for name, value in given.items()
        }  # fmt: skip

    @model_validator(mode="after")
    def _states_fit_into_memory(self) -> ClimateRun:
        require_few_states(self.days, self.output_hours)
        return self


class AccumulationRun(Section):
    """Sums of many small increments; see sciprec.accumulation."""

    updates: int = key(
        "a whole number of updates from 1 to 1e9", "updates = 10000000", ge=1, le=10**9
    )
    members: int = key("a whole number of sums from 1 to 1e5", "members = 64", ge=1, le=10**5)
    smallest: float = key("an increment > 0, at most 1e12", "smallest = 1.0e-7", gt=0, le=1e12)
    largest: float = key("an increment > 0, at most 1e12", "largest = 1.0e-5", gt=0, le=1e12)
    start: float = Field(
        default=1.0, ge=0, le=1e12, examples=["start = 1.0"],
        description="a number from 0 to 1e12",
    )  # fmt: skip
    outputs: int = Field(
        default=50, ge=1, le=MOST_STORED_STATES, examples=["outputs = 50"],
        description=f"a whole number of stored states from 1 to {MOST_STORED_STATES}",
    )  # fmt: skip
    seed: int = Field(
        default=0, ge=0, lt=2**63, examples=["seed = 1"], description="a whole number >= 0"
    )


class Scenario(Section):
    """What every scenario says, whatever its kind."""

    name: str = key(
        "lower-case letters, digits, '_' and '-', at most 60", 'name = "mountain_t42"',
        pattern=r"^[a-z0-9][a-z0-9_-]{0,59}$",
    )  # fmt: skip
    title: str = key("a line for the page", 'title = "Flow over a mountain"', min_length=1)
    source: str = key("author, year and case", 'source = "Williamson et al. (1992), case 5"')
    kind: str = key('"climate", "heston" or "accumulation"', 'kind = "climate"')
    backends: Names = Field(
        default=(), min_length=1, examples=['backends = ["fp32", "fp16"]'],
        description="an array of backend names or spec strings; left out, MLU_PRECISION_MODE",
    )  # fmt: skip
    compensation: CompensationChoices = Field(
        default=(), examples=['compensation = ["none", "carry"]'],
        description="an array of names of compensations, or tables [[compensation]]",
    )  # fmt: skip
    tolerance: Annotated[tuple[Tolerance, ...], BeforeValidator(as_tuple)] = Field(
        default=(), description="tables [[tolerance]]", examples=["[[tolerance]]"]
    )
    ensemble: Ensemble | None = Field(
        default=None, examples=["[ensemble]\nmembers = 20"],
        description="the table [ensemble]; left out, one member",
    )  # fmt: skip

    takes_compensation: ClassVar[bool] = True
    """Whether models of this kind carry residuals when they are told to."""

    @property
    def members(self) -> int:
        """How many members every one of its runs has."""
        return 1 if self.ensemble is None else self.ensemble.members

    def choices(self) -> tuple[Any, ...]:
        """The compensations that its runs take, one after another; empty where there is none."""
        return self.compensation

    @field_validator("backends")
    @classmethod
    def _known_backends(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            resolve_backend(name)
        if len(set(names)) < len(names):
            raise ValueError("a backend is named twice")
        return names

    @field_validator("compensation")
    @classmethod
    def _compensations_once(
        cls, given: tuple[CompensationChoice, ...]
    ) -> tuple[CompensationChoice, ...]:
        names = [choice.name for choice in given]
        if len(set(names)) < len(names):
            raise ValueError("a compensation is named twice")
        return given

    @model_validator(mode="after")
    def _tolerances_once(self) -> Scenario:
        pairs = [(t.variable, t.metric) for t in self.tolerance]
        if len(set(pairs)) < len(pairs):
            raise ValueError("two [[tolerance]] tables have the same variable and metric")
        return self


class ClimateScenario(Scenario):
    """A scenario of kind "climate"."""

    kind: Literal["climate"] = key('"climate"', 'kind = "climate"')
    climate: ClimateRun = key("the table [climate]", "[climate]")
    stages: StagesChoices = Field(
        default=(), examples=['stages = ["none", "fp16-legendre", "mixed-m0"]'],
        description="an array of names of stages, or tables [[stages]]",
    )  # fmt: skip

    @field_validator("stages")
    @classmethod
    def _stages_once(cls, given: tuple[StagesChoice, ...]) -> tuple[StagesChoice, ...]:
        names = [choice.name for choice in given]
        if len(set(names)) < len(names):
            raise ValueError("stages are named twice")
        return given


class HestonScenario(Scenario):
    """A scenario of kind "heston"."""

    kind: Literal["heston"] = key('"heston"', 'kind = "heston"')
    heston: HestonRun = key("the table [heston]", "[heston.model]")
    compensation: CorrectionChoices = Field(
        default=(), examples=['compensation = ["none", "carry", "correction"]'],
        description='an array of "none", "carry" and "correction"; left out, "carry"',
    )  # fmt: skip
    takes_compensation: ClassVar[bool] = False

    @model_validator(mode="after")
    def _members_draw_their_own_paths(self) -> HestonScenario:
        given = self.ensemble
        if given is not None and (given.perturbation, given.seed) != (None, None):
            raise ValueError(
                "table [ensemble] has a perturbation or a seed; members of kind 'heston' draw "
                "paths of their own from the seed in [heston.simulation]: give 'members' alone"
            )
        return self

    @model_validator(mode="after")
    def _corrected_where_a_bound_is_made(self) -> HestonScenario:
        named = [choice.name for choice in self.compensation]
        if CORRECTION in named and self.heston.simulation.tolerance is None:
            raise ValueError(
                "the key 'compensation' has \"correction\", and only prices with a 'tolerance' are "
                "corrected; accepted with 'n_paths': \"none\" and \"carry\"; or give a tolerance "
                "instead"
            )
        if len(set(named)) < len(named):
            raise ValueError("a compensation is named twice")
        return self

    def choices(self) -> tuple[CorrectionChoice, ...]:
        """What its runs take: residuals where nothing is said."""
        return self.compensation or (CorrectionChoice(name=CARRY),)


class AccumulationScenario(Scenario):
    """A scenario of kind "accumulation"."""

    kind: Literal["accumulation"] = key('"accumulation"', 'kind = "accumulation"')
    accumulation: AccumulationRun = key("the table [accumulation]", "[accumulation]")

    @model_validator(mode="after")
    def _has_members_of_its_own(self) -> AccumulationScenario:
        if self.ensemble is not None:
            raise ValueError(
                "the table [ensemble] was given; accepted in scenarios of kind 'climate' and "
                "'heston': give 'members' in [accumulation] instead"
            )
        return self


KINDS: dict[str, type[Scenario]] = {
    "climate": ClimateScenario,
    "heston": HestonScenario,
    "accumulation": AccumulationScenario,
}


def load_scenario(path: str | Path) -> Scenario:
    """Read and validate one scenario file.

    Args:
        path: a TOML file, or the name of a scenario that comes with sciprec.

    Returns:
        A frozen scenario of its kind: ClimateScenario, HestonScenario or AccumulationScenario.

    Raises:
        InputError: the file cannot be read or something in it cannot be used; one line per
            complaint, each naming the file and the key.
    """
    file = Path(arguments.path("a scenario", path))
    return parse_scenario(read_toml(file, "scenario", SCENARIOS, EXAMPLE), origin=str(file))


def parse_scenario(content: dict[str, Any], origin: str = "scenario") -> Scenario:
    """Validate a scenario that is already a dictionary; `origin` is named in the complaints."""
    kind = content.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        given = "is missing" if kind is None else f"was given {kind!r}"
        raise InputError(
            f"{origin}: the key 'kind' {given}; accepted: {', '.join(KINDS)}{meant(kind, KINDS)}"
        )
    try:
        return KINDS[kind].model_validate(content)
    except ValidationError as error:
        complaints = [complaint(KINDS[kind], dict(e)) for e in error.errors()]
        raise InputError("\n".join(f"{origin}: {c}" for c in complaints)) from None
