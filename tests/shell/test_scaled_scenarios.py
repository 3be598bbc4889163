"""Scenarios whose arithmetics get scales, and what the page says of them."""

import json
from types import SimpleNamespace

import pytest

from sciprec.facets.scaling.section import SECTION, scaled_section
from sciprec.workbench.batch.plan import plan
from sciprec.workbench.kinds import parse_scenario

SCENARIO = {
    "name": "scaled", "title": "Scales", "source": "nobody (2026)", "kind": "climate",
    "backends": ["fp16", "e4m3fn"], "scaling": ["none", "static", "dynamic"],
    "climate": {"case": "williamson_5", "truncation": 3, "days": 1.0},
}  # fmt: skip


def labels(**more):
    return [run.label for run in plan([parse_scenario(SCENARIO | more)])]


def test_every_arithmetic_has_every_scaling():
    assert labels() == [
        "fp64", "fp16", "scaled:static,fp16", "scaled:dynamic,fp16",
        "e4m3fn", "scaled:static,e4m3fn", "scaled:dynamic,e4m3fn",
    ]  # fmt: skip
    more = {"backends": ["fp16"], "scaling": "static", "scales": {"advection": 1024.0},
            "scale_factors": [0.25, 1.0], "unclipped": True}  # fmt: skip
    assert labels(**more) == [
        "fp64", "scaled:static,fp16,advection=1024.0", "scaled:static,fp16,times=0.25,"
        "advection=1024.0", "scaled:static,fp16,small=kept,advection=1024.0",
    ]  # fmt: skip


def test_arithmetics_given_besides_get_the_scales(tmp_path, call):
    """`--backend` replaces those of the file, which may have none that can be scaled; there and
    where the file has the scales.
    """
    file = tmp_path / "flow.toml"
    lines = ['name = "flow"', 'title = "t"', 'source = "s"', 'kind = "climate"']
    table = ["[climate]", 'case = "williamson_5"', "truncation = 3", "days = 1.0"]
    file.write_text("\n".join([*lines, 'backends = ["mlu370"]', *table]), encoding="utf-8")
    plan_of = ("run", file, "--backend", "fp16", "--plan", "--json")
    code, out, err = call(*plan_of, "--set", "scaling=static")
    assert code == 0, err
    assert [run["label"] for run in json.loads(out)] == ["fp64", "scaled:static,fp16"]
    scaled = [*lines, 'backends = ["e4m3fn"]', 'scaling = ["none", "dynamic"]', *table]
    file.write_text("\n".join(scaled), encoding="utf-8")
    code, out, err = call(*plan_of)
    assert [run["label"] for run in json.loads(out)] == ["fp64", "fp16", "scaled:dynamic,fp16"]


def run_of(label, backend, error, scaling=None):
    """A stored run with an error at the end, or that stopped."""
    attrs = {} if scaling is None else {"sciprec_scaling": json.dumps(scaling)}
    return SimpleNamespace(label=label, backend=backend, compensation="none",
                           error=error, is_truth=backend == "fp64",
                           dataset=SimpleNamespace(attrs=attrs),
                           comparison=None if error is None else "compared")  # fmt: skip


def scaling(mode="static", times=0, repeated=0, history=()):
    stage = {"stage": "advection", "sites": 3, "least": -4, "greatest": 7, "numbers": 200,
             "subnormal": 10, "zero": 1}  # fmt: skip
    return {"arithmetic": "fp16", "mode": mode, "times": times, "small": "clipped",
            "stages": [stage], "by_hand": {"height": -3}, "repeated": repeated, "doubled": 1,
            "history": history, "profile_days": 1.0, "headroom": 4}  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (None, 3.5e-4, "static scales carry a run to its end, error 0.00035, which stops without"),
        (1.35e-3, 1.36e-3, "static scales gain nothing: error 0.0014, and 0.0014 without them"),
        (1e-2, 2e-3, "static scales make the error 5 times smaller: 0.002, and 0.01 without"),
        (2e-3, 1e-2, "static scales make the error 5 times larger"),
        (1e-2, None, "static scales do not carry the run to its end"),
    ],
)
def test_the_page_says_what_scales_gain(before, after, said, monkeypatch):
    module = "sciprec.facets.scaling.section"
    monkeypatch.setattr(f"{module}.main_row", lambda _: SimpleNamespace(variable="height"))
    runs = [
        run_of("fp64", "fp64", 0.0), run_of("fp16", "fp16", before),
        run_of("scaled:static,fp16", "scaled:static,fp16", after, scaling()),
        run_of("times 4", "scaled:static,fp16,times=4.0", 1e-3, scaling(times=2)),
    ]  # fmt: skip
    of_dataset = {id(run.dataset): run.error for run in runs}
    monkeypatch.setattr(f"{module}.growth", lambda _, d, __: (None, [of_dataset[id(d)]]))
    found = scaled_section(runs)
    assert [row["label"] for row in found["rows"]] == ["fp16", "scaled:static,fp16", "times 4"]
    (gain,) = found["gains"]
    assert said in gain and gain.startswith("scaled:static,fp16: ")
    assert found["rows"][2]["factor"] == "2^2"


def test_the_page_shows_scales_and_changes():
    history = [[100, 1, 9], [103, -1, 2]]
    runs = [run_of("dynamic", "scaled:dynamic,fp16", None, scaling("dynamic", 0, 1, history))]
    text = SECTION.render(SimpleNamespace(runs=runs, scenario="x"))
    for said in ("2^-4 to 2^7", "5.00%", "0.50%", "after step 100: 9 doubled; after step 103: 2 "
                 "halved", "stopped", "profile of 1 day", "By hand: height 2^-3"):  # fmt: skip
        assert said in text, said
    assert SECTION.render(SimpleNamespace(runs=[run_of("a", "fp16", None)], scenario="x")) is None
