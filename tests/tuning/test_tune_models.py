"""Formats of models: a choice has the bits of its assignment, operations are counted once."""

from __future__ import annotations

import importlib.util
import json
import math

import numpy as np
import pytest

import sciprec
from sciprec import lift
from sciprec.arrays.metrics import metric_of
from sciprec.precision.formats.backend import resolve_backend
from sciprec.precision.rewriting.syntax import plain_function
from sciprec.tools.trace.models.census import handed
from sciprec.tools.trace.models.traces import Results
from sciprec.tools.tune.formats import formats_of
from sciprec.tools.tune.model_problem import ModelProblem
from sciprec.workbench.kinds.programs import loaded
from tests.diagnosis.model_programs import ROOT, both, by_kernels, model_of, start, wave
from tests.oracles.by_line import run_by_line
from tests.tuning.by_profile import counted_call

NARROW = ("fp64", "fp32", "tf32", "fp16", "bf16", "e5m2", "mlu370", "float:p=13,round=rz")
WAVES = ("--plugin", ROOT / "examples/lorenz96.py", "tune", ROOT / "examples/lorenz96.toml")


@pytest.fixture(autouse=True)
def no_versions(monkeypatch):
    """Kernels have no versions, whose bits test_tune.py and test_assignments.py compare."""
    monkeypatch.setattr("sciprec.instruments.assigning.configured._VERSIONS_AFTER", math.inf)


def problem_of(program, by="line", formats=NARROW, **more):
    return ModelProblem(
        program, model="model", content=None, stages=more.pop("stages", ()), by=by,
        metric=metric_of("relative_l2"), formats=formats_of(formats),
    )  # fmt: skip


def require_same_bits(problem, program, rng, draws):
    """Random formats: the kernels compiled once give what those of the assignment give."""
    for _ in range(draws):
        choice = tuple(rng.integers(len(problem.formats.names), size=len(problem.groups)))
        backend = problem.assignment(choice).as_backend()
        given = program(backend)
        backend.require_all_met()
        for name, found in problem.run(choice).items():
            values = given.values[name]
            values = values[-1] if name in given.timed else values
            assert np.array_equal(found, values, equal_nan=True), (name, choice)


@pytest.mark.parametrize("by", ["line", "function"])
def test_a_choice_of_a_model_has_the_bits_of_its_assignment(by):
    problem = problem_of(by_kernels, by)
    require_same_bits(problem, by_kernels, np.random.default_rng(20), 2)


class ByOracle:
    """Kernels of a model, each line in its format by exact fractions.

    Args:
        problem, choice: which has the formats.
    """

    carrier = np.dtype(np.float64)

    def __init__(self, problem, choice):
        names = problem.formats.names
        self.formats = {
            (str(ROOT / group.place.file), group.place.line): resolve_backend(names[n]).compute
            for group, n in zip(problem.groups, choice, strict=True)
        }

    def lifted(self, kernel, backend, trust_inputs):
        wide, function = resolve_backend("fp64").compute, plain_function(kernel)
        return lambda *args: run_by_line(
            function, lambda *place: self.formats.get(place, wide), args
        )

    def rounding(self, backend):
        return lambda values, out: np.copyto(out, values)


def require_bits_of_the_oracle(problem, program, rng, draws):
    """Random formats of lines: a whole run is that of exact fractions."""
    for _ in range(draws):
        choice = tuple(rng.integers(len(problem.formats.names), size=len(problem.groups)))
        expected = program(handed(resolve_backend("fp64"), ByOracle(problem, choice))).values
        for name, found in problem.run(choice, program).items():
            values = expected[name][-1] if found.ndim < expected[name].ndim else expected[name]
            np.testing.assert_array_equal(found, values, err_msg=f"{name} {choice}")


@pytest.mark.slow
def test_a_choice_of_the_climate_has_the_bits_of_exact_fractions():
    """By line, in a run of one step."""
    parameters = {"wavenumber": 2, "fourier": "matrix"}
    program = wave(3, days=1200.0 / 86400.0, output_hours=1 / 3, parameters=parameters)
    problem = problem_of(program, "line", ("fp64", "fp32", "fp16", "bf16"))
    assert len(problem.groups) > 50
    require_bits_of_the_oracle(problem, program, np.random.default_rng(3), 1)


@pytest.mark.survey
def test_a_mixture_of_heston_is_that_of_exact_fractions():
    few = {"heston.simulation.n_paths": 4, "heston.simulation.steps_per_year": 3}
    program = model_of(loaded(ROOT / "scenarios/policies_heston.toml", few))
    problem = problem_of(program)
    require_bits_of_the_oracle(problem, program, np.random.default_rng(5), 3)


@pytest.mark.parametrize(
    "path", sorted((ROOT / "scenarios/assignments").glob("*.toml")), ids=lambda path: path.stem
)
def test_the_assignments_of_the_repository_know_their_lines(path):
    """A line that was edited is refused: search again, by the command in the scenario."""
    found = sciprec.Assignment.load(path)
    assert not found.everything and "rounds" not in found.as_dict()
    lines = found.places.values() if found.by == "line" else ()
    assert found.by == "stage" or lines
    for place in lines:
        text = (ROOT / place.file).read_text(encoding="utf-8")
        assert place.source in text, place


def test_the_same_line_of_two_files_is_two_lines(tmp_path):
    """Found by running what a search had found: one of two lines 105 had lost its format."""
    kernels = []
    for name, sign in (("one", "+"), ("other", "-")):
        file = tmp_path / f"{name}_file.py"
        file.write_text(f"def {name}(x):\n    for i in range(x.size):\n"
                        f"        x[i] = x[i] {sign} 0.3 * x[i]\n")  # fmt: skip
        spec = importlib.util.spec_from_file_location(file.stem, file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        kernels.append(getattr(module, name))

    def program(backend):
        x = np.linspace(1.0, 2.0, 7)
        for kernel in kernels:
            lift(kernel, backend)(x)
        return Results({"x": x})

    problem = problem_of(program)
    assert [g.place.line for g in problem.groups] == [3, 3]
    assert len(problem.assignment((3, 4))) == 2
    require_same_bits(problem, program, np.random.default_rng(1), 3)


def test_operations_are_those_of_one_kernel():
    problem, (x, share, weights) = problem_of(by_kernels), start()
    args = x, share, np.zeros(20), weights, np.zeros(20)
    alone = counted_call(both, args, problem.place_of)
    called = {p: n for p, n in alone.items() if p.function != "both"}
    assert called == {g.place: g.runs for g in problem.groups} and len(called) == 3


@pytest.mark.slow
def test_what_is_found_runs_in_the_scenario(tmp_path, call, monkeypatch):
    """The check is another run, the page and the file are there, a second search runs the answer
    and its check alone.
    """
    page, mix = tmp_path / "t.html", tmp_path / "mix.toml"
    asked = ("--tolerance", "1e-3", "-b", "fp64,fp32,bf16", "--set", "lorenz96.days=1",
             "--check-set", "lorenz96.days=2", "--margin", "4")  # fmt: skip
    status, out, said = call(*WAVES, *asked, "--html", page, "--save", mix)
    assert status == 0 and "executed operations" in out, said
    text = page.read_text(encoding="utf-8")
    assert "<script" not in text and "What one wider format would buy" in text
    monkeypatch.setattr(ModelProblem, "run", lambda *a: pytest.fail("it was known"))
    run, lifted = ModelProblem.lifted_results, []
    monkeypatch.setattr(
        ModelProblem, "lifted_results",
        lambda self, backend, other=None: lifted.append(other) or run(self, backend, other),
    )  # fmt: skip
    status, out, said = call(*WAVES, *asked, "--json")
    found = json.loads(out)
    assert status == 0 and found["error"] <= 2.5e-4 and found["check_error"] <= 1e-3, said
    assert lifted.count(None) == 1 < len(lifted)
    assert abs(sum(found["operations"].values()) - 1.0) < 1e-12
    assert {"fp32", "bf16"} <= set(found["operations"])
    assert sciprec.Assignment.load(mix).as_dict()["format"] == found["assignment"]["format"]


REFUSED = [
    (("--tolerance", "1e-12", "-b", "fp16,bf16"), "model 'lorenz96' has an error of"),
    (("--tolerance", "1e-3", "--by", "stages"), "did you mean 'stage'"),
    (("--tolerance", "1e-3", "--rounds", "loads"), "accepted: operations, everything"),
    (("--tolerance", "1e-3", "--inputs", "x.npz"), "which says itself what its model is given"),
    (("--tolerance", "1e-3", "--output", "height"), "--output 'height' is unknown; accepted: wave"),
    (("--tolerance", "1e-3", "--set", "lorenz96.dais=2"), "did you mean"),
]


@pytest.mark.parametrize(("more", "said"), REFUSED)
def test_refusals(more, said, call):
    status, _, given = call(*WAVES, "--set", "lorenz96.days=0.5", *more)
    assert status == 2 and said in given and "Traceback" not in given


def test_stages_of_no_model_are_left_wide():
    problem = problem_of(by_kernels, "stage")
    assert problem.groups == () and not problem.assignment(())
