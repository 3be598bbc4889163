"""Random models: what is stored is what the model's kernel gives by hand, bit for bit; what tables
say of random parameters is what they hold to.
"""

import dataclasses
import random
import string
import tomllib
from typing import Annotated, Literal

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from pydantic import Field, ValidationError, create_model

import sciprec
from sciprec.foundation.loading import load_files
from sciprec.results.output import files as stored
from sciprec.scenario.complaints import complaint
from sciprec.scenario.draft import draft
from sciprec.scenario.json_schema import json_schema
from sciprec.scenario.keys import keys
from sciprec.scenario.loading import Scenario
from sciprec.workbench.kinds import kind_of
from sciprec.workbench.models import ModelArithmetic
from sciprec.workbench.models.parameters import as_given, table_of

BACKENDS = ("fp32", "fp16", "bf16", "mlu370", "float:p=9,emin=-30,emax=31,round=rz")
OPERATIONS = ("{a} + {b}", "{a} - {b}", "{a} * {b}", "0.5 * ({a} + {b})", "{a} / (2.0 + {b} * {b})")


def expression(rng, depth):
    """A random smooth expression of x[i], its neighbour, and a parameter."""
    if depth == 0:
        return rng.choice(("x[i]", "x[i - 1]", "p", f"{rng.uniform(-1, 1):.3f}"))
    a, b = (expression(rng, depth - 1) for _ in range(2))
    return f"({rng.choice(OPERATIONS).format(a=a, b=b)})"


def random_model(seed):
    """The source of a model and the table of its scenario."""
    rng = random.Random(seed)
    shape = rng.choice(((7,), (3, 5), (2, 3, 4)))
    dims = ("'a'", "'b'", "'c'")[: len(shape)]
    steps, whole = rng.randint(1, 5), rng.random() < 0.5
    perturbs = rng.random() < 0.5
    source = f'''
from dataclasses import dataclass

import numpy as np
import xarray as xr

import sciprec


@dataclass(frozen=True)
class P:
    p: float = {rng.uniform(0.1, 0.9):.4f}
    steps: int = {steps}


def kernel(x, p, out):
    for i in range(x.size):
        out[i] = 0.1 * {expression(rng, 3)}


@sciprec.model("drawn_{seed}"{', perturbs=["p"]' if perturbs else ""})
def drawn(given: P, arithmetic):
    lifted = arithmetic.lift(kernel)
    x = np.linspace(-1.0, 1.0, {int(np.prod(shape))}).reshape({shape})
    x = arithmetic.quantize({"x" if perturbs else "arithmetic.perturb(x)"})
    dx, states = np.zeros(x.size), [x.copy()]
    for _ in range(given.steps):
        lifted(x.reshape(-1), given.p, dx)
        arithmetic.update(x, dx.reshape(x.shape))
        states.append(x.copy())
    {"states = np.array(states)" if whole else "states = states[-1]"}
    dims = ({"'time', " if whole else ""}{", ".join(dims)},)
    return xr.Dataset({{"state": (dims, states, {{"units": "m"}})}})
'''
    return source, rng.sample(BACKENDS, 2), rng.random() < 0.5


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_what_is_stored_is_what_the_model_gives_by_hand(seed, tmp_path, fresh, undrawn):
    source, backends, carries = random_model(seed)
    (tmp_path / "drawn_model.py").write_text(source)
    given = {
        "name": "drawn", "title": "Drawn", "source": "a generator", "kind": f"drawn_{seed}",
        "backends": backends, "ensemble": {"members": 2, "perturbation": 0.01, "seed": seed},
    } | ({"compensation": ["carry"]} if carries else {})  # fmt: skip
    load_files(tmp_path / "drawn_model.py")
    function = kind_of(sciprec.load_scenario(given)).run.__self__.function
    names = function.__globals__
    result = sciprec.run(sciprec.load_scenario(given), out=tmp_path / "out", threads=2)
    assert not result.failures and len(result.files) == 6
    for path in result.files:
        made = stored.read(path)
        backend, member = made.attrs["sciprec_backend"], int(made.attrs["sciprec_member"])
        how = {"member": member, "amplitude": 0.01, "seed": seed}
        carry = "carry" if carries and backend != "fp64" else None
        arithmetic = ModelArithmetic(backend, carry, **how)
        parameters = names["P"]()
        if 'perturbs=["p"]' in source:
            drawn = ModelArithmetic("fp64", **how)
            parameters = dataclasses.replace(parameters, p=drawn.perturb(parameters.p))
        by_hand = function(parameters, arithmetic)["state"].values
        np.testing.assert_array_equal(made["state"].values, by_hand, err_msg=path.name)


def random_parameters(rng):
    """A dataclass with random fields, and for each field values that it takes and does not."""
    made = []
    for name in rng.sample(string.ascii_lowercase, rng.randint(1, 6)):
        kind = rng.choice((int, float, bool, str, "choice", "many", "pair", "optional"))
        least, most = sorted(rng.sample(range(-50, 50), 2))
        limits = {"ge": least, "le": most} if rng.random() < 0.7 else {}
        far = [most + 1, least - 1] if limits else []
        if kind is int:
            one = (Annotated[int, Field(**limits)], [least, most], [*far, 1.5, "a", True, [1]])
        elif kind is float:
            one = (Annotated[float, Field(**limits)], [float(least), most],
                   [*map(float, far), "a", float("nan"), float("inf"), False])  # fmt: skip
        elif kind is bool:
            one = (bool, [True, False], [1, "true", 0.0])
        elif kind is str:
            one = (str, ["", 'a "quoted" \\ word'], [1, ["a"]])
        elif kind == "choice":
            one = (Literal["one", "two"], ["one", "two"], ["three", 1])
        elif kind == "many":
            one = (tuple[float, ...], [[], [1.0, 2]], [1.0, ["a"], [float("nan")]])
        elif kind == "pair":
            one = (tuple[int, int], [[1, 2]], [[1], [1, 2, 3], [1.5, 2]])
        else:
            one = (float | None, [1.0], ["a"])
        made.append((name, *one))
    with_default = [(n, t, good[0] if not isinstance(good[0], list) else tuple(good[0]))
                    for n, t, good, _ in made]  # fmt: skip
    return dataclasses.make_dataclass("Drawn", with_default, frozen=True), made


@pytest.mark.parametrize("required", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_tables_schemas_keys_and_first_scenarios_say_what_is_taken(seed, required):
    """The table takes what its sentences tell to write, and refuses the rest with one; the JSON
    schema takes and refuses the same, every key is listed, and the first scenario is one. NaN,
    infinities and whole numbers with a point are no question of schemas.
    """
    cls, made = random_parameters(random.Random(seed))
    if required:
        cls = dataclasses.make_dataclass("Drawn", [(name, kind) for name, kind, *_ in made])
    table = table_of(cls, "drawn")
    written = "\n".join(one.examples[0] for one in table.model_fields.values())
    taken = as_given(table.model_validate(tomllib.loads(written)))
    assert required or taken == cls()
    fields = {"kind": (Literal["drawn"], ...), "drawn": (table, ...)}
    scenario = create_model("DrawnScenario", __base__=Scenario, **fields)
    schema = json_schema([scenario])
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    found = keys(schema)
    listed = {key.path: key for key in found}
    assert {f"drawn.{name}" for name, *_ in made} <= set(listed)
    first = tomllib.loads(draft("drawn", found, "first"))
    scenario.model_validate(first)
    assert validator.is_valid(first)
    with pytest.raises(ValidationError):
        table.model_validate(first["drawn"] | {"not_there": 1})
    for name, _, good, bad in made:
        assert listed[f"drawn.{name}"].required == required
        for value in good:
            given = first["drawn"] | {name: value}
            taken = getattr(as_given(table.model_validate(given)), name)
            assert taken == (tuple(value) if isinstance(value, list) else value)
            assert validator.is_valid(first | {"drawn": given}), value
        for value in bad:
            given = first["drawn"] | {name: value}
            with pytest.raises(ValidationError) as caught:
                table.model_validate(given)
            said = complaint(table, dict(caught.value.errors()[0]))
            assert said.startswith(f"key '{name}") and "; accepted: " in said, said
            assert f"; write for example `{name} = " in said
            if not (isinstance(value, float) and (value % 1 == 0 or value - value != 0)):
                assert not validator.is_valid(first | {"drawn": given}) or has_nan(value)


def has_nan(value):
    """Whether a number that is none is in an array, of which JSON knows nothing."""
    return isinstance(value, list) and any(one != one for one in value)
