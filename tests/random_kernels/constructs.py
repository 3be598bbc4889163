"""Constructs that people write around their arithmetic: types as values, starred arguments, named
tuples, texts of exceptions, functions made by `@vectorize`, sums of tuples.

They stand before the loops of some kernels, which may read what they make.
"""

from __future__ import annotations

import random

from tests.random_kernels.expressions import leaf, number
from tests.random_kernels.scopes import Scope

Block = list  # of lines (str) and of (header, Block)
SHARE = 0.15  # of the kernels
HELPERS = {
    "_starred": "def collected(p, *rest):\n    for value in rest:\n"
    "        p = p * 0.75 + value\n    return p - len(rest)",
    "_blended": "@vectorize\ndef blended(p, q):\n    return p * 0.3 + q / 3.0",
    "_named": 'Pair = namedtuple("Pair", "first second")',
}
IMPORTS = {
    "_named": "from collections import namedtuple\n",
    "_blended": "from numba import vectorize\n",
}


def constructs(scope: Scope, rng: random.Random) -> tuple[list[str], Block]:
    """Helpers and statements of some kernels; none for the others.

    Args:
        scope: of the kernel's body; what is made can be read there afterwards.
        rng: chooses.
    """
    if rng.random() > SHARE:
        return [], []
    forms = [_typed, _starred, _named, _blended, _summed, _guarded, _asked]
    made = rng.sample(forms, rng.randint(1, 3))
    body = [item for form in made for item in form(scope, rng)]
    return [source for form, source in HELPERS.items() if form in [f.__name__ for f in made]], body


def imports(helpers: list[str]) -> str:
    """The imports of the helpers at the head of the module."""
    return "".join(line for name, line in IMPORTS.items() if HELPERS[name] in helpers)


def _typed(scope: Scope, rng: random.Random) -> Block:
    """The type of a number, kept and used as a cast."""
    name, line = scope.fresh("m"), f"type({number(scope, 1)})"
    scope.fixed += [f"{name}({rng.choice(('0.1', '3', '2049'))})", f"{name}({leaf(scope)})"]
    return [f"{name} = {line}"]


def _starred(scope: Scope, rng: random.Random) -> Block:
    """A tuple given as arguments, alone or behind others."""
    name, more = scope.fresh("m"), rng.choice(("", f"{leaf(scope)}, "))
    line = f"{name} = ({number(scope, 1)}, {leaf(scope)}, {leaf(scope)})"
    scope.fixed += [f"collected({more}*{name})", f"{name}[1]"]
    return [line]


def _named(scope: Scope, rng: random.Random) -> Block:
    """A named tuple, its fields by name, by place and by unpacking."""
    name = scope.fresh("m")
    body = [f"{name} = Pair({number(scope, 1)}, second={leaf(scope)})"]
    scope.fixed += [f"{name}.first", f"{name}[1]", f"{name}.second"]
    if rng.random() < 0.4:
        first, second = scope.fresh("t"), scope.fresh("t")
        scope.floats += [first, second]
        body.append(f"{first}, {second} = {name}")
    return body


def _blended(scope: Scope, rng: random.Random) -> Block:
    """A ufunc of Numba's, on numbers."""
    name, line = scope.fresh("t"), f"blended({number(scope, 1)}, {leaf(scope)})"
    scope.fixed.append(f"blended({leaf(scope)}, {rng.choice(('0.7', leaf(scope)))})")
    scope.floats.append(name)
    return [f"{name} = {line}"]


def _summed(scope: Scope, rng: random.Random) -> Block:
    """Python's sum of a tuple."""
    name = scope.fresh("t")
    items = ", ".join(number(scope, 1) for _ in range(rng.randint(2, 4)))
    scope.floats.append(name)
    return [f"{name} = sum(({items}))"]


def _guarded(scope: Scope, rng: random.Random) -> Block:
    """An exception with a computed text, which is not raised."""
    name = rng.choice(("SCALE", "COUNT"))
    return [("if y.ndim > 7:", [f'raise ValueError(f"{{{name}}} is refused, {{y.ndim}}")'])]


def _asked(scope: Scope, rng: random.Random) -> Block:
    """isinstance of a number, which Numba takes where no branch chooses it."""
    name, kinds = scope.fresh("t"), rng.choice(("float", "(int, float)", "int"))
    asked = number(scope, 1)
    while " if " in asked:
        asked = number(scope, 1)
    line = f"{leaf(scope)} if isinstance({asked}, {kinds}) else 0.3"
    scope.floats.append(name)
    return [f"{name} = {line}"]
