"""The rules of `mend`: expressions that lose digits, and equal ones that lose fewer.

Letters stand for any expression. In sums and products the order does not matter, and a sum may have
further terms. `simp(e)` is e written as a polynomial, where terms cancel before anything is
rounded; SUM(e, k, range) is what a loop over k sums up from zero, MAX its largest, FIRST the
first, and POWER(e) a power of two near e. A rule is tried wherever it fits,
and what it gives is offered only if runs prove it, so that a rule need not be right everywhere.
"""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass

from sciprec.foundation.errors import InputError
from sciprec.foundation.registry import Registry
from sciprec.tools.mend.expressions import FIRST, FUNCTIONS, MAX, POWER, SUM, parsed

_CALLS = FUNCTIONS | {SUM, MAX, FIRST, POWER, "simp"}


@dataclass(frozen=True)
class Rule:
    """One way to write an expression so that it loses fewer digits.

    Args:
        name: how proposals are called.
        pattern: the expression that it takes; upper-case letters stand for any expression.
        replacement: an equal expression, in the same letters.
        source: author and year.
        condition: a difference such as "A - B", which has to have fewer terms than its two sides;
            "" for none.
        series: whether it is equal only to 2^-50 of itself, as a series that ends is.
        of_range: whether it helps against overflow or underflow alone: it is tried where a result
            is not finite, or the trace saw numbers underflow to zero.

    Raises:
        InputError: it is no rule: an expression does not parse, a letter of the replacement is not
            in the pattern, or it has no source.

    Example:
        >>> from sciprec.tools.mend import Rule
        >>> Rule("versine", "1 - cos(A)", "2*sin(A/2)*sin(A/2)", "Sinnott (1984)").name
        'versine'
    """

    name: str
    pattern: str
    replacement: str
    source: str
    condition: str = ""
    series: bool = False
    of_range: bool = False

    def __post_init__(self) -> None:
        letters = self._letters("pattern")
        for part in ("replacement", "condition"):
            if unknown := sorted(self._letters(part) - letters):
                raise InputError(
                    f"rule '{self.name}': '{unknown[0]}' of its {part} is not in its pattern "
                    f"'{self.pattern}'; name there what the {part} uses"
                )
        if self.condition and not _is_difference(parsed(self.condition)):
            raise InputError(
                f"rule '{self.name}': its condition '{self.condition}' is not a difference; give "
                'one such as "A - B", or ""'
            )
        if not self.source.strip():
            raise InputError(
                f"rule '{self.name}' names no source; give author and year, as 'Kahan (1986)'"
            )

    def _letters(self, part: str) -> set[str]:
        """The names of one of the expressions, which has to be one."""
        text = getattr(self, part)
        if part == "condition" and not text:
            return set()
        try:
            tree = parsed(text)
        except (SyntaxError, TypeError, ValueError):
            raise InputError(
                f"rule '{self.name}': its {part} '{text}' is not an expression; give one such as "
                "'log(1 + A)'"
            ) from None
        nodes = list(ast.walk(tree))
        calls = {ast.unparse(n.func) for n in nodes if isinstance(n, ast.Call)}
        if unknown := sorted(calls - _CALLS):
            raise InputError(
                f"rule '{self.name}': its {part} calls '{unknown[0]}'; functions are "
                f"{', '.join(sorted(_CALLS))}"
            )
        names = {n.id for n in nodes if isinstance(n, ast.Name)} - calls
        for name in sorted(names):
            if len(name) > 1 or not name.isupper():
                raise InputError(
                    f"rule '{self.name}': '{name}' of its {part} is no upper-case letter; letters "
                    "A to Z stand for expressions"
                )
        return names


def _is_difference(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)


def _series(coefficients: list[float], power: str = "A*A") -> str:
    """Horner's scheme in the square of A, or in another power."""
    text = repr(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        text = f"{coefficient!r} + {power}*({text})"
    return text


_SINE = [(-1) ** n / math.factorial(2 * n + 3) for n in range(8)]
"""(x - sin x) / x^3 in powers of x^2."""
_TURNED = [(-1) ** n * (2 * n + 2) / math.factorial(2 * n + 3) for n in range(9)]
"""(sin x - x cos x) / x^3."""
_COSINE = [(-1) ** n / math.factorial(2 * n + 4) for n in range(8)]
"""(cos x - 1 + x^2 / 2) / x^4."""
_SINH = [1 / math.factorial(2 * n + 3) for n in range(8)]
"""(sinh x - x) / x^3."""
_EXP = [1 / math.factorial(n + 2) for n in range(16)]
"""(exp x - 1 - x) / x^2 in powers of x."""
_GREAT_CIRCLE = "sin((A - B)/2)*sin((A - B)/2) + cos(A)*cos(B)*sin(D/2)*sin(D/2)"
_OF_ANGLES = (
    ("sines", "sin", "2*cos((A + B)/2)*sin(simp(A - B)/2)"),
    ("cosines", "cos", "-2*sin((A + B)/2)*sin(simp(A - B)/2)"),
    ("tangents", "tan", "sin(simp(A - B))/(cos(A)*cos(B))"),
)
_MEAN, _OTHER_MEAN = "SUM(V, I, R)/N", "SUM(W, I, R)/N"
_SHIFTED = "(V - FIRST(V, I, R))"
_REST = f"(SUM(V - {_MEAN}, I, R)/N)"
"""The part that the rounding of the mean leaves."""


def _moment(power: int, of: str = "V") -> str:
    """The mean of a power."""
    return f"SUM({'*'.join([f'({of})'] * power)}, I, R)/N"


def _central(power: int, mean: str, of: str = "V") -> str:
    """A central moment in terms of those about zero."""
    if power == 3:
        return f"{_moment(3, of)} - 3*{mean}*{_moment(2, of)} + 2*{mean}*{mean}*{mean}"
    return (
        f"{_moment(4, of)} - 4*{mean}*{_moment(3, of)} + 6*{mean}*{mean}*{_moment(2, of)}"
        f" - 3*{mean}*{mean}*{mean}*{mean}"
    )


_LARGEST = "MAX(Z, I, R)"
_LENGTHS = "sqrt(SUM(A*A, I, R))", "sqrt(SUM(B*B, I, R))"
_APART = "SUM((A/{0} - B/{1})*(A/{0} - B/{1}), I, R)".format(*_LENGTHS)
_TOGETHER = "SUM((A/{0} + B/{1})*(A/{0} + B/{1}), I, R)".format(*_LENGTHS)
_ANGLE = f"2*atan2(sqrt({_APART}), sqrt({_TOGETHER}))"


def _near(of: str, loop: str = "I, R") -> str:
    """A power of two near the largest of something: dividing by it rounds nothing."""
    return f"POWER(MAX(abs({of}), {loop}))"


def _scaled(first: str, other: str, loop: str = "I, R") -> str:
    """A sum of products of numbers near 1."""
    return f"SUM(({first}/{_near(first, loop)})*({other}/{_near(other, loop)}), {loop})"


_QUOTIENT = (
    f"{_near('A')}/{_near('D', 'J, Q')}*({_near('B')}/{_near('E', 'J, Q')})"
    f"*({_scaled('A', 'B')}/{_scaled('D', 'E', 'J, Q')})"
)

RULES = Registry(
    "rule",
    Rule("expm1", "exp(A) - 1", "expm1(A)", "Kahan (1986)"),
    Rule("log1p", "log(1 + A)", "log1p(A)", "Kahan (1986)"),
    Rule("two-pass variance", f"SUM(V*V, I, R)/N - {_MEAN}*({_MEAN})",
         f"SUM((V - {_MEAN})*(V - {_MEAN}), I, R)/N", "Chan, Golub, LeVeque (1983)"),
    Rule("shifted variance", f"SUM(V*V, I, R)/N - {_MEAN}*({_MEAN})",
         f"(SUM({_SHIFTED}*{_SHIFTED}, I, R) - SUM({_SHIFTED}, I, R)*SUM({_SHIFTED}, I, R)/N)/N",
         "Chan, Golub, LeVeque (1983)"),
    Rule("two-pass sum of squares", "SUM(V*V, I, R) - SUM(V, I, R)*SUM(V, I, R)/N",
         f"SUM((V - {_MEAN})*(V - {_MEAN}), I, R)", "Chan, Golub, LeVeque (1983)"),
    Rule("two-pass covariance", f"SUM(V*W, I, R)/N - {_MEAN}*({_OTHER_MEAN})",
         f"SUM((V - {_MEAN})*(W - {_OTHER_MEAN}), I, R)/N", "Chan, Golub, LeVeque (1983)"),
    *(Rule(f"two-pass {name} moment", _central(power, f"({_MEAN})"),
           _central(power, _REST, f"V - {_MEAN}"), "Chan, Golub, LeVeque (1983)")
      for power, name in ((3, "third"), (4, "fourth"))),
    Rule("two-pass variance of an array", "mean(A*A) - mean(A)*mean(A)",
         "mean((A - mean(A))*(A - mean(A)))", "Chan, Golub, LeVeque (1983)"),
    Rule("distance by differences", "SUM(A*A, I, R) + SUM(B*B, I, R) - 2*SUM(A*B, I, R)",
         "SUM((A - B)*(A - B), I, R)", "Higham (2002)"),
    Rule("law of cosines by half the angle", "A*A + B*B - 2*A*B*cos(D)",
         "(A - B)*(A - B) + 4*A*B*sin(D/2)*sin(D/2)", "Kahan (2000)"),
    Rule("angle of vectors by their sum and difference",
         "acos(SUM(A*B, I, R)/sqrt(SUM(A*A, I, R)*SUM(B*B, I, R)))", _ANGLE, "Kahan (2006)"),
    Rule("angle of vectors by their sum and difference, of two roots",
         "acos(SUM(A*B, I, R)/({}*{}))".format(*_LENGTHS), _ANGLE, "Kahan (2006)"),
    Rule("square completed", "A*A + B*B - 2*A*B", "(A - B)*(A - B)", "Hamming (1973)"),
    Rule("square completed, plus", "A*A + B*B + 2*A*B", "(A + B)*(A + B)", "Hamming (1973)"),
    Rule("difference of squares", "A*A - B*B", "(A - B)*(A + B)", "Kahan (1986)"),
    Rule("one minus a square", "1 - A*A", "(1 - A)*(1 + A)", "Kahan (1986)"),
    Rule("conjugate of two roots", "sqrt(A) - sqrt(B)", "simp(A - B)/(sqrt(A) + sqrt(B))",
         "Hamming (1973)", "A - B"),
    Rule("conjugate of a root", "sqrt(A) - B", "simp(A - B*B)/(sqrt(A) + B)", "Hamming (1973)",
         "A - B*B"),
    Rule("root minus, with a branch", "sqrt(A) - B",
         "(simp(A - B*B)/(sqrt(A) + B) if B > 0 else sqrt(A) - B)", "Kahan (2004)", "A - B*B"),
    Rule("root plus, with a branch", "sqrt(A) + B",
         "(simp(A - B*B)/(sqrt(A) - B) if B < 0 else sqrt(A) + B)", "Kahan (2004)", "A - B*B"),
    Rule("difference of reciprocals", "1/A - 1/B", "simp(B - A)/(A*B)", "Hamming (1973)", "A - B"),
    Rule("difference of reciprocal roots", "1/sqrt(A) - 1/sqrt(B)",
         "simp(B - A)/(sqrt(A)*sqrt(B)*(sqrt(A) + sqrt(B)))", "Hamming (1973)", "A - B"),
    Rule("second difference of a reciprocal", "1/(A + B) - 2/A + 1/(A - B)",
         "2*B*B/(A*(A + B)*(A - B))", "Hamming (1973)"),
    Rule("quotient of a difference", "A/(A/B - D) - B", "B*B*D/(A - B*D)", "Hamming (1973)"),
    Rule("half angle", "1 - cos(A)", "2*sin(A/2)*sin(A/2)", "Sinnott (1984)"),
    Rule("half angle, tangent", "(1 - cos(A))/sin(A)", "tan(A/2)", "Hamming (1973)"),
    Rule("half angle over a square", "(1 - cos(A))/(A*A)", "0.5*(sin(A/2)/(A/2))**2",
         "Hamming (1973)"),
    Rule("haversine", "acos(sin(A)*sin(B) + cos(A)*cos(B)*cos(D))",
         f"2*asin(sqrt({_GREAT_CIRCLE}))", "Sinnott (1984)"),
    *(Rule(f"difference of {name}", f"{f}(A) - {f}(B)", replacement, "Hamming (1973)", "A - B")
      for name, f, replacement in _OF_ANGLES),
    *(Rule(f"difference of {name}, with a branch", f"{f}(A) - {f}(B)",
           f"({replacement} if abs(simp(A - B)) < 1 else {f}(A) - {f}(B))", "Hamming (1973)",
           "A - B")
      for name, f, replacement in _OF_ANGLES),
    Rule("difference of arctangents", "atan(A) - atan(B)", "atan2(simp(A - B), 1 + A*B)",
         "Hamming (1973)", "A - B"),
    Rule("difference of logarithms", "log(A) - log(B)", "log1p(simp(A - B)/B)", "Hamming (1973)",
         "A - B"),
    Rule("difference of x log x", "A*log(A) - B*log(B)",
         "B*log1p(simp(A - B)/B) + simp(A - B)*log(A)", "Hamming (1973)", "A - B"),
    Rule("difference of powers", "A**P - B**P",
         "(B**P*expm1(P*log1p(simp(A - B)/B)) if abs(simp(A - B)) < 8*abs(B) else A**P - B**P)",
         "Hamming (1973)", "A - B"),
    Rule("logarithm of a ratio", "log((1 - A)/(1 + A))", "log1p(-A) - log1p(A)", "Hamming (1973)"),
    Rule("square of sinh", "exp(A) - 2 + exp(-A)", "4*sinh(A/2)*sinh(A/2)", "Hamming (1973)"),
    Rule("ratio of exp minus 1", "(exp(2*A) - 1)/(exp(A) - 1)", "exp(A) + 1", "Hamming (1973)"),
    Rule("exp over exp minus 1", "exp(A)/(exp(A) - 1)", "-1/expm1(-A)", "Hamming (1973)"),
    Rule("softplus", "log(1 + exp(A))", "max(A, 0.0) + log1p(exp(-abs(A)))", "Maechler (2012)"),
    Rule("log-sum-exp", "log(SUM(exp(Z), I, R))",
         "MAX(Z, I, R) + log(SUM(exp(Z - MAX(Z, I, R)), I, R))",
         "Blanchard, Higham, Higham (2021)"),
    Rule("shifted softmax", "exp(A)/SUM(exp(Z), I, R)",
         f"exp(A - {_LARGEST})/SUM(exp(Z - {_LARGEST}), I, R)",
         "Blanchard, Higham, Higham (2021)"),
    Rule("difference first", "A*B - A*D", "A*(B - D)", "Higham (2002)"),
    Rule("difference first, divided", "A/B - D/B", "(A - D)/B", "Higham (2002)"),
    Rule("difference of products by fma", "A*B - D*E", "fma(A, B, -(D*E)) - fma(D, E, -(D*E))",
         "Kahan (2004)"),
    Rule("sum of products by fma", "A*B + D*E", "fma(A, B, D*E) + fma(D, E, -(D*E))",
         "Kahan (2004)"),
    Rule("exp x - 1 - x by its series", "exp(A) - 1 - A",
         f"(A*A*({_series(_EXP, 'A')}) if abs(A) < 1 else exp(A) - 1 - A)", "Taylor (1715)",
         series=True),
    Rule("cos x - 1 + x²/2 by its series", "cos(A) - 1 + A*A/2",
         f"(A*A*A*A*({_series(_COSINE)}) if abs(A) < 1 else cos(A) - 1 + A*A/2)",
         "Taylor (1715)", series=True),
    Rule("sinh x - x by its series", "sinh(A) - A",
         f"(A*A*A*({_series(_SINH)}) if abs(A) < 1 else sinh(A) - A)", "Taylor (1715)",
         series=True),
    Rule("sin x - x cos x by a series", "sin(A) - A*cos(A)",
         f"(A*A*A*({_series(_TURNED)}) if abs(A) < 1 else sin(A) - A*cos(A))",
         "Taylor (1715)", series=True),
    Rule("x - sin x by its series", "A - sin(A)",
         f"(A*A*A*({_series(_SINE)}) if abs(A) < 1 else A - sin(A))", "Taylor (1715)", series=True),
    Rule("x - tan x by a series", "A - tan(A)",
         f"(-(A*A*A*({_series(_TURNED)}))/cos(A) if abs(A) < 1 else A - tan(A))",
         "Taylor (1715)", series=True),
    Rule("1/x - cot x by a series", "1/A - 1/tan(A)",
         f"(A*A*({_series(_TURNED)})/sin(A) if abs(A) < 1 else 1/A - 1/tan(A))",
         "Taylor (1715)", series=True),
    Rule("hypot", "sqrt(A*A + B*B)", "hypot(A, B)", "Moler, Morrison (1983)", of_range=True),
    Rule("norm scaled by a power of two", "sqrt(SUM(Z*Z, I, R))",
         f"{_near('Z')}*sqrt({_scaled('Z', 'Z')})", "Blue (1978)", of_range=True),
    Rule("root mean square scaled by a power of two", "sqrt(SUM(Z*Z, I, R)/N)",
         f"{_near('Z')}*sqrt({_scaled('Z', 'Z')}/N)", "Blue (1978)", of_range=True),
    Rule("cosine of vectors scaled by powers of two",
         "SUM(A*B, I, R)/({}*{})".format(*_LENGTHS),
         f"{_scaled('A', 'B')}/(sqrt({_scaled('A', 'A')})*sqrt({_scaled('B', 'B')}))",
         "Blue (1978)", of_range=True),
    Rule("quotient of sums, scaled by powers of two", "SUM(A*B, I, R)/SUM(D*E, J, Q)",
         _QUOTIENT, "Blue (1978)", of_range=True),
    Rule("hypot of three", "sqrt(A*A + B*B + D*D)", "hypot(hypot(A, B), D)",
         "Moler, Morrison (1983)", of_range=True),
    Rule("root of each", "sqrt(A*B)", "(sqrt(A)*sqrt(B) if A > 0 else sqrt(A*B))",
         "Sterbenz (1974)", of_range=True),
    Rule("power of a quotient", "A**P/B**P", "(A/B)**P", "Sterbenz (1974)", of_range=True),
    Rule("product in another order", "A*B*D", "A*(B*D)", "Sterbenz (1974)", of_range=True),
    Rule("quotient first", "A*B/D", "A*(B/D)", "Sterbenz (1974)", of_range=True),
    Rule("quotients one after another", "A/(B*D)", "A/B/D", "Sterbenz (1974)", of_range=True),
    Rule("logarithm of a product", "log(A*B)", "log(A) + log(B)", "Sterbenz (1974)",
         of_range=True),
)  # fmt: skip
"""All rules of expressions; those that are tried first stand first."""
