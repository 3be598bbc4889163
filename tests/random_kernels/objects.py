"""Objects that people's kernels are given: fields and methods of a jitclass; enumerations; types of
arrays as casts and dtypes.

They stand before the loops of some kernels, which may read what they hold.
"""

from __future__ import annotations

import random

from tests.random_kernels.cases import Argument
from tests.random_kernels.expressions import condition, leaf, number
from tests.random_kernels.scopes import Scope

Block = list  # of lines (str) and of (header, Block)
SHARE = 0.1  # of the kernels
OBJECT = Argument("tank", "object", "float32")
IMPORTS = """import enum
from numba import float32, float64, int64
from numba.experimental import jitclass
"""
CLASSES = '''
@jitclass([("volume", float64), ("level", {level}), ("parts", float64[:]), ("count", int64)])
class Tank:

    def __init__(self, volume, level, parts, count):
        self.volume = volume
        self.level = level
        self.parts = parts
        self.count = count

    def filled(self, p):
        return self.volume * p - self.level / 3.0 + self.count

    def drained(self, p):
        self.level = self.level * 0.75 + p
        self.volume -= self.parts[1] * 0.1
        return self.filled(self.level)


class Colour(enum.Enum):
    RED = 0.1
    GREEN = 2.0
    BLUE = 2049.0


class Place(enum.IntEnum):
    FIRST = 0
    LAST = 2
'''
FIELDS = ("tank.volume", "tank.level", "tank.parts[0]", "tank.parts[-1]")
READ = (*FIELDS, "tank.parts[Place.LAST]", "(tank.count * 1.0)")
MEMBERS = ("Colour.RED", "Colour.GREEN", "Colour.BLUE")
UPDATES = ("=", "+=", "-=", "*=", "=")


def given_object(rng: random.Random) -> list[Argument]:
    """The argument of some kernels; none for the others."""
    return [OBJECT] if rng.random() < SHARE else []


def heading(level: str = "float32") -> tuple[str, str]:
    """The text that such a kernel needs at the head of its module: imports, and classes."""
    return IMPORTS, CLASSES.format(level=level)


def objects(scope: Scope, rng: random.Random, count: int = 0) -> Block:
    """Statements of a kernel that is given the object.

    Args:
        scope: of the kernel's body; what is made can be read there afterwards.
        rng: chooses.
        count: of the statements; by chance where it is 0.
    """
    forms = [_cast, _cast_once, _array_alike, _written, _written, _counted, _filled, _drained,
             _compared, _chosen, _valued]  # fmt: skip
    made = rng.sample(forms, count or rng.randint(2, 5))
    outside = scope.inner(rng=rng, indices=[], arrays=[a for a in scope.arrays if a.length])
    body = [item for form in made for item in form(scope, outside)]
    scope.fixed += rng.sample(READ, 3)
    return body


def _array(scope: Scope, outside: Scope) -> str:
    """An array of numbers, any."""
    names = [a.name for a in scope.arrays if not a.whole and a.name != "TABLE"]
    return outside.rng.choice([*names, "tank.parts"])


def _cast(scope: Scope, outside: Scope) -> Block:
    """The type of an array's elements, kept and used as a cast."""
    name = scope.fresh("m")
    given = (outside.rng.choice(("0.1", "3", "2049")), leaf(outside))
    scope.fixed += [f"{name}({value})" for value in given]
    return [f"{name} = {_array(scope, outside)}.dtype.type"]


def _cast_once(scope: Scope, outside: Scope) -> Block:
    """A cast without a name, of a number or an integer."""
    name, given = scope.fresh("t"), outside.rng.choice((number(outside, 1), "COUNT", "7"))
    scope.floats.append(name)
    return [f"{name} = {_array(scope, outside)}.dtype.type({given})"]


def _array_alike(scope: Scope, outside: Scope) -> Block:
    """An array of the type of another one's elements."""
    name = scope.fresh("g")
    scope.rows += (name,)
    made = f"{name} = np.zeros(2, {_array(scope, outside)}.dtype)"
    return [made, f"{name}[1] = {number(outside, 1)}"]


def _written(scope: Scope, outside: Scope) -> Block:
    """Fields, written and updated."""
    target, how = outside.rng.choice(FIELDS), outside.rng.choice(UPDATES)
    return [f"{target} {how} {number(outside, 1)}"]


def _counted(scope: Scope, outside: Scope) -> Block:
    """A field that is an integer."""
    return [f"tank.count {outside.rng.choice(('+= 3', '= 2049', '*= -2', '-= Place.LAST'))}"]


def _filled(scope: Scope, outside: Scope) -> Block:
    """A method that reads."""
    name = scope.fresh("t")
    scope.floats.append(name)
    return [f"{name} = tank.filled({number(outside, 1)})"]


def _drained(scope: Scope, outside: Scope) -> Block:
    """A method that writes and calls another one, perhaps in a loop."""
    called = f"s = tank.drained({outside.rng.choice(('s', leaf(outside)))})"
    if outside.rng.random() < 0.5:
        return [called]
    return [(f"for {scope.fresh('q')} in range({outside.rng.randint(1, 3)}):", [called])]


def _member(outside: Scope) -> str:
    first, second = outside.rng.sample(MEMBERS, 2)
    return f"{first} if {condition(outside, 1)} else {second}"


def _compared(scope: Scope, outside: Scope) -> Block:
    """A member of an enumeration that decides a branch."""
    name, change = scope.fresh("e"), f"s = s * 0.5 - {number(outside, 1)}"
    how = outside.rng.choice(("==", "!=", "is", "is not"))
    test = f"{name} {how} {outside.rng.choice(MEMBERS)}"
    return [f"{name} = {_member(outside)}", (f"if {test}:", [change])]


def _chosen(scope: Scope, outside: Scope) -> Block:
    """One that is a number: an index, an operand."""
    name = scope.fresh("t")
    scope.floats.append(name)
    return [f"{name} = TABLE[Place.LAST] * Place.LAST - TABLE[Place.FIRST] / {leaf(outside)}"]


def _valued(scope: Scope, outside: Scope) -> Block:
    """The value of a member."""
    name = scope.fresh("t")
    scope.floats.append(name)
    return [f"{name} = {outside.rng.choice(MEMBERS)}.value * {number(outside, 1)}"]
