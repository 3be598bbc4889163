"""States kept in another format than the one that tendencies are computed in."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from sciprec.climate.diagnostics.budgets import scalar_errors, wind_errors
from sciprec.climate.running.integration import integrate
from sciprec.climate.running.request import check_request
from sciprec.climate.stepping.levels import LEVEL_KERNELS
from sciprec.climate.stepping.stored import resolve_stored
from sciprec.climate.transform.grid import GaussianGrid, resolve_truncation
from sciprec.foundation.errors import InputError
from sciprec.precision import lift, resolve_backend
from sciprec.workbench.batch.perform import run_dataset
from sciprec.workbench.batch.plan import plan
from sciprec.workbench.kinds import parse_scenario
from tests.climate.small_models import SMALL, model_of, require_same_bits

SHORT = {"truncation": SMALL, "days": 0.25}


def errors(actual, truth, truncation):
    """l2 of height and wind at the end."""
    grid = GaussianGrid(resolve_truncation(truncation))
    a, t = ({name: x[-1] for name, x in run.fields.items()} for run in (actual, truth))
    height = scalar_errors(grid, a["height"], t["height"])["l2"]
    return height, wind_errors(grid, (a["u"], a["v"]), (t["u"], t["v"]))["l2"]


def test_only_the_update_rounds_to_the_stored_format():
    """NumPy's float16 rounds binary64 once, as the store to the state does."""
    update = check_request("williamson_5", "T21", 1.0, stored="fp16").update
    random = np.random.default_rng(8).uniform
    state, increment = random(-4, 4, 500).astype(np.float16).astype(float), random(-1, 1, 500)
    damping = random(0, 0.1, 500)
    whole = state + (increment - damping * (state + increment))
    apply = lift(LEVEL_KERNELS["apply_increment"], update, trust_inputs=True)
    apply(state, increment, damping, state)
    np.testing.assert_array_equal(state, whole.astype(np.float16).astype(float))


def test_a_scenario_stores_its_runs_in_few_bits_but_not_its_truth():
    scenario = parse_scenario(
        {
            "name": "few_bits", "title": "Few bits", "source": "Williamson et al. (1992), case 5",
            "kind": "climate", "backends": ["fp32"],
            "climate": {
                "case": "williamson_5", "truncation": 21, "days": 0.05, "step_seconds": 1080.0,
                "stored": "fp16",
            },
        }
    )  # fmt: skip
    runs = plan([scenario])
    assert [run.label for run in runs] == ["fp64", "fp32 with state in fp16"]
    made = [run_dataset(each) for each in runs]
    truth, run = (each["height"].values for each in made)
    assert made[1].attrs["stored_state"] == "state in binary16 between steps"
    about = json.loads(made[1].attrs["sciprec_backend_properties"])["about"]
    assert about == "IEEE binary32" and "stored_state" not in made[0].attrs
    plain = integrate("williamson_5", "T21", 0.05, step_seconds=1080.0).fields["height"]
    np.testing.assert_array_equal(truth, plain)
    assert 1e-5 < np.abs(run / truth - 1).max() < 1e-2


REFUSED = [
    ({"backend": "bf16", "stored": "fp16"}, "does not all hold"),
    ({"backend": "mlu370-noise", "stored": "fp32"}, "random rounding"),
    ({"backend": "policy:O2,narrow=fp16,wide=fp32", "stored": "fp32"}, "stages have formats of"),
    ({"stored": "scales:0-10 24"}, "wavenumber 11 of 0 to 21 has 0 formats"),
    ({"stored": "scales:0-10 24;5- 11"}, "wavenumber 5 of 0 to 21 has 2 formats"),
    ({"stored": "scales:0- 24;11"}, "whose part '11' is none"),
    ({"stored": "scales:0- fixed16"}, "is no single float"),
    ({"stored": "scales:32 - 4*log3(1+l)"}, "is none; accepted: ranges of total wavenumber"),
    ({"stored": "scales:0- 11", "compensation": "carry"}, "have no residual"),
    ({"stored": "scales:0- 11", "backend": "fixed16"}, "beside bits by scale"),
]


@pytest.mark.parametrize(("given", "said"), REFUSED)
def test_master_copies_and_scales_that_are_refused(given, said):
    with pytest.raises(InputError, match=said) as raised:
        check_request("williamson_5", "T21", 1.0, **given)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("seed", range(3))
def test_every_scale_is_rounded_to_its_bits(seed):
    """Random ranges and laws: fractions say to what; ranges of one format are that format."""
    rng = np.random.default_rng(seed)
    degree = rng.integers(0, 22, 60)
    cut, above, below = rng.integers(1, 21), *rng.integers(3, 30, 2)
    most, slope = rng.uniform(20, 30), rng.uniform(1, 5)
    texts = {
        f"scales:0-{cut} {above};{cut + 1}- float:p={below}": (
            lambda n: above if n <= cut else below
        ),
        f"scales:{most:.2f} - {slope:.2f}*log2(1 + l)": lambda n: max(
            2, round(round(most, 2) - round(slope, 2) * math.log2(1 + n))
        ),
    }  # fmt: skip
    for text, bits in texts.items():
        found = resolve_stored(text, resolve_backend("fp64"), 21)
        values = rng.normal(size=120) * 2.0 ** rng.integers(-9, 9, 120)
        expected = [nearest(x, bits(n)) for x, n in zip(values, np.repeat(degree, 2), strict=True)]
        found.rounding(degree, 2)(values)
        assert values.tolist() == expected
        assert found.scales.average_bits(degree) == pytest.approx(np.mean([*map(bits, degree)]))


def nearest(x: float, bits: int) -> float:
    """x with so many bits, to nearest even, by fractions."""
    unit = Fraction(2) ** (math.frexp(x)[1] - bits)
    return float(round(Fraction(x) / unit) * unit)


def test_one_format_for_all_scales_is_that_format():
    options = {"time_scheme": "rk4", **SHORT}
    one = integrate("williamson_5", stored="scales:0-4 11;5- float:p=11", **options)
    require_same_bits(one, integrate("williamson_5", stored="float:p=11", **options))
    assert one.stored == "state by scale (0-4 11;5- float:p=11), 11.0 bits on average"


@pytest.mark.slow
def test_a_master_copy_is_policy_o2(monkeypatch):
    """Bit for bit: what the policy says by stages, the model does with a wide state; so it runs as
    that, and its places count as met.
    """
    scheme = "semi_implicit_leapfrog"  # with an implicit solve, and a filter
    options = {"time_scheme": scheme, "step_seconds": 1200.0, **SHORT}
    policy = "policy:O2,narrow=fp16,wide=fp64"
    master, plain = (
        integrate("williamson_5", backend=b, **options) for b in (policy, "fp16")
    )
    resolve_backend(policy).require_all_met()
    monkeypatch.setattr("sciprec.climate.stepping.stored.MASTER_COPIES", ())
    by_stage = integrate("williamson_5", backend=policy, **options)
    require_same_bits(by_stage, master)
    assert not np.array_equal(plain.fields["height"], master.fields["height"])
    assert "a master copy" in master.stored and not by_stage.stored


@pytest.mark.parametrize("stored", ["fp32", None])
def test_the_mass_of_a_master_copy_is_kept_in_its_format(stored):
    """The primitive equations' mass fixer changes the state: in fp32 it keeps what mlu370 loses
    (over six hours, a fifth of it at most); what it is lifted to, nothing compiled.
    """
    request = check_request(
        "jablonowski_williamson", SMALL, 0.25, backend="mlu370", stored=stored,
        step_seconds=1200.0, parameters={"levels": 5},
    )  # fmt: skip
    model, _, _ = model_of(request)
    arithmetics = {each.kernel.__name__: each.backend.compute for each in model.lifted}
    assert arithmetics["restore_mass"] == resolve_backend(stored or "mlu370").compute
