"""How a payoff is registered under a name, and what all payoffs share."""

from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields

import numpy as np

from sciprec.arguments import Range, whole, word
from sciprec.errors import InputError
from sciprec.limits import FIXINGS, PARAMETER, PAYOFF

_CHOICES = {"kind": ("call", "put"), "direction": ("down", "up"), "knock": ("in", "out")}
_REGISTRY = {}


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
    cls: Callable
    fixed: dict
    parameters: tuple
    optional: tuple

    def __call__(self, **parameters):
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


def payoff(name, **fixed):
    """Register a payoff class under the name that scenarios and the command line use.

    Args:
        name: lower case, words joined by hyphens.
        fixed: the parameters that this name stands for.
    """

    def register(cls):
        left = [one for one in fields(cls) if one.name not in fixed]
        optional = tuple(one.name for one in left if one.default is not MISSING)
        _REGISTRY[name] = PayoffEntry(name, cls, fixed, tuple(f.name for f in left), optional)
        return cls

    return register


def parameter(words, *, least=None, above=None, most=None, default=MISSING):
    """Return a payoff's own parameter, a number of a range, for the body of its class.

    power: float = parameter("a power from 1 to 4", least=1, most=4)

    Args:
        words: what is accepted, for messages.
        least, above, most: the ends of the range, `above` excluded; None where there is none.
        default: the number where none is given; without it the parameter has to be given.
    """
    return field(default=default, metadata={"limits": Range(words, least, above, most)})


def payoffs():
    """Return the registered payoffs, PayoffEntries by name."""
    return dict(_REGISTRY)


def payoff_named(name):
    """Return the PayoffEntry of a name.

    Raises:
        InputError: no payoff has this name.
    """
    return _REGISTRY[word("payoff", name, sorted(_REGISTRY))]


def payoff_grid(name, strikes, maturities, **others):
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
    made = [{key: value for key, value in others.items() if value is not None}]
    for key, values in (("maturity", maturities), ("strike", strikes)):
        if key in entry.parameters:
            made = [{key: value, **rest} for rest in made for value in values]
    return [entry(**parameters) for parameters in made]


class Payoff:
    """What all payoffs share: validation, name, call and put.

    Raises:
        InputError: a number is outside its range in sciprec.limits, fixings is no integer of at
            least 1, or a word is none of those accepted.
    """

    kind = "call"

    def __post_init__(self):
        for one in fields(self):
            object.__setattr__(self, one.name, _checked(one, getattr(self, one.name)))

    @property
    def name(self):
        """The name under which this payoff is registered."""
        for entry in _REGISTRY.values():
            fixed = entry.fixed.items()
            if entry.cls is type(self) and all(getattr(self, key) == word for key, word in fixed):
                return entry.name
        return type(self).__name__

    def check(self, model):
        """Raise InputError where this payoff makes no sense in a model, such as a barrier hit."""

    def intrinsic(self, price, strike):
        """Return max(price - strike, 0) of a call, max(strike - price, 0) of a put."""
        return np.maximum(price - strike if self.kind == "call" else strike - price, 0.0)


def _checked(field, value):
    """Return one parameter in its own type, or refuse it by a sentence."""
    name = field.name
    if name in _CHOICES:
        return word(name, value, _CHOICES[name])
    if value is None and field.default is None:
        return None
    if name == "fixings":
        return whole("fixings", value, *FIXINGS)
    limits = field.metadata.get("limits") or PAYOFF.get(name, PARAMETER)
    return limits.number(name, value)
