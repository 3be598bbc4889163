"""Further tables of random scenarios: scales, matrix units, monitors, adaptive runs."""

from __future__ import annotations

import random
from typing import Any

from sciprec.arrays.matrix_unit.unit import (
    ACCUMULATORS,
    GROUPS,
    UNIT_FORMATS,
    resolve_matrix_unit,
)
from sciprec.climate.catalogue import CASES, EQUATIONS
from sciprec.climate.stages.scales import SCALED_STAGES
from sciprec.foundation.errors import InputError

SCALABLE = ("fp16", "bf16", "tf32", "fp32", "e4m3fn", "e5m2", "float:p=9,emin=-30,emax=20",
            "float:p=25,emin=-60,emax=60", "float:p=2,emin=-5,emax=6")  # fmt: skip
LADDER = ("e5m2", "e4m3fn", "bf16", "fp16", "float:p=14,round=rz", "mlu370", "fp32", "float:p=40")
"""From narrow to wide."""
WITHOUT_MASS_FIXER = ("advection", "barotropic_vorticity", "shallow_water")
_LOOKS_INSIDE = ("increment:", "tendency:")
_UNIT_KEYS = {
    "scale": ("none", "tensor", "channel", "group", 0.5, 3), "group": GROUPS,
    "accumulate": ACCUMULATORS, "slices": (1, 2, 3, 8), "sparsity": ("none", "2:4"),
    "clip": (0.9, 1, 0.05), "prune": (0.01, 0.5, 0),
}  # fmt: skip


def add_further(content: dict[str, Any], rng: random.Random) -> None:
    """Put some of it into a scenario, in a third of those that take it."""
    if content["kind"] == "climate":
        if rng.random() < 0.5:
            rng.choice([_scales, _scales, _units])(content, rng)
        if rng.random() < 0.34:
            _adaptive(content, rng)
    if rng.random() < 0.34:
        _monitor(content, rng)


def scalings(content: dict[str, Any]) -> int:
    """Into how many runs scales make each of a scenario's arithmetics but the truth."""
    given = content.get("scaling", [])
    names = [given] if isinstance(given, str) else given
    if not names:
        return 1
    factors = [x for x in content.get("scale_factors", []) if x != 1.0 or "static" not in names]
    return len(names) + len(set(factors)) + content.get("unclipped", False)


def _scales(content: dict[str, Any], rng: random.Random) -> None:
    flow = content["climate"]
    equations = CASES[flow["case"]].equations
    matrix = flow.get("parameters", {}).get("fourier") == "matrix"
    if equations not in WITHOUT_MASS_FIXER or matrix or {"policy", "stages"} & content.keys():
        return
    flow.pop("stored", None)
    content["backends"] = rng.sample(SCALABLE, rng.randint(1, 2))
    content["backends"] += ["fp64"] * (rng.random() < 0.2)
    if "compensation" in content:
        content["compensation"] = rng.sample(["none", "carry", "published-15-85"], 2)
    names = rng.sample(["none", "static", "dynamic"], rng.randint(1, 3))
    content["scaling"] = names[0] if len(names) == 1 and rng.random() < 0.5 else names
    if rng.random() < 0.5 and names != ["none"]:
        stages = rng.sample(SCALED_STAGES, rng.randint(1, 3))
        content["scales"] = {name: 2.0 ** rng.randint(-100, 100) for name in stages}
    if rng.random() < 0.3:
        content["scale_factors"] = rng.sample([0.0625, 1.0, 4.0, 2.0**100], rng.randint(1, 3))
    if rng.random() < 0.3:
        content["unclipped"] = rng.random() < 0.7


def random_unit(rng: random.Random) -> str:
    """The text of a matrix unit: each key in half of those that take it."""
    while True:
        keys = {"table": rng.choice(UNIT_FORMATS), "field": rng.choice(UNIT_FORMATS)}
        for name, values in _UNIT_KEYS.items():
            if rng.random() < 0.4:
                keys[name] = rng.choice(values)
        parts = [f"{name}={value}" for name, value in keys.items()]
        rng.shuffle(parts)
        text = f"matrix:{','.join(parts)}"
        try:
            resolve_matrix_unit(text).require_sums(64)
        except InputError:
            continue
        return text


def _units(content: dict[str, Any], rng: random.Random) -> None:
    flow = content["climate"]
    matrix = flow.get("parameters", {}).get("fourier") == "matrix"
    if matrix or "stages" in content or "stored" in flow:
        return
    policy = "policy" in content
    if not policy:
        content["backends"] = rng.sample(["fp64", "fp32", "fp16", "mlu370"], rng.randint(1, 2))
    if "compensation" in content:
        content["compensation"] = rng.sample(["none", "carry"], 1)
    made = []
    for number in range(rng.randint(1, 2)):
        unit = {"name": f"unit-{number}", "legendre": random_unit(rng)}
        if rng.random() < 0.5 and not policy:
            unit["kept"] = random_unit(rng) if rng.random() < 0.5 else "fp32"
            unit["kept_orders"], unit["kept_degrees"] = rng.randint(1, 2), rng.randint(0, 2)
        if rng.random() < 0.3 and not policy:
            unit["fourier"] = rng.choice(["fp16", "fp32"])
        made.append(unit)
    content["stages"] = [*made, "none"] if rng.random() < 0.5 and not policy else made


def _adaptive(content: dict[str, Any], rng: random.Random) -> None:
    variables = EQUATIONS[CASES[content["climate"]["case"]].equations].variables
    first = rng.randrange(len(LADDER) - 1)
    count = rng.randint(2, min(4, len(LADDER) - first))
    rungs = sorted(rng.sample(range(first, len(LADDER)), count))
    table: dict[str, Any] = {"tolerance": rng.choice([1e-3, 0.9, 1e-12]),
                             "ladder": [LADDER[rung] for rung in rungs]}  # fmt: skip
    if rng.random() < 0.5:
        table["every"] = rng.choice([1, 2, 5, 36, 2**31])
    if rng.random() < 0.5:
        table["variable"] = rng.choice(variables)
    content["adaptive"] = table


def _monitor(content: dict[str, Any], rng: random.Random) -> None:
    climate = content["kind"] == "climate"
    watch = ["parameter"]
    if climate:
        variables = EQUATIONS[CASES[content["climate"]["case"]].equations].variables
        inside = "dynamic" in content.get("scaling", ())
        changes = [f"{what}{name}" for what in _LOOKS_INSIDE for name in variables]
        known = [*variables, *([] if inside else changes)]
        watch = rng.sample(known, rng.randint(1, min(4, len(known))))
    table: dict[str, Any] = {"watch": watch}
    if rng.random() < 0.5:
        table["level"] = rng.randint(0, 3)
    given = content[content["kind"]]
    steps = round(given["days"] * 86400 / given["step_seconds"]) if climate else given["updates"]
    few = range(1, 1 + min(steps, 4))
    if table.get("level") == 0:
        table["every"] = rng.choice([1, 3, 36, 2**31])
    elif climate or rng.random() < 0.5:
        table["every"] = rng.choice(few)
    if rng.random() < 0.5:
        rules = {"nan": rng.random() < 0.5, "overflow": rng.random() < 0.5, "drift": 0.5,
                 "jump": rng.choice([10, 100.0])}  # fmt: skip
        table["alerts"] = {name: rules[name] for name in rng.sample(list(rules), rng.randint(0, 4))}
    if climate and rng.random() < 0.4:
        table["drift_every"] = rng.choice(few)
    content["monitor"] = table
