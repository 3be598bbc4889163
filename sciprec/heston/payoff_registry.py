"""How a payoff is registered under a name, and what all payoffs share."""

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields

import numpy as np

from sciprec.arguments import whole, word
from sciprec.errors import InputError
from sciprec.limits import FIXINGS, PAYOFF

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
        left = [field for field in fields(cls) if field.name not in fixed]
        optional = tuple(field.name for field in left if field.default is not MISSING)
        _REGISTRY[name] = PayoffEntry(name, cls, fixed, tuple(f.name for f in left), optional)
        return cls

    return register


def payoffs():
    """Return the registered payoffs, PayoffEntries by name."""
    return dict(_REGISTRY)


def payoff_named(name):
    """Return the PayoffEntry of a name.

    Raises:
        InputError: no payoff has this name.
    """
    return _REGISTRY[word("payoff", name, sorted(_REGISTRY))]


class Payoff:
    """What all payoffs share: validation, name, call and put.

    Raises:
        InputError: a number is outside its range in sciprec.limits, fixings is no integer of at
            least 1, or a word is none of those accepted.
    """

    kind = "call"

    def __post_init__(self):
        for field in fields(self):
            value = _checked(field.name, getattr(self, field.name), field.default)
            object.__setattr__(self, field.name, value)

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


def _checked(name, value, default):
    """Return one parameter in its own type, or refuse it by a sentence."""
    if name in _CHOICES:
        return word(name, value, _CHOICES[name])
    if value is None and default is None:
        return None
    if name == "fixings":
        return whole("fixings", value, *FIXINGS)
    return PAYOFF[name].number(name, value)
