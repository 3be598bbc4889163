"""Everything that files tell about an arithmetic beside its pointwise errors, as plain data."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any

import numpy as np
import xarray as xr

from sciprec.foundation.errors import InputError
from sciprec.foundation.plain_data import plain
from sciprec.results.comparison.evidence.arbitrage import arbitrage
from sciprec.results.comparison.evidence.consistency import TEST_RUNS, ensemble_consistency
from sciprec.results.comparison.evidence.distributions import compare_distributions
from sciprec.results.comparison.evidence.drift import drifts
from sciprec.results.comparison.evidence.error_budget import error_budget
from sciprec.results.comparison.evidence.error_scales import error_scales
from sciprec.results.comparison.evidence.global_means import fields_of, table_of_means
from sciprec.results.comparison.evidence.internal_variability import (
    VariabilityGrowth,
    variability_growth,
)
from sciprec.results.comparison.evidence.markets import is_surface
from sciprec.results.comparison.evidence.price_errors import price_errors
from sciprec.results.comparison.evidence.spectra import spectrum_ratio
from sciprec.results.output.stated import primary_name

ULP = 2.0**-52
MEMBER = "sciprec_member"


@dataclass(frozen=True)
class Members:
    """The perturbed members of two ensembles, without the undisturbed one.

    Args:
        golden: of the truth; gone through several times, so that a sequence that reads files
            when it is asked for them needs the memory of one.
        actual: of the run, with perturbations of the same numbers.
    """

    golden: Sequence[xr.Dataset] = ()
    actual: Sequence[xr.Dataset] = ()


def evidence(
    golden: xr.Dataset,
    actual: xr.Dataset,
    members: Members | None = None,
    *,
    reference: xr.Dataset | None = None,
) -> dict[str, Any]:
    """The evidence of stored runs about an arithmetic, beside the pointwise errors.

    Args:
        golden, actual: the undisturbed truth and run of one scenario.
        members: the other members of both, where the scenario has an ensemble.
        reference: a solution of much higher resolution on the same points, at the last time.

    Returns:
        Plain data for JSON: name -> what the dataclass of that name holds, each with its `sentence`
        or `reason`; numbers that are not finite are None. For flows: drift (budget -> per_day,
        days), variability, consistency, distributions, spectrum, scales (where vorticity is
        stored), budget. For surfaces of prices:
        prices, arbitrage, distributions, budget. `not_measured`: what is left out, each with the
        reason and what would give it. `perturbation`: of the members' initial states, or None.
    """
    members = members or Members()
    result: dict[str, Any] = {"perturbation": perturbation_of(golden) if members.golden else None}
    missing: list[str] = []
    parts = _price_parts if is_surface(golden) else _flow_parts
    for name, measure in parts(golden, actual, members, reference).items():
        try:
            with np.errstate(invalid="ignore", over="ignore"):  # what is not finite stays so
                result[name] = plain(measure())
        except InputError as error:
            missing.append(f"{name}: {error}")
    return result | {"not_measured": missing}


def perturbation_of(dataset: xr.Dataset) -> float:
    """The relative perturbation of the initial states of a scenario's members."""
    scenario = json.loads(dataset.attrs.get("sciprec_scenario", "{}"))
    perturbation = (scenario.get("ensemble") or {}).get("perturbation")
    return ULP if perturbation is None else float(perturbation)


def member_of(dataset: xr.Dataset) -> int:
    """The number of the ensemble's member that a file holds."""
    return int(dataset.attrs.get(MEMBER, 0))


def main_field(dataset: xr.Dataset) -> str:
    """The variable over time that stands for a flow: the primary one, or the first.

    Raises:
        InputError: there is none.
    """
    names = list(fields_of(dataset))
    if not names:
        raise InputError(
            "the run holds no field over time, lat and lon; store one with the key 'variables' of "
            "[climate]"
        )
    return primary_name(names, dataset.attrs)


def _flow_parts(golden, actual, members: Members, reference) -> dict[str, Callable[[], Any]]:
    """The measurements of a flow; of other models, those of their members."""
    if "time" not in golden.dims:
        return {}
    if "cell_area" not in golden:
        return _model_parts(golden, actual, members)
    has_vorticity = "vorticity" in golden and "vorticity" in actual
    scales = {"scales": lambda: error_scales(golden, actual)} if has_vorticity else {}
    return {
        "drift": lambda: {k: asdict(v) for k, v in drifts(golden, actual).items()},
        "variability": lambda: _variability(golden, actual, members),
        "consistency": lambda: _consistency(golden, actual, members),
        "distributions": lambda: _flow_distributions(golden, actual, members),
        "spectrum": lambda: spectrum_ratio(golden, actual, members.golden),
        **scales,
        "budget": lambda: error_budget(
            golden, actual, main_field(golden), reference=reference,
            initial_spread=_initial_spread(golden, members),
        ),
    }  # fmt: skip


def _model_parts(golden, actual, members: Members) -> dict[str, Callable[[], Any]]:
    """The measurements of a model's ensemble, for a model that is on no sphere."""
    if not members.golden or not any(v.dims[:1] == ("time",) for v in golden.values()):
        return {}
    in_days = str(golden["time"].attrs.get("units", "")).startswith("day")
    grows = in_days and fields_of(golden)
    growth = {"variability": lambda: _variability(golden, actual, members)} if grows else {}
    return growth | {
        "consistency": lambda: _consistency(golden, actual, members),
        "distributions": lambda: _flow_distributions(golden, actual, members),
    }


def _price_parts(golden, actual, members: Members, reference) -> dict[str, Callable[[], Any]]:
    """The measurements of a surface of prices."""
    return {
        "prices": lambda: price_errors(golden, actual),
        "arbitrage": lambda: arbitrage(golden, actual),
        "distributions": lambda: _price_distributions(golden, actual, members),
        "budget": lambda: error_budget(golden, actual, "price", reference=reference),
    }


def _variability(golden, actual, members: Members) -> VariabilityGrowth:
    """Compare the growth of the error with the growth of differences between the members."""
    tiny = perturbation_of(golden) <= 4.0 * ULP
    truth, runs = members.golden, members.actual
    kinds = {"ulp": truth} if tiny else {"spread": truth, "forecasts": _finished(golden, runs)}
    return variability_growth(golden, actual, main_field(golden), **kinds)


def _finished(golden: xr.Dataset, runs: Sequence[xr.Dataset]) -> Sequence[xr.Dataset]:
    """The runs where all of them have all times of the truth; else none."""
    return runs if all(run.sizes["time"] == golden.sizes["time"] for run in runs) else ()


def _initial_spread(golden: xr.Dataset, members: Members) -> float:
    """Relative l2 distance of the truth's members from it at the last time; NaN without any."""
    if not members.golden or perturbation_of(golden) <= 4.0 * ULP:
        return math.nan
    variable = main_field(golden)
    grown = variability_growth(golden, golden, variable, spread=members.golden)
    area = golden["cell_area"].values
    square = (golden[variable].values[-1] ** 2 * (area / area.sum())).sum(axis=(-2, -1))
    size = math.sqrt(float(np.mean(square)))
    return float(grown.spread[-1]) / size if size > 0.0 else math.nan


def _consistency(golden, actual, members: Members) -> dict[str, Any]:
    """Three perturbed members of the run against the members of the truth that have other numbers.

    A run and the truth from one initial state are alike whatever their arithmetic: such members of
    the truth would speak for the run.
    """
    days, count = float(golden["time"][-1]), len(members.actual)
    tests = [members.actual[k] for k in range(max(0, count - TEST_RUNS), count)]
    numbers = {member_of(run) for run in tests}
    independent = (m for m in members.golden if member_of(m) not in numbers)
    columns = table_of_means(chain([golden], independent), days)
    names = columns["variable"].values
    runs = table_of_means(tests, days, names)
    result = asdict(ensemble_consistency(columns.values, runs.values, names))
    return result | {"note": _note(golden, members)}


def _flow_distributions(golden, actual, members: Members) -> dict[str, Any]:
    """Compare the distributions of all members of both, variable by variable."""
    days = float(golden["time"][-1])
    columns = table_of_means(chain([golden], members.golden), days)
    names = columns["variable"].values
    runs = table_of_means(chain([actual], members.actual), days, names)
    result = asdict(compare_distributions(columns.values, runs.values, names))
    return result | {"note": _note(golden, members)}


def _price_distributions(golden, actual, members: Members) -> Any:
    """Compare the distributions of all members of both, price by price."""
    shape = golden["price"].shape
    tables = [
        np.array([run["price"].values.ravel() for run in (first, *rest)])
        for first, rest in ((golden, members.golden), (actual, members.actual))
    ]
    names = [
        f"price at maturity {float(golden['maturity'][i]):g}, strike {float(golden['strike'][j]):g}"
        for i, j in np.ndindex(shape)
    ]
    return compare_distributions(*tables, names)


def _note(golden: xr.Dataset, members: Members) -> str:
    """A note that a reader of the two tests needs about the ensemble."""
    if not members.golden or perturbation_of(golden) > 4.0 * ULP:
        return ""
    return (
        "the members of the truth differ by one ulp of fp64 at first: until these differences have "
        "grown, every arithmetic of fewer bits is told from them; give [ensemble] the relative "
        "uncertainty of the initial state as 'perturbation'"
    )
