"""Policies of mixed precision: what they are called, and what a model makes of them."""


import pytest

import sciprec
from sciprec import InputError
from sciprec.climate.stages.policies import CLIMATE_STAGES
from sciprec.foundation.later import MODEL_STAGES
from sciprec.instruments.assigning.matching import program_of
from sciprec.instruments.assigning.operations import rounds
from sciprec.instruments.assigning.origins import own_place
from sciprec.instruments.assigning.policies import policy_called
from sciprec.precision import resolve_backend
from sciprec.workbench.batch.plan import plan
from sciprec.workbench.batch.resume import run_digest
from sciprec.workbench.kinds import parse_scenario
from tests.precision.registered import registered_kernels


@pytest.mark.slow
def test_no_operation_of_the_models_has_two_stages():
    """And every place of a stage has an operation of its own."""
    met = set()
    for entry in registered_kernels().values():
        kind = entry.function.__module__.split(".")[1]
        if kind not in MODEL_STAGES:
            continue
        program = program_of(entry.function)
        places = [(s.name, p) for s in MODEL_STAGES[kind] for p in s.as_places]
        for row in program.layout.rows:
            origin = own_place(program, row)
            if row.site not in program.origins or not rounds(program.sites[row.site].operation):
                continue
            own = {(stage, place) for stage, place in places if place.holds(program, row, origin)}
            assert len({stage for stage, _ in own}) < 2, (origin, own)
            met |= own
    places = {(s.name, p) for stages in MODEL_STAGES.values() for s in stages for p in s.as_places}
    unmet = places - met
    assert {stage for stage, _ in unmet} == {"draws"}, unmet


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
    assert changed.assignment(MODEL_STAGES).default == changed.narrow
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


def test_stages_get_formats_by_hand(tmp_path):
    """The places and formats of a policy, in files, too; what it says of a model's own numbers an
    assignment does not.
    """
    given = {"Legendre products": "fp16", "draws": "fp16"}
    made = sciprec.Assignment(given, by="stage", default="fp32")
    policy = resolve_backend("policy:O1,narrow=fp16,wide=fp32").assignment
    assert dict(made) == dict(policy) and made != policy and made.as_backend() != policy
    assert sciprec.Assignment.load(made.save(tmp_path / "a.toml")) == made
    both = sciprec.Assignment({"state update": "fp64", "Fourier": "bf16"}, by="stage")
    assert {place.variable for place in both.places.values()} == {"state update", "Fourier"}


@pytest.mark.parametrize(
    ("formats", "more", "said"),
    [
        ({"Fourer": "fp16"}, {}, "did you mean 'Fourier'"),
        ({3: "fp16"}, {}, "a stage of an assignment"),
        ({"payment": "fp16"}, {}, "in fp64 in every policy"),
        ({"Fourier": "fixed16"}, {}, "no single floating-point arithmetic"),
        ({"Fourier": "fp16"}, {"kernel": test_lists_decide}, "leave it out"),
        ({"Fourier": "fp16"}, {"name": ""}, "the name of an assignment"),
    ],
)
def test_stages_that_get_no_format_are_refused(formats, more, said):
    with pytest.raises(InputError) as raised:
        sciprec.Assignment(formats, by="stage", **more)
    assert said in str(raised.value) and "\n" not in str(raised.value)


FLOW = {
    "name": "flow", "title": "t", "source": "s", "kind": "climate",
    "climate": {
        "case": "williamson_5", "truncation": 5, "days": 0.05, "step_seconds": 1080.0,
        "time_scheme": "rk4",
    },
}  # fmt: skip
PATHS = {
    "name": "paths", "title": "t", "source": "s", "kind": "heston",
    "heston": {
        "model": {"spot": 100.0, "v0": 0.04, "kappa": 4, "theta": 0.25, "sigma": 1, "rho": -0.5,
                  "rate": 0.01},
        "payoffs": {"kind": "call", "strikes": [100.0], "maturities_years": [1.0]},
        "simulation": {"n_paths": 64, "steps_per_year": 4, "scheme": "full_truncation_euler"},
    },
}  # fmt: skip
TWO = {"narrow": "fp16", "wide": "fp32"}


def test_a_scenario_has_policies_in_place_of_backends():
    """They are the same runs, by the same digest; what was validated is valid."""
    lists = TWO | {"deny": ["Fourier"], "allow": ["Legendre sums"]}
    scenario = parse_scenario(FLOW | lists | {"policy": ["O2", "dcu"]})
    names = (
        "policy:O2,narrow=fp16,wide=fp32,allow=Legendre sums,deny=Fourier", "policy:dcu"
    )  # fmt: skip
    same = parse_scenario(FLOW | {"backends": list(names)})
    runs, others = plan([scenario]), plan([same])
    assert [run.label for run in runs] == ["fp64", *names]
    assert [run_digest(r) for r in runs] == [run_digest(r) for r in others]
    assert len({run_digest(r) for r in runs}) == 3
    assert parse_scenario(scenario.model_dump(mode="json")) == scenario


REFUSED_KEYS = [
    (FLOW, {"policy": "O2", "wide": "fp32"}, "without the key 'narrow'"),
    (FLOW, {"narrow": "fp16", "backends": ["fp16"]}, "without a policy that takes it"),
    (FLOW, {"policy": "dcu", "deny": ["Fourier"]}, "without a policy that takes it"),
    (FLOW, TWO | {"policy": "O2", "backends": ["fp16"]}, "are both given"),
    (FLOW, TWO | {"policy": "O2", "allow": ["draws"]}, "unknown stage 'draws'"),
    (FLOW, TWO | {"policy": "O2", "allow": ["Fourier"], "deny": ["Fourier"]}, "on both lists"),
    (FLOW, {"policy": "O2", "narrow": "fp32", "wide": "fp16"}, "the other way round"),
    (FLOW, {"policy": "O1", "narrow": "mlu370-noise", "wide": "fp32"}, "no single floating-point"),
    (FLOW, {"policy": 3}, "key 'policy' was given 3"),
    (FLOW, TWO | {"policy": ["O2", "O2"]}, "named twice"),
    (PATHS, TWO | {"policy": "O2", "allow": ["mean"]}, "fp64 in every policy"),
    (PATHS, TWO | {"policy": "O2", "deny": ["Fourier"]}, "unknown stage 'Fourier'"),
]


@pytest.mark.parametrize(("scenario", "given", "said"), REFUSED_KEYS)
def test_keys_that_are_refused(scenario, given, said):
    with pytest.raises(InputError) as raised:
        parse_scenario(scenario | given)
    assert said in str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"policy": "O1", "narrow": "fp16"}, "without narrow and wide"),
        ({"narrow": "fp16"}, "without a policy"),
        ({"policy": "dcu", "wide": "fp32"}, "has its own formats"),
        ({"policy": "O1", "narrow": "fp16", "wide": "fp32", "backend": "bf16"}, "give one of them"),
    ],
)
def test_a_run_has_a_policy_or_a_backend(given, said):
    with pytest.raises(InputError, match=said):
        sciprec.climate.run("williamson_2", "T21", 0.1, **given)
