"""The tables of `sciprec price`: prices with their bounds, how they were made, and the levels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sciprec.cli.console import print_listing, say
from sciprec.drawing.templating import write_listed
from sciprec.foundation.listing import Listing
from sciprec.heston.bounds.pricing import price_listing, volatility_listing
from sciprec.heston.sensitivities.greek_pricing import greek_listing

_SHARES = ("mean_bound", "needed", "mean_error", "mean_error_interval")


def print_prices(content: Mapping[str, Any]) -> None:
    """Tables and sentences of a priced set of payoffs.

    Args:
        content: what sciprec.cli.pricing.price_request.result_as_dict returned.
    """
    prices = content["prices"]
    for words in _model(content):
        say(words)
    say(f"{_payoffs_in_words(content)}:\n")
    print_listing(price_listing(prices), _missed(prices))
    say("")
    if (volatilities := volatility_listing(prices)) is not None:
        print_listing(volatilities)
        say("")
    for word, value in _course(content):
        say(f"{word:20s} {value}")
    say("")
    print_listing(_levels_listing(content["levels"]))
    for sentence in content["sentences"]:
        say(f"note: {sentence}")


def print_greeks(content: Mapping[str, Any]) -> None:
    """One line per payoff and greek: value, bound, and the bound's parts.

    Args:
        content: what sciprec.cli.pricing.price_request.greeks_as_dict returned.
    """
    rows = _greeks(content)
    say("")
    print_listing(greek_listing(rows), _missed(rows))
    say(f"\n{_course_of_greeks(content)}")
    for sentence in content["sentences"]:
        say(f"note: {sentence}")


def write_price_page(content: Mapping[str, Any], path: Path) -> Path:
    """Write the page of a priced set of payoffs: all tables and sentences that are printed.

    Args:
        content: as of `print_prices`, with `greeks` where there are some.
        path: of the file.
    """
    prices, greeks = content["prices"], content.get("greeks")
    good = content["met"] and (greeks is None or greeks["met"])
    course = Listing(("what", "value"), (), _course(content))
    tables = {"Prices": price_listing(prices), "Implied volatilities": volatility_listing(prices)}
    notes = [*_model(content), *content["sentences"]]
    if greeks is not None:
        tables["Greeks"] = greek_listing(_greeks(greeks))
        notes += [_course_of_greeks(greeks), *greeks["sentences"]]
    tables |= {"How they were made": course, "Levels": _levels_listing(content["levels"])}
    verdict = "All bounds are within the tolerance." if good else "A bound misses its tolerance."
    filled = {heading: listing for heading, listing in tables.items() if listing is not None}
    return write_listed(path, f"Prices of {_payoffs_in_words(content)}", verdict, filled, notes)


def print_coverage(rows: Sequence[Mapping[str, Any]]) -> None:
    """One line per case and arithmetic of a coverage run.

    Args:
        rows: fields of CoverageRow, its share, width and passed.
    """
    lines = []
    for row in rows:
        percent = {name: 100 * row[name] for name in _SHARES}
        lines.append((
            row["case"], row["backend"], "holds" if row["passed"] else "fails",
            str(row["n_seeds"]), str(row["covered"]), str(row["required"]),
            f"{percent['mean_bound']:.2g} %", f"{percent['needed']:.2g} %", f"{row['width']:.2f}",
            f"{percent['mean_error']:+.2g} ± {percent['mean_error_interval']:.1g} %",
            f"{row['seconds']:.3g}",
        ))  # fmt: skip
    listing = Listing(
        ("case", "arithmetic", "verdict"),
        ("seeds", "covered", "required", "mean bound", "needed", "ratio", "mean error", "seconds"),
        lines,
        droppable=("seconds", "mean error", "needed", "mean bound"),
    )
    colours = {"holds": "green", "fails": "red"}
    print_listing(listing, lambda number, head, cell: colours[cell] if head == "verdict" else "")


def _payoffs_in_words(content: Mapping[str, Any]) -> str:
    """The payoff, the arithmetic and the confidence."""
    confidence = f"bounds at {100 * content['confidence']:g} %"
    return f"{content['prices'][0]['payoff']} in {content['backend']}, {confidence}"


def _model(content: Mapping[str, Any]) -> list[str]:
    """The source of the model and its parameters."""
    model = {name: value for name, value in content["model"].items() if name != "source"}
    parameters = ", ".join(f"{name} {value:g}" for name, value in model.items())
    return [f"Heston's model: {content['model']['source']}", parameters]


def _greeks(content: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The rows of greeks; the price has a table of its own."""
    return [row for row in content["rows"] if row["greek"] != "price"]


def _course_of_greeks(content: Mapping[str, Any]) -> str:
    """The method of the greeks, in words."""
    return (
        f"greeks: {content['n_paths']} paths, {content['n_steps']} steps, "
        f"{content['seconds']:.3g} seconds; {content['variance_reduction']}"
    )


def _missed(rows: Sequence[Mapping[str, Any]]) -> Callable[[int, str, str], str]:
    """Bounds beyond their tolerances in red."""

    def style(number: int, head: str, cell: str) -> str:
        return "" if head != "± bound" or rows[number]["met"] else "red"

    return style


def _course(content: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The method of the prices, in words."""
    prices = content["prices"]
    rules = list(dict.fromkeys(row["extrapolation"] for row in prices))
    how = content["compensation"]
    lines = [
        ("paths, steps", f"{content['n_paths']}, {content['n_steps']}"),
        ("seconds", f"{content['seconds']:.3g}"),
        ("scheme", content["scheme"]),
        ("variance reduction", content["variance_reduction"]),
        ("steps", "; ".join(_RULES[rule] for rule in rules)),
    ]
    if any(level["level"] == "rounding" for level in content["levels"]):
        lines.append(("rounding error", f"{_share_of_rounding(prices)}, {_LEFT[how]}"))
    if (summary := content["fixed_point"]) is not None:
        words = (
            "{saturations} saturations, {places_short_of_bits} places short of bits, {calls} calls"
        )
        lines.append(("fixed point", words.format_map(summary)))
    return lines


def _share_of_rounding(prices: Sequence[Mapping[str, Any]]) -> str:
    """The largest rounding error over its price, of prices that their bounds tell from zero."""
    resolved = [row for row in prices if abs(row["price"]) > row["bound"]]
    if not resolved:
        return "– (no price is told from zero by its bound)"
    share = max(abs(row["rounding_error"] / row["price"]) for row in resolved)
    of = "the price" if len(resolved) == len(prices) else "the prices that are told from zero"
    return f"{100 * share:.2g} % of {of}"


_LEFT = {
    "none": "left in the price; no residuals",
    "carry": "left in the price; residuals carried",
    "correction": "removed; residuals carried",
}
_RULES = {
    "order 2": "extrapolated (order 2)",
    "order 1": "extrapolated (order 1)",
    "larger difference": "not extrapolated; the larger difference of step sizes is in the bound",
}


def _levels_listing(levels: Sequence[Mapping[str, Any]]) -> Listing:
    """One line per level of step sizes and arithmetics."""
    lines = [
        (row["level"], row["backend"], str(row["n_steps"]), str(row["n_paths"]),
         f"{row['mean']:.6g}", f"{row['variance']:.3g}", f"{row['cost']:g}",
         f"{row['seconds']:.3g}")
        for row in levels
    ]  # fmt: skip
    heads = ("steps", "paths", "mean", "variance", "modelled cost", "seconds")
    droppable = ("modelled cost", "variance", "mean")
    return Listing(("level", "arithmetic"), heads, lines, droppable=droppable)
