"""Whole random kernels, the same for the same seed."""

from __future__ import annotations

import ast
import random

from tests.random_kernels.cases import Argument, Case
from tests.random_kernels.complex_parts import complex_loop, given_complex
from tests.random_kernels.constructs import constructs, imports
from tests.random_kernels.expressions import condition, leaf, number
from tests.random_kernels.further_constructs import further, further_constructs, needed
from tests.random_kernels.library_calls import calls_and_solutions, library_calls
from tests.random_kernels.objects import OBJECT, given_object, objects
from tests.random_kernels.objects import heading as heading_of_objects
from tests.random_kernels.scopes import DIMENSIONS, Array, Scope
from tests.random_kernels.statements import (
    Block,
    field_loop,
    local_array,
    neighbours,
    over_elements,
    rendered,
    rows_reduced,
    statements,
    table_sum,
    whole_arrays,
)
from tests.random_kernels.tuples import tuples_and_counts
from tests.random_kernels.whole_expressions import expressions, whole_expressions

HEADER = """import math

import numpy as np
from numba import prange

from sciprec.precision.operations.reduce import accumulate, fma, product

SCALE = {scale}
COUNT = {count}
TABLE = np.array([{table}])
"""
LENGTHS = (
    (5, 3, 2), (9, 2, 2), (14, 4, 2), (8, 3, 2), (20, 3, 2), (5, 3, 2), (9, 4, 2), (12, 2, 3),
    (1, 3, 2), (0, 2, 3), (6, 0, 2), (70, 2, 1),
)  # fmt: skip
LAYOUTS = ("plain", "plain", "plain", "plain", "strided", "reversed", "offset")


def random_case(seed: int) -> Case:
    """The kernel of a seed: source and arguments."""
    rng = random.Random(seed)
    ndim = rng.choice((1, 1, 1, 2, 2, 3))
    parallel = rng.random() < 0.1
    helpers, functions = _helpers(rng)
    arrays, arguments = _arguments(rng, ndim)
    arguments += (pairs := given_complex(random.Random(f"{seed} complex")))
    arguments += [] if parallel else given_object(random.Random(f"{seed} object"))
    scope = Scope(
        rng,
        extra=random.Random(f"{seed} extra"),
        arrays=[*arrays, Array("TABLE", length=3)],
        fixed=["SCALE", *(a.name for a in arguments if a.kind == "number")],
        integers=["COUNT", *(a.name for a in arguments if a.kind == "integer")],
        functions=functions,
        elementary=rng.random() < 0.12,
    )
    names = ("tuples", "library", "constructs", "whole", "further", "objects")
    later = [random.Random(f"{seed} {name}") for name in names]
    holds = OBJECT in arguments
    more, body = _body(scope, ndim, parallel, holds, *later)
    if pairs:
        body[-1:-1] = complex_loop(scope, random.Random(f"{seed} pairs"))
    helpers += more
    names = ", ".join(a.name for a in arguments)
    table = ", ".join(str(rng.choice((0.1, 0.25, -1.7, 3.0, 1e-3, 2049.0))) for _ in range(3))
    scale, count = rng.choice((0.1, 0.5, 3.7, -0.3, 1e-4)), rng.choice((2, 3, 2049))
    first, classes = heading_of_objects() if holds else ("", "")
    source = ("import cmath\n" if pairs else "") + imports(helpers) + heading(body, helpers) + first
    source += HEADER.format(scale=scale, count=count, table=table) + classes
    source += "\n\n".join(["", *helpers, "\n".join(rendered([(f"def kernel({names}):", body)]))])
    return Case(seed, ast.unparse(ast.parse(source)) + "\n", tuple(arguments))


def heading(body: Block, helpers: list[str]) -> str:
    """The text that further constructs need at the head of the module."""
    text = str(body)
    words = {
        "List()": "from numba.typed import List\n", "numba.": "import numba\n",
        "special.": "from scipy import special\n",
    }  # fmt: skip
    return needed(helpers) + "".join(line for word, line in words.items() if word in text)


def further_case(seed: int) -> Case:
    """A kernel of further constructs alone."""
    rng = random.Random(f"{seed} further alone")
    ndim, dtype = rng.choice((1, 1, 2)), rng.choice(("float64", "float32"))
    shape = rng.choice(((5, 3), (2, 4), (0, 2), (1, 3)))[:ndim]
    arguments = (
        Argument("x", "array", dtype, shape, rng.choice(LAYOUTS)),
        Argument("c", "array", rng.choice(("float64", "float32")), (rng.randint(2, 4),)),
        Argument("a", "number"),
    )
    arrays = [Array("x", ndim), Array("c", length=arguments[1].shape[0]), Array("TABLE", length=3)]
    scope = Scope(rng, arrays, floats=["s"], fixed=["a", "SCALE"])
    helpers, made = further(scope, rng, rng.randint(2, 4))
    body = ["s = a * 0.5", *made, f"return {', '.join([*scope.rows, *scope.floats])}"]
    source = heading(body, helpers) + HEADER.format(scale=0.3, count=2, table="0.1, -1.7, 3.0")
    source += "\n\n".join(["", *helpers, "\n".join(rendered([("def kernel(x, c, a):", body)]))])
    return Case(seed, ast.unparse(ast.parse(source)) + "\n", arguments)


def object_case(seed: int) -> Case:
    """A kernel of objects, enumerations and casts alone."""
    rng = random.Random(f"{seed} objects alone")
    arguments = (
        Argument("x", "array", rng.choice(("float64", "float32")), (rng.randint(2, 4),)),
        Argument("a", "number"),
        OBJECT,
    )
    scope = Scope(rng, [Array("x", length=arguments[0].shape[0]), Array("TABLE", length=3)])
    scope.fixed += ["a", "SCALE"]
    scope.floats.append("s")
    body: Block = ["s = a * 0.5", *objects(scope, rng, rng.randint(3, 6))]
    body += [f"s -= {number(scope, 1)}" for _ in range(2)]
    body.append(f"return {', '.join([*scope.rows, *scope.floats])}")
    first, classes = heading_of_objects()
    source = first + HEADER.format(scale=0.3, count=2049, table="0.1, -1.7, 3.0") + classes
    source += "\n".join(["", *rendered([("def kernel(x, a, tank):", body)])])
    return Case(seed, ast.unparse(ast.parse(source)) + "\n", arguments)


def library_case(seed: int) -> Case:
    """A kernel of calls of NumPy's functions alone, which compiles sooner than others."""
    rng = random.Random(f"{seed} library alone")
    ndim, size = rng.choice((1, 2, 2)), rng.randint(2, 4)
    dtype, layout = rng.choice(("float64", "float32")), rng.choice(LAYOUTS)
    shape = rng.choice(((3, 3), (5, 2), (2, 4), (9, 2), (0, 2), (1, 3), (140, 2)))[:ndim]
    arguments = (
        Argument("x", "array", dtype, shape, layout),
        Argument("c", "array", "float64", (size,)),
        Argument("a", "number"),
    )
    arrays = [Array("x", ndim), Array("c", length=size), Array("TABLE", length=3)]
    scope = Scope(rng, arrays, floats=["a"], fixed=["SCALE"], elementary=rng.random() < 0.3)
    body = [*calls_and_solutions(scope, rng), f"return {', '.join([*scope.rows, *scope.floats])}"]
    source = heading(body, []) + HEADER.format(scale=0.3, count=2, table="0.1, -1.7, 3.0")
    source += "\n".join(["", *rendered([("def kernel(x, c, a):", body)])])
    return Case(seed, ast.unparse(ast.parse(source)) + "\n", arguments)


def whole_case(seed: int) -> Case:
    """A kernel of expressions of whole arrays alone."""
    rng = random.Random(f"{seed} whole alone")
    ndim, common = rng.choice((1, 1, 2, 3)), rng.choice(("float64", "float32", ""))
    shape = rng.choice(((5, 3, 2), (1, 3, 4), (0, 2, 3), (4, 1, 2), (3, 4, 1)))[:ndim]
    arguments = []
    for name in ("x", "y", "z"):
        dtype = common or rng.choice(("float32", "float64"))
        layout = rng.choice((*LAYOUTS, "transposed") if ndim > 1 else LAYOUTS)
        arguments.append(Argument(name, "array", dtype, shape, layout))
    arguments.append(Argument("a", "number"))
    arrays = [*(Array(name, ndim) for name in "xyz"), Array("TABLE", length=3)]
    scope = Scope(rng, arrays, fixed=["a", "SCALE"], elementary=rng.random() < 0.2)
    body = [*expressions(scope, rng, rng.randint(1, 3))]
    body.append(f"return {', '.join([*scope.rows, 'a'])}")
    source = HEADER.format(scale=0.3, count=2, table="0.1, -1.7, 3.0")
    source += "\n".join(["", *rendered([("def kernel(x, y, z, a):", body)])])
    return Case(seed, ast.unparse(ast.parse(source)) + "\n", tuple(arguments))


def _arguments(rng: random.Random, ndim: int) -> tuple[list[Array], list[Argument]]:
    lengths = rng.choice(LENGTHS)
    arrays, arguments = [], []
    common = rng.choice(("float64", "float32", "float64", "float32", ""))

    def add(name: str, axes: int, written=False, length=0, whole=False):
        dtype = "int64" if whole else common or rng.choice(("float32", "float64"))
        if whole and rng.random() < 0.3:
            dtype = "int32"
        shape = (length,) if length else lengths[:axes]
        layout = rng.choice((*LAYOUTS, "transposed") if axes > 1 else LAYOUTS)
        arrays.append(Array(name, axes if not length else 1, written, whole, length))
        arguments.append(Argument(name, "array", dtype, shape, layout))

    add("x", ndim)
    if rng.random() < 0.5:
        add("z", rng.randint(1, ndim))
    if rng.random() < 0.5:
        add("c", 1, length=rng.randint(2, 4))
    if rng.random() < 0.2:
        add("w", rng.randint(1, ndim), whole=True)
    add("y", ndim, written=True)
    if rng.random() < 0.3:
        add("u", rng.randint(1, ndim), written=True)
    if rng.random() < 0.5:
        arguments.append(Argument("a", "number", rng.choice(("float64", "float64", "float32"))))
    if rng.random() < 0.4:
        arguments.append(Argument("g", "integer", layout=rng.choice(("small", "large"))))
    return arrays, arguments


def _helpers(rng: random.Random) -> tuple[list[str], dict[str, int]]:
    """Up to two functions that kernels call; the second may call the first."""
    sources, functions = [], {}
    for place in range(rng.choice((0, 0, 0, 1, 1, 2))):
        names = ["p", "q", "r"][: rng.randint(1, 3)]
        scope = Scope(
            rng,
            [Array("TABLE", length=3)],
            fixed=[*names, *names, "SCALE"],
            functions=dict(functions),
            elementary=rng.random() < 0.1,
            depth=2,
        )
        body: Block = statements(scope, rng.randint(0, 1))
        if rng.random() < 0.3:
            body.append((f"if {condition(scope, 1)}:", [f"return {number(scope, 2)}"]))
        body.append(f"return {number(scope, 2)}")
        name = f"helper{place + 1}"
        sources.append("\n".join(rendered([(f"def {name}({', '.join(names)}):", body)])))
        functions[name] = len(names)
    return sources, functions


def _body(
    scope: Scope, ndim: int, parallel: bool, holds: bool, tupled: random.Random,
    called: random.Random, constructed: random.Random, whole: random.Random, later: random.Random,
    held: random.Random,
) -> tuple[list[str], Block]:  # fmt: skip
    """Helpers of the body, and its statements; the last six choose among what was added later.
    """
    rng = scope.rng
    sizes = ", ".join(DIMENSIONS[:ndim])
    body: Block = [f"{sizes} = y.shape" if ndim > 1 else f"n = {rng.choice(SIZES)}"]
    body += neighbours(scope, ndim)
    for name in ("s", "t")[: rng.randint(1, 2)]:
        body.append(f"{name} = {number(scope, rng.randint(0, 2))}")
        scope.floats.append(name)
    if rng.random() < 0.25:
        body += local_array(scope, rng.randint(1, ndim))
    if rng.random() < 0.08:
        body += table_sum(scope)
    if rng.random() < 0.06:
        body += [f"e = {rng.choice(('3', '70000', '2049', '0'))}",
                 (f"if {condition(scope, 1)}:", [f"e = {number(scope, 2)}"])]  # fmt: skip
        scope.fixed.append("(e * 1.0)")
    if rng.random() < 0.2:
        body.append(f"v = {rng.choice(('0', '1', '2049'))}")
        scope.totals = ("v",)
        scope.fixed.append("(v * 1.0)")
    if rng.random() < 0.03:
        body += whole_arrays(scope)
    helpers, made = tuples_and_counts(scope, tupled, parallel)
    body += made
    more, made = constructs(scope, constructed)
    body += made
    helpers += more
    if holds:
        body += objects(scope, held)
    body += _parallel_loop(scope, ndim) if parallel else _loops(scope, ndim)
    if rng.random() < 0.03:
        body += whole_arrays(scope)
    body += over_elements(scope)
    body += whole_expressions(scope, whole)
    more, made = further_constructs(scope, later)
    body += made
    helpers += more
    body += library_calls(scope, called)
    return helpers, [*body, *_returned(scope)]


SIZES = ("y.shape[0]", "y.size", "len(y)", "x.size")


def _loops(scope: Scope, ndim: int) -> Block:
    body: Block = []
    for _ in range(scope.rng.choice((1, 1, 1, 1, 2))):
        body += field_loop(scope, ndim)
        if scope.chance(0.1):
            body.append((f"if {condition(scope, 1)}:", [f"s = {number(scope, 1)}"]))
    return body


def _parallel_loop(scope: Scope, ndim: int) -> Block:
    reduced = tuple(n for n in ("s1", "d1", "p1", "q1", "h1", "l1") if scope.chance(0.3))
    if scope.totals:
        scope.fixed.remove("(v * 1.0)")
        scope.totals = ()
    body: Block = [f"{name} = {leaf(scope)}" for name in reduced]
    scope.reduced = reduced
    made, inside = rows_reduced(scope)
    ((header, block),) = field_loop(scope, ndim, parallel=True)
    body += [*made, (header, inside + block)]
    scope.floats += reduced
    scope.reduced = ()
    return body


def _returned(scope: Scope) -> Block:
    """Mostly all that the kernel computed, so that no fault stays inside."""
    rng, numbers = scope.rng, [*scope.floats, *(f"{v} * 1.0" for v in scope.totals)]
    local = [*scope.rows, *(a.name for a in scope.arrays if a.name[0] == "b" and not a.length)]
    kind = rng.random()
    if kind < 0.08 and not local:
        return []
    if kind < 0.25 and not local:
        return [f"return {rng.choice(numbers)}"]
    return [f"return {', '.join([*local, *numbers, *(['n'] if kind > 0.6 else [])])}"]
