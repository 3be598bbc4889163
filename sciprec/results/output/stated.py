"""Attributes of a file for comparison and page, beside units and names of its variables.

Where it says nothing, as files of earlier versions and of others do, names serve that sciprec's own
variables have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import xarray as xr

from sciprec.results.output.variables import VARIABLES

RUN, SECONDS, SCENARIO = "sciprec_run", "sciprec_seconds", "sciprec_scenario"
"""The digest of what a run is, the seconds it took, and its scenario as resolved."""
PRIMARY = "sciprec_primary"
"""Names of variables, the first one that a file has is shown first."""
AUXILIARY = "sciprec_auxiliary"
"""Names of variables that are not compared with the truth."""
_USUAL = "height surface_pressure price parameter"
_ABOUT = ("health", "quantization_info")
BUDGETS = "sciprec_budgets"
"""Names of variables along time alone whose drift from the truth is watched."""
USUAL_BUDGETS = ("mass", "energy")
"""Budgets of a file that names none, as far as it has them."""
FIGURES = ("growth", "map", "lines", "spectrum", "prices", "bounds")
"""Names of the page's figures."""
DRAWN = "sciprec_drawn"
"""The variables by which a file is shown; left out, by the axes."""
IN_FORMAT = "sciprec_in_format"
"""Names of variables whose values are numbers of the format in which the run keeps its state."""
ROUNDED = "sciprec_rounded"
"""A text on the numbers that the arithmetic rounds; {residuals} stands for carried residuals."""
TRUTH_CARRIES = "sciprec_truth_carries"
"""1 where the truth carries residuals in any case, else 0."""
MEMBERS, INPUTS = "sciprec_members", "inputs"
"""The way in which members of an ensemble differ: by their inputs; left out, by a perturbation."""
MONITOR, MONITORED = "sciprec_monitor", "monitor_"
"""The plan of a run's monitor, as JSON; how names of variables with its history begin."""
ADAPTIVE, ADAPTED = "sciprec_adaptive", "adaptive_"
"""The plan of an adaptive run, as JSON; how names of variables with its history begin."""
STAGES = "sciprec_stages"
"""The arithmetics of a run's transforms, as JSON, where they are not those of the run."""
FREE_LENGTHS = "sciprec_free_lengths"
"""1 where results may have other lengths than in the truth, such as the history of an iteration."""
ELEMENTS = "sciprec_elements"
"""1 where every value is a result by itself, so that one without a right digit is reported."""
START = "sciprec_start"
"""Attribute of a variable: the name of the one that holds its values before the run."""
ORIGIN = "sciprec_inputs"
"""The origin of a member's inputs, in words."""
STORED_STATE, STORED_BITS = "stored_state", "stored_bits"
"""The form of a state between steps, in words; bits of its numbers, where scales or a policy say
so.
"""
INITIAL_STATE = "initial_state"
"""Where an initial state comes from that is not the case's own, and how, in words."""
STAGE_WORK = "sciprec_stage_work"
"""Operations, loads and stores of the stages of a step of fp64, counted, as JSON."""
MARKET = "sciprec_market"
"""Spot, rate, dividend yield and payoff of a surface of prices, as JSON."""


def stated(
    *, primary: str = "", auxiliary: str | None = None, drawn: str = "", rounded: str = "",
    truth_carries: bool = False, members: str = "", free_lengths: bool = False,
    elements: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """The attributes of a file that say how it is compared and shown.

    Args:
        primary, auxiliary, drawn: names with spaces between them; left out, the usual ones.
        rounded: sentences, with {residuals} where those of a run are to be told.
        truth_carries: whether fp64 carries residuals, too.
        members: how those of an ensemble differ, if not by a perturbation: "inputs".
        free_lengths: whether results may have other lengths than in the truth, and are then left
            out of the comparison with a sentence.
        elements: whether every value is a result by itself: one that is wrong is told where the
            norm of all hides it.
    """
    values = {PRIMARY: primary, DRAWN: drawn, ROUNDED: rounded, TRUTH_CARRIES: int(truth_carries),
              MEMBERS: members, FREE_LENGTHS: 1 if free_lengths else "",
              ELEMENTS: 1 if elements else ""}  # fmt: skip
    values = {name: value for name, value in values.items() if value != ""}
    return values if auxiliary is None else values | {AUXILIARY: auxiliary}


def primary_name(names: Sequence[str], attributes: Mapping[str, Any]) -> str:
    """The variable among some that summaries show first.

    Args:
        names: of variables, at least one.
        attributes: of their file.
    """
    first = str(attributes.get(PRIMARY, _USUAL)).split()
    return next((name for name in names if name in first), names[0])


def budget_names(attributes: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of the budgets that a file may have.

    Args:
        attributes: of the file.
    """
    named = tuple(str(attributes.get(BUDGETS, "")).split())
    return named or USUAL_BUDGETS


def is_compared(name: str, attributes: Mapping[str, Any]) -> bool:
    """Whether a variable is compared with the truth.

    Args:
        name: of the variable.
        attributes: of its file.
    """
    if is_history(name, attributes):
        return False
    if AUXILIARY in attributes:
        return name not in (*_ABOUT, *str(attributes[AUXILIARY]).split())
    return name not in VARIABLES or VARIABLES[name].compared


def is_history(name: str, attributes: Mapping[str, Any]) -> bool:
    """Whether a variable or axis tells how a run went: what was watched of it, and which
    arithmetics it chose.

    Args:
        name: of the variable or axis.
        attributes: of its file.
    """
    prefixes = ((MONITOR, MONITORED), (ADAPTIVE, ADAPTED))
    return any(of in attributes and name.startswith(begin) for of, begin in prefixes)


def without_history(dataset: xr.Dataset) -> xr.Dataset:
    """The dataset of a run without its history: no variable and no axis of that.

    Args:
        dataset: of a run.
    """
    names = [name for name in dataset.variables if is_history(str(name), dataset.attrs)]
    return dataset.drop_vars(names) if names else dataset
