"""Runs whose places have scales: the same bits where nothing is clipped, dynamic scales, refusals.

The equations are those of one variable on the sphere, which compile fastest.
"""


import numpy as np
import pytest

from sciprec import InputError, climate
from sciprec.climate.running.integration import Integration
from sciprec.climate.running.request import check_request
from sciprec.climate.running.scaled_model import ScaledModel
from sciprec.climate.stages.scales import HEADROOM, SCALED_STAGES, STATE, Scales, SizeNotes
from sciprec.climate.stepping.schemes import stage_state
from sciprec.climate.transform.grid import Truncation
from sciprec.instruments.assigning.scaled import scalable
from sciprec.instruments.assigning.scaling import Scaling, without_range
from sciprec.precision import resolve_backend
from tests.climate.small_models import model_of, started

SMALL = Truncation(3, 8, 16, 3600.0)
RUN = {"days": 1.0, "output_hours": 12.0, "step_seconds": 3600.0, "time_scheme": "rk4",
       "parameters": {"wavenumber": 2}}  # fmt: skip
CASE = "rossby_haurwitz"


def run_of(backend, **more):
    """A run that has its scales and has made no step, and its model."""
    request = check_request(CASE, SMALL, backend=backend, **RUN | more)
    model, convert, flat = model_of(request)
    levels = [model.steps.system.addition.level(flat)]
    run = Integration(request, model.steps, convert, model.columns, levels, model.lifted, None)
    return run, model


@pytest.mark.slow
def test_the_largest_number_of_each_place_has_the_headroom():
    """A profile has the significands of the run; by hand and by a factor scales are others."""
    backend = "scaled:static,fp16,times=4.0,Fourier=0.5"
    _, model = run_of(backend)
    scales, largest = model.scales, model.profile.largest
    seen = 0
    for place, sizes in largest.items():
        for stage, k, size in zip(scales.stages[place], scales.of(place), sizes, strict=True):
            assert stage in SCALED_STAGES
            if stage == "Fourier":
                assert k == -1
            elif size > 0.0:
                top = 2.0 ** (15 - HEADROOM + 2)
                assert top <= np.ldexp(size, k) < 2 * top
                seen += 1
    assert seen > 20
    assert ("state", "vorticity") in largest and scales.stages["state", "vorticity"] == (STATE,)


def test_scales_by_themselves():
    """Of places with numbers, with zeros alone, and without operations."""
    scales = Scales(resolve_backend("fp16").compute, Scaling("dynamic"))
    scales.register(("f", ""), ["advection", "rest"], ["a", "b"])
    scales.register(("copy", ""), [], [])
    notes = SizeNotes()
    notes.note(("f", ""), np.array([3.0, 0.0]))
    notes.note(("copy", ""), np.array([]))
    scales.fit(notes)
    assert scales.of(("f", "")).tolist() == [15 - HEADROOM - 1] * 2
    assert scales.by_stage() == {"advection": {10: 1}, "rest": {10: 1}}
    notes.note(("f", ""), np.array([2.0**6, 2.0**5]))
    beyond = scales.beyond(notes)  # 2^16 has no room
    assert beyond["f", ""].tolist() == [True, False]
    assert scales.change(3, -1, beyond) and scales.of(("f", "")).tolist() == [9, 10]
    other = Scales(scales.arithmetic, scales.scaling)
    other.register(("f", ""), ["advection", "rest"], ["a", "b"])
    other.register(("copy", ""), [], [])
    other.fit(notes)
    other.restore(scales.state())
    assert other.of(("f", "")).tolist() == [9, 10] and other.history == [(3, -1, 1)]
    for _ in range(300):
        moved = scales.change(4, -1)
    assert not moved and scales.of(("f", "")).tolist() == [-100, -100]


@pytest.mark.slow
def test_each_variable_of_an_update_has_its_own_scales():
    """Against NumPy: the columns of `b` are 8 times larger, and leave the range."""
    model = object.__new__(ScaledModel)
    model.columns, model.shape = np.repeat(["a", "b"], [2, 4]), (5, 6)
    model.scales = Scales(resolve_backend("fp16").compute, Scaling("static"))
    model.backend = without_range(model.scales.arithmetic)
    called = model._of_variables(scalable(stage_state))
    for name, k in (("a", 0), ("b", 3)):
        size = len(model.scales.stages["stage_state", name])
        model.scales.exponents["stage_state", name] = np.full(size, k)
    state, slope = np.random.default_rng(3).uniform(2**11, 2**14, (2, 30)).astype(np.float16)
    out = np.zeros(30)
    called(state.astype(float), slope.astype(float), 0.5, out)
    factor = np.where(model.columns == "b", 8, 1).astype(np.float16)
    with np.errstate(over="ignore"):
        scaled = [x.reshape(5, 6) * factor for x in (state, slope)]
        made = scaled[0] + np.float16(0.5) * scaled[1]
    expected = made.astype(float) / factor
    room = np.isfinite(scaled[0]) & np.isfinite(scaled[1])  # what is given has come from its place
    assert np.isinf(expected[room]).any() and np.isfinite(expected[:, 2:]).any()
    np.testing.assert_array_equal(out.reshape(5, 6)[room], expected[room])


@pytest.mark.slow
def test_static_scales_stay_and_say_so():
    run, _ = run_of("scaled:static,fp16,products on the grid=262144.0")
    run.to_the_end()
    assert "scaling = 'dynamic' makes them smaller" in run.blow_up


@pytest.mark.slow
def test_what_no_scale_helps_ends_with_a_sentence():
    run, model = run_of("scaled:dynamic,fp16")
    run.levels[0].values[:] *= 2.0**120  # the stages of a step leave every range
    run.to_the_end()
    assert "no smaller scales help" in run.blow_up and len(run.stored) == 1
    assert model.report()["repeated"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("size", [2.0**12, 2.0**300])
def test_a_profile_that_breaks_down_counts_for_its_first_step(size, monkeypatch):
    """Numbers that leave every range, or grow so far that nothing is left of the initial state at
    their scales: an internal error, and a run whose state was zero.
    """
    request = check_request(CASE, SMALL, backend="scaled:static,fp16", **RUN)
    convert, exact = started(request)
    model, state = ScaledModel(request, convert), exact * size
    if size < 2.0**100:
        monkeypatch.setattr("sciprec.climate.running.scaled_model.PROFILE_DAYS", 1.0 / 12.0)
    with np.errstate(all="ignore"):
        model.find_scales(state)
    said = model.report()
    assert said["profile_days"] == 1.0 / 24.0
    assert {stage["numbers"] for stage in said["stages"]} == {0}
    assert all(np.isfinite(k).all() for k in model.scales.exponents.values())


@pytest.mark.slow
def test_a_step_that_leaves_nothing_of_the_state_is_no_step():
    """Numbers that grow by 2^100 in a step: at their scales the state was zero, and stayed so."""
    run, model = run_of("scaled:dynamic,fp16")
    run.levels[0].values[:] *= 2.0**10
    run.to_the_end()
    assert "nothing is left of the state" in run.blow_up and len(run.stored) == 1
    assert model.report()["repeated"] > 0


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"scaling": "static", "scales": {"advektion": 2.0}}, "unknown stage 'advektion'"),
        ({"scaling": "static", "scales": {"vortcity": 2.0}}, "did you mean 'vorticity'"),
        ({"scaling": "static", "scales": {"advection": 3.0}}, "powers of two"),
        ({"scales": {"advection": 2.0}}, "scales are given without a scaling"),
        ({"scaling": "statc"}, "did you mean 'static'"),
        ({"scaling": "static", "stored": "fp32"}, "scales to places beside stored"),
        ({"stored": "scaled:static,fp16"}, "stored is 'scaled:static,fp16' beside"),
        ({"scaling": "static", "stages": "fp16"}, "scales to places beside stages"),
        ({"scaling": "static", "fourier": "matrix"}, "scales to places beside fourier"),
        ({"scaling": "static", "case": "held_suarez"}, "whose mass fixer has no scales"),
        ({"scaling": "static", "backend": "fp64"}, "'fp64' cannot have scales"),
        ({"scaling": "dynamic", "monitor": {"watch": ["increment:vorticity"], "level": 1}},
         "'increment:vorticity' cannot be watched with scaling = 'dynamic'"),
    ],
)  # fmt: skip
def test_what_has_no_scales_is_refused(more, said):
    given = {"case": "williamson_5", "truncation": 3, "days": 0.5, "backend": "fp16"} | more
    with pytest.raises(InputError, match=said):
        climate.run(**given)
