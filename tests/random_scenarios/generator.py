"""Small random scenarios over what scenario files may say; each belongs to its seed."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from sciprec.climate.catalogue import CASES, EQUATIONS
from sciprec.climate.diagnostics.derived import derived_names
from sciprec.climate.stages.policies import CLIMATE_STAGES
from sciprec.climate.stages.staged_transform import kept_rows
from sciprec.climate.transform.grid import resolve_truncation
from sciprec.facets.stages.arithmetics import STAGES
from sciprec.heston.payoff_registry import payoffs
from sciprec.heston.schemes.stages import HESTON_STAGES
from sciprec.results.comparison import metrics
from sciprec.workbench.kinds import parse_scenario
from tests.random_scenarios.further import add_further, scalings

HEADINGS = (
    "number format", "rounding", "time scheme", "metric", "climate case", "payoff", "path scheme",
    "kind of scenario", "set of equations",
)  # fmt: skip
"""Of docs/how_to/add_parts.md: whose plugins the scenarios use."""
FLOATS = (
    "fp32", "fp16", "bf16", "tf32", "mlu370", "mlu370-noguard", "binary24", "binary32,round=rz",
    "float:p=11,round=rz", "float:p=9,emin=-62,emax=63,round=rna", "float:p=40,round=ru",
    "binary24,round=ro",
)  # fmt: skip
RANDOM = ("mlu370-noise", "float:p=11,round=sr", "e4m3fn", "e5m2")
FIXED = ("fixed32", "fixed16", "fixed:bits=24", "mix-fp32-fix16")
WIDE = ("fp32", "tf32", "mlu370")
NARROW = ("fp16", "bf16", "float:p=7,emin=-14,emax=15")
STAGES_OF = {"climate": CLIMATE_STAGES, "heston": HESTON_STAGES}
"""Stages that policies give formats to, by kind of scenario."""
FLOWS = ("advection", "barotropic_vorticity", "shallow_water", "logistic")
_NUMBERS = {
    "angle_degrees": (0.0, 30.0, 90), "levels": (2, 3), "seed": (1, 7), "diffusion_hours": (2.4, 0),
    "perturbation_m_per_s": (1.0, 0.0), "bump_metres": (120.0, 60), "wavenumber": (3, 4),
    "viscosity": (0.0, 1.0e5), "diffusion_m4_per_s": (0, 1.0e16), "diffusion_m8_per_s": (0.0, 1e37),
    "height_m": (10.0, 25), "rate_per_day": (3.0, 1), "filter_nu": (0.1, 0.2),
    "filter_alpha": (0.53, 1.0), "fourier": ("fft", "matrix"),
    "formulation": ("careful", "anomaly", "whole"),
}  # fmt: skip
"""Values of parameters of climates, by name."""


def random_scenario(
    seed: int, *, bounds: bool = True, levels: bool = True, policies: bool = True,
    further: bool = True,
) -> dict[str, Any]:  # fmt: skip
    """The content of a scenario file.

    Args:
        seed: of it.
        bounds: whether prices may have a tolerance in place of a number of paths.
        levels: whether flows may have levels.
        policies: whether policies may stand in place of arithmetics.
        further: whether there may be scales, matrix units, monitors and adaptive runs.
    """
    rng = random.Random(seed)
    kind = rng.choice(["climate", "climate", "heston", "heston", "accumulation", "decay"])
    content: dict[str, Any] = {
        "name": f"drawn-{seed}_{kind}", "title": rng.choice(["A \"title\"", "Ünïcode — {{7*7}}"]),
        "source": f"nobody ({seed})", "kind": kind, "backends": _backends(rng),
    }  # fmt: skip
    {
        "climate": lambda: _climate(content, rng, levels),
        "heston": lambda: _heston(content, rng, bounds),
        "accumulation": lambda: _accumulation(content, rng),
        "decay": lambda: content.update(decay={"rate": rng.choice([0.5, 3, 1e-3])}),
    }[kind]()
    _tolerances(content, rng)
    if policies and kind in STAGES_OF:
        _policies(content, random.Random(f"policies {seed}"))
    if further and kind in ("climate", "accumulation"):
        add_further(content, random.Random(f"further {seed}"))
    return content


def toml(content: dict[str, Any], rng: random.Random) -> str:
    """The text of a file that holds a scenario, its tables written in one of TOML's ways."""
    return "\n".join(_table(content, (), rng)) + "\n"


def _table(content: dict[str, Any], path: tuple[str, ...], rng: random.Random) -> list[str]:
    lines, below = [], []
    for name, value in content.items():
        if isinstance(value, dict) and (len(path) < 2 or rng.random() < 0.5):
            below += [f"[{'.'.join((*path, name))}]", *_table(value, (*path, name), rng)]
        elif (
            isinstance(value, list)
            and value
            and not path
            and rng.random() < 0.5
            and all(isinstance(one, dict) for one in value)
        ):
            for one in value:
                below += [f"[[{name}]]", *(f"{_key(k)} = {_value(v)}" for k, v in one.items())]
        else:
            lines.append(f"{_key(name)} = {_value(value)}")
    return lines + below


def _key(name: str) -> str:
    """A key as TOML has it."""
    return name if name.replace("_", "").replace("-", "").isalnum() else json.dumps(name)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _backends(rng: random.Random, known: tuple[str, ...] = FLOATS + RANDOM + FIXED) -> list[str]:
    names = rng.sample(known, rng.randint(1, 2))
    return ["fp64", *names] if rng.random() < 0.15 else names


def _maybe(rng: random.Random, table: dict[str, Any], name: str, made: Callable[[], Any]) -> None:
    """A key that is left out in half of the cases."""
    if rng.random() < 0.5:
        table[name] = made()


def _climate(content: dict[str, Any], rng: random.Random, levels: bool) -> None:
    known = [c for c in CASES.values() if levels or c.equations in FLOWS]
    case = rng.choice(known)
    equations = EQUATIONS[case.equations]
    step, steps = rng.choice([300.0, 600, 900.0]), rng.randint(2, 6)
    every = rng.randint(1, steps)
    flow = content["climate"] = {
        "case": case.name,
        "truncation": rng.choice([3, 4, 5, 6, 7, "T3", "T7", "TL6"]), "days": steps * step / 86400,
        "step_seconds": step, "output_hours": every * step / 3600,
    }  # fmt: skip
    schemes = ["rk4", "ssprk3", "heun"]
    if case.equations == "shallow_water" or case.equations not in FLOWS:
        schemes += ["semi_implicit_leapfrog", "imex_ars443"]
    _maybe(rng, flow, "time_scheme", lambda: rng.choice(schemes))
    usual = {**equations.parameters, **case.parameters, "viscosity": 0, "fourier": 0}
    if flow.get("time_scheme", equations.time_scheme) == "semi_implicit_leapfrog":
        usual |= {"filter_nu": 0, "filter_alpha": 0}
    chosen = {n: rng.choice(_NUMBERS[n]) for n in usual if n == "levels" or rng.random() < 0.3}
    if chosen or rng.random() < 0.2:
        flow["parameters"] = chosen
    names = equations.fields + derived_names(equations.fields)
    _maybe(rng, flow, "variables", lambda: rng.sample(names, rng.randint(1, min(3, len(names)))))
    if rng.random() < 0.2:
        content["backends"] = _backends(rng, WIDE)
        flow["stored"] = rng.choice(NARROW)
    if rng.random() < 0.2:
        flow["checkpoints"] = rng.choice(["kept", "a/b"])
    compensations: list[Any] = ["none", "carry", "carry-sums", "published-15-85"]
    own: dict[str, Any] = (
        {"alpha": rng.choice([0.5, 1])}
        if rng.random() < 0.5
        else {"variables": {rng.choice(equations.variables): {"alpha": 0.15, "beta": 0.85}}}
    )
    compensations.append({"name": "own", **own, **rng.choice([{}, {"sums": True}])})
    _maybe(rng, content, "compensation", lambda: rng.sample(compensations, rng.randint(1, 2)))
    if rng.random() < 0.2 and chosen.get("fourier", "fft") == "fft":
        content["backends"] = _backends(rng, WIDE if "stored" in flow else FLOATS)
        content["compensation"] = rng.sample(["none", "carry"], 1)
        own_stages = {"name": "mine", "legendre": rng.choice(NARROW), "kept": "fp32",
                      "kept_orders": rng.randint(1, 2)}  # fmt: skip
        row = resolve_truncation(flow["truncation"])
        known_stages = [name for name, of in STAGES.items() if not kept_rows(row, of).all()]
        content["stages"] = rng.sample(["none", rng.choice(known_stages), own_stages], 2)
    if rng.random() < 0.3:
        content["ensemble"] = {"members": rng.randint(1, 3)}
        _maybe(rng, content["ensemble"], "perturbation", lambda: rng.choice([1e-14, 0.1]))
        _maybe(rng, content["ensemble"], "seed", lambda: rng.choice([0, 7, 2**63 - 1]))


def _heston(content: dict[str, Any], rng: random.Random, bounds: bool) -> None:
    bounds = bounds and rng.random() < 0.5
    model = {
        "spot": rng.choice([100.0, 1, 7.5e3]), "v0": rng.choice([0.04, 0, 0.5]),
        "kappa": rng.choice([0.3, 2, 20.0]), "theta": rng.choice([0.02, 0.3]),
        "sigma": rng.choice([0.1, 0.6, 2]), "rho": rng.choice([-0.95, 0, 0.7, -1.0]),
        "rate": rng.choice([-0.01, 0, 0.05]),
    }  # fmt: skip
    _maybe(rng, model, "dividend_yield", lambda: rng.choice([0.0, 0.03]))
    simulation: dict[str, Any] = {}
    with_strike = [name for name, one in payoffs().items() if "strike" in one.parameters]
    kind = rng.choice(with_strike if bounds else ["call", "put"])
    shares = sorted(rng.sample([0.8, 0.9, 1, 1.2], rng.randint(1, 3)))
    table = {
        "kind": kind, "strikes": [model["spot"] * share for share in shares],
        "maturities_years": sorted(rng.sample([0.1, 0.25, 1], rng.randint(1, 2))),
    }  # fmt: skip
    takes = payoffs()[kind].parameters
    if "fixings" in takes and "fixings" not in payoffs()[kind].optional or kind == "barrier-up-out":
        table["fixings"] = rng.randint(1, 4)
    if "barrier" in takes:
        table["barrier"] = model["spot"] * (0.7 if "down" in kind else 1.5)
    if "trigger" in takes:
        table["parameters"] = {"trigger": rng.choice([50, 105.5])}
    if bounds:
        simulation["tolerance"] = rng.choice(["50%", "0.5", f"{model['spot'] / 4:g}abs"])
        _maybe(rng, simulation, "confidence", lambda: rng.choice([0.8, 0.99]))
        _maybe(rng, simulation, "max_paths", lambda: rng.choice([65536, 200_000]))
    else:
        simulation |= {"n_paths": rng.choice([2, 100, 1500]), "steps_per_year": rng.randint(1, 6)}
    schemes = ["full_truncation_euler", "quadratic_exponential", "absorbed_euler"]
    _maybe(rng, simulation, "scheme", lambda: rng.choice(schemes))
    _maybe(rng, simulation, "seed", lambda: rng.choice([0, 2**63 - 1]))
    _maybe(rng, simulation, "block_paths", lambda: rng.choice([1, 64, 10**7]))
    content["heston"] = {"model": model, "payoffs": table, "simulation": simulation}
    known = ["none", "carry", *(["correction"] if bounds else [])]
    _maybe(rng, content, "compensation", lambda: rng.sample(known, rng.randint(1, len(known))))
    if rng.random() < 0.3:
        content["ensemble"] = {"members": rng.randint(1, 3)}


def _accumulation(content: dict[str, Any], rng: random.Random) -> None:
    updates = rng.choice([1, 7, 500, 2000])
    table = {"updates": updates, "members": rng.randint(1, 4), "smallest": 1e-7, "largest": 1e-5}
    _maybe(rng, table, "start", lambda: rng.choice([0.0, 1, 30.5]))
    table["outputs"] = rng.randint(1, min(updates, 50))
    _maybe(rng, table, "seed", lambda: rng.choice([0, 2**63 - 1]))
    content["accumulation"] = table
    own = {"name": "own", "alpha": 0.3, "beta": 0.7, "reset_every": 100}
    known = ["none", "carry", "published-10-90", own]
    _maybe(rng, content, "compensation", lambda: rng.sample(known, rng.randint(1, 2)))


def _policies(content: dict[str, Any], rng: random.Random) -> None:
    """In a third of the scenarios that take them, a policy or several in place of arithmetics."""
    flow = content.get("climate", {})
    if rng.random() > 0.34 or "stages" in content or "stored" in flow:
        return
    names = rng.sample(["O0", "O1", "O2", "O3"], rng.randint(1, 3))
    names += ["dcu"] if content["kind"] == "climate" and rng.random() < 0.3 else []
    del content["backends"]
    content["policy"] = names[0] if len(names) == 1 else names
    content["narrow"], content["wide"] = rng.choice(NARROW), rng.choice([*WIDE, "fp64"])
    known = [stage.name for stage in STAGES_OF[content["kind"]] if not stage.always]
    lists = rng.sample(known, rng.randint(0, 3))
    cut = rng.randint(0, len(lists))
    for key, stages in (("allow", lists[:cut]), ("deny", lists[cut:])):
        if stages:
            content[key] = stages


def _tolerances(content: dict[str, Any], rng: random.Random) -> None:
    """Up to three tables [[tolerance]], of variables that the files will have."""
    names = compared(content)
    errors = [name for name in metrics() if name != "standard_errors"]
    pairs = {(rng.choice(names), rng.choice(["max_abs", *rng.sample(errors, 1)]))
             for _ in range(rng.randint(0, 3))}  # fmt: skip
    if not pairs:
        return
    content["tolerance"] = []
    for variable, metric in sorted(pairs):
        table = {"variable": variable, "metric": metric, "reason": "drawn",
                 "at_most": 10.0 ** rng.randint(-12, 6) if rng.random() < 0.9 else 0}  # fmt: skip
        _maybe(rng, table, "times", lambda: rng.choice(["last", "all"]))
        content["tolerance"].append(table)


def as_list(given: Any) -> list[Any]:
    """A value, or several, as a list."""
    return given if isinstance(given, list) else [given]


def compared(content: dict[str, Any]) -> list[str]:
    """Names of the variables that a scenario's runs compare."""
    from sciprec.workbench.batch.checking import compared_variables

    plain = {name: value for name, value in content.items() if name != "tolerance"}
    found = compared_variables(parse_scenario(plain))
    return ["level"] if found is None else list(found)


def number_of_runs(content: dict[str, Any]) -> int:
    """Of a batch with this scenario alone, counted without the plan."""
    named = content["backends"] if "backends" in content else as_list(content.get("policy", []))
    names, stages = {name for name in named if name != "fp64"}, content.get("stages") or ["none"]
    others = len(names) * scalings(content) * len(stages)
    others += ("fp64" in named) * sum(one != "none" for one in stages)
    choices = len(content.get("compensation") or ["one"])
    members = content.get("ensemble", {}).get("members", 1)
    return members * (1 + others * choices + ("adaptive" in content))
