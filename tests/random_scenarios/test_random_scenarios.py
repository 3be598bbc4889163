"""Random scenarios, from files to pages; with one mistake, a sentence and nothing else."""

import random

import pytest

from sciprec.cli.console import USAGE
from tests.extending import loading
from tests.random_scenarios.generator import HEADINGS, random_scenario, toml
from tests.random_scenarios.journey import travel
from tests.random_scenarios.mistakes import mistakes
from tests.random_scenarios.stand_ins import stand_in

SEEDS = [0, pytest.param(267, marks=pytest.mark.slow)]
"""267 has scales, a monitor and a ladder."""


@pytest.fixture(scope="module", autouse=True)
def plugins(tmp_path_factory):
    """Register what docs/how_to/add_parts.md adds."""
    with loading(tmp_path_factory.mktemp("plugins")) as load:
        for heading in HEADINGS:
            load(heading)
        yield


pytestmark = pytest.mark.usefixtures("blank_figures")


def written(seed, tmp_path, **how):
    """A scenario and its file."""
    content = random_scenario(seed, **how)
    file = tmp_path / "drawn.toml"
    file.write_text(toml(content, random.Random(seed)), encoding="utf-8")
    return content, file


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_from_the_file_to_the_page(seed, tmp_path, call, monkeypatch):
    """With datasets in place of models."""
    stand_in(monkeypatch)
    content, file = written(seed, tmp_path, bounds=False)
    travel(content, file, tmp_path / "out", call, stop_after=1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [105, 446])
def test_models_take_what_is_drawn(seed, tmp_path, call):
    """Sums and prices; nothing stands in."""
    content, file = written(seed, tmp_path, policies=False)
    assert content["kind"] != "climate"  # whose kernels take minutes to compile
    travel(content, file, tmp_path / "out", call, stop_after=1)


@pytest.mark.parametrize("seed", range(41, 43))
def test_one_mistake_is_one_sentence_and_nothing_else(seed, tmp_path, call, monkeypatch):
    content, file = written(seed, tmp_path)
    monkeypatch.chdir(tmp_path)
    rng = random.Random(seed)
    wrongs = list(mistakes(content, rng))
    for wrong, word in rng.sample(wrongs, min(20, len(wrongs))):
        file.write_text(toml(wrong, rng), encoding="utf-8")
        code, out, err = call("run", file)
        assert code == USAGE and not out, (wrong, code)
        assert err.startswith("sciprec: ") and len(err.splitlines()) == 1 < len(err) < 1200, err
        assert word in err and "Traceback" not in err, (word, err)
        assert [path.name for path in tmp_path.iterdir()] == ["drawn.toml"]
