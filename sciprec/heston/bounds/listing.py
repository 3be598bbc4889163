"""Prices with their bounds in words: a line per payoff."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from sciprec.foundation.listing import Listing, Summary, counted

if TYPE_CHECKING:
    from sciprec.heston.bounds.pricing import BoundedResult, PriceResult

PARAMETERS = ("strike", "barrier", "moneyness", "start", "maturity", "fixings")
_PARTS = ("statistical", "discretisation", "rounding")
_NUMBERS = ("price", "bound", *_PARTS, "rounding_error", "tolerance")


def price_rows(result: PriceResult) -> list[dict[str, Any]]:
    """Each payoff with its parameters, its price, and the parts of its bound, as plain data."""
    rows = []
    for k, payoff in enumerate(result.payoffs):
        row = {"payoff": payoff.name} | asdict(cast(Any, payoff))
        row |= {name: float(np.ravel(getattr(result, name))[k]) for name in _NUMBERS}
        row |= {"met": row["bound"] <= row["tolerance"], "extrapolation": result.extrapolation[k]}
        rows.append(row)
    return rows


def price_listing(rows: Sequence[Mapping[str, Any]]) -> Listing:
    """One line per payoff: its parameters, price, bound, and the bound's parts.

    Args:
        rows: of `price_rows`; with `analytic_price`, the true price or None, where that is known.
    """
    names = ("payoff",) if len({row["payoff"] for row in rows}) > 1 else ()
    shown = [name for name in PARAMETERS if any(row.get(name) is not None for row in rows)]
    truth = any(row.get("analytic_price") is not None for row in rows)
    lines = []
    for row in rows:
        cells = [row[name] for name in names] + [parameter(row, name) for name in shown]
        cells += within_bound(row["price"], row["bound"])
        cells += [f"{row[name]:.2g}" for name in (*_PARTS, "tolerance")]
        if truth:
            exact = row["analytic_price"]
            cells.append("–" if exact is None else within_bound(exact, row["bound"])[0])
        lines.append(tuple(cells))
    return Listing(
        names,
        (*shown, "price", "± bound", *_PARTS, "tolerance", *("semi-analytic",) * truth),
        lines,
        droppable=("tolerance", *_PARTS, "semi-analytic"),
    )


def price_summary(result: PriceResult) -> Summary:
    """What is shown of prices at a prompt and in a notebook."""
    return Summary(title("price", result), price_listing(price_rows(result)), course(result))


def title(what: str, result: BoundedResult) -> str:
    """The heading of prices or greeks: whose, in what, and whether they are good enough."""
    names = ", ".join(dict.fromkeys(payoff.name for payoff in result.payoffs))
    met = "within the tolerance" if result.met else "the tolerance is missed"
    return f"{what} of {names} in {result.backend}, bounds at {100 * result.confidence:g} %: {met}"


def course(result: BoundedResult) -> tuple[str, ...]:
    """How a result was made, and what its reader has to know."""
    made = (
        f"{counted(result.n_paths, 'path')}, {counted(result.n_steps, 'step')}, "
        f"{result.seconds:.3g} s; {result.scheme}; {result.variance_reduction}"
    )
    return (made, *(f"note: {sentence}" for sentence in result.sentences))


def parameter(row: Mapping[str, Any], name: str) -> str:
    """A parameter of a payoff; a dash where it has none."""
    return "–" if row.get(name) is None else f"{row[name]:g}"


def within_bound(price: float, bound: float) -> tuple[str, str]:
    """Price and bound as text: the bound's first two digits, the price to the same place.

    A price that is zero there has no sign, as those that rounding makes a little negative.

    Args:
        price, bound: in units of currency.
    """
    if not (math.isfinite(price) and math.isfinite(bound) and bound > 0):
        return f"{price:.10g}", f"{bound:.2g}"
    places = max(0, 1 - math.floor(math.log10(bound)))
    return f"{price:z.{places}f}", f"{bound:.{places}f}"
