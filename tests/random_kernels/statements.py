"""Random statements: lists of lines and of (header, block) pairs."""

from __future__ import annotations

from tests.random_kernels.expressions import condition, integer, number
from tests.random_kernels.scopes import DIMENSIONS, INDICES, Array, Scope

Block = list  # of lines (str) and of (header, Block)
UPDATES = ("+", "-", "*", "+", "-", "/")
NEIGHBOURS = (
    "math.sqrt({0}) * {1} + {2}", "{2} / ({1} * {0})", "math.sqrt({0}) / {2} - {1}",
)  # fmt: skip
REDUCED = {
    "s": ("{0} += {1}", "{0} = {0} + {1}", "{0} = {1} + {0}", "{0} = {0} + {1} - {2}"),
    "d": ("{0} -= {1}", "{0} = {0} - {1}", "{0} = {2} + ({0} - {1})"),
    "p": ("{0} *= {1}", "{0} = {0} * {1}", "{0} = {1} * {0}"),
    "q": ("{0} /= {1}", "{0} = {0} / {1}", "{0} = {0} * {2} / {1}"),
    "h": ("{0} = max({0}, {1})", "{0} = max({1}, {0})", "{0} = max({0}, {1}, {2})",
          "{0} = max(max({0}, {1}), {2})"),
    "l": ("{0} = min({0}, {1})", "{0} = min({1}, {0})", "{0} = min({1}, {2}, {0})",
          "{0} = min({2}, min({0}, {1}))"),
}  # fmt: skip
"""How a parallel loop may reduce into a variable, by the first letter of its name."""
ROWS_REDUCED = ("{0} += {1}", "{0} -= {1}", "{0} = {0} + {1}", "{0} = {1} + {0}", "{0} = {0} - {1}",
                "{0} *= {1}", "{0} /= {1}", "{0} = {0} * {1}")  # fmt: skip
MAPPED = ("{} * {}", "{} + {}", "{} - {}", "np.maximum({}, {})", "{} / {}")


def rendered(block: Block, indent: int = 0) -> list[str]:
    """The lines of a block."""
    lines = []
    for item in block:
        if isinstance(item, str):
            lines.append("    " * indent + item)
        else:
            lines += ["    " * indent + item[0], *rendered(item[1] or ["pass"], indent + 1)]
    return lines


def statements(scope: Scope, count: int) -> Block:
    """Some statements in a row; variables that they make are in the scope afterwards."""
    return [item for _ in range(count) for item in statement(scope)]


def statement(scope: Scope) -> Block:
    """One statement, or a few that belong together."""
    kind = scope.rng.random()
    if kind < 0.34:
        return assignment(scope)
    if kind < 0.62 and scope.writable():
        return [store(scope)]
    if kind < 0.74 and scope.depth < 4:
        return branch(scope)
    if kind < 0.80 and scope.depth < 3:
        return repeated(scope)
    if kind < 0.83 and len(_assignable(scope)) > 1:
        first, second = scope.rng.sample(_assignable(scope), 2)
        return [f"{first}, {second} = {second}, {number(scope, 2)}"]
    if kind < 0.87 and scope.reduced:
        return [reduction(scope)]
    if kind < 0.91 and scope.totals:
        return [f"{scope.rng.choice(scope.totals)} {scope.rng.choice('++-*')}= {number(scope, 2)}"]
    if kind < 0.94:
        name = scope.fresh("w")
        made = f"{name} = {number(scope, 2)}"
        scope.floats.append(name)
        return [made]
    return assignment(scope)


def _assignable(scope: Scope) -> list[str]:
    return [f for f in scope.floats if f not in scope.reduced]


def assignment(scope: Scope) -> Block:
    """A new value of a variable, or a change of it."""
    targets = _assignable(scope)
    if not targets or scope.chance(0.3):
        name = scope.fresh("t")
        line = f"{name} = {number(scope, 2)}"
        scope.floats.append(name)
        return [line]
    target = scope.rng.choice(targets)
    if scope.chance(0.4):
        return [f"{target} {scope.rng.choice(UPDATES)}= {number(scope, 2)}"]
    return [f"{target} = {number(scope, 2)}"]


def store(scope: Scope) -> str:
    """An element written or changed in place."""
    target = scope.element(scope.rng.choice(scope.writable()), near=scope.chance(0.1))
    if scope.chance(0.35):
        return f"{target} {scope.rng.choice(UPDATES)}= {number(scope, 2)}"
    if scope.chance(0.05):
        return f"{target} = {integer(scope, 1)}"
    return f"{target} = {number(scope, 3)}"


def branch(scope: Scope) -> Block:
    """if, perhaps with else."""
    taken = statements(scope.inner(), scope.rng.randint(1, 2))
    header = f"if {condition(scope, 1)}:"
    if scope.chance(0.5):
        return [(header, taken), ("else:", statements(scope.inner(), 1))]
    if scope.indices and not scope.parallel and scope.depth == 1 and scope.chance(0.15):
        taken.append(scope.rng.choice(("continue", "break")))
    return [(header, taken)]


def repeated(scope: Scope) -> Block:
    """A short loop: over a literal range, over a table, or while a counter allows."""
    rng, kind = scope.rng, scope.rng.random()
    tables = [a for a in scope.arrays if a.length and not a.whole]
    tables = [a for a in tables if a.name != "TABLE"] or tables
    if kind < 0.25:
        counter = scope.fresh("k")
        scope.integers.append(counter)
        inner = scope.inner()
        body = [f"{counter} += 1", *statements(inner, rng.randint(1, 2))]
        test = f"while {counter} < {rng.randint(1, 4)} and {condition(scope, 1)}:"
        return [f"{counter} = 0", (test, body)]
    if kind < 0.65 and tables:
        table, value = rng.choice(tables).name, scope.fresh("v")
        inner = scope.inner(fixed=[*scope.fixed, value])
        forms = [(f"for {value} in {table}:", [])]
        place = scope.fresh("e")
        forms.append((f"for {place}, {value} in enumerate({table}):", [place]))
        header, integers = rng.choice(forms)
        inner.integers += integers
        body = statements(inner, rng.randint(0, 1))
        if targets := _assignable(inner):
            body.append(f"{rng.choice(targets)} {rng.choice('+-')}= ({number(inner, 1)}) * {value}")
        return [(header, body)]
    counter = scope.fresh("k")
    inner = scope.inner()
    inner.integers.append(counter)
    return [(f"for {counter} in range({rng.randint(1, 4)}):", statements(inner, rng.randint(1, 2)))]


def reduction(scope: Scope) -> str:
    """One of the forms in which a parallel loop may reduce into a variable."""
    target = scope.rng.choice(scope.reduced)
    form = scope.rng.choice(REDUCED[target[0]])
    return form.format(target, f"({number(scope, 2)})", f"({number(scope, 1)})")


def rows_reduced(scope: Scope) -> tuple[Block, Block]:
    """Arrays that a parallel loop reduces rows into: what makes them, and the loop's statements."""
    rng = scope.rng
    inner = scope.inner(parallel=True, indices=[(INDICES[0], 0, 0)])
    inner.fixed = [f for f in inner.fixed + inner.floats if f not in scope.reduced]
    inner.floats = []
    matrices = [a for a in scope.arrays if a.ndim == 2 and not (a.written or a.whole)]
    tables = [a for a in scope.arrays if a.length and not a.whole]
    made, loop = [], []
    for _ in range(rng.choice((0, 0, 1, 1, 2))):
        source = rng.choice(matrices if matrices and scope.chance(0.6) else tables)
        row = source.name if source.length else f"{source.name}[{INDICES[0]}]"
        if scope.chance(0.6):
            row = f"({row} * ({number(inner, 1)}))"
        name, start = scope.fresh("b"), rng.choice(("zeros({0})", "full({0}, 0.1)", "ones({0})"))
        made.append(f"{name} = np.{start.format(source.length or DIMENSIONS[1])}")
        loop.append(rng.choice(ROWS_REDUCED).format(name, row))
        scope.rows += (name,)
    return made, loop


def field_loop(scope: Scope, ndim: int, parallel: bool = False) -> Block:
    """A loop nest over the first `ndim` dimensions, with what is computed there."""
    rng = scope.rng
    inner = scope.inner(parallel=parallel or scope.parallel)
    if parallel:  # what iterations would share cannot be assigned in them
        inner.fixed = [f for f in (*scope.fixed, *scope.floats) if f not in scope.reduced]
        inner.floats, inner.totals = [], ()
    headers = []
    for axis in range(ndim):
        index, size = INDICES[axis], DIMENSIONS[axis]
        below, above = rng.choice([(0, 0), (0, 0), (1, 1), (1, 0), (2, 1)])
        prange = parallel and axis == 0
        if prange or rng.random() < 0.7:
            last = f"{size} - {above}" if above else size
            ends = f"{below}, {last}" if below else last
            header = f"{'prange' if prange else 'range'}({ends})"
        elif rng.random() < 0.5:
            header = f"range({size} - {above + 1}, {below - 1}, -1)"
        else:
            header = f"range({below}, {size}{f' - {above}' if above else ''}, 2)"
        if not (below or above or parallel) and rng.random() < 0.25:
            below = 1  # the first element's neighbour is the last one
        inner.indices.append((index, below, above))
        headers.append(f"for {index} in {header}:")
    body = statements(inner, rng.randint(1, 3))
    if parallel and inner.reduced:
        body += [reduction(inner)]
    made = [f for f in inner.floats if f not in scope.floats]
    if inner.writable():
        body.append(store(inner))
        if made:
            target = inner.element(rng.choice(inner.writable()), near=False)
            body.append(f"{target} {rng.choice(UPDATES)}= {rng.choice(made)}")
    for header in reversed(headers):
        body = [(header, body)]
    return body


def neighbours(scope: Scope, ndim: int) -> Block:
    """In one kernel of three with coefficients: a loop that the compiler does not turn into vectors
    of iterations, but may turn into one of two neighbouring coefficients.
    """
    rng = scope.extra
    names = [a.name for a in scope.arrays if a.length and a.name != "TABLE"]
    if not names or rng.random() > 0.35:
        return []
    element = f"[{', '.join(INDICES[:ndim])}]"
    line = rng.choice(NEIGHBOURS).format(f"x{element}", f"{names[0]}[0]", f"{names[0]}[1]")
    body: Block = [f"y{element} = {line}"]
    for index, size in reversed(list(zip(INDICES[:ndim], DIMENSIONS, strict=False))):
        body = [(f"for {index} in range({size}):", body)]
    return body


def over_elements(scope: Scope) -> Block:
    """In one kernel of three with coefficients: a loop over them, into the variable `s`."""
    names = [a.name for a in scope.arrays if a.length and a.name != "TABLE"]
    if not names or scope.extra.random() > 0.35:
        return []
    line = scope.extra.choice(("s = s * 0.3 + {0}", "s = {0} - s / 3.0", "s += {0} * {0}"))
    return [(f"for value in {names[0]}:", [line.format("value")])]


def whole_arrays(scope: Scope) -> Block:
    """A statement about whole arrays."""
    rng = scope.rng
    targets = [a for a in scope.arrays if a.written and a.ndim and not a.length]
    if not targets:
        return []
    target = rng.choice(targets)
    alike = [a for a in scope.arrays if a.ndim == target.ndim and not (a.length or a.whole)]
    outside = scope.inner(arrays=[a for a in scope.arrays if a.length])
    one = rng.choice(alike).name
    other = rng.choice(alike).name if scope.chance(0.5) else f"({number(outside, 1)})"
    mapped = rng.choice(MAPPED).format(*rng.sample([one, other], 2))
    full = ", ".join(":" for _ in range(target.ndim))
    forms = [f"{target.name}[{full}] = {mapped}", f"{target.name} {rng.choice('+-*')}= {other}"]
    if target.ndim == 1:
        forms += [f"{target.name}[1:] = {one}[:-1]", f"{target.name}[::-1] = {mapped}",
                  f"{target.name}[:2] += {other if other[0] == '(' else '0.3'}"]  # fmt: skip
        forms += [f"{target.name}[:] = np.sqrt(abs({one})) - {other}", f"{target.name}[:] = 0.1"]
    return [rng.choice(forms)]


def table_sum(scope: Scope) -> Block:
    """A reduction of a whole array that is never empty, into a new variable."""
    tables = [a.name for a in scope.arrays if a.length and not a.whole]
    name = scope.fresh("r")
    whole = scope.rng.choice(tables)
    form = scope.rng.choice(
        ("np.sum({0})", "{0}.max()", "np.dot({0}, {0})", "np.mean({0})", "min({0})", "{0} @ {0}",
         "np.prod({0})", "{0}.sum() * {0}.min()")
    )  # fmt: skip
    scope.floats.append(name)
    return [f"{name} = {form.format(whole)}"]


def local_array(scope: Scope, ndim: int) -> Block:
    """An array made in the kernel."""
    name = scope.fresh("b")
    size = ", ".join(DIMENSIONS[:ndim])
    made = scope.rng.choice(("np.zeros(({0},))", "np.full(({0},), 0.1)", "np.ones(({0},))"))
    scope.arrays.append(Array(name, ndim, written=True))
    return [f"{name} = {made.format(size)}"]
