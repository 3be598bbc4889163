"""Kinds of scenario: all that is known of one kind is one record, registered under its name.

A kind of one's own is registered in the same way, from anywhere:

    class Lorenz(Section):
        forcing: float = key("a number", "forcing = 8.0")

    class LorenzScenario(Scenario):
        kind: Literal["lorenz"] = key('"lorenz"', 'kind = "lorenz"')
        lorenz: Lorenz = key("the table [lorenz]", "[lorenz]")

    register(Kind("lorenz", LorenzScenario, run))

where `run(table, variant, surroundings)` gives an xarray Dataset.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import xarray as xr

from sciprec.foundation.arguments import refused
from sciprec.foundation.errors import InputError
from sciprec.foundation.loading import load_files, load_plugins
from sciprec.foundation.shipped import example_models
from sciprec.scenario.loading import Scenario
from sciprec.scenario.variant import Variant
from sciprec.tools.monitor.plan import WatchPlan

NUMBER_BYTES = 8
"""Bytes of a number in a file, before compression."""


@dataclass(frozen=True)
class Member:
    """A member of an ensemble beyond the undisturbed one.

    Args:
        member: its number, 1 or above.
        amplitude: the largest relative change of an initial value.
        seed: of the ensemble.
    """

    member: int
    amplitude: float
    seed: int


@dataclass(frozen=True)
class Surroundings:
    """The surroundings of a model's run: all that it is given beside its table.

    Args:
        listening: told now and then how far the run is, in the unit of the kind's `length`, or
            None.
        interrupted: folder of what an interrupted run has left, or None.
        folder: of the batch.
        member: of the scenario's ensemble; None: the undisturbed one.
        threads: how many the run may use inside; they change no bit.
        timed: whether a short run may be made again, so that its time is known better.
        monitor: what is to be watched, or None.
        told: called with sentences that whoever started the run is to see.
    """

    listening: Callable[[float], None] | None = None
    interrupted: Path | None = None
    folder: Path = Path()
    member: Member | None = None
    threads: int = 1
    timed: bool = True
    monitor: WatchPlan | None = None
    told: Callable[[str], None] = lambda words: None


@dataclass(frozen=True)
class Estimate:
    """A rough forecast of a run.

    Args:
        work: what there is to do, in words.
        seconds: on one core of the machine of the docs, without compilation; None where it depends
            on the numbers themselves, or is not known.
        megabytes: of its file before compression, at most; None where that is not known.
        compile_seconds: of its kernels, where they are not compiled yet.
        memory_megabytes: of the process that makes it, at most; None where that is not known.
    """

    work: str
    seconds: float | None
    megabytes: float | None
    compile_seconds: float = 0.0
    memory_megabytes: float | None = None


@dataclass(frozen=True)
class Kind:
    """A kind of scenario. `table` is what a scenario holds under the kind's name.

    Args:
        name: of the kind and of its table.
        scenario: the schema, whose field of the kind's name is the schema of the table.
        run: (table, variant, surroundings) -> Dataset; what compare and report are to know of it
            beyond units and names are attributes, see `sciprec.results.output.stated`.
        check: (table, variant); raises InputError for what only the model knows, before anything
            is computed.
        attributes: of every dataset that does not have them itself.
        variables: table -> names of the variables of a file; left out, tolerances name what they
            like.
        estimate: (table, variant, slowness against fp64) -> Estimate.
        compile_seconds: of the kernels of a run, roughly.
        kernels: (table, variant) -> plain data, what decides which kernels are called; left out,
            the whole table.
        brief: table -> one whose run calls the same kernels and takes next to no time, by which
            they are compiled ahead; left out, the first run compiles its own.
        sources: table -> functions and values whose code belongs into the digest of a run; left
            out, `run` with all that it calls.
        state: table -> a digest of initial values that no code tells; empty where there are none.
        ensembles: whether there may be a table [ensemble]; `run` then finds its member.
        moved: (table, move) -> the table, the floating-point inputs of its model moved by the
            function `move`; left out, members of an ensemble are what differs in its inputs.
        length: table -> how far a run goes, as told to `surroundings.listening`, and the unit, such
            as (5.0, "day"); None where it does not say.
        restarts: whether `run` goes on from what it left in `surroundings.interrupted`.
        residuals: table -> (variable, elements of a level, levels) of what is carried; None where
            nothing is.
        fitting: (table, backend, length, times) -> (names, error of a compensation), for fits of
            coefficients; None where there are none.
        watched: table -> names of what a monitor can watch, empty where these are known when the
            model runs; None: nothing.
        watchable: (table, variant, plan of a monitor); raises InputError where a run of the variant
            has no steps that are to be looked at, or does not show what is to be watched of them.
        drifts: whether a monitor can make steps of the model in fp64, too, from a run's own state.
        same_axes: whether runs that give other variables, or others of other shapes, than in
            another arithmetic are a fault of the model.
        in_files: whether a scenario file may be of this kind.
        file: of the user that registers it, which other processes import first; empty where a
            package does.
        origin: what tells definitions of one name apart: a later one of the same origin, such as a
            cell that runs again, takes its place.
    """

    name: str
    scenario: type[Scenario]
    run: Callable[[Any, Variant, Surroundings], xr.Dataset]
    check: Callable[[Any, Variant], None] = lambda table, variant: None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    variables: Callable[[Any], tuple[str, ...]] | None = None
    estimate: Callable[[Any, Variant, float], Estimate] = lambda table, variant, slowness: Estimate(
        "", None, None
    )
    compile_seconds: float = 0.0
    kernels: Callable[[Any, Variant], Any] = lambda table, variant: table.model_dump(mode="json")
    brief: Callable[[Any], Any] | None = None
    sources: Callable[[Any], tuple[Any, ...]] | None = None
    state: Callable[[Any], str] = lambda table: ""
    ensembles: bool = False
    moved: Callable[[Any, Callable[[float], float]], Any] | None = None
    length: Callable[[Any], tuple[float, str] | None] = lambda table: None
    restarts: bool = False
    residuals: Callable[[Any], list[tuple[str, int, int]]] | None = None
    fitting: Callable[..., tuple[tuple[str, ...], Callable]] | None = None
    watched: Callable[[Any], tuple[str, ...]] | None = None
    watchable: Callable[[Any, Variant, WatchPlan], None] = lambda table, variant, plan: None
    drifts: bool = False
    same_axes: bool = False
    in_files: bool = True
    file: str = ""
    origin: tuple[str, ...] = ()


_KINDS: dict[str, Kind] = {}


def register(kind: Kind) -> Kind:
    """Make a kind known under its name, in place of one of the same origin or file.

    Raises:
        InputError: another one has this name.
    """
    registered = _KINDS.get(kind.name)
    if registered is not None and not _is_same(kind, registered):
        where = f" in '{registered.file}'" if registered.file else ""
        raise InputError(
            f"the kind '{kind.name}' is there already{where}; give yours another name"
        )
    _KINDS[kind.name] = kind
    return kind


def _is_same(kind: Kind, other: Kind) -> bool:
    """Whether a kind is another one defined again: in the same place, or by the same file under
    the name of another module.
    """
    a, b = kind.origin or _origin(kind.run), other.origin or _origin(other.run)
    return a == b or (kind.file != "" and (kind.file, a[1]) == (other.file, b[1]))


def _origin(run: Callable) -> tuple[str, str]:
    """Module and name of a function; of another callable, such as a partial one, its class's."""
    definition = run if hasattr(run, "__qualname__") else type(run)
    return (definition.__module__, definition.__qualname__)


def kind_called(name: str) -> Kind | None:
    """The kind of a name, of a model of the examples, too; None where there is none.

    Raises:
        InputError: a plugin, or the file of the example, cannot be loaded.
    """
    load_plugins()
    if name not in _KINDS and name in example_models():
        load_files(example_models()[name])
    return _KINDS.get(name)


def kind_names() -> tuple[str, ...]:
    """The names of all kinds that files may be of: those of the examples last."""
    return tuple(dict.fromkeys((*kinds(), *example_models())))


def kinds() -> dict[str, Kind]:
    """All registered kinds that files may be of, by name, those of this package first.

    Raises:
        InputError: an installed plugin cannot be loaded.
    """
    load_plugins()
    return {name: kind for name, kind in _KINDS.items() if kind.in_files}


def kind_of(scenario: Scenario) -> Kind:
    """The kind of a scenario.

    Raises:
        InputError: it is none.
    """
    if not isinstance(scenario, Scenario):
        raise refused("scenario", scenario, "what sciprec.load_scenario(path) gives")
    load_plugins()
    return _KINDS[scenario.kind]
