"""Greeks with their bounds in words: a line per payoff and greek."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from sciprec.foundation.listing import Listing, Summary
from sciprec.heston.bounds.listing import PARAMETERS, course, parameter, title, within_bound

if TYPE_CHECKING:
    from sciprec.heston.sensitivities.greek_pricing import GreeksResult

_PARTS = ("statistical", "discretisation", "rounding", "difference")
_NUMBERS = ("value", "bound", *_PARTS, "tolerance")


def greek_rows(result: GreeksResult) -> list[dict[str, Any]]:
    """Each payoff's greeks with the parts of their bounds, as plain data."""
    rows = []
    for k, payoff in enumerate(result.payoffs):
        for column, name in enumerate(result.greeks):
            row = {"payoff": payoff.name} | asdict(cast(Any, payoff)) | {"greek": name}
            row |= {n: float(np.atleast_2d(getattr(result, n))[k, column]) for n in _NUMBERS}
            rows.append(row | {"met": row["bound"] <= row["tolerance"]})
    return rows


def greek_listing(rows: Sequence[Mapping[str, Any]]) -> Listing:
    """One line per payoff and greek: value, bound, and the bound's parts.

    Args:
        rows: of `greek_rows`; with `analytic`, the true value or None, where that is known.
    """
    names = ("payoff", "greek") if len({row["payoff"] for row in rows}) > 1 else ("greek",)
    shown = [name for name in PARAMETERS if len({row.get(name) for row in rows}) > 1]
    truth = any(row.get("analytic") is not None for row in rows)
    lines = []
    for row in rows:
        cells = [row[name] for name in names] + [parameter(row, name) for name in shown]
        cells += within_bound(row["value"], row["bound"])
        cells += [f"{row[name]:.2g}" for name in (*_PARTS, "tolerance")]
        if truth:
            exact = row["analytic"]
            cells.append("–" if exact is None else within_bound(exact, row["bound"])[0])
        lines.append(tuple(cells))
    return Listing(
        names,
        (*shown, "value", "± bound", *_PARTS, "tolerance", *("semi-analytic",) * truth),
        lines,
        droppable=("tolerance", *_PARTS, "semi-analytic"),
    )


def greek_summary(result: GreeksResult) -> Summary:
    """What is shown of greeks at a prompt and in a notebook."""
    return Summary(title("greeks", result), greek_listing(greek_rows(result)), course(result))
