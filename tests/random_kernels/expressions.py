"""Random expressions, as text."""

from __future__ import annotations

from tests.random_kernels.scopes import Scope

LITERALS = (
    "0.1", "0.5", "2.0", "3.0", "1.0", "0.0", "1e-3", "0.7", "-1.3", "1e5", "65519.0", "1e-7",
    "3.3e38", "2.5", "1.0009765625", "448.0", "1e-39", "0.3333", "65520.0",
)  # fmt: skip
ORDINARY = 10  # of the literals come first: sizes around one
BINARY = ("+", "-", "*", "+", "-", "*", "/")
ONE = (
    "math.sqrt({})", "np.sqrt(abs({}))", "abs({})", "-({})", "math.fabs({})", "np.square({})",
    "np.floor({})", "np.rint({})", "np.trunc({})", "np.ceil({})", "np.sign({})", "float({})",
    "np.float64({})", "np.reciprocal({})", "+({})", "({}) ** 2", "({}) ** 3", "({}) ** -1",
    "np.negative({})", "np.float32({})", "({}) ** 0", "({}) ** 5",
)  # fmt: skip
TWO = (
    "min({}, {})", "max({}, {})", "np.minimum({}, {})", "np.maximum({}, {})", "np.fmin({}, {})",
    "math.copysign({}, max(-2.0, {}))", "({}) % ({})", "({}) // ({})", "np.fmax({}, {})",
    "math.fmod({}, {})", "np.add({}, {})", "np.multiply({}, {})", "min({}, {}, 1.5)",
    "product({}, {})", "accumulate({}, {})", "np.subtract({}, {})",
)  # fmt: skip
ELEMENTARY = (
    "math.exp({})", "math.log(abs({}))", "math.sin({})", "math.cos({})", "math.tanh({})",
    "np.exp({})", "math.atan({})", "np.arctan({})", "math.log1p({})", "math.expm1({})",
    "math.erf({})", "abs({}) ** 0.3", "abs({}) ** 2.5", "math.sinh({})", "np.log10(abs({}))",
    "math.atan2({}, 0.7)", "math.asin({})", "math.acosh({})", "math.hypot({}, 1.5)",
    "np.cbrt({})", "math.pow(abs({}), 1.7)", "math.erfc({})", "np.exp2({})", "np.tan({})",
)  # fmt: skip
COMPARISONS = ("<", ">", "<=", ">=", "==", "!=")


def number(scope: Scope, depth: int) -> str:
    """An expression whose value is a floating-point number."""
    rng = scope.rng
    if depth <= 0 or scope.chance(0.12):
        return leaf(scope)
    kind = rng.random()
    coefficients = [a.name for a in scope.arrays if a.length and a.name != "TABLE"]
    if kind < 0.05 and coefficients:  # two neighbours that no iteration changes
        name = rng.choice(coefficients)
        return f"({number(scope, depth - 1)}) * {name}[0] + {name}[1]"
    if kind < 0.58:
        right = integer(scope, 1) if scope.chance(0.08) else number(scope, depth - 1)
        pair = [number(scope, depth - 1), right]
        if scope.chance(0.3):
            pair.reverse()
        return f"({pair[0]}) {rng.choice(BINARY)} ({pair[1]})"
    if kind < 0.70:
        return rng.choice(ONE).format(number(scope, depth - 1))
    if kind < 0.80:
        return rng.choice(TWO).format(number(scope, depth - 1), number(scope, depth - 1))
    if kind < 0.88 and scope.functions:
        called, count = rng.choice(sorted(scope.functions.items()))
        return f"{called}({', '.join(number(scope, depth - 2) for _ in range(count))})"
    if kind < 0.92:
        return f"({leaf(scope)} if {condition(scope, 1)} else {number(scope, depth - 1)})"
    if kind < 0.94:
        return f"fma({leaf(scope)}, {leaf(scope)}, {number(scope, depth - 1)})"
    if kind < 0.95:
        return f"({condition(scope, 1)}) * ({number(scope, depth - 1)})"
    if scope.elementary:
        return rng.choice(ELEMENTARY).format(number(scope, depth - 1))
    return leaf(scope)


def leaf(scope: Scope) -> str:
    """A literal, a variable or an element."""
    rng = scope.rng
    arrays, kind = scope.readable(), rng.random()
    fields = [a for a in arrays if not a.length] or arrays
    if arrays and kind < (0.55 if fields is not arrays else 0.2):
        return scope.element(rng.choice(fields if scope.chance(0.7) else arrays))
    if scope.floats and kind < 0.77:
        return rng.choice(scope.floats)
    if scope.fixed and kind < 0.88:
        return rng.choice(scope.fixed)
    return rng.choice(LITERALS[:ORDINARY] if scope.chance(0.7) else LITERALS)


def integer(scope: Scope, depth: int) -> str:
    """An integer expression."""
    rng = scope.rng
    names = [*scope.integers, *(index for index, *_ in scope.indices)]
    whole = scope.readable(whole=True)
    if depth > 0 and names and scope.chance(0.4):
        return f"({integer(scope, depth - 1)} {rng.choice('+-*')} {integer(scope, depth - 1)})"
    if depth > 0 and names and scope.chance(0.15):
        return f"({rng.choice(names)} {rng.choice(['//', '%'])} {rng.randrange(2, 5)})"
    if whole and scope.chance(0.3):
        return scope.element(rng.choice(whole))
    return rng.choice(names) if names and scope.chance(0.7) else str(rng.choice((1, 2, 3, 7, 2049)))


def condition(scope: Scope, depth: int) -> str:
    """A boolean expression."""
    rng = scope.rng
    kind = rng.random()
    if depth > 0 and kind < 0.15:
        joined = rng.choice(("and", "or"))
        return f"({condition(scope, depth - 1)} {joined} {condition(scope, depth - 1)})"
    if depth > 0 and kind < 0.2:
        return f"not {condition(scope, depth - 1)}"
    if kind < 0.28:
        return f"{rng.choice(('math.isnan', 'np.isfinite', 'math.isinf'))}({leaf(scope)})"
    if kind < 0.4 and scope.indices:
        return f"{rng.choice(scope.indices)[0]} % {rng.randrange(2, 4)} == {rng.randrange(2)}"
    if kind < 0.46:
        return f"{leaf(scope)} < ({number(scope, 1)}) <= {leaf(scope)}"
    right = integer(scope, 1) if scope.chance(0.15) else number(scope, 1)
    return f"({number(scope, 1)}) {rng.choice(COMPARISONS)} ({right})"
