"""Random scenarios before anything runs: complaints are complete, and schema and file agree."""

import math
import random
import tomllib

import pytest
from jsonschema import Draft202012Validator

from sciprec.cli.console import GOOD, USAGE
from sciprec.foundation.errors import InputError
from sciprec.scenario.changes import change
from sciprec.scenario.changes import changed as set_otherwise
from sciprec.scenario.keys import toml as one_line
from sciprec.workbench.kinds import examined, parse_scenario
from sciprec.workbench.kinds.schema import scenario_schema
from tests.extending import loading
from tests.random_scenarios.generator import HEADINGS, random_scenario, toml
from tests.random_scenarios.mistakes import FREE, changed, mistakes, other_types, places

SEEDS = range(100, 112)
AT_A_TIME = (1, 2, 4, 7)
BEYOND = (
    "twice", "increasing", "leaves the output folder", "tolerance is ", "stored states",
    "neither how many", "without 'tolerance'", "only prices with a 'tolerance'",
    "malformed", "steps per path", "and a number of paths", "unknown stage", "more bits than wide",
    "without the key", "without a policy", "alerts.", "accepted: at most largest", "no exact sum",
)  # fmt: skip
"""Words of complaints of what a schema cannot say."""


@pytest.fixture(scope="module", autouse=True)
def schema(tmp_path_factory):
    """Of all kinds, with what docs/how_to/add_parts.md adds."""
    with loading(tmp_path_factory.mktemp("plugins")) as load:
        for heading in HEADINGS:
            load(heading)
        made = scenario_schema()
        Draft202012Validator.check_schema(made)
        yield Draft202012Validator(made)


def on_disk(content, tmp_path, seed):
    """A scenario's file."""
    file = tmp_path / "drawn.toml"
    file.write_text(toml(content, random.Random(seed)), encoding="utf-8")
    return file


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_drawn_passes_check_and_is_valid_by_the_schema(seed, schema, tmp_path, call):
    content = random_scenario(seed)
    file = on_disk(content, tmp_path, seed)
    assert call("scenario", "check", file) == (GOOD, f"{file}: good\n", "")
    assert not list(schema.iter_errors(tomllib.loads(file.read_text(encoding="utf-8"))))


@pytest.mark.parametrize("seed", SEEDS)
def test_every_one_of_several_mistakes_is_complained_of_by_its_key(seed, tmp_path, call):
    content, rng = random_scenario(seed), random.Random(seed)
    for count in AT_A_TIME:
        wrong, keys = planted(content, rng, count)
        file = on_disk(wrong, tmp_path, seed)
        code, out, err = call("scenario", "check", file)
        assert (code, out) == (USAGE, "")
        lines = err.splitlines()
        assert all(line.startswith(f"sciprec: {file}: ") for line in lines)
        for key in keys:
            assert any(f"'{key}" in line for line in lines), (key, err)
        for line in lines:  # and of nothing else, but what lacks its misspelt key
            assert any(f"'{key}" in line or f"'{key[:-1]}'" in line for key in keys), (line, keys)


def planted(content, rng, count):
    """A scenario with so many mistakes in places apart, and the keys that complaints are of."""
    keys, taken, here = [], [], list(places(content))
    for path, value in rng.sample(here, len(here)):
        apart = all(path[: len(o)] != o and o[: len(path)] != path for o in taken)
        free = any(part in FREE for part in path[:-1])
        if not apart or path == ("kind",) or len(keys) == count:
            continue
        wrong = [one for one in other_types(value, free, path[-1]) if not isinstance(value, list)]
        misspelt = not free and isinstance(path[-1], str) and path[0] not in content["kind"]
        taken.append(path)
        if misspelt and rng.random() < 0.4:
            path, place = (*path[:-1], f"{path[-1]}{path[-1][-1]}"), path
            content = without(changed(content, path, value), place)
        elif wrong:
            content = changed(content, path, rng.choice(wrong))
        else:
            taken.pop()
            continue
        whole = path[: path.index("alerts") + 1] if "alerts" in path else path
        keys.append(".".join(map(str, whole)))
    return content, keys


def without(content, path):
    """The scenario without a key."""
    table = content
    for part in path[:-1]:
        table = table[part]
    del table[path[-1]]
    return content


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_schema_and_file_agree_on_one_mistake(seed, schema):
    """What the schema refuses is refused. What it accepts is accepted, but what it cannot say: what
    several keys make together, numbers that are none, forms of texts, and names that belong to a
    registry above scenarios.
    """
    content, rng = random_scenario(seed), random.Random(seed)
    for wrong, word in rng.sample(list(mistakes(content, rng)), 40):
        said = examined(wrong).complaints
        if not schema.is_valid(wrong):
            assert said, wrong
        elif not any(isinstance(v, float) and not math.isfinite(v) for _, v in places(wrong)):
            assert all(any(words in one for words in BEYOND) for one in said), (said, word)


@pytest.mark.parametrize("seed", SEEDS)
def test_setting_is_editing(seed):
    """Any key of a random scenario, to a good value or to a wrong one: the same scenario, or the
    same sentences.
    """
    content, rng = random_scenario(seed), random.Random(seed)
    content = tomllib.loads(toml(content, rng))
    for path, value in rng.sample(here := list(places(content)), min(12, len(here))):
        if any("." in str(part) for part in path):
            continue
        for new in [value, *other_types(value, False, path[-1])]:
            key = ".".join(map(str, path))
            written = f"{key}={one_line(new)}"
            assert outcome(set_otherwise(content, dict([change(written)]))) == outcome(
                changed(content, path, new)
            )


def outcome(content):
    """A scenario, or what is said against it."""
    try:
        return parse_scenario(content)
    except InputError as error:
        return str(error)
