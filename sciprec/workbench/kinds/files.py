"""Scenario files: each becomes a frozen scenario of its kind, or sentences of what is wrong."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sciprec.foundation import arguments
from sciprec.foundation.errors import InputError, meant
from sciprec.foundation.shipped import SCENARIOS, named
from sciprec.scenario.complaints import complaint, complaints
from sciprec.scenario.keys import toml
from sciprec.scenario.loading import EXAMPLE, Scenario
from sciprec.scenario.sweep import SWEEP, swept
from sciprec.scenario.toml_file import read_toml
from sciprec.workbench.kinds.kind import Kind, kind_called, kind_names, kinds

_IN_PLACE_OF = {"name": "unnamed", "title": "untitled", "source": "nobody"}
"""Keys that every scenario has to have, with values to judge a file that lacks them."""


@dataclass(frozen=True)
class Examined:
    """The content of a scenario file, examined.

    Args:
        scenario: where nothing is wrong; None otherwise.
        complaints: sentences, one for each thing that is wrong.
        rest: the scenario without what is wrong, for further questions; None where the table of
            its kind is wrong itself.
    """

    scenario: Scenario | None
    complaints: tuple[str, ...] = ()
    rest: Scenario | None = None


def load_scenario(path: str | Path | Mapping[str, Any]) -> Scenario:
    """Read and validate one scenario.

    Args:
        path: a TOML file, the name of a scenario that comes with sciprec, `examples:NAME`, or what
            such a file holds, as a dictionary. Models of the examples are known by their kinds.

    Returns:
        A frozen scenario of its kind, such as ClimateScenario.

    Raises:
        InputError: the file cannot be read or something in it cannot be used; one line per
            complaint, each naming the file and the key. Or its table [sweep] makes several.
    """
    return parse_scenario(*_content_of(path))


def load_scenarios(path: str | Path | Mapping[str, Any]) -> tuple[Scenario, ...]:
    """Read and validate every scenario that a file makes: one, or one for each combination of the
    values in its table [sweep].

    Args:
        path: as for `load_scenario`.

    Returns:
        Frozen scenarios, the first swept key changing slowest.

    Raises:
        InputError: as `load_scenario`, but for several scenarios.

    Example:
        >>> import sciprec
        >>> content = sciprec.load_scenario("quickstart_climate").model_dump(mode="json")
        >>> content["sweep"] = {"climate.days": [1.0, 2.0]}
        >>> [scenario.name for scenario in sciprec.load_scenarios(content)]
        ['quickstart_climate-days-1', 'quickstart_climate-days-2']
    """
    return parse_scenarios(*_content_of(path))


def _content_of(path: str | Path | Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """The content of a file or dictionary, and its name in complaints."""
    if isinstance(path, Mapping):
        if "kind" not in path:
            raise InputError(
                f"a scenario was given as {arguments.shown(dict(path))}, without the key 'kind'; "
                "accepted: a file, the name of one, or a dictionary of what such a file holds"
            )
        return dict(path), "scenario"
    return read_scenario(path), str(path)


def chosen(scenario: Scenario) -> dict[str, list[Any]]:
    """The table [sweep] that makes this scenario alone of the file which made it."""
    return {key: [value] for key, value in scenario.sweep.items()}


def read_scenario(path: str | Path) -> dict[str, Any]:
    """The content of a scenario file, not validated.

    Raises:
        InputError: it cannot be read.
    """
    file = Path(arguments.path("a scenario", path))
    if file.suffix == ".py":
        raise InputError(
            f"'{file}' is a Python file, and a scenario is a TOML file; a kernel of it is "
            f"studied by `sciprec study {file}:FUNCTION`"
        )
    content = read_toml(file, "scenario", SCENARIOS, EXAMPLE)
    return _from_its_folder(content, named(file, SCENARIOS).parent)


def _from_its_folder(content: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The content, whose assignments in files beside it are named from here."""
    traced = content.get("trace")
    for table in (content, traced if isinstance(traced, dict) else {}):
        names = table.get("backends")
        if isinstance(names, list):
            table["backends"] = [_from(folder, name) for name in names]
    swept_keys = content.get(SWEEP)
    choices = swept_keys.get("backends") if isinstance(swept_keys, dict) else None
    if isinstance(swept_keys, dict) and isinstance(choices, list):
        swept_keys["backends"] = [
            [_from(folder, name) for name in names] if isinstance(names, list) else names
            for names in choices
        ]
    return content


def _from(folder: Path, name: Any) -> Any:
    kind, _, path = name.partition(":") if isinstance(name, str) else ("", "", "")
    beside = folder / path
    return f"{kind}:{beside}" if kind == "assignment" and path and beside.is_file() else name


def parse_scenario(content: dict[str, Any], origin: str = "scenario") -> Scenario:
    """Validate one scenario that is already a dictionary; `origin` is named in the complaints."""
    scenarios = parse_scenarios(content, origin)
    if len(scenarios) > 1:
        first = chosen(scenarios[0])
        raise InputError(
            f"{origin}: the table [sweep] makes {len(scenarios)} scenarios, and one is accepted "
            f"here; choose a value of each key, as in --set 'sweep={toml(first)}'"
        )
    return scenarios[0]


def parse_scenarios(content: dict[str, Any], origin: str = "scenario") -> tuple[Scenario, ...]:
    """Validate every scenario that a dictionary makes; `origin` is named in the complaints."""
    scenarios, wrong = [], {}
    try:
        contents = swept(content)
    except InputError as error:
        contents, wrong = [], dict.fromkeys(str(error).splitlines())
    for each in contents:
        result = examined(each)
        wrong |= dict.fromkeys(result.complaints)
        scenarios += [result.scenario] if result.scenario is not None else []
    if wrong:
        raise InputError("\n".join(f"{origin}: {text}" for text in wrong))
    return tuple(scenarios)


def examined(content: dict[str, Any]) -> Examined:
    """The scenario that a content is, or everything that is wrong with it.

    A table is looked at as a whole when its keys are right; what is wrong elsewhere hides nothing.
    """
    name = content.get("kind")
    kind = kind_called(name) if isinstance(name, str) else None
    if kind is None or not kind.in_files:
        accepted = kind_names()
        problem = "is missing" if name is None else f"was given {arguments.shown(name)}"
        near = [key for key in content if key != "kind" and meant("kind", [key])]
        hint = f"; '{near[0]}' stands there: write kind" if name is None and near else ""
        no_kind = (
            f"the key 'kind' {problem}; accepted: {', '.join(accepted)}{meant(name, accepted)}"
            f"{hint}"
        )
        return Examined(None, (no_kind, *_of_every_kind(content)))
    remaining = content
    messages: list[str] = []
    while True:
        try:
            scenario = kind.scenario.model_validate(remaining)
        except ValidationError as error:
            errors = _one_of_each(error.errors())
            messages += complaints(kind.scenario, errors)
            reduced = _without(remaining, [e["loc"] for e in errors], kind)
            if reduced is None:
                return Examined(None, tuple(dict.fromkeys(messages)))
            remaining = reduced
            continue
        messages += _no_ensemble(scenario, kind)
        every = tuple(dict.fromkeys(messages))
        return Examined(None if every else scenario, every, scenario)


def _of_every_kind(content: dict[str, Any]) -> list[str]:
    """Complaints about the keys that scenarios of all kinds have."""
    try:
        Scenario.model_validate({"kind": "", **content, "compensation": ()})
    except ValidationError as error:
        return [
            complaint(Scenario, e) for e in _one_of_each(error.errors())
            if e["type"] != "extra_forbidden" and e["loc"][:1] != ("kind",)
        ]  # fmt: skip
    return []


def _no_ensemble(scenario: Scenario, kind: Kind) -> list[str]:
    """The complaint about a table [ensemble] of a kind that has none."""
    if scenario.ensemble is None or kind.ensembles:
        return []
    names = " and ".join(f"'{each.name}'" for each in kinds().values() if each.ensembles)
    return [
        f"the table [ensemble] was given; accepted in scenarios of kind {names}"
    ]


def _without(content: dict[str, Any], wrong: Sequence[tuple], kind: Kind) -> dict[str, Any] | None:
    """A content without what is wrong: words in place of a missing name, arrays without the
    elements that are refused, nothing in place of other keys; None where the table of the kind,
    the scenario as a whole, or another table that it has to have, is. Keys that are looked at
    together go together.
    """
    places = {(kind.name,) if loc[:1] == (kind.name,) else tuple(loc[:2]) for loc in wrong}
    if () in places or (kind.name,) in places:
        return None
    remaining = copy.copy(content)
    for name in dict.fromkeys(place[0] for place in places):
        refused = {place[1] for place in places if place[0] == name and len(place) > 1}
        if name not in content and name not in _IN_PLACE_OF:
            return None
        value = remaining.pop(name, None)
        if name in _IN_PLACE_OF:
            remaining[name] = _IN_PLACE_OF[name]
        elif isinstance(value, list) and (name,) not in places:
            remaining[name] = [item for i, item in enumerate(value) if i not in refused]
            if not remaining[name]:
                del remaining[name]
        of_backends = [kind.scenario.of_backends] if name == "backends" else []
        for group in [each for each in kind.scenario.together if name in each] + of_backends:
            remaining = {key: item for key, item in remaining.items() if key not in group}
    return remaining


def _one_of_each(errors: list[Any]) -> list[Any]:
    """Errors of pydantic, without arrays that are too short for the elements it has refused."""
    inner = {tuple(e["loc"][:-1]) for e in errors}
    return [e for e in errors if e["type"] != "too_short" or tuple(e["loc"]) not in inner]
