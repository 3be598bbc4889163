"""Random kernels that sum products in a loop, and random kernels that step a state in time.

`python -m tests.precision.contraction_kernels 200 0` makes so many of each from a seed, and says of
which the engine, or the oracle, thinks otherwise than who has written them.
"""

from __future__ import annotations

import ast
import random
import sys
from dataclasses import dataclass

from sciprec.precision.rewriting.contractions import contractions
from tests.oracles.contracted import contracted


@dataclass(frozen=True)
class Written:
    """A kernel's source, and whether its statements with `# here` are contractions; no others are.
    """

    source: str
    is_sum: bool
    kind: str

    @property
    def marked(self) -> set[int]:
        """Lines that take products into a sum."""
        lines = self.source.splitlines()
        return {n for n, line in enumerate(lines, 1) if self.is_sum and line.endswith("# here")}

    def taken(self) -> tuple[set[int], set[int]]:
        """Lines that the engine, and the oracle, take for such."""
        tree = ast.parse(self.source).body[0]
        engine = {p.at.lineno for c in contractions(tree, _is_fma).values() for p in c.products}
        oracle = {
            n.lineno for n, (kind, _) in contracted(tree).items() if kind in ("product", "fma")
        }
        return engine, oracle


def _is_fma(function: ast.expr) -> bool:
    return ast.unparse(function).endswith("fma")


def taking(rng: random.Random, total: str, x: str, y: str, only: str = "+-") -> str:
    """A statement that takes a product into a sum, in one of its forms."""
    if rng.random() < 0.2:
        x, y = y, x
    plus = [
        f"{total} += {x} * {y}", f"{total} = {total} + {x} * {y}",
        f"{total} = {x} * {y} + {total}", f"{total} = fma({x}, {y}, {total})",
        f"{total} = {total} + {x} * {y} + {y} * {y}",
    ]  # fmt: skip
    minus = [f"{total} -= {x} * {y}", f"{total} = {total} - {x} * {y}"]
    return rng.choice((plus if "+" in only else []) + (minus if "-" in only else [])) + "  # here"


def zero(rng: random.Random, name: str) -> list[str]:
    """A sum begins."""
    return rng.choice((
        [f"{name} = 0.0"], [f"{name} = 0"], [f"{name} = np.float32(0)"],
        [f"{name}, count = 0.0, 1"],
        [f"other = {name} = 0.0"], [f"{name}: float = 0.0"], [f"{name} = -0.0"],
    ))  # fmt: skip


def looped(rng: random.Random, variable: str, over: str, body: list[str]) -> list[str]:
    """A loop over range(over), in one of its forms."""
    inside = [f"    {line}" for line in body]
    form = rng.randrange(5)
    if form == 0:
        return [f"{variable} = 0", f"while {variable} < {over}:", *inside, f"    {variable} += 1"]
    if form == 1:
        return [f"for {variable} in range({over} - 1, -1, -1):", *inside]
    if form == 2:
        return [f"for {variable} in range(0, {over}, 2):", *inside]
    return [f"for {variable} in range({over}):", *inside]


def guarded(rng: random.Random, test: str, body: list[str]) -> list[str]:
    return [f"if {test}:", *(f"    {line}" for line in body)] if rng.random() < 0.2 else body


def indexed(rng: random.Random, array: str, k: str) -> str:
    return rng.choice((f"{array}[{k}]", f"{array}[{array}.size - 1 - {k}]", f"{array}[order[{k}]]",
                       f"{array}[{k} + 1]", f"-{array}[{k}]", f"{array}[{k}, 0]"))  # fmt: skip


# ---- sums --------------------------------------------------------------------------------------


def vectors(rng):
    """Two vectors, or one with itself."""
    a, b = indexed(rng, "a", "k"), indexed(rng, rng.choice("ab"), "k")
    body = guarded(rng, "a[k] > 0.0", [taking(rng, "s", a, b)])
    if rng.random() < 0.3:
        body = ["x = a[k]", taking(rng, "s", "x", b)]
    return [*zero(rng, "s"), *looped(rng, "k", "a.size", body), "return s"]


def elements(rng):
    """Elements of arrays without an index."""
    head = rng.choice(("for x, y in zip(a, b):", "for k, (x, y) in enumerate(zip(a, b)):"))
    if head.startswith("for k"):
        head = "for k, x in enumerate(a):"
        return [*zero(rng, "s"), head, "    " + taking(rng, "s", "x", "b[k]"), "return s"]
    return [*zero(rng, "s"), head, "    " + taking(rng, "s", "x", "y"), "return s"]


def rows(rng):
    """A matrix times a vector."""
    inner = looped(rng, "k", "b.size", [taking(rng, "s", "m[i, k]", "b[k]")])
    return looped(rng, "i", "m.shape[0]", [*zero(rng, "s"), *inner, "out[i] = s"])


def rows_in_place(rng):
    """The same, sums in their array."""
    update = taking(rng, "out[i]", "m[i, k]", "b[k]")
    form = rng.randrange(4)
    if form == 0:
        return looped(rng, "i", "m.shape[0]",
                      ["out[i] = 0.0", *looped(rng, "k", "b.size", [update])])  # fmt: skip
    start = [["out[:] = 0.0"], ["out = np.zeros(b.size)"], ["out.fill(0.0)"]][form - 1]
    order = [("i", "m.shape[0]"), ("k", "b.size")]
    rng.shuffle(order)
    (one, first), (two, second) = order
    nest = looped(rng, one, first, [f"for {two} in range({second}):", f"    {update}"])
    return [*start, *nest, "return out"]


def matrices(rng):
    """Two matrices, loops in any order, the result begun here or by the caller."""
    order = [("i", "m.shape[0]"), ("k", "m.shape[1]"), ("j", "n.shape[1]")]
    rng.shuffle(order)
    update = [taking(rng, "c[i, j]", "m[i, k]", "n[k, j]")]
    if order[2][0] == "j" and rng.random() < 0.3:
        update = ["x = m[i, k]", taking(rng, "c[i, j]", "m[i, k]", "n[k, j]")]
    update[-1] = update[-1].replace(" + n[k, j] * n[k, j]", "").replace(" + m[i, k] * m[i, k]", "")
    body = update
    for variable, over in reversed(order):
        body = [f"for {variable} in range({over}):", *(f"    {line}" for line in body)]
    start = rng.choice(([], ["c[...] = 0.0"], ["c = np.zeros((m.shape[0], n.shape[1]))"],
                        ["for p in range(m.shape[0]):", "    for q in range(n.shape[1]):",
                         "        c[p, q] = 0.0"]))  # fmt: skip
    return [*start, *body, "return c"]


def all_elements(rng):
    """Every element of two matrices."""
    body = looped(rng, "j", "m.shape[1]", [taking(rng, "s", "m[i, j]", "n[i, j]")])
    return [*zero(rng, "s"), *looped(rng, "i", "m.shape[0]", body), "return s"]


def filters(rng):
    """A convolution."""
    inner = looped(rng, "k", "b.size", [taking(rng, "s", "a[i + k]", "b[k]")])
    return looped(rng, "i", "out.size", [*zero(rng, "s"), *inner, "out[i] = s"])


def parts(rng):
    """Two sums in one loop: those of a complex product."""
    body = ["re += a[k] * b[k]  # here", "re -= m[k, 0] * n[k, 0]  # here",
            "im = im + a[k] * n[k, 0]  # here"]  # fmt: skip
    return [*zero(rng, "re"), "im = 0.0", *looped(rng, "k", "a.size", body), "return re, im"]


def eliminations(rng):
    """Products taken from what stands elsewhere."""
    update = taking(rng, "s", "m[i, k]", rng.choice(("out[k]", "b[k]")), "-")
    inner = ["s = a[i]", *looped(rng, "k", "i", [update]), "out[i] = s / m[i, i]"]
    return looped(rng, "i", "a.size", inner)


def twice(rng):
    """A name used for two sums, and read after each."""
    first = [*zero(rng, "s"), *looped(rng, "k", "a.size", [taking(rng, "s", "a[k]", "b[k]")])]
    second = [*zero(rng, "s"), *looped(rng, "k", "a.size", [taking(rng, "s", "b[k]", "b[k]")])]
    return [*first, "out[0] = s", *second, "out[1] = s * s"]


SUMS = (vectors, elements, rows, rows_in_place, matrices, all_elements, filters, parts,
        eliminations, twice)  # fmt: skip


# ---- steps -------------------------------------------------------------------------------------


def stages(rng):
    """The last step of a Runge-Kutta scheme, on what the caller holds."""
    update = taking(rng, "out[i]", "weights[k]", "slopes[k, i]")
    order = [("k", "weights.size"), ("i", "out.size")]
    rng.shuffle(order)
    (one, first), (two, second) = order
    return looped(rng, one, first, looped(rng, two, second, [update]))


def stages_from(rng):
    """The same from a copy of the state."""
    copied = rng.choice((["new = u.copy()"], ["new = np.copy(u)"], ["new[:] = u"],
                         ["for i in range(u.size):", "    new[i] = u[i]"]))  # fmt: skip
    update = taking(rng, "new[i]", "weights[k]", "slopes[k, i]", "+")
    body = looped(rng, "k", "weights.size", looped(rng, "i", "u.size", [update]))
    return [*copied, *body, "return new"]


def stages_of_one(rng):
    """A point's state by a variable."""
    update = taking(rng, "now", "weights[k]", "slopes[k, i]", rng.choice("+-"))
    target = "u" if " - " in update or "-=" in update else rng.choice(("u", "new"))
    inner = ["now = u[i]", *looped(rng, "k", "weights.size", [update]), f"{target}[i] = now"]
    return looped(rng, "i", "u.size", inner)


def given(rng):
    """A number that the caller gives, forced from outside."""
    start = rng.choice((["u = u0"], ["u = 300.0"], ["u = u0 + 0.0"], ["u = state[0]"], []))
    name = "u" if start else "u0"
    return [*start, *looped(rng, "n", "dt.size", [taking(rng, name, "dt[n]", "f[n]", "+")]),
            f"return {name}"]  # fmt: skip


def watched(rng):
    """A state from rest that is looked at between steps."""
    look = rng.choice(("path[n] = u", "if u > 1.0: f[0] = 0.0", "f[n + 1] = f[n] - u",
                       "largest = max(largest, u)"))  # fmt: skip
    body = [taking(rng, "u", "dt[n]", "f[n]"), look]
    rng.shuffle(body)
    return ["u, largest = 0.0, 0.0", *looped(rng, "n", "f.size", body), "return u, largest"]


def relaxed(rng):
    """Toward an equilibrium."""
    form = rng.choice((
        "t[i] = t[i] + rate[i] * (equilibrium[i] - t[i])  # here",
        "t[i] += -rate[i] * dt * (t[i] - equilibrium[i])  # here",
        "t[i] -= rate[i] * dt  # here", "t[i] = t[i] + rate[i] * t[i]  # here",
        "t[i] += rate[n] * forcing[n, i]  # here",
    ))  # fmt: skip
    return looped(rng, "n", "steps", looped(rng, "i", "t.size", [form]))


def step_of_one_size(rng):
    """A step that is no element."""
    factor = rng.choice(("dt", "0.01", "n", "dt / 6.0", "dt * f[0]", "f[0]"))
    start = rng.choice((["u = 0.0"], ["u = u0"]))
    return [*start, *looped(rng, "n", "f.size", [taking(rng, "u", factor, "f[n]")]), "return u"]


def orbits(rng):
    """Places and speeds that move each other."""
    body = ["x[i] += dt[n] * v[i]  # here", "v[i] -= dt[n] * x[i]  # here"]
    rng.shuffle(body)
    return looped(rng, "n", "dt.size", looped(rng, "i", "x.size", body))


def moving(rng):
    """A state of its own kernel, whose slopes follow it."""
    body = [
        "for i in range(u.size):", "    slopes[0, i] = -u[i]", "    slopes[1, i] = -2.0 * u[i]",
        "for k in range(2):", "    for i in range(u.size):",
        "        " + taking(rng, "u[i]", "weights[k]", "slopes[k, i]"),
    ]  # fmt: skip
    start = rng.choice((["u = np.zeros(8)"], ["u[:] = 0.0"]))
    return [*start, *looped(rng, "n", "steps", body), "return u"]


def scalar_stages(rng):
    """A number whose slopes follow it, from rest."""
    body = ["slopes[0] = 1.0 - u", "slopes[1] = 1.0 - u * u",
            *looped(rng, "k", "2", [taking(rng, "u", "weights[k]", "slopes[k]")])]  # fmt: skip
    return ["u = 0.0", *looped(rng, "n", "steps", body), "return u"]


def averages(rng):
    """Running means, recurrences and polynomials."""
    form = rng.choice(("u = u + gain[n] * (f[n] - u)  # here", "u = u * x + f[n]  # here",
                       "u += gain[n] * f[n] * u  # here", "u = gain[n] * u + f[n]  # here",
                       "u = f[n] - gain[n] * u  # here", "u += gain[n] + f[n]  # here",
                       ))  # fmt: skip
    return ["u = 0.0", *looped(rng, "n", "f.size", [form]), "return u"]


def by_two_names(rng):
    """A state from rest that is read by another name."""
    view = rng.choice(("u", "u[:]", "u.reshape(8)", "np.ravel(u)", "u[::-1]"))
    update = taking(rng, "u[0]", "weights[k]", "slopes[k, 0]")
    body = ["slopes[0, 0] = 1.0 - seen[0]", *looped(rng, "k", "2", [update])]
    return ["u = np.zeros(8)", f"seen = {view}", *looped(rng, "n", "steps", body), "return u"]


STEPS = (stages, stages_from, stages_of_one, given, watched, relaxed, step_of_one_size, orbits,
         moving, scalar_stages, averages, by_two_names)  # fmt: skip


def written(seed: int, is_sum: bool) -> Written:
    """The kernel of a seed: its arguments are the names that it does not assign before."""
    rng = random.Random(f"{seed} {is_sum}")
    made = rng.choice(SUMS if is_sum else STEPS)
    body = made(rng)
    tree = ast.parse("\n".join(body))
    names = [n for n in ast.walk(tree) if isinstance(n, ast.Name)]
    stored = {n.id for n in names if isinstance(n.ctx, ast.Store)} - {"u0"}
    known = {"range", "np", "fma", "zip", "enumerate", "max", "float"}
    arguments = sorted({n.id for n in names} - stored - known)
    head = f"def kernel({', '.join(arguments)}):"
    return Written(
        "\n".join([head, *(f"    {line}" for line in body)]) + "\n", is_sum, made.__name__
    )


def mistaken(count: int, seed: int) -> list[str]:
    """Of so many sums and steps, those that are taken for something else."""
    found = []
    for number in range(seed, seed + count):
        for is_sum in (True, False):
            one = written(number, is_sum)
            engine, oracle = one.taken()
            if engine != one.marked or oracle != one.marked:
                lines = [sorted(x) for x in (engine, oracle, one.marked)]
                found.append(
                    f"seed {number}, {one.kind}: engine, oracle, written: {lines}\n{one.source}"
                )
    return found


if __name__ == "__main__":
    COUNT, SEED = map(int, sys.argv[1:3])
    FOUND = mistaken(COUNT, SEED)
    print("\n".join(FOUND))
    print(f"{COUNT} sums and {COUNT} steppers from seed {SEED}: {len(FOUND)} mistaken")
