"""The options of `sciprec price`, checked: a model, payoffs, and how to price them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sciprec.facets.tables import Section, key
from sciprec.foundation.errors import InputError
from sciprec.foundation.limits import PAYOFF
from sciprec.foundation.shipped import PRICES
from sciprec.heston.parameters import Model
from sciprec.heston.payoff_registry import PayoffEntry, payoff_grid, payoff_named
from sciprec.scenario.asked_price import (
    AskedPayoffs,
    AskedPrice,
    AskedSimulation,
    HestonModel,
    price_tolerance,
    share_of,
    tolerance_note,
)
from sciprec.scenario.complaints import complaint
from sciprec.scenario.toml_file import read_toml

EXAMPLE = "lewis"
USUAL_FIXINGS = 5  # of Asians and lookbacks, where nothing is said
_AS_THEY_ARE = (
    "tolerance", "confidence", "seed", "max_paths", "compensation", "variance_reduction",
)  # fmt: skip


class ModelFile(Section):
    """A file that holds the parameters of a model."""

    source: str = key(
        "author, year and table", 'source = "Heston (1993)"', default="", min_length=1
    )
    model: HestonModel = key("the table [model]", "[model]")


def read_model(path: Path | None, parameters: Mapping[str, float | None]) -> tuple[Model, str]:
    """The model of a file, single parameters replaced, and where it comes from.

    Args:
        path: a TOML file with the table [model] and, where it is published, its `source`, the
            name of one that comes with sciprec, or None.
        parameters: values by name that replace those of the file; None where nothing is given.

    Returns:
        The Model and its source.

    Raises:
        InputError: the file cannot be read, or a parameter is unknown, missing or outside its
            domain; one line per complaint.
    """
    replaced = {name: value for name, value in parameters.items() if value is not None}
    needed = [name for name, field in HestonModel.model_fields.items() if field.is_required()]
    if path is None and not replaced:
        raise InputError(
            f"no model was given; give --model with a TOML file or a name such as {EXAMPLE}, or "
            f"all of {', '.join(map(_option, needed))}"
        )
    content = (
        {"source": "options"} if path is None else read_toml(Path(path), "model", PRICES, EXAMPLE)
    )
    table = content.get("model", {})
    if replaced and isinstance(table, dict):
        content = content | {"model": table | replaced}
    try:
        checked = ModelFile.model_validate(content)
    except ValidationError as error:
        lines = []
        for entry in error.errors():
            name = entry["loc"][-1]
            origin = _option(name) if name in replaced else "options" if path is None else path
            lines.append(f"{origin}: {complaint(ModelFile, dict(entry))}")
        raise InputError("\n".join(lines)) from None
    also = ", ".join(f"{name} = {value:g}" for name, value in replaced.items())
    source = checked.source or f"parameters of {path}"
    source = f"{source}, with {also}" if also and path is not None else source
    return Model(**checked.model.model_dump()), source


def asked_price(options: Mapping[str, Any]) -> tuple[AskedPrice, str]:
    """Make a request for prices of the options of `sciprec price`.

    Args:
        options: their values by name.

    Returns:
        The request, and where its model comes from.

    Raises:
        InputError: a tolerance, the model or a payoff is wrong.
    """
    price_tolerance(options["tolerance"])
    share_of(options["greeks_tolerance"])
    model, source = read_model(options["model"], {n: options[n] for n in HestonModel.model_fields})
    single = {name: options[name] for name in ("fixings", "barrier", "start", "moneyness")}
    payoffs = asked_grid(
        options["payoff"], options["strike"] or (), options["maturity"],
        **single | read_parameters(options["parameter"] or ()),
    )  # fmt: skip
    request = AskedPrice(
        model=HestonModel(**asdict(model)),
        payoffs=payoffs,
        simulation=AskedSimulation(scheme=options["scheme"]),
        greeks_tolerance=options["greeks_tolerance"] if options["greeks"] else None,
        **{name: options[name] for name in _AS_THEY_ARE},
    )
    return request, source


def notes_of(options: Mapping[str, Any], price: AskedPrice) -> list[str]:
    """Notes on how options were understood, where they may be misread.

    Args:
        options: the options by name; price: the request that they make.
    """
    notes = [*price.model.notes(), *tolerance_note("price", options["tolerance"])]
    if options["greeks"]:
        notes += tolerance_note("greek", options["greeks_tolerance"])
    if options["fixings"] is None and "fixings" in price.payoffs.parameters:
        number = price.payoffs.parameters["fixings"]
        notes.append(
            f"{price.payoffs.kind} has {number} fixings, at maturity k / {number}, since --fixings "
            "is not given"
        )
    return notes


def asked_grid(
    name: str, strikes: Sequence[float], maturities: Sequence[float], **others: Any
) -> AskedPayoffs:
    """Payoffs of one kind: every strike at every maturity.

    Args:
        name: of a registered payoff.
        strikes, maturities: numbers, each at most once; empty where none is given.
        others: the payoff's other parameters; None where nothing is given.

    Raises:
        InputError: the name is unknown, a parameter is missing, does not belong to this payoff, or
            is outside its domain.
    """
    entry = payoff_named(name)
    lists = {"strike": tuple(dict.fromkeys(strikes)), "maturity": tuple(dict.fromkeys(maturities))}
    single = {word: value for word, value in others.items() if value is not None}
    names = [word for word, values in lists.items() if values] + list(single)
    _check_names(entry, names)
    if "fixings" in entry.parameters and "fixings" not in entry.optional:
        single.setdefault("fixings", USUAL_FIXINGS)
    payoff_grid(name, lists["strike"], lists["maturity"], **single)
    return AskedPayoffs(
        kind=name, strikes=lists["strike"], maturities_years=lists["maturity"], parameters=single
    )


def _check_names(entry: PayoffEntry, names: Sequence[str]) -> None:
    """Refuse options that do not belong to a payoff, and ask for those that are missing."""
    takes = ", ".join(map(_option, _sorted(entry.parameters)))
    foreign = [name for name in names if name not in entry.parameters]
    if foreign:
        raise InputError(
            f"payoff {entry.name!r} does not take {', '.join(map(_option, foreign))}; it takes "
            f"{takes}: leave the others out"
        )
    required = [p for p in entry.parameters if p not in (*entry.optional, "fixings")]
    missing = [name for name in _sorted(required) if name not in names]
    if missing:
        raise InputError(
            f"payoff {entry.name!r} needs {', '.join(map(_option, missing))}; it takes {takes}"
        )


def _sorted(names: Sequence[str]) -> list[str]:
    """Names of parameters in the order in which options are usually given."""
    order = ("strike", "barrier", "start", "moneyness", "maturity", "fixings")
    return sorted(names, key=lambda name: (order.index(name) if name in order else 9, name))


def read_parameters(written: Sequence[str]) -> dict[str, float]:
    """A payoff's own parameters by name.

    Args:
        written: texts such as "power=2".

    Raises:
        InputError: a text is none of this form.
    """
    parameters = {}
    for text in written:
        name, _, number = (part.strip() for part in text.partition("="))
        if not (option := _option(name)).startswith("--parameter"):
            raise InputError(f"--parameter is given {text!r}; write it as the option {option}")
        try:
            parameters[name] = float(number)
        except ValueError:
            raise InputError(
                f"--parameter is given {text!r}; it takes a name and a number, such as power=2"
            ) from None
    return parameters


def _option(name: str) -> str:
    """The option of the command line for a parameter of a model or a payoff."""
    if name in HestonModel.model_fields or name in PAYOFF or name == "fixings":
        return "--" + name.replace("_", "-")
    return f"--parameter {name}="


def result_as_dict(model: Model, source: str, result: Any) -> dict[str, Any]:
    """Everything about a priced set of payoffs as plain data.

    Args:
        model, source: what read_model returned.
        result: a PriceResult of a list of payoffs.
    """
    from sciprec.heston.semianalytic import analytic

    prices = result.rows()
    for row, payoff in zip(prices, result.payoffs, strict=True):
        analytic_price = analytic.price(model, payoff) if analytic.has_price(payoff) else None
        row["analytic_price"] = analytic_price
    run = ("met", "n_paths", "n_steps", "seconds", "backend", "scheme", "confidence", "seed")
    return {
        "model": asdict(model) | {"source": source},
        "prices": prices,
        **{name: getattr(result, name) for name in run},
        "variance_reduction": result.variance_reduction,
        "levels": [asdict(level) for level in result.levels],
        "sentences": list(result.sentences),
        "fixed_point": result.fixed_point,
    }


def greeks_as_dict(model: Model, result: Any) -> dict[str, Any]:
    """Everything about the greeks of a set of payoffs as plain data.

    Args:
        model: what they were made with.
        result: a GreeksResult of a list of payoffs.
    """
    analytic = [
        p.analytic_greeks(model) if p.knows("analytic_greeks") else {} for p in result.payoffs
    ]
    rows = result.rows()
    for number, row in enumerate(rows):
        row["analytic"] = analytic[number // len(result.greeks)].get(row["greek"])
    run = ("met", "n_paths", "n_steps", "seconds", "variance_reduction")
    return {
        "rows": rows,
        **{name: getattr(result, name) for name in run},
        "levels": [asdict(level) for level in result.levels],
        "sentences": list(result.sentences),
    }
