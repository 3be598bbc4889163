"""Further constructs of people's kernels: functions of `@vectorize` on arrays, of `@guvectorize`,
decorated functions, typed lists, flips, triangles, index iterators, order statistics, dtypes.

They stand behind the loops of some kernels; what they make is returned.
"""

from __future__ import annotations

import random

from tests.random_kernels.expressions import leaf, number
from tests.random_kernels.scopes import Array, Scope

Block = list  # of lines (str) and of (header, Block)
SHARE = 0.12  # of the kernels
HELPERS = {
    "smoothed": "@vectorize\ndef smoothed(p, q):\n    return p * 0.3 - q / 3.0",
    "swept": "@guvectorize('(n),()->(n)')\ndef swept(p, q, out):\n    for place in range(p.size):\n"
    "        out[place] = p[place] * q - 0.1",
    "kept": "def kept(function):\n    @functools.wraps(function)\n    def inner(p, q):\n"
    "        return function(p, q)\n    return inner",
    "wrapped": "@kept\ndef wrapped(p, q):\n    return p / 3.0 + q * SCALE",
}
IMPORTS = {
    "smoothed": "from numba import vectorize\n", "swept": "from numba import guvectorize\n",
    "kept": "import functools\n",
}  # fmt: skip
MADE = (
    "np.flip({0}) * {1}", "np.flipud({0}) + {1}", "np.atleast_1d({0}) * {1}",
    "np.atleast_2d({0}) / 3.0",
    "np.triu(np.outer({0}, {0}))", "np.triu(np.outer({0}, {0}), 1)", "np.nancumprod({0})",
    "np.fliplr(np.outer({0}, {0}))", "np.atleast_3d({0}) - {1}", "smoothed({0}, {1})",
    "smoothed({0}, {0})",
)  # fmt: skip
NUMBERS = (
    "np.quantile({0}, 0.3)", "np.nanstd({0})", "np.nanpercentile({0}, 20.0)",
    "numba.float64({1}) * numba.float32({0}[0])", "np.finfo(np.float64).eps * {1}",
    "wrapped({1}, {0}[1])", "min({1}, np.iinfo(np.int32).max) * 0.3",
    "np.searchsorted(np.array([-1.0, 0.5, 3.0]), 0.25 if math.isnan({1}) else {1}) * 0.7",
)  # fmt: skip


def further_constructs(scope: Scope, rng: random.Random) -> tuple[list[str], Block]:
    """Helpers and statements of some kernels; none for the others.

    Args:
        scope: of the kernel's body; what is made is returned with the rest.
        rng: chooses.
    """
    return ([], []) if rng.random() > SHARE else further(scope, rng, rng.randint(1, 3))


def further(scope: Scope, rng: random.Random, count: int) -> tuple[list[str], Block]:
    """A number of further constructs."""
    tables = [a for a in scope.arrays if a.length and not a.whole]
    outside = scope.inner(rng=rng, indices=[], arrays=tables)
    forms = rng.sample((_made, _made, _number, _number, _indices, _elements, _list, _swept), count)
    body = [line for form in forms for line in form(scope, outside, tables)]
    text = str(body)
    wanted = [n for n in HELPERS if f"{n}(" in text or n == "kept" and "wrapped(" in text]
    return [HELPERS[name] for name in wanted], body


def needed(helpers: list[str]) -> str:
    """The text that the helpers need at the head of the module."""
    return "".join(line for name, line in IMPORTS.items() if HELPERS[name] in helpers)


def _named(scope: Scope, outside: Scope, text: str, is_array: bool = False) -> Block:
    name = outside.fresh("g")
    if is_array:
        scope.rows += (name,)
    else:
        scope.floats.append(name)
    return [f"{name} = {text}"]


def _made(scope: Scope, outside: Scope, tables: list[Array]) -> Block:
    form, table = outside.rng.choice(MADE), outside.rng.choice(tables).name
    return _named(scope, outside, form.format(table, leaf(outside)), is_array=True)


def _number(scope: Scope, outside: Scope, tables: list[Array]) -> Block:
    form, table = outside.rng.choice(NUMBERS), outside.rng.choice(tables).name
    return _named(scope, outside, form.format(table, leaf(outside)))


def _indices(scope: Scope, outside: Scope, tables: list[Array]) -> Block:
    """Every element of an array, by its index."""
    fields = [a.name for a in scope.arrays if not (a.length or a.whole)]
    field, place = outside.rng.choice(fields), outside.fresh("e")
    change = f"s = s * 0.5 - {field}[{place}] * {leaf(outside)}"
    return [(f"for {place} in np.ndindex({field}.shape):", [change])]


def _elements(scope: Scope, outside: Scope, tables: list[Array]) -> Block:
    """Every element of an array with its index."""
    fields = [a.name for a in scope.arrays if not a.whole]
    field, place, value = outside.rng.choice(fields), outside.fresh("e"), outside.fresh("v")
    change = f"s += {value} * ({place}[0] - {leaf(outside)})"
    return [(f"for {place}, {value} in np.ndenumerate({field}):", [change])]


def _list(scope: Scope, outside: Scope, tables: list[Array]) -> Block:
    """A typed list that is filled, changed and read."""
    name, value = outside.fresh("m"), outside.fresh("v")
    body: Block = [f"{name} = List()"]
    body += [f"{name}.append({number(outside, 1)} * 1.0)" for _ in range(2)]
    body.append(f"{name}[0] = {name}[1] / 3.0")
    return [*body, (f"for {value} in {name}:", [f"s = s - {value} * 0.3"])]


def _swept(scope: Scope, outside: Scope, tables: list[Array]) -> Block:
    """A function of `@guvectorize`, which writes what it is given."""
    name, table = outside.fresh("g"), outside.rng.choice(tables)
    scope.rows += (name,)
    return [f"{name} = np.zeros({table.length})", f"swept({table.name}, {leaf(outside)}, {name})"]
