"""Scenario files: what is accepted, and the sentence for everything that is not."""


import numpy as np
import pytest

from sciprec.climate.running.request import check_request
from sciprec.foundation.errors import InputError
from sciprec.foundation.limits import HESTON_MODEL
from sciprec.heston.parameters import Model
from sciprec.scenario.asked_price import HestonModel
from sciprec.scenario.loading import EXAMPLE
from sciprec.scenario.toml_file import LARGEST_FILE_BYTES
from sciprec.workbench.kinds import kinds, load_scenario
from sciprec.workbench.kinds.climate import ClimateRun


def complaint(path):
    """The message that loading a file raises."""
    with pytest.raises(InputError) as caught:
        load_scenario(path)
    return str(caught.value)


def test_files_that_are_none(tmp_path):
    assert "does not exist" in complaint(tmp_path / "nothing.toml")
    assert "is a folder" in complaint(tmp_path)
    assert "is no regular file" in complaint("/dev/null")
    assert "does not exist" in complaint("x" * 5000)
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    assert "is not UTF-8 text" in complaint(binary)
    large = tmp_path / "large.toml"
    large.write_text("#" * (LARGEST_FILE_BYTES + 1))
    assert f"at most {LARGEST_FILE_BYTES}" in complaint(large)


def sections(model):
    """A section and all sections in it."""
    yield model
    for field in model.model_fields.values():
        for inner in (field.annotation, *getattr(field.annotation, "__args__", ())):
            if isinstance(inner, type) and hasattr(inner, "model_fields"):
                yield from sections(inner)


@pytest.mark.parametrize("name", HESTON_MODEL)
def test_parameters_of_a_model_have_the_same_limits_in_python(name):
    good = {"spot": 100.0, "v0": 0.04, "kappa": 2.0, "theta": 0.04, "sigma": 0.5, "rho": 0.0,
            "rate": 0.0, "dividend_yield": 0.0}  # fmt: skip
    limits = HESTON_MODEL[name]
    ends = [e for e in (limits.least, limits.above, limits.most) if e is not None]
    values = [*ends, *(np.nextafter(e, s * np.inf) for e in ends for s in (1, -1)), np.nan, np.inf]
    for value in map(float, values):
        found = []
        for door in (Model, HestonModel):
            try:
                found.append(getattr(door(**good | {name: value}), name))
            except ValueError as error:
                assert door is HestonModel or str(error).endswith(f"accepted: {limits.words}")
                found.append(None)
        assert found[0] == found[1], (name, value)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("days", (0.001, 0.0009, 1_000_000, 1_000_001, float("nan"))),
        ("step_seconds", (1, 0.9, 86_400, 90_000, float("inf"))),
        ("output_hours", (0.01, 0.009, 24_000_000, 24_000_001, 0.0)),
    ],
)
def test_a_climate_run_has_the_same_limits_in_python(name, values):
    for value in values:
        given = {"days": 1.0} | {name: float(value)}
        said = []
        for door in (ClimateRun, check_request):
            try:
                said.append(door(case="williamson_5", truncation=21, **given) and "")
            except ValueError as error:
                said.append(str(error))
        if "whole number of steps" in said[1]:  # what fits is another question, asked by `check`
            said[1] = ""
        if "stored states" in said[1]:
            assert "stored states" in said[0]
        else:
            assert (said[0] == "") == (said[1] == ""), (name, value, said)


def test_every_key_says_what_it_accepts_and_how_to_write_it():
    for kind in kinds().values():
        for section in sections(kind.scenario):
            for name, field in section.model_fields.items():
                assert field.description, (section, name)
                assert field.examples, (section, name)


def test_json_is_called_json(tmp_path):
    path = tmp_path / "model.json"
    path.write_text('{"spot": 100.0}')
    said = complaint(path)
    assert said.endswith(f"a scenario is a TOML file, written like scenarios/{EXAMPLE}.toml")
    assert "holds JSON" in said
