"""The verb `sciprec price`; heavy imports wait until it is called."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from sciprec.cli.console import NOT_MET, print_json, say
from sciprec.cli.help_pages import App
from sciprec.cli.options import BackendOption, known_payoffs, share_option
from sciprec.cli.progress import Waiting
from sciprec.cli.settings import interruptible
from sciprec.cli.written_files import Html
from sciprec.foundation.errors import InputError


def price(
    payoff: Annotated[str, typer.Option(autocompletion=known_payoffs)],
    maturity: Annotated[list[float], typer.Option(show_default=False)],
    strike: list[float] | None = None,
    model: Path | None = None,
    tolerance: str = "0.1%",
    backend: BackendOption = "fp32",
    fixings: int | None = None,
    barrier: float | None = None,
    start: float | None = None,
    moneyness: Annotated[float | None, share_option()] = None,
    parameter: list[str] | None = None,
    scheme: str = "quadratic_exponential_martingale",
    confidence: Annotated[float, share_option()] = 0.95,
    seed: int = 0,
    greeks: bool = False,
    greeks_tolerance: str = "1%",
    max_paths: int | None = None,
    max_seconds: float | None = None,
    compensation: str = "correction",
    variance_reduction: str = "auto",
    threads: int | None = None,
    spot: float | None = None,
    v0: float | None = None,
    kappa: float | None = None,
    theta: float | None = None,
    sigma: float | None = None,
    rho: float | None = None,
    rate: Annotated[float | None, share_option()] = None,
    dividend_yield: Annotated[float | None, share_option()] = None,
    html: Html = None,
    json: bool = False,
) -> None:
    """Price options under Heston's model by Monte Carlo, with a bound of the whole error.

    Model parameters given as options replace those of the file.

    Args:
        maturity: Years to maturity; repeat it for several.
        strike: Strike, in the units of the spot; repeat it for several, priced from one set of
            paths.
        model: Model, a TOML file or the name of a shipped one such as lewis.
        tolerance: Largest bound that is good enough: 0.1% or 0.001 of the price, or 0.01abs as an
            amount of money; a larger one takes fewer paths.
        fixings: Number of dates at which Asians, lookbacks and barriers look at the spot; more
            dates come nearer to watching it always, and take longer [default: 5; barriers
            continuously].
        barrier: Level of a barrier, watched continuously without --fixings.
        start: Years until a forward-start option starts.
        parameter: Parameter NAME=NUMBER of a payoff of your own; repeat it for several.
        scheme: Scheme by which paths are stepped.
        seed: Seed of the random numbers; another one draws other paths.
        greeks: Compute the Greeks, too, derivatives of prices, each with its bound.
        greeks_tolerance: Largest bound of the Greeks that is good enough, a share such as 1%; a
            larger one takes fewer paths.
        max_paths: Largest number of paths; a larger one reaches smaller bounds and takes longer
            [default: 2^24, for Greeks 2^26].
        max_seconds: Largest number of seconds; a larger one reaches smaller bounds.
        compensation: Compensation of rounding errors: none, carry (of residuals), or correction
            (both).
        variance_reduction: Variance reduction: auto, conditional, antithetic, control or none.
        threads: Number of threads; more are usually faster and change no result [default: all
            cores].
        spot: Price of the asset today.
        v0: Variance of the asset today, per year; a larger one makes options dearer.
        kappa: Rate of the variance's mean reversion, per year; a larger one forgets v0 sooner.
        theta: Variance in the long run, per year; a larger one makes long options dearer.
        sigma: Volatility of the variance; a larger one gives a stronger smile.
        rho: Correlation of asset and variance, from -1 to 1; a smaller one makes low strikes dearer
            relative to high ones.
        json: Print JSON instead of tables.
        moneyness: Strike of a forward-start option as a share of the spot at its start [default:
            1].
        confidence: Probability with which the bound holds, 0.95 or 95%; a larger one gives a wider
            bound.
        rate: Interest rate per year, 0.05 or 5% [default: 0].
        dividend_yield: Dividend yield per year, 0.02 or 2% [default: 0].
        payoff: Name of the payoff, such as call, asian-arithmetic, barrier-down-out.
    """
    options = dict(locals())
    from sciprec import heston
    from sciprec.cli.pricing.price_console import print_greeks, print_prices, write_price_page
    from sciprec.cli.pricing.price_request import (
        asked_price,
        greeks_as_dict,
        notes_of,
        result_as_dict,
    )
    from sciprec.scenario.asked_price import (
        asked_model,
        asked_payoffs,
        greeks_arguments,
        price_arguments,
    )

    request, source = asked_price(options)
    model_given, payoffs = asked_model(request), asked_payoffs(request.payoffs)
    how = {
        "backend": backend, "max_seconds": max_seconds,
        "threads": threads if threads is not None else os.cpu_count() or 1,
    }  # fmt: skip
    of_greeks = greeks_arguments(request)
    with interruptible(lambda: "no price was made"), Waiting(f"pricing in {backend}"):
        result = heston.price(model_given, payoffs, **how, **price_arguments(request))
        derived = of_greeks and heston.greeks(model_given, payoffs, **how, **of_greeks)
    content = result_as_dict(model_given, source, result) | {"compensation": compensation}
    content["sentences"] = notes_of(options, request) + content["sentences"]
    if derived is not None:
        content["greeks"] = greeks_as_dict(model_given, derived)
    page = None if html is None else write_price_page(content, html)
    if json:
        print_json(content)
    else:
        print_prices(content)
        if derived is not None:
            print_greeks(content["greeks"])
        if page is not None:
            say(f"page: {page}")
    if not (result.met and (derived is None or derived.met)):
        raise typer.Exit(NOT_MET)


def options_of_price(words: list[str]) -> tuple[Any, str]:
    """Read words of `sciprec price` as a request in plain data, and the arithmetic.

    Raises:
        InputError: an option is wrong, or is of a single call.
    """
    from sciprec.cli.pricing.price_request import asked_price

    alone = App()
    alone.command()(price)
    options = typer.main.get_command(alone).make_context("sciprec price", list(words)).params
    for name in ("html", "json", "threads", "max_seconds"):
        if options[name]:
            option = "--" + name.replace("_", "-")
            raise InputError(
                f"{option} is given to prices that a baseline is to be of, and belongs to a single "
                "call; leave it out"
            )
    return asked_price(options)[0], options["backend"]
