"""The plan of a batch: which scenario runs in which variant and as which member, as pure data; and
what a run depends on: the code that it names, as a digest, and the initial state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from sciprec.facets.compensation.keys import NO_COMPENSATION, choice_of
from sciprec.facets.stages.keys import MODEL_STAGES
from sciprec.foundation.definitions import digest_of
from sciprec.foundation.errors import InputError
from sciprec.precision.formats.backend import TRUTH, resolve_backend
from sciprec.scenario.loading import Scenario
from sciprec.scenario.variant import OfVariant, Variant
from sciprec.workbench.batch.modes import MODES, PRECISION, in_force
from sciprec.workbench.kinds import Member, kind_of


@dataclass(frozen=True)
class Run(OfVariant):
    """One scenario in one variant, as one member of its ensemble.

    Args:
        scenario: what to compute.
        variant: in which arithmetic, with what belongs to it.
        file: name of the file that the run writes, inside the batch's folder.
        member: of the scenario's ensemble; 0 is the undisturbed one.
        code, state: digests of what the scenario depends on, as it was planned.
        threads: how many it may use inside; they change no bit, and are no part of what it is.
    """

    scenario: Scenario
    variant: Variant
    file: str
    member: int = 0
    code: str = ""
    state: str = ""
    threads: int = 1

    def outcome(self, seconds: float, failure: str = "", **more: Any) -> Outcome:
        """The outcome of the run; `more`: the rest of an Outcome."""
        return Outcome(
            self.scenario.name, self.variant, self.file, seconds, failure, self.member, **more
        )


@dataclass(frozen=True)
class Outcome(OfVariant):
    """The outcome of a run.

    Args:
        scenario: name.
        variant: as in `Run`.
        file: what the run was to write; it exists when `failure` is empty, or the run is `partial`.
        seconds: wall time, compilation included; of a run that is kept, when it was computed.
        failure: empty, or a sentence.
        member: as in `Run`.
        kept: whether its file was there already and nothing was computed.
        pace: how fast its model went, in words; empty where that says nothing.
        partial: whether it stopped early; its file holds what came before.
        refused: whether its model is at fault, so that the batch ends.
        alerts: of its monitor, in words.
        notes: sentences about how it went, such as a checkpoint that could not be used.
        shapes: of its variables, by name; empty where its kind may give any.
        run: the digest of what the run is; empty where it left no file.
        digest: that of what its file holds, as `output.digests.OF_RUN`; empty where there is none.
    """

    scenario: str
    variant: Variant
    file: str
    seconds: float
    failure: str = ""
    member: int = 0
    kept: bool = False
    pace: str = ""
    partial: bool = False
    refused: bool = False
    alerts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict, compare=False)
    run: str = ""
    digest: str = ""


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
            "no scenario was given; give TOML files, or names such as quickstart_climate"
        )
    _refuse_repeated_names(scenarios)
    runs = []
    for scenario in scenarios:
        scenario = _with_backends(scenario, environ or {}, override)
        scenario = _with_compensation(scenario, environ or {})
        names = _canonical(scenario.arithmetics(override))
        if scenario.runs_models:
            for name in names:
                resolve_backend(name).require_taken_by(f"scenario '{scenario.name}'")
        variants = [variant for variant in variants_of(scenario, names) if not variant.is_truth]
        chosen = [Variant(TRUTH), *variants]
        for member in range(scenario.members):
            runs += [_run(scenario, variant, member, suffix) for variant in chosen]
    return tuple(runs)


def variants_of(scenario: Scenario, backends: Iterable[str]) -> list[Variant]:
    """The variants of these arithmetics with the stages and compensations of a scenario, one after
    another; at the end its adaptive run, where it has one.
    """
    stored, adaptive = scenario.stored_format, scenario.adaptive_choice()
    adapting = [] if adaptive is None else [Variant(adaptive.plan().widest, adaptive=adaptive)]
    uniform = [
        Variant(name, choice, stages, None if name == TRUTH else stored)
        for name in backends
        for stages in scenario.stage_choices() or (MODEL_STAGES,)  # a kind of 0.2 may give none
        for choice in scenario.choices() or (NO_COMPENSATION,)
    ]
    return uniform + adapting


def with_threads(runs: Iterable[Run], processors: int) -> tuple[Run, ...]:
    """The runs with the threads of each: side by side each of them takes a processor whole, which
    no threads inside do; so these get what is left where there are fewer runs than processors.

    Args:
        runs: all that are to be computed.
        processors: how many there are for them.
    """
    runs = tuple(runs)
    inside = max(1, processors // max(1, len(runs)))
    return tuple(replace(run, threads=inside) for run in runs)


def _run(scenario: Scenario, variant: Variant, member: int, suffix: str) -> Run:
    """A run and the name of its file, in which member 0 has no number."""
    numbered = f"__m{member:04d}" if member else ""
    return Run(
        scenario, variant, f"{scenario.name}__{variant.file_part}{numbered}{suffix}", member
    )


def _with_compensation(scenario: Scenario, environ: Mapping[str, str]) -> Scenario:
    """The scenario, its compensation filled in from the environment where it names none."""
    if scenario.compensation or not scenario.takes_compensation:
        return scenario
    compensation = in_force(environ, {"backends": scenario.backends}).compensation
    if compensation is None:
        return scenario
    return scenario.model_copy(update={"compensation": (choice_of("environment", compensation),)})


def _with_backends(
    scenario: Scenario, environ: Mapping[str, str], override: tuple[str, ...]
) -> Scenario:
    """The scenario, its backends filled in from elsewhere where it names none."""
    in_effect = in_force(environ, {"backends": scenario.backends}).backends
    chosen = override or in_effect
    if not chosen and scenario.adaptive_choice() is None:
        raise InputError(
            f"scenario '{scenario.name}': no arithmetic is chosen: the key 'backends' is missing "
            f'and {PRECISION} is not set; write for example `backends = ["fp32", "fp16"]`, give '
            f"--backend, or set {PRECISION} to one of {', '.join(MODES)}"
        )
    return scenario if scenario.backends else scenario.model_copy(update={"backends": chosen})


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


def member_of(run: Run) -> Member | None:
    """The member that a run's model is given; None for member 0."""
    if run.member == 0:
        return None
    ensemble = run.scenario.ensemble
    return Member(run.member, ensemble.amplitude, ensemble.seed or 0)


def identity_of(run: Run) -> dict[str, Any]:
    """The keys of an ensemble that the numbers of a run depend on; empty for member 0."""
    member = member_of(run)
    return {} if member is None else asdict(member)


def code_behind(scenario: Scenario) -> str:
    """A digest of the registered case, equations, schemes and payoffs that a scenario names, or of
    the model itself where that is a user's.
    """
    kind = kind_of(scenario)
    return digest_of(*((kind.run,) if kind.sources is None else kind.sources(scenario.table)))


def state_behind(scenario: Scenario) -> str:
    """A digest of an initial state that comes from a file or an array; "" where code makes it."""
    return kind_of(scenario).state(scenario.table)
