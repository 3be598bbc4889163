"""Policies of mixed precision: what they are called, and what a model makes of them."""

import json

import numpy as np
import pytest

import sciprec
from sciprec import InputError
from sciprec.climate.stages.policies import CLIMATE_STAGES
from sciprec.kinds.policies import MODELS
from sciprec.precision import resolve_backend
from sciprec.precision.assigning.policies import policy_called


def test_stages_are_functions_that_there_are():
    """Every place of a stage has a function with operations of its own."""
    from tests.precision.registered import registered_kernels

    known = {
        (e.function.__code__.co_filename, e.function.__name__)
        for e in registered_kernels().values() if hasattr(e.function, "__code__")
    }  # fmt: skip
    for stage in CLIMATE_STAGES:
        for place in stage.as_places:
            own = [name for file, name in known if place.is_in(file)]
            assert own and (not place.function or place.function in own), (stage.name, place)


def test_lists_decide():
    by_name = {stage.name: stage for stage in CLIMATE_STAGES}
    update, products, fourier = (
        by_name[n] for n in ("state update", "Legendre products", "Fourier")
    )
    narrow = {
        name: [policy_called(f"policy:{name},narrow=fp16,wide=fp32").is_narrow(s)
               for s in (update, products, fourier)]
        for name in ("O0", "O1", "O2", "O3")
    }  # fmt: skip
    assert narrow == {
        "O0": [False] * 3, "O1": [False, True, False], "O2": [False, True, True], "O3": [True] * 3,
    }  # fmt: skip
    changed = policy_called("policy:O2,narrow=float:p=9,emin=-20,emax=20,wide=fp64,deny=Fourier")
    assert changed.narrow == "float:p=9,emin=-20,emax=20" and not changed.is_narrow(fourier)
    assert changed.assignment(MODELS).default == changed.narrow
    assert resolve_backend(changed.text).name == changed.text


REFUSED = [
    ("policy:O4,narrow=fp16,wide=fp32", "unknown policy 'O4'"),
    ("policy:O1,narrow=fp16", "has no wide"),
    ("policy:O1,narrow=fp32,wide=fp16", "the other way round"),
    ("policy:O1,narrow=fp16,wide=fp32,deny=Furier", "did you mean 'Fourier'"),
    ("policy:O1,x", "is no key=value"),
    ("policy:dcu,narrow=fp16", "has its own formats"),
    ("policy:O1,narrow=fixed16,wide=fp32", "no single floating-point arithmetic"),
    ("policy:O1,narrow=float:p=9,round=sr,wide=fp32", "random bits"),
    ("policy:O1,narrow=fp16,wide=fp32,deny=Fourier,allow=Fourier", "is on both lists"),
]


@pytest.mark.parametrize(("name", "said"), REFUSED)
def test_refusals(name, said):
    with pytest.raises(InputError) as raised:
        resolve_backend(name)
    assert said in str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"policy": "O1", "narrow": "fp16"}, "without narrow and wide"),
        ({"narrow": "fp16"}, "without a policy"),
        ({"policy": "O1", "narrow": "fp16", "wide": "fp32", "backend": "bf16"}, "give one of them"),
    ],
)
def test_a_run_has_a_policy_or_a_backend(given, said):
    with pytest.raises(InputError, match=said):
        sciprec.climate.run("williamson_2", "T21", 0.1, **given)


def test_the_command_lists_stages(call):
    status, out, _ = call("policies")
    assert status == 0 and "state update" in out and "O2" in out
    status, out, _ = call("policies", "--json")
    rows = {row["stage"]: row for row in json.loads(out)["stages"]}
    assert rows["Legendre products"]["O1"] == "narrow" and rows["state update"]["O2"] == "wide"
    mixtures = {row["given as"]: row for row in json.loads(out)["mixtures"]}
    assert mixtures["mix-fp32-fix16"]["Legendre products"] == "fixed16"
    assert mixtures["stages mixed"]["Legendre sums"] == "fp32"
    assert [mixtures["policy:dcu"][k] for k in ("state update", "rest")] == ["fp64", "fp32"]


@pytest.mark.slow
def test_policies_of_a_flow_over_a_mountain():
    """O3 has the bits of its format; a master copy keeps what that loses."""

    def height(backend=None, **more):
        found = sciprec.climate.run(
            "williamson_5", "T21", 1.0, backend, step_seconds=1200.0, time_scheme="rk4", **more
        )
        return found["height"].values[-1]

    truth = height()
    master, narrow = (height(policy=name, narrow="fp16", wide="fp32") for name in ("O2", "O3"))
    assert np.array_equal(narrow, height("fp16"))
    errors = [np.linalg.norm(h - truth) / np.linalg.norm(truth) for h in (master, narrow)]
    assert 0.0 < errors[0] < 0.2 * errors[1]
