"""Calls of NumPy's functions that are more than one operation: moments, matrices, gamma.

They stand behind the loops of some kernels, so that all others stay as they were; what they make is
returned.
"""

from __future__ import annotations

import random

from tests.random_kernels.expressions import leaf, number
from tests.random_kernels.scopes import Array, Scope

Block = list  # of lines (str) and of (header, Block)
SHARE = 0.15  # of the kernels
OF_NUMBERS = (
    "np.radians({0})", "np.deg2rad({0})", "math.radians({0})", "np.degrees({0})",
    "np.rad2deg({0})", "math.degrees({0})", "np.clip({0}, -0.7, {1})", "sum(divmod({0}, {1}))",
    "round(np.fmin(np.fmax({0}, -20.0), 20.0)) * 0.3", "np.round({0}, 2)", "round({0}, 1)",
    "np.isclose({0}, {1}) * 0.7",
)  # fmt: skip
OF_ARRAYS = (
    "np.var({0})", "np.std({0})", "abs(np.median({0}))", "np.nansum({0})", "np.nanmean({0})",
    "{0}.var() - {0}.std()", "np.linalg.norm({0})", "np.linalg.norm({0}, {1})", "np.nanvar({0})",
    "np.nanmedian({0})", "np.nanprod({0})", "np.average({0})",
)  # fmt: skip
OF_FILLED = (
    "np.ptp({0})", "np.nanmax({0})", "np.nanmin({0})", "np.percentile({0}, 20.0)",
    "np.nanquantile({0}, 0.8)", "np.trapezoid({0})", "np.trapezoid({0}, {0})",
    "np.interp(0.3, {0}, {0})", "sum({0})",
)  # fmt: skip
OF_MATRICES = ("np.linalg.det({0})", "np.trace({0})", "np.linalg.norm({0}, 'fro')")
MADE_OF_ARRAYS = (
    "np.diff({0})", "np.outer({0}, {1})", "np.clip({0}, -0.5, 0.75)", "np.diff({0}, 2)",
    "np.convolve({1}, TABLE)", "np.correlate(TABLE, {1}, 'full')", "np.cumprod({0})",
    "np.sum(np.outer({1}, TABLE), axis=0)", "np.cumsum(np.outer(TABLE, {1}), axis=1)",
    "np.tril(np.outer({1}, {1}))", "np.vander({1}, 3)", "np.nancumsum({0})", "np.kron({1}, TABLE)",
)  # fmt: skip
MADE_OF_NUMBERS = (
    "np.linspace({0}, {1}, 4)", "np.linspace({0}, {1}, num=1)", "np.eye(3) * ({0})",
    "np.eye(2, 3, k=1) * ({0})", "np.identity(2) * ({0})", "np.arange(0.5, 3.0, 0.7) * ({0})",
    "np.tri(3) * ({0})",
)  # fmt: skip
MADE_OF_MATRICES = (
    "np.linalg.solve({0}, {1})", "np.linalg.inv({0})", "np.linalg.cholesky({0})",
    "np.linalg.solve({0}, {0})",
)  # fmt: skip
OF_VECTORS = ("1", "np.inf", "-np.inf", "0", "2", "None")
OF_ROWS = ("1", "-1", "np.inf", "-np.inf", "None")
SPECIAL = (
    "math.gamma({0})", "math.lgamma({0})", "np.sinc({0})", "math.gamma({0} * 8.0)",
    "special.erfc({0})", "special.erf({1} * 8.0)", "special.gammaln({0})",
)  # fmt: skip


def library_calls(scope: Scope, rng: random.Random) -> Block:
    """Statements of some kernels; none for the others.

    Args:
        scope: of the kernel's body; what is made is returned with the rest.
        rng: chooses.
    """
    return [] if rng.random() > SHARE else calls(scope, rng, rng.randint(1, 3), [_matrix])


def calls_and_solutions(scope: Scope, rng: random.Random) -> Block:
    """Statements for a kernel that may end because a matrix is singular."""
    return calls(scope, rng, 4, [_matrix, _solved])


def calls(scope: Scope, rng: random.Random, count: int, matrices: list) -> Block:
    """Some statements, or pairs of them; `matrices` are the forms of those about matrices."""
    arrays = [a for a in scope.arrays if not a.whole]
    tables = [a for a in arrays if a.length]
    outside = scope.inner(arrays=tables, rng=rng)
    forms = [_of_numbers, _of_arrays, _of_arrays, _made, *matrices]
    if scope.elementary:
        forms = [_special, *forms]
    body = []
    for form in rng.sample(forms, count):
        body += form(scope, outside, arrays, tables)
    return body


def _number_of(scope: Scope, outside: Scope, text: str) -> Block:
    name = outside.fresh("g")
    scope.floats.append(name)
    return [f"{name} = {text}"]


def _array_of(scope: Scope, outside: Scope, text: str) -> Block:
    name = outside.fresh("g")
    scope.rows += (name,)
    return [f"{name} = {text}"]


def _of_numbers(scope: Scope, outside: Scope, arrays: list[Array], tables: list[Array]) -> Block:
    form = outside.rng.choice(OF_NUMBERS)
    if form.startswith("sum("):
        first, second = outside.fresh("g"), outside.fresh("g")
        scope.floats += [first, second]
        return [f"{first}, {second} = divmod({number(outside, 1)}, {leaf(outside)})"]
    return _number_of(scope, outside, form.format(number(outside, 1), leaf(outside)))


def _special(scope: Scope, outside: Scope, arrays: list[Array], tables: list[Array]) -> Block:
    form = outside.rng.choice(SPECIAL)
    return _number_of(scope, outside, form.format(f"({number(outside, 1)})", leaf(outside)))


def _of_arrays(scope: Scope, outside: Scope, arrays: list[Array], tables: list[Array]) -> Block:
    rng = outside.rng
    if rng.random() < 0.3:
        return _number_of(scope, outside, rng.choice(OF_FILLED).format(rng.choice(tables).name))
    flat = [a for a in arrays if a.length or a.ndim < 3]
    chosen, form = rng.choice(flat), rng.choice(OF_ARRAYS)
    order = rng.choice(OF_VECTORS)
    if "{1}" in form and ("inf" in order or chosen.ndim > 1):  # of nothing there is no largest
        chosen = rng.choice(tables)
    return _number_of(scope, outside, form.format(chosen.name, order))


def _made(scope: Scope, outside: Scope, arrays: list[Array], tables: list[Array]) -> Block:
    rng = outside.rng
    if rng.random() < 0.5:
        form = rng.choice(MADE_OF_NUMBERS)
        return _array_of(scope, outside, form.format(number(outside, 1), leaf(outside)))
    flat = [a.name for a in arrays if a.length or a.ndim < 3]
    text = rng.choice(MADE_OF_ARRAYS).format(rng.choice(flat), rng.choice(tables).name)
    return _array_of(scope, outside, text)


def _matrix(scope: Scope, outside: Scope, arrays: list[Array], tables: list[Array]) -> Block:
    """A small matrix, and what is made of it, or an argument's reflections."""
    rng = outside.rng
    matrices = [a.name for a in arrays if a.ndim == 2 and not a.length]
    if matrices and rng.random() < 0.3:
        first, second = outside.fresh("g"), outside.fresh("g")
        scope.rows += (first, second)
        return [f"{first}, {second} = np.linalg.qr({rng.choice(matrices)})"]
    body, name, table, _ = _small(outside, tables)
    if table.length == 3 and rng.random() < 0.2:
        return [*body, *_array_of(scope, outside, f"np.cross({name}[0], {name}[2])")]
    form = rng.choice((*OF_MATRICES, "np.linalg.norm({0}, {1})"))
    return [*body, *_number_of(scope, outside, form.format(name, rng.choice(OF_ROWS)))]


def _solved(scope: Scope, outside: Scope, arrays: list[Array], tables: list[Array]) -> Block:
    """A small matrix, and what raises LinAlgError where it is singular."""
    body, name, _, alike = _small(outside, tables)
    form = outside.rng.choice(MADE_OF_MATRICES)
    return [*body, *_array_of(scope, outside, form.format(name, alike))]


def _small(outside: Scope, tables: list[Array]) -> tuple[Block, str, Array, str]:
    """A statement of a small square matrix, its name, a table as long, another name."""
    rng = outside.rng
    table, name = rng.choice(tables), outside.fresh("g")
    alike = rng.choice([t.name for t in tables if t.length == table.length])
    line = f"{name} = np.outer({table.name}, {alike}) + np.eye({table.length}) * ({leaf(outside)})"
    body: Block = [line]
    if rng.random() < 0.7:
        body.append(f"{name}[0, 1] = {number(outside, 1)}")
    return body, name, table, alike
