"""Registration of payoffs under a name, and the base class of all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, asdict, dataclass, field, fields
from typing import Any, cast

import numpy as np

from sciprec.foundation.arguments import Range, integer, shown, word
from sciprec.foundation.errors import InputError, meant
from sciprec.foundation.limits import FIXINGS, PARAMETER, PAYOFF
from sciprec.foundation.loading import load_plugins
from sciprec.heston.observations import Observation
from sciprec.heston.parameters import Model

_CHOICES = {"kind": ("call", "put"), "direction": ("down", "up"), "knock": ("in", "out")}
MOST_MEANT = 4  # payoffs that one name may stand for
_REGISTRY: dict[str, PayoffEntry] = {}


@dataclass(frozen=True)
class PayoffEntry:
    """A registered payoff; calling it with the remaining parameters makes one.

    Attributes:
        name: as in scenarios and on the command line.
        cls: the payoff's class.
        fixed: the parameters that the name stands for.
        parameters, optional: names of those left to give, and of those that have a default.
    """

    name: str
    cls: type[Payoff]
    fixed: dict[str, str]
    parameters: tuple[str, ...]
    optional: tuple[str, ...]

    def __call__(self, **parameters: Any) -> Payoff:
        """Return the payoff, or say which parameters it takes.

        Raises:
            InputError: a parameter is missing, unknown or outside its domain.
        """
        missing = [p for p in self.parameters if p not in self.optional and p not in parameters]
        unknown = [p for p in parameters if p not in self.parameters]
        if missing or unknown:
            raise InputError(
                f"payoff {self.name!r} was given {', '.join(parameters) or 'nothing'}; accepted: "
                f"{', '.join(p + ' (optional)' * (p in self.optional) for p in self.parameters)}"
            )
        return self.cls(**self.fixed, **parameters)


def payoff(name: str, **fixed: str) -> Callable[[type], type]:
    """Register a payoff class under the name that scenarios and the command line use.

    Args:
        name: lower case, words joined by hyphens.
        fixed: the parameters that this name stands for.

    Returns:
        The decorator, to be written above @dataclass(frozen=True, kw_only=True).

    Raises:
        InputError: what is decorated is no Payoff, no dataclass, or has no maturity.
    """

    def register(cls: Any) -> Any:
        names = [item.name for item in fields(cls)] if "__dataclass_fields__" in vars(cls) else []
        if not issubclass(cls, Payoff) or "maturity" not in names:
            raise InputError(
                f"payoff {name!r} is given the class {cls.__name__}; accepted: a class derived "
                "from heston.Payoff, with a field 'maturity' and, below the name, the decorator "
                "dataclass(frozen=True, kw_only=True)"
            )
        free = [item for item in fields(cls) if item.name not in fixed]
        optional = tuple(item.name for item in free if item.default is not MISSING)
        _REGISTRY[name] = PayoffEntry(name, cls, fixed, tuple(f.name for f in free), optional)
        return cls

    return register


def parameter(
    words: str,
    *,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    default: Any = MISSING,
) -> Any:
    """Return a payoff's own parameter, a number of a range, for the body of its class.

    power: float = parameter("a power from 1 to 4", least=1, most=4)

    Args:
        words: what is accepted, for messages.
        least, above, most: the ends of the range, `above` excluded; None where there is none.
        default: the number where none is given; without it the parameter has to be given.
    """
    return field(default=default, metadata={"limits": Range(words, least, above, most)})


def payoffs() -> dict[str, PayoffEntry]:
    """Return the registered payoffs, PayoffEntries by name, those of this package first.

    Raises:
        InputError: a plugin cannot be imported.
    """
    load_plugins()
    return dict(_REGISTRY)


def payoff_named(name: str) -> PayoffEntry:
    """Return the PayoffEntry of a name.

    Raises:
        InputError: no payoff has this name.
    """
    entries = payoffs()
    if isinstance(name, str) and name in entries:
        return entries[name]
    message = f"unknown payoff {shown(name)}; known: {', '.join(sorted(entries))}"
    raise InputError(message + _meant_payoff(str(name), sorted(entries)))


def _meant_payoff(name: str, names: list[str]) -> str:
    """Return "; did you mean ...?" with the payoffs that have all words of a name in any order, or
    the nearest one. Puts are meant where the name has that word, calls where it has not."""
    words = set(name.lower().replace("_", "-").replace(" ", "-").split("-")) - {"and", "call"}
    alike = [entry for entry in names if ("put" in entry.split("-")) == ("put" in words)]
    fitting = [entry for entry in alike if words and words <= set(entry.split("-"))]
    if 0 < len(fitting) <= MOST_MEANT:
        return f"; did you mean {' or '.join(map(repr, fitting))}?"
    return meant(name, alike) or meant(name, names)


def described(payoff: Payoff) -> str:
    """Return the name of a payoff with its numbers: "call, maturity 1, strike 100"."""
    parameters: Mapping[str, Any] = asdict(cast(Any, payoff))
    values = (f"{name} {value:g}" if isinstance(value, (int, float)) else f"{name} {value}"
            for name, value in sorted(parameters.items()) if value is not None)  # fmt: skip
    return ", ".join((payoff.name, *values))


def check_payoffs(payoffs: Sequence[Payoff], model: Model) -> None:
    """Make sure that a model can be asked for some payoffs.

    Raises:
        InputError: it cannot; of several payoffs the sentence names the first that is refused.
    """
    refused = []
    for number, payoff in enumerate(payoffs):
        try:
            payoff.check(model)
        except InputError as error:
            refused.append((number, error))
    if not refused:
        return
    number, first = refused[0]
    if len(payoffs) == 1:
        raise first
    more = f"; {len(refused) - 1} more are refused, too" if len(refused) > 1 else ""
    raise InputError(
        f"payoff {number + 1} of {len(payoffs)} ({described(payoffs[number])}): {first}{more}"
    ) from None


def payoff_grid(
    name: str, strikes: Sequence[float], maturities: Sequence[float], **others: float | None
) -> list[Payoff]:
    """Return payoffs of one name: every strike at every maturity, by maturity.

    Args:
        name: of a registered payoff.
        strikes, maturities: numbers in units of currency and years; either is left out where the
            payoff has no such parameter.
        others: the payoff's other parameters; those that are None are left out.

    Raises:
        InputError: the name is unknown, or a parameter is missing, unknown or outside its domain.
    """
    entry = payoff_named(name)
    rows = [{key: value for key, value in others.items() if value is not None}]
    for key, values in (("maturity", maturities), ("strike", strikes)):
        if key in entry.parameters:
            rows = [{key: value, **rest} for rest in rows for value in values]
    return [entry(**parameters) for parameters in rows]


class Payoff:
    """The base class of payoffs; a new one is a class derived from this one.

    It has the field `maturity` (years), an `observation` and a `payment`. That is enough for prices
    and greeks with a bound. The other methods are formulas that make these cheaper or tighter; a
    method left as it is here stands for a formula that nobody knows.

    Attributes:
        kind: "call" or "put".
        proportional: whether payments are proportional to the spot: delta is price / spot, gamma 0.

    Raises:
        InputError: a number is outside its range (`parameter`, or checks.limits for the usual
            names), fixings is no integer of at least 1, or a word is none of those accepted.
    """

    maturity: float
    kind = "call"
    proportional = False

    def __post_init__(self) -> None:
        for item in fields(self):  # type: ignore[arg-type]
            object.__setattr__(self, item.name, _checked(item, getattr(self, item.name)))

    @property
    def name(self) -> str:
        """The name under which this payoff is registered."""
        for entry in _REGISTRY.values():
            fixed = entry.fixed.items()
            if entry.cls is type(self) and all(getattr(self, key) == word for key, word in fixed):
                return entry.name
        return type(self).__name__

    @classmethod
    def knows(cls, formula: str) -> bool:
        """Whether payoffs of this class have a formula of their own, by the name of the method."""
        return getattr(cls, formula) is not getattr(Payoff, formula)

    @property
    def integrates_level(self) -> bool:
        """Whether spots at dates alone are observed, and `level_piece` is known."""
        has_formula = self.proportional or self.knows("level_piece")
        return has_formula and not self.observation.every_step

    def intrinsic(self, price: np.ndarray | float, strike: np.ndarray | float) -> np.ndarray:
        """Return max(price - strike, 0) of a call, max(strike - price, 0) of a put."""
        return np.maximum(price - strike if self.kind == "call" else strike - price, 0.0)

    def check(self, model: Model) -> None:
        """Raise InputError where this payoff makes no sense in a model, such as a barrier hit."""

    @property
    def observation(self) -> Observation:
        """The observations of a path that it needs: see sciprec.heston.observations."""
        raise NotImplementedError

    def payment(self, rows: np.ndarray) -> np.ndarray:
        """Return the undiscounted payments at maturity in binary64, shape (n_paths,).

        Args:
            rows: what the observation has seen, shape (rows, n_paths).
        """
        raise NotImplementedError

    def analytic_price(self, model: Model) -> float:
        """Return the semi-analytic price in units of currency."""
        raise NotImplementedError

    def analytic_greeks(self, model: Model) -> dict[str, float]:
        """Return the derivatives of the semi-analytic price, those of analytic.GREEKS."""
        raise NotImplementedError

    def controls(self) -> tuple[Payoff, ...]:
        """Payoffs of known price close to this one, beside the spot and the European put."""
        return ()

    def expected(self, model: Model, forward: np.ndarray, spread: np.ndarray) -> np.ndarray:
        """Return the expected payments of lognormal spots at maturity, undiscounted.

        Args:
            model: a Model.
            forward, spread: mean of the spot and variance of its logarithm, shape (n_paths,).
        """
        raise NotImplementedError

    def level_piece(self, rows: np.ndarray) -> tuple:
        """Return slope, shift, lower and upper of sciprec.heston.options.level_payments.

        Args:
            rows: of the observation, for paths whose log spots lack y.
        """
        return self.payment(rows), 0.0, -np.inf, np.inf  # where it is proportional

    def bounded_twin(self, model: Model) -> tuple[Payoff, dict[str, float]]:
        """Return a payoff of bounded payments, and by how much its price and greeks differ."""
        return self, {}

    def payment_scale(self, model: Model) -> float:
        """Return G of bounds.rare, discounted: the size of payments that end in the money by
        chance. Of a payoff from outside sciprec it is measured, too, and the larger one counts."""
        size = spot_deviation(model, self.maturity)
        return model.discount(self.maturity) * min(size, getattr(self, "strike", np.inf))

    def certain(self, model: Model) -> float:
        """Return the discounted payment if the spot follows its forward, or 0."""
        return 0.0

    def ceiling(self, model: Model) -> float:
        """Return a price that the true one does not exceed; infinite where none is known."""
        return float(self.analytic_price(model)) if self.knows("analytic_price") else np.inf


def spot_deviation(model: Model, years: float) -> float:
    """Return the spot's deviation after some years, F sqrt(E[integrated variance])."""
    reach = -np.expm1(-model.kappa * years) / model.kappa
    spread = model.theta * years + (model.v0 - model.theta) * reach
    return model.forward(years) * np.sqrt(spread)


def _checked(item: Field, value: Any) -> Any:
    """Return one parameter in its own type, or refuse it by a sentence."""
    name = item.name
    if name in _CHOICES:
        return word(name, value, _CHOICES[name])
    if value is None and item.default is None:
        return None
    if name == "fixings":
        return integer("fixings", value, *FIXINGS)
    limits = item.metadata.get("limits") or PAYOFF.get(name, PARAMETER)
    return limits.number(name, value)
