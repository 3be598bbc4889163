"""Random tuples of several types, and counts that begin with a literal.

Both are typed by the literals in them: a tuple of several types takes no other index, and a count
that changes in a loop is another type there.
"""

from __future__ import annotations

import random

from tests.random_kernels.expressions import leaf, number
from tests.random_kernels.scopes import Scope

Block = list  # of lines (str) and of (header, Block)
SHARE = 0.2  # of the kernels
HELPERS = {
    "both": "def both(p, q):\n    return p * q, p - SCALE",
    "stepped": "def stepped(p, count):\n    for place in range(count % 4):\n"
    "        p = p * 0.75 + 0.1\n    return p - count",
}
WHOLE = ("0", "1", "2", "-1", "2049", "70000")


def tuples_and_counts(scope: Scope, rng: random.Random, parallel: bool) -> tuple[list[str], Block]:
    """Helpers and statements of some kernels; none for the others.

    Args:
        scope: of the kernel's body; what is made can be read there afterwards.
        rng: chooses.
        parallel: whether the kernel has a parallel loop.
    """
    if rng.random() > SHARE:
        return [], []
    forms = [_mixed, _nested, _unpacked, _counted, _placed, _iterated]
    if parallel:  # where Numba itself takes no tuple of tuples
        forms.remove(_nested)
    made = rng.sample(forms, rng.randint(1, 3))
    body = [item for form in made for item in form(scope, rng)]
    text = str(body)
    return [source for name, source in HELPERS.items() if f"{name}(" in text], body


def _mixed(scope: Scope, rng: random.Random) -> Block:
    """A tuple of a number, an integer and perhaps an array."""
    name, table = scope.fresh("m"), rng.choice([a.name for a in scope.arrays if a.length])
    items = [number(scope, 1), rng.choice(WHOLE), rng.choice((table, "0.1", "np.float32(0.1)"))]
    rng.shuffle(items)
    reads = [f"{name}[{n}][0]" if i == table else f"{name}[{n}] * 1.0" for n, i in enumerate(items)]
    scope.fixed += [f"({read})" for read in reads]
    return [f"{name} = ({', '.join(items)})"]


def _nested(scope: Scope, rng: random.Random) -> Block:
    """A tuple in a tuple, read by literals and by its length."""
    name = scope.fresh("m")
    line = f"{name} = (({rng.choice(WHOLE)}, {number(scope, 1)}), {leaf(scope)})"
    scope.fixed += [f"{name}[0][1]", f"{name}[-1]", f"(len({name}) * 0.5)"]
    return [line]


def _unpacked(scope: Scope, rng: random.Random) -> Block:
    """The tuple that a helper returns, kept whole or taken apart."""
    called = f"both({number(scope, 1)}, {leaf(scope)})"
    if rng.random() < 0.4:
        name = scope.fresh("m")
        scope.fixed += [f"{name}[0]", f"{name}[1]"]
        return [f"{name} = {called}"]
    first, second = scope.fresh("t"), scope.fresh("t")
    scope.floats += [first, second]
    return [f"{first}, {second} = {called}"]


def _counted(scope: Scope, rng: random.Random) -> Block:
    """A count that is given to a call in a loop that changes it."""
    count, change = scope.fresh("k"), rng.choice(("+= 1", "+= 2", "-= 1", "*= 2"))
    inside = [f"s = stepped({rng.choice(('s', leaf(scope)))}, {count})", f"{count} {change}"]
    if rng.random() < 0.3:
        inside.reverse()
    if rng.random() < 0.3:  # the loop inside another, which counts too
        inside = [(f"for {scope.fresh('k')} in range(2):", inside), f"{count} += 1"]
    scope.fixed.append(f"({count} * 1.0)")
    loop = (f"for {scope.fresh('k')} in range({rng.randint(1, 3)}):", inside)
    return [f"{count} = {rng.choice(WHOLE)}", loop]


def _placed(scope: Scope, rng: random.Random) -> Block:
    """A literal by its name: the index of a tuple of several types, and a count after it."""
    name, place = scope.fresh("m"), scope.fresh("k")
    body: Block = [
        f"{place} = {rng.choice('01')}",
        f"{name} = ({leaf(scope)}, {rng.choice(WHOLE)})",
        f"s = {name}[{place}] * 1.0",
    ]
    if rng.random() < 0.5:
        inside = [f"s = stepped(s, {place})", f"{place} += 1"]
        body.append((f"while {place} < {rng.randint(1, 3)}:", inside))
    return body


def _iterated(scope: Scope, rng: random.Random) -> Block:
    """A loop over a tuple of numbers."""
    value = scope.fresh("v")
    items = ", ".join(rng.choice((leaf(scope), "0.1", "3.0")) for _ in range(rng.randint(2, 4)))
    change = rng.choice((f"s += {value}", f"s = s * 0.5 - {value}", f"s = max(s, {value})"))
    return [(f"for {value} in ({items}):", [change])]
