"""The plan of a batch: which scenario runs in which arithmetic with which compensation, and as
which member of its ensemble, as pure data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sciprec.compensation_choice import NO_COMPENSATION, CompensationChoice, choice_of
from sciprec.errors import InputError
from sciprec.machine.modes import MODES, PRECISION, in_force
from sciprec.precision.backend import resolve_backend
from sciprec.scenario import TRUTH, Scenario
from sciprec.stages_choice import MODEL_STAGES, StagesChoice


@dataclass(frozen=True)
class Run:
    """One scenario in one arithmetic with one compensation, as one member of its ensemble.

    Args:
        scenario: what to compute.
        backend: name or spec string of the arithmetic.
        file: name of the file that the run writes, inside the batch's folder.
        compensation: of the state's updates.
        member: of the scenario's ensemble; 0 is the undisturbed one.
        stages: arithmetics of the stages of a climate run's transforms.
        code, state: digests of what is behind the scenario where it was planned, see `behind`.
    """

    scenario: Scenario
    backend: str
    file: str
    compensation: CompensationChoice = NO_COMPENSATION
    member: int = 0
    stages: StagesChoice = MODEL_STAGES
    code: str = ""
    state: str = ""

    @property
    def label(self) -> str:
        """What the run is called beside the others of its scenario: "mlu370", "mlu370+carry"."""
        return label_of(self.backend, self.compensation.name, self.stored, self.stages.name)

    @property
    def stored(self) -> str | None:
        """The format of the state between steps, where it is not that of the arithmetic."""
        given = getattr(self.scenario, self.scenario.kind)
        return None if self.is_truth else getattr(given, "stored", None)

    @property
    def is_truth(self) -> bool:
        """Whether this run is what other runs of its scenario and member are compared with."""
        return self.backend == TRUTH

    def outcome(
        self, seconds: float, failure: str = "", kept: bool = False, pace: str = "",
        partial: bool = False,
    ) -> Outcome:  # fmt: skip
        """What became of the run."""
        return Outcome(
            self.scenario.name, self.backend, self.file, seconds, failure,
            self.compensation.name, kept, self.stored, self.member, pace, self.stages.name, partial,
        )  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """What became of a run.

    Args:
        scenario, backend: names.
        file: what the run was to write; it exists when `failure` is empty, or the run is `partial`.
        seconds: wall time, compilation included; of a run that is kept, when it was computed.
        failure: empty, or a sentence.
        compensation: name.
        kept: whether its file was there already and nothing was computed.
        stored, member: as in `Run`.
        pace: how fast its model went, in words; empty where that says nothing.
        stages: name.
        partial: whether it stopped early; its file holds what came before.
    """

    scenario: str
    backend: str
    file: str
    seconds: float
    failure: str = ""
    compensation: str = NO_COMPENSATION.name
    kept: bool = False
    stored: str | None = None
    member: int = 0
    pace: str = ""
    stages: str = MODEL_STAGES.name
    partial: bool = False

    @property
    def label(self) -> str:
        """What the run is called beside the others of its scenario and member."""
        return label_of(self.backend, self.compensation, self.stored, self.stages)


def plan(
    scenarios: Iterable[Scenario],
    backends: Iterable[str] | None = None,
    environ: Mapping[str, str] | None = None,
    suffix: str = ".nc",
) -> tuple[Run, ...]:
    """All runs of a batch: for each scenario and member the truth first, once, then the others.

    Args:
        scenarios: validated scenarios with different names.
        backends: names that replace those of the scenarios, or None.
        environ: environment variables, whose mode and compensation serve scenarios that name none.
        suffix: of the files, as in `output.files`.

    Raises:
        InputError: no scenario, a name used twice, an unknown backend; no backend named
            anywhere.
    """
    scenarios, override = tuple(scenarios), tuple(backends or ())
    if not scenarios:
        raise InputError(
            "no scenario was given; give TOML files, such as scenarios/quickstart_climate.toml"
        )
    _refuse_repeated_names(scenarios)
    runs = []
    for scenario in scenarios:
        scenario = _with_backends(scenario, environ or {}, override)
        scenario = _with_compensation(scenario, environ or {})
        names = _canonical(override or scenario.backends)
        kinds = [(TRUTH, NO_COMPENSATION, MODEL_STAGES)]
        kinds += [
            (name, choice, stages)
            for name in names
            if name != TRUTH
            for stages in stages_of(scenario)
            for choice in scenario.choices() or (NO_COMPENSATION,)
        ]
        members = range(scenario.members)
        runs += [_run(scenario, *kind, member, suffix) for member in members for kind in kinds]
    return tuple(runs)


def stages_of(scenario: Scenario) -> tuple[StagesChoice, ...]:
    """The arithmetics of transforms that the runs of a scenario take, one after another."""
    return getattr(scenario, "stages", ()) or (MODEL_STAGES,)


def label_of(
    backend: str, compensation: str, stored: str | None = None, stages: str = MODEL_STAGES.name
) -> str:
    """The name of an arithmetic, with the state's format, the stages of the transforms and the
    compensation if there are such: "fp32, stages mixed-m0+carry".
    """
    name = backend if stored is None else f"{backend} with state in {stored}"
    name = name if stages == MODEL_STAGES.name else f"{name}, stages {stages}"
    return name if compensation == NO_COMPENSATION.name else f"{name}+{compensation}"


def _run(
    scenario: Scenario, backend: str, choice: CompensationChoice, stages: StagesChoice,
    member: int, suffix: str,
) -> Run:  # fmt: skip
    """A run and the name of its file, in which member 0 has no number."""
    numbered = f"__m{member:04d}" if member else ""
    label = label_of(backend, choice.name, stages=stages.name)
    file = f"{scenario.name}__{file_part(label)}{numbered}{suffix}"
    return Run(scenario, backend, file, choice, member, stages)


def _with_compensation(scenario: Scenario, environ: Mapping[str, str]) -> Scenario:
    """The scenario, its compensation filled in from the environment where it names none."""
    if scenario.compensation or not scenario.takes_compensation:
        return scenario
    given = in_force(environ, {"backends": scenario.backends}).compensation
    if given is None:
        return scenario
    return scenario.model_copy(update={"compensation": (choice_of("environment", given),)})


def _with_backends(
    scenario: Scenario, environ: Mapping[str, str], override: tuple[str, ...]
) -> Scenario:
    """The scenario, its backends filled in from elsewhere where it names none."""
    here = in_force(environ, {"backends": scenario.backends}).backends
    chosen = override or here
    if not chosen:
        raise InputError(
            f"scenario '{scenario.name}': no arithmetic is chosen: the key 'backends' is missing "
            f'and {PRECISION} is not set; write for example `backends = ["fp32", "fp16"]`, give '
            f"--backend, or set {PRECISION} to one of {', '.join(MODES)}"
        )
    return scenario if scenario.backends else scenario.model_copy(update={"backends": chosen})


def file_part(backend: str) -> str:
    """A backend's name with everything that file systems dislike replaced by '-'.

    The sign in `emin=-14` stays and the '=' goes, so that two specs never share a file.
    """
    return re.sub(r"[^A-Za-z0-9.+]+", "-", backend.replace("=", "")).strip("-")


def _canonical(names: Iterable[str]) -> tuple[str, ...]:
    """Backend names as the table has them, each once, in the given order."""
    return tuple(dict.fromkeys(resolve_backend(name).name for name in names))


def _refuse_repeated_names(scenarios: tuple[Scenario, ...]) -> None:
    """Two scenarios of one name would write the same files."""
    names = [scenario.name for scenario in scenarios]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise InputError(
            f"the name '{repeated[0]}' is used by {names.count(repeated[0])} of the scenarios; "
            "names must differ, because files are named after them: change the key 'name' of one"
        )
