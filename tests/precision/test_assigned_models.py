"""Assignments given to models: a place that the model of a run lacks is refused."""

import math

import pytest

import sciprec
from sciprec import Assignment, InputError, climate, lift
from sciprec.climate.running.integration import Integration
from sciprec.climate.transform.compiled import compiled
from sciprec.heston.simulation.block import lifted
from sciprec.instruments.assigning.assignment import every_place_met


def scaled(x):
    return 0.3 * x


def moved(x):
    shifted = x + 0.3
    return shifted + 0.1


LAST = moved.__code__.co_firstlineno + 2


def foreign() -> Assignment:
    return Assignment({"scaled": "bf16"}, by="function", kernel=scaled)


def test_what_another_run_met_does_not_count():
    backend = foreign().as_backend()
    with every_place_met(backend):
        lift(scaled, backend)
    with (
        pytest.raises(InputError, match="function 'scaled', which no kernel of the model has"),
        every_place_met(backend),
    ):
        lift(moved, backend)


@pytest.mark.parametrize(
    ("by", "place", "nearest"),
    [
        ("function", "mved", r"did you mean 'moved'\?"),
        ("variable", "shfted", r"did you mean 'moved.shifted'\?"),
        ("line", LAST + 7, f"with one is {LAST}"),
    ],
)
def test_the_nearest_place_of_a_model_is_named(by, place, nearest):
    key = f"test_assigned_models.py:{place}" if by == "line" else place
    backend = Assignment({key: "bf16"}, by=by).as_backend()
    with (
        pytest.raises(InputError, match=f"no kernel of the model has.*{nearest}"),
        every_place_met(backend),
    ):
        lift(moved, backend)


@pytest.mark.parametrize("verb", [sciprec.trace, sciprec.bound])
def test_what_a_kernel_lacks_is_refused_where_errors_are_followed(verb):
    line = moved.__code__.co_firstlineno + 1
    with pytest.raises(InputError, match=f"has no operation in line 1; the nearest .* is {line}"):
        verb(moved, Assignment({1: "bf16"}), (1.0,))


@pytest.mark.parametrize("kept", [compiled, lifted])
def test_a_kernel_that_is_kept_from_run_to_run_is_met_in_each(kept):
    backend = foreign().as_backend()
    for _ in range(2):
        with every_place_met(backend):
            kernel = kept(scaled, backend)
    assert kernel is kept(scaled, backend) and math.isclose(kernel(1.0), 0.3, rel_tol=1e-2)


def test_a_climate_is_refused_before_it_is_compiled(monkeypatch):
    """Its trial steps compile the kernels of the model."""

    def compiles(run):
        raise AssertionError("a step is tried")

    monkeypatch.setattr(Integration, "warm_up", compiles)
    with pytest.raises(InputError, match="which no kernel of the model has"):
        climate.run("williamson_5", "T21", 0.02, backend=foreign())
